//! The packets of a frame: one nearly always, and then nothing is allocated for it.

use crate::category::{Peer, Priority};
use crate::standard::Mode;
use meshpace_units::{Bytes, NodeId};
use std::sync::Arc;

/// A network packet as the MAC sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MacPacket {
    /// Whatever the driver knows the packet by.
    pub handle: u32,
    /// The next hop; `None`: broadcast.
    pub to: Option<NodeId>,
    /// Size at the network layer.
    pub size: Bytes,
    /// Mode of the link's data; broadcasts go in the basic one.
    pub mode: &'static Mode,
    /// Its priority, which says the category that it contends in; best effort where the standard has but one way of access.
    pub priority: Priority,
}

impl MacPacket {
    /// Whose numbers it has; `None`: a broadcast.
    #[must_use]
    #[inline]
    pub fn peer(&self) -> Option<Peer> {
        Some(Peer { node: self.to?, priority: self.priority })
    }
}

/// A packet in a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mpdu {
    /// The packet.
    pub packet: MacPacket,
    /// Its sequence number (12 bits on the air).
    pub seq: u16,
    /// True if an attempt to send it has failed.
    pub retry: bool,
    /// Frames of several packets in which it was sent in vain.
    pub losses: u8,
}

/// The packets that go in one frame, or wait to.
///
/// Not an enum: a copy of one packet, or of none, is then a copy of bytes and a look at a pointer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Burst {
    /// The only one, in place.
    one: Option<Mpdu>,
    /// Two or more, shared between the sender of the frame and the frame on the air; `one` is `None` then.
    several: Option<Arc<Vec<Mpdu>>>,
}

impl Burst {
    /// Packets that frames of several have room for at once: those of 1,500 bytes in the longest frame up to 39 Mbit/s.
    const USUAL: usize = 17;

    /// No packet.
    pub const EMPTY: Self = Self { one: None, several: None };

    /// One packet.
    #[must_use]
    #[inline]
    pub const fn one(mpdu: Mpdu) -> Self {
        Self { one: Some(mpdu), several: None }
    }

    /// In the order in which they are sent.
    #[must_use]
    #[inline]
    pub fn as_slice(&self) -> &[Mpdu] {
        match &self.several {
            None => self.one.as_slice(),
            Some(mpdus) => mpdus,
        }
    }

    /// The only one; `None`: there is none, or there are several.
    #[must_use]
    #[inline]
    pub const fn only(&self) -> Option<&Mpdu> {
        self.one.as_ref()
    }

    /// Two or more of them.
    #[inline]
    pub(crate) const fn shared(&self) -> Option<&Arc<Vec<Mpdu>>> {
        self.several.as_ref()
    }

    /// The first one.
    #[must_use]
    #[inline]
    pub fn first(&self) -> Option<&Mpdu> {
        self.as_slice().first()
    }

    /// How many.
    #[must_use]
    #[inline]
    pub fn len(&self) -> usize {
        self.as_slice().len()
    }

    /// True if there is none.
    #[must_use]
    #[inline]
    pub const fn is_empty(&self) -> bool {
        self.one.is_none() && self.several.is_none()
    }

    /// True if there are two or more.
    #[must_use]
    #[inline]
    pub const fn is_several(&self) -> bool {
        self.several.is_some()
    }

    /// One more, at the end.
    pub fn push(&mut self, mpdu: Mpdu) {
        match (&mut self.several, self.one.take()) {
            (Some(mpdus), _) => Arc::make_mut(mpdus).push(mpdu),
            (None, Some(first)) => {
                let mut mpdus = Vec::with_capacity(Self::USUAL);
                mpdus.extend([first, mpdu]);
                self.several = Some(Arc::new(mpdus));
            }
            (None, None) => self.one = Some(mpdu),
        }
    }

    /// Changes each.
    #[inline]
    pub fn change(&mut self, mut each: impl FnMut(&mut Mpdu)) {
        if let Some(mpdu) = &mut self.one {
            each(mpdu);
        } else if let Some(mpdus) = &mut self.several {
            Arc::make_mut(mpdus).iter_mut().for_each(each);
        }
    }

    /// Keeps those alone of which `keep` is true; it is asked in order.
    pub fn retain(&mut self, mut keep: impl FnMut(&Mpdu) -> bool) {
        let mut kept = Self::EMPTY;
        for mpdu in self.as_slice() {
            if keep(mpdu) {
                kept.push(*mpdu);
            }
        }
        *self = kept;
    }
}

/// A set of packets of a frame, or of sequence numbers from one on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bitmap([u64; 4]);

impl Bitmap {
    /// None.
    pub const NONE: Self = Self([0; 4]);
    /// The first alone.
    pub const ONE: Self = Self([1, 0, 0, 0]);
    /// So many fit in: what a block acknowledgement of IEEE 802.11ax tells of.
    pub const MOST: usize = 256;

    /// What a block acknowledgement has for frames of so many packets: 64 bits, or all of them (IEEE 802.11ax-2021, 9.3.1.8).
    #[must_use]
    pub const fn bytes(packets: usize) -> Bytes {
        Bytes(if packets <= 64 { 8 } else { Self::MOST as u64 / 8 })
    }

    /// The first `count`.
    ///
    /// # Panics
    /// With more than [`Bitmap::MOST`].
    #[must_use]
    pub fn first(count: usize) -> Self {
        let mut all = Self::NONE;
        (0..count).for_each(|at| all.set(at));
        all
    }

    /// Adds one.
    ///
    /// # Panics
    /// From [`Bitmap::MOST`] on.
    pub fn set(&mut self, at: usize) {
        assert!(at < Self::MOST, "a bitmap has no place {at}");
        self.0[at / 64] |= 1 << (at % 64);
    }

    /// Takes those out that are in the other.
    pub fn remove(&mut self, others: &Self) {
        self.0.iter_mut().zip(others.0).for_each(|(word, other)| *word &= !other);
    }

    /// The same with every place moved up by `by`; what leaves it is forgotten.
    #[must_use]
    #[inline]
    pub fn shifted(&self, by: usize) -> Self {
        if (1..64).contains(&by) {
            // By one, mostly: a scoreboard moves on with every packet.
            let ([a, b, c, d], back) = (self.0, 64 - by);
            return Self([a << by, b << by | a >> back, c << by | b >> back, d << by | c >> back]);
        }
        self.shifted_by_words(by)
    }

    #[cold]
    fn shifted_by_words(&self, by: usize) -> Self {
        let (words, bits) = (by / 64, by % 64);
        let word = |at: Option<usize>| at.and_then(|at| self.0.get(at)).copied().unwrap_or(0);
        Self(std::array::from_fn(|at| {
            let from = at.checked_sub(words);
            let carried =
                if bits == 0 { 0 } else { word(from.and_then(|at| at.checked_sub(1))) >> (64 - bits) };
            word(from) << bits | carried
        }))
    }

    /// True if it is in.
    #[must_use]
    pub fn has(&self, at: usize) -> bool {
        self.0.get(at / 64).is_some_and(|word| word >> (at % 64) & 1 == 1)
    }

    /// As a block acknowledgement has it: the first place is the lowest bit of the first byte.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; Self::MOST / 8] {
        let mut bytes = [0; Self::MOST / 8];
        for (to, word) in bytes.chunks_exact_mut(8).zip(self.0) {
            to.copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }

    /// How many are in.
    #[must_use]
    pub fn count(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// True if none is.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::NONE
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Place by place, as it is said.
        #[test]
        fn what_is_shifted_has_every_place_moved(places in prop::collection::vec(0..Bitmap::MOST, 0..40), by in 0..300usize) {
            let mut bitmap = Bitmap::NONE;
            places.iter().for_each(|at| bitmap.set(*at));
            let shifted = bitmap.shifted(by);
            for at in 0..Bitmap::MOST {
                prop_assert_eq!(shifted.has(at), at.checked_sub(by).is_some_and(|at| bitmap.has(at)));
            }
        }
    }
}
