//! TCP options: walking, reading and writing them.

use crate::ip::array;
use alloc::vec::Vec;
use meshpace_tcp::{Options, SackBlocks, Timestamps};
use meshpace_units::{Seq, Span};

/// Option kinds (IANA, "TCP Option Kind Numbers").
const END: u8 = 0;
pub const NOP: u8 = 1;
const MSS: u8 = 2;
const WINDOW_SCALE: u8 = 3;
const SACK_PERMITTED: u8 = 4;
const SACK: u8 = 5;
const TIMESTAMPS: u8 = 8;
/// A signature over header and payload (RFC 2385), and its successor (RFC 5925).
const SIGNATURES: [u8; 2] = [19, 29];
const EXPERIMENTAL: u8 = 253;

/// By which TCP-GAP's option is known among the experimental ones (RFC 6994; not registered; schemes.md 3.2).
pub const RTT_EXID: u16 = 0x4d50;
/// Bytes that TCP-GAP's option takes with its padding.
pub const RTT_OPTION_LENGTH: usize = 8;
/// Bytes of the option alone: kind, length, ExID, milliseconds.
const RTT_BARE: usize = 6;

/// An option of more than one byte, kind and length included.
pub struct Found<'a> {
    /// Where it begins.
    pub at: usize,
    pub bytes: &'a [u8],
}

impl Found<'_> {
    /// TCP-GAP's ExID, whatever follows it.
    #[inline]
    pub fn has_rtt_exid(&self) -> bool {
        matches!(*self.bytes, [EXPERIMENTAL, _, high, low, ..] if u16::from_be_bytes([high, low]) == RTT_EXID)
    }

    /// TCP-GAP's option in full: one of another length says nothing.
    #[inline]
    pub fn is_rtt(&self) -> bool {
        self.has_rtt_exid() && self.bytes.len() == RTT_BARE
    }

    /// A maximum segment size.
    #[inline]
    pub fn mss(&self) -> Option<u16> {
        match *self.bytes {
            [MSS, 4, high, low] => Some(u16::from_be_bytes([high, low])),
            _ => None,
        }
    }
}

/// Walks a header's options as Linux does (net/ipv4/tcp_input.c, tcp_parse_options): up to the end-of-options byte,
/// or up to one with a length that is less than two or reaches out of the header. What is behind is not read.
pub struct Walk<'a> {
    options: &'a [u8],
    at: usize,
}

/// How a walk ended.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// Behind the last option.
    Behind,
    /// At the end-of-options byte that is here; from here on there is only padding.
    End(usize),
    /// At an option with an impossible length.
    Malformed,
}

impl<'a> Walk<'a> {
    #[inline]
    pub const fn new(options: &'a [u8]) -> Self {
        Self { options, at: 0 }
    }

    /// Where the walk, when it has come to its end, ended.
    pub fn stop(&self) -> Stop {
        match self.options.get(self.at) {
            None => Stop::Behind,
            Some(&END) => Stop::End(self.at),
            Some(_) => Stop::Malformed,
        }
    }
}

impl<'a> Iterator for Walk<'a> {
    type Item = Found<'a>;

    #[inline]
    fn next(&mut self) -> Option<Found<'a>> {
        while *self.options.get(self.at)? == NOP {
            self.at += 1;
        }
        let at = self.at;
        let length = usize::from(*self.options.get(at + 1)?);
        if self.options[at] == END || length < 2 {
            return None;
        }
        let bytes = self.options.get(at..at + length)?;
        self.at += length;
        Some(Found { at, bytes })
    }
}

/// What was read of a header's options.
#[derive(Default)]
pub struct Read {
    pub options: Options,
    /// The segment is signed.
    pub signed: bool,
    /// There are others than time stamps and TCP-GAP's, or malformed ones.
    pub others: bool,
}

/// What a header's options say. Those of a wrong length say nothing; of two of a kind the last counts, as in Linux, but the first
/// of TCP-GAP's: that is what `bpf_load_hdr_opt` finds. A signature is one whatever its length.
#[inline]
pub fn read(options: &[u8]) -> Read {
    let mut read = Options::default();
    let (mut signed, mut others) = (false, false);
    // Most segments have timestamps alone, laid out as RFC 7323, appendix A recommends.
    if let [NOP, NOP, TIMESTAMPS, 10, rest @ ..] = options {
        if rest.len() == 8 {
            read.timestamps = Some(timestamps(rest));
            return Read { options: read, ..Read::default() };
        }
    }
    let mut walk = Walk::new(options);
    for found in walk.by_ref() {
        others |= !found.is_rtt() && !matches!(*found.bytes, [TIMESTAMPS, 10, ..]);
        match *found.bytes {
            [kind, ..] if SIGNATURES.contains(&kind) => signed = true,
            [MSS, ..] => read.mss = found.mss().or(read.mss),
            [WINDOW_SCALE, 3, shift] => read.window_scale = Some(shift),
            [SACK_PERMITTED, 2] => read.sack_permitted = true,
            [SACK, length, ref blocks @ ..] if length >= 10 && length % 8 == 2 => read.sack = sack(blocks),
            [TIMESTAMPS, 10, ref stamps @ ..] => read.timestamps = Some(timestamps(stamps)),
            [EXPERIMENTAL, _, _, _, high, low] if found.is_rtt() => {
                let milliseconds = u16::from_be_bytes([high, low]);
                read.rtt_wired = read.rtt_wired.or(Some(Span::from_millis(milliseconds.into())));
            }
            _ => {}
        }
    }
    others |= walk.stop() == Stop::Malformed;
    Read { options: read, signed, others }
}

#[inline]
fn timestamps(bytes: &[u8]) -> Timestamps {
    Timestamps { value: u32::from_be_bytes(array(bytes, 0)), echo: u32::from_be_bytes(array(bytes, 4)) }
}

/// Four blocks are the most that 40 bytes hold (RFC 2018, section 3).
fn sack(bytes: &[u8]) -> SackBlocks {
    let mut blocks = SackBlocks::default();
    for (block, edges) in blocks.iter_mut().zip(bytes.chunks_exact(8)) {
        let edge = |at| Seq(u32::from_be_bytes(array(edges, at)));
        *block = Some((edge(0), edge(4)));
    }
    blocks
}

/// Appends options in the layout that [`Segment::options_length`](meshpace_tcp::Segment::options_length) counts, which
/// is that of Linux.
pub fn write(out: &mut Vec<u8>, options: &Options) {
    if let Some(mss) = options.mss {
        out.extend([MSS, 4]);
        out.extend(mss.to_be_bytes());
    }
    if let Some(shift) = options.window_scale {
        out.extend([NOP, WINDOW_SCALE, 3, shift]);
    }
    // Permission takes the place of the padding in front of the timestamps.
    match (options.sack_permitted, options.timestamps) {
        (true, _) => out.extend([SACK_PERMITTED, 2]),
        (false, Some(_)) => out.extend([NOP, NOP]),
        (false, None) => {}
    }
    match (options.sack_permitted, options.timestamps) {
        (_, Some(stamps)) => {
            out.extend([TIMESTAMPS, 10]);
            out.extend(stamps.value.to_be_bytes());
            out.extend(stamps.echo.to_be_bytes());
        }
        (true, None) => out.extend([NOP, NOP]),
        (false, None) => {}
    }
    let blocks = options.sack.iter().flatten().count() as u8;
    if blocks > 0 {
        out.extend([NOP, NOP, SACK, 2 + 8 * blocks]);
        for (left, right) in options.sack.iter().flatten() {
            out.extend(left.0.to_be_bytes());
            out.extend(right.0.to_be_bytes());
        }
    }
    if let Some(rtt) = options.rtt_wired {
        out.extend(rtt_option(rtt));
    }
}

/// TCP-GAP's option with its padding.
pub fn rtt_option(rtt: Span) -> [u8; RTT_OPTION_LENGTH] {
    let ([id_high, id_low], [high, low]) =
        (RTT_EXID.to_be_bytes(), Options::rtt_milliseconds(rtt).to_be_bytes());
    [EXPERIMENTAL, RTT_BARE as u8, id_high, id_low, high, low, NOP, NOP]
}
