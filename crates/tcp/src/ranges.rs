//! Sets of positions: what arrived out of order here, and at the peer.

use alloc::vec::Vec;

/// Ranges kept at most; one that would need more room is not taken. Windows bound the bytes, this bounds the bookkeeping
/// against a peer that sends, or acknowledges, single bytes with gaps. The largest window of full segments in use
/// (RFC 7323's gibibyte apart) stays far below.
const RANGES_MAX: usize = 4096;

/// Disjoint ranges `[start, end)`, ascending, never touching.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ranges {
    ranges: Vec<(u64, u64)>,
}

impl Ranges {
    pub(crate) fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// The end of the last range.
    pub(crate) fn end(&self) -> Option<u64> {
        self.ranges.last().map(|&(_, end)| end)
    }

    /// How many positions are in ranges.
    pub(crate) fn total(&self) -> u64 {
        self.ranges.iter().map(|&(start, end)| end - start).sum()
    }

    /// The ranges, the last one first.
    pub(crate) fn backwards(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.ranges.iter().rev().copied()
    }

    /// The parts of `[start, end)` that are in no range.
    pub(crate) fn gaps(&self, start: u64, end: u64) -> impl Iterator<Item = (u64, u64)> + '_ {
        let first = self.ranges.partition_point(|&(_, range_end)| range_end <= start);
        let rest =
            self.ranges[first..].iter().copied().take_while(move |&(range_start, _)| range_start < end);
        // Each gap ends where a range begins, the last one at `end`.
        let mut from = start;
        rest.chain([(end, end)]).filter_map(move |(range_start, range_end)| {
            let gap = (from, range_start);
            from = range_end;
            (gap.0 < gap.1).then_some(gap)
        })
    }

    /// The first position from `from` on that is in no range, and where the next range begins.
    pub(crate) fn gap_from(&self, from: u64) -> (u64, Option<u64>) {
        let next = self.ranges.partition_point(|&(_, end)| end <= from);
        match self.ranges.get(next) {
            Some(&(start, end)) if start <= from => (end, self.ranges.get(next + 1).map(|&(start, _)| start)),
            Some(&(start, _)) => (from, Some(start)),
            None => (from, None),
        }
    }

    /// How many positions of `[start, end)` are in ranges.
    pub(crate) fn covered(&self, start: u64, end: u64) -> u64 {
        let missing: u64 = self.gaps(start, end).map(|(from, to)| to - from).sum();
        end.saturating_sub(start) - missing
    }

    /// The range that `position` is in.
    pub(crate) fn containing(&self, position: u64) -> Option<(u64, u64)> {
        let first = self.ranges.partition_point(|&(_, end)| end <= position);
        self.ranges.get(first).copied().filter(|&(start, _)| start <= position)
    }

    /// True if [`insert`](Self::insert) would take `[start, end)`.
    pub(crate) fn has_room(&self, start: u64, end: u64) -> bool {
        let first = self.ranges.partition_point(|&(_, range_end)| range_end < start);
        self.ranges.len() < RANGES_MAX || self.ranges.get(first).is_some_and(|&(begin, _)| begin <= end)
    }

    /// Adds `[start, end)`; true unless there is no room.
    pub(crate) fn insert(&mut self, start: u64, end: u64) -> bool {
        // Ranges [first, last) overlap or touch the new one.
        let first = self.ranges.partition_point(|&(_, range_end)| range_end < start);
        let last = self.ranges.partition_point(|&(range_start, _)| range_start <= end);
        if first == last {
            if self.ranges.len() >= RANGES_MAX {
                return false;
            }
            self.ranges.insert(first, (start, end));
            return true;
        }
        let (low, high) = (self.ranges[first].0, self.ranges[last - 1].1);
        self.ranges[first] = (low.min(start), high.max(end));
        self.ranges.drain(first + 1..last);
        true
    }

    /// Drops every range that begins at or before `position`, up to which nothing is missing, and says up to where nothing
    /// is missing then.
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
        let mut ranges = Ranges::default();
        for n in 0..RANGES_MAX as u64 {
            assert!(ranges.insert(2 * n, 2 * n + 1));
        }
        assert!(!ranges.insert(u64::from(u32::MAX), u64::from(u32::MAX) + 1));
        assert!(ranges.insert(1, 2), "a range that joins others needs no room");
    }

    proptest! {
        #[test]
        fn agrees_with_a_bitmap(steps in proptest::collection::vec((1u64..120, 1u64..20, any::<bool>()), 1..80)) {
            let (mut ranges, mut bitmap, mut next) = (Ranges::default(), [false; 2048], 0u64);
            for (start, length, advance) in steps {
                let start = start.max(next + 1);
                let end = start + length;
                let missing: Vec<u64> = (start..end).filter(|&n| !bitmap[n as usize]).collect();
                let gaps: Vec<u64> = ranges.gaps(start, end).flat_map(|(from, to)| from..to).collect();
                prop_assert_eq!(ranges.covered(start, end), length - missing.len() as u64);
                prop_assert_eq!(gaps, missing);
                bitmap[start as usize..end as usize].fill(true);
                prop_assert!(ranges.insert(start, end));
                if advance {
                    bitmap[next as usize] = true;
                    let expected = bitmap.iter().position(|&there| !there).unwrap() as u64;
                    next = ranges.advance(next + 1);
                    prop_assert_eq!(next, expected);
                }
                for pair in ranges.ranges.windows(2) {
                    prop_assert!(pair[0].1 < pair[1].0, "{:?}", ranges.ranges);
                }
            }
        }
    }
}
