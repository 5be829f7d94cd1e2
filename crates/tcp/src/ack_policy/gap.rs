//! How far apart segments arrive, smoothed.

use meshpace_units::{Instant, Span};

/// The smoothed time between segments in order.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Gap {
    /// Weight of the old value.
    weight: f64,
    last: Option<Instant>,
    smoothed: Option<f64>,
}

impl Gap {
    pub(super) const fn new(weight: f64) -> Self {
        Self { weight, last: None, smoothed: None }
    }

    /// A segment arrived in order. The smoothed gap before it, once there are two.
    pub(super) fn on_arrival(&mut self, now: Instant) -> Option<Span> {
        if let Some(last) = self.last.replace(now) {
            let gap = now.saturating_since(last).as_secs_f64();
            let smooth = |old| self.weight * old + (1.0 - self.weight) * gap;
            self.smoothed = Some(self.smoothed.map_or(gap, smooth));
        }
        self.smoothed.map(Span::from_secs_f64)
    }

    /// What arrived at `now` says nothing about the distance of those that come in order.
    pub(super) const fn on_disorder(&mut self) {
        self.last = None;
    }
}
