//! How much has passed lately.

use meshpace_units::{Bytes, Instant, Rate, Span};

/// Time over which is told.
const WINDOW: Span = Span::from_secs(1);

/// Bytes by windows of time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Recent {
    since: Instant,
    bytes: u64,
    /// bit/s in the last whole window.
    before: u64,
}

impl Recent {
    pub const fn new(now: Instant) -> Self {
        Self { since: now, bytes: 0, before: 0 }
    }

    pub fn note(&mut self, now: Instant, size: Bytes) {
        *self = self.at(now);
        self.bytes += size.0;
    }

    /// What passed lately, in bit/s.
    pub fn rate(&self, now: Instant) -> Rate {
        Rate::bits_per_sec(self.at(now).before)
    }

    /// With the windows that have ended by now.
    fn at(&self, now: Instant) -> Self {
        let passed = now.saturating_since(self.since);
        if passed < WINDOW {
            return *self;
        }
        let nanos = u128::from(passed.as_nanos());
        let rate = u128::from(self.bytes) * 8_000_000_000 / nanos;
        Self { since: now, bytes: 0, before: u64::try_from(rate).unwrap_or(u64::MAX) }
    }
}
