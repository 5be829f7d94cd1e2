//! HyStart as in Linux's CUBIC: two signs of a queue end slow start (Ha and Rhee 2011; tcp_cubic.c).

use super::{Round, SAMPLES, threshold};
use crate::control::Ack;
use meshpace_units::{Instant, Span};

/// Below this window nothing ends slow start, segments (`hystart_low_window`).
const LOW_WINDOW: f64 = 16.0;
/// Acknowledgements no further apart than this make a train (`hystart_ack_delta_us`).
const TRAIN_GAP: Span = Span::from_millis(2);
/// What bursts of the sender and lumps of the receiver may add to a train (`hystart_ack_delay`): it is that long up to a pace of 2
/// Gbit/s.
const CUSHION: Span = Span::from_millis(1);

/// What of a round it goes by.
#[derive(Clone, Debug, Default)]
pub struct HyStart {
    round: Round,
    /// When the round began.
    began: Instant,
    /// The latest acknowledgement of the train that began with the round.
    train: Instant,
    /// The least round trip since the beginning or the latest timeout (`delay_min`).
    least: Option<Span>,
    /// It has ended slow start once.
    found: bool,
}

impl HyStart {
    /// A timeout: nothing is known of the path (`bictcp_reset`, `bictcp_hystart_reset`).
    pub fn restart(&mut self) {
        *self = Self::default();
    }

    /// Whether slow start ends here.
    pub(super) fn ends(&mut self, ack: &Ack<'_>, cwnd: f64) -> bool {
        let Some(trip) = ack.sample else { return false };
        let least = self.least.map_or(trip, |least| least.min(trip));
        self.least = Some(least);
        if self.found {
            return false;
        }
        if self.round.is_over(ack.out.una) {
            self.round = Round::beginning(ack.out.nxt);
            (self.began, self.train) = (ack.now, ack.now);
        }
        if cwnd < LOW_WINDOW {
            return false;
        }
        // A train that lasts half of the least round trip: the pipe is as full as the window is wide.
        let in_train = ack.now.saturating_since(self.train) <= TRAIN_GAP;
        if in_train {
            self.train = ack.now;
        }
        let by_train = in_train && ack.now.saturating_since(self.began) > (least + CUSHION) / 2;
        // The least of the round's first eight, once there are more.
        let enough = self.round.samples >= SAMPLES;
        self.round.sample(trip);
        let by_delay = enough && self.round.least.is_some_and(|now| now > least + threshold(least));
        self.found = by_train || by_delay;
        self.found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::{AckKind, Outstanding};
    use crate::tests::bare;

    const MSS: u32 = 1000;

    fn ack(at_us: u64, una: u64, nxt: u64, trip_us: u64) -> Ack<'static> {
        let out = Outstanding { queued: false, una, nxt, max: nxt, flight: 20.0, limit: f64::INFINITY };
        let now = Instant::ZERO + Span::from_micros(at_us);
        Ack {
            now,
            acked: u64::from(MSS),
            sample: Some(Span::from_micros(trip_us)),
            ..bare(AckKind::New, out, MSS)
        }
    }

    /// The acknowledgement of a window of 20 at which slow start ends, from 1; they come every `gap` microseconds.
    fn ends_at(window: f64, gap: u64, trip: impl Fn(u64) -> u64) -> Option<u64> {
        let mut hystart = HyStart::default();
        (1..=20).find(|&n| hystart.ends(&ack(100_000 + gap * n, n * 1000, 40_000, trip(n)), window))
    }

    #[test]
    fn a_train_of_half_a_round_trip_ends_it() {
        // 20 ms of round trip: the train is longer than half of 21 ms with the 8th gap of 1.5 ms; seven are as long.
        assert_eq!(ends_at(20.0, 1_500, |_| 20_000), Some(9));
        assert_eq!(ends_at(20.0, 1_500, |_| 19_900), Some(8));
        assert_eq!(ends_at(15.0, 1_500, |_| 20_000), None, "below 16 segments nothing does");
        assert_eq!(ends_at(20.0, 2_100, |_| 20_000), None, "no train");
    }

    #[test]
    fn a_round_whose_least_is_an_eighth_longer_ends_it() {
        let mut hystart = HyStart::default();
        assert!(!hystart.ends(&ack(0, 1, 1_000, 40_000), 20.0));
        let at = |extra: u64| {
            let mut hystart = hystart.clone();
            (1..=20)
                .find(|&n| hystart.ends(&ack(100_000 + 3_000 * n, 1_000 + n, 40_000, 40_000 + extra), 20.0))
        };
        // The ninth sample is the first that counts; 5 ms are an eighth of 40.
        assert_eq!((at(5_001), at(5_000)), (Some(9), None));
    }

    #[test]
    fn a_timeout_forgets_the_least_round_trip() {
        // 40 ms before the timeout; 60 ms after it are those of another path and no queue.
        let ends = |restarts: bool| {
            let mut hystart = HyStart::default();
            assert!(!hystart.ends(&ack(0, 1, 1_000, 40_000), 20.0));
            if restarts {
                hystart.restart();
            }
            (1..=20).any(|n| hystart.ends(&ack(100_000 + 3_000 * n, 1_000 + n, 40_000, 60_000), 20.0))
        };
        assert!(ends(false) && !ends(true));
    }

    #[test]
    fn a_round_begins_whatever_the_window() {
        // Two acknowledgements of a window of 15, then 16, each 1 ms after the other: the train is longer than 10.5 ms with the
        // twelfth, counted from the first.
        let mut hystart = HyStart::default();
        let ends = (1..=20).find(|&n| {
            let window = if n < 3 { 15.0 } else { 16.0 };
            hystart.ends(&ack(100_000 + 1_000 * n, n * 1000, 40_000, 20_000), window)
        });
        assert_eq!(ends, Some(12));
    }

    #[test]
    fn it_ends_slow_start_once() {
        let mut hystart = HyStart::default();
        let ends =
            (1..=40).filter(|&n| hystart.ends(&ack(1_500 * n, n * 1000, 40_000, 20_000), 20.0)).count();
        assert_eq!(ends, 1);
    }
}
