//! Dynamic delayed acknowledgements as WiFu had them: when its thesis was measured, and in the end.

use super::AckPolicyPart;
use super::dynamic_delayed::{AckUnit, DynamicDelayed, Echo, OutOfOrder};
use meshpace_keys::Key;

pub(super) static PART: AckPolicyPart = AckPolicyPart::new(
    "wifu-delayed",
    "Dynamic delayed acknowledgements as in the thesis: thresholds in bytes, steps of 1, 3, 3, 4, and nothing at once for what is out of order.",
    "schemes.md 7.1, profile byu-literal; Lee 2012",
    DynamicDelayed::from_values,
)
.keys(&[&KEYS]);

static KEYS: [Key; 6] = WIFU.keys();

pub(super) static HEAD: AckPolicyPart = AckPolicyPart::new(
    "wifu-head-delayed",
    "The same with the thresholds of WiFu's last published code.",
    "schemes.md 5, 7.1, profile wifu-head",
    DynamicDelayed::from_values,
)
.keys(&[&HEAD_KEYS]);

static HEAD_KEYS: [Key; 6] = WIFU_HEAD.keys();

/// What the thesis measured with (schemes.md 5, "Defects"; 7.1).
pub(super) static WIFU: DynamicDelayed = DynamicDelayed {
    thresholds: [1_000, 10_000, 100_000],
    unit: AckUnit::Bytes,
    steps: [1, 3, 3, 4], // a slip of the code that the thesis measured with
    out_of_order: OutOfOrder::Count,
    echo: Echo::Newest,
    ..DynamicDelayed::PAPER
};

/// What its code says without being told otherwise (schemes.md 5, "Defects"; 7.1).
pub(super) static WIFU_HEAD: DynamicDelayed =
    DynamicDelayed { thresholds: [10_000, 100_000, 1_000_000], ..WIFU };
