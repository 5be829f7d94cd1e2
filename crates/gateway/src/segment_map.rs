//! When the segments of one direction passed the gateway.

use alloc::collections::BTreeMap;
use meshpace_units::{Instant, Seq, Span};

/// How far ahead of the acknowledged data a segment can plausibly lie: the largest window that TCP can announce
/// (RFC 7323, section 2.3). Anything farther is not recorded, so that sequence order never becomes ambiguous.
const WINDOW_MAX: u32 = 1 << 30;

/// How long a segment is kept that is not acknowledged: the least bound that RFC 6298 (2.5) allows for a retransmission
/// timer.
pub(crate) const UNACKED_MAX: Span = Span::from_secs(60);

/// A segment that passed and is not yet acknowledged.
#[derive(Clone, Debug)]
pub(crate) struct Passed<T> {
    pub start: Seq,
    pub end: Seq,
    /// T1: the time of the latest passage.
    pub at: Instant,
    /// Its first passage.
    since: Instant,
    /// Passed more than once, so that an acknowledgement tells no round trip (Karn's rule, schemes.md 1.3).
    pub again: bool,
    /// The value kept beside the segment (the cached packet, or nothing).
    pub keep: T,
}

/// A place in the byte stream, without the wrap of sequence numbers.
type Position = u64;
/// The position of the first segment seen: what lies below it has one too.
const FIRST: Position = 1 << 32;

/// The segments of one direction between the cumulative acknowledgement and the highest sequence number that passed,
/// by byte ranges modulo 2^32, in order of sequence. All but handing out many entries takes time by the logarithm of how
/// many there are: gaps are filled, and ranges cut otherwise, as often as a sender likes.
#[derive(Clone, Debug)]
pub(crate) struct SegmentMap<T> {
    /// By the position where they start. They do not overlap.
    entries: BTreeMap<Position, Passed<T>>,
    /// The cumulative acknowledgement, and its position.
    una: Seq,
    una_at: Position,
    /// The end of the highest segment that passed.
    end: Seq,
    /// Below it something passed that is not recorded, so that what passes there may be a second passage.
    unknown_below: Seq,
}

/// What an acknowledgement covered.
#[derive(Debug)]
pub(crate) struct Covered {
    /// The first byte newly acknowledged.
    pub from: Seq,
    /// Bytes newly acknowledged.
    pub bytes: u32,
    /// Entries wholly covered.
    pub entries: usize,
}

/// How [`SegmentMap::record`] took a segment.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Recorded<T> {
    /// As a new entry.
    New,
    /// As a passage of an entry known; this is what was kept for it before.
    Again(T),
    /// Not at all: already acknowledged, implausible or in parts other than before.
    Not,
}

impl<T> SegmentMap<T> {
    /// A map that starts with the segment at `start`, seen first.
    pub const fn new(start: Seq) -> Self {
        Self { entries: BTreeMap::new(), una: start, una_at: FIRST, end: start, unknown_below: start }
    }

    /// The position of a number at most 2^31 away from the acknowledgement.
    const fn position(&self, seq: Seq) -> Position {
        let distance = seq.0.wrapping_sub(self.una.0) as i32;
        self.una_at.wrapping_add_signed(distance as i64)
    }

    /// Where the first entry starts that ends after `at`; if there is none, where it could.
    fn first_ending_after(&self, at: Position) -> Position {
        let before = self.entries.range(..=at).next_back();
        before.filter(|(_, entry)| self.position(entry.end) > at).map_or(at, |(&start, _)| start)
    }

    pub fn len(&self) -> usize {
        self.entries.len()
    }

    pub const fn una(&self) -> Seq {
        self.una
    }

    /// The end of the highest segment that passed.
    pub const fn end(&self) -> Seq {
        self.end
    }

    /// Up to there all has passed, some of it unseen.
    pub fn passed_unseen(&mut self, end: Seq) {
        if end.after(self.end) && end.since(self.una) <= WINDOW_MAX {
            self.end = end;
            self.unknown_below = self.unknown_below.later(end);
        }
    }

    /// True if something passed that is not acknowledged.
    pub fn outstanding(&self) -> bool {
        self.end.after(self.una)
    }

    /// Notes the passage of `[start, end)` at `at`, keeping `keep` with it, if it can be (`room` for another entry).
    pub fn record(&mut self, start: Seq, end: Seq, at: Instant, room: bool, keep: T) -> Recorded<T> {
        if end.at_or_before(self.una) || end.since(self.una) > WINDOW_MAX {
            return Recorded::Not;
        }
        let fresh = start.at_or_after(self.end);
        self.end = self.end.later(end);
        // It may have passed before without an entry: then it is timed by nothing (Karn's rule).
        let entry = Passed { start, end, at, since: at, again: start.before(self.unknown_below), keep };
        let (from, to) = (self.position(start), self.position(end));
        if fresh {
            if !room {
                self.unknown_below = end;
                return Recorded::Not;
            }
            self.entries.insert(from, entry);
            return Recorded::New;
        }
        if let Some(known) = self.entries.get_mut(&from).filter(|e| e.end == end) {
            known.at = at;
            known.again = true;
            return Recorded::Again(core::mem::replace(&mut known.keep, entry.keep));
        }
        let mut overlaps = false;
        let first = self.first_ending_after(from);
        for (_, e) in self.entries.range_mut(first..to) {
            e.again = true;
            overlaps = true;
        }
        if overlaps || !room {
            self.unknown_below = self.unknown_below.later(end);
            return Recorded::Not;
        }
        // It fills a gap: it passes here for the first time, whatever its sender did before.
        self.entries.insert(from, entry);
        Recorded::New
    }

    /// Takes the cumulative acknowledgement `ack`, and hands out the entries that it covers wholly, in order of sequence.
    /// `None` if it acknowledges nothing new, or data that never passed (an optimistic ACK must not create samples).
    pub fn acknowledge(&mut self, ack: Seq, mut each: impl FnMut(Passed<T>)) -> Option<Covered> {
        if !ack.after(self.una) || ack.after(self.end) {
            return None;
        }
        let (from, bytes, to) = (self.una, ack.since(self.una), self.position(ack));
        let mut entries = 0;
        while let Some(first) = self.entries.first_entry().filter(|first| first.get().end.at_or_before(ack)) {
            entries += 1;
            each(first.remove());
        }
        self.rest();
        (self.una, self.una_at) = (ack, to);
        self.unknown_below = self.unknown_below.later(ack); // its order never flips
        Some(Covered { from, bytes, entries })
    }

    /// Takes out the first entry if it has waited for its acknowledgement longer than `most`.
    pub fn pop_older_than(&mut self, now: Instant, most: Span) -> Option<Passed<T>> {
        let first = self.entries.first_entry()?;
        if now.saturating_since(first.get().since) <= most {
            return None;
        }
        let old = first.remove();
        self.rest();
        self.unknown_below = self.unknown_below.later(old.end);
        Some(old)
    }

    /// Gives the memory of an empty map back. It keeps a node with room for eleven segments, most of what a connection takes; of many
    /// connections few have data on their way at a time.
    fn rest(&mut self) {
        if self.entries.is_empty() {
            self.entries = BTreeMap::new();
        }
    }

    /// What passed behind `start`, up to `end`, leaves only now.
    pub fn leaves(&mut self, start: Seq, end: Seq, now: Instant) {
        let leaving = self.ending_after(start).take_while(|entry| entry.end.at_or_before(end));
        leaving.for_each(|entry| entry.at = entry.at.max(now));
    }

    /// The entry that holds the byte at `seq`.
    pub fn holding(&mut self, seq: Seq) -> Option<&mut Passed<T>> {
        let at = self.position(seq);
        let (_, entry) = self.entries.range_mut(..=at).next_back()?;
        (entry.end.after(seq)).then_some(entry)
    }

    /// The entries that end after `from`, in order of sequence: first the one that holds the byte at `from` (a
    /// part of it may be acknowledged), then those behind it.
    pub fn ending_after(&mut self, from: Seq) -> impl Iterator<Item = &mut Passed<T>> {
        let first = self.first_ending_after(self.position(from));
        self.entries.range_mut(first..).map(|(_, entry)| entry)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;
    use meshpace_units::Span;
    use proptest::prelude::*;

    fn ms(n: u64) -> Instant {
        Instant::ZERO + Span::from_millis(n)
    }

    /// Segments of 100 bytes from just below the wrap.
    fn seg(n: u32) -> (Seq, Seq) {
        let start = Seq(u32::MAX - 149) + 100 * n;
        (start, start + 100)
    }

    fn map_of(n: u32) -> SegmentMap<()> {
        let mut map = SegmentMap::new(seg(0).0);
        for i in 0..n {
            assert_eq!(map.record(seg(i).0, seg(i).1, ms(u64::from(i)), true, ()), Recorded::New);
        }
        map
    }

    /// Bytes and entries that an acknowledgement covers.
    fn covers(map: &mut SegmentMap<()>, ack: Seq) -> Option<(u32, usize)> {
        map.acknowledge(ack, |_| {}).map(|covered| (covered.bytes, covered.entries))
    }

    #[test]
    fn an_acknowledgement_across_the_wrap_covers_what_it_names() {
        let mut map = map_of(5);
        assert_eq!(covers(&mut map, seg(2).1), Some((300, 3)));
        assert_eq!(covers(&mut map, seg(2).1), None, "nothing new");
        assert_eq!(covers(&mut map, seg(0).1), None, "old");
        assert_eq!(covers(&mut map, seg(5).1), None, "optimistic: segment 5 never passed");
        assert!(map.outstanding());
        assert_eq!(covers(&mut map, seg(3).0 + 50), Some((50, 0)), "half a segment");
        assert_eq!(covers(&mut map, seg(4).1), Some((150, 2)));
        assert!(!map.outstanding());
    }

    #[test]
    fn a_second_passage_is_marked_and_re_timed() {
        let mut map = map_of(3);
        assert_eq!(map.record(seg(1).0, seg(1).1, ms(50), true, ()), Recorded::Again(()));
        let mut passed = Vec::new();
        map.acknowledge(seg(2).1, |e| passed.push((e.at, e.again)));
        assert_eq!(passed, [(ms(0), false), (ms(50), true), (ms(2), false)]);
    }

    #[test]
    fn a_gap_is_filled_in_order_and_a_different_cut_only_marks() {
        let mut map = SegmentMap::new(seg(0).0);
        for i in [0, 2] {
            map.record(seg(i).0, seg(i).1, ms(u64::from(i)), true, ());
        }
        assert_eq!(map.record(seg(1).0, seg(1).1, ms(9), true, ()), Recorded::New);
        assert_eq!(map.record(seg(0).0 + 50, seg(1).0 + 50, ms(10), true, ()), Recorded::Not);
        let mut again = Vec::new();
        map.acknowledge(seg(2).1, |e| again.push(e.again));
        assert_eq!(again, [true, true, false]);
    }

    #[test]
    fn the_implausible_and_the_old_are_not_recorded() {
        let mut map = map_of(1);
        let far = seg(0).0 + ((1 << 31) - 5);
        assert_eq!(map.record(far, far + 100, ms(1), true, ()), Recorded::Not);
        assert_eq!(map.record(seg(0).0 + u32::MAX, seg(0).0, ms(1), true, ()), Recorded::Not);
        assert_eq!(map.acknowledge(seg(0).1, |_| {}).unwrap().bytes, 100, "the end did not move");
    }

    #[test]
    fn without_room_the_end_still_moves() {
        let mut map = map_of(1);
        assert_eq!(map.record(seg(1).0, seg(1).1, ms(1), false, ()), Recorded::Not);
        assert_eq!(covers(&mut map, seg(1).1), Some((200, 1)));
    }

    proptest! {
        /// Whatever passes and is acknowledged, entries stay in order, apart, and within (una, end].
        #[test]
        fn entries_stay_ordered(start: u32, steps in proptest::collection::vec((0u32..3_000, 1u32..400, any::<bool>()), 1..120)) {
            let base = Seq(start);
            let mut map = SegmentMap::new(base);
            for (at, (offset, len, is_ack)) in (0..).zip(steps) {
                if is_ack {
                    map.acknowledge(base + offset, |_| {});
                } else {
                    map.record(base + offset, base + offset + len, ms(at), true, ());
                }
                let (una, end) = (map.una(), map.end);
                let mut previous = None;
                for (&start, entry) in &map.entries {
                    prop_assert_eq!(start, map.position(entry.start));
                    prop_assert!(entry.start.before(entry.end) && entry.end.at_or_before(end));
                    // An acknowledgement may have cut the first entry; the others follow one another.
                    match previous {
                        None => prop_assert!(entry.end.after(una)),
                        Some(previous) => prop_assert!(entry.start.at_or_after(previous)),
                    }
                    previous = Some(entry.end);
                }
            }
        }
    }
}
