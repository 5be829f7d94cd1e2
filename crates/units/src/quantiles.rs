//! Quantiles of lengths of time, in little memory whatever their number.

use crate::Span;
use alloc::vec;
use alloc::vec::Vec;

/// How often spans of each length occurred, to a resolution of 1/64: buckets that are 16 ns wide up to 2 us, and from
/// there on 64 to every doubling. A quantile is the middle of its bucket, so at most 1/128 off (0.8 %), and never
/// outside what occurred.
///
/// The scheme of buckets is that of HdrHistogram (G. Tene, 2012). Spans up to an hour take at most 5 kB, and 8 bytes more
/// for each bucket with 2^16 of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quantiles {
    /// From the bucket `first` on, as few delays are shorter than a frame: the lower 16 bits of each bucket's count.
    counts: Vec<u16>,
    first: usize,
    /// The higher bits of the counts that have any, by bucket and in its order: most counts are small.
    carries: Vec<(u32, u32)>,
    count: u64,
    /// Of those that were counted.
    least: Span,
    most: Span,
}

impl Default for Quantiles {
    fn default() -> Self {
        Self {
            counts: Vec::new(),
            first: 0,
            carries: Vec::new(),
            count: 0,
            least: Span::MAX,
            most: Span::ZERO,
        }
    }
}

/// Buckets of a doubling.
const PER_DOUBLING: u64 = 64;
/// Width of the finest buckets, ns.
const FINEST: u64 = 16;

impl Quantiles {
    /// Counts one span.
    pub fn record(&mut self, span: Span) {
        let bucket = bucket(span);
        let count = self.place(bucket);
        *count = count.wrapping_add(1);
        if *count == 0 {
            self.carry(bucket as u32);
        }
        self.count += 1;
        (self.least, self.most) = (self.least.min(span), self.most.max(span));
    }

    /// The count of a bucket, which there is from now on.
    #[inline]
    fn place(&mut self, bucket: usize) -> &mut u16 {
        if bucket.wrapping_sub(self.first) >= self.counts.len() {
            self.widen(bucket);
        }
        &mut self.counts[bucket - self.first]
    }

    /// Makes room for a bucket, and some beside it: delays creep up, and on.
    #[cold]
    fn widen(&mut self, bucket: usize) {
        const MORE: usize = PER_DOUBLING as usize / 2;
        let old =
            if self.counts.is_empty() { bucket..bucket } else { self.first..self.first + self.counts.len() };
        let from = if bucket < old.start { bucket.saturating_sub(MORE) } else { old.start };
        let to = if bucket < old.end { old.end } else { bucket + MORE };
        let mut counts = vec![0; to - from];
        counts[old.start - from..old.end - from].copy_from_slice(&self.counts);
        (self.counts, self.first) = (counts, from);
    }

    /// The lower bits of a bucket's count have overflowed.
    #[cold]
    fn carry(&mut self, bucket: u32) {
        match self.carries.binary_search_by_key(&bucket, |carry| carry.0) {
            Ok(place) => self.carries[place].1 += 1,
            Err(place) => self.carries.insert(place, (bucket, 1)),
        }
    }

    /// The whole count of the bucket at a place of `counts`.
    fn total(&self, place: usize) -> u64 {
        let bucket = (self.first + place) as u32;
        let carried =
            self.carries.binary_search_by_key(&bucket, |carry| carry.0).map(|at| self.carries[at].1);
        u64::from(carried.unwrap_or(0)) << u16::BITS | u64::from(self.counts[place])
    }

    /// Spans counted.
    #[must_use]
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// The span that at least a share `quantile` (0 to 1) of all does not exceed (nearest rank), to the resolution;
    /// `None` before the first.
    #[must_use]
    pub fn quantile(&self, quantile: f64) -> Option<Span> {
        if self.count == 0 {
            return None;
        }
        let wanted = quantile * self.count as f64;
        let mut seen = 0;
        let bucket = (0..self.counts.len()).position(|place| {
            let n = self.total(place);
            seen += n;
            n > 0 && seen as f64 >= wanted
        });
        // A share beyond all of them: the longest.
        Some(bucket.map_or(self.most, |place| middle(self.first + place)).clamp(self.least, self.most))
    }
}

/// The bucket of a span: its finest buckets by number, or the highest seven bits of that and how far up they stand.
fn bucket(span: Span) -> usize {
    let fine = span.as_nanos() / FINEST;
    let shift = (fine | 1).ilog2().saturating_sub(PER_DOUBLING.ilog2());
    (u64::from(shift) * PER_DOUBLING + (fine >> shift)) as usize
}

/// The middle of a bucket.
fn middle(bucket: usize) -> Span {
    let bucket = bucket as u64;
    let shift = (bucket / PER_DOUBLING).saturating_sub(1);
    let from = ((bucket - shift * PER_DOUBLING) << shift) * FINEST;
    Span::from_nanos(from + (FINEST << shift) / 2)
}

/// A quantile of few spans, exactly: what [`Quantiles`] comes near.
#[cfg(test)]
fn nearest_rank(spans: &mut [Span], quantile: f64) -> Option<Span> {
    spans.sort_unstable();
    let rank = (quantile * spans.len() as f64).ceil().max(1.0) as usize;
    spans.get(rank - 1).copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn nothing_has_no_quantile_and_one_is_every_quantile() {
        let mut one = Quantiles::default();
        assert_eq!((one.quantile(0.5), one.count()), (None, 0));
        one.record(Span::from_micros(12_345));
        for quantile in [0.0, 0.5, 1.0] {
            assert_eq!(one.quantile(quantile), Some(Span::from_micros(12_345)), "exact, by the extremes");
        }
    }

    #[test]
    fn a_bucket_holds_what_falls_into_it() {
        for bucket_number in 0..3_000 {
            assert_eq!(bucket(middle(bucket_number)), bucket_number);
        }
        let hour = bucket(Span::from_secs(3600)) * size_of::<u16>();
        assert!(hour < 5_000, "{hour} bytes");
    }

    #[test]
    fn counts_of_more_than_16_bits_weigh_what_they_are() {
        let spans =
            [(10, 70_000), (20, 200_000), (15, 65_536), (30, 100)].map(|(ms, n)| (Span::from_millis(ms), n));
        let mut counted = Quantiles::default();
        for (span, n) in spans {
            (0..n).for_each(|_| counted.record(span));
        }
        let of = |rank: u32| counted.quantile(f64::from(rank) / 335_636.0).unwrap().as_secs_f64() * 1e3;
        for (rank, ms) in [
            (70_000, 10.0),
            (70_001, 15.0),
            (135_536, 15.0),
            (135_537, 20.0),
            (335_536, 20.0),
            (335_537, 30.0),
        ] {
            assert!(
                (of(rank) / ms - 1.0).abs() < 1.0 / 128.0,
                "{} ms for the {rank}th, {ms} asked",
                of(rank)
            );
        }
    }

    proptest! {
        #[test]
        fn a_quantile_is_within_its_resolution(
            spans in proptest::collection::vec((0..40u32, 0..1u64 << 20), 1..300),
            quantile in 0.0..=1.0f64,
        ) {
            let mut spans: Vec<_> =
                spans.into_iter().map(|(shift, n)| Span::from_nanos(n << shift >> 12)).collect();
            let mut counted = Quantiles::default();
            spans.iter().for_each(|span| counted.record(*span));
            let exact = nearest_rank(&mut spans, quantile).unwrap().as_nanos() as f64;
            let got = counted.quantile(quantile).unwrap().as_nanos() as f64;
            prop_assert!((got - exact).abs() <= (exact / 128.0).max(8.0), "{got} for {exact}");
            prop_assert_eq!(counted.count(), spans.len() as u64);
        }
    }
}
