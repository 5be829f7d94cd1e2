//! So many lines a second, and what exceeds them.

use meshpace_units::{Instant, Span};

/// A token bucket, which counts what it refused.
#[derive(Debug)]
pub(super) struct Limiter {
    spacing: Span,
    burst: u64,
    /// When the bucket is full again; each line taken moves it on by one spacing.
    full_at: Instant,
    refused: u64,
}

impl Limiter {
    /// `per_second` lines in the long run, `burst` at once.
    pub fn new(per_second: u64, burst: u64) -> Self {
        Self { spacing: Span::from_secs(1) / per_second, burst, full_at: Instant::ZERO, refused: 0 }
    }

    /// True if one more line may be written at `now`; if not, it is counted as refused.
    pub fn admits(&mut self, now: Instant) -> bool {
        let admitted = self.take_place(now);
        self.refused += u64::from(!admitted);
        admitted
    }

    /// How many lines were refused since the last call, once a line that says so may be written.
    pub fn refused(&mut self, now: Instant) -> Option<u64> {
        (self.refused > 0 && self.take_place(now)).then(|| self.take_refused())
    }

    /// Takes the place of a line, if there is one.
    fn take_place(&mut self, now: Instant) -> bool {
        let full_at = self.full_at.max(now);
        let fits = full_at.saturating_since(now) + self.spacing <= self.spacing * self.burst;
        if fits {
            self.full_at = full_at + self.spacing;
        }
        fits
    }

    /// How many lines were refused since the last call, now: the log ends.
    pub fn take_refused(&mut self) -> u64 {
        core::mem::take(&mut self.refused)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_then_the_rate_then_what_was_refused() {
        let at = |ms| Instant::ZERO + Span::from_secs(9) + Span::from_millis(ms);
        let mut limiter = Limiter::new(10, 3);
        let taken: Vec<bool> = (0..5).map(|_| limiter.admits(at(0))).collect();
        assert_eq!(taken, [true, true, true, false, false]);
        assert!(!limiter.admits(at(99)));
        assert!(limiter.admits(at(100)), "one more after a tenth of a second");
        assert_eq!(limiter.refused(at(150)), None, "not yet: the count is a line too");
        assert_eq!(limiter.refused(at(200)), Some(3), "of lines; asking counts nothing");
        assert_eq!(limiter.refused(at(1000)), None, "told once");
    }
}
