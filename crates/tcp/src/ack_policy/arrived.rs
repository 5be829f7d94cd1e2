//! What a receiver's policy learns of a segment.

use meshpace_units::{Ecn, Instant, Span};

/// A segment with payload that arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrived {
    /// The time.
    pub now: Instant,
    /// Bytes of the stream before it.
    pub offset: u64,
    /// Its payload, bytes.
    pub length: u32,
    /// Where it lies in the stream.
    pub order: Order,
    /// The sender had no more to send behind it (PSH; RFC 9293, section 3.9.1.2).
    pub pushed: bool,
    /// Congestion notification of its IP header, whether ECN was agreed on or not.
    pub ecn: Ecn,
    /// How long it was on its way; `None` if nothing in it says when it left.
    pub transit: Option<Transit>,
    /// The retransmission timeout of this end, which knows the round trip by the handshake at least.
    pub timeout: Span,
}

/// Where a segment lies among those that arrived before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// It is the next one, and nothing was missing.
    Next,
    /// It is the next one, and others behind it were there already.
    Fills,
    /// Something before it is missing.
    Early {
        /// Bytes between what arrived in order and this segment.
        gap: u64,
    },
    /// It brings nothing new: it was there already, or lies outside the window.
    Old,
}

impl Order {
    /// True if it continues what arrived in order.
    #[must_use]
    pub const fn continues(self) -> bool {
        matches!(self, Self::Next | Self::Fills)
    }
}

/// The time from a segment's departure to its arrival, by the sender's clock and the receiver's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transit {
    /// Both have one clock: exact stamps, as ns-2's headers carry them.
    Exact(Span),
    /// By RFC 7323's timestamps, milliseconds modulo 2^32 with an unknown zero: only differences mean something.
    Relative(u32),
}

impl Transit {
    /// How much longer this is than `base`; nothing if it is shorter, `None` if they are by different clocks.
    #[must_use]
    pub fn beyond(self, base: Self) -> Option<Span> {
        match (self, base) {
            (Self::Exact(this), Self::Exact(base)) => Some(this.saturating_sub(base)),
            (Self::Relative(this), Self::Relative(base)) => {
                let longer = this.wrapping_sub(base) as i32;
                Some(Span::from_millis(u64::try_from(longer).unwrap_or(0)))
            }
            _ => None,
        }
    }

    /// The shorter of both, which have one clock.
    #[must_use]
    pub fn shorter(self, other: Self) -> Self {
        if self.beyond(other).is_some_and(|longer| longer > Span::ZERO) { other } else { self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transit_times_are_compared_across_the_wrap_of_their_clock() {
        let relative = |ms| Transit::Relative(ms);
        assert_eq!(relative(3).beyond(relative(u32::MAX - 1)), Some(Span::from_millis(5)));
        assert_eq!(relative(u32::MAX - 1).beyond(relative(3)), Some(Span::ZERO));
        assert_eq!(relative(u32::MAX - 1).shorter(relative(3)), relative(u32::MAX - 1));
        assert_eq!(relative(3).shorter(relative(u32::MAX - 1)), relative(u32::MAX - 1));
        let exact = |ms| Transit::Exact(Span::from_millis(ms));
        assert_eq!(
            (exact(7).beyond(exact(5)), exact(7).shorter(exact(5))),
            (Some(Span::from_millis(2)), exact(5))
        );
        assert_eq!(exact(7).beyond(relative(5)), None);
    }
}
