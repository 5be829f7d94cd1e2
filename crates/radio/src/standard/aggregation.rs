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
    /// Each but the last is padded to a multiple of so many bytes.
    pub alignment: u64,
    /// Frames that are fixed before their turn, the one whose turn it is counted; 0: a frame is filled at the win of the medium.
    pub ahead: usize,
}

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

    /// Where the next MPDU's delimiter stands if the bytes before end at `end`.
    #[must_use]
    pub const fn aligned(&self, end: Bytes) -> Bytes {
        Bytes(end.0.next_multiple_of(self.alignment))
    }
}
