//! How many trains of packets may be on their way (docs/law.md).
//!
//! One train whose acknowledgement lets the next one out meets nobody: over a few hops there is no better rate. A second train in flight
//! makes the air carry more only where the path is long. So the step from one to two is a trial, and one that was taken back is not tried
//! again soon; from two trains on the rate says how many.

use meshpace_units::{Instant, Span};

/// Empty round trips until a second train is tried again, at first and at last: twice as many each time that it was taken back.
const HELD: (u32, u32) = (8, 256);
/// A second train that stayed for so many empty round trips was of use.
const STAYED: f64 = 16.0;

/// Whole trains: a part of one would travel in an access of its own, and its receiver would wait for the rest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TrainsInFlight {
    count: u32,
    /// When a second one began to be allowed.
    since: Instant,
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
        Self { count: 1, since: Instant::ZERO, held: HELD.0, until: Instant::ZERO }
    }

    /// So many may be on their way.
    #[must_use]
    pub const fn count(&self) -> u32 {
        self.count
    }

    /// The rate has so many trains on its way in an empty path, whose round trip takes `base` seconds. True if a second one has to wait
    /// although the rate asks for it.
    pub fn follow(&mut self, now: Instant, wanted: f64, base: f64) -> bool {
        let wanted = wanted.clamp(1.0, f64::from(u32::MAX)) as u32;
        if self.count == 1 && wanted > 1 {
            if now < self.until {
                return true;
            }
            self.since = now;
        } else if self.count > 1 && wanted == 1 {
            let stayed = now.saturating_since(self.since).as_secs_f64() > STAYED * base;
            self.held = if stayed { HELD.0 } else { (2 * self.held).min(HELD.1) };
            self.until = now + Span::from_secs_f64(f64::from(self.held) * base);
        }
        self.count = wanted;
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    /// Runs empty round trips of 10 ms in which the rate asks for two trains whenever they are allowed, and takes that back after
    /// `kept` of them. Returns the round trips that asked in vain.
    fn asked(trains: &mut TrainsInFlight, kept: u64, round_trips: u64) -> Vec<u64> {
        let mut began = Vec::new();
        let mut left = 0;
        for n in 0..round_trips {
            let wanted = if trains.count() == 2 && left == 0 { 1.0 } else { 2.9 };
            let before = trains.count();
            trains.follow(Instant::ZERO + Span::from_millis(10 * n), wanted, 0.01);
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
        let began = asked(&mut TrainsInFlight::default(), 4, 800);
        assert_eq!(began, [0, 20, 56, 124, 256, 516, 776]);
    }

    #[test]
    fn what_stayed_is_tried_again_soon() {
        let mut trains = TrainsInFlight::default();
        assert_eq!(asked(&mut trains, 4, 20).len(), 1);
        assert_eq!(trains.held, 16);
        assert_eq!(asked(&mut trains, 20, 100), [20, 48, 76]);
        assert_eq!(trains.held, 8);
    }

    #[test]
    fn from_two_on_the_rate_says_how_many() {
        let mut trains = TrainsInFlight::default();
        let mut of = |wanted| {
            let held = trains.follow(Instant::ZERO, wanted, 0.01);
            (trains.count(), held)
        };
        assert_eq!(
            [0.2, 1.99, 5.5, 3.0, 1.5, 2.5].map(&mut of),
            [(1, false), (1, false), (5, false), (3, false), (1, false), (1, true)]
        );
    }
}
