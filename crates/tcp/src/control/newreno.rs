//! NewReno: fast recovery that survives several losses in one window.

use super::part::WindowPart;
use super::{Ack, Control, Outstanding, Progress, Reaction, Recovery, Rules, Window};
use alloc::boxed::Box;
use meshpace_units::Instant;

pub(super) static PART: WindowPart = WindowPart::new(
    "newreno",
    "Fast recovery that survives several losses in one window.",
    "schemes.md 16; RFC 5681, RFC 6582",
    |_, surroundings| Box::new(NewReno::new(surroundings.rules)),
);

/// NewReno (RFC 5681, RFC 6582; schemes.md 16).
#[derive(Clone, Debug)]
pub struct NewReno {
    pub(super) window: Window,
    recovery: Recovery,
}

impl NewReno {
    /// By these rules.
    #[must_use]
    pub fn new(rules: Rules) -> Self {
        Self { window: Window::new(rules), recovery: Recovery::new(&rules) }
    }
}

impl Control for NewReno {
    fn on_connected(&mut self, syn_lost: bool, mss: u32) {
        self.window.open(syn_lost, mss);
        self.recovery.on_connected();
    }

    fn on_ack(&mut self, ack: &Ack<'_>) -> Reaction {
        self.window.heed_mark(ack);
        let progress = self.recovery.on_ack(&mut self.window, ack);
        if progress == Progress::Open {
            self.window.grow(ack);
        }
        progress.reaction()
    }

    fn on_timeout(&mut self, _: Instant, out: &Outstanding) {
        let again = self.recovery.on_timeout(out);
        self.window.time_out(again, out);
    }

    fn recovery(&self) -> Option<&Recovery> {
        Some(&self.recovery)
    }

    fn congestion_window(&self) -> Option<&Window> {
        Some(&self.window)
    }

    fn congestion_window_mut(&mut self) -> Option<&mut Window> {
        Some(&mut self.window)
    }
}
