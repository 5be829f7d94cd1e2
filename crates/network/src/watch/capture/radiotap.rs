//! The radiotap header: what a radio knows of a frame besides its bytes (radiotap.org; the fields are little-endian
//! and aligned to their size).

use meshpace_radio::Frame;
use meshpace_scenario::{Preamble, Radio, Standard};
use meshpace_units::Instant;

/// TSFT, flags, rate, channel: bits 0 to 3 of the presence word.
const PRESENT: u32 = 0b1111;
const LENGTH: u16 = 22;

const FLAG_SHORT_PREAMBLE: u8 = 0x02;
const FLAG_FCS_AT_END: u8 = 0x10;

const CHANNEL_CCK: u16 = 0x0020;
const CHANNEL_OFDM: u16 = 0x0040;
const CHANNEL_2_GHZ: u16 = 0x0080;
const CHANNEL_5_GHZ: u16 = 0x0100;
const CHANNEL_DYNAMIC_CCK_OFDM: u16 = 0x0400;

/// Centre of channel 1 of the 2.4 GHz band, MHz. The simulated mesh has one channel and no name for it.
const CHANNEL_1: u16 = 2412;
/// Centre of channel 36 of the 5 GHz band, MHz.
const CHANNEL_36: u16 = 5180;

/// The header of a frame that starts now.
///
/// TSFT is the packet's timestamp in whole microseconds, the start of the preamble: Wireshark reckons the time between
/// frames from there, though radiotap means the first bit after the preamble.
pub fn header(out: &mut Vec<u8>, now: Instant, frame: &Frame, radio: &Radio) {
    out.extend([0, 0]); // version, padding
    out.extend(LENGTH.to_le_bytes());
    out.extend(PRESENT.to_le_bytes());
    out.extend((now.as_nanos() / 1_000).to_le_bytes());
    out.push(FLAG_FCS_AT_END | if has_short_preamble(frame, radio) { FLAG_SHORT_PREAMBLE } else { 0 });
    out.push(u8::try_from(frame.rate.as_bits_per_sec() / 500_000).unwrap_or(u8::MAX));
    let (frequency, flags) = channel(radio.standard);
    out.extend(frequency.to_le_bytes());
    out.extend(flags.to_le_bytes());
}

/// Frames at 1 Mbit/s keep the long preamble (IEEE 802.11-2016, 16.2.2.3).
fn has_short_preamble(frame: &Frame, radio: &Radio) -> bool {
    let dsss = matches!(radio.standard, Standard::B | Standard::GNs2);
    dsss && radio.preamble == Preamble::Short && frame.rate.as_bits_per_sec() > 1_000_000
}

fn channel(standard: Standard) -> (u16, u16) {
    match standard {
        Standard::B => (CHANNEL_1, CHANNEL_CCK | CHANNEL_2_GHZ),
        Standard::G => (CHANNEL_1, CHANNEL_OFDM | CHANNEL_2_GHZ),
        Standard::GNs2 => (CHANNEL_1, CHANNEL_DYNAMIC_CCK_OFDM | CHANNEL_2_GHZ),
        Standard::A => (CHANNEL_36, CHANNEL_OFDM | CHANNEL_5_GHZ),
    }
}
