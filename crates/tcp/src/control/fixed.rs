//! One segment every interval, whatever is measured.

use super::law_pacer::{permission, take_token};
use super::{Ack, Control, Departure, Pace, PacingView, Reaction};
use meshpace_pacing::Pacer;
use meshpace_units::{Instant, Span};

/// One segment every interval (schemes.md 2.1).
#[derive(Clone, Debug)]
pub struct Fixed {
    pacer: Pacer,
}

impl Fixed {
    /// One segment every `interval`.
    #[must_use]
    pub const fn new(interval: Span) -> Self {
        Self { pacer: Pacer::new(Some(interval)) }
    }
}

impl Control for Fixed {
    fn on_ack(&mut self, _: &Ack<'_>) -> Reaction {
        Reaction::Continue
    }

    fn on_departure(&mut self, departure: &Departure) {
        take_token(&mut self.pacer, departure);
    }

    fn pace(&self, now: Instant) -> Option<Pace> {
        permission(&self.pacer, now)
    }

    fn pacing(&self) -> PacingView {
        PacingView { interval: self.pacer.interval(), ..PacingView::default() }
    }
}
