//! TCP-DAA's receiver: a delaying window that grows while nothing goes wrong.

use super::delayed::DELAY;
use super::gap::Gap;
use super::{AckPolicy, AckPolicyPart, InOrder, When};
use alloc::boxed::Box;
use meshpace_keys::Key;
use meshpace_units::{Instant, Span};

pub(super) static PART: AckPolicyPart = AckPolicyPart::new(
    "daa",
    "A delaying window of 1 to 4 segments that grows while they arrive in order and in time (TCP-DAA's receiver).",
    "schemes.md 7.2; de Oliveira and Braun 2005, from memory",
    |values| {
        Box::new(Daa {
            most: f64::from(values.count("daa_dwin_max")),
            start_up: values.real("daa_mu"),
            tolerance: values.real("daa_kappa"),
            patience: values.span("ack_delay"),
            gap: Gap::new(values.real("daa_gap_weight")),
            window: 1.0,
            share: 1.0,
            starting: true,
        })
    },
)
.keys(&[&KEYS, &DELAY]);

static KEYS: [Key; 4] = [
    Key::count("daa_dwin_max", (1, 100), 4, "Most segments that share an acknowledgement (schemes.md 7.2)."),
    Key::number(
        "daa_mu",
        (0.0, 1.0),
        0.3,
        "Growth of the delaying window by a segment in the start-up phase (schemes.md 7.2).",
    ),
    Key::number(
        "daa_kappa",
        (0.0, 10.0),
        0.2,
        "Tolerance of the timer: it waits 2 + kappa smoothed gaps (schemes.md 7.2).",
    ),
    Key::number(
        "daa_gap_weight",
        (0.0, 0.999),
        0.75,
        "Weight of the old smoothed gap between segments (schemes.md 7.2).",
    ),
];

/// What disorder and a late segment leave of the delaying window (schemes.md 7.2).
const AFTER_DISORDER: f64 = 2.0;

#[derive(Clone, Debug)]
struct Daa {
    most: f64,
    start_up: f64,
    tolerance: f64,
    /// The wait while no gap is known.
    patience: Span,
    gap: Gap,
    window: f64,
    /// Segments that share the acknowledgement waited for.
    share: f64,
    /// Until the window is first at its largest or something goes wrong: a receiver does not see the sender's phase.
    starting: bool,
}

impl Daa {
    fn set_back(&mut self) {
        self.window = AFTER_DISORDER.min(self.most);
        self.starting = false;
    }
}

impl AckPolicy for Daa {
    fn on_in_order(&mut self, arrived: &InOrder) -> When {
        let gap = self.gap.on_arrival(arrived.now);
        if arrived.waiting == 1 {
            // What those that share an acknowledgement found when the first of them came: the window grows meanwhile.
            self.share = libm::floor(self.window);
        }
        let due = f64::from(arrived.waiting) >= self.share;
        self.window = (self.window + if self.starting { self.start_up } else { 1.0 }).min(self.most);
        self.starting &= self.window < self.most;
        if due {
            return When::Now;
        }
        let wait = gap.and_then(|gap| gap.checked_mul_f64(2.0 + self.tolerance));
        // A microsecond at least: segments that arrive at once must not make a timer of nothing.
        When::AfterThis(wait.map_or(self.patience, |wait| wait.max(Span::from_micros(1)).min(self.patience)))
    }

    fn on_disorder(&mut self, _: Instant) {
        self.gap.on_disorder();
        self.set_back();
    }

    fn on_wait_over(&mut self) {
        self.set_back();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;
    use meshpace_keys::Values;

    /// The numbers of the segments that are acknowledged when they come every 10 ms.
    fn acknowledged(policy: &mut dyn AckPolicy, segments: core::ops::RangeInclusive<u64>) -> Vec<u64> {
        let mut waiting = 0;
        let at_once = |number: &u64| {
            waiting += 1;
            let now = Instant::ZERO + Span::from_millis(10 * number);
            let when = policy.on_in_order(&InOrder { now, number: *number, offset: 0, waiting });
            if when == When::Now {
                waiting = 0;
                policy.on_ack_sent();
            } else {
                assert_eq!(when, When::AfterThis(Span::from_millis(22)), "2.2 gaps");
            }
            when == When::Now
        };
        segments.filter(at_once).collect()
    }

    #[test]
    fn the_delaying_window_grows_slowly_at_first_and_falls_to_two() {
        let mut policy = (PART.build)(&Values::defaults(PART.about.keys()));
        // 1, 1.3, 1.6, 1.9, 2.2 before the first five, 2.8 before the seventh, 3.4 before the ninth, 4 before the twelfth.
        assert_eq!(acknowledged(&mut *policy, 1..=19), [1, 2, 3, 4, 6, 8, 11, 15, 19]);
        policy.on_disorder(Instant::ZERO + Span::from_millis(190));
        // 2, then 4: it grows by one now; the gap to the segment out of order does not count.
        assert_eq!(acknowledged(&mut *policy, 20..=32), [21, 25, 29]);
        policy.on_wait_over();
        assert_eq!(acknowledged(&mut *policy, 33..=38), [34, 38]);
    }
}
