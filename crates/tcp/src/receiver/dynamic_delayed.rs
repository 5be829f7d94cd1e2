//! Dynamic delayed acknowledgements: more segments share one as the connection ages.

use super::delayed::{DELAY, Delayed};
use super::policy::{AckPolicy, AckPolicyPart, InOrder, When};
use alloc::boxed::Box;
use meshpace_keys::{Key, Kind, Preset, Values, Whole};
use meshpace_units::Span;

/// One to four segments for an acknowledgement, more as the connection ages (Altman and Jimenez; schemes.md 7.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DynamicDelayed {
    /// Segment numbers from which on 2, 3 and 4 segments share an acknowledgement.
    pub thresholds: [u64; 3],
    /// The longest wait.
    pub delay: Span,
}

/// What it says of itself.
pub static PART: AckPolicyPart = AckPolicyPart::new(
    "dynamic-delayed",
    "One to four in-order segments share an acknowledgement, more as the connection ages.",
    "schemes.md 7.1; Altman and Jimenez 2003",
    |values: &Values| {
        Box::new(DynamicDelayed {
            thresholds: values.wholes("ack_thresholds"),
            delay: values.span("ack_delay"),
        })
    },
)
.keys(&[&THRESHOLDS, &DELAY]);

static THRESHOLDS: [Key; 1] = [Key::new(
    "ack_thresholds",
    Kind::Ascending(Whole { min: 1, max: 1 << 40, unit: None }, 3),
    "Segment numbers from which on 2, 3 and 4 segments share an acknowledgement (schemes.md 7.1).",
)
.preset(Preset::Wholes(&DynamicDelayed::PAPER.thresholds))];

impl DynamicDelayed {
    /// The original paper's thresholds, 2, 5 and 9 packets, and 100 ms (schemes.md 7.1).
    pub const PAPER: Self = Self { thresholds: [2, 5, 9], delay: Delayed::SECOND.delay };
}

impl AckPolicy for DynamicDelayed {
    fn on_in_order(&mut self, arrived: &InOrder) -> When {
        let share = 1 + self.thresholds.iter().filter(|from| arrived.number >= **from).count() as u32;
        if arrived.waiting >= share { When::Now } else { When::AfterFirst(self.delay) }
    }
}
