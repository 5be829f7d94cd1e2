//! How many trains of packets may be on their way (docs/law.md).
//!
//! One train whose acknowledgement lets the next one out meets nobody: over a few hops there is no better rate. A second train in flight
//! makes the air carry more only where the path is long. So the step from one to two is a trial, and one that was taken back is not tried
//! again soon; it is taken back if no more arrives than one train alone would bring. From two trains on the pace spaces them, and their number is one more than the rate has on its way: it holds back no train
//! that the pace lets out.

use meshpace_units::{Instant, Span};

/// Empty round trips until a second train is tried again, at first and at last: twice as many each time that it was taken back.
const HELD: (u32, u32) = (8, 256);
/// For so many empty round trips what arrives is counted before it is judged whether a second train is of use.
const JUDGED: f64 = 16.0;
/// It is if so many times as much arrives as one train alone would bring over an empty path.
const MORE: f64 = 1.05;

/// Whole trains: a part of one would travel in an access of its own, and its receiver would wait for the rest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TrainsInFlight {
    count: u32,
    /// Since when it is counted what arrives while a second one is allowed, and how many trains that were.
    since: Instant,
    arrived: f64,
    /// More arrived than one train alone would bring, when that was judged last.
    useful: bool,
    held: u32,
    /// No second one before this.
    until: Instant,
}

impl Default for TrainsInFlight {
    fn default() -> Self {
        Self::new()
    }
}

impl TrainsInFlight {
    /// One, and nothing known of two.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            count: 1,
            since: Instant::ZERO,
            arrived: 0.0,
            useful: false,
            held: HELD.0,
            until: Instant::ZERO,
        }
    }

    /// So many may be on their way.
    #[must_use]
    pub const fn count(&self) -> u32 {
        self.count
    }

    /// So many trains, or parts of one, arrived.
    pub fn on_arrived(&mut self, trains: f64) {
        self.arrived += trains;
    }

    /// The rate has so many trains `paced` on its way in an empty path, whose round trip takes `base` seconds. True if a second one has to
    /// wait although the rate asks for it.
    pub fn follow(&mut self, now: Instant, paced: f64, base: f64) -> bool {
        let wanted = (1.0 + paced).clamp(1.0, f64::from(u32::MAX)) as u32;
        if self.count == 1 && wanted > 1 {
            if now < self.until {
                return true;
            }
            (self.since, self.arrived, self.useful) = (now, 0.0, false);
        } else if self.count > 1 {
            let trips = now.saturating_since(self.since).as_secs_f64() / base;
            let useless = trips >= JUDGED && self.arrived < MORE * trips;
            if trips >= JUDGED {
                (self.since, self.arrived, self.useful) = (now, 0.0, !useless);
            }
            if wanted == 1 || useless {
                self.held = if self.useful { HELD.0 } else { (2 * self.held).min(HELD.1) };
                self.until = now + Span::from_secs_f64(f64::from(self.held) * base);
                self.count = 1;
                return useless;
            }
        }
        self.count = wanted;
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    /// Runs empty round trips of 10 ms, in each of which so many trains arrive, while the rate asks for two whenever they are allowed and
    /// takes that back after `kept` of them. Returns the round trips in which a second train began.
    fn asked(trains: &mut TrainsInFlight, arrive: f64, kept: u64, round_trips: u64) -> Vec<u64> {
        let mut began = Vec::new();
        let mut left = 0;
        for n in 0..round_trips {
            let paced = if trains.count() == 2 && left == 0 { 0.5 } else { 1.9 };
            let before = trains.count();
            trains.on_arrived(arrive);
            trains.follow(Instant::ZERO + Span::from_millis(10 * n), paced, 0.01);
            if before == 1 && trains.count() == 2 {
                began.push(n);
                left = kept;
            }
            left = left.saturating_sub(1);
        }
        began
    }

    #[test]
    fn what_was_taken_back_is_tried_ever_later() {
        // Each trial takes four round trips: held for 16, 32, 64, 128, 256, 256 after it.
        let began = asked(&mut TrainsInFlight::default(), 1.9, 4, 800);
        assert_eq!(began, [0, 20, 56, 124, 256, 516, 776]);
    }

    #[test]
    fn what_stayed_is_tried_again_soon() {
        let mut trains = TrainsInFlight::default();
        assert_eq!(asked(&mut trains, 1.9, 4, 20).len(), 1);
        assert_eq!(trains.held, 16);
        assert_eq!(asked(&mut trains, 1.9, 20, 100), [20, 48, 76]);
        assert_eq!(trains.held, 8);
    }

    #[test]
    fn a_second_train_that_brings_no_more_is_taken_back() {
        // Judged after 16 round trips, held for 16, 32, 64 after that.
        let mut trains = TrainsInFlight::default();
        assert_eq!(asked(&mut trains, 1.04, 1_000, 300), [0, 32, 80, 160]);
        let mut trains = TrainsInFlight::default();
        assert_eq!(asked(&mut trains, 1.06, 1_000, 300), [0]);
        assert_eq!(trains.count(), 2);
    }

    #[test]
    fn from_two_on_the_rate_says_how_many() {
        let mut trains = TrainsInFlight::default();
        let mut of = |paced| {
            let held = trains.follow(Instant::ZERO, paced, 0.01);
            (trains.count(), held)
        };
        assert_eq!(
            [0.2, 0.99, 4.5, 2.0, 0.5, 1.5].map(&mut of),
            [(1, false), (1, false), (5, false), (3, false), (1, false), (1, true)]
        );
    }
}
