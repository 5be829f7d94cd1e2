//! The structs that the edge's program and user space share, byte for byte as `bpf/include/edge.h` lays them out. Offsets are
//! named here once; a test holds them against the header's own assertions.

use crate::shared_bytes::{array, u32_at, u64_at};
use meshpace_units::{Bytes, Instant, Span};

pub const ENDS: usize = 36;
pub const HELD: usize = 184;
pub const THINNING: usize = 40;
pub const EVENT: usize = 56;
/// Entries of `counters`.
pub const COUNTERS: usize = 13;

const HELD_INTERFACE: usize = 8;
const HELD_LENGTH: usize = 16;
const HELD_FRAME: usize = 24;
const FRAME_MAX: usize = HELD - HELD_FRAME;
const THINNING_SHARE: usize = 32;
const EVENT_ENDS: usize = 8;
const EVENT_ACK: usize = 44;
const EVENT_TOLD: usize = 48;

/// Only the program reads and writes these; its tests set times and look what was found.
#[cfg(test)]
pub const THIN_FLOW: usize = 56;
#[cfg(test)]
pub const THIN_FLOW_HALF: usize = 44;

/// `SENT_MARK`: what is sent in place of what the program kept bears it.
pub const SENT_MARK: u32 = 0x4d50_4544;

/// `struct ends`: one way of a connection, as the kernel's maps name it.
pub type Ends = [u8; ENDS];

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

impl Thinning {
    pub fn to_bytes(self) -> [u8; THINNING] {
        let mut bytes = [0; THINNING];
        let numbers = [self.alive_until.as_nanos(), self.bytes.0, self.wait.as_nanos(), self.tail.as_nanos()];
        for (place, number) in bytes.chunks_exact_mut(8).zip(numbers) {
            place.copy_from_slice(&number.to_ne_bytes());
        }
        bytes[THINNING_SHARE..THINNING_SHARE + 4].copy_from_slice(&self.share.to_ne_bytes());
        bytes
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

impl Held {
    pub fn read(bytes: &[u8; HELD]) -> Self {
        let half = |at| u16::from_ne_bytes(array(bytes, at));
        let length = usize::from(half(HELD_LENGTH)).min(FRAME_MAX);
        let protocol = u16::from_be_bytes(array(bytes, HELD_LENGTH + 4));
        Self {
            at: Instant::from_nanos(u64_at(bytes, 0)),
            interface: u32_at(bytes, HELD_INTERFACE),
            ack: u32_at(bytes, HELD_INTERFACE + 4),
            ip: usize::from(half(HELD_LENGTH + 2)),
            vlan: (protocol > 0).then(|| (protocol, half(HELD_LENGTH + 6))),
            frame: bytes[HELD_FRAME..HELD_FRAME + length].to_vec(),
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
        let bytes: &[u8; EVENT] = bytes.try_into().ok()?;
        let told = match bytes[EVENT_TOLD] {
            0 => EventKind::Kept,
            1 => EventKind::Yields(u32_at(bytes, EVENT_ACK)),
            _ => return None,
        };
        Some(Self { at: Instant::from_nanos(u64_at(bytes, 0)), ends: array(bytes, EVENT_ENDS), told })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ebpf::trying::{asserted, defined};

    const HEADER: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../bpf/include/edge.h"));

    #[test]
    fn the_header_asserts_the_same_numbers() {
        // The one about two enums is between their names.
        let asserted: Vec<_> = asserted(HEADER).filter_map(|(what, number)| Some((what, number?))).collect();
        let expected = [
            ("sizeof(struct ends)", ENDS),
            ("sizeof(struct thin_flow)", THIN_FLOW),
            ("offsetof(struct thin_flow, newest)", 32),
            ("offsetof(struct thin_flow, half)", THIN_FLOW_HALF),
            ("offsetof(struct thin_flow, window)", 48),
            ("offsetof(struct thin_flow, held)", 52),
            ("sizeof(struct held)", HELD),
            ("offsetof(struct held, interface)", HELD_INTERFACE),
            ("offsetof(struct held, length)", HELD_LENGTH),
            ("offsetof(struct held, frame)", HELD_FRAME),
            ("sizeof(struct thinning)", THINNING),
            ("offsetof(struct thinning, share)", THINNING_SHARE),
            ("sizeof(struct edge_event)", EVENT),
            ("offsetof(struct edge_event, ends)", EVENT_ENDS),
            ("offsetof(struct edge_event, ack)", EVENT_ACK),
            ("offsetof(struct edge_event, told)", EVENT_TOLD),
            ("EDGE_COUNTERS", COUNTERS),
        ];
        assert_eq!(asserted, expected);
        assert_eq!(defined(HEADER, "SENT_MARK").trim_end_matches('u'), format!("{SENT_MARK:#x}"));
        assert_eq!(defined(HEADER, "FRAME_MAX").trim_end_matches('u'), FRAME_MAX.to_string());
    }

    #[test]
    fn events_of_other_lengths_and_kinds_are_none() {
        let mut bytes = [0; EVENT];
        assert_eq!(Event::read(&bytes).map(|event| event.told), Some(EventKind::Kept));
        bytes[EVENT_TOLD] = 2;
        assert_eq!(Event::read(&bytes), None);
        assert_eq!(Event::read(&bytes[1..]), None);
    }
}
