//! The field of a radiotap header that says a frame's modulation, code and streams, in place of its rate (radiotap.org: MCS, VHT, HE).

use meshpace_radio::standard::{Format, Mcs, Width};
use meshpace_units::Span;

/// Such a field.
#[derive(Clone, Debug)]
pub struct McsField {
    /// Its bit in the presence word: 19, 21 or 23.
    pub bit: u32,
    /// Its bytes, which stand at an even place.
    pub bytes: Vec<u8>,
}

/// The guard interval of old, and the shortest of high efficiency.
const LONG_GUARD: Span = Span::from_nanos(800);

impl McsField {
    /// What says this one.
    pub fn of(mcs: Mcs) -> Self {
        match mcs.format {
            Format::Ht => Self { bit: 19, bytes: ht(mcs) },
            Format::Vht => Self { bit: 21, bytes: vht(mcs) },
            Format::He => Self { bit: 23, bytes: he(mcs) },
        }
    }
}

fn flag(set: bool, flag: u8) -> u8 {
    if set { flag } else { 0 }
}

/// Known: bandwidth, number, guard interval and format.
fn ht(mcs: Mcs) -> Vec<u8> {
    const KNOWN: u8 = 0x0f;
    const WIDE: u8 = 0x01;
    const SHORT_GUARD: u8 = 0x04;
    let wide = flag(mcs.width == Width::Mhz40, WIDE);
    vec![KNOWN, wide | flag(mcs.guard < LONG_GUARD, SHORT_GUARD), mcs.index]
}

/// Known: guard interval and bandwidth. One user, coded by the convolutional code.
fn vht(mcs: Mcs) -> Vec<u8> {
    const KNOWN: u16 = 0x0004 | 0x0040;
    const SHORT_GUARD: u8 = 0x04;
    let [known, more] = KNOWN.to_le_bytes();
    let bandwidth = match mcs.width {
        Width::Mhz20 => 0,
        Width::Mhz40 => 1,
        Width::Mhz80 => 4,
        Width::Mhz160 => 11,
    };
    let user = mcs.index << 4 | mcs.streams;
    // Three more users, coding, group, partial AID.
    vec![known, more, flag(mcs.guard < LONG_GUARD, SHORT_GUARD), bandwidth, user, 0, 0, 0, 0, 0, 0, 0]
}

/// Known: number, coding and bandwidth; guard interval. The format of one user is number 0.
fn he(mcs: Mcs) -> Vec<u8> {
    const KNOWN: u16 = 0x0020 | 0x0080 | 0x4000;
    const GUARD_KNOWN: u16 = 0x0002;
    const PARITY_CHECKS: u16 = 0x2000;
    let guard = match mcs.guard.as_nanos() {
        0..=800 => 0,
        801..=1_600 => 1,
        _ => 2,
    };
    let mode = u16::from(mcs.index) << 8 | PARITY_CHECKS;
    let words = [KNOWN, GUARD_KNOWN, mode, 0, mcs.width as u16 | guard << 4, u16::from(mcs.streams)];
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}
