//! What using a link costs: the place where a metric is asked.

use meshpace_keys::{Key, Part};
use meshpace_units::Rate;
use std::num::NonZeroU32;

/// A metric: one function of what is known of a link. A least path has the least sum.
pub type MetricPart = Part<fn(&LinkQuality) -> Cost>;

meshpace_keys::parts! {
    /// The metrics. The first is the default, and that of protocols which ask for none.
    pub static METRICS: MetricPart = [hops];
}

/// The words of [`METRICS`].
const WORDS: &[&str] = &{
    let mut words = [""; METRICS.len()];
    let mut at = 0;
    while at < words.len() {
        words[at] = METRICS[at].about.word;
        at += 1;
    }
    words
};

/// The key of protocols whose routes go by a metric.
pub(crate) static KEYS: [Key; 1] =
    [Key::word("metric", WORDS, WORDS[0], "What makes a route the shortest: hops.")];

/// A link, from the node that asks to its neighbour.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LinkQuality {
    /// The data rate of its frames; `None`: not known.
    pub rate: Option<Rate>,
    /// The share of frames that are lost on the way there; `None`: not known.
    pub loss: Option<f64>,
    /// The same on the way back.
    pub loss_back: Option<f64>,
}

/// What using a link once costs, in units of its metric. Whole numbers: equal paths are equal on every machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cost(pub NonZeroU32);

impl Cost {
    /// One unit.
    pub const ONE: Self = Self(NonZeroU32::MIN);
}

/// The function of the metric with that word.
///
/// # Panics
/// If there is none: keys let no other word pass.
#[must_use]
pub fn metric(word: &str) -> fn(&LinkQuality) -> Cost {
    let part = METRICS.iter().find(|part| part.about.word == word);
    part.unwrap_or_else(|| panic!("no metric {word}")).build
}
