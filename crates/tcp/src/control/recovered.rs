//! Congestion control and loss recovery as one control.

use super::{
    Ack, Allowance, Asks, Congestion, Control, Departure, Feedback, Flight, Idled, Outstanding, Pace,
    PacingView, Progress, Reaction, Recovery, Stage, Window,
};
use alloc::boxed::Box;
use core::ops::Range;
use meshpace_units::{Instant, Span};

/// A window and what finds its losses. Neither knows the other. The losses that recovery finds go to congestion control,
/// which answers with the window that recovery begins with.
#[derive(Clone, Debug)]
pub struct Recovered {
    congestion: Box<dyn Congestion>,
    recovery: Box<dyn Recovery>,
}

impl Recovered {
    /// The window of one, the losses and repairs of the other.
    #[must_use]
    pub fn new(congestion: Box<dyn Congestion>, recovery: Box<dyn Recovery>) -> Self {
        Self { congestion, recovery }
    }

    /// Tells congestion control what was found lost.
    fn tell_lost(&mut self, now: Instant) {
        for lost in self.recovery.take_lost() {
            self.congestion.on_lost(now, &lost);
        }
    }

    /// What follows from what recovery found; `ack`: from an acknowledgement, which may open the window.
    fn follow(&mut self, progress: Progress, out: &Outstanding, ack: Option<&Ack<'_>>) -> Reaction {
        match (progress, ack) {
            (Progress::Open, Some(ack)) => {
                self.congestion.on_progress(ack);
                Reaction::Continue
            }
            (Progress::Open | Progress::Hold, _) => Reaction::Continue,
            (Progress::Repair(reaction), _) => reaction,
            (Progress::Undo, _) => {
                self.congestion.on_undo();
                Reaction::Continue
            }
            (Progress::Loss { inflation }, _) => {
                self.congestion.window_mut().remember();
                let cwnd = self.congestion.on_loss(inflation, out);
                self.recovery.begin(self.congestion.window_mut(), cwnd, out)
            }
        }
    }
}

impl Control for Recovered {
    fn asks(&self) -> Asks {
        self.congestion.asks().and(self.recovery.asks())
    }

    fn on_connected(&mut self, syn_lost: bool, mss: u32) {
        self.congestion.on_connected(syn_lost, mss);
        self.recovery.on_connected(mss);
    }

    fn on_ack(&mut self, ack: &Ack<'_>) -> Reaction {
        self.congestion.on_ack(ack);
        let progress = self.recovery.on_ack(self.congestion.window_mut(), ack);
        self.tell_lost(ack.now);
        let reaction = self.follow(progress, &ack.out, Some(ack));
        if let Some(flight) = self.recovery.flight() {
            self.congestion.on_flight(ack, &flight);
        }
        reaction
    }

    fn probes(&mut self, out: &Outstanding) -> bool {
        self.recovery.probes(out)
    }

    fn on_timeout(&mut self, now: Instant, out: &Outstanding) {
        if self.recovery.flight().is_none_or(|Flight { stage, .. }| stage == Stage::Open) {
            self.congestion.window_mut().remember();
        }
        let again = self.recovery.on_timeout(now, out);
        self.tell_lost(now);
        self.congestion.on_timeout(now, again, out);
    }

    fn on_idle(&mut self, idled: &Idled) {
        self.congestion.on_idle(idled);
    }

    fn on_departure(&mut self, departure: &Departure) {
        self.congestion.on_departure(departure);
        self.recovery.on_departure(departure);
    }

    fn on_mss_change(&mut self, old: u32, new: u32) {
        self.congestion.on_mss_change(old, new);
        self.recovery.on_mss_change(new);
    }

    fn on_hole_taken(&mut self, taken: Range<u64>) {
        self.recovery.on_hole_taken(&taken);
    }

    fn deadline(&self) -> Option<Instant> {
        self.recovery.deadline()
    }

    fn on_deadline(&mut self, now: Instant, out: &Outstanding) -> Reaction {
        let progress = self.recovery.on_deadline(self.congestion.window_mut(), now, out);
        self.tell_lost(now);
        self.follow(progress, out, None)
    }

    fn window(&self, mss: u32, new_data: bool) -> Option<Allowance> {
        let allowance = self.recovery.allowance(self.congestion.window(), mss, new_data);
        Some(self.congestion.limited(allowance, mss))
    }

    fn burst(&self) -> Option<u32> {
        self.recovery.burst(self.congestion.window().rules())
    }

    fn pushes(&self, last: bool) -> bool {
        self.congestion.pushes(last)
    }

    fn pace(&self, now: Instant) -> Option<Pace> {
        self.congestion.pace(now)
    }

    fn hole(&self, unsent: bool) -> Option<Range<u64>> {
        self.recovery.hole(self.congestion.window(), unsent)
    }

    fn missing(&self, range: Range<u64>) -> Range<u64> {
        self.recovery.missing(range)
    }

    fn goes_back(&self) -> bool {
        self.recovery.goes_back()
    }

    fn request(&self, mss: u32) -> Option<Feedback> {
        self.congestion.request(mss)
    }

    fn timeout(&self, rto: Span) -> Span {
        self.congestion.timeout(rto)
    }

    fn congestion_window(&self) -> Option<&Window> {
        Some(self.congestion.window())
    }

    fn congestion_window_mut(&mut self) -> Option<&mut Window> {
        Some(self.congestion.window_mut())
    }

    fn cwnd(&self) -> Option<f64> {
        Some(self.congestion.cwnd())
    }

    fn pacing(&self) -> PacingView {
        self.congestion.pacing()
    }
}
