//! HyStart++: a round whose least round trip has grown makes slow start conservative, and a few of those end it (RFC 9406,
//! section 4.2).

use super::{Round, SAMPLES, threshold};
use crate::control::{Ack, Window};
use meshpace_units::Span;

/// Rounds that the conservative stage lasts at most (section 4.3, CSS_ROUNDS).
const CONSERVATIVE_ROUNDS: u32 = 5;
/// How much slower it grows (section 4.3, CSS_GROWTH_DIVISOR).
const DIVISOR: f64 = 4.0;
/// Segments that an acknowledgement adds at most without pacing (section 4.3, L).
const LIMIT: f64 = 8.0;

/// Conservative slow start.
#[derive(Clone, Copy, Debug)]
struct Conservative {
    /// The round's least round trip that began it.
    baseline: Span,
    /// Rounds that have begun since.
    rounds: u32,
}

/// What of the rounds it goes by.
#[derive(Clone, Debug, Default)]
pub struct PlusPlus {
    round: Round,
    /// The least round trip of the round before.
    last: Option<Span>,
    conservative: Option<Conservative>,
}

impl PlusPlus {
    /// Grows the window, or ends slow start where it is. Only the initial slow start is its own: later ones have a threshold that
    /// ends them (section 4.3).
    pub(super) fn grow(&mut self, window: &mut Window, ack: &Ack<'_>) {
        let initial = window.rules().initial_ssthresh.unwrap_or(f64::INFINITY);
        if window.ssthresh() < initial {
            window.grow(ack);
            return;
        }
        if ack.ecn_echo {
            return;
        }
        if self.round.is_over(ack.out.una) {
            self.last = self.round.least;
            self.round = Round::beginning(ack.out.nxt);
            if let Some(stage) = &mut self.conservative {
                stage.rounds += 1;
                if stage.rounds >= CONSERVATIVE_ROUNDS {
                    window.set_ssthresh(window.cwnd());
                    return;
                }
            }
        }
        let divisor = if self.conservative.is_some() { DIVISOR } else { 1.0 };
        window.set(window.cwnd() + ack.segments().min(LIMIT) / divisor);
        if let Some(trip) = ack.sample {
            self.round.sample(trip);
            self.judge();
        }
    }

    /// Whether the stage changes with this sample.
    fn judge(&mut self) {
        let Some(least) = self.round.least.filter(|_| self.round.samples >= SAMPLES) else { return };
        match self.conservative {
            // It was noise.
            Some(Conservative { baseline, .. }) if least < baseline => self.conservative = None,
            Some(_) => {}
            None => {
                if self.last.is_some_and(|last| least >= last + threshold(last)) {
                    self.conservative = Some(Conservative { baseline: least, rounds: 0 });
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::{AckKind, Outstanding, Rules};
    use crate::tests::bare;

    /// Rounds of ten acknowledgements of a segment each, with these round trips, ms; the window after each round.
    fn windows(trips: &[u64]) -> (std::vec::Vec<f64>, f64) {
        let (mut plus_plus, mut window) = (PlusPlus::default(), Window::new(Rules::RFC));
        window.set(10.0);
        let mut after = std::vec::Vec::new();
        for (round, trip) in (0u64..).zip(trips) {
            for n in 1..=10 {
                let una = 1 + (10 * round + n) * 1000;
                let nxt = 1 + 10 * (round + 1) * 1000;
                let out =
                    Outstanding { queued: false, una, nxt, max: nxt, flight: 10.0, limit: f64::INFINITY };
                let sample = Some(Span::from_millis(*trip));
                if window.cwnd() < window.ssthresh() {
                    plus_plus
                        .grow(&mut window, &Ack { acked: 1000, sample, ..bare(AckKind::New, out, 1000) });
                }
            }
            after.push(window.cwnd());
        }
        (after, window.ssthresh())
    }

    #[test]
    fn a_round_that_is_an_eighth_longer_makes_it_conservative_and_five_of_those_end_it() {
        // 80 ms, then 90: an eighth more. Of that round eight grow as ever, the eighth is the one that shows it, two by a quarter.
        let (after, threshold) = windows(&[80, 80, 90, 90, 90, 90, 90, 90]);
        assert_eq!(after[..3], [20.0, 30.0, 38.5]);
        assert_eq!(after[3..7], [41.0, 43.5, 46.0, 48.5]);
        assert_eq!((after[7], threshold), (48.5, 48.5), "the fifth round since has begun");
        assert_eq!(windows(&[80, 80, 89, 89]).0[3], 50.0, "less is noise");
    }

    #[test]
    fn a_later_slow_start_is_renos() {
        // The second round's round trips would make it conservative.
        let after = |ssthresh: f64| {
            let (mut plus_plus, mut window) = (PlusPlus::default(), Window::new(Rules::RFC));
            window.set(10.0);
            window.set_ssthresh(ssthresh);
            for n in 0..20u64 {
                let (una, nxt) = (1 + (n + 1) * 1000, 1 + (n / 10 + 1) * 10_000);
                let out =
                    Outstanding { queued: false, una, nxt, max: nxt, flight: 30.0, limit: f64::INFINITY };
                let sample = Some(Span::from_millis(if n < 10 { 80 } else { 200 }));
                plus_plus.grow(&mut window, &Ack { acked: 1000, sample, ..bare(AckKind::New, out, 1000) });
            }
            window.cwnd()
        };
        assert_eq!(after(100.0), 30.0);
        assert!(after(f64::INFINITY) < 30.0, "{}", after(f64::INFINITY));
    }

    #[test]
    fn round_trips_that_shrink_again_make_it_quick_again() {
        let (after, threshold) = windows(&[80, 80, 90, 85, 85]);
        // The eighth sample of the fourth round is below the baseline: two more grow as ever, and so does the next round.
        assert_eq!(after, [20.0, 30.0, 38.5, 38.5 + 8.0 / 4.0 + 2.0, 52.5]);
        assert_eq!(threshold, f64::INFINITY);
    }
}
