//! The container: frames with times, in the order of the file. The formats are pcap-parser's business.

use pcap_parser::{Block, Linktype, PcapBlockOwned, PcapError, PcapHeader, create_reader};
use std::io::Read;

/// A frame as the file has it: radiotap header and 802.11 frame, perhaps cut off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Raw<'a> {
    /// When the file says it was captured, nanoseconds since the epoch.
    pub nanos: u64,
    /// What was kept of it.
    pub bytes: &'a [u8],
    /// How long it was.
    pub length: usize,
    /// The file was written by this project: times are those of the preamble's start, exact.
    pub ours: bool,
    /// Which radio heard it: counted over the whole file.
    pub radio: usize,
}

/// What is known of a file beside its frames.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReadSummary {
    /// Why and where it broke off; `None`: it is whole.
    pub partial: Option<String>,
    /// Frames that were not handed out: of interfaces that are no monitor's, that nothing describes or whose clock cannot
    /// be, and frames without a time.
    pub foreign: u64,
}

/// A file that cannot be read at all.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// It is no capture.
    #[error("found no capture; allowed: a pcap or pcapng file")]
    NoCapture,
    /// It has no radiotap headers.
    #[error("found link type {0}; allowed: 127, radiotap (a capture in monitor mode)")]
    LinkType(i32),
    /// It ends within its header, or has no frame.
    #[error("found no whole frame; allowed: a capture with frames")]
    Empty,
}

/// `LINKTYPE_IEEE802_11_RADIOTAP`.
const RADIOTAP: Linktype = Linktype(127);
/// The longest block that is read: a pcapng block of a frame of 802.11 is far below.
const LONGEST: usize = 1 << 20;

/// Reads a capture to its end or to where it breaks off, and hands out its frames.
///
/// # Errors
/// [`Error`] if nothing can be made of it.
pub fn read(reader: impl Read + Send, each: impl FnMut(&Raw<'_>)) -> Result<ReadSummary, Error> {
    let mut reader = match create_reader(LONGEST, reader) {
        Ok(reader) => reader,
        Err(PcapError::Eof | PcapError::Incomplete(_)) => return Err(Error::Empty),
        Err(_) => return Err(Error::NoCapture),
    };
    let mut frames =
        Frames { each, format: Format::default(), radios: 0, found: 0, foreign: 0, refused: None };
    let mut starved = false;
    let ended = loop {
        if frames.format.blocks && is_too_short(reader.data()) {
            break Some("the file is broken (a block shorter than its own header)".to_owned());
        }
        match reader.next() {
            Ok((length, block)) => {
                frames.take(&block);
                reader.consume(length);
                starved = false;
            }
            Err(PcapError::Eof) => break None,
            Err(PcapError::Incomplete(_)) => {
                // A refill that brings nothing: the block is longer than the buffer, or the file ends within it.
                if starved || reader.refill().is_err() {
                    break Some("the file ends within a frame".to_owned());
                }
                starved = reader.reader_exhausted();
            }
            Err(PcapError::UnexpectedEof) => break Some("the file ends within a frame".to_owned()),
            Err(error) => break Some(format!("the file is broken ({error:?})").chars().take(200).collect()),
        }
    };
    let Frames { found, foreign, refused, .. } = frames;
    if found == 0 {
        return Err(refused.map_or(Error::Empty, |link| Error::LinkType(link.0)));
    }
    Ok(ReadSummary { partial: ended.map(|why| format!("{why}, after {found} frames")), foreign })
}

/// An interface that is a monitor's.
#[derive(Clone, Copy, Debug)]
struct Radio {
    number: usize,
    per_second: u64,
    offset_s: i64,
}

#[derive(Debug, Default)]
struct Format {
    /// Of a pcapng section, by interface, `None` if its frames are of no use; of a pcap file one.
    interfaces: Vec<Option<Radio>>,
    ours: bool,
    /// It is pcapng.
    blocks: bool,
    /// Of a pcapng section: its most significant bytes come first.
    big_endian: bool,
}

struct Frames<F> {
    each: F,
    format: Format,
    radios: usize,
    found: u64,
    foreign: u64,
    /// The first link type that is none of ours.
    refused: Option<Linktype>,
}

impl<F: FnMut(&Raw<'_>)> Frames<F> {
    fn take(&mut self, block: &PcapBlockOwned<'_>) {
        match block {
            PcapBlockOwned::LegacyHeader(header) => self.header(header),
            PcapBlockOwned::Legacy(frame) => {
                let ticks = u64::from(frame.ts_sec).saturating_mul(self.per_second());
                self.frame(0, ticks.saturating_add(u64::from(frame.ts_usec)), frame.data, frame.origlen);
            }
            PcapBlockOwned::NG(Block::SectionHeader(section)) => {
                let by = section.shb_userappl().and_then(Result::ok);
                let ours = by.is_some_and(|by| by.starts_with("meshpace "));
                self.format =
                    Format { interfaces: Vec::new(), ours, blocks: true, big_endian: section.big_endian() };
            }
            PcapBlockOwned::NG(Block::InterfaceDescription(interface)) => {
                // pcap-parser 0.17 knows no powers of two, and reads the offset as if every file were little-endian.
                let offset_s = interface.if_tsoffset;
                let offset_s = if self.format.big_endian { offset_s.swap_bytes() } else { offset_s };
                self.interface(interface.linktype, per_second(interface.if_tsresol), offset_s);
            }
            PcapBlockOwned::NG(Block::EnhancedPacket(packet)) => {
                let ticks = (u64::from(packet.ts_high) << 32) | u64::from(packet.ts_low);
                let kept = packet.data.len().min(packet.caplen as usize);
                self.frame(packet.if_id, ticks, &packet.data[..kept], packet.origlen);
            }
            // Frames without times are of no use here.
            PcapBlockOwned::NG(Block::SimplePacket(_)) => self.foreign += 1,
            // The other blocks say nothing of frames.
            PcapBlockOwned::NG(_) => {}
        }
    }

    fn header(&mut self, header: &PcapHeader) {
        let per_second = if header.is_nanosecond_precision() { 1_000_000_000 } else { 1_000_000 };
        // The upper bits of the field may tell how long check sequences are (draft-ietf-opsawg-pcap, section 4).
        self.interface(Linktype(header.network.0 & 0xffff), Some(per_second), 0);
    }

    /// Frames of an interface follow; `None`: its clock cannot be read.
    fn interface(&mut self, link: Linktype, per_second: Option<u64>, offset_s: i64) {
        if link != RADIOTAP {
            self.refused.get_or_insert(link);
        }
        let radio = per_second.filter(|_| link == RADIOTAP).map(|per_second| {
            self.radios += 1;
            Radio { number: self.radios, per_second, offset_s }
        });
        self.format.interfaces.push(radio);
    }

    fn per_second(&self) -> u64 {
        self.format.interfaces.first().and_then(Option::as_ref).map_or(1_000_000, |radio| radio.per_second)
    }

    fn frame(&mut self, interface: u32, ticks: u64, bytes: &[u8], length: u32) {
        let Some(Some(radio)) = self.format.interfaces.get(interface as usize) else {
            self.foreign += 1;
            return;
        };
        let nanos = u128::from(ticks) * 1_000_000_000 / u128::from(radio.per_second);
        let nanos = i128::try_from(nanos).unwrap_or(i128::MAX) + i128::from(radio.offset_s) * 1_000_000_000;
        // What lies before 1970 or after 2554 has a broken clock, and is put at the edge.
        let nanos = u64::try_from(nanos.max(0)).unwrap_or(u64::MAX);
        self.found += 1;
        let length = bytes.len().max(length as usize);
        (self.each)(&Raw { nanos, bytes, length, ours: self.format.ours, radio: radio.number });
    }
}

/// Ticks a second of an interface's clock by its option `if_tsresol` (draft-ietf-opsawg-pcapng, section 4.2): a power of ten, or
/// with the highest bit set of two. `None`: more of them than can be counted.
const fn per_second(if_tsresol: u8) -> Option<u64> {
    let exponent = (if_tsresol & 0x7f) as u32;
    if if_tsresol & 0x80 == 0 { 10_u64.checked_pow(exponent) } else { 1_u64.checked_shl(exponent) }
}

/// Whether the pcapng block that begins here says that it is shorter than the least there is: pcap-parser 0.17 subtracts that
/// from it unseen. The length is read in either order of bytes: a length that is short in one order is far above the limit in
/// the other.
fn is_too_short(block: &[u8]) -> bool {
    const LEAST: u32 = 12;
    let length = block.get(4..8).and_then(|bytes| <[u8; 4]>::try_from(bytes).ok());
    length.is_some_and(|length| u32::from_le_bytes(length).min(u32::from_be_bytes(length)) < LEAST)
}
