//! A rate, kept by when the next packet may leave.

use meshpace_units::{Bytes, Instant, Rate, Span};

/// When what left last is through.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Meter {
    free_at: Option<Instant>,
}

impl Meter {
    /// Whether a packet may leave now.
    pub fn is_ready(self, now: Instant) -> bool {
        self.free_at() <= now
    }

    /// When a packet may leave.
    pub fn free_at(self) -> Instant {
        self.free_at.unwrap_or(Instant::ZERO)
    }

    /// A packet of this cost leaves. Unused time is made up for, up to `burst`, so that a driver that wakes
    /// late keeps the rate.
    pub fn charge(&mut self, now: Instant, rate: Rate, cost: u64, burst: Span) {
        let earliest = Instant::from_nanos(now.as_nanos().saturating_sub(burst.as_nanos()));
        let takes = rate.time_to_send(Bytes(cost)).unwrap_or(Span::ZERO);
        self.free_at = Some(self.free_at().max(earliest) + takes);
    }
}
