//! TCP-ADA's receiver: it acknowledges when the stream of segments pauses.

use super::gap::Gap;
use super::{AckPolicy, AckPolicyPart, InOrder, When};
use alloc::boxed::Box;
use meshpace_keys::Key;
use meshpace_units::{Instant, Span};

pub(super) static PART: AckPolicyPart = AckPolicyPart::new(
    "ada",
    "One acknowledgement a window if possible: each segment puts it off by somewhat more than their usual distance (TCP-ADA).",
    "schemes.md 7.3, from memory",
    |values| {
        Box::new(Ada {
            beta: values.real("ada_beta"),
            longest: values.span("ada_longest"),
            gap: Gap::new(values.real("ada_gap_weight")),
            first: None,
        })
    },
)
.keys(&[&KEYS]);

static KEYS: [Key; 3] = [
    Key::number(
        "ada_beta",
        (1.0, 10.0),
        1.2,
        "Smoothed gaps between segments by which each puts the acknowledgement off (schemes.md 7.3).",
    ),
    Key::time(
        "ada_longest",
        Span::from_secs(10),
        Span::from_millis(500),
        "Longest wait of the first of them (schemes.md 7.3).",
    ),
    Key::number(
        "ada_gap_weight",
        (0.0, 0.999),
        0.75,
        "Weight of the old smoothed gap between segments (schemes.md 7.3).",
    ),
];

#[derive(Clone, Debug)]
struct Ada {
    beta: f64,
    longest: Span,
    gap: Gap,
    /// When the first segment came that waits.
    first: Option<Instant>,
}

impl AckPolicy for Ada {
    fn on_in_order(&mut self, arrived: &InOrder) -> When {
        let first = *self.first.get_or_insert(arrived.now);
        let left = self.longest.saturating_sub(arrived.now.saturating_since(first));
        match self.gap.on_arrival(arrived.now).and_then(|gap| gap.checked_mul_f64(self.beta)) {
            Some(wait) if left > Span::ZERO => When::AfterThis(wait.max(Span::from_micros(1)).min(left)),
            // Nothing is known of their distance yet, or the first has waited long enough.
            _ => When::Now,
        }
    }

    fn on_disorder(&mut self, _: Instant) {
        self.gap.on_disorder();
    }

    fn on_ack_sent(&mut self) {
        self.first = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use meshpace_keys::Values;

    #[test]
    fn each_segment_puts_it_off_but_not_for_ever() {
        let mut policy = (PART.build)(&Values::defaults(PART.about.keys()));
        let mut at = |ms: u64, waiting: u32| {
            let now = Instant::ZERO + Span::from_millis(ms);
            policy.on_in_order(&InOrder { now, number: 1, offset: 0, waiting })
        };
        assert_eq!(at(0, 1), When::Now, "nothing to go by");
        assert_eq!(at(100, 2), When::AfterThis(Span::from_millis(120)));
        assert_eq!(at(200, 3), When::AfterThis(Span::from_millis(120)));
        assert_eq!(
            at(400, 4),
            When::AfterThis(Span::from_millis(100)),
            "0.75 * 100 + 0.25 * 200, but 500 ms in all"
        );
        assert_eq!(at(500, 5), When::Now);
        policy.on_ack_sent();
        policy.on_disorder(Instant::ZERO + Span::from_millis(600));
        let now = Instant::ZERO + Span::from_millis(5_000);
        let when = policy.on_in_order(&InOrder { now, number: 6, offset: 0, waiting: 1 });
        assert!(
            matches!(when, When::AfterThis(wait) if wait < Span::from_millis(200)),
            "{when:?}: the pause is no gap"
        );
    }
}
