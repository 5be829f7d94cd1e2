//! The container: frames with times, in the order of the file. The formats are pcap-parser's business.

use pcap_parser::{Block, PcapHeader};
use pcap_parser::{Linktype, PcapBlockOwned, PcapError, create_reader};
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

/// Reads a capture to its end or to where it breaks off, and hands out its frames; where and why it broke off.
///
/// # Errors
/// [`Error`] if nothing can be made of it.
pub fn read(reader: impl Read + Send, each: impl FnMut(&Raw<'_>)) -> Result<Option<String>, Error> {
    let mut reader = match create_reader(LONGEST, reader) {
        Ok(reader) => reader,
        Err(PcapError::Eof | PcapError::Incomplete(_)) => return Err(Error::Empty),
        Err(_) => return Err(Error::NoCapture),
    };
    let mut frames = Frames { each, format: Format::default(), found: 0 };
    let mut starved = false;
    let ended = loop {
        if frames.format.blocks && is_too_short(reader.data()) {
            break Some("the file is broken (a block shorter than its own header)".to_owned());
        }
        match reader.next() {
            Ok((length, block)) => {
                frames.take(&block)?;
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
    let found = frames.found;
    match ended {
        Some(_) | None if found == 0 => Err(Error::Empty),
        Some(why) => Ok(Some(format!("{why}, after {found} frames"))),
        None => Ok(None),
    }
}

/// What is known of the times of an interface.
#[derive(Clone, Copy, Debug)]
struct Clock {
    per_second: u64,
    offset_s: i64,
}

#[derive(Debug, Default)]
struct Format {
    /// Of a pcapng section, by interface; of a pcap file one.
    clocks: Vec<Clock>,
    ours: bool,
    /// It is pcapng.
    blocks: bool,
}

struct Frames<F> {
    each: F,
    format: Format,
    found: u64,
}

impl<F: FnMut(&Raw<'_>)> Frames<F> {
    fn take(&mut self, block: &PcapBlockOwned<'_>) -> Result<(), Error> {
        match block {
            PcapBlockOwned::LegacyHeader(header) => self.header(header),
            PcapBlockOwned::Legacy(frame) => {
                let ticks = u64::from(frame.ts_sec).saturating_mul(self.per_second());
                self.frame(0, ticks.saturating_add(u64::from(frame.ts_usec)), frame.data, frame.origlen);
                Ok(())
            }
            PcapBlockOwned::NG(Block::SectionHeader(section)) => {
                let by = section.shb_userappl().and_then(Result::ok);
                let ours = by.is_some_and(|by| by.starts_with("meshpace "));
                self.format = Format { clocks: Vec::new(), ours, blocks: true };
                Ok(())
            }
            PcapBlockOwned::NG(Block::InterfaceDescription(interface)) => {
                check(interface.linktype)?;
                let per_second = interface.ts_resolution().filter(|ticks| *ticks > 0).unwrap_or(1_000_000);
                self.format.clocks.push(Clock { per_second, offset_s: interface.ts_offset() });
                Ok(())
            }
            PcapBlockOwned::NG(Block::EnhancedPacket(packet)) => {
                let ticks = (u64::from(packet.ts_high) << 32) | u64::from(packet.ts_low);
                let kept = packet.data.len().min(packet.caplen as usize);
                self.frame(packet.if_id, ticks, &packet.data[..kept], packet.origlen);
                Ok(())
            }
            // Frames without times are of no use here; the other blocks say nothing of frames.
            PcapBlockOwned::NG(_) => Ok(()),
        }
    }

    fn header(&mut self, header: &PcapHeader) -> Result<(), Error> {
        check(header.network)?;
        let per_second = if header.is_nanosecond_precision() { 1_000_000_000 } else { 1_000_000 };
        self.format.clocks.push(Clock { per_second, offset_s: 0 });
        Ok(())
    }

    fn per_second(&self) -> u64 {
        self.format.clocks.first().map_or(1_000_000, |clock| clock.per_second)
    }

    fn frame(&mut self, interface: u32, ticks: u64, bytes: &[u8], length: u32) {
        let Some(clock) = self.format.clocks.get(interface as usize) else { return };
        let nanos = u128::from(ticks) * 1_000_000_000 / u128::from(clock.per_second);
        let nanos = i128::try_from(nanos).unwrap_or(i128::MAX) + i128::from(clock.offset_s) * 1_000_000_000;
        // What lies before 1970 or after 2554 has a broken clock, and is put at the edge.
        let nanos = u64::try_from(nanos.max(0)).unwrap_or(u64::MAX);
        self.found += 1;
        let length = bytes.len().max(length as usize);
        (self.each)(&Raw { nanos, bytes, length, ours: self.format.ours });
    }
}

/// Whether the pcapng block that begins here says that it is shorter than the least there is: pcap-parser 0.17 subtracts that
/// from it unseen. Read in either order of bytes: what is so short in the other one is far longer than what is read here.
fn is_too_short(block: &[u8]) -> bool {
    const LEAST: u32 = 12;
    let length = block.get(4..8).and_then(|bytes| <[u8; 4]>::try_from(bytes).ok());
    length.is_some_and(|length| u32::from_le_bytes(length).min(u32::from_be_bytes(length)) < LEAST)
}

fn check(link: Linktype) -> Result<(), Error> {
    if link == RADIOTAP { Ok(()) } else { Err(Error::LinkType(link.0)) }
}
