//! At most ten in a second: RREQ_RATELIMIT and RERR_RATELIMIT (RFC 3561, sections 6.3, 6.11 and 10).

use meshpace_units::{Instant, Span};
use std::collections::VecDeque;

const PER_SECOND: usize = 10;
const SECOND: Span = Span::from_secs(1);

/// The times of the last ten.
#[derive(Debug)]
pub(super) struct RateLimit {
    recent: VecDeque<Instant>,
}

impl RateLimit {
    pub(super) const fn new() -> Self {
        Self { recent: VecDeque::new() }
    }

    /// Counts one and allows it, or says when the next is allowed.
    pub(super) fn admit(&mut self, now: Instant) -> Result<(), Instant> {
        if self.recent.len() == PER_SECOND {
            let free = self.recent[0] + SECOND;
            if free > now {
                return Err(free);
            }
            self.recent.pop_front();
        }
        self.recent.push_back(now);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_in_any_second() {
        let mut limit = RateLimit::new();
        let at = |ms| Instant::ZERO + Span::from_millis(ms);
        for ms in 0..10 {
            assert_eq!(limit.admit(at(10 * ms)), Ok(()));
        }
        assert_eq!(limit.admit(at(100)), Err(at(1000)));
        assert_eq!(limit.admit(at(1000)), Ok(()));
        assert_eq!(limit.admit(at(1000)), Err(at(1010)));
    }
}
