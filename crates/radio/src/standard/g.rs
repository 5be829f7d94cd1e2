//! OFDM in the 2.4 GHz band, no 802.11b stations about: ERP-OFDM with short slots (IEEE 802.11-2020, clause 18).

use super::mode::{Mode, numbered, ofdm};
use super::{Answers, BackoffRange, Channel, Standard, StandardPart};
use meshpace_units::{Bytes, Span};

pub(super) static PART: StandardPart = StandardPart::new(
    "802.11g",
    "OFDM at 6 to 54 Mbit/s in the 2.4 GHz band, no 802.11b stations about.",
    "IEEE 802.11-2020, clause 18",
    |_| Ok(STANDARD),
);

static MODES: [Mode; 8] = numbered(ofdm(Span::from_micros(6)));
/// Every OFDM station has 6, 12 and 24 Mbit/s (17.1.1).
static MANDATORY: [Mode; 3] = [MODES[0], MODES[2], MODES[4]];

/// Its numbers, for standards that differ from it in some of them.
pub(super) const STANDARD: Standard = Standard {
    word: "802.11g",
    slot: Span::from_micros(9),
    sifs: Span::from_micros(10),
    aifsn: 2,
    contention_window: (15, 1023),
    backoff_range: BackoffRange::Ns2,
    modes: &MODES,
    data: &MODES,
    default_mode: &MODES[7],
    basic: &MODES,
    answers: Answers::UpTo(&MANDATORY),
    mac_overhead: Bytes(28),
    aggregation: None,
    qos: false,
    queue: 50,
    relay: None,
    frequency: 2_437_000_000,
    bandwidth: 20_000_000,
    channel: Channel::first_of_2_ghz(Channel::OFDM),
};
