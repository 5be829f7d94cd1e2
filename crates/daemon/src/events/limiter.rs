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

    /// True if one more line may be written at `now`.
    pub fn admits(&mut self, now: Instant) -> bool {
        let full_at = self.full_at.max(now);
        if full_at.saturating_since(now) + self.spacing > self.spacing * self.burst {
            self.refused += 1;
            return false;
        }
        self.full_at = full_at + self.spacing;
        true
    }

    /// How many lines were refused since the last call, once one may be written again.
    pub fn refused(&mut self, now: Instant) -> Option<u64> {
        (self.refused > 0 && self.admits(now)).then(|| core::mem::take(&mut self.refused))
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
        assert_eq!(limiter.refused(at(200)), Some(4));
        assert_eq!(limiter.refused(at(1000)), None, "told once");
    }
}
