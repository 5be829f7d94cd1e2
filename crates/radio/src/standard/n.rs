//! High throughput in either band, several packets a frame (IEEE 802.11-2020, clause 19; EDCA 10.23.2, A-MPDU 10.12, block
//! acknowledgement 10.25).
//!
//! All stations are of this kind or OFDM's at least: no protection of 802.11b stations, short slots in both bands. AIFSN and windows here
//! are those of best effort (table 9-155), from which [`Phy::aifsn`](crate::Phy::aifsn) and [`Phy::window`](crate::Phy::window) make the
//! other categories'; TXOP limits are 0: one exchange an access.

use super::ht::{LEGACY, MCS_A_STREAM, MCS_COUNT, table};
use super::mode::{LONGEST_PPDU, Mode};
use super::{Aggregation, Answers, Channel, Refused, Standard, StandardPart};
use crate::phy::BackoffRange;
use meshpace_keys::{Key, Values, bytes, real, whole};
use meshpace_units::quantity::FREQUENCY;
use meshpace_units::{Bytes, Span};

pub(super) static PART: StandardPart = StandardPart::new(
    "802.11n",
    "High throughput: 6.5 to 600 Mbit/s in 20 or 40 MHz of either band, several packets a frame.",
    "IEEE 802.11-2020, clause 19",
    standard,
)
.keys(&[&KEYS]);

const ONLY: &[&str] = &["802.11n"];
const WIDTHS: &[&str] = &["20MHz", "40MHz"];
const GUARD_INTERVALS: &[&str] = &["800ns", "400ns"];

/// The band of 2.4 GHz, Hz.
const LOW_BAND: std::ops::RangeInclusive<f64> = 2.4e9..=2.5e9;
/// That of 5 GHz.
const HIGH_BAND: std::ops::RangeInclusive<f64> = 4.9e9..=5.9e9;
/// Channel 36.
const FREQUENCY_BY_DEFAULT: f64 = 5.18e9;
/// A station may take A-MPDUs of so many bytes (9.4.2.55.3, exponent 3).
const LONGEST: u64 = 65_535;
/// An MPDU behind a delimiter has 4,095 bytes at the most (9.7.1: 12 bits), header and FCS among them.
const LONGEST_AMSDU: u64 = 4_095 - 26 - 4;

static KEYS: [Key; 8] = [
    Key::new(
        "frequency",
        real(&FREQUENCY, 2.4e9, 5.9e9),
        "Centre of the channel: in the band of 2.4 GHz, or in that of 5 GHz.",
    )
    .preset(meshpace_keys::Preset::Real(FREQUENCY_BY_DEFAULT))
    .only("standard", ONLY),
    Key::word("width", WIDTHS, WIDTHS[0], "Width of the channel.").only("standard", ONLY),
    Key::new(
        "mcs",
        whole(0, MCS_COUNT as u64 - 1),
        "Modulation, code and streams of unicast data: by default the fastest of `streams`, or the first at `rate`.",
    )
    .only("standard", ONLY),
    Key::new("streams", whole(1, 4), "Spatial streams; mcs says them, too: mcs div 8 + 1. By default 1.")
        .only("standard", ONLY),
    Key::word("guard_interval", GUARD_INTERVALS, GUARD_INTERVALS[0], "Pause between symbols.")
        .only("standard", ONLY),
    Key::new(
        "aggregate",
        bytes(0, LONGEST),
        "Bytes of a frame of several packets (A-MPDU) at the most; 0: each frame has one.",
    )
    .preset(meshpace_keys::Preset::Whole(LONGEST))
    .only("standard", ONLY),
    Key::count(
        "aggregates_ahead",
        (0, 8),
        0,
        "Frames that are fixed before their turn: 2 as ath9k fills its hardware, 0 at the win of the medium as ns-3.",
    )
    .only("standard", ONLY),
    Key::new(
        "amsdu",
        bytes(0, LONGEST_AMSDU),
        "Bytes of several packets that go in one MPDU at the most (A-MSDU), read or lost as one; 0: each MPDU has one.",
    )
    .preset(meshpace_keys::Preset::Whole(0))
    .only("standard", ONLY),
];

const TABLES: usize = 8;
/// By width, guard interval and band, a bit each.
static MODES: [[Mode; LEGACY + MCS_COUNT]; TABLES] = {
    let first = table(false, false, Span::ZERO);
    let mut tables = [first; TABLES];
    let mut at = 1;
    while at < TABLES {
        tables[at] = table(at & 1 != 0, at & 2 != 0, extension(at & 4 != 0));
        at += 1;
    }
    tables
};

/// In the band of 2.4 GHz a frame ends later by 6 us (19.4.4, aSignalExtension).
const fn extension(low_band: bool) -> Span {
    if low_band { Span::from_micros(6) } else { Span::ZERO }
}

/// Every OFDM station has 6, 12 and 24 Mbit/s (17.1.1); by band.
static MANDATORY: [[Mode; 3]; 2] =
    [[MODES[0][0], MODES[0][2], MODES[0][4]], [MODES[4][0], MODES[4][2], MODES[4][4]]];

fn standard(values: &Values) -> Result<Standard, Refused> {
    let frequency = values.real("frequency");
    let low_band = LOW_BAND.contains(&frequency);
    if !low_band && !HIGH_BAND.contains(&frequency) {
        return Err(Refused::new("frequency", "a frequency from 2.4 to 2.5 GHz, or from 4.9 to 5.9 GHz"));
    }
    let word = |key: &str, words: &[&str]| values.get(key).is_some_and(|it| it.clone().text() == words[1]);
    let (wide, short_guard) = (word("width", WIDTHS), word("guard_interval", GUARD_INTERVALS));
    let modes = &MODES[usize::from(wide) | usize::from(short_guard) << 1 | usize::from(low_band) << 2];
    let (legacy, data) = modes.split_at(LEGACY);
    let (aggregate, amsdu) = (values.bytes("aggregate"), values.bytes("amsdu"));
    // Its receiver acknowledges an A-MSDU here as it does an A-MPDU.
    if aggregate == Bytes::ZERO && amsdu > Bytes::ZERO {
        return Err(Refused::new("amsdu", "0 where aggregate is 0, since each frame has one packet then"));
    }
    Ok(Standard {
        word: ONLY[0],
        slot: Span::from_micros(9),
        sifs: Span::from_micros(if low_band { 10 } else { 16 }),
        aifsn: 3,
        contention_window: (15, 1023),
        backoff_range: BackoffRange::Standard,
        modes,
        data,
        default_mode: chosen(values, data)?,
        basic: legacy,
        answers: Answers::UpTo(&MANDATORY[usize::from(low_band)]),
        // Header with QoS control, LLC/SNAP, FCS.
        mac_overhead: Bytes(26 + 8 + 4),
        aggregation: (aggregate > Bytes::ZERO).then_some(Aggregation {
            packets: 64,
            bytes: aggregate,
            airtime: LONGEST_PPDU,
            delimiter: Bytes(4),
            alignment: 4,
            ahead: values.count("aggregates_ahead") as usize,
            amsdu,
        }),
        qos: true,
        queue: 8_192,
        relay: Some("mac80211"),
        frequency: frequency as u64,
        bandwidth: if wide { 40_000_000 } else { 20_000_000 },
        channel: Channel {
            mhz: (frequency / 1e6) as u16,
            flags: Channel::OFDM | if low_band { Channel::BAND_2_GHZ } else { Channel::BAND_5_GHZ },
        },
    })
}

/// The MCS of unicast data, by those of `mcs`, `streams` and `rate` that are given.
fn chosen(values: &Values, data: &'static [Mode]) -> Result<&'static Mode, Refused> {
    let given = |key: &str| values.get(key).map(|value| value.clone().count() as u8);
    let rate = values.get("rate").map(|value| value.clone().rate());
    let streams_of = |mode: &Mode| mode.mcs.map(|mcs| mcs.streams());
    let streams = given("streams");
    let mode = match (given("mcs"), rate) {
        (Some(mcs), _) => Some(&data[usize::from(mcs)]),
        (None, Some(rate)) => {
            let wanted =
                |mode: &&Mode| mode.rate == rate && (streams.is_none() || streams_of(mode) == streams);
            data.iter().find(wanted)
        }
        (None, None) => Some(&data[usize::from(streams.unwrap_or(1) * MCS_A_STREAM) - 1]),
    };
    // A rate that there is not: whoever reads `rate` says which there are.
    let Some(mode) = mode else {
        let found = rate.and_then(|rate| data.iter().find(|mode| mode.rate == rate));
        return found.map_or(Ok(&data[0]), |mode| Err(contradicts("streams", streams_of(mode))));
    };
    if streams.is_some() && streams != streams_of(mode) {
        return Err(contradicts("streams", streams_of(mode)));
    }
    if rate.is_some_and(|rate| rate != mode.rate && data.iter().any(|mode| mode.rate == rate)) {
        let allowed = format!("{}Mbps, which mcs says", mode.rate.as_bits_per_sec() as f64 / 1e6);
        return Err(Refused::new("rate", allowed));
    }
    Ok(mode)
}

fn contradicts(key: &'static str, streams: Option<u8>) -> Refused {
    Refused::new(key, format!("{}, which the mode of data has", streams.unwrap_or(1)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use meshpace_keys::Setting;
    use meshpace_units::Rate;

    /// The standard with these keys given, the others at their defaults.
    fn built(said: &[(&'static str, Setting)]) -> Result<Standard, Refused> {
        let defaults = Values::defaults(KEYS.iter().filter(|key| key.default.is_some()));
        let kept = defaults.iter().filter(|(key, _)| said.iter().all(|(said, _)| said != key));
        let all: Vec<_> = kept.map(|(key, value)| (key, value.clone())).chain(said.iter().cloned()).collect();
        standard(&Values::new(all))
    }

    fn whole(number: u64) -> Setting {
        Setting::Whole(number)
    }

    fn mcs(said: &[(&'static str, Setting)]) -> Option<u8> {
        built(said).expect("it stands").default_mode.mcs.map(|mcs| mcs.index)
    }

    #[test]
    fn mcs_streams_and_rate_say_the_mode_of_data() {
        assert_eq!(mcs(&[]), Some(7));
        assert_eq!(mcs(&[("mcs", whole(12))]), Some(12));
        assert_eq!(mcs(&[("streams", whole(3))]), Some(23));
        assert_eq!(mcs(&[("mcs", whole(12)), ("streams", whole(2))]), Some(12));
        let rate = |mbps: f64| ("rate", Setting::Real(mbps * 1e6));
        assert_eq!(mcs(&[rate(52.0)]), Some(5), "the fewest streams");
        assert_eq!(mcs(&[rate(52.0), ("streams", whole(2))]), Some(11));
        assert_eq!(mcs(&[rate(52.0), ("mcs", whole(11))]), Some(11));
    }

    #[test]
    fn contradictions_are_refused_by_the_key() {
        let refused = |said: &[(&'static str, Setting)]| built(said).expect_err("a contradiction").key;
        assert_eq!(refused(&[("mcs", whole(12)), ("streams", whole(1))]), "streams");
        let rate = |mbps: f64| ("rate", Setting::Real(mbps * 1e6));
        assert_eq!(refused(&[rate(65.0), ("mcs", whole(4))]), "rate");
        assert_eq!(refused(&[rate(260.0), ("streams", whole(1))]), "streams");
        assert_eq!(refused(&[("frequency", Setting::Real(3.6e9))]), "frequency");
    }

    /// 10.3.7 and table 9-155: AIFS of best effort is SIFS and three slots.
    #[test]
    fn intervals_are_those_of_the_bands() {
        for (frequency, sifs, ack) in [(5.18e9, 16, 28), (2.437e9, 10, 34)] {
            let standard = built(&[("frequency", Setting::Real(frequency))]).expect("it stands");
            assert_eq!((standard.sifs, standard.slot), (Span::from_micros(sifs), Span::from_micros(9)));
            assert_eq!(standard.aifsn, 3);
            let answer = standard.answer(standard.default_mode, standard.lowest());
            assert_eq!(answer.rate, Rate::bits_per_sec(24_000_000));
            assert_eq!(answer.control(super::super::Preamble::Long).answer, Span::from_micros(ack));
        }
    }

    /// 10.6.6.5.2 by the non-HT reference rate of 10.6.11: MCS 0 to 7.
    #[test]
    fn answers_go_by_the_reference_rate() {
        for (index, mbps) in [6, 12, 12, 24, 24, 24, 24, 24].into_iter().enumerate() {
            for streams in 0..4 {
                let standard = built(&[("mcs", whole(8 * streams + index as u64))]).expect("it stands");
                let answer = standard.answer(standard.default_mode, standard.lowest());
                assert_eq!(answer.rate, Rate::bits_per_sec(mbps * 1_000_000), "MCS {index}, {streams}");
                assert_eq!(standard.modes[usize::from(answer.number())], *answer);
            }
        }
    }

    #[test]
    fn without_aggregates_a_frame_has_one_packet() {
        assert_eq!(built(&[("aggregate", whole(0))]).expect("it stands").aggregation, None);
        let refused =
            built(&[("aggregate", whole(0)), ("amsdu", whole(3_839))]).expect_err("a contradiction");
        assert_eq!(refused.key, "amsdu");
        assert_eq!(built(&[]).expect("it stands").most_packets(), 64);
    }
}
