//! Copa's round trips: smoothed, least of ten seconds, least of the last half of one, greatest of the last four; and when the
//! queue was nearly empty (sections 2.1 and 2.2).

use crate::control::filter::Filter;
use meshpace_units::{Instant, Span};

/// How long the least round trip holds (section 2.1).
const LEAST_HOLDS: Span = Span::from_secs(10);
/// Round trips that the greatest one holds (section 2.2).
const GREATEST_ROUNDS: u64 = 4;
/// A queue is nearly empty below this share of what round trips vary by (section 2.2).
const NEARLY: f64 = 0.1;
/// Round trips within which Copa's queues empty (section 2.2).
const EMPTIES_WITHIN: u64 = 5;

#[derive(Clone, Debug)]
pub(super) struct Delays {
    smoothed: Option<Span>,
    least: Filter,
    standing: Filter,
    greatest: Filter,
    /// When the queue was nearly empty; at the latest when that began to be looked for.
    empty: Option<Instant>,
}

impl Default for Delays {
    fn default() -> Self {
        Self {
            smoothed: None,
            least: Filter::minimum(LEAST_HOLDS.as_nanos()),
            standing: Filter::minimum(0),
            greatest: Filter::maximum(0),
            empty: None,
        }
    }
}

impl Delays {
    pub(super) fn on_sample(&mut self, now: Instant, trip: Span) {
        let smoothed = self.smoothed.map_or(trip, |smoothed| (smoothed * 7 + trip) / 8);
        self.smoothed = Some(smoothed);
        self.standing.set_window((smoothed / 2).as_nanos());
        self.greatest.set_window((smoothed * GREATEST_ROUNDS).as_nanos());
        for filter in [&mut self.least, &mut self.standing, &mut self.greatest] {
            filter.update(now.as_nanos(), trip.as_nanos());
        }
        let [least, greatest] = [&self.least, &self.greatest].map(|filter| filter.best().unwrap_or(0));
        let varies = greatest.saturating_sub(least) as f64;
        let queueing = self.queueing().unwrap_or(Span::ZERO).as_nanos();
        // Where nothing varies there is no queue.
        if queueing == 0 || (queueing as f64) < NEARLY * varies {
            self.empty = Some(now);
        }
        self.empty.get_or_insert(now);
    }

    /// The smoothed round trip; nothing before the first.
    pub(super) fn smoothed(&self) -> Span {
        self.smoothed.unwrap_or(Span::ZERO)
    }

    /// The round trip with the queue that stands: the least of the last half of a smoothed one (RTTstanding).
    pub(super) fn standing(&self) -> Option<Span> {
        self.standing.best().map(Span::from_nanos)
    }

    /// How long that queue takes (dq, equation 2).
    pub(super) fn queueing(&self) -> Option<Span> {
        let (standing, least) = self.standing.best().zip(self.least.best())?;
        Some(Span::from_nanos(standing.saturating_sub(least)))
    }

    /// Whether the queue was nearly empty within the last five round trips.
    pub(super) fn empties(&self, now: Instant) -> bool {
        self.empty.is_none_or(|empty| now.saturating_since(empty) <= self.smoothed() * EMPTIES_WITHIN)
    }

    /// Nothing was sent: that no queue was seen to be empty means nothing.
    pub(super) const fn forget_emptiness(&mut self) {
        self.empty = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Span::from_millis(ms)
    }

    /// Samples each 10 ms from `from` on, ms.
    fn feed(delays: &mut Delays, from: u64, trips: impl IntoIterator<Item = u64>) -> u64 {
        let mut now = from;
        for trip in trips {
            delays.on_sample(at(now), Span::from_millis(trip));
            now += 10;
        }
        now
    }

    #[test]
    fn the_standing_queue_is_the_least_of_half_a_round_trip() {
        let mut delays = Delays::default();
        let now = feed(&mut delays, 0, [100; 10]);
        // One late acknowledgement is no queue; 6 of them are longer than 50 ms.
        let now = feed(&mut delays, now, [150]);
        assert_eq!(delays.queueing(), Some(Span::ZERO));
        feed(&mut delays, now, [150; 6]);
        assert_eq!(delays.queueing(), Some(Span::from_millis(50)));
        assert_eq!(delays.standing(), Some(Span::from_millis(150)));
    }

    #[test]
    fn the_least_is_of_ten_seconds() {
        let mut delays = Delays::default();
        let now = feed(&mut delays, 0, [100]);
        let now = feed(&mut delays, now, [130; 999]);
        assert_eq!((now, delays.queueing()), (10_000, Some(Span::from_millis(30))));
        feed(&mut delays, now + 10, [130]);
        assert_eq!(delays.queueing(), Some(Span::ZERO));
    }

    #[test]
    fn a_tenth_of_what_round_trips_vary_by_is_nearly_empty() {
        let mut delays = Delays::default();
        // 100 to 200 ms: 9 ms of queue are nearly empty, 11 are not.
        let mut fed = |trip: u64, last: u64| {
            let now = feed(&mut delays, last, [100, 200]);
            let now = feed(&mut delays, now, core::iter::repeat_n(trip, 30));
            (delays.empty.unwrap(), now)
        };
        let (empty, now) = fed(111, 0);
        assert!(empty < at(120), "{empty:?}");
        let (empty, now) = fed(109, now);
        assert_eq!(empty, at(now - 10));
    }

    #[test]
    fn a_queue_that_stays_for_five_round_trips_does_not_empty() {
        let mut delays = Delays::default();
        let now = feed(&mut delays, 0, [100; 10]);
        // 200 ms from then on: 5 to 10 round trips of 100 to 200 ms later.
        let until = feed(&mut delays, now, [200; 50]);
        assert!(delays.empties(at(until)));
        let until = feed(&mut delays, until, [200; 60]);
        assert!(!delays.empties(at(until)));
        feed(&mut delays, until, [100]);
        assert!(delays.empties(at(until)));
        delays.forget_emptiness();
        assert!(delays.empties(at(until + 100_000)));
    }
}
