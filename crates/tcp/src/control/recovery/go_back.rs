//! Go back: everything from the lost segment on is sent again, in order.

use super::{Losses, Progress, Recovery, RecoveryPart};
use crate::control::{Ack, AckKind, Allowance, Outstanding, Reaction, Rules, Window};
use alloc::boxed::Box;
use meshpace_units::Instant;

pub(super) static PART: RecoveryPart = RecoveryPart::new(
    "go-back",
    "Everything from the lost segment on is sent again, in order (Tahoe's).",
    "schemes.md 16, \"Tahoe on 3 dups\"",
    |_, rules| Box::new(GoBack::new(rules)),
);

/// Losses by duplicates, answered by going back to the first unacknowledged segment (schemes.md 16, "Tahoe on 3 dups").
#[derive(Clone, Debug)]
pub struct GoBack {
    losses: Losses,
}

impl GoBack {
    /// By these rules.
    #[must_use]
    pub const fn new(rules: &Rules) -> Self {
        Self { losses: Losses::after(rules.duplicate_threshold) }
    }
}

impl Recovery for GoBack {
    fn on_connected(&mut self, _: u32) {
        self.losses.on_new_ack();
    }

    fn on_ack(&mut self, _: &mut Window, ack: &Ack<'_>) -> Progress {
        match ack.kind {
            AckKind::New => {
                self.losses.on_new_ack();
                Progress::Open
            }
            AckKind::Duplicate if self.losses.on_duplicate(&ack.out) => Progress::Loss { inflation: 0.0 },
            AckKind::Duplicate | AckKind::Other => Progress::Hold,
        }
    }

    fn begin(&mut self, window: &mut Window, cwnd: f64, _: &Outstanding) -> Reaction {
        window.set(cwnd);
        Reaction::GoBack
    }

    fn on_timeout(&mut self, _: Instant, out: &Outstanding) -> bool {
        self.losses.on_timeout(out)
    }

    fn allowance(&self, window: &Window, mss: u32, new_data: bool) -> Allowance {
        window.allowance(0.0, self.losses.extension(window.rules(), new_data), mss)
    }
}
