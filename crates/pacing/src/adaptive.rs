//! The adaptive law's parameters, and their keys.

use crate::Path;
use crate::path::{LinkRates, Route};
use meshpace_keys::{Key, Values, words};
use meshpace_units::{Bytes, Span};

words! {
    /// What `k` is on a path shorter than `n` hops (`ap_short_path`). Source: schemes.md section 2, "h < 4".
    pub enum ShortPath {
        /// `k = min(n, h)` (the TCP-GAP paper).
        HHop = "h-hop",
        /// `k = 1` if `h < n` (the authors' published agent).
        OneHop = "one-hop",
        /// `k = n` always (the BYU thesis).
        NHop = "n-hop",
    }
}

words! {
    /// The measure of variation that slows the pace (`ap_variation`). Source: schemes.md section 2, "cov estimator".
    pub enum Variation {
        /// Standard deviation over mean.
        Cov = "cov",
        /// Mean absolute deviation over mean.
        Mad = "mad",
        /// Zero: the pace is the k-hop delay alone, as the thesis's text has it (schemes.md 2.1).
        None = "none",
    }
}

words! {
    /// What the sums of squared or absolute deviations are divided by (`ap_divisor`), N' being the samples held.
    pub enum Divisor {
        /// N' - 1 (schemes.md 2.3).
        SamplesLessOne = "n-1",
        /// N' (the authors' agent, WiFu).
        Samples = "n",
    }
}

words! {
    /// What the history holds (`ap_samples`).
    pub enum Samples {
        /// Round-trip times (schemes.md 2.3).
        RoundTrip = "rtt",
        /// K-hop delays (the authors' agent).
        KHopDelay = "khd",
    }
}

/// The authors' bound of k-hop delays (schemes.md section 2, "Constants").
const DELAY_BOUND: Span = Span::from_millis(500);
/// A sender's interval before its first sample (schemes.md section 2, "Constants").
const INITIAL_INTERVAL: Span = Span::from_millis(50);

/// Parameters of the adaptive law. Source of names and defaults: schemes.md section 2, "Constants".
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AdaptiveConfig {
    /// Weight of the old smoothed delay, in `[0, 1)`.
    pub alpha: f64,
    /// Hops between consecutive packets of a flow, at least 1: 4 with a carrier-sensing range of 2.75 hops.
    pub n: u32,
    /// Samples held for the variation, at least 1.
    pub history: usize,
    /// Rule for paths shorter than `n`.
    pub short_path: ShortPath,
    /// Measure of variation.
    pub variation: Variation,
    /// Divisor of the variation.
    pub divisor: Divisor,
    /// What the variation is taken of.
    pub samples: Samples,
    /// Whether a negative queueing delay counts as zero (schemes.md 1.3, rule 5).
    pub clamp_queueing: bool,
    /// What the authors' agent does with queueing delays (schemes.md section 2, "Profiles"): one above the bound counts as the
    /// smoothed one, and it is smoothed even if the k-hop delay is rejected.
    pub replace_queueing: bool,
    /// Samples whose k-hop delay reaches this are rejected (`delaybound`); `None`: however long it is.
    pub delay_bound: Option<Span>,
    /// The interval before the first sample; `None` does not pace until then (a gateway, schemes.md 1.5).
    pub initial_interval: Option<Span>,
    /// Header bytes added to the payload on the air; also the size of a pure ACK (`ap_overhead_bytes`, schemes.md 1.1).
    pub overhead: Bytes,
    /// Whether a data packet's own size counts (`ap_counts_data`): WiFu's map of sizes is never filled (schemes.md 5).
    pub counts_data: bool,
}

/// The key of the hops between packets, which OID's carrier-sensing range takes the place of.
const N: &str = "n";
/// The keys of what WiFu's estimator does not have: a negative queueing delay stays negative, and no delay is too long.
const BOUNDS: [&str; 2] = ["ap_clamp_queueing", "delaybound"];

impl AdaptiveConfig {
    /// The profile `paper` of TCP-AP (schemes.md section 2, "Profiles").
    pub const PAPER: Self = Self {
        alpha: 0.7,
        n: 4,
        history: 50,
        short_path: ShortPath::HHop,
        variation: Variation::Cov,
        divisor: Divisor::SamplesLessOne,
        samples: Samples::RoundTrip,
        clamp_queueing: true,
        replace_queueing: false,
        delay_bound: Some(DELAY_BOUND),
        initial_interval: Some(INITIAL_INTERVAL),
        overhead: Bytes(68),
        counts_data: true,
    };

    /// The profile `ns2-2005`: what the authors' agent computes (schemes.md section 2, "Profiles").
    pub const NS2_2005: Self = Self {
        short_path: ShortPath::OneHop,
        variation: Variation::Mad,
        divisor: Divisor::Samples,
        samples: Samples::KHopDelay,
        clamp_queueing: false,
        replace_queueing: true,
        overhead: Bytes(112),
        ..Self::PAPER
    };

    /// WiFu's estimator with its defects (schemes.md 2.1 and 5, profile `byu-literal`): 52 bytes are its pure ACK at IP.
    pub const WIFU: Self = Self {
        short_path: ShortPath::NHop,
        divisor: Divisor::Samples,
        clamp_queueing: false,
        delay_bound: None,
        initial_interval: None,
        overhead: Bytes(52),
        counts_data: false,
        ..Self::PAPER
    };

    /// The path of packets with this much payload over `route`, with this law's overhead; `None` over a list of no links.
    #[must_use]
    pub fn path(&self, payload: Bytes, route: &Route) -> Option<Path> {
        let ack = self.overhead;
        let data = if self.counts_data { payload + ack } else { Bytes(0) };
        match &route.rates {
            LinkRates::Uniform(rate) => Some(Path::uniform(route.hops, data, ack, *rate)),
            LinkRates::PerLink(rates) => Path::per_link(data, ack, rates.clone()),
        }
    }

    pub(crate) fn k(&self, hops: u32) -> u32 {
        let n = self.n.max(1);
        match self.short_path {
            _ if hops >= n => n,
            ShortPath::HHop => hops,
            ShortPath::OneHop => 1,
            ShortPath::NHop => n,
        }
    }
}

/// The keys. Sender and gateway declare the same ones: in a scheme that has both, the law is one, as in the paper.
impl AdaptiveConfig {
    /// How many keys there are.
    pub const KEYS: usize = 10;

    /// The keys of all but the initial interval, with these values as defaults.
    #[must_use]
    pub const fn keys(&self) -> [Key; Self::KEYS] {
        [
            Key::number(
                "alpha",
                (0.0, 0.999),
                self.alpha,
                "Weight of the old smoothed k-hop delay (schemes.md 2.2).",
            ),
            Key::count(
                "n",
                (1, 64),
                self.n as u64,
                "Hops between a flow's packets: 4 for a carrier sensing range of 2.75 hops, H_cs + 1 in general (schemes.md 1.4, 2.2).",
            ),
            Key::count(
                "history",
                (1, 10_000),
                self.history as u64,
                "Samples for the variation (schemes.md 2, \"Constants\").",
            ),
            Key::word(
                "ap_short_path",
                ShortPath::WORDS,
                self.short_path.word(),
                "The k-hop delay on a path of h < n hops: k = h, 1 or n (schemes.md 2, \"h < 4\").",
            ),
            Key::word(
                "ap_variation",
                Variation::WORDS,
                self.variation.word(),
                "Standard or mean absolute deviation, over the mean, or none at all (schemes.md 2, \"cov estimator\"; 2.1).",
            ),
            Key::word(
                "ap_divisor",
                Divisor::WORDS,
                self.divisor.word(),
                "Divisor of the deviation, n being the samples held (schemes.md 2, \"cov estimator\").",
            ),
            Key::word(
                "ap_samples",
                Samples::WORDS,
                self.samples.word(),
                "What the variation is of: round trips or k-hop delays (schemes.md 2, \"cov estimator\").",
            ),
            Key::flag(
                "ap_clamp_queueing",
                self.clamp_queueing,
                "Whether a negative queueing delay counts as zero (schemes.md 1.3, rule 5).",
            ),
            Key::time(
                "delaybound",
                Span::from_secs(60),
                match self.delay_bound {
                    Some(bound) => bound,
                    None => DELAY_BOUND,
                },
                "Samples with a k-hop delay from here on are rejected (schemes.md 1.3, rule 4).",
            ),
            Key::size(
                "ap_overhead_bytes",
                (0, 10_000),
                self.overhead,
                "Header bytes on the air, also the size of a pure ACK (schemes.md 1.1).",
            ),
        ]
    }

    /// The keys without the hops between packets: OID has its carrier-sensing range in their place (schemes.md 2.2).
    #[must_use]
    pub const fn keys_but_hops(&self) -> [Key; Self::KEYS - 1] {
        self.keys_but(&[N])
    }

    /// The keys of an estimator without bounds (schemes.md 2.1).
    #[must_use]
    pub const fn keys_but_bounds(&self) -> [Key; Self::KEYS - 2] {
        self.keys_but(&BOUNDS)
    }

    /// The keys whose names are not among `left_out`.
    const fn keys_but<const M: usize>(&self, left_out: &[&str]) -> [Key; M] {
        let keys = self.keys();
        let (mut kept, mut from, mut to) = ([keys[0]; M], 0, 0);
        while from < Self::KEYS {
            if !contains(left_out, keys[from].name) {
                kept[to] = keys[from];
                to += 1;
            }
            from += 1;
        }
        assert!(to == M, "a name is no key's");
        kept
    }

    /// The key of whether a data packet's own size counts.
    pub const COUNTS_DATA_KEY: Key = Key::flag(
        "ap_counts_data",
        false,
        "Whether a data packet's size enters the k-hop delay; by a slip not in WiFu (schemes.md 5).",
    );

    /// The key of a sender's interval before its first sample, which is the same in every profile.
    pub const INITIAL_INTERVAL_KEY: Key = Key::time(
        "initial_interval",
        Span::from_secs(60),
        INITIAL_INTERVAL,
        "The sender's interval before the first sample (schemes.md 1.5).",
    );

    /// The key of what only the authors' agent does with queueing delays.
    pub const REPLACE_QUEUEING_KEY: Key = Key::flag(
        "ap_replace_queueing",
        true,
        "Whether a queueing delay above delaybound counts as the smoothed one, which is smoothed whatever becomes of the sample.",
    );

    /// The law that the values of these keys describe. A key that is not declared has no effect: no initial interval, no
    /// bound on delays, queueing delays as they are, data packets with their own size.
    #[must_use]
    pub fn from_values(values: &Values) -> Self {
        let flag = |key, undeclared| values.get(key).map_or(undeclared, |setting| setting.clone().flag());
        Self {
            alpha: values.real("alpha"),
            n: values.get(N).map_or(Self::PAPER.n, |setting| setting.clone().count()),
            history: values.size("history"),
            short_path: values.word("ap_short_path"),
            variation: values.word("ap_variation"),
            divisor: values.word("ap_divisor"),
            samples: values.word("ap_samples"),
            clamp_queueing: flag(BOUNDS[0], false),
            replace_queueing: flag("ap_replace_queueing", false),
            delay_bound: values.get(BOUNDS[1]).map(|setting| setting.clone().span()),
            initial_interval: values.get("initial_interval").map(|setting| setting.clone().span()),
            overhead: values.bytes("ap_overhead_bytes"),
            counts_data: flag("ap_counts_data", true),
        }
    }
}

/// True if `word` is one of `words`; slices do not compare in constants.
const fn contains(words: &[&str], word: &str) -> bool {
    let mut i = 0;
    while i < words.len() {
        if equal(words[i].as_bytes(), word.as_bytes()) {
            return true;
        }
        i += 1;
    }
    false
}

const fn equal(a: &[u8], b: &[u8]) -> bool {
    if a.len() != b.len() {
        return false;
    }
    let mut i = 0;
    while i < a.len() {
        if a[i] != b[i] {
            return false;
        }
        i += 1;
    }
    true
}
