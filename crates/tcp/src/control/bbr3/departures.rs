//! The data in flight and the data lost when each segment left (P.tx_in_flight, P.lost; draft-ietf-ccwg-bbr-06, section
//! 4.1.2.2).

use alloc::collections::VecDeque;
use meshpace_units::Instant;

/// A departure. Bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Left {
    at: Instant,
    end: u64,
    /// In flight with it.
    pub(super) in_flight: u64,
    /// Lost since the connection began.
    pub(super) lost: u64,
}

/// Departures of what is not acknowledged, in their order.
#[derive(Clone, Debug, Default)]
pub(super) struct Departures {
    left: VecDeque<Left>,
}

impl Departures {
    /// A segment that ends at `end` leaves.
    pub(super) fn push(&mut self, at: Instant, end: u64, in_flight: u64, lost: u64) {
        self.left.push_back(Left { at, end, in_flight, lost });
    }

    /// The last departure at this time.
    pub(super) fn at(&self, at: Instant) -> Option<&Left> {
        let after = self.left.partition_point(|left| left.at <= at);
        self.left.get(after.checked_sub(1)?).filter(|left| left.at == at)
    }

    /// Everything before `una` is acknowledged.
    pub(super) fn on_ack(&mut self, una: u64) {
        while self.left.front().is_some_and(|left| left.end <= una) {
            self.left.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use meshpace_units::Span;

    #[test]
    fn a_departure_is_found_by_its_time_until_it_and_those_before_are_acknowledged() {
        let at = |ms: u64| Instant::ZERO + Span::from_millis(ms);
        let mut departures = Departures::default();
        for (ms, end, in_flight, lost) in
            [(1, 100, 100, 0), (2, 200, 200, 0), (2, 300, 300, 0), (5, 100, 300, 100)]
        {
            departures.push(at(ms), end, in_flight, lost);
        }
        let found =
            |departures: &Departures, ms: u64| departures.at(at(ms)).map(|left| (left.in_flight, left.lost));
        assert_eq!(found(&departures, 2), Some((300, 0)), "the last of two");
        assert_eq!(found(&departures, 5), Some((300, 100)));
        assert_eq!((found(&departures, 0), found(&departures, 3)), (None, None));
        departures.on_ack(200);
        assert_eq!((found(&departures, 1), found(&departures, 2)), (None, Some((300, 0))));
        assert_eq!(found(&departures, 5), Some((300, 100)), "behind one that is not acknowledged");
        departures.on_ack(300);
        assert!(departures.left.is_empty());
    }
}
