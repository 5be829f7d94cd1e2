//! What losses do: bounds for a while, a bound until the next probe goes further, and taking both back (draft-ietf-ccwg-bbr-06,
//! sections 5.5.10 and 5.5.11).

use super::{Bbr3, Seen, State};
use crate::control::recovery::Lost;
use meshpace_units::Instant;

/// Of what was in flight, as much may be lost (LossThresh).
const TOLERATED: f64 = 0.02;
/// The least that a round with losses leaves (Beta).
const BETA: f64 = 0.7;

/// Signals of a round trip, and the bounds that they set. Bytes and bytes a second.
#[derive(Clone, Copy, Debug)]
pub(super) struct Losses {
    /// The short-term bounds (bw_shortterm, inflight_shortterm).
    pub(super) bandwidth: f64,
    pub(super) inflight: f64,
    /// The greatest of this round trip (bw_latest, inflight_latest).
    bandwidth_latest: f64,
    pub(super) inflight_latest: f64,
    /// Something was lost in it (is_loss_in_round).
    in_round: bool,
    /// A round trip by losses began with the latest acknowledgement (loss_round_start).
    pub(super) round_started: bool,
    round_end: u64,
    /// Ranges lost in it that do not touch, and where the latest ended.
    pub(super) ranges: u32,
    pub(super) last_end: u64,
}

impl Default for Losses {
    fn default() -> Self {
        Self {
            bandwidth: f64::INFINITY,
            inflight: f64::INFINITY,
            bandwidth_latest: 0.0,
            inflight_latest: 0.0,
            in_round: false,
            round_started: false,
            round_end: 0,
            ranges: 0,
            last_end: 0,
        }
    }
}

impl Losses {
    /// UpdateLatestDeliverySignals.
    pub(super) fn begin(&mut self, seen: &Seen, delivered: u64) {
        self.bandwidth_latest = self.bandwidth_latest.max(seen.rate);
        self.inflight_latest = self.inflight_latest.max(seen.delivered);
        self.round_started = seen.prior_delivered >= self.round_end;
        if self.round_started {
            self.round_end = delivered;
        }
    }

    /// AdvanceLatestDeliverySignals.
    pub(super) const fn end(&mut self, seen: &Seen) {
        if self.round_started {
            (self.bandwidth_latest, self.inflight_latest) = (seen.rate, seen.delivered);
        }
    }

    /// ResetCongestionSignals.
    pub(super) const fn forget_signals(&mut self) {
        (self.in_round, self.bandwidth_latest, self.inflight_latest) = (false, 0.0, 0.0);
    }

    /// ResetShortTermModel.
    pub(super) const fn forget_bounds(&mut self) {
        (self.bandwidth, self.inflight) = (f64::INFINITY, f64::INFINITY);
    }
}

/// The state before losses, which may be restored.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Saved {
    /// The state that a loss ended.
    pub(super) state: Option<State>,
    bandwidth: f64,
    inflight: f64,
    long_term: f64,
}

impl Bbr3 {
    /// SaveStateUponLoss, but for the window.
    pub(super) const fn save_bounds(&mut self) {
        self.saved = Saved {
            state: None,
            bandwidth: self.losses.bandwidth,
            inflight: self.losses.inflight,
            long_term: self.long_term,
        };
    }

    /// NoteLoss.
    fn note_loss(&mut self) {
        if !self.losses.in_round {
            self.losses.round_end = self.delivered;
            self.save_window();
            self.save_bounds();
        }
        self.losses.in_round = true;
    }

    /// IsInflightTooHigh.
    pub(super) fn is_too_much_lost(&self) -> bool {
        self.seen.lost > TOLERATED * self.seen.tx_in_flight
    }

    /// HandleLostPacket.
    pub(super) fn handle_lost(&mut self, now: Instant, lost: &Lost) {
        self.note_loss();
        let length = lost.end - lost.start;
        self.lost += length;
        self.in_flight = self.in_flight.saturating_sub(length);
        if lost.start != core::mem::replace(&mut self.losses.last_end, lost.end) {
            self.losses.ranges = self.losses.ranges.saturating_add(1);
        }
        let Some(left) = self.departures.at(lost.sent).filter(|_| self.cycle.is_sample) else { return };
        self.seen.tx_in_flight = left.in_flight as f64;
        self.seen.lost = (self.lost - left.lost) as f64;
        if self.is_too_much_lost() {
            // How much had been in flight when too much of it was lost, within this segment (InflightAtLoss).
            let (before, lost_before) =
                (self.seen.tx_in_flight - length as f64, self.seen.lost - length as f64);
            self.seen.tx_in_flight = before + (TOLERATED * before - lost_before) / (1.0 - TOLERATED);
            self.handle_too_much(now);
        }
    }

    /// A mark is a loss of nothing.
    pub(super) fn handle_mark(&mut self, now: Instant) {
        self.note_loss();
        if self.cycle.is_sample {
            self.handle_too_much(now);
        }
    }

    /// HandleInflightTooHigh.
    fn handle_too_much(&mut self, now: Instant) {
        self.cycle.too_high = true;
        self.cycle.is_sample = false;
        if !self.seen.app_limited {
            let wanted = self.product(self.bandwidth, 1.0).min(self.window_bytes());
            self.long_term = self.seen.tx_in_flight.max(BETA * wanted);
        }
        if self.state == State::Up {
            self.saved.state = Some(State::Up);
            self.start_down(now);
        }
    }

    /// The rest of UpdateCongestionSignals: once a round trip with losses, where nothing is probed, the bounds follow what is
    /// delivered.
    pub(super) fn adapt_short_term(&mut self) {
        if !self.losses.round_started {
            return;
        }
        let probes = matches!(self.state, State::Startup | State::Refill | State::Up);
        if core::mem::take(&mut self.losses.in_round) && !probes {
            let (max_bandwidth, window) = (self.max_bandwidth.get(), self.window_bytes());
            let losses = &mut self.losses;
            let bound = |bound: f64, first: f64, latest: f64| {
                latest.max(BETA * if bound.is_finite() { bound } else { first })
            };
            losses.bandwidth = bound(losses.bandwidth, max_bandwidth, losses.bandwidth_latest);
            losses.inflight = bound(losses.inflight, window, losses.inflight_latest);
        }
    }

    /// HandleSpuriousLossDetection: nothing was lost after all.
    pub(super) fn take_back(&mut self) {
        self.restore_window();
        self.losses.in_round = false;
        self.full.reset(0.0);
        self.losses.bandwidth = self.losses.bandwidth.max(self.saved.bandwidth);
        self.losses.inflight = self.losses.inflight.max(self.saved.inflight);
        self.long_term = self.long_term.max(self.saved.long_term);
        match self.saved.state.take() {
            Some(State::Startup) if self.state != State::Startup => {
                self.full.reached = false;
                if self.state != State::ProbeTrip {
                    self.state = State::Startup;
                }
            }
            Some(State::Up) if self.state != State::Up && self.state != State::ProbeTrip => {
                self.start_refill();
            }
            _ => {}
        }
    }
}
