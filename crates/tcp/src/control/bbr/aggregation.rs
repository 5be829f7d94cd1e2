//! Acknowledgements that come in lumps: how much more is acknowledged than the bandwidth explains, so that as much more may be in
//! flight (tcp_bbr.c, "ack aggregation").

use meshpace_units::{Instant, Span};

/// Round trips that half of the filter covers.
const ROUNDS: u32 = 5;
/// The most that it adds to the window: so much time at the bandwidth.
const MOST: Span = Span::from_millis(100);

/// The greatest excess of the last five to ten round trips, segments.
#[derive(Clone, Debug, Default)]
pub(super) struct Aggregation {
    since: Instant,
    acked: f64,
    extra: [f64; 2],
    at: usize,
    rounds: u32,
}

impl Aggregation {
    /// Counting begins anew: nothing was on its way.
    pub(super) const fn begin(&mut self, now: Instant) {
        (self.since, self.acked) = (now, 0.0);
    }

    /// `acked` segments are acknowledged at `bandwidth` bit/s with a window of `window`; `round`: a round trip began.
    pub(super) fn on_sample(
        &mut self,
        now: Instant,
        acked: f64,
        bandwidth: f64,
        mss: u32,
        window: f64,
        round: bool,
    ) {
        if acked <= 0.0 {
            return;
        }
        if round {
            self.rounds += 1;
            if self.rounds >= ROUNDS {
                (self.rounds, self.at) = (0, 1 - self.at);
                self.extra[self.at] = 0.0;
            }
        }
        let segments = |span: Span| bandwidth / 8.0 * span.as_secs_f64() / f64::from(mss);
        let mut expected = segments(now.saturating_since(self.since));
        if self.acked <= expected {
            self.begin(now);
            expected = 0.0;
        }
        self.acked += acked;
        let extra = (self.acked - expected).min(window);
        self.extra[self.at] = self.extra[self.at].max(extra);
    }

    /// Segments added to the window, for acknowledgements that come together.
    pub(super) fn extra(&self, bandwidth: f64, mss: u32) -> f64 {
        let most = bandwidth / 8.0 * MOST.as_secs_f64() / f64::from(mss);
        self.extra[0].max(self.extra[1]).min(most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lumps_of_ten_are_ten_more_for_five_to_ten_round_trips() {
        // 1 Mbit/s are 10 segments of 1,250 bytes each 100 ms, all acknowledged at once.
        let mut aggregation = Aggregation::default();
        let at = |n: u64| Instant::ZERO + Span::from_millis(100 * n);
        (1..=4).for_each(|n| aggregation.on_sample(at(n), 10.0, 1e6, 1250, 40.0, true));
        assert_eq!(aggregation.extra(1e6, 1250), 10.0);
        assert_eq!(aggregation.extra(0.5e6, 1250), 5.0, "100 ms at the bandwidth at most");
        // From then on one by one, each 10 ms.
        let mut smooth = |from: u64, to: u64| {
            for n in from..to {
                let now = at(5) + Span::from_millis(10 * n);
                aggregation.on_sample(now, 1.0, 1e6, 1250, 40.0, n % 10 == 0);
            }
            aggregation.extra(1e6, 1250)
        };
        assert_eq!(smooth(0, 40), 10.0);
        assert!(smooth(40, 120) <= 2.0);
    }
}
