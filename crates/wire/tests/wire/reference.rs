//! The rewriter and the parser once more, slow and simple: a packet is taken apart into pieces, the pieces are changed,
//! all of it is put together and added up again. The fuzz targets use this file too.

use meshpace_tcp::{Options, SackBlocks, Timestamps};
use meshpace_units::{Seq, Span};

/// A TCP packet in pieces.
#[derive(Clone, Debug)]
pub struct Anatomy {
    pub ip: Vec<u8>,
    pub fixed: Vec<u8>,
    pub options: Vec<Piece>,
    pub payload: Vec<u8>,
    /// Behind the end of the packet.
    pub behind: Vec<u8>,
}

/// A piece of the options.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    Nop,
    Option(Vec<u8>),
    /// An end of options and what is behind it.
    Padding(Vec<u8>),
    /// An option that cannot be, and what is behind it.
    Broken(Vec<u8>),
}

fn number(bytes: &[u8]) -> usize {
    bytes.iter().fold(0, |number, &byte| number * 256 + usize::from(byte))
}

/// Takes a whole packet apart; `None` if it is none, or has no TCP header.
pub fn dissect(bytes: &[u8]) -> Option<Anatomy> {
    let (end, tcp) = match bytes.first()? >> 4 {
        4 => ipv4(bytes)?,
        6 => ipv6(bytes)?,
        _ => return None,
    };
    if bytes.len() < end || tcp + 20 > end {
        return None;
    }
    let header = usize::from(bytes[tcp + 12] >> 4) * 4;
    if header < 20 || tcp + header > end {
        return None;
    }
    Some(Anatomy {
        ip: bytes[..tcp].to_vec(),
        fixed: bytes[tcp..tcp + 20].to_vec(),
        options: pieces(&bytes[tcp + 20..tcp + header]),
        payload: bytes[tcp + header..end].to_vec(),
        behind: bytes[end..].to_vec(),
    })
}

fn ipv4(bytes: &[u8]) -> Option<(usize, usize)> {
    let (words, end) = (usize::from(bytes[0] & 15), number(bytes.get(2..4)?));
    let fragment = number(bytes.get(6..8)?) % 0x4000 > 0;
    (*bytes.get(9)? == 6 && words >= 5 && !fragment).then_some((end, 4 * words))
}

fn ipv6(bytes: &[u8]) -> Option<(usize, usize)> {
    let length = number(bytes.get(4..6)?);
    let (mut kind, mut at) = (*bytes.get(6)?, 40);
    while [0, 43, 60].contains(&kind) {
        kind = *bytes.get(at)?;
        at += 8 + 8 * usize::from(*bytes.get(at + 1)?);
    }
    (kind == 6 && length > 0).then_some((40 + length, at))
}

fn pieces(mut options: &[u8]) -> Vec<Piece> {
    let mut pieces = Vec::new();
    while let [kind, rest @ ..] = options {
        let length = match (kind, rest) {
            (0, _) => {
                pieces.push(Piece::Padding(options.to_vec()));
                break;
            }
            (1, _) => {
                pieces.push(Piece::Nop);
                options = rest;
                continue;
            }
            (_, [length, ..]) => usize::from(*length),
            (_, []) => 0,
        };
        if length < 2 || length > options.len() {
            pieces.push(Piece::Broken(options.to_vec()));
            break;
        }
        pieces.push(Piece::Option(options[..length].to_vec()));
        options = &options[length..];
    }
    pieces
}

fn exid(option: &[u8]) -> bool {
    option.len() >= 4 && option[0] == 253 && option[2..4] == [0x4d, 0x50]
}

impl Anatomy {
    /// What the options say.
    pub fn read(&self) -> Options {
        let mut read = Options::default();
        for piece in &self.options {
            let Piece::Option(bytes) = piece else { continue };
            let body = &bytes[2..];
            match (bytes[0], bytes.len()) {
                (2, 4) => read.mss = Some(number(body) as u16),
                (3, 3) => read.window_scale = Some(body[0]),
                (4, 2) => read.sack_permitted = true,
                (5, 10 | 18 | 26 | 34) => {
                    let mut blocks = SackBlocks::default();
                    for (index, pair) in body.chunks(8).enumerate() {
                        let edge = |bytes| Seq(number(bytes) as u32);
                        blocks[index] = Some((edge(&pair[..4]), edge(&pair[4..])));
                    }
                    read.sack = blocks;
                }
                (8, 10) => {
                    let stamp = |bytes| number(bytes) as u32;
                    let (value, echo) = (stamp(&body[..4]), stamp(&body[4..]));
                    read.timestamps = Some(Timestamps { value, echo });
                }
                (253, 6) if exid(bytes) && read.rtt_wired.is_none() => {
                    read.rtt_wired = Some(Span::from_millis(number(&body[2..]) as u64));
                }
                _ => {}
            }
        }
        read
    }

    /// Whether an MD5 signature or an authentication option is among them.
    pub fn is_signed(&self) -> bool {
        self.options.iter().any(|piece| matches!(piece, Piece::Option(bytes) if [19, 29].contains(&bytes[0])))
    }

    /// Whether the header says more than numbers, a window, seven flags, time stamps and TCP-GAP's option.
    pub fn says_more(&self) -> bool {
        let other = |piece: &Piece| match piece {
            Piece::Nop | Piece::Padding(_) => false,
            Piece::Broken(_) => true,
            Piece::Option(bytes) => {
                !(bytes[0] == 8 && bytes.len() == 10 || bytes[0] == 253 && bytes.len() == 6 && exid(bytes))
            }
        };
        self.fixed[12] & 0x0f != 0 || self.fixed[13] & 0x20 != 0 || self.options.iter().any(other)
    }

    /// The options as bytes.
    pub fn option_bytes(&self) -> Vec<u8> {
        let bytes = |piece: &Piece| match piece {
            Piece::Nop => vec![1],
            Piece::Option(bytes) | Piece::Padding(bytes) | Piece::Broken(bytes) => bytes.clone(),
        };
        self.options.iter().flat_map(bytes).collect()
    }

    /// Puts the pieces together, with the lengths that they have. The checksums are as wrong as before, in the sense
    /// that the words add up to the same (modulo 65,535).
    pub fn assemble(&self, before: &[u8]) -> Vec<u8> {
        let mut bytes = [self.ip.clone(), self.fixed.clone(), self.option_bytes()].concat();
        let tcp = self.ip.len();
        bytes[tcp + 12] = bytes[tcp + 12] & 15 | (((bytes.len() - tcp) / 4) << 4) as u8;
        bytes.extend_from_slice(&self.payload);
        let (length, at) = if bytes[0] >> 4 == 4 { (bytes.len(), 2) } else { (bytes.len() - 40, 4) };
        bytes[at..at + 2].copy_from_slice(&(length as u16).to_be_bytes());
        let whole = bytes.len();
        bytes.extend_from_slice(&self.behind);
        let before = &before[..before.len() - self.behind.len()];
        if bytes[0] >> 4 == 4 {
            adjust(&mut bytes, 10, |bytes| words(&bytes[..tcp]), words(&before[..tcp]));
        }
        adjust(&mut bytes, tcp + 16, |bytes| tcp_words(&bytes[..whole], tcp), tcp_words(before, tcp));
        bytes
    }
}

/// Chooses the word at `at` so that the sum is `wanted` modulo 65,535.
fn adjust(bytes: &mut [u8], at: usize, sum: impl Fn(&[u8]) -> u64, wanted: u64) {
    bytes[at..at + 2].fill(0);
    let missing = (wanted % 65_535 + 65_535 - sum(bytes) % 65_535) % 65_535;
    bytes[at..at + 2].copy_from_slice(&(missing as u16).to_be_bytes());
}

/// The sum of all words.
pub fn words(bytes: &[u8]) -> u64 {
    bytes.chunks(2).map(|pair| number(&[pair[0], *pair.get(1).unwrap_or(&0)]) as u64).sum()
}

/// A sum in 16 bits.
pub fn folded(sum: u64) -> u16 {
    if sum > 0 && sum % 65_535 == 0 { 65_535 } else { (sum % 65_535) as u16 }
}

/// What the TCP checksum covers: addresses, protocol, length, segment.
pub fn tcp_words(packet: &[u8], tcp: usize) -> u64 {
    let addresses = if packet[0] >> 4 == 4 { 12..20 } else { 8..40 };
    words(&packet[addresses]) + 6 + (packet.len() - tcp) as u64 + words(&packet[tcp..])
}

/// Equal, where 0000 and ffff are the same checksum.
pub fn same(a: &[u8], b: &[u8], tcp: usize) -> bool {
    let plain = |packet: &[u8]| {
        let mut packet = packet.to_vec();
        let mut fields = vec![tcp + 16];
        fields.extend((packet[0] >> 4 == 4).then_some(10));
        for at in fields {
            if packet[at..at + 2] == [255; 2] {
                packet[at..at + 2].fill(0);
            }
        }
        packet
    };
    plain(a) == plain(b)
}

/// The packet with the option; `None` if there is no room.
pub fn set(packet: &[u8], milliseconds: u16) -> Option<Vec<u8>> {
    let mut anatomy = dissect(packet)?;
    let [high, low] = milliseconds.to_be_bytes();
    let option = vec![253, 6, 0x4d, 0x50, high, low];
    let mut there = false;
    let mut options = Vec::new();
    for piece in anatomy.options {
        match piece {
            Piece::Option(bytes) if exid(&bytes) && bytes.len() == 6 && !there => {
                there = true;
                options.push(Piece::Option(option.clone()));
            }
            Piece::Option(bytes) if exid(&bytes) => options.extend(vec![Piece::Nop; bytes.len()]),
            other => options.push(other),
        }
    }
    if !there {
        match options.last().cloned() {
            Some(Piece::Broken(_)) => return None,
            Some(Piece::Padding(bytes)) => {
                options.pop();
                options.extend(vec![Piece::Nop; bytes.len()]);
            }
            _ => {}
        }
        options.extend([Piece::Option(option), Piece::Nop, Piece::Nop]);
    }
    anatomy.options = options;
    let above = 20 + anatomy.option_bytes().len() + anatomy.payload.len();
    let counted = anatomy.ip.len() + above - if packet[0] >> 4 == 6 { 40 } else { 0 };
    (anatomy.option_bytes().len() <= 40 && counted <= 65_535).then(|| anatomy.assemble(packet))
}

/// The packet without the option.
pub fn strip(packet: &[u8]) -> Option<Vec<u8>> {
    let mut anatomy = dissect(packet)?;
    let nops = |piece: Piece| match piece {
        Piece::Option(bytes) if exid(&bytes) => vec![Piece::Nop; bytes.len()],
        other => vec![other],
    };
    anatomy.options = anatomy.options.into_iter().flat_map(nops).collect();
    Some(anatomy.assemble(packet))
}

/// The packet with its segment size lowered.
pub fn clamp(packet: &[u8], max: u16) -> Option<Vec<u8>> {
    let mut anatomy = dissect(packet)?;
    if anatomy.fixed[13] & 2 != 0 {
        for piece in &mut anatomy.options {
            match piece {
                Piece::Option(bytes) if bytes[..2] == [2, 4] => {
                    let lower = (number(&bytes[2..]) as u16).min(max);
                    bytes[2..].copy_from_slice(&lower.to_be_bytes());
                }
                _ => {}
            }
        }
    }
    Some(anatomy.assemble(packet))
}

/// The packet with another window.
pub fn announce(packet: &[u8], window: u16) -> Option<Vec<u8>> {
    let mut anatomy = dissect(packet)?;
    anatomy.fixed[14..16].copy_from_slice(&window.to_be_bytes());
    Some(anatomy.assemble(packet))
}
