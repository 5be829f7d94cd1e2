//! A frame as one receiver will hear it: 32 bytes, since every frame is written down at everybody in range.

use super::{Collision, ReceptionLimits};
use crate::frame::{FrameKind, Header};
use meshpace_units::{Instant, NodeId, Span};
use std::num::NonZeroU64;

/// The properties of a frame that are the same at all its hearers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signal {
    spans: NonZeroU64,
    about: u64,
    /// What is added where it can be decoded and is not for that node alone.
    decodable: u64,
}

const MODE: u32 = 32;
const KIND: u32 = 48;
const DECODABLE: u64 = 1 << 56;
const UNICAST: u64 = 1 << 57;
const MINE: u64 = 1 << 58;
/// Of several packets.
const SEVERAL: u64 = 1 << 59;
/// The receiver follows another frame.
const BESIDE: u64 = 1 << 60;

/// By number.
const KINDS: [FrameKind; 6] = [
    FrameKind::Rts,
    FrameKind::Cts,
    FrameKind::Data,
    FrameKind::Ack,
    FrameKind::BlockAck,
    FrameKind::BlockAckReq,
];

impl Signal {
    /// Of the frame with this header.
    ///
    /// # Panics
    /// If it takes no time at all, or takes or reserves more than four seconds.
    #[must_use]
    #[inline]
    pub fn of(frame: &Header) -> Self {
        let nanos = |span: Span| u32::try_from(span.as_nanos()).unwrap_or_else(|_| panic!("{frame:?}"));
        let [airtime, duration] = [frame.airtime, frame.duration].map(|span| u64::from(nanos(span)));
        let several = if frame.is_several() { SEVERAL } else { 0 };
        let about = u64::from(frame.from.0)
            | u64::from(frame.mode.number()) << MODE
            | (frame.kind as u64) << KIND
            | several;
        let everybodys = if frame.to.is_none() { MINE } else { 0 };
        let spans = NonZeroU64::new(airtime | duration << u32::BITS).filter(|_| airtime > 0);
        let spans = spans.unwrap_or_else(|| panic!("it takes no time: {frame:?}"));
        Self { spans, about, decodable: DECODABLE | everybodys }
    }

    /// At a receiver: its first bit comes at `start` with this power, strong enough to decode or not, and it is addressed to
    /// this node alone (`unicast`) or not.
    #[must_use]
    #[inline]
    pub fn at(self, start: Instant, power: f64, decodable: bool, unicast: bool) -> Arrival {
        let mut about = self.about | if decodable { self.decodable } else { 0 };
        // At one of its many hearers.
        if unicast {
            about |= UNICAST | if decodable { MINE } else { 0 };
        }
        Arrival { start, power, spans: self.spans, about }
    }

    /// The same of a frame that is for another station alone: nothing is asked, as nearly all hearers of a frame are bystanders.
    #[must_use]
    #[inline]
    pub fn passing(self, start: Instant, power: f64, decodable: bool) -> Arrival {
        let about = self.about | u64::from(decodable) << DECODABLE.trailing_zeros();
        Arrival { start, power, spans: self.spans, about }
    }
}

/// A frame as one receiver will hear it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Arrival {
    /// First bit.
    pub start: Instant,
    /// Received power, W.
    pub power: f64,
    /// ns: from the lowest bit on the time on the air, the duration field. Every frame takes time, so that "no arrival" needs no room.
    spans: NonZeroU64,
    /// From the lowest bit on: transmitter, number of the mode, kind, flags.
    about: u64,
}

const _: () = assert!(size_of::<Option<Arrival>>() == 32);

impl Arrival {
    /// Last bit.
    #[must_use]
    #[inline]
    pub fn end(&self) -> Instant {
        self.start + self.airtime()
    }

    /// Time on the air.
    #[must_use]
    #[inline]
    pub const fn airtime(&self) -> Span {
        Span::from_nanos(self.spans.get() & u32::MAX as u64)
    }

    /// The frame's duration field.
    #[must_use]
    #[inline]
    pub const fn duration(&self) -> Span {
        Span::from_nanos(self.spans.get() >> u32::BITS)
    }

    /// Transmitter.
    #[must_use]
    #[inline]
    pub const fn from(&self) -> NodeId {
        NodeId(self.about as u32)
    }

    /// Kind, to count collisions by.
    #[must_use]
    pub const fn kind(&self) -> FrameKind {
        KINDS[(self.about >> KIND) as u8 as usize % KINDS.len()]
    }

    /// How it is sent: a row of the standard's modes.
    #[must_use]
    pub const fn mode(&self) -> usize {
        (self.about >> MODE) as u16 as usize
    }

    /// True if it carries several packets.
    #[must_use]
    #[inline]
    pub const fn is_several(&self) -> bool {
        self.about & SEVERAL != 0
    }

    /// Strong enough to decode.
    #[must_use]
    #[inline]
    pub const fn decodable(&self) -> bool {
        self.about & DECODABLE != 0
    }

    /// Addressed to this node or to everybody, and decodable: its end is handled by [`crate::Station::frame_ends`].
    #[must_use]
    #[inline]
    pub const fn mine(&self) -> bool {
        self.about & MINE != 0
    }

    /// The same, noted while the receiver followed another frame.
    #[must_use]
    #[inline]
    pub(crate) const fn beside_another(self) -> Self {
        Self { about: self.about | BESIDE, ..self }
    }

    /// True if it was noted while the receiver followed no other frame.
    #[must_use]
    #[inline]
    pub(crate) const fn is_alone(&self) -> bool {
        self.about & BESIDE == 0
    }

    /// Addressed to this node alone.
    #[must_use]
    pub const fn is_unicast(&self) -> bool {
        self.about & UNICAST != 0
    }

    /// Of a frame for others that nothing overlapped: until when the medium is reserved after it, by its duration field or for an EIFS if it
    /// could not be read, and when the receiver became idle, neither earlier than before.
    #[inline(always)]
    pub(crate) fn reserves(
        &self,
        before: (Instant, Instant),
        limits: &ReceptionLimits,
    ) -> (Instant, Instant) {
        let (end, (nav, idle_since)) = (self.end(), before);
        let silence = if self.decodable() { self.duration() } else { limits.eifs };
        (nav.max(end + silence), idle_since.max(end))
    }

    pub(super) fn collision(&self, damaged: bool) -> Option<Collision> {
        (self.is_unicast() && self.decodable() && !damaged)
            .then(|| Collision { from: self.from(), kind: self.kind() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::Frame;
    use crate::standard::Standard;
    use meshpace_units::Bytes;

    #[test]
    fn everything_comes_out_as_it_went_in() {
        let modes = Standard::named("802.11g-ns2").expect("a row").modes;
        for (mode, kind) in modes.iter().zip(KINDS.into_iter().cycle()) {
            for (to, decodable, unicast) in [
                (None, true, false),
                (Some(NodeId(9)), true, true),
                (Some(NodeId(9)), true, false),
                (Some(NodeId(9)), false, true),
                (None, false, false),
            ] {
                let frame = Frame::new(Header {
                    kind,
                    from: NodeId(u32::MAX),
                    to,
                    airtime: Span::from_nanos(4_294_967_295),
                    duration: Span::from_nanos(1),
                    mode,
                    size: Bytes(1),
                    data_mode: mode,
                    retry: false,
                    protected: false,
                    packet: None,
                });
                let start = Instant::from_nanos(7);
                let arrival = Signal::of(&frame).at(start, 1e-9, decodable, unicast);
                assert_eq!(
                    (arrival.start, arrival.end(), arrival.power),
                    (start, start + frame.airtime, 1e-9)
                );
                assert_eq!((arrival.airtime(), arrival.duration()), (frame.airtime, frame.duration));
                assert_eq!((arrival.from(), arrival.kind()), (frame.from, kind));
                assert_eq!(&modes[arrival.mode()], mode);
                assert_eq!((arrival.decodable(), arrival.is_unicast()), (decodable, unicast));
                assert_eq!(arrival.mine(), decodable && (unicast || to.is_none()));
                if let (Some(_), false) = (to, unicast) {
                    assert_eq!(Signal::of(&frame).passing(start, 1e-9, decodable), arrival);
                }
            }
        }
    }
}
