//! Which 802.11: everything in which one standard differs from another, as data.
//!
//! A standard is a file of this folder and a row of [`STANDARDS`]: its times, its modes (rates with their modulation, code and
//! preamble), the rules by which answers and broadcasts go, how many packets a frame may carry. Nothing else names one: keys,
//! schema, checker, captures and results are made of what the row says.

mod aggregation;
pub mod control_sizes;
mod he;
mod high;
mod ht;
pub mod mode;
mod scheme;
mod vht;

use meshpace_keys::{Key, Part, Values, table};
use meshpace_units::{Bytes, Rate, Span};

pub use aggregation::{Aggregation, Portion, SUBFRAME_HEADER};
pub use mode::{Format, Mcs, Mode, Preamble, Width};

meshpace_keys::parts! {
    /// The standards; the first one is the default.
    pub static STANDARDS: StandardPart = [b, a, g, g_ns2, n, ac, ax];
}

/// What a standard says of itself, and what makes it of the values of its own keys.
///
/// Its keys are keys of `[radio]` that apply to it, or to several that have them in common: [`Key::only`]`("standard", &["its word"])`. It is given the values of those
/// that a file gives or that have a default, and `rate` if a file gives that.
pub type StandardPart = Part<fn(&Values) -> Result<Standard, Refused>>;

/// A value that contradicts another one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// Its key.
    pub key: &'static str,
    /// What is allowed beside the others.
    pub allowed: String,
}

impl Refused {
    /// This key's, where only that is allowed.
    #[must_use]
    pub fn new(key: &'static str, allowed: impl Into<String>) -> Self {
        Self { key, allowed: allowed.into() }
    }
}

/// The words that choose one, in the order of the table.
pub const WORDS: &[&str] = &table::words::<_, { STANDARDS.len() }>(STANDARDS);

/// The keys that standards have of their own, those that several have in common once.
pub const KEYS: &[&Key] = &table::keys::<_, { table::key_count(STANDARDS) }>(STANDARDS);

/// A physical layer, and of the MAC what goes with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standard {
    /// The word that chooses it in scenario files.
    pub word: &'static str,
    /// Slot time.
    pub slot: Span,
    /// Short interframe space.
    pub sifs: Span,
    /// Slots after a SIFS before a backoff counts: 2 make the DIFS (IEEE 802.11-2020, 10.3.7); AIFSN of best effort.
    pub aifsn: u8,
    /// Smallest and largest contention window, of best effort where there are categories.
    pub contention_window: (u32, u32),
    /// How a backoff is drawn unless the scenario says it.
    pub backoff_range: BackoffRange,
    /// Everything that is sent is sent in one of these; [`numbered`](mode::numbered).
    pub modes: &'static [Mode],
    /// Of them, those of unicast data, in the order in which messages list them.
    pub data: &'static [Mode],
    /// The one of unicast data where no rate is given.
    pub default_mode: &'static Mode,
    /// Of them, those of broadcasts, slowest first.
    pub basic: &'static [Mode],
    /// In which mode control frames go.
    pub answers: Answers,
    /// Header and FCS of a data frame: 34 bytes in ns-2.35 (a fourth address), 28 in the standard (schemes.md 17.2).
    pub mac_overhead: Bytes,
    /// Frames of several packets; `None`: one a frame.
    pub aggregation: Option<Aggregation>,
    /// Data frames have QoS control, and contend in categories.
    pub qos: bool,
    /// Packets of the interface queue unless the scenario says it.
    pub queue: u32,
    /// The word of the relay before the MAC unless the mesh's scheme or the scenario chooses one; `None`: that of all schemes.
    pub relay: Option<&'static str>,
    /// Centre of the channel for the strength of signals, Hz.
    pub frequency: u64,
    /// Width of the channel, which noise goes by, Hz.
    pub bandwidth: u64,
    /// The channel that captures name: the simulated mesh has one and no name for it.
    pub channel: Channel,
}

/// In which mode RTS, CTS and acknowledgements go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answers {
    /// In that of broadcasts: the basic rate of the scenario.
    Basic,
    /// In the fastest of these, slowest first, that is not faster than the data's [reference](Mode::reference) (IEEE
    /// 802.11-2020, 10.6.6.5); the slowest if all are.
    UpTo(&'static [Mode]),
}

/// The range that a backoff is drawn from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BackoffRange {
    /// `0..cw-1`, as ns-2 draws it (ns-2.35: random modulo cw).
    Ns2,
    /// `0..=cw` (IEEE 802.11-2020, 10.3.3).
    Standard,
}

/// A channel as radiotap's field of that name has it (radiotap.org).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Channel {
    /// Its centre.
    pub mhz: u16,
    /// [`Channel::CCK`] and the like.
    pub flags: u16,
}

impl Channel {
    /// CCK.
    pub const CCK: u16 = 0x0020;
    /// OFDM.
    pub const OFDM: u16 = 0x0040;
    /// 2.4 GHz band.
    pub const BAND_2_GHZ: u16 = 0x0080;
    /// 5 GHz band.
    pub const BAND_5_GHZ: u16 = 0x0100;
    /// CCK and OFDM in turn.
    pub const DYNAMIC_CCK_OFDM: u16 = 0x0400;

    /// Channel 1 of the 2.4 GHz band, with these flags beside the band's.
    #[must_use]
    pub const fn first_of_2_ghz(flags: u16) -> Self {
        Self { mhz: 2412, flags: flags | Self::BAND_2_GHZ }
    }

    /// Channel 36 of the 5 GHz band, with these flags beside the band's.
    #[must_use]
    pub const fn of_5_ghz(flags: u16) -> Self {
        Self { mhz: 5180, flags: flags | Self::BAND_5_GHZ }
    }
}

impl Standard {
    /// The standard of that name with its own keys' defaults.
    #[must_use]
    pub fn named(word: &str) -> Option<Self> {
        let part = STANDARDS.iter().find(|part| part.about.word == word)?;
        let built = (part.build)(&part.about.defaults());
        Some(
            built.unwrap_or_else(|refused| {
                panic!("the defaults of {word} contradict each other: {refused:?}")
            }),
        )
    }

    /// The mode of unicast data at this rate: the default one if it has it, else the first in the table.
    #[must_use]
    pub fn data_mode(&self, rate: Rate) -> Option<&'static Mode> {
        let first = || self.data.iter().find(|mode| mode.rate == rate);
        if self.default_mode.rate == rate { Some(self.default_mode) } else { first() }
    }

    /// The mode of broadcasts at this rate.
    #[must_use]
    pub fn basic_mode(&self, rate: Rate) -> Option<&'static Mode> {
        self.basic.iter().find(|mode| mode.rate == rate)
    }

    /// The mode of broadcasts where no basic rate is given, with data in `data`: the slowest, or that of answers to it.
    #[must_use]
    pub fn default_basic(&self, data: &'static Mode) -> &'static Mode {
        match self.answers {
            Answers::Basic => self.lowest(),
            Answers::UpTo(_) => self.answer(data, self.lowest()),
        }
    }

    /// The mode of RTS, CTS and acknowledgements that go with data in `data`, broadcasts going in `basic`.
    #[must_use]
    pub fn answer(&self, data: &'static Mode, basic: &'static Mode) -> &'static Mode {
        match self.answers {
            Answers::Basic => basic,
            Answers::UpTo(modes) => {
                let found = modes.iter().rev().find(|mode| mode.rate <= data.reference);
                found.unwrap_or(&modes[0])
            }
        }
    }

    /// The slowest mode, which everybody reads: the headers before a payload are sent in it ([`Mode::preamble`] says how long).
    #[must_use]
    pub const fn lowest(&self) -> &'static Mode {
        &self.basic[0]
    }

    /// Packets that a frame carries at most.
    #[must_use]
    pub fn most_packets(&self) -> usize {
        self.aggregation.map_or(1, |aggregation| aggregation.packets)
    }
}
