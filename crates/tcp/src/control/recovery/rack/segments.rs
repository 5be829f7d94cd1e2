//! The segments on their way: for each, when it left last, whether it arrived, and whether it is taken as lost (RFC 8985,
//! section 5.1).

use crate::control::recovery::Lost;
use crate::sacked::Sacked;
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::ops::Range;
use meshpace_units::Instant;

/// A segment that is not acknowledged, `[start, end)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sent {
    pub(super) start: u64,
    pub(super) end: u64,
    /// Its latest departure.
    pub(super) at: Instant,
    /// It left more than once.
    pub(super) resent: bool,
    /// The peer has it.
    pub(super) arrived: bool,
    /// It is taken as lost, and waits to be sent again.
    pub(super) lost: bool,
    /// It was taken to be sent again and has not left yet: its time is that of the departure before.
    pub(super) waits: bool,
}

/// Bytes that are newly known to have arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Arrived {
    pub(super) all: u64,
    /// Of these, above what is acknowledged.
    pub(super) selectively: u64,
}

impl Sent {
    const fn new(start: u64, end: u64, at: Instant) -> Self {
        Self { start, end, at, resent: false, arrived: false, lost: false, waits: false }
    }

    pub(super) const fn length(&self) -> u64 {
        self.end - self.start
    }
}

/// The segments, in order, without gaps.
#[derive(Clone, Debug, Default)]
pub(super) struct Segments {
    sent: VecDeque<Sent>,
    sacked: Sacked,
    /// Bytes that are neither acknowledged, nor at the peer, nor lost.
    in_flight: u64,
    /// Bytes that are lost and wait to be sent again.
    lost: u64,
    /// Segments at the peer.
    arrived: u32,
    /// Bytes ever found lost.
    found: u64,
    /// Segments found lost that the control has not been told of.
    news: Vec<Lost>,
}

impl Segments {
    /// Bytes that are thought to be on their way.
    pub(super) const fn in_flight(&self) -> u64 {
        self.in_flight
    }

    /// Bytes that are lost and wait to be sent again.
    pub(super) const fn lost(&self) -> u64 {
        self.lost
    }

    /// Bytes found lost since the connection began, each time they were.
    pub(super) const fn found(&self) -> u64 {
        self.found
    }

    /// Segments that the peer reports to have.
    pub(super) const fn arrived(&self) -> u32 {
        self.arrived
    }

    /// Segments that were sent again and are on their way (Linux's `retrans_out`).
    pub(super) fn resent(&self) -> u32 {
        self.sent.iter().filter(|sent| sent.resent && !sent.arrived && !sent.lost && !sent.waits).count()
            as u32
    }

    /// Bytes outstanding, whether they have arrived or not.
    pub(super) fn outstanding(&self) -> u64 {
        self.sent.back().map_or(0, |last| last.end - self.sent[0].start)
    }

    /// How many segments are outstanding.
    pub(super) fn count(&self) -> usize {
        self.sent.len()
    }

    /// Positions `[start, end)` leave at `now`.
    pub(super) fn on_departure(&mut self, now: Instant, start: u64, end: u64) {
        let known = self.sent.back().map_or(self.sacked.una().max(1), |last| last.end);
        if start > known {
            // What is between was let out and never left: the queue of a pacing part was emptied.
            self.push(Sent::new(known, start, now));
            self.change(known..start, |sent| sent.lost = true);
        }
        if start < known {
            self.split(start);
            self.split(end);
            self.change(start..end, |sent| {
                if !sent.arrived {
                    (sent.at, sent.resent, sent.lost, sent.waits) = (now, true, false, false);
                }
            });
        }
        if end > known {
            self.push(Sent::new(start.max(known), end, now));
        }
    }

    fn push(&mut self, sent: Sent) {
        self.sent.push_back(sent);
        self.in_flight += sent.length();
        self.sacked.on_sent(sent.end);
    }

    /// Positions `[start, end)` were taken to be sent again, and will leave.
    pub(super) fn on_taken(&mut self, taken: Range<u64>) {
        self.split(taken.start);
        self.split(taken.end);
        self.change(taken, |sent| {
            if sent.lost {
                (sent.lost, sent.waits) = (false, true);
            }
        });
    }

    /// Everything before `una` is acknowledged, and the peer reports `blocks`; `newly` gets each segment that is now known to
    /// have arrived, from left to right whatever the order of the blocks, as section 6.2 goes through them.
    pub(super) fn on_ack(
        &mut self,
        una: u64,
        blocks: impl IntoIterator<Item = (u64, u64)>,
        mut newly: impl FnMut(&Sent),
    ) -> Arrived {
        let mut delivered = 0;
        while let Some(&first) = self.sent.front().filter(|sent| sent.start < una) {
            self.uncount(&first);
            if first.end > una {
                // A part of it: other boundaries than those it was sent with.
                self.sent[0].start = una;
                let rest = self.sent[0];
                self.count_again(&rest);
                delivered += if first.arrived { 0 } else { una - first.start };
                break;
            }
            self.sent.pop_front();
            if !first.arrived {
                delivered += first.length();
                newly(&first);
            }
        }
        let in_order = delivered;
        let mut sacked = core::mem::take(&mut self.sacked);
        for (from, to) in sacked.news(una, blocks) {
            self.change(from..to, |sent| {
                if !sent.arrived && sacked.missing(sent.start, sent.end) == 0 {
                    delivered += sent.length();
                    newly(sent);
                    (sent.arrived, sent.lost, sent.waits) = (true, false, false);
                }
            });
        }
        self.sacked = sacked;
        Arrived { all: delivered, selectively: delivered - in_order }
    }

    /// The first part of `range` that the peer is not known to have; empty if it has all of it.
    pub(super) fn missing(&self, range: Range<u64>) -> Range<u64> {
        let gap = self.sacked.ranges().gaps(range.start, range.end).next();
        gap.map_or(range.end..range.end, |(start, end)| start..end)
    }

    /// Takes as lost those in flight of which `lost` says so.
    pub(super) fn mark_lost(&mut self, mut lost: impl FnMut(&Sent) -> bool) {
        let mut found = 0;
        let mut news = core::mem::take(&mut self.news);
        self.change(0..u64::MAX, |sent| {
            let waits = sent.arrived || sent.lost || sent.waits;
            if !waits && lost(sent) {
                sent.lost = true;
                found += sent.length();
                news.push(Lost { start: sent.start, end: sent.end, sent: sent.at });
            }
        });
        self.found += found;
        self.news = news;
    }

    /// Segments found lost since this was last asked.
    pub(super) fn take_lost(&mut self) -> Vec<Lost> {
        core::mem::take(&mut self.news)
    }

    /// None is lost after all.
    pub(super) fn mark_none_lost(&mut self) {
        self.change(0..u64::MAX, |sent| sent.lost = false);
    }

    /// Segments that were to be sent again and have not left are forgotten. The peer may have discarded what it reported if
    /// the first outstanding segment is one of those (RFC 2018, section 8).
    pub(super) fn on_timeout(&mut self) {
        let reneged = self.sent.front().is_some_and(|first| first.arrived);
        if reneged {
            self.sacked.clear();
        }
        self.change(0..u64::MAX, |sent| {
            sent.lost |= sent.waits;
            sent.waits = false;
            sent.arrived &= !reneged;
        });
    }

    /// The first segment that is lost.
    pub(super) fn first_lost(&self) -> Option<&Sent> {
        if self.lost == 0 { None } else { self.sent.iter().find(|sent| sent.lost) }
    }

    /// The first of all.
    pub(super) fn first(&self) -> Option<&Sent> {
        self.sent.front()
    }

    /// The last one of all.
    pub(super) fn last(&self) -> Option<&Sent> {
        self.sent.back()
    }

    /// Makes `position` the beginning of a segment, if it is within one.
    fn split(&mut self, position: u64) {
        let index = self.sent.partition_point(|sent| sent.end <= position);
        if let Some(sent) = self.sent.get_mut(index).filter(|sent| sent.start < position) {
            let first = Sent { end: position, ..*sent };
            sent.start = position;
            self.arrived += u32::from(first.arrived);
            self.sent.insert(index, first);
        }
    }

    /// Changes the segments that overlap `range`; the counts follow.
    fn change(&mut self, range: Range<u64>, mut act: impl FnMut(&mut Sent)) {
        let mut index = self.sent.partition_point(|sent| sent.end <= range.start);
        while let Some(&before) = self.sent.get(index).filter(|sent| sent.start < range.end) {
            act(&mut self.sent[index]);
            let after = self.sent[index];
            if before != after {
                self.uncount(&before);
                self.count_again(&after);
            }
            index += 1;
        }
    }

    fn uncount(&mut self, sent: &Sent) {
        self.arrived -= u32::from(sent.arrived);
        if sent.lost {
            self.lost -= sent.length();
        } else if !sent.arrived {
            self.in_flight -= sent.length();
        }
    }

    fn count_again(&mut self, sent: &Sent) {
        self.arrived += u32::from(sent.arrived);
        if sent.lost {
            self.lost += sent.length();
        } else if !sent.arrived {
            self.in_flight += sent.length();
        }
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

    #[test]
    fn a_segment_counts_when_all_of_it_has_arrived() {
        let mut segments = Segments::default();
        (0..3).for_each(|n| segments.on_departure(ms(n), 1 + 10 * n, 11 + 10 * n));
        assert_eq!(segments.on_ack(1, [(15, 21)], |_| panic!("half of it")).all, 0);
        let mut told = Vec::new();
        assert_eq!(segments.on_ack(1, [(11, 15)], |sent| told.push(sent.start)).all, 10);
        assert_eq!((told, segments.in_flight(), segments.arrived()), (alloc::vec![11], 20, 1));
    }

    #[test]
    fn several_gaps_that_one_acknowledgement_fills_are_told_in_the_order_of_the_stream() {
        let mut segments = Segments::default();
        (0..8).for_each(|n| segments.on_departure(ms(n), 1 + 10 * n, 11 + 10 * n));
        // The first block is the newest (RFC 2018, section 4).
        let mut told = Vec::new();
        let blocks = [(61, 71), (21, 31), (41, 51)];
        segments.on_ack(1, blocks, |sent| told.push(sent.start));
        assert_eq!(told, [21, 41, 61]);
    }

    #[test]
    fn what_was_passed_over_is_lost() {
        let mut segments = Segments::default();
        segments.on_departure(ms(0), 1, 11);
        segments.on_departure(ms(1), 21, 31);
        assert_eq!((segments.lost(), segments.in_flight()), (10, 20));
        assert_eq!(segments.first_lost().map(|sent| sent.start..sent.end), Some(11..21));
    }

    #[test]
    fn what_leaves_again_with_other_boundaries_is_split() {
        let mut segments = Segments::default();
        (0..2).for_each(|n| segments.on_departure(ms(n), 1 + 10 * n, 11 + 10 * n));
        segments.mark_lost(|_| true);
        assert_eq!((segments.lost(), segments.in_flight()), (20, 0));
        segments.on_taken(1..7);
        segments.on_departure(ms(9), 1, 7);
        assert_eq!(segments.first_lost().map(|sent| sent.start..sent.end), Some(7..11));
        assert_eq!((segments.lost(), segments.in_flight()), (14, 6));
        assert_eq!(segments.resent(), 1);
        segments.mark_lost(|_| true);
        assert_eq!(segments.resent(), 0, "it is lost, too");
    }

    #[test]
    fn what_was_taken_and_never_left_is_lost_at_a_timeout() {
        let mut segments = Segments::default();
        segments.on_departure(ms(0), 1, 11);
        segments.mark_lost(|_| true);
        segments.on_taken(1..11);
        assert_eq!((segments.lost(), segments.in_flight()), (0, 10));
        segments.mark_lost(|_| true);
        assert_eq!(segments.lost(), 0, "it has yet to leave");
        segments.on_timeout();
        assert_eq!((segments.lost(), segments.in_flight()), (10, 0));
    }

    #[test]
    fn a_peer_that_discards_what_it_reported_has_nothing_any_more() {
        let mut segments = Segments::default();
        (0..3).for_each(|n| segments.on_departure(ms(n), 1 + 10 * n, 11 + 10 * n));
        segments.on_ack(1, [(11, 31)], |_| {});
        segments.on_ack(11, [], |_| {}); // and not 31
        segments.on_timeout();
        assert_eq!((segments.arrived(), segments.in_flight()), (0, 20));
        assert_eq!(segments.on_ack(11, [(21, 31)], |_| {}).selectively, 10, "reported anew");
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

        /// Whatever happens, the counts are those of the segments, and each byte is delivered once.
        #[test]
        fn counts_are_sums(steps in proptest::collection::vec((0u8..7, 0u64..60, 1u64..20), 1..120)) {
            let mut segments = Segments::default();
            let (mut una, mut max, mut delivered) = (1u64, 1u64, 0);
            for (n, (kind, place, length)) in steps.into_iter().enumerate() {
                let now = ms(n as u64);
                let start = (una + place).min(max);
                match kind {
                    0 | 1 => {
                        segments.on_departure(now, max, max + length);
                        max += length;
                    }
                    2 if una < max => segments.on_departure(now, start.min(max - 1), (start + length).min(max)),
                    3 => {
                        una = (una + place / 4).min(max);
                        delivered += segments.on_ack(una, [(una + length, una + length + place)], |_| {}).all;
                    }
                    4 => segments.mark_lost(|sent| sent.start % 3 == place % 3),
                    5 => segments.on_taken(start..start + length),
                    _ => segments.on_timeout(),
                }
                let sum = |of: fn(&Sent) -> bool| segments.sent.iter().filter(|sent| of(sent)).map(Sent::length).sum::<u64>();
                prop_assert_eq!(segments.in_flight(), sum(|sent| !sent.arrived && !sent.lost));
                prop_assert_eq!(segments.lost(), sum(|sent| sent.lost));
                prop_assert_eq!(segments.arrived() as usize, segments.sent.iter().filter(|sent| sent.arrived).count());
                prop_assert_eq!(segments.outstanding(), max - una);
                prop_assert!(segments.sent.iter().all(|sent| sent.start < sent.end && !(sent.lost && sent.arrived)));
                prop_assert!(kind == 6 || delivered >= una - 1);
            }
        }
    }
}
