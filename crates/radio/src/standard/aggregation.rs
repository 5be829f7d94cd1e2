//! How many packets a frame may carry, and what each of them adds to it.

use meshpace_units::{Bytes, Span};

/// Frames of several packets (IEEE 802.11-2020, 9.7: A-MPDU): each MPDU with its FCS behind a delimiter, received or lost by
/// itself, and all of them answered by one block acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Aggregation {
    /// Packets at the most, up to [`Bitmap::MOST`](crate::Bitmap::MOST).
    pub packets: usize,
    /// Bytes at the most, delimiters and padding counted.
    pub bytes: Bytes,
    /// Time on the air at the most.
    pub airtime: Span,
    /// Before each MPDU.
    pub delimiter: Bytes,
    /// Each but the last is padded to a multiple of so many bytes, a power of two.
    pub alignment: u64,
    /// Frames that are fixed before their turn, the one whose turn it is counted; 0: a frame is filled at the win of the medium.
    pub ahead: usize,
    /// Bytes of an A-MSDU at the most (9.3.2.2): so much of several packets goes in one MPDU, read or lost as one; 0: an MPDU has one.
    pub amsdu: Bytes,
}

/// What a packet has before it in an A-MSDU beside its LLC/SNAP: addresses and length (9.3.2.2.2).
pub const SUBFRAME_HEADER: Bytes = Bytes(14);
/// Subframes but the last are padded to a multiple of so many bytes.
const SUBFRAME_ALIGNMENT: u64 = 4;
/// LLC/SNAP, which of an MPDU of one packet is among what the MAC adds.
const LLC: Bytes = Bytes(8);

/// Where an MPDU lies in a frame of several, in bytes after the preamble, its delimiter counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Portion {
    /// Its delimiter's first byte.
    pub begin: Bytes,
    /// The byte after its last one, padding not counted.
    pub end: Bytes,
}

impl Aggregation {
    /// Where MPDUs of these sizes lie, in this order.
    pub fn portions(&self, mpdus: impl Iterator<Item = Bytes>) -> impl Iterator<Item = Portion> {
        mpdus.scan(Bytes::ZERO, |end, mpdu| {
            let begin = self.aligned(*end);
            *end = begin + self.delimiter + mpdu;
            Some(Portion { begin, end: *end })
        })
    }

    /// Size of an MPDU with packets of these sizes, `around` of which go around a packet that is alone in one.
    pub fn mpdu(packets: impl Iterator<Item = Bytes> + Clone, around: Bytes) -> Bytes {
        let mut sizes = packets.clone();
        match (sizes.next(), sizes.next()) {
            (Some(only), None) => only + around,
            _ => Self::amsdu(packets) + Bytes(around.0.saturating_sub(LLC.0)),
        }
    }

    /// Size of an A-MSDU.
    pub fn amsdu(packets: impl Iterator<Item = Bytes>) -> Bytes {
        packets.fold(Bytes::ZERO, |end, packet| Self::next_subframe(end) + packet)
    }

    /// Where the packet of the next subframe begins, in an A-MSDU of so many bytes.
    const fn next_subframe(end: Bytes) -> Bytes {
        Bytes(end.0.next_multiple_of(SUBFRAME_ALIGNMENT) + SUBFRAME_HEADER.0 + LLC.0)
    }

    /// The largest packet that an A-MSDU with these has room for.
    pub fn amsdu_room(&self, packets: impl Iterator<Item = Bytes>) -> Bytes {
        let begin = Self::next_subframe(Self::amsdu(packets));
        Bytes(self.amsdu.0.saturating_sub(begin.0))
    }

    /// Where the last byte of so many MPDUs lies, as [`Aggregation::portions`] has it; at 0 without any.
    #[must_use]
    pub fn end(&self, mpdus: impl Iterator<Item = Bytes>) -> Bytes {
        // Each begins at a multiple of the alignment, so that what it takes does not depend on those before it.
        let (taken, padding) = mpdus.fold((0, 0), |(taken, _), mpdu| {
            let (end, padded) = (self.delimiter + mpdu, self.aligned(self.delimiter + mpdu));
            (taken + padded.0, padded.0 - end.0)
        });
        Bytes(taken - padding)
    }

    /// Where the next MPDU's delimiter stands if the bytes before end at `end`.
    ///
    /// A mask, since this is done for each packet of a frame whenever another joins it, and a division takes its time.
    #[must_use]
    #[inline]
    pub const fn aligned(&self, end: Bytes) -> Bytes {
        debug_assert!(self.alignment.is_power_of_two());
        Bytes((end.0 + self.alignment - 1) & !(self.alignment - 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Worked out at once or MPDU by MPDU, a frame ends with the last of them, padding not counted.
        #[test]
        fn a_frame_ends_with_its_last_mpdu(mpdus in prop::collection::vec(1..2_400_u64, 0..40), shift in 0..4) {
            let aggregation = Aggregation {
                packets: 64,
                bytes: Bytes(65_535),
                airtime: Span::from_micros(5_484),
                delimiter: Bytes(4),
                alignment: 1_u64 << shift,
                ahead: 0,
                amsdu: Bytes::ZERO,
            };
            let sizes = || mpdus.iter().map(|size| Bytes(*size));
            let last = aggregation.portions(sizes()).last().map_or(Bytes::ZERO, |last| last.end);
            prop_assert_eq!(aggregation.end(sizes()), last);
            prop_assert_eq!(aggregation.aligned(last).0, last.0.next_multiple_of(1_u64 << shift));
        }
    }
}
