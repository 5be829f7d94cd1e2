//! What using a link costs: the place where a metric is asked.

use meshpace_keys::{Key, Part};
use meshpace_units::{Bytes, Rate, Span};
use std::num::NonZeroU32;

/// A metric: one function of what is known of a link. A least path has the least sum.
pub type MetricPart = Part<fn(&LinkQuality) -> Cost>;

meshpace_keys::parts! {
    /// The metrics. The first is the default, and that of protocols which ask for none: it looks at nothing of a link.
    pub static METRICS: MetricPart = [hops, etx, ett, airtime];
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
pub(crate) static KEYS: [Key; 1] = [Key::word(
    "metric",
    WORDS,
    WORDS[0],
    "What makes a route the shortest, by what is known of links at time 0: hops; etx, the expected transmissions; ett, the expected \
     time of transmissions; airtime, the airtime link metric of 802.11.",
)];

/// What a metric supposes to be sent: the 8,192 bits of the airtime link metric's test frame (IEEE 802.11-2020, 14.9), which are the
/// 1,024 bytes of Draves, Padhye and Zill's example ("Routing in multi-radio, multi-hop wireless mesh networks", MobiCom 2004, 4.1).
pub const TEST_FRAME: Bytes = Bytes(1024);

/// A link, from the node that asks to its neighbour, as an exchange of a [`TEST_FRAME`] meets it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LinkQuality {
    /// The data rate of its frames; `None`: not known.
    pub rate: Option<Rate>,
    /// The share of attempts that end on the way there: the data frame is lost, or an RTS before it; `None`: not known.
    pub loss: Option<f64>,
    /// The share of the others that end on the way back: the acknowledgement is lost, or a CTS; `None`: not known.
    pub loss_back: Option<f64>,
    /// What the exchange takes of the air beside the test frame's bits; `None`: not known.
    pub overhead: Option<Span>,
}

impl LinkQuality {
    /// How often the frame is sent until it is acknowledged, on average: ETX = 1 / (d_f d_r) (De Couto, Aguayo, Bicket and Morris, "A
    /// high-throughput path metric for multi-hop wireless routing", MobiCom 2003, 3.1). Infinite where nothing arrives. An unknown loss
    /// counts as none.
    fn transmissions(&self) -> f64 {
        let delivered = |loss: Option<f64>| 1.0 - loss.unwrap_or(0.0).clamp(0.0, 1.0);
        1.0 / (delivered(self.loss) * delivered(self.loss_back))
    }

    /// Seconds that the test frame's bits take, S / B. Of links whose rate is not known all take 1 Mbit/s: then they cost the same.
    fn bits_time(&self) -> f64 {
        let rate = self.rate.unwrap_or(Rate::bits_per_sec(1_000_000));
        TEST_FRAME.bits() as f64 / rate.as_bits_per_sec() as f64
    }
}

/// What using a link once costs, in units of its metric. Whole numbers: equal paths are equal on every machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cost(pub NonZeroU32);

impl Cost {
    /// One unit.
    pub const ONE: Self = Self(NonZeroU32::MIN);
    /// That of a link over which nothing arrives: it is taken where there is no other.
    pub const MOST: Self = Self(NonZeroU32::MAX);

    /// The whole number nearest to so many units, the larger of two; at least one, and [`Cost::MOST`] at the most.
    fn nearest(units: f64) -> Self {
        // Larger numbers saturate, infinity among them.
        NonZeroU32::new(units.round() as u32).map_or(Self::ONE, Self)
    }
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

#[cfg(test)]
mod tests;
