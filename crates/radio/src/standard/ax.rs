//! High efficiency in either band (IEEE 802.11ax-2021, clause 27), to one station at a time over the whole channel.

use super::he::{Modes, table};
use super::high::{KEYS, Kind};
use super::mode::{Mode, Width};
use super::scheme::extension;
use super::{Refused, Standard, StandardPart};
use meshpace_keys::{Preset, Values};
use meshpace_units::Span;

pub(super) static PART: StandardPart = StandardPart::new(
    KIND.word,
    "High efficiency: 7.3 to 4,804 Mbit/s in 20 to 160 MHz, up to 256 packets and 1 MB a frame.",
    "IEEE 802.11ax-2021, clause 27",
    standard,
)
.keys(&[&KEYS])
.presets(&[("aggregate", Preset::Whole(KIND.aggregate))]);

const KIND: Kind = Kind {
    word: "802.11ax",
    low_band: true,
    widest: Width::Mhz160,
    guards: &GUARDS,
    packets: 256,
    // As with 802.11ac; an extension of that exponent to 4 MB is left out (9.4.2.248.2).
    aggregate: 1_048_575,
    mpdu: 11_454,
    streams_by_mcs: false,
    modes,
};

/// Guard intervals, ns.
const GUARDS: [u64; 3] = [800, 1_600, 3_200];

fn standard(values: &Values) -> Result<Standard, Refused> {
    KIND.standard(values)
}

/// By band, width and guard interval; in the band of 2.4 GHz there are 20 and 40 MHz.
static HIGH: [[Modes; 3]; 4] =
    [of(Width::Mhz20, false), of(Width::Mhz40, false), of(Width::Mhz80, false), of(Width::Mhz160, false)];
static LOW: [[Modes; 3]; 2] = [of(Width::Mhz20, true), of(Width::Mhz40, true)];

const fn of(width: Width, low_band: bool) -> [Modes; 3] {
    const fn with(width: Width, low_band: bool, guard: usize) -> Modes {
        table(width, Span::from_nanos(GUARDS[guard]), extension(low_band))
    }
    [with(width, low_band, 0), with(width, low_band, 1), with(width, low_band, 2)]
}

fn modes(width: Width, guard: Span, low_band: bool) -> &'static [Mode] {
    let tables = if low_band { &LOW[width as usize] } else { &HIGH[width as usize] };
    let place = GUARDS.iter().position(|nanos| *nanos == guard.as_nanos());
    tables[place.unwrap_or(0)].modes()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::standard::high::tests::built_of;
    use meshpace_keys::Setting;

    fn word(key: &'static str, word: &str) -> (&'static str, Setting) {
        (key, Setting::Text(word.to_owned()))
    }

    const LOW: (&str, Setting) = ("frequency", Setting::Real(2.437e9));

    #[test]
    fn a_frame_has_256_packets_and_its_answer_a_long_bitmap() {
        let standard = built_of(&PART, &[]).expect("it stands");
        assert_eq!(standard.most_packets(), 256);
        assert_eq!(crate::Bitmap::bytes(standard.most_packets()), meshpace_units::Bytes(32));
        assert_eq!(standard.default_mode.mcs.map(|mcs| mcs.index), Some(11));
    }

    #[test]
    fn the_2_4_ghz_band_has_40_mhz_and_shorter_mpdus() {
        assert!(built_of(&PART, &[LOW, word("width", "40MHz")]).is_ok());
        for said in [word("width", "80MHz"), ("amsdu", Setting::Whole(4_066))] {
            let key = said.0;
            let refused = built_of(&PART, &[LOW, said.clone()]).expect_err("too much");
            assert_eq!(refused.key, key);
            assert!(refused.allowed.ends_with("with 802.11ax in the band of 2.4 GHz"), "{refused:?}");
            assert!(built_of(&PART, &[said]).is_ok(), "in the band of 5 GHz");
        }
        let refused = built_of(&PART, &[word("guard_interval", "400ns")]).expect_err("it has none so short");
        assert_eq!(refused.allowed, "800ns, 1600ns, 3200ns with 802.11ax");
    }
}
