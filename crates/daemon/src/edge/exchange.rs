//! What the edge's program and user space tell each other: the types that stand for the structs of [`shared::edge`](crate::shared::edge).

use crate::shared::edge as c;
use meshpace_units::{Bytes, Instant, Span};
use zerocopy::FromBytes;

pub use c::{Ends, SENT_MARK};

/// `struct thinning`: when to let an acknowledgement pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thinning {
    /// Until when the program acts at all, unless renewed.
    pub alive_until: Instant,
    /// One that brings so much passes.
    pub bytes: Bytes,
    /// And one so long after the last that passed.
    pub wait: Span,
    /// Others wait so long.
    pub tail: Span,
    /// One that brings so large a part of what was acknowledged passes.
    pub share: u32,
}

impl From<Thinning> for c::Thinning {
    fn from(thinning: Thinning) -> Self {
        Self {
            alive_until: thinning.alive_until.as_nanos(),
            bytes: thinning.bytes.0,
            wait: thinning.wait.as_nanos(),
            tail: thinning.tail.as_nanos(),
            share: thinning.share,
            unused: 0,
        }
    }
}

/// `struct held`: an acknowledgement that waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Held {
    /// When it came.
    pub at: Instant,
    /// Where it was to leave.
    pub interface: u32,
    /// What it acknowledges.
    pub ack: u32,
    /// Where its IP header begins.
    pub ip: usize,
    /// A VLAN tag that the kernel keeps beside the frame: protocol and control information.
    pub vlan: Option<(u16, u16)>,
    /// The frame with its link-layer header.
    pub frame: Vec<u8>,
}

impl From<&c::Held> for Held {
    fn from(held: &c::Held) -> Self {
        let protocol = held.vlan_protocol.get();
        Self {
            at: Instant::from_nanos(held.at),
            interface: held.interface,
            ack: held.ack,
            ip: held.ip.into(),
            vlan: (protocol > 0).then_some((protocol, held.vlan_tci)),
            frame: held.frame[..usize::from(held.length).min(c::FRAME_MAX)].to_vec(),
        }
    }
}

/// What an event tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// An acknowledgement waits, and none of its connection did.
    Kept,
    /// The one with this number goes on at once.
    Yields(u32),
}

/// `struct edge_event`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// When it happened.
    pub at: Instant,
    /// Of which connection, which way.
    pub ends: Ends,
    /// What happened.
    pub told: EventKind,
}

impl Event {
    /// Reads an event; `None` if it is none (another length, another kind).
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let event = c::EdgeEvent::read_from_bytes(bytes).ok()?;
        let told = match event.told {
            0 => EventKind::Kept,
            1 => EventKind::Yields(event.ack),
            _ => return None,
        };
        Some(Self { at: Instant::from_nanos(event.at), ends: event.ends, told })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zerocopy::IntoBytes;

    #[test]
    fn events_of_other_lengths_and_kinds_are_none() {
        let mut event = c::EdgeEvent::default();
        assert_eq!(Event::read(event.as_bytes()).map(|event| event.told), Some(EventKind::Kept));
        event.told = 2;
        assert_eq!(Event::read(event.as_bytes()), None);
        event.told = 1;
        assert!(Event::read(event.as_bytes()).is_some());
        assert_eq!(Event::read(&event.as_bytes()[1..]), None);
    }

    #[test]
    fn a_frame_has_no_more_bytes_than_are_kept() {
        let held = |length| Held::from(&c::Held { length, ..c::Held::default() }).frame.len();
        assert_eq!([0, 66, 160, 161, u16::MAX].map(held), [0, 66, 160, 160, 160]);
    }
}
