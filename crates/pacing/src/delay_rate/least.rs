//! The least round trip of a while.

use meshpace_units::{Instant, Span};

/// Parts of the horizon, of each of which the least is kept.
const PARTS: usize = 8;

/// The least round trip of the last `horizon`, to an eighth of that: a round trip counts if it came within `horizon`, and does
/// not count if it came more than nine eighths of that ago.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Least {
    part: Span,
    /// The part that time is in, and the least of it and those before, the latest first.
    now: u64,
    parts: [Option<Span>; PARTS + 1],
}

impl Least {
    /// None yet, of so long a while.
    #[must_use]
    pub fn new(horizon: Span) -> Self {
        let part = Span::from_nanos((horizon.as_nanos() / PARTS as u64).max(1));
        Self { part, now: 0, parts: [None; PARTS + 1] }
    }

    /// One more; the least of all that count.
    pub fn on_sample(&mut self, now: Instant, trip: Span) -> Span {
        let part = now.as_nanos() / self.part.as_nanos();
        let past = usize::try_from(part.saturating_sub(self.now)).unwrap_or(usize::MAX);
        self.now = self.now.max(part);
        if past > PARTS {
            self.parts = [None; PARTS + 1];
        } else {
            self.parts.rotate_right(past);
            self.parts[..past].fill(None);
        }
        let latest = self.parts[0].map_or(trip, |least| least.min(trip));
        self.parts[0] = Some(latest);
        self.parts.iter().flatten().copied().fold(trip, Span::min)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_least_is_forgotten_after_the_horizon() {
        let mut least = Least::new(Span::from_secs(8));
        let mut at = |ms: u64, trip: u64| {
            least.on_sample(Instant::ZERO + Span::from_millis(ms), Span::from_millis(trip)).as_micros() / 1000
        };
        assert_eq!(at(100, 50), 50);
        assert_eq!(at(200, 30), 30);
        assert_eq!(at(8_900, 40), 30, "8.7 s later");
        assert_eq!(at(9_000, 60), 40, "what was in the first second is gone");
        assert_eq!(at(100_000, 90), 90);
    }

    proptest! {
        #[test]
        fn it_lies_between_the_least_of_the_horizon_and_of_an_eighth_more(
            steps in proptest::collection::vec((0u64..3_000, 1u64..500), 1..100)
        ) {
            let mut least = Least::new(Span::from_millis(8_000));
            let (mut now, mut all) = (0, alloc::vec::Vec::new());
            for (gap, trip) in steps {
                now += gap;
                all.push((now, trip));
                let of = |horizon: u64| all.iter().filter(|(at, _)| at + horizon >= now).map(|(_, trip)| *trip).min();
                let found = least.on_sample(Instant::ZERO + Span::from_millis(now), Span::from_millis(trip)).as_micros() / 1000;
                prop_assert!(Some(found) <= of(8_000) && Some(found) >= of(9_000), "{found} {:?} {:?}", of(8_000), of(9_000));
            }
        }
    }
}
