//! Time on the air (IEEE 802.11-2020: 16.3.4, 17.4.3, 18.5.3, 19.4.3), from what radiotap says.

use crate::radiotap::{Mcs, Radiotap};
use meshpace_units::Span;

/// A frame on the air: its preamble, and what comes after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Airtime {
    /// Preamble with the signal field.
    pub preamble: Span,
    /// The frame, and what 802.11g waits after it.
    pub frame: Span,
}

/// Rates of OFDM, bit/s, and the bits of a symbol of 4 us.
const OFDM: [(u64, u64); 8] = [
    (6_000_000, 24),
    (9_000_000, 36),
    (12_000_000, 48),
    (18_000_000, 72),
    (24_000_000, 96),
    (36_000_000, 144),
    (48_000_000, 192),
    (54_000_000, 216),
];
/// Bits of a symbol of 802.11n by index, one stream of 20 MHz; of 40 MHz.
const HT: [[u64; 8]; 2] = [[26, 52, 78, 104, 156, 208, 234, 260], [54, 108, 162, 216, 324, 432, 486, 540]];

/// True for channels of 5 GHz and above.
#[must_use]
pub fn is_high(frequency: Option<u16>) -> bool {
    frequency.is_some_and(|frequency| frequency >= 4_900)
}

/// The short interframe space.
#[must_use]
pub fn sifs(high: bool) -> Span {
    Span::from_micros(if high { 16 } else { 10 })
}

/// Of a frame of so many bytes, check sequence included; `None` if radiotap does not say how it was sent.
#[must_use]
pub fn of(radiotap: &Radiotap, bytes: usize) -> Option<Airtime> {
    let bits = 8 * bytes as u64;
    // 802.11g adds 6 us, in which nothing is sent, so that its frames end like those of 802.11a.
    let extension = Span::from_micros(if is_high(radiotap.frequency) { 0 } else { 6 });
    if let Some(mcs) = radiotap.mcs {
        return of_ht(mcs, bits, extension);
    }
    let rate = radiotap.rate?;
    if let Some((_, symbol)) = OFDM.iter().find(|(known, _)| *known == rate) {
        let frame = Span::from_micros(4) * (16 + bits + 6).div_ceil(*symbol) + extension;
        return Some(Airtime { preamble: Span::from_micros(20), frame });
    }
    if !matches!(rate, 1_000_000 | 2_000_000 | 5_500_000 | 11_000_000) {
        return None;
    }
    let short = radiotap.short_preamble && rate > 1_000_000;
    let frame = Span::from_nanos(u64::try_from(u128::from(bits) * 1_000_000_000 / u128::from(rate)).ok()?);
    Some(Airtime { preamble: Span::from_micros(if short { 96 } else { 192 }), frame })
}

fn of_ht(mcs: Mcs, bits: u64, extension: Span) -> Option<Airtime> {
    let Mcs { index, wide, short_guard, greenfield } = mcs;
    let streams = u64::from(index / 8) + 1;
    if streams > 4 {
        return None;
    }
    let symbol = HT[usize::from(wide)][usize::from(index % 8)] * streams;
    // More than 300 Mbit/s take two encoders, each with six bits of tail.
    let encoders = if symbol > 1080 { 2 } else { 1 };
    let symbols = (16 + bits + 6 * encoders).div_ceil(symbol);
    let frame = if short_guard {
        // 3.6 us each, in whole symbols of 4 us.
        Span::from_micros(4) * (symbols * 36).div_ceil(40)
    } else {
        Span::from_micros(4) * symbols
    };
    let training = [1, 2, 4, 4][streams as usize - 1];
    let preamble = if greenfield { 16 + 8 + 4 * (training - 1) } else { 20 + 8 + 4 + 4 * training };
    Some(Airtime { preamble: Span::from_micros(preamble), frame: frame + extension })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole(radiotap: &Radiotap, bytes: usize) -> Option<f64> {
        of(radiotap, bytes).map(|air| (air.preamble + air.frame).as_secs_f64() * 1e6)
    }

    /// The air times of schemes.md 17.2 and 17.3.
    #[test]
    fn the_tables_of_schemes_md() {
        let b = |rate, short_preamble| Radiotap {
            rate: Some(rate),
            short_preamble,
            frequency: Some(2412),
            ..Radiotap::default()
        };
        assert!((whole(&b(11_000_000, false), 1528).unwrap() - 1303.3).abs() < 0.1);
        assert!((whole(&b(5_500_000, false), 68).unwrap() - 290.9).abs() < 0.1);
        assert_eq!(whole(&b(1_000_000, true), 20), Some(352.0), "1 Mbit/s has no short preamble");
        assert_eq!(whole(&b(2_000_000, true), 14), Some(152.0));
        let a = |rate| Radiotap { rate: Some(rate), frequency: Some(5180), ..Radiotap::default() };
        for (rate, bytes, expected) in [(6, 1536, 2072.0), (54, 1536, 248.0), (24, 76, 48.0), (12, 14, 32.0)]
        {
            assert_eq!(whole(&a(rate * 1_000_000), bytes), Some(expected), "{rate} Mbit/s");
        }
        let g = Radiotap { frequency: Some(2412), ..a(54_000_000) };
        assert_eq!(whole(&g, 1536), Some(254.0), "6 us more");
        assert_eq!(whole(&a(7_000_000), 100), None);
    }

    #[test]
    fn frames_of_802_11n() {
        let n = |index, wide, short_guard, greenfield| Radiotap {
            mcs: Some(Mcs { index, wide, short_guard, greenfield }),
            frequency: Some(5180),
            ..Radiotap::default()
        };
        // 65 Mbit/s: 36 us of preamble, 12310 bits in 48 symbols of 260.
        assert_eq!(whole(&n(7, false, false, false), 1536), Some(36.0 + 192.0));
        // 150 Mbit/s: 23 symbols of 540 bits, 82.8 us, in whole symbols 84.
        assert_eq!(whole(&n(7, true, true, false), 1536), Some(36.0 + 84.0));
        assert_eq!(whole(&n(8, false, false, true), 100), Some(28.0 + 4.0 * 16.0));
        assert_eq!(whole(&n(32, false, false, false), 100), None);
    }
}
