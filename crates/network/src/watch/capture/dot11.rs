//! IEEE 802.11 frames (IEEE 802.11-2020, 9.2 and 9.3).
//!
//! Data frames are those of an independent BSS: no bit of To DS, From DS, three addresses. A mesh that routes at the
//! IP layer needs no more: each hop is a frame from neighbour to neighbour.

use super::addresses::Addresses;
use meshpace_radio::standard::SUBFRAME_HEADER;
use meshpace_radio::standard::control_sizes::BLOCK_ACK_BYTES;
use meshpace_radio::{Bitmap, BlockAck, Frame, FrameKind, Mpdu, Priority};
use meshpace_relay::packet::{Body, Packet};
use meshpace_units::{Bytes, NodeId, Span};

/// What surrounds the IP packet in a data frame of a capture: header 24, or 26 with QoS control, LLC/SNAP 8, FCS 4.
pub const fn data_overhead(qos: bool) -> u64 {
    24 + if qos { 2 } else { 0 } + 8 + 4
}

const BROADCAST: [u8; 6] = [0xff; 6];
/// The network that all nodes belong to; no node has this address (nodes: 02:6d:70:00:..).
const BSSID: [u8; 6] = [0x02, 0x6d, 0x70, 0xff, 0xff, 0xff];
/// LLC with SNAP (RFC 1042), but for the type of what follows.
const LLC_SNAP: [u8; 6] = [0xaa, 0xaa, 0x03, 0, 0, 0];

/// What a data frame carries (IEEE Std 802 numbers, as in RFC 1042).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EtherType {
    /// An IPv4 packet.
    Ipv4,
    /// A packet of address resolution.
    Arp,
    /// An IPv6 packet.
    Ipv6,
    /// What a real host says.
    Told(u16),
}

impl EtherType {
    /// That of a packet.
    pub fn of(packet: &Packet) -> Self {
        match packet.body {
            Body::Arp(_) => Self::Arp,
            Body::Ethernet(ref frame) => Self::Told(frame.ether_type()),
            _ if packet.source.is_ipv6() => Self::Ipv6,
            _ => Self::Ipv4,
        }
    }

    /// Its number. `None`: what follows is no packet with a type, but of a length, with an LLC header of its own (IEEE Std 802.3-2018, 3.2.6).
    const fn number(self) -> Option<u16> {
        match self {
            Self::Ipv4 => Some(0x0800),
            Self::Arp => Some(0x0806),
            Self::Ipv6 => Some(0x86dd),
            Self::Told(number) if number >= 0x0600 => Some(number),
            Self::Told(_) => None,
        }
    }
}

/// First byte of frame control: version 0, type and subtype.
const DATA: u8 = 0x08;
const QOS_DATA: u8 = 0x88;
const RTS: u8 = 0xb4;
const CTS: u8 = 0xc4;
const ACK: u8 = 0xd4;
const BLOCK_ACK: u8 = 0x94;
const BLOCK_ACK_REQ: u8 = 0x84;
/// Second byte of frame control.
const RETRY: u8 = 0x08;

/// The largest duration (9.2.4.2), us.
const DURATION_MAX: u64 = 32_767;

/// BA control (9.3.1.8): a compressed bitmap, no immediate acknowledgement of it asked for; beside the priority.
const COMPRESSED: u16 = 0x0005;
/// BAR control (9.3.1.7): a compressed bitmap is asked for; beside the priority.
const ASK_COMPRESSED: u16 = 0x0004;
/// Where BA control and BAR control have the priority (TID_INFO).
const TID_INFO: u32 = 12;
/// QoS control (9.2.4.5): the frame has an A-MSDU. Beside it stands the priority; acknowledged by an ACK, or behind others of its frame by
/// a block acknowledgement.
const AMSDU_PRESENT: u16 = 1 << 7;
/// Fragment number of the starting sequence control: the bitmap has 256 bits (IEEE 802.11ax-2021, table 9-30a).
const BITS_256: u16 = 0x0004;

/// Everything before what the frame carries, which is `mpdu`, with QoS control or without, several packets or one; the whole frame
/// but for the FCS if it carries nothing.
pub fn header(
    out: &mut Vec<u8>,
    frame: &Frame,
    mpdu: Option<&Mpdu>,
    (qos, amsdu): (bool, bool),
    addresses: &Addresses,
) {
    let station = |node: NodeId| addresses.station(node);
    let receiver = frame.to.map_or(BROADCAST, station);
    let kind = match frame.kind {
        FrameKind::Rts => RTS,
        FrameKind::Cts => CTS,
        FrameKind::Data if qos => QOS_DATA,
        FrameKind::Data => DATA,
        FrameKind::Ack => ACK,
        FrameKind::BlockAck => BLOCK_ACK,
        FrameKind::BlockAckReq => BLOCK_ACK_REQ,
    };
    // Only data frames have a retry bit that may be set (9.2.4.1.6): a repeated RTS looks like the first.
    let retry = mpdu.is_some_and(|mpdu| mpdu.retry);
    out.extend([kind, if retry { RETRY } else { 0 }]);
    out.extend(duration(frame.duration).to_le_bytes());
    out.extend(receiver);
    match frame.kind {
        FrameKind::Cts | FrameKind::Ack => {}
        FrameKind::Rts => out.extend(station(frame.from)),
        FrameKind::BlockAck => {
            out.extend(station(frame.from));
            if let Some(told) = frame.block_ack() {
                block_ack(out, told, frame.size);
            }
        }
        FrameKind::BlockAckReq => {
            out.extend(station(frame.from));
            let (start, priority) =
                frame.block_ack().map_or((0, 0), |asked| (asked.start, tid(asked.priority)));
            out.extend((ASK_COMPRESSED | priority << TID_INFO).to_le_bytes());
            out.extend(((start & 0xfff) << 4).to_le_bytes());
        }
        FrameKind::Data => {
            out.extend(station(frame.from));
            out.extend(BSSID);
            out.extend((mpdu.map_or(0, |mpdu| mpdu.seq & 0xfff) << 4).to_le_bytes()); // fragment 0
            if qos {
                let priority = mpdu.map_or(0, |mpdu| tid(mpdu.packet.priority));
                out.extend((priority | if amsdu { AMSDU_PRESENT } else { 0 }).to_le_bytes());
            }
        }
    }
}

/// The bytes before every packet that say what kind of packet it is.
pub fn llc_snap(out: &mut Vec<u8>, carries: EtherType) {
    if let Some(number) = carries.number() {
        out.extend(LLC_SNAP);
        out.extend(number.to_be_bytes());
    }
}

/// Begins a packet of an A-MSDU (9.3.2.2.2): for whom, of whom, and its length with LLC/SNAP, which [`end_subframe`] writes.
pub fn subframe(out: &mut Vec<u8>, frame: &Frame, addresses: &Addresses) {
    out.extend(frame.to.map_or(BROADCAST, |to| addresses.station(to)));
    out.extend(addresses.station(frame.from));
    out.extend([0, 0]);
}

/// Ends the packet of an A-MSDU that began at `begin`: all but the last are padded to a multiple of four bytes.
pub fn end_subframe(out: &mut Vec<u8>, begin: usize, last: bool) {
    let header = SUBFRAME_HEADER.0 as usize;
    let length = (out.len() - begin - header) as u16;
    out[begin + header - 2..begin + header].copy_from_slice(&length.to_be_bytes());
    if !last {
        out.resize(begin + (out.len() - begin).next_multiple_of(4), 0);
    }
}

/// What a block acknowledgement of `size` says.
fn block_ack(out: &mut Vec<u8>, told: &BlockAck, size: Bytes) {
    let long = size > BLOCK_ACK_BYTES + Bitmap::bytes(64);
    out.extend((COMPRESSED | tid(told.priority) << TID_INFO).to_le_bytes());
    out.extend(((told.start & 0xfff) << 4 | if long { BITS_256 } else { 0 }).to_le_bytes());
    out.extend(told.arrived.to_bytes().into_iter().take(if long { 32 } else { 8 }));
}

/// Appends the frame check sequence of what begins at `start` (IEEE 802.11-2020, 9.2.4.8: IEEE 802.3's CRC-32).
pub fn frame_check(out: &mut Vec<u8>, start: usize) {
    let fcs = crc32fast::hash(&out[start..]);
    out.extend(fcs.to_le_bytes());
}

/// A priority as QoS control and block acknowledgements have it.
fn tid(priority: Priority) -> u16 {
    u16::from(priority.tid())
}

/// In whole microseconds, a fraction counted as one (9.2.5).
fn duration(span: Span) -> u16 {
    span.as_nanos().div_ceil(1_000).min(DURATION_MAX) as u16
}
