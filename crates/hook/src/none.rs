//! No hook at all.

use super::HookPart;

pub(super) static PART: HookPart = HookPart::new("none", "Packets pass as they come.", "RFC 3234", |_| None);
