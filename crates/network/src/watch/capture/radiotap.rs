//! The radiotap header: what a radio knows of a frame besides its bytes (radiotap.org; the fields are little-endian
//! and aligned to their size).

use super::mcs_field::McsField;
use meshpace_radio::Frame;
use meshpace_scenario::{Preamble, Radio};
use meshpace_units::Instant;
use std::iter;

/// TSFT, flags, rate, channel: bits 0 to 3 of the presence word.
const PRESENT: u32 = 0b1111;
const LENGTH: u16 = 22;

/// A rate, which an MCS takes the place of: bit 2.
const PRESENT_RATE: u32 = 1 << 2;

const FLAG_SHORT_PREAMBLE: u8 = 0x02;
const FLAG_FCS_AT_END: u8 = 0x10;

/// A packet of a frame of several (A-MPDU status): bit 20.
const AGGREGATE_BIT: u32 = 20;
/// What that field takes. Before it come bytes that align it to its largest part, of four.
const AGGREGATE_LENGTH: u16 = 8;
/// It is known which packet is the last one.
const AGGREGATE_LAST_KNOWN: u16 = 0x0004;
/// This one is.
const AGGREGATE_LAST: u16 = 0x0008;

/// A packet's place among those of its frame, which is one of several packets.
#[derive(Clone, Copy, Debug)]
pub struct Aggregate {
    /// The same for all packets of a frame.
    pub reference: u32,
    /// It is the last one.
    pub last: bool,
}

/// The header of a frame that starts now.
///
/// TSFT is the packet's timestamp in whole microseconds, the start of the preamble: Wireshark reckons the time between
/// frames from there, though radiotap means the first bit after the preamble.
pub fn header(out: &mut Vec<u8>, now: Instant, frame: &Frame, aggregate: Option<Aggregate>, radio: &Radio) {
    out.extend([0, 0]); // version, padding
    let field = frame.mode.mcs.map(McsField::of);
    let mut present = PRESENT;
    if let Some(field) = &field {
        present = present & !PRESENT_RATE | 1 << field.bit;
    }
    let bytes_if = |here: fn(u32) -> bool| {
        field.as_ref().filter(|field| here(field.bit)).map_or(&[][..], |field| &field.bytes)
    };
    let (before, behind) = (bytes_if(|bit| bit < AGGREGATE_BIT), bytes_if(|bit| bit > AGGREGATE_BIT));
    let mut length = LENGTH + before.len() as u16;
    let padding = length.next_multiple_of(4) - length;
    if aggregate.is_some() {
        length += padding + AGGREGATE_LENGTH;
        present |= 1 << AGGREGATE_BIT;
    }
    length += behind.len() as u16;
    out.extend(length.to_le_bytes());
    out.extend(present.to_le_bytes());
    out.extend((now.as_nanos() / 1_000).to_le_bytes());
    out.push(FLAG_FCS_AT_END | if has_short_preamble(frame, radio) { FLAG_SHORT_PREAMBLE } else { 0 });
    // Where an MCS says the rate, a byte that aligns the channel.
    let rate = u8::try_from(frame.mode.rate.as_bits_per_sec() / 500_000).unwrap_or(u8::MAX);
    out.push(if field.is_some() { 0 } else { rate });
    let channel = radio.standard.channel;
    out.extend(channel.mhz.to_le_bytes());
    out.extend(channel.flags.to_le_bytes());
    out.extend(before);
    if let Some(Aggregate { reference, last }) = aggregate {
        out.extend(iter::repeat_n(0, usize::from(padding)));
        out.extend(reference.to_le_bytes());
        out.extend((AGGREGATE_LAST_KNOWN | if last { AGGREGATE_LAST } else { 0 }).to_le_bytes());
        out.extend([0; 2]); // no delimiter's CRC; reserved
    }
    out.extend(behind);
}

/// A mode without one keeps its long preamble (1 Mbit/s of IEEE 802.11-2020, 16.2.2.3; OFDM).
fn has_short_preamble(frame: &Frame, radio: &Radio) -> bool {
    let mode = frame.mode;
    radio.preamble == Preamble::Short && mode.preamble(Preamble::Short) < mode.preamble(Preamble::Long)
}
