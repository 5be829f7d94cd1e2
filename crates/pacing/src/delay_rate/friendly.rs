//! A floor beside flows that fill queues: what one of them would send at the losses that this flow has.
//!
//! Delay alone starves beside them, since it does not fall when this flow yields. A flow that keeps only a few packets in queues loses
//! next to nothing. So losses show that other flows are there. They also show what a flow that follows losses would get beside them: a
//! window of `sqrt(3 / (2 p))` packets a round trip at `p` loss events a packet (Mathis et al., CCR 27(3), 1997, equation 3).
//! TCP-friendly rate control gives `p`, as the mean of the last eight intervals between losses (RFC 5348, section 5.4).

use libm::sqrt;

/// Intervals between losses that count (RFC 5348, section 5.4: n).
const INTERVALS: usize = 8;
/// What each counts, the latest first (RFC 5348, section 5.4).
const WEIGHTS: [f64; INTERVALS] = [1.0, 1.0, 1.0, 1.0, 0.8, 0.6, 0.4, 0.2];
/// Fewer losses say nothing.
const FEWEST: usize = 3;

/// The losses of a flow, and the floor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Friendly {
    /// The floor, in what the formula gives.
    share: f64,
    /// Losses that are no more frequent than this are the path's, not other flows': loss events a packet.
    lossy: f64,
    /// Packets that arrived since the last loss, before that since the one before, and so on.
    intervals: [f64; INTERVALS + 1],
    /// Losses so far.
    losses: usize,
}

impl Friendly {
    pub(super) const fn new(share: f64, lossy: f64) -> Self {
        Self { share, lossy, intervals: [0.0; INTERVALS + 1], losses: 0 }
    }

    pub(super) fn on_arrived(&mut self, packets: f64) {
        self.intervals[0] += packets;
    }

    /// A loss, the first of a round trip.
    pub(super) fn on_loss(&mut self) {
        self.intervals.rotate_right(1);
        self.intervals[0] = 0.0;
        self.losses += 1;
    }

    /// Loss events a packet; `None` of a few.
    fn frequency(&self) -> Option<f64> {
        let known = self.losses.min(INTERVALS);
        let mean = |from: usize| {
            let pairs = WEIGHTS[..known].iter().zip(&self.intervals[from..]);
            let (sum, weights) =
                pairs.fold((0.0, 0.0), |(sum, weights), (w, packets)| (sum + w * packets, weights + w));
            sum / weights
        };
        // The time since the latest loss counts if it makes losses rarer.
        (self.losses >= FEWEST).then(|| 1.0 / mean(0).max(mean(1)).max(1.0))
    }

    /// Packets a second that are this flow's at least, in a round trip of so many seconds.
    pub(super) fn floor(&self, rtt: f64) -> f64 {
        let frequent = self.frequency().filter(|p| *p > self.lossy);
        frequent.map_or(0.0, |p| self.share * sqrt(1.5 / p) / rtt)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With so many packets before each loss, and since the last.
    fn after(intervals: &[f64], since: f64) -> Friendly {
        let mut friendly = Friendly::new(1.0, 0.01);
        for packets in intervals {
            friendly.on_arrived(*packets);
            friendly.on_loss();
        }
        friendly.on_arrived(since);
        friendly
    }

    #[test]
    fn the_floor_is_a_reno_windows_at_these_losses() {
        // One in 24 packets: six packets a round trip.
        assert_eq!(after(&[24.0; 3], 0.0).floor(0.5), 12.0);
        assert_eq!(Friendly { share: 1.25, ..after(&[24.0; 8], 0.0) }.floor(0.5), 15.0);
        assert_eq!(after(&[0.0; 3], 0.0).frequency(), Some(1.0), "no more losses than packets");
    }

    #[test]
    fn rare_losses_and_few_are_no_sign_of_others() {
        assert!(after(&[99.0; 8], 0.0).floor(0.5) > 0.0);
        assert_eq!(after(&[100.0; 8], 0.0).floor(0.5), 0.0, "the path's own");
        assert_eq!(after(&[24.0; 2], 0.0).floor(0.5), 0.0, "two may be chance");
    }

    #[test]
    fn the_last_eight_intervals_count_and_the_older_ones_less() {
        let p = |intervals: &[f64]| after(intervals, 0.0).frequency().map_or(0.0, f64::recip);
        assert_eq!(p(&[30.0, 30.0, 30.0, 30.0, 30.0, 30.0, 30.0, 30.0]), 30.0);
        assert_eq!(p(&[900.0, 30.0, 30.0, 30.0, 30.0, 30.0, 30.0, 30.0, 30.0]), 30.0, "the ninth does not");
        assert_eq!(p(&[90.0, 30.0, 30.0, 30.0, 30.0, 30.0, 30.0, 30.0]), 30.0 + 60.0 * 0.2 / 6.0);
        assert_eq!(p(&[30.0, 30.0, 30.0, 30.0, 30.0, 30.0, 30.0, 90.0]), 30.0 + 60.0 / 6.0);
    }

    #[test]
    fn a_long_time_without_a_loss_makes_them_rarer_and_a_short_one_does_not_make_them_more_frequent() {
        assert_eq!(after(&[30.0; 8], 5.0).frequency(), Some(1.0 / 30.0));
        assert_eq!(after(&[30.0; 8], 90.0).frequency(), Some(1.0 / 40.0));
        assert_eq!(after(&[30.0; 8], 900.0).floor(0.5), 0.0);
    }
}
