//! The cycle that probes the bandwidth: down, cruise, refill, up (draft-ietf-ccwg-bbr-06, section 5.3.3).

use super::{Bbr3, State};
use meshpace_units::{Instant, Span};

/// Share of the long-term bound that is left to others (Headroom).
pub(super) const HEADROOM: f64 = 0.15;
/// Time between two probes, to which up to a second is added.
const WAIT: Span = Span::from_secs(2);
/// Round trips between two probes at most, lest Reno lose more often than it would alone.
const RENO_ROUNDS: f64 = 63.0;
/// Doublings of the long-term bound's growth at most.
const DOUBLINGS: u32 = 30;

/// What acknowledgements tell (ack_phase).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AckPhase {
    /// Nothing of a probe.
    Init,
    /// The pipe is filled again.
    Refilling,
    /// A probe has begun; what is acknowledged left before.
    Starting,
    /// What it brings.
    Feedback,
    /// It is over; what is acknowledged left before that.
    Stopping,
}

/// Where the cycle is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cycle {
    pub(super) phase: AckPhase,
    /// What is acknowledged left while bandwidth was probed (is_bw_probe_sample).
    pub(super) is_sample: bool,
    /// The latest probe lost too much (prev_probe_too_high).
    pub(super) too_high: bool,
    /// It ended before it could (prev_probe_precautionary).
    precautionary: bool,
    pub(super) rounds_since_up: u64,
    since: Instant,
    wait: Span,
    /// Of this probe: rounds in which the long-term bound grew, bytes acknowledged since it did, and those for a segment more.
    up_rounds: u32,
    up_acked: f64,
    acked_per_segment: f64,
}

impl Default for Cycle {
    fn default() -> Self {
        Self {
            phase: AckPhase::Init,
            is_sample: false,
            too_high: false,
            precautionary: false,
            rounds_since_up: 0,
            since: Instant::ZERO,
            wait: Span::ZERO,
            up_rounds: 0,
            up_acked: 0.0,
            acked_per_segment: f64::INFINITY,
        }
    }
}

impl Bbr3 {
    /// StartProbeBW_DOWN.
    pub(super) fn start_down(&mut self, now: Instant) {
        self.losses.forget_signals();
        // The draft draws 0 or 1 round and 0 to 1 s.
        let drawn = now.as_nanos();
        let cycle = &mut self.cycle;
        cycle.acked_per_segment = f64::INFINITY;
        cycle.rounds_since_up = drawn % 2;
        cycle.wait = WAIT + Span::from_millis(drawn / 2 % 1_000);
        cycle.since = now;
        cycle.phase = AckPhase::Stopping;
        self.rounds.begin(self.delivered);
        self.state = State::Down;
    }

    /// StartProbeBW_REFILL.
    pub(super) fn start_refill(&mut self) {
        self.losses.forget_bounds();
        let cycle = &mut self.cycle;
        (cycle.up_rounds, cycle.up_acked) = (0, 0.0);
        (cycle.precautionary, cycle.phase) = (false, AckPhase::Refilling);
        self.rounds.begin(self.delivered);
        self.state = State::Refill;
    }

    /// StartProbeBW_UP.
    fn start_up(&mut self) {
        self.cycle.phase = AckPhase::Starting;
        self.rounds.begin(self.delivered);
        self.full.reset(self.seen.rate);
        self.state = State::Up;
        self.steepen();
    }

    /// UpdateProbeBWCyclePhase.
    pub(super) fn update_cycle(&mut self, now: Instant) {
        if !self.full.reached || self.adapt_long_term() {
            return;
        }
        let state = self.state;
        match state {
            State::Down => {
                if self.is_time_to_probe(now) {
                    self.start_refill();
                } else if self.is_time_to_cruise() {
                    self.state = State::Cruise;
                }
            }
            State::Cruise if self.is_time_to_probe(now) => self.start_refill(),
            State::Refill if self.rounds.started => {
                self.cycle.is_sample = true;
                self.start_up();
            }
            State::Up if self.is_time_to_go_down() => {
                self.cycle.too_high = false;
                self.start_down(now);
            }
            _ => {}
        }
    }

    /// IsTimeToProbeBW.
    fn is_time_to_probe(&self, now: Instant) -> bool {
        let over = now.saturating_since(self.cycle.since) > self.cycle.wait;
        let reno = self.product(self.bandwidth, 1.0).min(self.window_bytes()) / self.segment();
        over || self.cycle.rounds_since_up as f64 >= reno.min(RENO_ROUNDS)
    }

    /// IsTimeToCruise.
    fn is_time_to_cruise(&self) -> bool {
        let in_flight = self.in_flight as f64;
        in_flight <= self.with_headroom() && in_flight <= self.wanted(self.max_bandwidth.get(), 1.0)
    }

    /// IsTimeToGoDown.
    fn is_time_to_go_down(&mut self) -> bool {
        if self.cycle.too_high && self.in_flight as f64 >= self.long_term {
            self.cycle.precautionary = true;
            return true;
        }
        if self.is_limited() && self.window_bytes() >= self.long_term {
            self.full.reset(self.seen.rate);
            return false;
        }
        self.full.now
    }

    /// RaiseInflightLongtermSlope: twice as steep each round trip.
    fn steepen(&mut self) {
        let growth = f64::from(1_u32 << self.cycle.up_rounds);
        self.cycle.up_rounds = (self.cycle.up_rounds + 1).min(DOUBLINGS);
        self.cycle.acked_per_segment = (self.window_bytes() / growth).max(self.segment());
    }

    /// ProbeInflightLongtermUpward.
    fn raise_long_term(&mut self) {
        if !self.is_limited() || self.window_bytes() < self.long_term {
            return;
        }
        let segment = self.segment();
        let cycle = &mut self.cycle;
        cycle.up_acked += self.seen.acked;
        if cycle.up_acked >= cycle.acked_per_segment {
            let steps = libm::floor(cycle.up_acked / cycle.acked_per_segment);
            cycle.up_acked -= steps * cycle.acked_per_segment;
            self.long_term += steps * segment;
        }
        if self.rounds.started {
            self.steepen();
        }
    }

    /// AdaptLongTermModel; true if it has changed the state.
    fn adapt_long_term(&mut self) -> bool {
        if self.rounds.started && self.cycle.phase == AckPhase::Starting {
            self.cycle.phase = AckPhase::Feedback;
        }
        if self.rounds.started && self.cycle.phase == AckPhase::Stopping {
            (self.cycle.is_sample, self.cycle.phase) = (false, AckPhase::Init);
            let probes = self.state.probes_bandwidth();
            if probes && !self.seen.app_limited {
                self.max_bandwidth.advance();
            }
            if probes && self.cycle.precautionary && !self.cycle.too_high {
                self.start_refill();
                return true;
            }
        }
        if !self.is_too_much_lost() && self.long_term.is_finite() {
            self.long_term = self.long_term.max(self.seen.tx_in_flight);
            if self.state == State::Up {
                self.raise_long_term();
            }
        }
        false
    }
}
