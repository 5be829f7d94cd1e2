//! OFDM in the 5 GHz band (IEEE 802.11-2020, clause 17).

use super::mode::{Mode, numbered, ofdm};
use super::{Answers, BackoffRange, Channel, Standard, StandardPart};
use meshpace_units::{Bytes, Span};

pub(super) static PART: StandardPart = StandardPart::new(
    "802.11a",
    "OFDM at 6 to 54 Mbit/s in the 5 GHz band.",
    "IEEE 802.11-2020, clause 17",
    |_| Ok(STANDARD),
);

static MODES: [Mode; 8] = numbered(ofdm(Span::ZERO));
/// Every OFDM station has 6, 12 and 24 Mbit/s (17.1.1).
static MANDATORY: [Mode; 3] = [MODES[0], MODES[2], MODES[4]];

const STANDARD: Standard = Standard {
    word: "802.11a",
    slot: Span::from_micros(9),
    sifs: Span::from_micros(16),
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
    frequency: 5_180_000_000,
    bandwidth: 20_000_000,
    channel: Channel::of_5_ghz(Channel::OFDM),
};
