//! How much has left lately.

use libm::exp;
use meshpace_units::{Instant, Span};

/// A packet that left so long ago counts for a third.
const LASTS: Span = Span::from_secs(1);

/// Packets, those of long ago counting less.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Pace {
    at: Instant,
    packets: f64,
}

impl Pace {
    /// So many leave.
    pub fn on_packet(&mut self, now: Instant, packets: f64) {
        (self.packets, self.at) = (self.left(now) + packets, now);
    }

    /// Packets a second.
    pub fn rate(&self, now: Instant) -> f64 {
        self.left(now) / LASTS.as_secs_f64()
    }

    fn left(&self, now: Instant) -> f64 {
        self.packets * exp(-now.saturating_since(self.at).as_secs_f64() / LASTS.as_secs_f64())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_left_long_ago_counts_less() {
        let mut pace = Pace::default();
        let at = |ms| Instant::ZERO + Span::from_millis(ms);
        (0..500).for_each(|n| pace.on_packet(at(10 * n), 1.0));
        assert!((99.0..101.0).contains(&pace.rate(at(4_990))), "{}", pace.rate(at(4_990)));
        assert!((12.0..15.0).contains(&pace.rate(at(6_990))), "{}", pace.rate(at(6_990)));
    }
}
