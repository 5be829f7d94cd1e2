//! TACK's rule: periodic acknowledgements where a window is many segments, by count where it is few.

use super::delayed::DELAY;
use super::{AckPolicy, AckPolicyPart, InOrder, When};
use alloc::boxed::Box;
use meshpace_keys::Key;
use meshpace_units::{Instant, Span};

pub(super) static PART: AckPolicyPart = AckPolicyPart::new(
    "tack",
    "One for so many segments, but no more than a few in the least round trip (TACK's rule).",
    "schemes.md 7.4; Li et al. 2020",
    |values| {
        Box::new(Tack {
            segments: values.count("tack_segments"),
            beta: values.real("tack_beta"),
            tail: values.span("ack_delay"),
            least: None,
            acknowledged: None,
            now: Instant::ZERO,
            due: None,
        })
    },
)
.keys(&[&KEYS, &DELAY]);

static KEYS: [Key; 2] = [
    Key::count(
        "tack_segments",
        (1, 1_000),
        2,
        "L: segments for an acknowledgement at least (schemes.md 7.4).",
    ),
    Key::number(
        "tack_beta",
        (0.1, 1_000.0),
        4.0,
        "beta: acknowledgements in the least round trip at most (schemes.md 7.4).",
    ),
];

#[derive(Clone, Copy, Debug)]
struct Tack {
    segments: u32,
    beta: f64,
    /// The wait of fewer segments, after which nothing may follow them any more.
    tail: Span,
    /// The least round trip; `None`: nothing has told one, and the count alone decides.
    least: Option<Span>,
    acknowledged: Option<Instant>,
    now: Instant,
    /// What was asked for.
    due: Option<Instant>,
}

impl Tack {
    /// When the next one may leave, by the second bound.
    fn next(&self) -> Option<Instant> {
        self.acknowledged?.checked_add(self.least?.checked_mul_f64(1.0 / self.beta)?)
    }
}

impl AckPolicy for Tack {
    fn on_trip(&mut self, trip: Span) {
        self.least = Some(self.least.map_or(trip, |least| least.min(trip)));
    }

    /// Of the two rates, one for L segments and beta in a round trip, the lower one counts: an acknowledgement waits for both.
    fn on_in_order(&mut self, arrived: &InOrder) -> When {
        self.now = arrived.now;
        if arrived.waiting < self.segments {
            self.due = self.due.or_else(|| arrived.now.checked_add(self.tail));
            return When::AfterFirst(self.tail);
        }
        self.due = self.next().filter(|next| *next > arrived.now);
        self.due.map_or(When::Now, |due| When::AfterThis(due.saturating_since(arrived.now)))
    }

    /// What tells of a loss is answered at once, as ever: TACK's IACK.
    fn on_disorder(&mut self, now: Instant) {
        self.now = now;
    }

    fn on_wait_over(&mut self) {
        self.now = self.due.unwrap_or(self.now);
    }

    fn on_ack_sent(&mut self) {
        (self.acknowledged, self.due) = (Some(self.now), None);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;
    use meshpace_keys::Values;

    fn ms(n: u64) -> Instant {
        Instant::ZERO + Span::from_millis(n)
    }

    /// Segments every so many milliseconds, by a receiver whose timers work: when it acknowledges, ms, until the last has come.
    fn acknowledged(policy: &mut dyn AckPolicy, every: u64, segments: u64) -> Vec<u64> {
        let (mut waiting, mut deadline, mut sent) = (0, None::<Instant>, Vec::new());
        for number in 1..=segments {
            let now = ms(every * number);
            if let Some(due) = deadline.filter(|due| *due <= now) {
                policy.on_wait_over();
                policy.on_ack_sent();
                sent.push((due - Instant::ZERO).as_micros() / 1_000);
                (waiting, deadline) = (0, None);
            }
            waiting += 1;
            match policy.on_in_order(&InOrder { now, number, offset: 0, waiting }) {
                When::Now => {
                    policy.on_ack_sent();
                    sent.push(every * number);
                    (waiting, deadline) = (0, None);
                }
                When::AfterFirst(wait) => deadline = deadline.or(Some(now + wait)),
                When::AfterThis(wait) => deadline = Some(now + wait),
                When::Within(wait) => panic!("within {wait:?}"),
            }
        }
        sent
    }

    fn tack() -> Box<dyn AckPolicy> {
        (PART.build)(&Values::defaults(PART.about.keys()))
    }

    #[test]
    fn every_second_segment_while_no_round_trip_is_known() {
        assert_eq!(acknowledged(&mut *tack(), 1, 8), [2, 4, 6, 8]);
    }

    /// A window of 40 segments a round trip of 80 ms: four acknowledgements, not twenty.
    #[test]
    fn four_in_the_least_round_trip_where_that_is_many_segments() {
        let mut policy = tack();
        [200, 80, 160].iter().for_each(|trip| policy.on_trip(Span::from_millis(*trip)));
        assert_eq!(acknowledged(&mut *policy, 2, 50), [4, 24, 44, 64, 84]);
    }

    /// A segment in 15 ms: five in a round trip, of which two share one.
    #[test]
    fn every_second_segment_where_a_round_trip_is_few() {
        let mut policy = tack();
        policy.on_trip(Span::from_millis(80));
        assert_eq!(acknowledged(&mut *policy, 15, 8), [30, 60, 90, 120]);
    }

    #[test]
    fn one_alone_waits_for_the_tail_and_that_counts_as_the_last() {
        let mut policy = tack();
        policy.on_trip(Span::from_millis(400));
        // 150: two, and no acknowledgement before. 300 + 100: one alone waits; 450 and 600 are two, and 400 + 400 / 4 is over.
        assert_eq!(acknowledged(&mut *policy, 150, 4), [250, 400, 550]);
    }

    #[test]
    fn what_tells_of_a_loss_counts_as_the_last_too() {
        let mut policy = tack();
        policy.on_trip(Span::from_millis(80));
        policy.on_disorder(ms(0));
        policy.on_ack_sent();
        assert_eq!(acknowledged(&mut *policy, 3, 10), [20]);
    }
}
