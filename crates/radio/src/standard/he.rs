//! The high-efficiency PHY to one user over the whole channel (IEEE 802.11ax-2021, clause 27), as a table of modes.
//!
//! MCS 0 to 11 of one to four streams. Bits are coded by low-density parity checks, which have no tail and of which all wide channels
//! and dense modulations are made; their extra symbol, which some lengths take, is left out. So is the packet extension: receivers are
//! such as need none. Resource units of several users, and spatial reuse, are left out.

use super::mode::{Format, Mcs, Mode, Payload, Width};
use super::scheme::{LEGACY, SCHEMES, Table, training};
use meshpace_units::{Bytes, Rate, Span};

/// MCS of one number of streams.
const MCS_A_STREAM: u8 = 12;
/// Streams.
const STREAMS: u8 = 4;
/// Length of a symbol without its guard interval (table 27-12).
const BARE_SYMBOL: Span = Span::from_nanos(12_800);

pub(super) type Modes = Table<{ LEGACY + (MCS_A_STREAM * STREAMS) as usize }>;

/// The modes of a channel with one guard interval, fewest streams first; `extension` as for [`ofdm`](super::mode::ofdm).
pub(super) const fn table(width: Width, guard: Span, extension: Span) -> Modes {
    let (mut table, mut at) = (Table::legacy(extension), 0);
    while at < MCS_A_STREAM * STREAMS {
        table = table.with(mode(at % MCS_A_STREAM, at / MCS_A_STREAM + 1, width, guard, extension));
        at += 1;
    }
    table.numbered()
}

const fn mode(index: u8, streams: u8, width: Width, guard: Span, extension: Span) -> Mode {
    let scheme = &SCHEMES[index as usize];
    let bits = scheme.data_bits(subcarriers(width), streams as u64);
    let length = Span::from_nanos(BARE_SYMBOL.as_nanos() + guard.as_nanos());
    let payload = Payload::Symbols { length, grid: length, bits, extra: 16 };
    let preamble = preamble(streams, guard);
    let rate = Rate::bits_per_sec(bits * 1_000_000_000 / length.as_nanos());
    let mut mode = Mode::new(rate, scheme.coding, [preamble, preamble], payload);
    mode.reference = scheme.reference();
    mode.extension = extension;
    // A frame of this PHY is an A-MPDU always, of one MPDU, too (IEEE 802.11-2020, 10.12.7).
    mode.alone = Bytes(4);
    mode.mcs = Some(Mcs { format: Format::He, index, streams, width, guard });
    mode
}

/// Of data, `N_SD` of a resource unit of 242, 484, 996 and twice 996 subcarriers (table 27-13).
const fn subcarriers(width: Width) -> u64 {
    match width {
        Width::Mhz20 => 234,
        Width::Mhz40 => 468,
        Width::Mhz80 => 980,
        Width::Mhz160 => 1_960,
    }
}

/// L-STF, L-LTF, L-SIG, RL-SIG, HE-SIG-A, HE-STF, and the long training fields (27.3.4).
const fn preamble(streams: u8, guard: Span) -> Span {
    let micros = Span::from_micros(8 + 8 + 4 + 4 + 8 + 4);
    Span::from_nanos(micros.as_nanos() + training(streams as u64) * training_field(guard).as_nanos())
}

/// A long training field: of 6.4 us, with the longest guard interval of 12.8, and the interval itself (table 27-12). Those are the
/// pairs that every station reads.
const fn training_field(guard: Span) -> Span {
    let bare = if guard.as_nanos() > 1_600 { 12_800 } else { 6_400 };
    Span::from_nanos(bare + guard.as_nanos())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::standard::Preamble;

    fn guard(nanos: u64) -> Span {
        Span::from_nanos(nanos)
    }

    fn mcs(index: u8, streams: u8, width: Width, guard: Span) -> Mode {
        let is = |mode: &&Mode| mode.mcs.is_some_and(|mcs| (mcs.index, mcs.streams) == (index, streams));
        let found = table(width, guard, Span::ZERO).modes().iter().find(is).copied();
        found.unwrap_or_else(|| panic!("no MCS {index} x {streams}"))
    }

    /// The tables of 27.5: rates with 800, 1,600 and 3,200 ns, Mbit/s to one digit. They are printed of bits a symbol that are no whole
    /// number, of which a frame's length takes the whole ones.
    #[test]
    fn rates_are_those_of_the_tables() {
        for (index, streams, width, rates) in [
            (0, 1, Width::Mhz20, [8.6, 8.1, 7.3]),
            (7, 1, Width::Mhz20, [86.0, 81.3, 73.1]),
            (11, 1, Width::Mhz20, [143.4, 135.4, 121.9]),
            (4, 2, Width::Mhz40, [206.5, 195.0, 175.5]),
            (9, 1, Width::Mhz80, [480.4, 453.7, 408.3]),
            (11, 1, Width::Mhz80, [600.5, 567.1, 510.4]),
            (11, 2, Width::Mhz80, [1_201.0, 1_134.3, 1_020.8]),
            (10, 4, Width::Mhz160, [4_323.5, 4_083.3, 3_675.0]),
            (11, 4, Width::Mhz160, [4_803.9, 4_537.0, 4_083.3]),
        ] {
            for (nanos, rate) in [800, 1_600, 3_200].into_iter().zip(rates) {
                let ours = mcs(index, streams, width, guard(nanos)).rate.as_bits_per_sec() as f64 / 1e6;
                assert!(
                    (ours - rate).abs() < 0.101,
                    "MCS {index} x {streams}, {width:?}: {ours}, printed {rate}"
                );
            }
        }
    }

    /// By hand: 36 us and the long training fields, then ceil((16 + 8 bytes) / N_DBPS) symbols (27.4.3).
    #[test]
    fn frames_take_the_time_of_27_4_3() {
        for (index, streams, width, nanos, size, time) in [
            // 12,320 bits in 11 of 1,170 bits and 13.6 us; one field of 7.2 us.
            (7, 1, Width::Mhz20, 800, 1538, 36.0 + 7.2 + 11.0 * 13.6),
            // In 11 of 14.4 us behind one of 8 us; in 11 of 16 us behind one of 16 us.
            (7, 1, Width::Mhz20, 1_600, 1538, 36.0 + 8.0 + 11.0 * 14.4),
            (7, 1, Width::Mhz20, 3_200, 1538, 36.0 + 16.0 + 11.0 * 16.0),
            // 256 MPDUs: 3,159,056 bits in 97 of 32,666; three streams have four fields.
            (11, 4, Width::Mhz80, 800, 394_880, 36.0 + 28.8 + 97.0 * 13.6),
            (11, 3, Width::Mhz80, 800, 1538, 36.0 + 28.8 + 13.6),
        ] {
            let mode = mcs(index, streams, width, guard(nanos));
            let ours = mode.airtime(Bytes(size), Preamble::Long).as_nanos() as f64 / 1e3;
            assert!(
                (ours - time).abs() < 1e-9,
                "MCS {index} x {streams} {width:?}, {size} bytes: {ours}, {time}"
            );
        }
    }

    #[test]
    fn the_2_4_ghz_band_adds_its_extension() {
        let six = table(Width::Mhz20, guard(800), Span::from_micros(6));
        let ours = six.modes()[LEGACY + 7].airtime(Bytes(1538), Preamble::Long);
        assert_eq!(
            ours,
            mcs(7, 1, Width::Mhz20, guard(800)).airtime(Bytes(1538), Preamble::Long) + Span::from_micros(6)
        );
    }
}
