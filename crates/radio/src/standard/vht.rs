//! The very-high-throughput PHY to one user (IEEE 802.11-2020, clause 21), as a table of modes.
//!
//! MCS 0 to 9 of one to four streams (a radio may have eight, a PHY of this table has not). Bits are coded by the convolutional code, as
//! every station can. What several users at once take, and channels of two pieces, is left out.

use super::mode::{Format, Mcs, Mode, Payload, Width};
use super::scheme::{LEGACY, SCHEMES, Table, training};
use meshpace_units::{Bytes, Rate, Span};

/// MCS of one number of streams.
const MCS_A_STREAM: u8 = 10;
/// Streams.
const STREAMS: u8 = 4;

/// Length of a symbol without its guard interval.
const BARE_SYMBOL: Span = Span::from_nanos(3_200);
/// The grid on which every frame ends (21.4.3).
const GRID: Span = Span::from_micros(4);

pub(super) type Modes = Table<{ LEGACY + (MCS_A_STREAM * STREAMS) as usize }>;

/// The modes of a channel with one guard interval, fewest streams first.
pub(super) const fn table(width: Width, guard: Span) -> Modes {
    let (mut table, mut at) = (Table::legacy(Span::ZERO), 0);
    while at < MCS_A_STREAM * STREAMS {
        let (index, streams) = (at % MCS_A_STREAM, at / MCS_A_STREAM + 1);
        if exists(index, streams, width) {
            table = table.with(mode(index, streams, width, guard));
        }
        at += 1;
    }
    table.numbered()
}

/// The tables of 21.5 leave those out whose bits the encoders cannot share evenly.
const fn exists(index: u8, streams: u8, width: Width) -> bool {
    match (width, index) {
        (Width::Mhz20, 9) => streams == 3,
        (Width::Mhz80, 6) | (Width::Mhz160, 9) => streams != 3,
        _ => true,
    }
}

const fn mode(index: u8, streams: u8, width: Width, guard: Span) -> Mode {
    let scheme = &SCHEMES[index as usize];
    let bits = scheme.data_bits(subcarriers(width), streams as u64);
    let extra = 16 + 6 * encoders(bits, index, streams, width);
    let length = Span::from_nanos(BARE_SYMBOL.as_nanos() + guard.as_nanos());
    let payload = Payload::Symbols { length, grid: GRID, bits, extra };
    let preamble = preamble(streams);
    let rate = Rate::bits_per_sec(bits * 1_000_000_000 / length.as_nanos());
    let mut mode = Mode::new(rate, scheme.coding, [preamble, preamble], payload);
    mode.reference = scheme.reference();
    // A frame of this PHY is an A-MPDU always, of one MPDU, too (10.12.7).
    mode.alone = Bytes(4);
    mode.mcs = Some(Mcs { format: Format::Vht, index, streams, width, guard });
    mode
}

/// Of data, `N_SD` (table 21-5).
const fn subcarriers(width: Width) -> u64 {
    match width {
        Width::Mhz20 => 52,
        Width::Mhz40 => 108,
        Width::Mhz80 => 234,
        Width::Mhz160 => 468,
    }
}

/// Encoders, each with a tail of its own, `N_ES` of the tables: one more for every 600 Mbit/s with the short guard interval, and once one
/// more still.
const fn encoders(bits: u64, index: u8, streams: u8, width: Width) -> u64 {
    match (width, streams, index) {
        (Width::Mhz160, 4, 7) => 6,
        _ => bits.div_ceil(600 * 36 / 10),
    }
}

/// L-STF, L-LTF, L-SIG, VHT-SIG-A, VHT-STF, the long training fields, VHT-SIG-B (21.3.4).
const fn preamble(streams: u8) -> Span {
    Span::from_micros(8 + 8 + 4 + 8 + 4 + 4 * training(streams as u64) + 4)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::standard::Preamble;

    const LONG: Span = Span::from_nanos(800);
    const SHORT: Span = Span::from_nanos(400);

    fn found(index: u8, streams: u8, width: Width, guard: Span) -> Option<Mode> {
        let is = |mode: &&Mode| mode.mcs.is_some_and(|mcs| (mcs.index, mcs.streams) == (index, streams));
        table(width, guard).modes().iter().find(is).copied()
    }

    fn mcs(index: u8, streams: u8, width: Width, guard: Span) -> Mode {
        found(index, streams, width, guard).unwrap_or_else(|| panic!("no MCS {index} x {streams}"))
    }

    /// The tables of 21.5: rates with 800 and 400 ns, Mbit/s to one digit.
    #[test]
    fn rates_are_those_of_the_tables() {
        for (index, streams, width, long, short) in [
            (0, 1, Width::Mhz20, 6.5, 7.2),
            (8, 1, Width::Mhz20, 78.0, 86.7),
            (9, 3, Width::Mhz20, 260.0, 288.9),
            (9, 1, Width::Mhz40, 180.0, 200.0),
            (7, 2, Width::Mhz40, 270.0, 300.0),
            (0, 1, Width::Mhz80, 29.3, 32.5),
            (4, 1, Width::Mhz80, 175.5, 195.0),
            (9, 1, Width::Mhz80, 390.0, 433.3),
            (9, 2, Width::Mhz80, 780.0, 866.7),
            (9, 3, Width::Mhz80, 1_170.0, 1_300.0),
            (9, 4, Width::Mhz80, 1_560.0, 1_733.3),
            (0, 1, Width::Mhz160, 58.5, 65.0),
            (9, 2, Width::Mhz160, 1_560.0, 1_733.3),
            (8, 3, Width::Mhz160, 2_106.0, 2_340.0),
            (9, 4, Width::Mhz160, 3_120.0, 3_466.7),
        ] {
            for (guard, rate) in [(LONG, long), (SHORT, short)] {
                let ours = mcs(index, streams, width, guard).rate.as_bits_per_sec() as f64 / 1e6;
                assert!(
                    (ours - rate).abs() < 0.051,
                    "MCS {index} x {streams}, {width:?}: {ours}, printed {rate}"
                );
            }
        }
    }

    /// What the tables of 21.5 have no row for; all else there is, fewest streams first.
    #[test]
    fn what_encoders_cannot_share_is_left_out() {
        for width in Width::ALL {
            let missing: Vec<_> = (1..=STREAMS)
                .flat_map(|streams| (0..MCS_A_STREAM).map(move |index| (index, streams)))
                .filter(|(index, streams)| found(*index, *streams, width, LONG).is_none())
                .collect();
            let expected: &[(u8, u8)] = match width {
                Width::Mhz20 => &[(9, 1), (9, 2), (9, 4)],
                Width::Mhz40 => &[],
                Width::Mhz80 => &[(6, 3)],
                Width::Mhz160 => &[(9, 3)],
            };
            assert_eq!(missing, expected, "{width:?}");
            let table = table(width, LONG);
            assert_eq!(table.modes().len(), LEGACY + 40 - missing.len(), "{width:?}");
            assert!(table.modes().iter().enumerate().all(|(at, mode)| usize::from(mode.number()) == at));
        }
    }

    /// N_DBPS and N_ES of the same tables.
    #[test]
    fn symbols_carry_what_the_tables_say() {
        for (index, streams, width, per_symbol, encoders) in [
            (8, 1, Width::Mhz20, 312, 1),
            (9, 4, Width::Mhz40, 2_880, 2),
            (6, 2, Width::Mhz80, 2_106, 1),
            (7, 2, Width::Mhz80, 2_340, 2),
            (9, 3, Width::Mhz80, 4_680, 3),
            (9, 4, Width::Mhz80, 6_240, 3),
            (9, 1, Width::Mhz160, 3_120, 2),
            (8, 3, Width::Mhz160, 8_424, 4),
            (6, 4, Width::Mhz160, 8_424, 4),
            (7, 4, Width::Mhz160, 9_360, 6),
            (9, 4, Width::Mhz160, 12_480, 6),
        ] {
            let Payload::Symbols { bits, extra, .. } = mcs(index, streams, width, LONG).payload else {
                panic!("OFDM has symbols");
            };
            assert_eq!((bits, extra), (per_symbol, 16 + 6 * encoders), "MCS {index} x {streams}, {width:?}");
        }
    }

    /// By hand: 36 us and 4 for each long training field, then ceil((16 + 6 N_ES + 8 bytes) / N_DBPS) symbols (21.4.3).
    #[test]
    fn frames_take_the_time_of_21_4_3() {
        for (index, streams, width, guard, size, time) in [
            // 12,326 bits in 40 symbols of 312.
            (8, 1, Width::Mhz20, LONG, 1538, 40.0 + 160.0),
            // The same in 8 of 1,560 (7.9); 28.8 us of short ones end on the grid of 4 us at 32.
            (9, 1, Width::Mhz80, LONG, 1538, 40.0 + 32.0),
            (9, 1, Width::Mhz80, SHORT, 1538, 40.0 + 32.0),
            // 64 MPDUs: 789,790 bits (three encoders) in 127 of 6,240 (126.6); 457.2 us of short ones end at 460.
            (9, 4, Width::Mhz80, LONG, 98_720, 52.0 + 508.0),
            (9, 4, Width::Mhz80, SHORT, 98_720, 52.0 + 460.0),
        ] {
            let mode = mcs(index, streams, width, guard);
            let ours = mode.airtime(Bytes(size), Preamble::Long).as_nanos() as f64 / 1e3;
            assert!(
                (ours - time).abs() < 1e-9,
                "MCS {index} x {streams} {width:?}, {size} bytes: {ours}, {time}"
            );
        }
    }
}
