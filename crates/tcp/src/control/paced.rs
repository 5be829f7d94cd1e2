//! A window part and a pacing part as one control.

use super::{
    Ack, Allowance, Asks, Control, Departure, Feedback, Idled, Outstanding, Pace, PacingView, Reaction,
};
use alloc::boxed::Box;
use core::ops::Range;
use meshpace_units::{Instant, Span};

/// A window part and a pacing part as one control. The reactions to acknowledgements are the window part's; where both
/// answer, the tighter answer holds.
#[derive(Clone, Debug)]
pub struct Paced {
    window: Box<dyn Control>,
    pacing: Box<dyn Control>,
}

impl Paced {
    /// The window of one, the pace of the other.
    #[must_use]
    pub fn new(window: Box<dyn Control>, pacing: Box<dyn Control>) -> Self {
        Self { window, pacing }
    }
}

impl Control for Paced {
    fn asks(&self) -> Asks {
        self.window.asks().and(self.pacing.asks())
    }

    fn on_connected(&mut self, syn_lost: bool, mss: u32) {
        self.window.on_connected(syn_lost, mss);
        self.pacing.on_connected(syn_lost, mss);
    }

    fn on_ack(&mut self, ack: &Ack<'_>) -> Reaction {
        // A pacing part has no say in what is resent.
        let _: Reaction = self.pacing.on_ack(ack);
        let reaction = self.window.on_ack(ack);
        if reaction.is_loss() {
            self.pacing.on_loss();
        }
        if let Some(cwnd) = self.window.cwnd() {
            self.pacing.on_window(ack.now, cwnd, self.window.ssthresh());
        }
        reaction
    }

    fn on_loss(&mut self) {
        self.window.on_loss();
        self.pacing.on_loss();
    }

    fn probes(&mut self, out: &Outstanding) -> bool {
        self.window.probes(out)
    }

    fn on_timeout(&mut self, now: Instant, out: &Outstanding) {
        self.window.on_timeout(now, out);
        self.pacing.on_timeout(now, out);
    }

    fn on_idle(&mut self, idled: &Idled) {
        self.window.on_idle(idled);
        self.pacing.on_idle(idled);
    }

    fn on_departure(&mut self, departure: &Departure) {
        self.window.on_departure(departure);
        self.pacing.on_departure(departure);
    }

    fn on_mss_change(&mut self, old: u32, new: u32) {
        self.window.on_mss_change(old, new);
        self.pacing.on_mss_change(old, new);
    }

    fn on_hole_taken(&mut self, taken: Range<u64>) {
        self.window.on_hole_taken(taken);
    }

    fn deadline(&self) -> Option<Instant> {
        [self.window.deadline(), self.pacing.deadline()].into_iter().flatten().min()
    }

    fn on_deadline(&mut self, now: Instant, out: &Outstanding) -> Reaction {
        let due = |at: Option<Instant>| at.is_some_and(|at| at <= now);
        if due(self.pacing.deadline()) {
            // A pacing part has no say in what is resent.
            let _: Reaction = self.pacing.on_deadline(now, out);
        }
        if !due(self.window.deadline()) {
            return Reaction::Continue;
        }
        let reaction = self.window.on_deadline(now, out);
        if reaction.is_loss() {
            self.pacing.on_loss();
        }
        reaction
    }

    fn window(&self, mss: u32, new_data: bool) -> Option<Allowance> {
        let (window, pacing) = (self.window.window(mss, new_data), self.pacing.window(mss, new_data));
        match (window, pacing) {
            (Some(a), Some(b)) => Some(if b.bytes < a.bytes { b } else { a }),
            (one, other) => one.or(other),
        }
    }

    fn burst(&self) -> Option<u32> {
        self.window.burst()
    }

    fn pace(&self, now: Instant) -> Option<Pace> {
        match (self.window.pace(now), self.pacing.pace(now)) {
            (Some(a), Some(b)) => Some(Pace {
                release: a.release.max(b.release),
                interval: a.interval.max(b.interval),
                discipline: b.discipline,
            }),
            (one, other) => other.or(one),
        }
    }

    fn hole(&self, unsent: bool) -> Option<Range<u64>> {
        self.window.hole(unsent)
    }

    fn missing(&self, range: Range<u64>) -> Range<u64> {
        self.window.missing(range)
    }

    fn goes_back(&self) -> bool {
        self.window.goes_back()
    }

    /// The pacing part's, if it has one: a packet has one header for relays.
    fn request(&self, mss: u32) -> Option<Feedback> {
        self.pacing.request(mss).or_else(|| self.window.request(mss))
    }

    fn timeout(&self, rto: Span) -> Span {
        self.window.timeout(rto)
    }

    fn cwnd(&self) -> Option<f64> {
        [self.window.cwnd(), self.pacing.cwnd()].into_iter().flatten().reduce(f64::min)
    }

    fn ssthresh(&self) -> Option<f64> {
        self.window.ssthresh()
    }

    fn pacing(&self) -> PacingView {
        self.pacing.pacing()
    }
}
