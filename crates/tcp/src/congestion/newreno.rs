//! NewReno's fast recovery (RFC 6582; ns2-behaviour.md 6.4 to 6.6).

use super::{DUPLICATE_THRESHOLD, Outstanding, Reaction, window::Window};

/// Fast recovery: the window is inflated by the segments known to have left the network.
#[derive(Clone, Debug, Default)]
pub(super) struct Recovery {
    /// Segments added to the window (ns-2's `dupwnd_`); `None` outside recovery.
    inflation: Option<f64>,
    partial_seen: bool,
}

impl Recovery {
    pub(super) const fn active(&self) -> bool {
        self.inflation.is_some()
    }

    pub(super) fn inflation(&self) -> f64 {
        self.inflation.unwrap_or(0.0)
    }

    pub(super) fn enter(&mut self, window: &mut Window, out: &Outstanding) -> Reaction {
        let cwnd = window.cut_threshold(self.inflation(), out);
        window.set(cwnd);
        *self = Self { inflation: Some(f64::from(DUPLICATE_THRESHOLD)), partial_seen: false };
        Reaction::FastRetransmit
    }

    /// One more duplicate: one more segment has left the network.
    pub(super) fn inflate(&mut self) {
        self.inflation = self.inflation.map(|inflation| inflation + 1.0);
    }

    /// A partial acknowledgement: the window shrinks by what was acknowledged and grows by the segment that is
    /// resent (RFC 6582, section 3.2, step 3; by one whole segment only if at least that much was acknowledged).
    pub(super) fn on_partial(&mut self, window: &mut Window, acked: f64) -> Reaction {
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

    pub(super) fn leave(&mut self, window: &mut Window, out: &Outstanding) {
        if window.rules().deflate_on_recovery_exit {
            window.set(window.ssthresh().min(out.flight.max(1.0) + 1.0));
        }
        *self = Self::default();
    }
}
