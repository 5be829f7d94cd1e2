//! Modulations with their codes, which one number names in all PHY from the high-throughput one on (IEEE 802.11-2020, 19.5, 21.5;
//! IEEE 802.11ax-2021, 27.5): 0 to 7 since 802.11n, 8 and 9 since 802.11ac, 10 and 11 since 802.11ax.

use super::mode::{Mode, ofdm};
use crate::coding::{
    Coding, HE3_4, HE5_6, HT5_6, OFDM6, OFDM12, OFDM18, OFDM24, OFDM36, OFDM48, OFDM54, VHT3_4, VHT5_6,
};
use meshpace_units::{Rate, Span};

/// Modes of clause 17 in a table; those with an MCS come behind them.
pub(super) const LEGACY: usize = 8;

/// A modulation with its code.
pub(super) struct Scheme {
    pub coding: &'static Coding,
    /// Coded bits a subcarrier and stream, `N_BPSCS`.
    bits: u64,
    /// Of so many coded bits `code.0` in `code.1` are data.
    code: (u64, u64),
    /// The mode of clause 17 that is its non-HT reference (10.6.11), Mbit/s.
    reference: u64,
}

const fn scheme(coding: &'static Coding, bits: u64, code: (u64, u64), reference: u64) -> Scheme {
    Scheme { coding, bits, code, reference }
}

pub(super) const SCHEMES: [Scheme; 12] = [
    scheme(&OFDM6, 1, (1, 2), 6),
    scheme(&OFDM12, 2, (1, 2), 12),
    scheme(&OFDM18, 2, (3, 4), 18),
    scheme(&OFDM24, 4, (1, 2), 24),
    scheme(&OFDM36, 4, (3, 4), 36),
    scheme(&OFDM48, 6, (2, 3), 48),
    scheme(&OFDM54, 6, (3, 4), 54),
    scheme(&HT5_6, 6, (5, 6), 54),
    scheme(&VHT3_4, 8, (3, 4), 54),
    scheme(&VHT5_6, 8, (5, 6), 54),
    scheme(&HE3_4, 10, (3, 4), 54),
    scheme(&HE5_6, 10, (5, 6), 54),
];

impl Scheme {
    /// Data bits of a symbol of so many subcarriers and streams, `N_DBPS`.
    pub const fn data_bits(&self, subcarriers: u64, streams: u64) -> u64 {
        subcarriers * streams * self.bits * self.code.0 / self.code.1
    }

    /// The rate that answers go by.
    pub const fn reference(&self) -> Rate {
        Rate::bits_per_sec(self.reference * 1_000_000)
    }
}

/// Long training fields of so many streams: as many, four for three (19.3.9.4.6, 21.3.8.3.5; IEEE 802.11ax-2021, 27.3.11.10).
pub(super) const fn training(streams: u64) -> u64 {
    if streams == 3 { 4 } else { streams }
}

/// In the band of 2.4 GHz a frame ends later by 6 us (19.4.4, aSignalExtension).
pub(super) const fn extension(low_band: bool) -> Span {
    if low_band { Span::from_micros(6) } else { Span::ZERO }
}

/// The modes of a channel with one guard interval; a table of `N` has room for all that a PHY may have.
pub(super) struct Table<const N: usize> {
    modes: [Mode; N],
    /// Those that there are.
    count: usize,
}

impl<const N: usize> Table<N> {
    /// Those of clause 17 alone; the extension as for [`ofdm`].
    pub const fn legacy(extension: Span) -> Self {
        let legacy = ofdm(extension);
        let (mut modes, mut at) = ([legacy[0]; N], 0);
        while at < LEGACY {
            modes[at] = legacy[at];
            at += 1;
        }
        Self { modes, count: LEGACY }
    }

    /// With another one.
    pub const fn with(mut self, mode: Mode) -> Self {
        self.modes[self.count] = mode;
        self.count += 1;
        self
    }

    /// The same, each with its number.
    pub const fn numbered(self) -> Self {
        Self { modes: super::mode::numbered(self.modes), count: self.count }
    }

    /// The modes.
    pub const fn modes(&self) -> &[Mode] {
        self.modes.split_at(self.count).0
    }
}
