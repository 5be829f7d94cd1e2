//! Reno's window: half of it at a loss, then a segment a round trip.

use super::part::WindowPart;
use super::recovery::FastRecovery;
use super::{Congestion, Recovered, Rules, Window};
use alloc::boxed::Box;

pub(super) static PART: WindowPart = WindowPart::new(
    "newreno",
    "Fast recovery that survives several losses in one window.",
    "schemes.md 16; RFC 5681, RFC 6582",
    |_, surroundings| Reno::new(surroundings.rules).into(),
);

/// Reno's window (RFC 5681; schemes.md 16): all that [`Congestion`] does without being told otherwise.
#[derive(Clone, Debug)]
pub struct Reno {
    window: Window,
}

impl Reno {
    /// By these rules.
    #[must_use]
    pub fn new(rules: Rules) -> Self {
        Self { window: Window::new(rules) }
    }
}

impl Congestion for Reno {
    fn window(&self) -> &Window {
        &self.window
    }

    fn window_mut(&mut self) -> &mut Window {
        &mut self.window
    }
}

/// NewReno (RFC 5681, RFC 6582; schemes.md 16).
#[must_use]
pub fn newreno(rules: Rules) -> Recovered {
    Recovered::new(Box::new(Reno::new(rules)), Box::new(FastRecovery::new(&rules)))
}
