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

words! {
    /// Which flows goodput control compares, and what unsettles it (`gc_profile`; schemes.md 3.5).
    pub enum Profile {
        /// The paper's procedure: every flow with payload in an interval counts, and any that starts or ends resets.
        Paper = "paper",
        /// Only flows that want more than they get are compared, a mesh host with many counts once, and small flows that
        /// come and go change nothing.
        Robust = "robust",
    }
}

/// Parameters of goodput control. Source of every default: schemes.md 3.5.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GoodputControlConfig {
    /// Which flows it compares, and what unsettles it (`gc_profile`). The parameters from `backlog_share` on act in profile
    /// `robust` only.
    pub profile: Profile,
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
    /// Share of an interval in which something has to wait for a flow to be backlogged (`gc_backlog_share`).
    pub backlog_share: f64,
    /// Its mean wireless round trip of an interval over its least, from which on it is backlogged (`gc_backlog_rtt`).
    pub backlog_rtt: f64,
    /// Retransmissions in an interval from which on it is backlogged (`gc_backlog_losses`), at least 1.
    pub backlog_losses: u32,
    /// Intervals of silence after which a flow no longer counts (`gc_idle_runs`).
    pub idle_runs: u32,
    /// Share of all goodput that a flow has to carry for its start or end to reset (`gc_reset_share`).
    pub reset_share: f64,
    /// A cap is at least this share of the mean goodput (`gc_cap_min`), and at least a packet a second.
    pub cap_min: f64,
}

impl GoodputControlConfig {
    /// The paper's interval and threshold, and the decisions of schemes.md 3.5 for what it leaves open.
    pub const PAPER: Self = Self {
        profile: Profile::Paper,
        interval: Span::from_secs(5),
        threshold: 1.1,
        order: Order::JudgeFirst,
        reset: Reset::StartEnd,
        aging: Aging::Additive,
        aging_factor: 1.1,
        improvement: 1.05,
        hold_off: 3,
        hold_off_max: 12,
        backlog_share: 0.5,
        backlog_rtt: 10.0,
        backlog_losses: 1,
        idle_runs: 4,
        reset_share: 0.05,
        cap_min: 0.25,
    };

    /// The same in profile `robust`: a live gateway's.
    pub const ROBUST: Self = Self { profile: Profile::Robust, ..Self::PAPER };
}

const DEFAULT: GoodputControlConfig = GoodputControlConfig::PAPER;

/// The keys of [`GoodputControlConfig`].
pub static KEYS: [Key; 16] = [
    Key::word(
        "gc_profile",
        Profile::WORDS,
        DEFAULT.profile.word(),
        "Goodput control as the paper has it, or robust against flows that come and go, trickle or back off (schemes.md 3.5).",
    ),
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
    Key::number(
        "gc_backlog_share",
        (0.0, 1.0),
        DEFAULT.backlog_share,
        "Profile robust: share of an interval in which something of a flow waits that makes it backlogged (schemes.md 3.5).",
    ),
    Key::number(
        "gc_backlog_rtt",
        (1.0, 1e6),
        DEFAULT.backlog_rtt,
        "Profile robust: mean round trip of an interval over the least one that makes it backlogged (schemes.md 3.5).",
    ),
    Key::count(
        "gc_backlog_losses",
        (1, 1_000_000),
        DEFAULT.backlog_losses as u64,
        "Profile robust: retransmissions in an interval that make it backlogged (schemes.md 3.5).",
    ),
    Key::count(
        "gc_idle_runs",
        (1, 1_000_000),
        DEFAULT.idle_runs as u64,
        "Profile robust: intervals of silence after which a flow no longer counts (schemes.md 3.5).",
    ),
    Key::number(
        "gc_reset_share",
        (0.0, 1.0),
        DEFAULT.reset_share,
        "Profile robust: share of all goodput from which on a flow's start or end takes every cap away (schemes.md 3.5).",
    ),
    Key::number(
        "gc_cap_min",
        (0.0, 1.0),
        DEFAULT.cap_min,
        "Profile robust: share of the mean goodput below which no cap goes (schemes.md 3.5).",
    ),
];

impl GoodputControlConfig {
    /// The goodput control that the values of [`KEYS`] describe.
    #[must_use]
    pub fn from_values(values: &Values) -> Self {
        Self {
            profile: values.word("gc_profile"),
            interval: values.span("gc_interval"),
            threshold: values.real("gc_threshold"),
            order: values.word("gc_order"),
            reset: values.word("gc_reset"),
            aging: values.word("gc_aging"),
            aging_factor: values.real("gc_aging_factor"),
            improvement: values.real("gc_improvement"),
            hold_off: values.count("gc_hold_off"),
            hold_off_max: values.count("gc_hold_off_max"),
            backlog_share: values.real("gc_backlog_share"),
            backlog_rtt: values.real("gc_backlog_rtt"),
            backlog_losses: values.count("gc_backlog_losses"),
            idle_runs: values.count("gc_idle_runs"),
            reset_share: values.real("gc_reset_share"),
            cap_min: values.real("gc_cap_min"),
        }
    }
}
