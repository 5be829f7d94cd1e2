//! What high throughput and the standards that followed it have in common: keys, bands, EDCA (IEEE 802.11-2020, 10.23.2), A-MPDU (10.12),
//! block acknowledgement (10.25), and how keys say the mode of unicast data.
//!
//! All stations are of the same kind or OFDM's at least: no protection of 802.11b stations, short slots in both bands. AIFSN and windows
//! here are those of best effort (table 9-155), from which [`Phy::aifsn`](crate::Phy::aifsn) and [`Phy::window`](crate::Phy::window) make
//! the other categories'; TXOP limits are 0: one exchange an access.

use super::mode::{LONGEST_PPDU, Mode, Width};
use super::scheme::LEGACY;
use super::{Aggregation, Answers, BackoffRange, Channel, Refused, Standard};
use meshpace_keys::{Key, Preset, Values, bytes, real, whole};
use meshpace_units::quantity::FREQUENCY;
use meshpace_units::{Bytes, Span};

const WORDS: &[&str] = &["802.11n", "802.11ac", "802.11ax"];
const WIDTHS: &[&str] = &["20MHz", "40MHz", "80MHz", "160MHz"];
const GUARD_INTERVALS: &[&str] = &["800ns", "400ns", "1600ns", "3200ns"];

/// The band of 2.4 GHz, Hz.
const LOW_BAND: std::ops::RangeInclusive<f64> = 2.4e9..=2.5e9;
/// That of 5 GHz.
const HIGH_BAND: std::ops::RangeInclusive<f64> = 4.9e9..=5.9e9;
/// Channel 36.
const FREQUENCY_BY_DEFAULT: f64 = 5.18e9;
/// What an MPDU has around an A-MSDU: header with QoS control, FCS.
const AROUND_AMSDU: u64 = 26 + 4;

/// The keys, with what any of the standards allows.
pub(super) static KEYS: [Key; 8] = [
    Key::new(
        "frequency",
        real(&FREQUENCY, 2.4e9, 5.9e9),
        "Centre of the channel: in the band of 2.4 GHz, or in that of 5 GHz; with 802.11ac in that of 5 GHz.",
    )
    .preset(Preset::Real(FREQUENCY_BY_DEFAULT))
    .only("standard", WORDS),
    Key::word(
        "width",
        WIDTHS,
        WIDTHS[0],
        "Width of the channel: 20 or 40 MHz; with 802.11ac and 802.11ax, in the band of 5 GHz, 80 or 160 MHz as well.",
    )
    .only("standard", WORDS),
    Key::new(
        "mcs",
        whole(0, 31),
        "Modulation and code of unicast data, with 802.11n its streams, too: 0 to 31, with 802.11ac 0 to 9, with 802.11ax 0 to 11; by default the fastest of `streams`, or the first at `rate`.",
    )
    .only("standard", WORDS),
    Key::new(
        "streams",
        whole(1, 4),
        "Spatial streams; with 802.11n mcs says them, too: mcs div 8 + 1. By default 1.",
    )
    .only("standard", WORDS),
    Key::word(
        "guard_interval",
        GUARD_INTERVALS,
        GUARD_INTERVALS[0],
        "Pause between symbols: 800ns; with 802.11n and 802.11ac 400ns, with 802.11ax 1600ns and 3200ns as well.",
    )
    .only("standard", WORDS),
    Key::new(
        "aggregate",
        bytes(0, 1_048_575),
        "Bytes of a frame of several packets (A-MPDU) at the most: by default, and at the most, 65535 with 802.11n, 1048575 with 802.11ac and 802.11ax; 0: each frame has one.",
    )
    .only("standard", WORDS),
    Key::count(
        "aggregates_ahead",
        (0, 8),
        0,
        "Frames that are fixed before their turn: 2 as ath9k fills its hardware, 0 at the win of the medium as ns-3.",
    )
    .only("standard", WORDS),
    Key::new(
        "amsdu",
        bytes(0, 11_454 - AROUND_AMSDU),
        "Bytes of several packets that go in one MPDU at the most (A-MSDU), read or lost as one; 0: each MPDU has one. Up to 4065 with 802.11n, beyond in the band of 5 GHz only.",
    )
    .preset(Preset::Whole(0))
    .only("standard", WORDS),
];

/// In what one of these standards differs from another.
pub(super) struct Kind {
    /// Its word.
    pub word: &'static str,
    /// It may be in the band of 2.4 GHz.
    pub low_band: bool,
    /// The widest channel.
    pub widest: Width,
    /// Guard intervals, ns.
    pub guards: &'static [u64],
    /// A frame of several packets has at most as many MPDUs as a block acknowledgement covers.
    pub packets: usize,
    /// Bytes of such a frame at the most.
    pub aggregate: u64,
    /// An MPDU has so many bytes at the most.
    pub mpdu: u64,
    /// The number of an MCS says its streams.
    pub streams_by_mcs: bool,
    /// All its modes, those of clause 17 first.
    pub modes: fn(Width, Span, bool) -> &'static [Mode],
}

/// Which of the words a key has.
fn place(values: &Values, key: &str, words: &[&str]) -> usize {
    let word = values.get(key).map(|it| it.clone().text());
    word.and_then(|word| words.iter().position(|other| *other == word)).unwrap_or(0)
}

impl Kind {
    /// The standard with these values of its keys.
    pub fn standard(&self, values: &Values) -> Result<Standard, Refused> {
        let (frequency, low_band) = self.frequency(values)?;
        let width = self.width(values, low_band)?;
        let guard = self.guard(values)?;
        let aggregation = self.aggregation(values, low_band)?;
        let modes = (self.modes)(width, guard, low_band);
        let (legacy, data) = modes.split_at(LEGACY);
        Ok(Standard {
            word: self.word,
            slot: Span::from_micros(9),
            sifs: Span::from_micros(if low_band { 10 } else { 16 }),
            aifsn: 3,
            contention_window: (15, 1023),
            backoff_range: BackoffRange::Standard,
            modes,
            data,
            default_mode: Chosen { kind: self, values, data, width }.mode()?,
            basic: legacy,
            answers: Answers::UpTo(mandatory(low_band)),
            // Header with QoS control, LLC/SNAP, FCS.
            mac_overhead: Bytes(26 + 8 + 4),
            aggregation,
            qos: true,
            queue: 8_192,
            relay: Some("mac80211"),
            frequency: frequency as u64,
            bandwidth: width.mhz() * 1_000_000,
            channel: Channel {
                mhz: (frequency / 1e6) as u16,
                flags: Channel::OFDM | if low_band { Channel::BAND_2_GHZ } else { Channel::BAND_5_GHZ },
            },
        })
    }

    /// The channel's centre, and whether it is in the band of 2.4 GHz.
    fn frequency(&self, values: &Values) -> Result<(f64, bool), Refused> {
        let frequency = values.real("frequency");
        let low_band = LOW_BAND.contains(&frequency);
        if HIGH_BAND.contains(&frequency) || (low_band && self.low_band) {
            return Ok((frequency, low_band));
        }
        let low = if self.low_band { "from 2.4 to 2.5 GHz, or " } else { "" };
        Err(Refused::new("frequency", format!("a frequency {low}from 4.9 to 5.9 GHz")))
    }

    fn width(&self, values: &Values, low_band: bool) -> Result<Width, Refused> {
        let width = Width::ALL[place(values, "width", WIDTHS)];
        let widest = if low_band { self.widest.min(Width::Mhz40) } else { self.widest };
        if width <= widest {
            return Ok(width);
        }
        let there = Width::ALL.iter().zip(WIDTHS).filter(|(width, _)| **width <= widest);
        let words: Vec<_> = there.map(|(_, word)| *word).collect();
        let band = if low_band { " in the band of 2.4 GHz" } else { "" };
        Err(Refused::new("width", format!("{} with {}{band}", words.join(", "), self.word)))
    }

    fn guard(&self, values: &Values) -> Result<Span, Refused> {
        let word = GUARD_INTERVALS[place(values, "guard_interval", GUARD_INTERVALS)];
        let found = self.guards.iter().find(|nanos| format!("{nanos}ns") == word);
        let words = || self.guards.iter().map(|nanos| format!("{nanos}ns")).collect::<Vec<_>>().join(", ");
        let refused = || Refused::new("guard_interval", format!("{} with {}", words(), self.word));
        found.map(|nanos| Span::from_nanos(*nanos)).ok_or_else(refused)
    }

    fn aggregation(&self, values: &Values, low_band: bool) -> Result<Option<Aggregation>, Refused> {
        let (aggregate, amsdu) = (values.bytes("aggregate"), values.bytes("amsdu"));
        if aggregate > Bytes(self.aggregate) {
            return Err(Refused::new("aggregate", format!("0 to {} B with {}", self.aggregate, self.word)));
        }
        // Its receiver acknowledges an A-MSDU here as it does an A-MPDU.
        if aggregate == Bytes::ZERO && amsdu > Bytes::ZERO {
            return Err(Refused::new(
                "amsdu",
                "0 where aggregate is 0, since each frame has one packet then",
            ));
        }
        // In the band of 2.4 GHz lengths stay those of high throughput (IEEE 802.11-2020, 9.4.2.55.2).
        let mpdu = if low_band { self.mpdu.min(LONGEST_HT_MPDU) } else { self.mpdu };
        if amsdu > Bytes(mpdu - AROUND_AMSDU) {
            let band = if low_band { " in the band of 2.4 GHz" } else { "" };
            let allowed = format!("0 to {} B with {}{band}", mpdu - AROUND_AMSDU, self.word);
            return Err(Refused::new("amsdu", allowed));
        }
        Ok((aggregate > Bytes::ZERO).then_some(Aggregation {
            packets: self.packets,
            bytes: aggregate,
            airtime: LONGEST_PPDU,
            delimiter: Bytes(4),
            alignment: 4,
            ahead: values.count("aggregates_ahead") as usize,
            amsdu,
        }))
    }
}

/// An MPDU of high throughput behind a delimiter has so many bytes at the most (9.7.1: 12 bits), header and FCS among them.
pub(super) const LONGEST_HT_MPDU: u64 = 4_095;

/// Every OFDM station has 6, 12 and 24 Mbit/s (17.1.1).
fn mandatory(low_band: bool) -> &'static [Mode] {
    use super::mode::{numbered, ofdm};
    use super::scheme::extension;
    const fn three(low_band: bool) -> [Mode; 3] {
        let all = numbered(ofdm(extension(low_band)));
        [all[0], all[2], all[4]]
    }
    static MANDATORY: [[Mode; 3]; 2] = [three(false), three(true)];
    &MANDATORY[usize::from(low_band)]
}

/// What says the mode of unicast data: those of `mcs`, `streams` and `rate` that are given.
struct Chosen<'a> {
    kind: &'a Kind,
    values: &'a Values,
    data: &'static [Mode],
    width: Width,
}

impl Chosen<'_> {
    fn given(&self, key: &str) -> Option<u8> {
        self.values.get(key).map(|value| value.clone().count() as u8)
    }

    fn mode(&self) -> Result<&'static Mode, Refused> {
        let rate = self.values.get("rate").map(|value| value.clone().rate());
        let streams = self.given("streams");
        let mode = match (self.given("mcs"), rate) {
            (Some(mcs), _) => self.of_mcs(mcs)?,
            (None, Some(rate)) => {
                let wanted =
                    |mode: &&Mode| mode.rate == rate && (streams.is_none() || streams_of(mode) == streams);
                let Some(mode) = self.data.iter().find(wanted) else {
                    // A rate that does not exist: the reader of `rate` names those that do.
                    let found = self.data.iter().find(|mode| mode.rate == rate);
                    return found.map_or(Ok(&self.data[0]), |mode| Err(other_streams(mode)));
                };
                mode
            }
            (None, None) => self.fastest(streams.unwrap_or(1)),
        };
        if streams.is_some() && streams != streams_of(mode) {
            return Err(other_streams(mode));
        }
        if rate.is_some_and(|rate| rate != mode.rate && self.data.iter().any(|mode| mode.rate == rate)) {
            let allowed = format!("{}Mbps, which mcs says", mode.rate.as_bits_per_sec() as f64 / 1e6);
            return Err(Refused::new("rate", allowed));
        }
        Ok(mode)
    }

    fn of_mcs(&self, number: u8) -> Result<&'static Mode, Refused> {
        let numbered = |mode: &&Mode| mode.mcs.is_some_and(|mcs| mcs.index == number);
        if self.kind.streams_by_mcs {
            // Every number that the key allows.
            return Ok(self.data.iter().find(numbered).unwrap_or(&self.data[0]));
        }
        let streams = self.given("streams").unwrap_or(1);
        let found = self.data.iter().filter(|mode| streams_of(mode) == Some(streams)).find(numbered);
        found.ok_or_else(|| self.no_such_mcs(streams))
    }

    fn no_such_mcs(&self, streams: u8) -> Refused {
        let there = self.data.iter().filter(|mode| streams_of(mode) == Some(streams));
        let numbers: Vec<_> = there.filter_map(|mode| mode.mcs.map(|mcs| mcs.index.to_string())).collect();
        let allowed = format!(
            "{} with {}, streams = {streams} and {} MHz",
            numbers.join(", "),
            self.kind.word,
            self.width.mhz()
        );
        Refused::new("mcs", allowed)
    }

    /// Of so many streams.
    fn fastest(&self, streams: u8) -> &'static Mode {
        let of_them = self.data.iter().filter(|mode| streams_of(mode) == Some(streams));
        of_them.max_by_key(|mode| mode.rate).unwrap_or(&self.data[0])
    }
}

fn streams_of(mode: &Mode) -> Option<u8> {
    mode.mcs.map(|mcs| mcs.streams)
}

fn other_streams(mode: &Mode) -> Refused {
    Refused::new("streams", format!("{}, which the mode of data has", streams_of(mode).unwrap_or(1)))
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::standard::StandardPart;
    use meshpace_keys::Setting;

    /// The standard with these keys given, the others at their defaults.
    pub fn built_of(part: &StandardPart, said: &[(&'static str, Setting)]) -> Result<Standard, Refused> {
        let defaults = part.about.defaults();
        let kept = defaults.iter().filter(|(key, _)| said.iter().all(|(said, _)| said != key));
        let kept = kept.map(|(key, value)| (key, value.clone()));
        (part.build)(&Values::new(kept.chain(said.iter().cloned())))
    }
}
