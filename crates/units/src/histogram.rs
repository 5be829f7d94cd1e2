//! How often lengths of time fell between fixed bounds.

use crate::Span;

/// A histogram of spans: `N` bounded buckets and one for what is longer than all bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Histogram<const N: usize> {
    bounds: &'static [Span; N],
    counts: [u64; N],
    beyond: u64,
    total: Span,
    max: Span,
}

impl<const N: usize> Histogram<N> {
    /// An empty histogram. `bounds` are the buckets' upper bounds, inclusive, in ascending order.
    #[must_use]
    pub const fn new(bounds: &'static [Span; N]) -> Self {
        Self { bounds, counts: [0; N], beyond: 0, total: Span::ZERO, max: Span::ZERO }
    }

    /// Counts one span.
    pub fn record(&mut self, span: Span) {
        match self.counts.get_mut(self.bounds.partition_point(|&bound| bound < span)) {
            Some(count) => *count += 1,
            None => self.beyond += 1,
        }
        self.total += span;
        self.max = self.max.max(span);
    }

    /// Spans counted.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.counts.iter().sum::<u64>() + self.beyond
    }

    /// All spans together.
    #[must_use]
    pub const fn total(&self) -> Span {
        self.total
    }

    /// The longest.
    #[must_use]
    pub const fn max(&self) -> Span {
        self.max
    }

    /// Upper bound and count of each bucket; the last has no bound.
    pub fn buckets(&self) -> impl Iterator<Item = (Option<Span>, u64)> {
        let bounded = self.bounds.iter().copied().map(Some).zip(self.counts);
        bounded.chain([(None, self.beyond)])
    }

    /// An upper bound of the `quantile` (0 to 1) of all spans: the bound of its bucket, the longest seen if that is
    /// less; `None` before the first.
    #[must_use]
    pub fn quantile(&self, quantile: f64) -> Option<Span> {
        let wanted = quantile * self.count() as f64;
        let mut seen = 0;
        let (bound, _) = self.buckets().find(|&(_, n)| {
            seen += n;
            n > 0 && seen as f64 >= wanted
        })?;
        Some(bound.map_or(self.max, |bound| bound.min(self.max)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    static BOUNDS: [Span; 3] = [Span::from_micros(10), Span::from_micros(20), Span::from_micros(500)];

    #[test]
    fn a_quantile_is_bounded_by_its_bucket_and_by_the_longest() {
        let mut spans = Histogram::new(&BOUNDS);
        assert_eq!((spans.quantile(0.99), spans.count()), (None, 0));
        for us in 1..=100 {
            spans.record(Span::from_micros(us));
        }
        assert_eq!(spans.quantile(0.0), Some(Span::from_micros(10)));
        assert_eq!(spans.quantile(0.1), Some(Span::from_micros(10)));
        assert_eq!(spans.quantile(0.11), Some(Span::from_micros(20)));
        assert_eq!(spans.quantile(1.0), Some(Span::from_micros(100)));
        spans.record(Span::from_secs(1));
        assert_eq!(spans.quantile(1.0), Some(Span::from_secs(1)), "past all bounds");
        let counts: [u64; 4] = core::array::from_fn(|i| spans.buckets().nth(i).unwrap().1);
        assert_eq!(counts, [10, 10, 80, 1]);
        assert_eq!((spans.count(), spans.total()), (101, Span::from_micros(5_050) + Span::from_secs(1)));
    }
}
