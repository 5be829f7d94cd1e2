//! TCP's fixed header (RFC 9293, section 3.1): where the fields are.

use crate::ip::array;
use meshpace_tcp::{Flags, Options, Segment};
use meshpace_units::Seq;

/// Bytes of a header without options.
pub const HEADER: usize = 20;
/// Bytes of options at most: the data offset counts to 15 words.
pub const OPTIONS_MAX: usize = 40;

/// Where the data offset and the flags are, the window, and the checksum.
pub const OFFSET_AND_FLAGS: usize = 12;
pub const WINDOW: usize = 14;
pub const CHECKSUM: usize = 16;

const FIN: u8 = 0x01;
const SYN: u8 = 0x02;
const RST: u8 = 0x04;
const PSH: u8 = 0x08;
const ACK: u8 = 0x10;
const URG: u8 = 0x20;
const ECE: u8 = 0x40;
const CWR: u8 = 0x80;

/// The flags' byte.
pub fn flag_bits(flags: Flags) -> u8 {
    let Flags { syn, ack, fin, rst, psh, ece, cwr } = flags;
    [(fin, FIN), (syn, SYN), (rst, RST), (psh, PSH), (ack, ACK), (ece, ECE), (cwr, CWR)]
        .into_iter()
        .fold(0, |all, (set, bit)| all | if set { bit } else { 0 })
}

/// True if a header has the SYN flag.
pub fn is_syn(header: &[u8; HEADER]) -> bool {
    header[13] & SYN != 0
}

/// True if a header has a flag that [`Flags`] has no place for: urgent data, or one of the four reserved ones, whose last is AccECN's
/// (RFC 9768, section 3.1).
#[inline]
pub fn has_other_flags(header: &[u8; HEADER]) -> bool {
    header[OFFSET_AND_FLAGS] & 0x0f != 0 || header[13] & URG != 0
}

/// Bytes of the header by its data offset.
#[inline]
pub fn header_length(header: &[u8; HEADER]) -> usize {
    usize::from(header[OFFSET_AND_FLAGS] >> 4) * 4
}

/// The segment of a header.
#[inline]
pub fn segment(header: &[u8; HEADER], options: Options, payload: u32) -> Segment {
    let half = |at| u16::from_be_bytes(array(header, at));
    let word = |at| u32::from_be_bytes(array(header, at));
    let bits = header[13];
    Segment {
        ack: Seq(word(8)),
        flags: Flags {
            syn: bits & SYN != 0,
            ack: bits & ACK != 0,
            fin: bits & FIN != 0,
            rst: bits & RST != 0,
            psh: bits & PSH != 0,
            ece: bits & ECE != 0,
            cwr: bits & CWR != 0,
        },
        window: half(WINDOW),
        payload,
        options,
        ..Segment::new(half(0), half(2), Seq(word(4)))
    }
}
