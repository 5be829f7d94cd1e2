//! Tahoe: every loss starts again from one segment.

use super::part::WindowPart;
use super::{Ack, AckKind, Allowance, Control, Losses, Outstanding, Reaction, Rules, Window};
use alloc::boxed::Box;
use meshpace_units::Instant;

pub(super) static PART: WindowPart = WindowPart::new(
    "tahoe",
    "Slow start from one segment after every loss.",
    "schemes.md 16",
    |_, surroundings| Box::new(Tahoe::new(surroundings.rules)),
);

/// Tahoe: slow start from one segment after every loss (schemes.md 16).
#[derive(Clone, Debug)]
pub struct Tahoe {
    window: Window,
    losses: Losses,
}

impl Tahoe {
    /// By these rules.
    #[must_use]
    pub fn new(rules: Rules) -> Self {
        Self { window: Window::new(rules), losses: Losses::after(rules.duplicate_threshold) }
    }
}

impl Control for Tahoe {
    fn on_connected(&mut self, syn_lost: bool, mss: u32) {
        self.window.open(syn_lost, mss);
        self.losses.on_new_ack();
    }

    fn on_ack(&mut self, ack: &Ack<'_>) -> Reaction {
        self.window.heed_mark(ack);
        match ack.kind {
            AckKind::New => {
                self.losses.on_new_ack();
                self.window.grow(ack);
            }
            AckKind::Duplicate => {
                if self.losses.on_duplicate(&ack.out) {
                    // Half the threshold, one segment, go back to the first unacknowledged one (schemes.md 16, "Tahoe on 3
                    // dups").
                    self.window.cut_threshold(0.0, &ack.out);
                    self.window.set(self.window.loss_window());
                    return Reaction::GoBack;
                }
            }
            AckKind::Other => {}
        }
        Reaction::Continue
    }

    fn on_timeout(&mut self, _: Instant, out: &Outstanding) {
        let again = self.losses.on_timeout(out);
        self.window.time_out(again, out);
    }

    fn window(&self, mss: u32, new_data: bool) -> Option<Allowance> {
        let extension = self.losses.extension(self.window.rules(), new_data);
        Some(self.window.allowance(0.0, extension, mss))
    }

    fn congestion_window(&self) -> Option<&Window> {
        Some(&self.window)
    }

    fn congestion_window_mut(&mut self) -> Option<&mut Window> {
        Some(&mut self.window)
    }
}
