//! Reno with recovery by selective acknowledgements.

use super::part::WindowPart;
use super::recovery::Selective;
use super::{Recovered, Reno, Rules};
use alloc::boxed::Box;
use meshpace_keys::{Brings, Need};

pub(super) static PART: WindowPart = WindowPart::new(
    "sack",
    "Reno with recovery by selective acknowledgements: all holes of a window in one round trip.",
    "RFC 5681, RFC 6675",
    |_, surroundings| Reno::new(surroundings.rules).into(),
)
.brings(&[Brings { key: "recovery", word: Some("sack") }])
.needs(&[Need { key: "recovery", words: &["sack"] }]);

/// Reno with SACK-based recovery (RFC 5681, RFC 6675): all holes of a window are repaired in one round trip. With a peer
/// that reports nothing it is [`newreno`](super::newreno()).
#[must_use]
pub fn sack_reno(rules: Rules) -> Recovered {
    Recovered::new(Box::new(Reno::new(rules)), Box::new(Selective::new(&rules)))
}
