//! What arrived out of order.

use alloc::vec::Vec;

/// Ranges kept at most; a segment that would add one more is not accepted. The window bounds the bytes, this bounds
/// the bookkeeping against a peer that sends single bytes with gaps. The largest window of full segments in use
/// (RFC 7323's gibibyte apart) stays far below.
const RANGES_MAX: usize = 4096;

/// Disjoint ranges `[start, end)` beyond the next expected position, ascending, never touching.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reassembly {
    ranges: Vec<(u64, u64)>,
}

impl Reassembly {
    pub(crate) fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// The end of the last range.
    pub(crate) fn end(&self) -> Option<u64> {
        self.ranges.last().map(|&(_, end)| end)
    }

    /// The range that `position` is in.
    pub(crate) fn containing(&self, position: u64) -> Option<(u64, u64)> {
        let first = self.ranges.partition_point(|&(_, end)| end <= position);
        self.ranges.get(first).copied().filter(|&(start, _)| start <= position)
    }

    /// Adds `[start, end)`. `None` if there is no room, else whether any of it is new.
    pub(crate) fn insert(&mut self, start: u64, end: u64) -> Option<bool> {
        // Ranges [first, last) overlap or touch the new one.
        let first = self.ranges.partition_point(|&(_, range_end)| range_end < start);
        let last = self.ranges.partition_point(|&(range_start, _)| range_start <= end);
        if first == last {
            if self.ranges.len() >= RANGES_MAX {
                return None;
            }
            self.ranges.insert(first, (start, end));
            return Some(true);
        }
        let (low, high) = (self.ranges[first].0, self.ranges[last - 1].1);
        if low <= start && end <= high && last - first == 1 {
            return Some(false);
        }
        self.ranges[first] = (low.min(start), high.max(end));
        self.ranges.drain(first + 1..last);
        Some(true)
    }

    /// Everything before `position` has arrived: the position up to which nothing is missing any more.
    pub(crate) fn advance(&mut self, position: u64) -> u64 {
        let mut position = position;
        let mut done = 0;
        for &(start, end) in &self.ranges {
            if start > position {
                break;
            }
            position = position.max(end);
            done += 1;
        }
        self.ranges.drain(..done);
        position
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn bookkeeping_is_bounded() {
        let mut reassembly = Reassembly::default();
        for n in 0..RANGES_MAX as u64 {
            assert_eq!(reassembly.insert(2 * n, 2 * n + 1), Some(true));
        }
        assert_eq!(reassembly.insert(u64::from(u32::MAX), u64::from(u32::MAX) + 1), None);
        assert_eq!(reassembly.insert(1, 2), Some(true), "a range that joins others needs no room");
    }

    proptest! {
        #[test]
        fn agrees_with_a_bitmap(steps in proptest::collection::vec((1u64..120, 1u64..20, any::<bool>()), 1..80)) {
            let (mut reassembly, mut bitmap, mut next) = (Reassembly::default(), [false; 2048], 0u64);
            for (start, length, advance) in steps {
                let start = start.max(next + 1);
                let end = start + length;
                let new = bitmap[start as usize..end as usize].iter().any(|&there| !there);
                bitmap[start as usize..end as usize].fill(true);
                prop_assert_eq!(reassembly.insert(start, end), Some(new));
                if advance {
                    bitmap[next as usize] = true;
                    let expected = bitmap.iter().position(|&there| !there).unwrap() as u64;
                    next = reassembly.advance(next + 1);
                    prop_assert_eq!(next, expected);
                }
                for pair in reassembly.ranges.windows(2) {
                    prop_assert!(pair[0].1 < pair[1].0, "{:?}", reassembly.ranges);
                }
            }
        }
    }
}
