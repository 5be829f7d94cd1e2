//! Whether all packets come to the daemon, or a sample of them: the firewall's rules let by what comes beyond a limit.

use crate::state::Sample;
use meshpace_units::{Instant, Span};

/// Packets are counted for so long.
const PERIOD: Span = Span::from_secs(1);
/// As much of the limit has to be reached: one that lets packets by is used to its end, and a period has its edges.
const REACHED: f64 = 0.9;

/// Packets of the latest second.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sampling {
    since: Instant,
    /// All packets then.
    before: u64,
    /// Packets a second in the period before.
    latest: f64,
}

impl Sampling {
    /// So many packets have come by now.
    pub fn on_packets(&mut self, now: Instant, total: u64) {
        let over = now.saturating_since(self.since);
        if over >= PERIOD {
            self.latest = total.saturating_sub(self.before) as f64 / over.as_secs_f64();
            (self.since, self.before) = (now, total);
        }
    }

    /// What that tells where so many a second come at the most.
    pub fn told(&self, most: u32) -> Sample {
        let active = self.latest >= REACHED * f64::from(most);
        Sample { most, packets: self.latest as u64, active }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_a_sample_while_the_limit_is_reached() {
        let at = |ms| Instant::ZERO + Span::from_millis(ms);
        let mut sampling = Sampling::default();
        sampling.on_packets(at(0), 0);
        for ms in 1..=1_000 {
            sampling.on_packets(at(ms), ms * 20);
        }
        assert_eq!(sampling.told(50_000), Sample { most: 50_000, packets: 20_000, active: false });
        sampling.on_packets(at(2_000), 20_000 + 49_500);
        assert_eq!(sampling.told(50_000), Sample { most: 50_000, packets: 49_500, active: true });
        sampling.on_packets(at(12_000), 20_000 + 49_500 + 1_000);
        assert_eq!(
            sampling.told(50_000),
            Sample { most: 50_000, packets: 100, active: false },
            "it has become quiet"
        );
    }
}
