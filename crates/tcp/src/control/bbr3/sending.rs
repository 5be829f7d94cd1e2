//! How fast and how much leaves: pace and window (section 5.6).

use super::{Bbr3, STARTUP_GAIN, State};
use crate::control::Stage;
use meshpace_units::{Bytes, Instant, Rate, Span};

/// The pace is this much of the bandwidth, lest a queue stay (PacingMarginPercent).
const MARGIN: f64 = 0.99;
/// The most that leaves together, bytes (SetSendQuantum).
const MOST_QUANTUM: f64 = 65_536.0;

impl Bbr3 {
    /// What leaves together (SetSendQuantum).
    fn quantum(&self) -> f64 {
        (self.pace / 1e3).min(MOST_QUANTUM).max(2.0 * self.segment())
    }

    /// With room for pieces that leave together, at least the least window (QuantizationBudget).
    pub(super) fn with_room(&self, bytes: f64) -> f64 {
        let room = bytes.max(3.0 * self.quantum()).max(self.least_window());
        if self.state == State::Up { room + 2.0 * self.segment() } else { room }
    }

    fn set_pace(&mut self, now: Instant, pace: f64) {
        self.pace = pace.max(1.0);
        let rate = Rate::bits_per_sec(libm::ceil(8.0 * self.pace) as u64);
        self.pacer.set_interval(now, rate.time_to_send(Bytes(u64::from(self.mss))));
    }

    /// SetPacingRateWithGain.
    pub(super) fn pace_with(&mut self, now: Instant, gain: f64) {
        let pace = gain * self.bandwidth * MARGIN;
        if self.full.reached || pace > self.pace {
            self.set_pace(now, pace);
        }
    }

    /// InitPacingRate.
    pub(super) fn pace_by_window(&mut self, now: Instant, trip: Span) {
        let trip = trip.max(Span::from_micros(1)).as_secs_f64();
        self.set_pace(now, STARTUP_GAIN * self.initial_window() / trip);
    }

    /// SetCwnd.
    pub(super) fn update_window(&mut self) {
        let (_, gain) = self.state.gains();
        let wanted = self.with_room(self.product(self.bandwidth, gain) + self.aggregation.extra());
        let cwnd = self.window_bytes();
        let next = if self.full.reached {
            (cwnd + self.seen.acked).min(wanted)
        } else if cwnd < wanted || (self.delivered as f64) < self.initial_window() {
            cwnd + self.seen.acked
        } else {
            cwnd
        };
        let mut next = next.max(self.least_window());
        if self.state == State::ProbeTrip {
            next = next.min(self.probe_window());
        }
        self.window.set(next / self.segment());
        self.bound_window();
    }

    /// BoundCwndForModel.
    pub(super) fn bound_window(&mut self) {
        let cap = match self.state {
            State::Down | State::Refill | State::Up => self.long_term,
            State::Cruise | State::ProbeTrip => self.with_headroom(),
            State::Startup | State::Drain => f64::INFINITY,
        };
        let cap = cap.min(self.losses.inflight).max(self.least_window());
        self.window.set(self.window.cwnd().min(cap / self.segment()));
    }

    pub(super) fn save_window(&mut self) {
        let cwnd = self.window.cwnd();
        let good = self.stage == Stage::Open && self.state != State::ProbeTrip;
        self.prior_window = if good { cwnd } else { self.prior_window.max(cwnd) };
    }

    pub(super) fn restore_window(&mut self) {
        self.window.set(self.window.cwnd().max(self.prior_window));
    }
}
