//! What is in flight: when each segment left, and whether it left more than once.

use alloc::collections::VecDeque;
use meshpace_units::{Instant, Span};

#[derive(Clone, Copy, Debug)]
struct Sent {
    end: u64,
    at: Instant,
    resent: bool,
}

/// The segments in flight, oldest first, without gaps.
#[derive(Clone, Debug, Default)]
pub(crate) struct SentLog {
    start: u64,
    segments: VecDeque<Sent>,
}

/// Round trips that an acknowledgement of new data closes; `None` where the segment was sent more than once (Karn) or
/// no whole segment was covered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct RoundTrips {
    /// Of the oldest newly acknowledged segment.
    pub(crate) oldest: Option<Span>,
    /// Of the most recently sent one among them.
    pub(crate) newest: Option<Span>,
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
            self.segments.push_back(Sent { end, at: now, resent: start < known_end });
        }
    }

    /// Everything before `una` was acknowledged at `now`.
    pub(crate) fn acknowledge(&mut self, now: Instant, una: u64) -> RoundTrips {
        let round_trip = |sent: &Sent| (!sent.resent).then(|| now.saturating_since(sent.at));
        let (mut oldest, mut newest): (Option<Sent>, Option<Sent>) = (None, None);
        while let Some(&sent) = self.segments.front().filter(|sent| sent.end <= una) {
            self.segments.pop_front();
            self.start = sent.end;
            oldest.get_or_insert(sent);
            if newest.is_none_or(|newest| sent.at >= newest.at) {
                newest = Some(sent);
            }
        }
        RoundTrips {
            oldest: oldest.as_ref().and_then(round_trip),
            newest: newest.as_ref().and_then(round_trip),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(n: u64) -> Instant {
        Instant::ZERO + Span::from_millis(n)
    }

    fn trips(oldest: Option<u64>, newest: Option<u64>) -> RoundTrips {
        RoundTrips { oldest: oldest.map(Span::from_millis), newest: newest.map(Span::from_millis) }
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
