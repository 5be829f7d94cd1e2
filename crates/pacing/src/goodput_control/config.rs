//! Parameters of goodput control, and their keys.

use meshpace_keys::{Key, Preset, Values, above, words};
use meshpace_units::Span;
use meshpace_units::quantity::RATIO;

words! {
    /// How a cap is relaxed every interval (`gc_aging`). The paper's "R(i) + 1.1 * deviation(i)" adds a pure number to
    /// a rate; its readings (schemes.md 3.5).
    pub enum Aging {
        /// `cap += factor * deviation` packets a second: a slow probe.
        Additive = "additive",
        /// `cap += factor * deviation` kbit/s: in effect no aging.
        AdditiveKbit = "additive-kbit",
        /// `cap *= factor`.
        Multiplicative = "multiplicative",
    }
}

words! {
    /// What a run does first (`gc_order`; schemes.md 3.5).
    pub enum Order {
        /// It judges the last throttling before it throttles anew.
        JudgeFirst = "judge-first",
        /// As printed in the paper's Fig. 7: a flow still above the threshold is throttled anew and not judged.
        Figure = "figure",
    }
}

words! {
    /// Which change of the connections known takes every cap away (`gc_reset`): the paper's Fig. 7 says "terminates or
    /// starts", its section 4.4 only the former (schemes.md 3.5).
    pub enum Reset {
        /// One that starts or ends.
        StartEnd = "start-end",
        /// One that ends.
        End = "end",
    }
}

/// Parameters of goodput control. Source of every default: schemes.md 3.5.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GoodputControlConfig {
    /// Time between two runs (`gc_interval`), above zero.
    pub interval: Span,
    /// Deviation from the mean goodput above which a flow is throttled (`gc_threshold`).
    pub threshold: f64,
    /// What a run does first (`gc_order`).
    pub order: Order,
    /// Which change of the connections takes every cap away (`gc_reset`).
    pub reset: Reset,
    /// How caps are relaxed (`gc_aging`).
    pub aging: Aging,
    /// The factor of the aging formula (`gc_aging_factor`).
    pub aging_factor: f64,
    /// Growth of the slow flows' mean goodput that counts as improvement (`gc_improvement`).
    pub improvement: f64,
    /// Runs for which a flow is left alone after its first useless throttling (`gc_hold_off`); doubles with each. With 0
    /// it may be throttled again in the run after the one that took its cap away.
    pub hold_off: u32,
    /// Most runs a flow is left alone (`gc_hold_off_max`).
    pub hold_off_max: u32,
}

impl GoodputControlConfig {
    /// The paper's interval and threshold, and the decisions of schemes.md 3.5 for what it leaves open.
    pub const PAPER: Self = Self {
        interval: Span::from_secs(5),
        threshold: 1.1,
        order: Order::JudgeFirst,
        reset: Reset::StartEnd,
        aging: Aging::Additive,
        aging_factor: 1.1,
        improvement: 1.05,
        hold_off: 3,
        hold_off_max: 12,
    };
}

const DEFAULT: GoodputControlConfig = GoodputControlConfig::PAPER;

/// The keys of [`GoodputControlConfig`].
pub static KEYS: [Key; 9] = [
    Key::time(
        "gc_interval",
        Span::from_secs(3600),
        DEFAULT.interval,
        "Time between two runs of goodput control (schemes.md 3.5).",
    ),
    Key::number(
        "gc_threshold",
        (1.0, 1_000.0),
        DEFAULT.threshold,
        "Share of the mean goodput above which a flow is throttled (schemes.md 3.5).",
    ),
    Key::word(
        "gc_order",
        Order::WORDS,
        DEFAULT.order.word(),
        "Whether the last throttling is judged before flows are throttled anew, or as the paper's figure has it \
         (schemes.md 3.5).",
    ),
    Key::word(
        "gc_reset",
        Reset::WORDS,
        DEFAULT.reset.word(),
        "Which change of the connections takes every cap away (schemes.md 3.5).",
    ),
    Key::word("gc_aging", Aging::WORDS, DEFAULT.aging.word(), "How caps are relaxed (schemes.md 3.5)."),
    Key::new(
        "gc_aging_factor",
        above(&RATIO, 0.0, 1_000.0),
        "The factor of the aging formula (schemes.md 3.5).",
    )
    .preset(Preset::Real(DEFAULT.aging_factor)),
    Key::number(
        "gc_improvement",
        (1.0, 1_000.0),
        DEFAULT.improvement,
        "Growth of the slow flows' goodput that justifies a cap (schemes.md 3.5).",
    ),
    Key::count(
        "gc_hold_off",
        (0, 1_000_000),
        DEFAULT.hold_off as u64,
        "Intervals without throttling after a useless one; doubles each time; 0: none (schemes.md 3.5).",
    ),
    Key::count(
        "gc_hold_off_max",
        (0, 1_000_000),
        DEFAULT.hold_off_max as u64,
        "Most intervals without throttling (schemes.md 3.5).",
    ),
];

impl GoodputControlConfig {
    /// The goodput control that the values of [`KEYS`] describe.
    #[must_use]
    pub fn from_values(values: &Values) -> Self {
        Self {
            interval: values.span("gc_interval"),
            threshold: values.real("gc_threshold"),
            order: values.word("gc_order"),
            reset: values.word("gc_reset"),
            aging: values.word("gc_aging"),
            aging_factor: values.real("gc_aging_factor"),
            improvement: values.real("gc_improvement"),
            hold_off: values.count("gc_hold_off"),
            hold_off_max: values.count("gc_hold_off_max"),
        }
    }
}
