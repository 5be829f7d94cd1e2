//! Delayed acknowledgements.

use super::{AckPolicy, AckPolicyPart, InOrder, When};
use alloc::boxed::Box;
use meshpace_keys::{Key, Values};
use meshpace_units::Span;

/// Every `segments`th in-order segment, or `delay` after the first unacknowledged one (RFC 1122, section 4.2.3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delayed {
    /// In-order segments for one acknowledgement, at least 1.
    pub segments: u32,
    /// The longest wait.
    pub delay: Span,
}

/// What it says of itself.
pub static PART: AckPolicyPart = AckPolicyPart::new(
    "delayed",
    "Several in-order segments share an acknowledgement, or a short wait ends it.",
    "schemes.md 16 (Delayed ACK); RFC 1122, section 4.2.3.2",
    |values: &Values| {
        Box::new(Delayed { segments: values.count("ack_segments"), delay: values.span("ack_delay") })
    },
)
.keys(&[&SEGMENTS, &DELAY]);

static SEGMENTS: [Key; 1] = [Key::count(
    "ack_segments",
    (1, 1_000),
    Delayed::SECOND.segments as u64,
    "In-order segments for one delayed acknowledgement (RFC 1122, section 4.2.3.2).",
)];

/// The longest wait, of every policy that waits.
pub(super) static DELAY: [Key; 1] = [Key::time(
    "ack_delay",
    Span::from_secs(10),
    Delayed::SECOND.delay,
    "Longest wait of a delayed acknowledgement (schemes.md 7.1, 16).",
)];

impl Delayed {
    /// Every second segment, 100 ms: ns-2's delayed-acknowledgement sink.
    pub const SECOND: Self = Self { segments: 2, delay: Span::from_millis(100) };
}

impl AckPolicy for Delayed {
    fn on_in_order(&mut self, arrived: &InOrder) -> When {
        if arrived.waiting >= self.segments { When::Now } else { When::AfterFirst(self.delay) }
    }
}
