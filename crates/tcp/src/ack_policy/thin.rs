//! Thin acknowledgements: as few as a sender can do with (docs/law.md).

use super::{AckPolicy, AckPolicyPart, Arrived, InOrder, Order, When};
use alloc::boxed::Box;
use meshpace_keys::Key;
use meshpace_units::{Instant, Span};

pub(super) static PART: AckPolicyPart = AckPolicyPart::new(
    "thin",
    "One for sixteen segments, or for what comes 100 ms after the last; more of them while a sender's window may be small.",
    "docs/law.md; after TACK (Li et al., SIGCOMM 2020)",
    |values| {
        Box::new(Thin {
            most: values.count("thin_segments"),
            wait: values.span("thin_wait"),
            tail: values.span("thin_tail"),
            share: values.count("thin_share"),
            push: values.count("thin_push"),
            ..Thin::default()
        })
    },
)
.keys(&[&KEYS]);

static KEYS: [Key; 5] = [
    Key::count(
        "thin_segments",
        (1, 1_000),
        16,
        "Segments that wait for an acknowledgement at most (docs/law.md).",
    ),
    Key::time(
        "thin_wait",
        Span::from_secs(10),
        Span::from_millis(200),
        "A segment that comes so long after the last acknowledgement is answered at once (docs/law.md).",
    ),
    Key::time(
        "thin_tail",
        Span::from_secs(10),
        Span::from_millis(100),
        "Silence after which what waits is acknowledged (docs/law.md).",
    ),
    Key::count(
        "thin_share",
        (1, 1_000),
        8,
        "Of what has come since the sender began, at most one in so many waits (docs/law.md).",
    ),
    Key::count(
        "thin_push",
        (1, 1_000),
        2,
        "What ends with a pushed segment is answered at once if so many segments wait (docs/law.md).",
    ),
];

/// When to acknowledge.
#[derive(Clone, Copy, Debug)]
struct Thin {
    most: u32,
    wait: Span,
    tail: Span,
    share: u32,
    push: u32,
    /// Segments since the sender began, or began anew.
    since: u32,
    last: Option<Instant>,
    acknowledged: Option<Instant>,
    now: Instant,
    /// The latest segment has nothing behind it that its sender could send.
    pushed: bool,
}

impl Default for Thin {
    fn default() -> Self {
        Self {
            most: 16,
            wait: Span::from_millis(200),
            tail: Span::from_millis(100),
            share: 8,
            push: 2,
            since: 0,
            last: None,
            acknowledged: None,
            now: Instant::ZERO,
            pushed: false,
        }
    }
}

impl AckPolicy for Thin {
    fn on_segment(&mut self, arrived: &Arrived) {
        self.now = arrived.now;
        self.pushed = arrived.pushed;
        let pause = self.last.is_some_and(|last| arrived.now.saturating_since(last) > self.tail * 4);
        if pause || arrived.order == Order::Old {
            self.since = 0;
        }
        self.since = self.since.saturating_add(1);
        self.last = Some(arrived.now);
    }

    fn on_in_order(&mut self, arrived: &InOrder) -> When {
        let many = self.most.min(self.since / self.share).max(1);
        // A sender that pushes may wait for this answer before it sends more: as RFC 5681, section 4.2, one for two segments at most.
        let most = if self.pushed { many.min(self.push) } else { many };
        let long = self.acknowledged.is_none_or(|at| arrived.now.saturating_since(at) >= self.wait);
        if arrived.waiting >= most || long { When::Now } else { When::AfterThis(self.tail) }
    }

    fn on_ack_sent(&mut self) {
        self.acknowledged = Some(self.now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;
    use meshpace_units::Ecn;

    const AFTER: Option<u64> = Some(100);

    fn ms(n: u64) -> Instant {
        Instant::ZERO + Span::from_millis(n)
    }

    /// Segments at these times, ms: what is answered to each; what is at once is sent.
    fn answers(policy: &mut Thin, at: impl IntoIterator<Item = u64>) -> Vec<Option<u64>> {
        pushed(policy, at.into_iter().map(|at| (at, false)))
    }

    /// Segments at these times, ms, and whether each is pushed.
    fn pushed(policy: &mut Thin, at: impl IntoIterator<Item = (u64, bool)>) -> Vec<Option<u64>> {
        let mut waiting = 0;
        let answer = |(at, pushed): (u64, bool)| {
            waiting += 1;
            arrives(policy, at, Order::Next, pushed);
            match policy.on_in_order(&InOrder { now: ms(at), number: 1, offset: 0, waiting }) {
                When::Now => {
                    policy.on_ack_sent();
                    waiting = 0;
                    None
                }
                When::AfterFirst(wait) | When::Within(wait) => panic!("after the first: {wait:?}"),
                When::AfterThis(wait) => Some(wait.as_micros() / 1000),
            }
        };
        at.into_iter().map(answer).collect()
    }

    fn arrives(policy: &mut Thin, at: u64, order: Order, pushed: bool) {
        policy.on_segment(&Arrived {
            now: ms(at),
            offset: 0,
            length: 1000,
            order,
            pushed,
            ecn: Ecn::NotEct,
            transit: None,
            timeout: Span::from_secs(1),
        });
    }

    /// Which of them, counted from 1, are answered at once.
    fn at_once(answers: &[Option<u64>]) -> Vec<usize> {
        answers.iter().zip(1..).filter(|(answer, _)| answer.is_none()).map(|(_, n)| n).collect()
    }

    /// Of a sender that is under way.
    fn under_way() -> Thin {
        Thin { since: 1_000, last: Some(ms(0)), acknowledged: Some(ms(0)), ..Thin::default() }
    }

    #[test]
    fn sixteen_share_one_and_the_last_waits_for_a_tenth_of_a_second() {
        let all = answers(&mut under_way(), (1..=40).map(|n| 2 * n));
        assert_eq!(at_once(&all), [16, 32]);
        assert_eq!(all[39], AFTER);
    }

    #[test]
    fn one_that_comes_200_ms_after_the_last_is_answered_at_once() {
        assert_eq!(at_once(&answers(&mut under_way(), [90, 180, 199, 200, 290, 399, 401])), [4, 7]);
    }

    #[test]
    fn what_ends_with_a_pushed_segment_is_answered_at_once_but_for_one_alone() {
        let of = |pushes: [bool; 8]| at_once(&pushed(&mut under_way(), (1..).zip(pushes)));
        assert_eq!(of([false; 8]), []);
        assert_eq!(of([false, false, false, false, true, false, false, true]), [5, 8]);
        assert_eq!(of([true; 8]), [2, 4, 6, 8], "no more often than one for two");
        let alone = pushed(&mut under_way(), [(1, true)]);
        assert_eq!(alone, [AFTER], "one alone waits for the tail");
        let mut never = Thin { push: 1_000, ..under_way() };
        assert_eq!(at_once(&pushed(&mut never, (1..=16).map(|n| (n, true)))), [16]);
    }

    #[test]
    fn at_first_an_eighth_of_what_has_come_waits_at_most() {
        let all = answers(&mut Thin::default(), (0..160).map(|n| n / 2));
        assert_eq!(
            at_once(&all)[..22],
            [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 17, 19, 21, 23, 26, 29, 33]
        );
        assert_eq!(at_once(&all).iter().rev().take(2).copied().collect::<Vec<_>>(), [145, 129]);
    }

    #[test]
    fn after_a_pause_and_after_what_came_twice_it_begins_anew() {
        assert_eq!(at_once(&answers(&mut under_way(), [401, 402, 403])), [1, 2, 3]);
        assert_eq!(at_once(&answers(&mut under_way(), [100, 101, 102])), []);
        let mut policy = under_way();
        arrives(&mut policy, 100, Order::Old, false);
        assert_eq!(at_once(&answers(&mut policy, [101, 102, 103])), [1, 2, 3]);
    }
}
