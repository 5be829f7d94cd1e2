//! What a connection has in the mesh: what left and is not acknowledged.
//!
//! A receiver answers every second segment, or fewer (RFC 1122, section 4.2.3.2): what one acknowledgement answers may have arrived without
//! a word, and does not count. A duplicate of an acknowledgement says that one more packet has arrived behind a hole (RFC 5681, section 3.2).

use meshpace_units::{Instant, Seq, Span};

/// Each acknowledgement moves the mean of what one answers by this part of the way.
const SHARE: u64 = 8;
/// A duplicate says that so many bytes arrived.
const SEGMENT: u64 = 1_448;

/// See the module's description.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Flight {
    /// The end of the highest byte that left, and what the receiver has all of.
    ends: Option<(Seq, Seq)>,
    /// Bytes behind a hole that have arrived.
    beyond: u64,
    /// What an acknowledgement answers in the mean, bytes.
    each: u64,
    /// When something was acknowledged last, or the first left for an empty mesh.
    moved: Instant,
}

impl Flight {
    /// A segment leaves.
    pub fn leaves(&mut self, now: Instant, start: Seq, end: Seq) {
        let (top, acked) = self.ends.unwrap_or((start, start));
        if top == acked {
            self.moved = now;
        }
        self.ends = Some((top.later(end), acked));
    }

    /// The receiver has all before `ack`.
    pub fn acknowledged(&mut self, now: Instant, ack: Seq) {
        let Some((top, acked)) = self.ends.filter(|(top, _)| ack.at_or_before(*top)) else { return };
        if ack.after(acked) {
            let answers = u64::from(ack.since(acked));
            // What waited behind a hole came at once.
            if self.beyond == 0 {
                self.each = (self.each * (SHARE - 1) + answers) / SHARE;
            }
            (self.ends, self.beyond, self.moved) = (Some((top, ack)), 0, now);
        } else if ack == acked && top != acked {
            (self.beyond, self.moved) = (self.beyond + SEGMENT, now);
        }
    }

    /// Bytes that are under way; none once nothing has been acknowledged for so long: they are lost, or their acknowledgement waits for a timer.
    fn bytes(&self, now: Instant, lasts: Span) -> u64 {
        let Some((top, acked)) = self.ends.filter(|_| now.saturating_since(self.moved) < lasts) else {
            return 0;
        };
        u64::from(top.since(acked)).saturating_sub(self.beyond + self.each)
    }

    /// Those, and until when that holds if nothing is acknowledged before; `None`: there are none.
    pub fn counts(&self, now: Instant, lasts: Span) -> Option<(u64, Instant)> {
        let bytes = self.bytes(now, lasts);
        (bytes > 0).then(|| (bytes, self.moved + lasts))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LASTS: Span = Span::from_millis(100);

    fn ms(n: u64) -> Instant {
        Instant::ZERO + Span::from_millis(n)
    }

    fn end(n: u32) -> Seq {
        Seq(u32::MAX - 5_000) + n * SEGMENT as u32
    }

    /// So many segments left, from the first on.
    fn sent(segments: u32) -> Flight {
        let mut flight = Flight::default();
        (0..segments).for_each(|n| flight.leaves(ms(u64::from(n)), end(n), end(n + 1)));
        flight
    }

    #[test]
    fn what_left_and_is_not_acknowledged_is_there() {
        let mut flight = sent(6);
        assert_eq!(flight.bytes(ms(6), LASTS), 6 * SEGMENT);
        flight.acknowledged(ms(20), end(2));
        // An eighth of the two segments that this one answered may have come without a word.
        assert_eq!(flight.bytes(ms(20), LASTS), 4 * SEGMENT - 2 * SEGMENT / SHARE);
        flight.acknowledged(ms(21), end(1));
        flight.acknowledged(ms(21), end(9));
        assert_eq!(
            flight.bytes(ms(21), LASTS),
            4 * SEGMENT - 2 * SEGMENT / SHARE,
            "old, and of nothing that left"
        );
        flight.leaves(ms(22), end(2), end(3));
        assert_eq!(flight.bytes(ms(22), LASTS), 4 * SEGMENT - 2 * SEGMENT / SHARE, "again");
        flight.acknowledged(ms(30), end(6));
        assert_eq!(flight.bytes(ms(30), LASTS), 0);
    }

    /// The third segment is lost: a duplicate reports each of the three segments behind it.
    #[test]
    fn a_duplicate_says_that_one_more_has_arrived() {
        let mut flight = sent(6);
        flight.acknowledged(ms(20), end(2));
        let before = flight.bytes(ms(20), LASTS);
        (0..3).for_each(|_| flight.acknowledged(ms(24), end(2)));
        assert_eq!(flight.bytes(ms(24), LASTS), before - 3 * SEGMENT);
        let each = flight.each;
        flight.acknowledged(ms(60), end(6));
        assert_eq!(
            (flight.bytes(ms(60), LASTS), flight.each),
            (0, each),
            "what waited behind a hole is no habit"
        );
    }

    #[test]
    fn what_is_not_answered_is_gone_after_a_while() {
        let mut flight = sent(2);
        assert_eq!(flight.counts(ms(99), LASTS).map(|(_, until)| until), Some(ms(100)));
        assert!(flight.bytes(ms(99), LASTS) > 0);
        assert_eq!(flight.bytes(ms(100), LASTS), 0);
        flight.acknowledged(ms(150), end(1));
        assert!(flight.bytes(ms(200), LASTS) > 0, "the second still moves");
    }
}
