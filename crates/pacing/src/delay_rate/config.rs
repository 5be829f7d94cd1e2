//! Parameters of the law of rate by delay.

use meshpace_keys::{Key, Values};
use meshpace_units::Span;

/// Parameters of [`super::DelayRate`]. Where each comes from: docs/law.md.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DelayRateConfig {
    /// `1 / delta` packets of each flow wait (`dr_delta`).
    pub delta: f64,
    /// The same of trains, where one access carries many packets (`dr_delta_trains`, a sender's).
    pub delta_trains: f64,
    /// Share of the way towards the target that a step goes, as a ratio (`dr_gain`).
    pub gain: f64,
    /// The most of that way that counts, upwards and downwards, as a natural logarithm (`dr_rise`, `dr_fall`).
    pub rise: f64,
    /// See `rise`.
    pub fall: f64,
    /// Round trips of a step, at least (`dr_samples`).
    pub samples: u32,
    /// How long a step takes at least, in round trips (`dr_rounds`).
    pub rounds: f64,
    /// For how long the least round trip counts (`dr_horizon`).
    pub horizon: Span,
    /// Packets a second before the first round trip (`dr_start`).
    pub start: f64,
    /// Packets in the first round trip that is known (`dr_first`).
    pub first: f64,
    /// Share of the rate that a timeout leaves (`dr_timeout`).
    pub after_timeout: f64,
}

impl DelayRateConfig {
    /// As it ships.
    pub const CALM: Self = Self {
        delta: 0.7,
        delta_trains: 1.2,
        gain: 0.1,
        rise: 0.25,
        fall: 3.0,
        samples: 2,
        rounds: 1.0,
        horizon: Span::from_secs(30),
        start: 50.0,
        first: 4.0,
        after_timeout: 0.7,
    };

    /// The keys: the sender's and the gateway's are one.
    pub const KEYS: [Key; 10] = [
        Key::number(
            "dr_delta",
            (0.001, 1_000.0),
            Self::CALM.delta,
            "Law delay-rate: 1/delta packets of each flow wait on the way (docs/law.md).",
        ),
        Key::number(
            "dr_gain",
            (0.001, 1.0),
            Self::CALM.gain,
            "Law delay-rate: share of the way to the target that a step goes, as a ratio (docs/law.md).",
        ),
        Key::number(
            "dr_rise",
            (0.01, 10.0),
            Self::CALM.rise,
            "Law delay-rate: the most of the way up that counts, as a natural logarithm (docs/law.md).",
        ),
        Key::number(
            "dr_fall",
            (0.01, 10.0),
            Self::CALM.fall,
            "Law delay-rate: the most of the way down that counts, as a natural logarithm (docs/law.md).",
        ),
        Key::count(
            "dr_samples",
            (1, 1_000),
            Self::CALM.samples as u64,
            "Law delay-rate: round trips of a step at least (docs/law.md).",
        ),
        Key::number(
            "dr_rounds",
            (0.0, 100.0),
            Self::CALM.rounds,
            "Law delay-rate: how long a step takes at least, in round trips (docs/law.md).",
        ),
        Key::time(
            "dr_horizon",
            Span::from_secs(3_600),
            Self::CALM.horizon,
            "Law delay-rate: for how long the least round trip counts (docs/law.md).",
        ),
        Key::number(
            "dr_start",
            (0.2, 1e6),
            Self::CALM.start,
            "Law delay-rate: packets a second before the first round trip is known (docs/law.md).",
        ),
        Key::number(
            "dr_first",
            (1.0, 1_000.0),
            Self::CALM.first,
            "Law delay-rate: packets a round trip once the first is known (docs/law.md).",
        ),
        Key::number(
            "dr_timeout",
            (0.01, 1.0),
            Self::CALM.after_timeout,
            "Law delay-rate: share of the rate that a timeout leaves (docs/law.md).",
        ),
    ];

    /// What the values of these keys say.
    #[must_use]
    pub fn from_values(values: &Values) -> Self {
        Self {
            delta: values.real("dr_delta"),
            delta_trains: Self::CALM.delta_trains,
            gain: values.real("dr_gain"),
            rise: values.real("dr_rise"),
            fall: values.real("dr_fall"),
            samples: values.count("dr_samples"),
            rounds: values.real("dr_rounds"),
            horizon: values.span("dr_horizon"),
            start: values.real("dr_start"),
            first: values.real("dr_first"),
            after_timeout: values.real("dr_timeout"),
        }
    }
}
