//! Very high throughput in the band of 5 GHz (IEEE 802.11-2020, clause 21), to one station at a time.

use super::high::{KEYS, Kind};
use super::mode::{Mode, Width};
use super::vht::{Modes, table};
use super::{Refused, Standard, StandardPart};
use meshpace_keys::{Preset, Values};
use meshpace_units::Span;

pub(super) static PART: StandardPart = StandardPart::new(
    KIND.word,
    "Very high throughput: 6.5 to 3,467 Mbit/s in 20 to 160 MHz of the band of 5 GHz, up to 64 packets and 1 MB a frame.",
    "IEEE 802.11-2020, clause 21",
    standard,
)
.keys(&[&KEYS])
.presets(&[("aggregate", Preset::Whole(KIND.aggregate))]);

const KIND: Kind = Kind {
    word: "802.11ac",
    low_band: false,
    widest: Width::Mhz160,
    guards: &[800, 400],
    packets: 64,
    // 9.4.2.157.2, exponent 7.
    aggregate: 1_048_575,
    // The longest of the three that a station may take (9.4.2.157.2).
    mpdu: 11_454,
    streams_by_mcs: false,
    modes,
};

fn standard(values: &Values) -> Result<Standard, Refused> {
    KIND.standard(values)
}

/// By width, and by guard interval.
static MODES: [[Modes; 2]; 4] = {
    const fn of(width: Width) -> [Modes; 2] {
        [table(width, Span::from_nanos(800)), table(width, Span::from_nanos(400))]
    }
    [of(Width::Mhz20), of(Width::Mhz40), of(Width::Mhz80), of(Width::Mhz160)]
};

fn modes(width: Width, guard: Span, _: bool) -> &'static [Mode] {
    MODES[width as usize][usize::from(guard < Span::from_nanos(800))].modes()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::standard::high::tests::built_of;
    use meshpace_keys::Setting;

    type Said = (&'static str, Setting);

    fn word(key: &'static str, word: &str) -> Said {
        (key, Setting::Text(word.to_owned()))
    }

    fn whole(key: &'static str, number: u64) -> Said {
        (key, Setting::Whole(number))
    }

    fn mcs(said: &[Said]) -> (u8, u8) {
        let mcs = built_of(&PART, said).expect("it stands").default_mode.mcs.expect("it has an MCS");
        (mcs.index, mcs.streams)
    }

    #[test]
    fn mcs_streams_and_rate_say_the_mode_of_data() {
        let wide = || word("width", "80MHz");
        assert_eq!(mcs(&[]), (8, 1), "the fastest that there is");
        assert_eq!(mcs(&[wide()]), (9, 1));
        assert_eq!(mcs(&[wide(), whole("streams", 3)]), (9, 3));
        assert_eq!(mcs(&[wide(), whole("mcs", 4)]), (4, 1));
        assert_eq!(mcs(&[wide(), whole("mcs", 4), whole("streams", 2)]), (4, 2));
        let rate = |mbps: f64| ("rate", Setting::Real(mbps * 1e6));
        assert_eq!(mcs(&[wide(), rate(351.0)]), (8, 1), "the fewest streams");
        assert_eq!(mcs(&[wide(), rate(351.0), whole("streams", 2)]), (4, 2));
    }

    #[test]
    fn what_there_is_not_is_refused_by_the_key() {
        for (said, key, allowed) in [
            (vec![whole("mcs", 9)], "mcs", "0, 1, 2, 3, 4, 5, 6, 7, 8 with 802.11ac, streams = 1 and 20 MHz"),
            (
                vec![whole("mcs", 6), whole("streams", 3), word("width", "80MHz")],
                "mcs",
                "0, 1, 2, 3, 4, 5, 7, 8, 9 with 802.11ac, streams = 3 and 80 MHz",
            ),
            (
                vec![whole("mcs", 10)],
                "mcs",
                "0, 1, 2, 3, 4, 5, 6, 7, 8 with 802.11ac, streams = 1 and 20 MHz",
            ),
            (vec![("frequency", Setting::Real(2.437e9))], "frequency", "a frequency from 4.9 to 5.9 GHz"),
            (vec![word("guard_interval", "1600ns")], "guard_interval", "800ns, 400ns with 802.11ac"),
        ] {
            let refused = built_of(&PART, &said).expect_err("there is none");
            assert_eq!((refused.key, &*refused.allowed), (key, allowed));
        }
    }

    #[test]
    fn a_frame_has_64_packets_and_a_megabyte() {
        let aggregation = built_of(&PART, &[]).expect("it stands").aggregation.expect("frames of several");
        assert_eq!((aggregation.packets, aggregation.bytes.0), (64, 1_048_575));
        assert!(built_of(&PART, &[whole("amsdu", 11_424)]).is_ok());
    }
}
