//! The most that goes into the mesh: as much as went lately.

use meshpace_units::{Instant, Span};

/// So long is counted at a time, and so many of those are remembered.
const PART: Span = Span::from_millis(100);
const PARTS: usize = 8;

/// Packets a second, by parts of a second.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Carried {
    since: Option<Instant>,
    packets: f64,
    parts: [f64; PARTS],
}

impl Carried {
    /// So many packets leave.
    pub fn on_packet(&mut self, now: Instant, packets: f64) {
        let since = *self.since.get_or_insert(now);
        let passed = now.saturating_since(since);
        if passed >= PART {
            self.parts.rotate_right(1);
            self.parts[0] = self.packets / passed.as_secs_f64();
            (self.since, self.packets) = (Some(now), 0.0);
        }
        self.packets += packets;
    }

    /// The most that went in one of the latest parts, the one that has begun too; without bound before there is one.
    pub fn most(&self) -> f64 {
        let begun = self.packets / PART.as_secs_f64();
        let most = self.parts.iter().copied().fold(0.0, f64::max);
        if most > 0.0 { most.max(begun) } else { f64::INFINITY }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_busiest_of_the_latest_parts_counts() {
        let mut carried = Carried::default();
        assert_eq!(carried.most(), f64::INFINITY);
        let at = |carried: &mut Carried, from: u64, to: u64, every: usize| {
            for ms in (from..to).step_by(every) {
                carried.on_packet(Instant::ZERO + Span::from_millis(ms), 1.0);
            }
            carried.most()
        };
        assert_eq!(at(&mut carried, 0, 300, 5), 200.0);
        assert_eq!(at(&mut carried, 300, 900, 20), 200.0, "eight tenths of a second");
        assert_eq!(at(&mut carried, 900, 1_300, 20), 50.0);
        assert!(at(&mut carried, 1_300, 1_330, 1) >= 300.0, "as soon as they have left");
    }
}
