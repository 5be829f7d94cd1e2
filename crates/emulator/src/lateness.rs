//! How late packets were delivered against simulated time, and what that says of a run.

use meshpace_units::{Quantiles, Span};
use serde::Serialize;

/// Collects how late deliveries were.
#[derive(Clone, Debug, Default)]
pub struct Lateness {
    spans: Quantiles,
    late: u64,
    max: Span,
}

/// How late the deliveries of a run were. Without deliveries nothing can be said.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Verdict {
    /// True if the share of late deliveries is no more than a thousandth.
    pub valid: Option<bool>,
    /// A delivery that is more seconds late than this counts as late.
    pub bound_s: f64,
    /// The number of deliveries.
    pub deliveries: u64,
    /// The share of the deliveries that were late.
    pub share_late: Option<f64>,
    /// Median lateness, seconds, to 1 %.
    pub p50_s: Option<f64>,
    /// The lateness that 99 % of the deliveries do not exceed, seconds.
    pub p99_s: Option<f64>,
    /// The lateness that 99.9 % of the deliveries do not exceed, seconds.
    pub p999_s: Option<f64>,
    /// The latest delivery, seconds.
    pub max_s: Option<f64>,
}

impl Lateness {
    /// A delivery later than this after its simulated time is late.
    pub const BOUND: Span = Span::from_millis(1);
    /// The share of late deliveries that a valid run may have.
    pub const ALLOWED: f64 = 0.001;

    /// Counts a delivery that was so late.
    pub fn record(&mut self, late: Span) {
        self.spans.record(late);
        self.late += u64::from(late > Self::BOUND);
        self.max = self.max.max(late);
    }

    /// What it comes to.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        let quantile = |share| self.spans.quantile(share).map(Span::as_secs_f64);
        let deliveries = self.spans.count();
        let share_late = (deliveries > 0).then(|| self.late as f64 / deliveries as f64);
        Verdict {
            valid: share_late.map(|share| share <= Self::ALLOWED),
            bound_s: Self::BOUND.as_secs_f64(),
            deliveries,
            share_late,
            p50_s: quantile(0.5),
            p99_s: quantile(0.99),
            p999_s: quantile(0.999),
            max_s: (deliveries > 0).then(|| self.max.as_secs_f64()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(late: u64, in_time: u64) -> Verdict {
        let mut lateness = Lateness::default();
        (0..late).for_each(|_| lateness.record(Span::from_micros(1_001)));
        (0..in_time).for_each(|_| lateness.record(Span::from_micros(1_000)));
        lateness.verdict()
    }

    #[test]
    fn one_in_a_thousand_may_be_late() {
        assert_eq!(verdict(1, 999).valid, Some(true));
        assert_eq!((verdict(2, 998).valid, verdict(2, 998).share_late), (Some(false), Some(0.002)));
        assert_eq!(verdict(1, 0).max_s, Some(0.001_001));
    }

    #[test]
    fn of_nothing_nothing_is_said() {
        let none = Lateness::default().verdict();
        assert_eq!((none.valid, none.share_late, none.p999_s, none.max_s), (None, None, None, None));
        assert_eq!((none.bound_s, none.deliveries), (0.001, 0));
    }
}
