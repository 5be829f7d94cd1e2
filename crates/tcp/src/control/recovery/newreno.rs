//! NewReno's fast recovery (RFC 6582; ns2-behaviour.md 6.4 to 6.6).

use super::{Losses, Progress, Recovery, RecoveryPart};
use crate::control::{Ack, AckKind, Allowance, Outstanding, Reaction, Rules, Window};
use alloc::boxed::Box;
use meshpace_units::Instant;

pub(super) static PART: RecoveryPart = RecoveryPart::new(
    "newreno",
    "Fast recovery that survives several losses in one window, a hole a round trip.",
    "schemes.md 16; RFC 5681, RFC 6582",
    |_, rules| Box::new(FastRecovery::new(rules)),
);

/// Losses by duplicates, and fast recovery from them: the window is inflated by the segments known to have left the
/// network. By how much a loss cuts the window is the part's business.
#[derive(Clone, Debug, Default)]
pub struct FastRecovery {
    losses: Losses,
    /// Segments added to the window (ns-2's `dupwnd_`); `None` outside recovery.
    inflation: Option<f64>,
    partial_seen: bool,
}

impl FastRecovery {
    /// By these rules.
    #[must_use]
    pub fn new(rules: &Rules) -> Self {
        Self { losses: Losses::after(rules.duplicate_threshold), ..Self::default() }
    }

    /// True while fast recovery has not ended.
    #[must_use]
    pub const fn active(&self) -> bool {
        self.inflation.is_some()
    }

    /// Segments added to the window.
    #[must_use]
    pub fn inflation(&self) -> f64 {
        self.inflation.unwrap_or(0.0)
    }

    /// Something new was acknowledged.
    fn on_new_ack(&mut self, window: &mut Window, ack: &Ack<'_>) -> Progress {
        let recovering = self.active();
        if recovering && self.losses.is_partial(ack.out.una) {
            return Progress::Repair(self.on_partial(window, ack.segments()));
        }
        self.losses.on_new_ack();
        if recovering {
            self.leave(window, &ack.out);
            if !window.rules().grows_on_recovery_exit {
                return Progress::Hold;
            }
        }
        Progress::Open
    }

    /// One more duplicate; true if it signals a loss.
    fn on_duplicate(&mut self, out: &Outstanding) -> bool {
        if self.losses.on_duplicate(out) {
            return true;
        }
        if self.losses.duplicates() > self.losses.threshold() {
            // One more segment has left the network.
            self.inflation = self.inflation.map(|inflation| inflation + 1.0);
        }
        false
    }

    /// A partial acknowledgement: the window shrinks by what was acknowledged and grows by the segment that is
    /// resent (RFC 6582, section 3.2, step 3; by one whole segment only if at least that much was acknowledged).
    fn on_partial(&mut self, window: &mut Window, acked: f64) -> Reaction {
        let inflation = self.inflation();
        let added_back = if acked >= 1.0 { 1.0 } else { 0.0 };
        if inflation > acked {
            self.inflation = Some(inflation - acked + added_back);
        } else {
            window.set((window.cwnd() - (acked - inflation)).max(1.0));
            self.inflation = Some(1.0);
        }
        let restart_timer = !self.partial_seen;
        self.partial_seen = true;
        Reaction::ResendHole { restart_timer }
    }

    fn leave(&mut self, window: &mut Window, out: &Outstanding) {
        if window.rules().deflate_on_recovery_exit {
            window.set(window.ssthresh().min(out.flight.max(1.0) + 1.0));
        }
        (self.inflation, self.partial_seen) = (None, false);
    }
}

impl Recovery for FastRecovery {
    fn on_connected(&mut self, _: u32) {
        self.losses.on_new_ack();
    }

    fn on_ack(&mut self, window: &mut Window, ack: &Ack<'_>) -> Progress {
        match ack.kind {
            AckKind::New => self.on_new_ack(window, ack),
            AckKind::Duplicate if self.on_duplicate(&ack.out) => {
                Progress::Loss { inflation: self.inflation() }
            }
            AckKind::Duplicate | AckKind::Other => Progress::Hold,
        }
    }

    fn begin(&mut self, window: &mut Window, cwnd: f64, _: &Outstanding) -> Reaction {
        window.set(cwnd);
        self.inflation = Some(f64::from(self.losses.threshold()));
        self.partial_seen = false;
        Reaction::FastRetransmit
    }

    fn on_timeout(&mut self, _: Instant, out: &Outstanding) -> bool {
        (self.inflation, self.partial_seen) = (None, false);
        self.losses.on_timeout(out)
    }

    fn allowance(&self, window: &Window, mss: u32, new_data: bool) -> Allowance {
        let extension = if self.active() { 0 } else { self.losses.extension(window.rules(), new_data) };
        window.allowance(self.inflation(), extension, mss)
    }

    /// ns-2's NewReno sends one for each of the first two duplicates and at most two from the third on
    /// (ns2-behaviour.md 6.3 to 6.5).
    fn burst(&self, rules: &Rules) -> Option<u32> {
        let limit = rules.recovery_burst?;
        match self.losses.duplicates() {
            0 => None,
            n if n < self.losses.threshold() => Some(u32::from(rules.limited_transmit)),
            _ => Some(limit),
        }
    }
}
