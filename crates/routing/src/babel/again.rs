//! Messages that are repeated, ever more rarely, because packets get lost.

use meshpace_units::{Instant, Span};

/// Requests and urgent updates go out so often after the first time, after this time and twice as long each time (RFC 8966, appendix B;
/// babeld: RESEND_MAX, `resend_delay`).
const TIMES: u8 = 3;
const PAUSE: Span = Span::from_secs(2);

/// The repeats that are left.
#[derive(Clone, Copy, Debug)]
pub(super) struct Again {
    at: Instant,
    pause: Span,
    left: u8,
}

impl Again {
    /// All of them, after something that is said now.
    pub(super) fn after(now: Instant) -> Self {
        Self { at: now + PAUSE, pause: PAUSE, left: TIMES }
    }

    /// When the next one is due.
    pub(super) const fn at(&self) -> Instant {
        self.at
    }

    /// The one that is due is said. True if others are left.
    pub(super) fn said(&mut self, now: Instant) -> bool {
        self.pause = self.pause * 2;
        self.at = now + self.pause;
        self.left -= 1;
        self.left > 0
    }
}
