//! Round trips of a connection's segments: from when one leaves for the mesh until the acknowledgement that ends at it.
//!
//! A receiver acknowledges every second segment, or fewer, and then the latest: so the round trip is taken of the segment at which an
//! acknowledgement ends, which it did not wait for. An acknowledgement that a receiver's timer sends late (RFC 1122, section 4.2.3.2) gives a long
//! round trip: the caller takes the least of several.

use meshpace_units::{Instant, Seq, Span};

/// Segments of a connection that are timed at once.
const TIMED: usize = 8;

/// A segment on its way.
#[derive(Clone, Copy, Debug)]
struct Timed {
    start: Seq,
    end: Seq,
    at: Instant,
}

/// How long it took until a segment was acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Answered {
    pub rtt: Span,
    /// No other segment was acknowledged with it: the receiver's timer may have sent that.
    pub is_single: bool,
}

/// The segments on their way, oldest first.
#[derive(Clone, Copy, Debug)]
pub(super) struct Segments {
    on_way: [Option<Timed>; TIMED],
    /// The end of the highest that left.
    highest: Option<Seq>,
    /// What ends here or below is not timed: a hole lay before it (Karn's rule).
    untimed: Option<Seq>,
    /// What left again last, and when.
    again: Option<(Seq, Instant)>,
    /// The receiver has all before this.
    acked: Option<Seq>,
    /// What never left: it was lost before it came here, or was dropped here.
    missing: Option<(Seq, Seq)>,
    /// A segment of that on its way, which the receiver misses: its end is acknowledged as soon as it has come (RFC 5681, section 4.2).
    fills: Option<(Seq, Instant)>,
}

impl Segments {
    pub const fn new() -> Self {
        Self {
            on_way: [None; TIMED],
            highest: None,
            untimed: None,
            again: None,
            acked: None,
            missing: None,
            fills: None,
        }
    }

    /// A segment with data leaves. A segment that left before gives no round trip, and behind a hole neither do all segments on their way:
    /// acknowledgements that jump over the segments behind the hole tell how long the hole was open. What fills it and leaves for the first time
    /// does. A segment that its sender sends again took at least as long as it has been gone; returns that time.
    pub fn leaves(&mut self, now: Instant, start: Seq, end: Seq) -> Option<Span> {
        let highest = self.highest.unwrap_or(start);
        self.highest = Some(highest.later(end));
        if start == highest {
            if let Some(free) = self.on_way.iter_mut().find(|place| place.is_none()) {
                *free = Some(Timed { start, end, at: now });
            }
            return None;
        }
        let gone = self.on_way.iter().flatten().find(|of| of.end == end).map(|of| of.at);
        let gone = gone.or(self.again.filter(|(of, _)| *of == end).map(|(_, at)| at));
        self.on_way = [None; TIMED];
        self.untimed = self.highest;
        self.again = Some((end, now));
        self.fills = None;
        if start.after(highest) {
            self.missing = Some((highest, start));
        } else if let Some((from, to)) =
            self.missing.filter(|(from, to)| start == *from && end.at_or_before(*to))
        {
            self.fills = Some((end, now)).filter(|_| self.acked == Some(from));
            self.missing = Some((end, to)).filter(|_| end != to);
        }
        gone.map(|at| now.saturating_since(at))
    }

    /// The receiver has all before `ack`: the round trip of the segment that ends there.
    pub fn acknowledged(&mut self, now: Instant, ack: Seq) -> Option<Answered> {
        // Data that never left cannot have arrived.
        self.highest.filter(|highest| ack.at_or_before(*highest))?;
        let found = self.on_way.iter().flatten().find(|of| of.end == ack).copied();
        let before = self.acked.replace(self.acked.map_or(ack, |acked| acked.later(ack)));
        self.on_way
            .iter_mut()
            .filter(|place| place.is_some_and(|of| of.end.at_or_before(ack)))
            .for_each(|place| *place = None);
        if let Some((_, at)) = self.fills.take_if(|(end, _)| end.at_or_before(ack)) {
            return Some(Answered { rtt: now.saturating_since(at), is_single: false });
        }
        found.filter(|_| self.untimed.is_none_or(|untimed| ack.after(untimed))).map(|of| Answered {
            rtt: now.saturating_since(of.at),
            is_single: before.is_none_or(|before| before == of.start),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    fn ms(n: u64) -> Instant {
        Instant::ZERO + Span::from_millis(n)
    }

    /// Segment `n` of a hundred bytes, across the wrap of sequence numbers.
    fn leaves(segments: &mut Segments, at: u64, n: u32) {
        let start = Seq(u32::MAX - 250) + 100 * n;
        segments.leaves(ms(at), start, start + 100);
    }

    fn acknowledged(segments: &mut Segments, at: u64, n: u32) -> Option<u64> {
        let end = Seq(u32::MAX - 250) + (100 * n + 100);
        segments.acknowledged(ms(at), end).map(|answered| answered.rtt.as_micros() / 1_000)
    }

    #[test]
    fn an_acknowledgement_times_the_segment_that_it_ends_at() {
        let mut segments = Segments::new();
        (0..4).for_each(|n| leaves(&mut segments, 10 * u64::from(n), n));
        assert_eq!(acknowledged(&mut segments, 40, 1), Some(30));
        assert_eq!(acknowledged(&mut segments, 41, 1), None, "again");
        assert_eq!(acknowledged(&mut segments, 41, 0), None, "old");
        assert_eq!(
            segments.acknowledged(ms(45), Seq(u32::MAX - 250) + 250),
            None,
            "in the middle of a segment"
        );
        assert_eq!(acknowledged(&mut segments, 46, 9), None, "nothing of the kind left");
        assert_eq!(acknowledged(&mut segments, 50, 3), Some(20));
    }

    /// The third segment is lost: what left before it was sent again is timed by nothing, what left after that is.
    #[test]
    fn what_waits_behind_a_hole_is_not_timed() {
        let mut segments = Segments::new();
        (0..6).for_each(|n| leaves(&mut segments, 10 * u64::from(n), n));
        assert_eq!(acknowledged(&mut segments, 60, 1), Some(50));
        leaves(&mut segments, 70, 2);
        leaves(&mut segments, 80, 6);
        assert_eq!(acknowledged(&mut segments, 120, 5), None);
        assert_eq!(acknowledged(&mut segments, 125, 6), Some(45));
    }

    /// A segment was lost before it came here.
    #[test]
    fn what_comes_behind_a_gap_is_not_timed_until_it_is_filled() {
        let mut segments = Segments::new();
        leaves(&mut segments, 0, 0);
        leaves(&mut segments, 10, 2);
        leaves(&mut segments, 20, 3);
        leaves(&mut segments, 30, 1);
        assert_eq!(acknowledged(&mut segments, 60, 3), None);
        leaves(&mut segments, 70, 4);
        assert_eq!(acknowledged(&mut segments, 90, 4), Some(20));
    }

    #[test]
    fn what_is_acknowledged_alone_is_told() {
        let mut segments = Segments::new();
        (0..5).for_each(|n| leaves(&mut segments, 10, n));
        let mut single = |n: u32| {
            let end = Seq(u32::MAX - 250) + (100 * n + 100);
            segments.acknowledged(ms(50), end).map(|answered| answered.is_single)
        };
        assert_eq!(
            [1, 2, 4].map(&mut single),
            [Some(true), Some(true), Some(false)],
            "what came before the first is unknown"
        );
    }

    /// The third segment was dropped at the gateway. What its sender sends again leaves for the first time, and is acknowledged as it comes;
    /// if it leaves once more, nothing tells which of both was.
    #[test]
    fn what_fills_a_hole_and_never_left_is_timed() {
        for again in [false, true] {
            let mut segments = Segments::new();
            (0..2).for_each(|n| leaves(&mut segments, 10 * u64::from(n), n));
            (3..6).for_each(|n| leaves(&mut segments, 10 * u64::from(n), n));
            assert_eq!(acknowledged(&mut segments, 60, 1), None, "behind it all are untimed");
            leaves(&mut segments, 70, 2);
            if again {
                leaves(&mut segments, 80, 2);
            }
            assert_eq!(acknowledged(&mut segments, 90, 1), None, "a duplicate");
            assert_eq!(acknowledged(&mut segments, 100, 5), (!again).then_some(30));
        }
        // While something before it is missing, too, that may be why the acknowledgement comes.
        let mut segments = Segments::new();
        leaves(&mut segments, 0, 0);
        leaves(&mut segments, 20, 2);
        leaves(&mut segments, 30, 1);
        assert_eq!(acknowledged(&mut segments, 60, 2), None);
    }

    #[test]
    fn so_many_are_timed_and_no_more() {
        let mut segments = Segments::new();
        (0..20).for_each(|n| leaves(&mut segments, u64::from(n), n));
        let timed: Vec<_> = (0..20).map(|n| acknowledged(&mut segments, 50, n)).collect();
        assert_eq!(timed.iter().flatten().count(), TIMED);
        leaves(&mut segments, 60, 20);
        assert_eq!(acknowledged(&mut segments, 70, 20), Some(10));
    }
}
