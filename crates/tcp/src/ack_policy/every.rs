//! Every segment is acknowledged at once.

use super::{AckPolicy, AckPolicyPart, InOrder, When};
use alloc::boxed::Box;

/// An acknowledgement a segment (ns-2's `TCPSink`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Every;

/// What it says of itself.
pub static PART: AckPolicyPart = AckPolicyPart::new(
    "every",
    "Every segment is acknowledged at once.",
    "schemes.md 16 (ns-2's TCPSink)",
    |_| Box::new(Every),
);

impl AckPolicy for Every {
    fn on_in_order(&mut self, _arrived: &InOrder) -> When {
        When::Now
    }
}
