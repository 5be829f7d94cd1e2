//! How late packets leave, as a histogram: the verdict on the clock, printed with every run.

use meshpace_units::Span;

/// Upper bounds of the buckets in microseconds; a last bucket takes what is later.
pub const BOUNDS_US: [u64; 17] =
    [10, 20, 50, 100, 150, 200, 300, 400, 500, 700, 1_000, 1_500, 2_000, 5_000, 10_000, 20_000, 100_000];

/// Departures by how long after their due time they happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Lateness {
    counts: [u64; BOUNDS_US.len() + 1],
    total: Span,
    max: Span,
}

impl Lateness {
    /// Counts one departure.
    pub fn record(&mut self, late: Span) {
        let bucket = BOUNDS_US.partition_point(|&bound| Span::from_micros(bound) < late);
        self.counts[bucket] += 1;
        self.total += late;
        self.max = self.max.max(late);
    }

    /// Departures counted.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// All latenesses together.
    #[must_use]
    pub const fn total(&self) -> Span {
        self.total
    }

    /// The worst.
    #[must_use]
    pub const fn max(&self) -> Span {
        self.max
    }

    /// Upper bound and count of each bucket; the last has no bound.
    pub fn buckets(&self) -> impl Iterator<Item = (Option<Span>, u64)> {
        let bounds = BOUNDS_US.iter().map(|&bound| Some(Span::from_micros(bound))).chain([None]);
        bounds.zip(self.counts)
    }

    /// An upper bound of the `quantile` (0 to 1) of all departures: the bound of its bucket, the worst seen if that is
    /// less; `None` before the first.
    #[must_use]
    pub fn quantile(&self, quantile: f64) -> Option<Span> {
        let count = self.count();
        // The smallest rank that at least this part of the departures does not exceed.
        let rank = (quantile * count as f64).ceil().max(1.0) as u64;
        let mut seen = 0;
        let (bound, _) = self.buckets().find(|(_, n)| {
            seen += n;
            seen >= rank
        })?;
        Some(bound.map_or(self.max, |bound| bound.min(self.max)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quantile_is_bounded_by_its_bucket_and_by_the_worst() {
        let mut lateness = Lateness::default();
        assert_eq!(lateness.quantile(0.99), None);
        for us in 1..=100 {
            lateness.record(Span::from_micros(us));
        }
        assert_eq!(lateness.count(), 100);
        assert_eq!(lateness.quantile(0.1), Some(Span::from_micros(10)));
        assert_eq!(lateness.quantile(0.11), Some(Span::from_micros(20)));
        assert_eq!(lateness.quantile(1.0), Some(Span::from_micros(100)));
        lateness.record(Span::from_secs(1));
        assert_eq!(lateness.quantile(1.0), Some(Span::from_secs(1)), "past all bounds");
        assert_eq!(lateness.quantile(0.99), Some(Span::from_micros(100)));
    }
}
