//! Dynamic delayed acknowledgements as WiFu had them in the end.

use super::dynamic_delayed::DynamicDelayed;
use super::policy::AckPolicyPart;
use meshpace_keys::Key;

pub(super) static PART: AckPolicyPart = AckPolicyPart::new(
    "wifu-head-delayed",
    "The same with the thresholds of WiFu's last published code.",
    "schemes.md 5, 7.1, profile wifu-head",
    DynamicDelayed::from_values,
)
.keys(&[&KEYS]);

static KEYS: [Key; 6] = WIFU_HEAD.keys();

/// What its code says without being told otherwise (schemes.md 5, "Defects"; 7.1).
pub(super) static WIFU_HEAD: DynamicDelayed =
    DynamicDelayed { thresholds: [10_000, 100_000, 1_000_000], ..super::wifu_delayed::WIFU };
