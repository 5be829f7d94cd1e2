//! What is in flight: when each segment left, and whether it left more than once.

use crate::sacked::Sacked;
use alloc::collections::VecDeque;
use meshpace_units::{Instant, Span};

#[derive(Clone, Copy, Debug)]
struct Sent {
    end: u64,
    at: Instant,
    resent: bool,
    /// Selectively acknowledged.
    arrived: bool,
}

/// The segments in flight, oldest first, without gaps.
#[derive(Clone, Debug, Default)]
pub(crate) struct SentLog {
    start: u64,
    segments: VecDeque<Sent>,
    /// What the peer reports, where a control reads its reports ([`SentLog::report`]).
    sacked: Sacked,
}

/// Round trips that an acknowledgement of new data closes; `None` where the segment was sent more than once (Karn) or
/// no whole segment was covered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct RoundTrips {
    /// Of the oldest newly acknowledged segment.
    pub(crate) oldest: Option<Span>,
    /// Of the most recently sent one among them.
    pub(crate) newest: Option<Span>,
    /// Of the oldest one among them that had not been reported before; nothing if any of them was sent more than once.
    pub(crate) unreported: Option<Span>,
    /// The same of the last one.
    pub(crate) unreported_last: Option<Span>,
}

/// What selective acknowledgements say of round trips.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reported {
    /// Of the first segment that is reported for the first time and was sent once.
    pub(crate) trip: Span,
    /// Of the last one.
    pub(crate) last: Span,
    /// The first left before the first segment that is missing left for the last time.
    pub(crate) before_first: bool,
}

impl SentLog {
    /// Positions `[start, end)` left at `now`.
    pub(crate) fn record(&mut self, now: Instant, start: u64, end: u64) {
        if self.segments.is_empty() {
            self.start = start;
        }
        let known_end = self.segments.back().map_or(start, |last| last.end);
        if start < known_end {
            let first = self.segments.partition_point(|sent| sent.end <= start);
            let mut from = if first == 0 { self.start } else { self.segments[first - 1].end };
            for sent in self.segments.range_mut(first..) {
                if from >= end {
                    break;
                }
                (sent.at, sent.resent) = (now, true);
                from = sent.end;
            }
        }
        if end > known_end {
            // A segment that starts with old bytes is as ambiguous as a retransmission.
            self.segments.push_back(Sent { end, at: now, resent: start < known_end, arrived: false });
            self.sacked.on_sent(end);
        }
    }

    /// Everything before `una` was acknowledged at `now`.
    pub(crate) fn acknowledge(&mut self, now: Instant, una: u64) -> RoundTrips {
        let round_trip = |sent: &Sent| (!sent.resent).then(|| now.saturating_since(sent.at));
        let (mut oldest, mut newest): (Option<Sent>, Option<Sent>) = (None, None);
        let (mut unreported, mut unreported_last): (Option<Sent>, Option<Sent>) = (None, None);
        let mut resent = false;
        while let Some(&sent) = self.segments.front().filter(|sent| sent.end <= una) {
            self.segments.pop_front();
            self.start = sent.end;
            oldest.get_or_insert(sent);
            if newest.is_none_or(|newest| sent.at >= newest.at) {
                newest = Some(sent);
            }
            resent |= sent.resent;
            if !sent.arrived {
                unreported.get_or_insert(sent);
                unreported_last = Some(sent);
            }
        }
        let if_once = |sent: Option<Sent>| sent.as_ref().filter(|_| !resent).and_then(round_trip);
        RoundTrips {
            oldest: oldest.as_ref().and_then(round_trip),
            newest: newest.as_ref().and_then(round_trip),
            unreported: if_once(unreported),
            unreported_last: if_once(unreported_last),
        }
    }

    /// Everything before `una` is acknowledged ([`acknowledge`](Self::acknowledge) was told) and the peer reports `blocks`, which
    /// came at `now` (Linux's tcp_sacktag_one and tcp_clean_rtx_queue).
    pub(crate) fn report(
        &mut self,
        now: Instant,
        una: u64,
        blocks: impl IntoIterator<Item = (u64, u64)>,
    ) -> Option<Reported> {
        let news = self.sacked.news(una, blocks);
        let (mut first, mut last): (Option<Sent>, Option<Sent>) = (None, None);
        for (from, to) in news {
            let index = self.segments.partition_point(|sent| sent.end <= from);
            let mut start = if index == 0 { self.start } else { self.segments[index - 1].end };
            for sent in self.segments.range_mut(index..) {
                if start >= to {
                    break;
                }
                if !sent.arrived && self.sacked.missing(start.max(una), sent.end) == 0 {
                    sent.arrived = true;
                    if !sent.resent {
                        first.get_or_insert(*sent);
                        last = Some(*sent);
                    }
                }
                start = sent.end;
            }
        }
        let head = self.segments.front()?.at;
        let trip = |sent: Sent| now.saturating_since(sent.at);
        let before_first = first?.at < head;
        Some(Reported { trip: trip(first?), last: trip(last?), before_first })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(n: u64) -> Instant {
        Instant::ZERO + Span::from_millis(n)
    }

    fn trips(oldest: Option<u64>, newest: Option<u64>) -> RoundTrips {
        let [oldest, newest] = [oldest, newest].map(|trip| trip.map(Span::from_millis));
        RoundTrips { oldest, newest, unreported: oldest, unreported_last: newest }
    }

    fn reported(trip: u64, last: u64, before_first: bool) -> Option<Reported> {
        let [trip, last] = [trip, last].map(Span::from_millis);
        Some(Reported { trip, last, before_first })
    }

    #[test]
    fn reports_are_round_trips_of_what_they_say_for_the_first_time() {
        let mut log = SentLog::default();
        (0..6).for_each(|n| log.record(ms(n), 1 + n * 10, 11 + n * 10));
        assert_eq!(log.report(ms(50), 1, [(21, 25)]), None, "half a segment");
        assert_eq!(
            log.report(ms(50), 1, [(41, 51), (21, 31)]),
            reported(48, 46, false),
            "the first in the stream, and the last"
        );
        assert_eq!(log.report(ms(51), 1, [(21, 31), (41, 51)]), None, "said before");
        // The first leaves again, after the fourth and the sixth had left.
        log.record(ms(52), 1, 11);
        assert_eq!(log.report(ms(53), 1, [(31, 41)]), reported(50, 50, true));
        // A segment that was sent twice gives no round trip, nor does one that is acknowledged together with
        // such a segment.
        assert_eq!(log.acknowledge(ms(60), 21), RoundTrips { newest: None, ..trips(None, None) });
        log.record(ms(61), 51, 61);
        assert_eq!(log.report(ms(70), 21, [(51, 61)]), None);
    }

    #[test]
    fn what_was_reported_before_it_is_acknowledged_is_no_round_trip() {
        let mut log = SentLog::default();
        (0..3).for_each(|n| log.record(ms(n), 1 + n * 10, 11 + n * 10));
        assert_eq!(log.report(ms(50), 1, [(11, 21)]), reported(49, 49, false));
        log.acknowledge(ms(60), 11);
        let trips = log.acknowledge(ms(90), 31);
        assert_eq!([trips.oldest, trips.unreported], [89, 88].map(|trip| Some(Span::from_millis(trip))));
        assert_eq!(trips.unreported_last, trips.unreported);
        (3..6).for_each(|n| log.record(ms(n), 1 + n * 10, 11 + n * 10));
        assert_eq!(log.report(ms(91), 31, [(41, 51)]), reported(87, 87, false));
        log.record(ms(92), 31, 41);
        assert_eq!(log.acknowledge(ms(95), 61).unreported, None, "the first was sent twice");
        (6..9).for_each(|n| log.record(ms(100 + n), 1 + n * 10, 11 + n * 10));
        log.record(ms(110), 81, 91);
        assert_eq!(log.acknowledge(ms(120), 91).unreported, None, "the last of three was sent twice");
    }

    #[test]
    fn oldest_and_newest() {
        let mut log = SentLog::default();
        for n in 0..4 {
            log.record(ms(n), 1 + n * 10, 11 + n * 10);
        }
        assert_eq!(log.acknowledge(ms(50), 5), trips(None, None), "half a segment");
        assert_eq!(log.acknowledge(ms(50), 31), trips(Some(50), Some(48)));
        assert_eq!(log.acknowledge(ms(60), 41), trips(Some(57), Some(57)));
    }

    #[test]
    fn karn() {
        let mut log = SentLog::default();
        for n in 0..3 {
            log.record(ms(n), 1 + n * 10, 11 + n * 10);
        }
        log.record(ms(20), 1, 11); // the hole
        // The resent segment is both the oldest and the most recently sent one.
        assert_eq!(log.acknowledge(ms(30), 31), trips(None, None));

        let mut log = SentLog::default();
        for n in 0..3 {
            log.record(ms(n), 1 + n * 10, 11 + n * 10);
        }
        log.record(ms(20), 6, 16); // other boundaries than before: touches the first two
        assert_eq!(log.acknowledge(ms(30), 21), trips(None, None));
        assert_eq!(log.acknowledge(ms(30), 31), trips(Some(28), Some(28)));
    }

    #[test]
    fn a_segment_of_old_and_new_bytes_is_ambiguous() {
        let mut log = SentLog::default();
        log.record(ms(0), 1, 11);
        log.record(ms(5), 1, 21);
        assert_eq!(log.acknowledge(ms(9), 21), trips(None, None));
        log.record(ms(10), 21, 31);
        assert_eq!(log.acknowledge(ms(15), 31), trips(Some(5), Some(5)));
    }
}
