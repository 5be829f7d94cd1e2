//! DSSS and CCK at 1, 2, 5.5 and 11 Mbit/s (IEEE 802.11-2020, clauses 15 and 16).

use super::mode::{DSSS, Mode, numbered};
use super::{Answers, BackoffRange, Channel, Standard, StandardPart};
use meshpace_units::{Bytes, Span};

pub(super) static PART: StandardPart = StandardPart::new(
    "802.11b",
    "DSSS and CCK at 1, 2, 5.5 and 11 Mbit/s.",
    "IEEE 802.11-2020, clauses 15 and 16",
    |_| Ok(STANDARD),
);

static MODES: [Mode; 4] = numbered(DSSS);

pub(super) const STANDARD: Standard = Standard {
    word: "802.11b",
    slot: Span::from_micros(20),
    sifs: Span::from_micros(10),
    aifsn: 2,
    contention_window: (31, 1023),
    backoff_range: BackoffRange::Ns2,
    modes: &MODES,
    data: &MODES,
    default_mode: &MODES[3],
    basic: &MODES,
    answers: Answers::Basic,
    mac_overhead: Bytes(34),
    aggregation: None,
    qos: false,
    queue: 50,
    relay: None,
    frequency: 2_437_000_000,
    bandwidth: 20_000_000,
    channel: Channel::first_of_2_ghz(Channel::CCK),
};
