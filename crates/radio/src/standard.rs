//! Which 802.11, and the rates that it has.

use meshpace_units::{Bytes, Rate};

const DSSS: [u64; 4] = [1_000_000, 2_000_000, 5_500_000, 11_000_000];
const OFDM: [u64; 8] =
    [6_000_000, 9_000_000, 12_000_000, 18_000_000, 24_000_000, 36_000_000, 48_000_000, 54_000_000];
/// Rates that every OFDM station has (IEEE 802.11-2016, 17.1.1), highest first.
const OFDM_MANDATORY: [u64; 3] = [24_000_000, 12_000_000, 6_000_000];

/// Which physical layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standard {
    /// DSSS/CCK at 1, 2, 5.5 and 11 Mbit/s (IEEE 802.11-2016, clauses 15 and 16).
    B,
    /// OFDM in the 5 GHz band (clause 17).
    A,
    /// OFDM in the 2.4 GHz band, no 802.11b stations about (clause 18, ERP-OFDM with short slots).
    G,
    /// What ns-2 does when only its data rate is raised to an OFDM value: DSSS timing and preamble, the payload at
    /// the higher rate (schemes.md 17.3).
    GNs2,
}

impl Standard {
    /// Its name in scenario files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::B => "802.11b",
            Self::A => "802.11a",
            Self::G => "802.11g",
            Self::GNs2 => "802.11g-ns2",
        }
    }

    /// Rates of unicast data, bit/s.
    #[must_use]
    pub fn data_rates(self) -> Vec<u64> {
        match self {
            Self::B => DSSS.to_vec(),
            Self::A | Self::G => OFDM.to_vec(),
            // ns-2 computes with any rate; these are the ones that 802.11b/g name.
            Self::GNs2 => [DSSS.as_slice(), OFDM.as_slice()].concat(),
        }
    }

    /// The highest data rate.
    #[must_use]
    pub fn default_rate(self) -> Rate {
        Rate::bits_per_sec(if self == Self::B { 11_000_000 } else { 54_000_000 })
    }

    /// Rates of broadcasts and, with DSSS, of control frames, bit/s.
    #[must_use]
    pub const fn basic_rates(self) -> &'static [u64] {
        match self {
            Self::B | Self::GNs2 => &DSSS,
            Self::A | Self::G => &OFDM,
        }
    }

    /// The basic rate where none is given: 1 Mbit/s with DSSS, the highest mandatory rate up to `rate` with OFDM.
    #[must_use]
    pub fn default_basic_rate(self, rate: Rate) -> Rate {
        match self {
            Self::B | Self::GNs2 => Rate::bits_per_sec(DSSS[0]),
            Self::A | Self::G => Self::mandatory_up_to(rate),
        }
    }

    /// The highest mandatory OFDM rate not above `rate`: that of the answers to a frame (IEEE 802.11-2016, 10.7.6.5).
    #[must_use]
    pub fn mandatory_up_to(rate: Rate) -> Rate {
        let [.., lowest] = OFDM_MANDATORY;
        let found = OFDM_MANDATORY.into_iter().find(|mandatory| *mandatory <= rate.as_bits_per_sec());
        Rate::bits_per_sec(found.unwrap_or(lowest))
    }

    /// The lowest rate.
    #[must_use]
    pub const fn lowest_rate(self) -> Rate {
        Rate::bits_per_sec(match self {
            Self::B | Self::GNs2 => DSSS[0],
            Self::A | Self::G => OFDM[0],
        })
    }

    /// Header and FCS of a data frame: 34 bytes in ns-2.35 (a fourth address), 28 in the standard (schemes.md 17.2).
    #[must_use]
    pub const fn mac_overhead(self) -> Bytes {
        match self {
            Self::B | Self::GNs2 => Bytes(34),
            Self::A | Self::G => Bytes(28),
        }
    }
}
