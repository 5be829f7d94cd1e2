//! High throughput in either band, several packets a frame (IEEE 802.11-2020, clause 19).

use super::high::{KEYS, Kind, LONGEST_HT_MPDU};
use super::ht::{Modes, table};
use super::mode::{Mode, Width};
use super::scheme::extension;
use super::{Refused, Standard, StandardPart};
use meshpace_keys::{Preset, Values};
use meshpace_units::Span;

pub(super) static PART: StandardPart = StandardPart::new(
    KIND.word,
    "High throughput: 6.5 to 600 Mbit/s in 20 or 40 MHz of either band, several packets a frame.",
    "IEEE 802.11-2020, clause 19",
    standard,
)
.keys(&[&KEYS])
.presets(&[("aggregate", Preset::Whole(KIND.aggregate))]);

const KIND: Kind = Kind {
    word: "802.11n",
    low_band: true,
    widest: Width::Mhz40,
    guards: &[800, 400],
    packets: 64,
    // A station may take A-MPDUs of so many bytes (9.4.2.55.3, exponent 3).
    aggregate: 65_535,
    mpdu: LONGEST_HT_MPDU,
    streams_by_mcs: true,
    modes,
};

fn standard(values: &Values) -> Result<Standard, Refused> {
    KIND.standard(values)
}

const TABLES: usize = 8;
/// By width, guard interval and band, a bit each.
static MODES: [Modes; TABLES] = {
    const fn of(at: usize) -> Modes {
        let width = if at & 1 != 0 { Width::Mhz40 } else { Width::Mhz20 };
        table(width, Span::from_nanos(if at & 2 != 0 { 400 } else { 800 }), extension(at & 4 != 0))
    }
    [of(0), of(1), of(2), of(3), of(4), of(5), of(6), of(7)]
};

fn modes(width: Width, guard: Span, low_band: bool) -> &'static [Mode] {
    let (wide, short_guard) = (width == Width::Mhz40, guard < Span::from_nanos(800));
    MODES[usize::from(wide) | usize::from(short_guard) << 1 | usize::from(low_band) << 2].modes()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::standard::high::tests::built_of;
    use meshpace_keys::Setting;
    use meshpace_units::Rate;

    /// The standard with these keys given, the others at their defaults.
    fn built(said: &[(&'static str, Setting)]) -> Result<Standard, Refused> {
        built_of(&PART, said)
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
