//! Two small things that a receiver must know of a frame, in one byte.

use crate::coding::{CODINGS, Coding};
use meshpace_units::Rate;

/// Whether a frame is addressed to this receiver alone, and its [`Coding`]. Every frame is written down at everybody in
/// range, so [`super::Arrival`] must stay small.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Label(u8);

/// Above all codings.
const UNICAST: u8 = 0x80;

impl Label {
    /// Of a frame at this rate.
    #[must_use]
    #[inline]
    pub fn new(rate: Rate, unicast: bool) -> Self {
        Self(Coding::of(rate) as u8).addressed(unicast)
    }

    /// The same at another receiver.
    #[must_use]
    #[inline]
    pub const fn addressed(self, unicast: bool) -> Self {
        Self(self.0 & !UNICAST | if unicast { UNICAST } else { 0 })
    }

    /// Addressed to this node alone.
    #[must_use]
    pub const fn is_unicast(self) -> bool {
        self.0 & UNICAST != 0
    }

    /// How its bits are sent.
    #[must_use]
    pub const fn coding(self) -> Coding {
        CODINGS[(self.0 & !UNICAST) as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_come_out_as_they_went_in() {
        for coding in CODINGS {
            let label = Label::new(Rate::bits_per_sec(coding.bits_per_sec()), true);
            assert_eq!((label.coding(), label.is_unicast()), (coding, true));
            assert_eq!(
                (label.addressed(false).coding(), label.addressed(false).is_unicast()),
                (coding, false)
            );
        }
        assert_eq!(size_of::<super::super::Arrival>(), 40, "what a simulation writes most");
    }
}
