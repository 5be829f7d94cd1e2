//! What ns-2 does when only its data rate is raised to an OFDM value: DSSS timing and preamble, the payload at the higher rate
//! (schemes.md 17.3).

use super::mode::{DSSS, Mode, behind_dsss, numbered, ofdm};
use super::{Channel, Standard, StandardPart, b};
use meshpace_units::Span;

pub(super) static PART: StandardPart = StandardPart::new(
    "802.11g-ns2",
    "DSSS timing and preamble with the payload at any rate of 802.11b or 802.11g, as in ns-2.",
    "schemes.md 17.3",
    |_| Ok(STANDARD),
);

/// ns-2 computes with any rate; these are the ones that 802.11b and 802.11g name.
static MODES: [Mode; 12] = {
    let [one, two, five, eleven] = DSSS;
    let [six, nine, twelve, eighteen, twenty_four, thirty_six, forty_eight, fifty_four] = ofdm(Span::ZERO);
    numbered([
        one,
        two,
        five,
        eleven,
        behind_dsss(six),
        behind_dsss(nine),
        behind_dsss(twelve),
        behind_dsss(eighteen),
        behind_dsss(twenty_four),
        behind_dsss(thirty_six),
        behind_dsss(forty_eight),
        behind_dsss(fifty_four),
    ])
};

const STANDARD: Standard = Standard {
    word: "802.11g-ns2",
    modes: &MODES,
    data: &MODES,
    default_mode: &MODES[11],
    basic: MODES.first_chunk::<4>().unwrap(),
    channel: Channel::first_of_2_ghz(Channel::DYNAMIC_CCK_OFDM),
    ..b::STANDARD
};
