//! Reno with recovery by selective acknowledgements.

use super::part::WindowPart;
use super::{
    Ack, Allowance, Asks, Control, Departure, NewReno, Outstanding, Reaction, Rules, SackProgress,
    SackRecovery, Window,
};
use alloc::boxed::Box;
use core::ops::Range;
use meshpace_units::Instant;

pub(super) static PART: WindowPart = WindowPart::new(
    "sack",
    "Reno with recovery by selective acknowledgements: all holes of a window in one round trip.",
    "RFC 5681, RFC 6675",
    |_, surroundings| Box::new(SackReno::new(surroundings.rules)),
);

/// Reno with SACK-based recovery (RFC 5681, RFC 6675): all holes of a window are repaired in one round trip. With a peer
/// that reports nothing it is [`NewReno`].
#[derive(Clone, Debug)]
pub struct SackReno {
    reno: NewReno,
    recovery: SackRecovery,
    mss: u32,
    /// The peer reports what it has.
    reports: bool,
}

impl SackReno {
    /// By these rules; those of NewReno's recovery are for peers without selective acknowledgements.
    #[must_use]
    pub fn new(rules: Rules) -> Self {
        Self { reno: NewReno::new(rules), recovery: SackRecovery::default(), mss: 0, reports: false }
    }
}

impl Control for SackReno {
    fn asks(&self) -> Asks {
        Asks { sack: true, ..Asks::default() }
    }

    fn on_connected(&mut self, syn_lost: bool, mss: u32) {
        self.reno.on_connected(syn_lost, mss);
        self.mss = mss;
    }

    fn on_ack(&mut self, ack: &Ack<'_>) -> Reaction {
        self.reports = ack.sack.is_some();
        let Some(blocks) = &ack.sack else { return self.reno.on_ack(ack) };
        self.reno.window.heed_mark(ack);
        match self.recovery.on_ack(ack, blocks) {
            SackProgress::Open => self.reno.window.grow(ack),
            SackProgress::Hold => {}
            SackProgress::Loss => {
                let cwnd = self.reno.window.cut_threshold(0.0, &ack.out);
                self.reno.window.set(cwnd);
                self.recovery.enter(&ack.out, ack.mss);
                return Reaction::FastRetransmit;
            }
        }
        Reaction::Continue
    }

    fn on_timeout(&mut self, now: Instant, out: &Outstanding) {
        self.reno.on_timeout(now, out);
        self.recovery.on_timeout(out);
    }

    fn on_departure(&mut self, departure: &Departure) {
        self.recovery.on_departure(departure);
    }

    fn on_mss_change(&mut self, old: u32, new: u32) {
        self.reno.on_mss_change(old, new);
        self.mss = new;
    }

    fn on_hole_taken(&mut self, taken: Range<u64>) {
        self.recovery.on_hole_taken(&taken);
    }

    fn window(&self, mss: u32, new_data: bool) -> Option<Allowance> {
        if self.reports {
            Some(self.recovery.allowance(&self.reno.window, mss))
        } else {
            self.reno.window(mss, new_data)
        }
    }

    fn burst(&self) -> Option<u32> {
        if self.reports { None } else { self.reno.burst() }
    }

    fn hole(&self, unsent: bool) -> Option<Range<u64>> {
        self.recovery.hole(&self.reno.window, self.mss, unsent)
    }

    fn missing(&self, range: Range<u64>) -> Range<u64> {
        self.recovery.missing(&range)
    }

    fn congestion_window(&self) -> Option<&Window> {
        Some(&self.reno.window)
    }

    fn congestion_window_mut(&mut self) -> Option<&mut Window> {
        Some(&mut self.reno.window)
    }
}
