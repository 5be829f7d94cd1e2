//! The netlink messages of NFQUEUE as bytes; no system call, no unsafe code.
//!
//! Every length comes from the bytes themselves and is checked: a truncated or hostile datagram gives [`Malformed`].

use super::Options;
use crate::netlink::{ALIGN, ATTRIBUTE, HEADER, NetlinkAck, attribute, close, native_u16, native_u32, open};
use std::ops::Range;

/// `struct nfgenmsg` (nfnetlink.h), which follows the netlink header.
const GENERIC: usize = 4;
/// The flag bits of an attribute's type (NLA_F_NESTED, NLA_F_NET_BYTEORDER).
const TYPE_MASK: u16 = 0x3fff;

/// Of what the kernel says of a packet (`NFQA_SKB_INFO`): a checksum is missing, segments are still in one piece.
const UNFINISHED: u32 = (libc::NFQA_SKB_CSUMNOTREADY | libc::NFQA_SKB_GSO) as u32;

/// The number that the kernel gives a queued packet; a verdict names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PacketId(pub u32);

impl PacketId {
    /// How many numbers were left out between `last` and `self`. The kernel counts up by one, modulo 2^32, and takes
    /// a number before it knows whether the socket has room (`__nfqnl_enqueue_packet`).
    pub(super) fn missed_since(self, last: Self) -> u32 {
        let step = self.0.wrapping_sub(last.0);
        // The counter stands still or goes back: this kernel counts in another way, so nothing can be said.
        if step == 0 || step > u32::MAX / 2 { 0 } else { step - 1 }
    }
}

/// A packet that waits for its verdict.
#[derive(Debug)]
pub struct Queued<'a> {
    /// Its number for the verdict.
    pub id: PacketId,
    /// Index of the interface through which it came; `None` on the OUTPUT hook.
    pub indev: Option<u32>,
    /// Index of the interface through which it will leave; `None` before routing.
    pub outdev: Option<u32>,
    /// Its length in bytes before the copy range cut it.
    pub length: u32,
    /// It is not what will be on the wire: the kernel will cut it, or fill in its checksum, after the verdict (`NFQA_SKB_INFO`).
    pub unfinished: bool,
    /// The packet from its IP header on, as far as the copy range goes. May be rewritten in place, to be sent along with the
    /// verdict ([`super::Verdicts::accept_with`]).
    pub payload: &'a mut [u8],
}

/// Everything of a [`Queued`] but its payload, which is a place in the datagram.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Head {
    pub(super) id: PacketId,
    indev: Option<u32>,
    outdev: Option<u32>,
    length: Option<u32>,
    unfinished: bool,
    payload: Range<usize>,
}

impl Head {
    /// The packet with its payload out of the datagram that it was found in.
    pub(crate) fn with_payload(self, datagram: &mut [u8]) -> Queued<'_> {
        // The payload was found within 16 bits' worth of attribute.
        let length = self.length.unwrap_or(self.payload.len() as u32);
        let payload = &mut datagram[self.payload];
        let Self { id, indev, outdev, unfinished, .. } = self;
        Queued { id, indev, outdev, length, unfinished, payload }
    }
}

/// What a message from the kernel says.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Message {
    /// A packet was queued.
    Packet(Head),
    /// The answer to one of our messages: 0 or an error number, and whether it was a configuration or a verdict.
    Answer { errno: i32, configuration: bool },
    /// Nothing of interest.
    Other,
}

/// The bytes are not what the kernel's headers describe.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Malformed;

/// Walks through the messages of a datagram. The datagram is an argument of each step, so that a packet can be changed in
/// place between two of them.
#[derive(Debug)]
pub(crate) struct Messages {
    at: usize,
}

impl Messages {
    pub(crate) fn new() -> Self {
        Self { at: 0 }
    }

    /// The next message of `datagram`, the same as in the calls before; ends after one that is malformed.
    pub(crate) fn next(&mut self, datagram: &[u8]) -> Option<Result<Message, Malformed>> {
        if self.at >= datagram.len() {
            return None;
        }
        let message = match length_at(datagram, self.at) {
            Some(length) => {
                let range = self.at..self.at + length;
                self.at += length.next_multiple_of(ALIGN);
                parse(datagram, range)
            }
            None => None,
        };
        if message.is_none() {
            self.at = datagram.len();
        }
        Some(message.ok_or(Malformed))
    }
}

/// The length of the message at `at`, if all of it is there.
fn length_at(datagram: &[u8], at: usize) -> Option<usize> {
    let length = usize::try_from(native_u32(datagram, at)?).ok()?;
    (length >= HEADER && length <= datagram.len() - at).then_some(length)
}

/// The message at `range` of `datagram`.
fn parse(datagram: &[u8], range: Range<usize>) -> Option<Message> {
    const PACKET: u16 = ours(libc::NFQNL_MSG_PACKET);
    const ERROR: u16 = libc::NLMSG_ERROR as u16;
    let body = range.start + HEADER;
    match native_u16(datagram, range.start + 4)? {
        PACKET => packet(datagram, body + GENERIC..range.end).map(Message::Packet),
        ERROR => {
            let NetlinkAck { errno, about } = NetlinkAck::parse(&datagram[body..range.end])?;
            Some(Message::Answer { errno, configuration: about == ours(libc::NFQNL_MSG_CONFIG) })
        }
        _ => Some(Message::Other),
    }
}

/// A message type of the queue subsystem as the header carries it (NFNL_SUBSYS_ID in nfnetlink.h).
const fn ours(kind: libc::c_int) -> u16 {
    (libc::NFNL_SUBSYS_QUEUE as u16) << 8 | kind as u16
}

/// The attributes at `range` of `datagram` as a packet; needs its number and its payload.
fn packet(datagram: &[u8], range: Range<usize>) -> Option<Head> {
    let message = datagram.get(..range.end)?;
    let (mut id, mut payload) = (None, None);
    let mut head =
        Head { id: PacketId(0), indev: None, outdev: None, length: None, unfinished: false, payload: 0..0 };
    let mut at = range.start;
    while at < range.end {
        let length = usize::from(native_u16(message, at)?);
        let value = at + ATTRIBUTE..at.checked_add(length)?;
        if length < ATTRIBUTE || value.end > range.end {
            return None;
        }
        let number = || big_u32(message.get(value.clone())?);
        match i32::from(native_u16(message, at + 2)? & TYPE_MASK) {
            libc::NFQA_PACKET_HDR => id = Some(PacketId(number()?)),
            libc::NFQA_IFINDEX_INDEV => head.indev = Some(number()?),
            libc::NFQA_IFINDEX_OUTDEV => head.outdev = Some(number()?),
            libc::NFQA_SKB_INFO => head.unfinished = number()? & UNFINISHED != 0,
            libc::NFQA_CAP_LEN => head.length = Some(number()?),
            libc::NFQA_PAYLOAD => payload = Some(value),
            _ => {}
        }
        at += length.next_multiple_of(ALIGN);
    }
    // A packet whose copy range is empty has no payload attribute.
    Some(Head { id: id?, payload: payload.unwrap_or(0..0), ..head })
}

/// The first four bytes as the network orders them.
fn big_u32(bytes: &[u8]) -> Option<u32> {
    Some(u32::from_be_bytes(*bytes.first_chunk()?))
}

/// One configuration message that binds queue `number` and says all that `options` ask for. The kernel carries its
/// attributes out in this order, within the call (nfqnl_recv_config): no packet meets a half-configured queue.
pub(super) fn bind(number: u16, copy_range: u16, options: &Options) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(64);
    let start = start(&mut bytes, libc::NFQNL_MSG_CONFIG, libc::NLM_F_REQUEST | libc::NLM_F_ACK, number);
    // `struct nfqnl_msg_config_cmd`: the command, padding and a protocol family that kernels since 3.8 ignore.
    attribute(&mut bytes, libc::NFQA_CFG_CMD as u16, &[libc::NFQNL_CFG_CMD_BIND as u8, 0, 0, 0]);
    // `struct nfqnl_msg_config_params`, packed.
    let [a, b, c, d] = u32::from(copy_range).to_be_bytes();
    attribute(&mut bytes, libc::NFQA_CFG_PARAMS as u16, &[a, b, c, d, libc::NFQNL_COPY_PACKET as u8]);
    attribute(&mut bytes, libc::NFQA_CFG_QUEUE_MAXLEN as u16, &options.length.to_be_bytes());
    flag(&mut bytes, libc::NFQA_CFG_F_FAIL_OPEN, options.fail_open);
    close(&mut bytes, start);
    bytes
}

/// One configuration message to a bound queue: whether packets come `whole` from now on, and how much of each is copied. The kernel answers
/// only if it refuses.
pub(super) fn wholeness(number: u16, whole: bool, copy_range: u16) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(64);
    let start = start(&mut bytes, libc::NFQNL_MSG_CONFIG, libc::NLM_F_REQUEST, number);
    let [a, b, c, d] = u32::from(copy_range).to_be_bytes();
    attribute(&mut bytes, libc::NFQA_CFG_PARAMS as u16, &[a, b, c, d, libc::NFQNL_COPY_PACKET as u8]);
    flag(&mut bytes, libc::NFQA_CFG_F_GSO, whole);
    close(&mut bytes, start);
    bytes
}

/// Appends that a flag of a queue is to be on or off.
fn flag(bytes: &mut Vec<u8>, flag: libc::c_int, on: bool) {
    let mask = flag as u32;
    let value = if on { mask } else { 0 };
    attribute(bytes, libc::NFQA_CFG_FLAGS as u16, &value.to_be_bytes());
    attribute(bytes, libc::NFQA_CFG_MASK as u16, &mask.to_be_bytes());
}

/// Appends the verdict on packet `id`: `NF_DROP` or `NF_ACCEPT`, a new payload. The kernel answers only if it
/// refuses.
pub(super) fn verdict(
    bytes: &mut Vec<u8>,
    number: u16,
    id: PacketId,
    verdict: libc::c_int,
    payload: Option<&[u8]>,
) {
    let start = start(bytes, libc::NFQNL_MSG_VERDICT, libc::NLM_F_REQUEST, number);
    // `struct nfqnl_msg_verdict_hdr`.
    let mut header = [0; 8];
    header[..4].copy_from_slice(&verdict.to_be_bytes());
    header[4..].copy_from_slice(&id.0.to_be_bytes());
    attribute(bytes, libc::NFQA_VERDICT_HDR as u16, &header);
    if let Some(payload) = payload {
        attribute(bytes, libc::NFQA_PAYLOAD as u16, payload);
    }
    close(bytes, start);
}

/// Starts a message about queue `number`. Its `nfgenmsg` is of any address family and version 0. An answer quotes the type of
/// the message that it answers.
fn start(bytes: &mut Vec<u8>, kind: libc::c_int, flags: libc::c_int, number: u16) -> usize {
    let [high, low] = number.to_be_bytes();
    open(bytes, ours(kind), flags, &[libc::AF_UNSPEC as u8, libc::NFNETLINK_V0 as u8, high, low])
}
