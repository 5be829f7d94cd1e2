//! The high-throughput PHY in its HT-mixed format (IEEE 802.11-2020, clause 19), as a table of modes.
//!
//! MCS 0 to 31 send one to four streams, all in the same modulation and code (19.5); a wider channel has more
//! subcarriers, a shorter guard interval more symbols a second. The modes of clause 17 come first: control frames and broadcasts go
//! in them, in a channel of 40 MHz twice at once (non-HT duplicate, 19.1.4), which takes the same time.

use super::mode::{Format, Mcs, Mode, Payload, Width};
use super::scheme::{LEGACY, SCHEMES, Table, training};
use meshpace_units::{Rate, Span};

/// MCS that all have the same modulation.
const MCS_COUNT: usize = 32;
/// MCS of one number of streams.
const MCS_A_STREAM: u8 = 8;

/// Length of a symbol without its guard interval.
const BARE_SYMBOL: Span = Span::from_nanos(3_200);
/// The grid on which every frame ends (19.4.3).
const GRID: Span = Span::from_micros(4);

pub(super) type Modes = Table<{ LEGACY + MCS_COUNT }>;

/// The modes of a channel of 20 or 40 MHz with one guard interval; `extension` as for [`ofdm`](super::mode::ofdm).
pub(super) const fn table(width: Width, guard: Span, extension: Span) -> Modes {
    let (mut table, mut index) = (Table::legacy(extension), 0);
    while index < MCS_COUNT as u8 {
        table = table.with(mode(index, width, guard, extension));
        index += 1;
    }
    table.numbered()
}

const fn mode(index: u8, width: Width, guard: Span, extension: Span) -> Mode {
    let scheme = &SCHEMES[(index % MCS_A_STREAM) as usize];
    let streams = (index / MCS_A_STREAM + 1) as u64;
    let subcarriers = match width {
        Width::Mhz20 => 52,
        Width::Mhz40 => 108,
        Width::Mhz80 | Width::Mhz160 => panic!("high throughput ends at 40 MHz"),
    };
    let bits = scheme.data_bits(subcarriers, streams);
    // Two encoders beyond 300 Mbit/s with the long guard interval, each with a tail of its own (N_ES of the tables).
    let encoders = if bits * 1_000 > 300 * GRID.as_nanos() { 2 } else { 1 };
    let length = Span::from_nanos(BARE_SYMBOL.as_nanos() + guard.as_nanos());
    let payload = Payload::Symbols { length, grid: GRID, bits, extra: 16 + 6 * encoders };
    let preamble = preamble(streams);
    let rate = Rate::bits_per_sec(bits * 1_000_000_000 / length.as_nanos());
    let mut mode = Mode::new(rate, scheme.coding, [preamble, preamble], payload);
    mode.reference = scheme.reference();
    mode.extension = extension;
    mode.mcs = Some(Mcs { format: Format::Ht, index, streams: streams as u8, width, guard });
    mode
}

/// L-STF, L-LTF, L-SIG, HT-SIG, HT-STF, and the long training fields (19.3.9).
const fn preamble(streams: u64) -> Span {
    Span::from_micros(8 + 8 + 4 + 8 + 4 + 4 * training(streams))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::standard::Preamble;
    use meshpace_units::Bytes;

    fn modes(wide: bool, short_guard: bool, extension: Span) -> Modes {
        let width = if wide { Width::Mhz40 } else { Width::Mhz20 };
        table(width, Span::from_nanos(if short_guard { 400 } else { 800 }), extension)
    }

    fn mcs(index: usize, wide: bool, short_guard: bool) -> Mode {
        modes(wide, short_guard, Span::ZERO).modes()[LEGACY + index]
    }

    fn micros(mode: &Mode, size: u64) -> f64 {
        mode.airtime(Bytes(size), Preamble::Long).as_nanos() as f64 / 1e3
    }

    /// The tables of 19.5: rates with 800 and 400 ns, Mbit/s to one digit.
    #[test]
    fn rates_are_those_of_the_tables() {
        for (index, wide, long, short) in [
            (0, false, 6.5, 7.2),
            (4, false, 39.0, 43.3),
            (7, false, 65.0, 72.2),
            (8, false, 13.0, 14.4),
            (15, false, 130.0, 144.4),
            (21, false, 156.0, 173.3),
            (23, false, 195.0, 216.7),
            (31, false, 260.0, 288.9),
            (0, true, 13.5, 15.0),
            (4, true, 81.0, 90.0),
            (7, true, 135.0, 150.0),
            (15, true, 270.0, 300.0),
            (18, true, 121.5, 135.0),
            (22, true, 364.5, 405.0),
            (31, true, 540.0, 600.0),
        ] {
            for (short_guard, rate) in [(false, long), (true, short)] {
                let ours = mcs(index, wide, short_guard).rate.as_bits_per_sec() as f64 / 1e6;
                assert!((ours - rate).abs() < 0.051, "MCS {index}, 40 MHz {wide}: {ours}, printed {rate}");
            }
        }
    }

    /// N_DBPS and N_ES of the same tables.
    #[test]
    fn symbols_carry_what_the_tables_say() {
        for (index, wide, per_symbol, encoders) in [
            (4, false, 156, 1),
            (7, false, 260, 1),
            (31, false, 1040, 1),
            (15, true, 1080, 1),
            (20, true, 972, 1),
            (21, true, 1296, 2),
            (27, true, 864, 1),
            (28, true, 1296, 2),
            (31, true, 2160, 2),
        ] {
            let Payload::Symbols { bits, extra, .. } = mcs(index, wide, false).payload else {
                panic!("OFDM has symbols");
            };
            assert_eq!((bits, extra), (per_symbol, 16 + 6 * encoders), "MCS {index}, 40 MHz {wide}");
        }
    }

    /// By hand: preamble 32 us and 4 for each long training field, then ceil((16 + 6 N_ES + 8 bytes) / N_DBPS) symbols.
    #[test]
    fn frames_take_the_time_of_19_4_3() {
        for (index, wide, short_guard, size, time) in [
            // 12,326 bits in 80 symbols of 156.
            (4, false, false, 1538, 36.0 + 320.0),
            // 80 of 3.6 us are 288 us.
            (4, false, true, 1538, 36.0 + 288.0),
            // 12,326 in 48 of 260: 172.8 us end on the grid of 4 us at 176.
            (7, false, true, 1538, 36.0 + 176.0),
            // 17 MPDUs of 1,538 bytes behind delimiters: 209,990 bits in 1,347 symbols.
            (4, false, false, 16 * 1544 + 1542, 36.0 + 5_388.0),
            // Two, three, four streams: 40, 48 and 48 us before the payload.
            (12, false, false, 1538, 40.0 + 160.0),
            (20, false, false, 1538, 48.0 + 108.0),
            (28, false, false, 1538, 48.0 + 80.0),
            // 40 MHz: 12,326 in 39 of 324 (38.04).
            (4, true, false, 1538, 36.0 + 156.0),
            // Two encoders: 28 + 12,304 bits in 6 of 2,160.
            (31, true, false, 1538, 48.0 + 24.0),
            (0, false, false, 14, 36.0 + 24.0),
        ] {
            let mode = mcs(index, wide, short_guard);
            let ours = micros(&mode, size);
            assert!(
                (ours - time).abs() < 1e-9,
                "MCS {index} {wide} {short_guard}, {size} bytes: {ours}, {time}"
            );
        }
    }

    #[test]
    fn the_2_4_ghz_band_adds_its_extension() {
        let table = modes(false, false, Span::from_micros(6));
        let table = table.modes();
        assert_eq!(micros(&table[LEGACY + 4], 1538), 36.0 + 320.0 + 6.0);
        // An acknowledgement at 24 Mbit/s: 134 bits in 2 symbols of 96.
        assert_eq!(micros(&table[4], 14), 20.0 + 8.0 + 6.0);
    }

    /// What a frame of so long a time may have at the most fits into it, and a byte more does not.
    #[test]
    fn the_longest_frame_is_as_long_as_it_may_be() {
        let most = Span::from_micros(5_484);
        for wide in [false, true] {
            for short_guard in [false, true] {
                for mode in modes(wide, short_guard, Span::ZERO).modes() {
                    let bytes = mode.longest(most, Preamble::Long);
                    assert!(mode.airtime(bytes, Preamble::Long) <= most, "{mode:?}");
                    assert!(mode.airtime(bytes + Bytes(1), Preamble::Long) > most, "{mode:?}");
                }
            }
        }
    }
}
