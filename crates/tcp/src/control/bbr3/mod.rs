//! BBR, version 3 (Cardwell, Swett, Beshay, draft-ietf-ccwg-bbr-06): a model of the path by bandwidth, round trip and losses says
//! how fast and how much to send.
//!
//! | what | file |
//! |---|---|
//! | state machine (sections 5.2, 5.3) | `mod.rs` |
//! | pace and window (5.6) | `sending.rs` |
//! | the cycle that probes the bandwidth (5.3.3) | `cycle.rs` |
//! | the probe of the round trip (5.3.4) | `probe_trip.rs` |
//! | bandwidth, rounds, full pipe, lumps of acknowledgements (5.5) | `model.rs` |
//! | losses: short-term and long-term bounds, and taking them back (5.5.10, 5.5.11) | `losses.rs` |
//! | what was in flight and lost when each segment left (4.1.2.2) | `departures.rs` |
//!
//! Names in brackets are the draft's. It draws waits between probes; a control has no random source: here the nanoseconds of the
//! time say them. What it says of ECN is that marks count as congestion: a mark is taken for a loss of nothing.

mod cycle;
mod departures;
mod losses;
mod model;
mod probe_trip;
mod sending;
#[cfg(test)]
mod tests;

use super::law_pacer::{gate, take_token};
use super::limiter::Waiting;
use super::part::WindowPart;
use super::recovery::Lost;
use super::{
    Ack, Asks, Congestion, Departure, Flight, Idled, InitialWindow, Outstanding, Pace, PacingView, Rules,
    Sent, Stage, Window,
};
use cycle::Cycle;
use departures::Departures;
use losses::{Losses, Saved};
use meshpace_keys::{Brings, Need};
use meshpace_pacing::Pacer;
use meshpace_units::{Instant, Span};
use model::{Aggregation, FullPipe, MaxBandwidth, Rounds};
use probe_trip::Trips;

pub(super) static PART: WindowPart = WindowPart::new(
    "bbr3",
    "A model of the path, with bounds that losses set, gives pace and window; version 3.",
    "draft-ietf-ccwg-bbr-06",
    |_, surroundings| Bbr3::new(surroundings.rules).into(),
)
.brings(&[Brings { key: "recovery", word: Some("rack") }])
.needs(&[Need { key: "recovery", words: &["rack"] }]);

/// Pace of Startup (StartupPacingGain).
const STARTUP_GAIN: f64 = 2.77;
/// Pace of Drain (DrainPacingGain).
const DRAIN_GAIN: f64 = 0.5;
/// Window of most states (DefaultCwndGain).
const WINDOW_GAIN: f64 = 2.0;
/// Window of the probe of the round trip (ProbeRTTCwndGain).
const PROBE_TRIP_GAIN: f64 = 0.5;
/// The least window, segments (MinPipeCwnd).
const LEAST_WINDOW: f64 = 4.0;
/// Round trips that Drain lasts at most.
const DRAIN_ROUNDS: u64 = 3;
/// Ranges lost in a round trip that end Startup (BBRStartupFullLossCnt).
const STARTUP_LOSSES: u32 = 6;
/// The pace before the first round trip is known goes by this one.
const NOMINAL_TRIP: Span = Span::from_millis(1);

/// What it is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// The bandwidth is not known: twice as fast each round trip.
    Startup,
    /// What that has queued drains.
    Drain,
    /// Slower than the bandwidth (ProbeBW_DOWN).
    Down,
    /// As fast as the bandwidth, with headroom (ProbeBW_CRUISE).
    Cruise,
    /// As fast as the bandwidth, without headroom (ProbeBW_REFILL).
    Refill,
    /// Faster (ProbeBW_UP).
    Up,
    /// A small window, so that the round trip shows without queues (ProbeRTT).
    ProbeTrip,
}

impl State {
    /// Whether it is one of the cycle that probes the bandwidth.
    const fn probes_bandwidth(self) -> bool {
        matches!(self, Self::Down | Self::Cruise | Self::Refill | Self::Up)
    }

    /// Gains of pace and window (section 5.6.1).
    const fn gains(self) -> (f64, f64) {
        match self {
            Self::Startup => (STARTUP_GAIN, WINDOW_GAIN),
            Self::Drain => (DRAIN_GAIN, WINDOW_GAIN),
            Self::Down => (0.9, WINDOW_GAIN),
            Self::Cruise | Self::Refill => (1.0, WINDOW_GAIN),
            Self::Up => (1.25, 2.25),
            Self::ProbeTrip => (1.0, PROBE_TRIP_GAIN),
        }
    }
}

/// What the latest acknowledgement said (RS). Bytes and bytes a second.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    rate: f64,
    delivered: f64,
    prior_delivered: u64,
    acked: f64,
    /// In flight when the latest of the delivered segments left, with itself.
    tx_in_flight: f64,
    /// Lost since then.
    lost: f64,
    app_limited: bool,
    trip: Option<Span>,
}

/// BBR's window and pace, version 3.
#[derive(Clone, Debug)]
pub struct Bbr3 {
    window: Window,
    mss: u32,
    state: State,
    seen: Seen,
    max_bandwidth: MaxBandwidth,
    /// Bytes a second that it goes by (bw).
    bandwidth: f64,
    rounds: Rounds,
    full: FullPipe,
    aggregation: Aggregation,
    losses: Losses,
    /// The most in flight that did not lose too much, bytes; infinite until something did (inflight_longterm).
    long_term: f64,
    departures: Departures,
    cycle: Cycle,
    trips: Trips,
    drain_since: u64,
    /// The window before recovery or a probe of the round trip, segments (prior_cwnd).
    prior_window: f64,
    saved: Saved,
    stage: Stage,
    /// The round in which recovery began.
    recovery_round: u64,
    idle_restart: bool,
    /// Bytes.
    in_flight: u64,
    delivered: u64,
    lost: u64,
    /// Samples count as limited by the application until more than this is delivered: those of a probe of the round trip.
    ignore_to: u64,
    /// The window was used up in the round before, and in this one.
    limited: [bool; 2],
    /// Bytes a second.
    pace: f64,
    pacer: Pacer,
    has_seen_trip: bool,
    marked: bool,
}

impl Bbr3 {
    /// A control by these rules; it uses only the initial window of them.
    #[must_use]
    pub fn new(rules: Rules) -> Self {
        let rules = Rules { initial_window: InitialWindow::Rfc6928, whole_segments: false, ..rules };
        Self {
            window: Window::new(rules).directed(),
            mss: 1,
            state: State::Startup,
            seen: Seen::default(),
            max_bandwidth: MaxBandwidth::default(),
            bandwidth: 0.0,
            rounds: Rounds::default(),
            full: FullPipe::default(),
            aggregation: Aggregation::default(),
            losses: Losses::default(),
            long_term: f64::INFINITY,
            departures: Departures::default(),
            cycle: Cycle::default(),
            trips: Trips::default(),
            drain_since: 0,
            prior_window: 0.0,
            saved: Saved::default(),
            stage: Stage::Open,
            recovery_round: 0,
            idle_restart: false,
            in_flight: 0,
            delivered: 0,
            lost: 0,
            ignore_to: 0,
            limited: [false; 2],
            pace: 0.0,
            pacer: Pacer::new(None),
            has_seen_trip: false,
            marked: false,
        }
    }

    fn segment(&self) -> f64 {
        f64::from(self.mss)
    }

    fn window_bytes(&self) -> f64 {
        self.window.cwnd() * self.segment()
    }

    fn initial_window(&self) -> f64 {
        self.window.rules().initial_window.segments(self.mss) * self.segment()
    }

    fn least_window(&self) -> f64 {
        LEAST_WINDOW * self.segment()
    }

    /// C.is_cwnd_limited.
    fn is_limited(&self) -> bool {
        self.limited.contains(&true)
    }

    /// `gain` times what fills the path at this bandwidth, bytes (BDPMultiple).
    fn product(&self, bandwidth: f64, gain: f64) -> f64 {
        match self.trips.least() {
            Some(trip) => gain * bandwidth * trip.as_secs_f64(),
            None => self.initial_window(),
        }
    }

    /// What should be in flight, bytes (Inflight).
    fn wanted(&self, bandwidth: f64, gain: f64) -> f64 {
        self.with_room(self.product(bandwidth, gain))
    }

    /// The long-term bound less some of it for others (InflightWithHeadroom).
    fn with_headroom(&self) -> f64 {
        let headroom = (cycle::HEADROOM * self.long_term).max(self.segment());
        if self.long_term.is_finite() {
            (self.long_term - headroom).max(self.least_window())
        } else {
            f64::INFINITY
        }
    }

    /// What an acknowledgement says.
    fn look(&mut self, ack: &Ack<'_>) -> bool {
        let Some(sample) = ack.rate else { return false };
        let left = self.departures.at(sample.sent);
        self.seen = Seen {
            rate: sample.rate.map_or(0.0, |rate| rate.as_bits_per_sec() as f64 / 8.0),
            delivered: sample.delivered.0 as f64,
            prior_delivered: sample.prior_delivered.0,
            acked: sample.acked.0 as f64,
            tx_in_flight: left.map_or(0.0, |left| left.in_flight as f64),
            lost: left.map_or(0.0, |left| (self.lost - left.lost) as f64),
            app_limited: sample.app_limited || self.delivered <= self.ignore_to,
            trip: sample.rtt,
        };
        self.departures.on_ack(ack.out.una);
        true
    }

    /// UpdateModelAndState.
    fn update_model(&mut self, now: Instant) {
        self.losses.begin(&self.seen, self.delivered);
        if self.rounds.update(self.seen.prior_delivered, self.delivered) {
            self.cycle.rounds_since_up += 1;
            self.limited = [self.limited[1], false];
        }
        self.max_bandwidth.update(self.seen.rate, self.seen.app_limited);
        self.adapt_short_term();
        let (acked, window) = (self.seen.acked, self.window_bytes());
        let rounds = if self.full.reached { model::AGGREGATION_ROUNDS } else { 1 };
        self.aggregation.on_ack(now, acked, self.bandwidth, window, self.rounds.count, rounds);
        self.full.check(self.rounds.started, &self.seen);
        self.check_startup();
        self.check_drain(now);
        self.update_cycle(now);
        self.update_trips(now);
        self.losses.end(&self.seen);
        self.bandwidth = self.max_bandwidth.get().min(self.losses.bandwidth);
    }

    /// Startup ends where the pipe is full: the bandwidth grows no more, or too much is lost (CheckStartupDone).
    fn check_startup(&mut self) {
        if self.state != State::Startup {
            return;
        }
        let recovering = self.stage == Stage::Recovery && self.rounds.count > self.recovery_round;
        let round_over = self.losses.round_started;
        if round_over && recovering && self.losses.ranges >= STARTUP_LOSSES && self.is_too_much_lost() {
            self.saved.state = Some(State::Startup);
            (self.full.now, self.full.reached) = (true, true);
            self.long_term = self.product(self.bandwidth, 1.0).max(self.losses.inflight_latest);
        }
        if round_over {
            self.losses.ranges = 0;
        }
        if self.full.reached {
            self.state = State::Drain;
            self.drain_since = self.rounds.count;
        }
    }

    fn check_drain(&mut self, now: Instant) {
        if self.state != State::Drain {
            return;
        }
        let drained = self.in_flight as f64 <= self.wanted(self.bandwidth, 1.0);
        if drained || self.rounds.count > self.drain_since + DRAIN_ROUNDS {
            self.start_down(now);
        }
    }

    /// HandleRestartFromIdle.
    fn restart(&mut self, now: Instant) {
        self.idle_restart = true;
        self.aggregation.begin(now);
        if self.state.probes_bandwidth() {
            self.pace_with(now, 1.0);
        } else if self.state == State::ProbeTrip {
            self.check_probe_trip_done(now);
        }
    }
}

impl Congestion for Bbr3 {
    fn asks(&self) -> Asks {
        Asks { round_trips: true, delivery_rate: true, ..Asks::default() }
    }

    fn window(&self) -> &Window {
        &self.window
    }

    fn window_mut(&mut self) -> &mut Window {
        &mut self.window
    }

    fn on_connected(&mut self, _: bool, mss: u32) {
        self.mss = mss;
        self.window.open(false, mss);
        self.pace_by_window(Instant::ZERO, NOMINAL_TRIP);
    }

    fn on_ack(&mut self, ack: &Ack<'_>) {
        self.delivered =
            ack.rate.map_or(self.delivered, |sample| sample.prior_delivered.0 + sample.delivered.0);
        self.marked = ack.ecn_signal;
    }

    /// Neither growth nor losses move it directly.
    fn on_progress(&mut self, _: &Ack<'_>) {}

    /// OnEnterFastRecovery.
    fn on_loss(&mut self, _: f64, _: &Outstanding) -> f64 {
        self.save_window();
        self.save_bounds();
        self.recovery_round = self.rounds.count;
        self.window.cwnd()
    }

    fn on_lost(&mut self, now: Instant, lost: &Lost) {
        self.handle_lost(now, lost);
    }

    /// OnEnterRTO.
    fn on_timeout(&mut self, _: Instant, _: bool, _: &Outstanding) {
        self.save_window();
        self.save_bounds();
        self.stage = Stage::Timeout;
        self.window.set(self.in_flight as f64 / self.segment() + 1.0);
    }

    fn on_undo(&mut self) {
        self.take_back();
    }

    /// The window stays: the pace is what keeps it from a burst (section 5.4.1).
    fn on_idle(&mut self, _: &Idled) {}

    fn on_departure(&mut self, departure: &Departure) {
        if let Sent::Data { start, length, .. } = departure.sent {
            // Nothing was on its way, and nothing lost: the application had nothing to send.
            if self.in_flight == 0 && self.stage == Stage::Open && self.delivered > 0 {
                self.restart(departure.now);
            }
            self.in_flight += u64::from(length);
            self.departures.push(departure.now, start + u64::from(length), self.in_flight, self.lost);
            self.limited[1] |= self.in_flight as f64 + self.segment() > self.window_bytes();
        }
        take_token(&mut self.pacer, departure);
    }

    fn on_flight(&mut self, ack: &Ack<'_>, flight: &Flight) {
        self.in_flight = flight.bytes;
        let ends = self.stage != Stage::Open && flight.stage == Stage::Open;
        self.stage = flight.stage;
        if ends {
            self.restore_window();
        }
        if !self.look(ack) {
            self.bound_window();
            return;
        }
        if core::mem::take(&mut self.marked) {
            self.handle_mark(ack.now);
        }
        self.update_model(ack.now);
        if let Some(trip) = self.seen.trip.filter(|_| !self.has_seen_trip) {
            self.has_seen_trip = true;
            self.pace_by_window(ack.now, trip);
        }
        self.pace_with(ack.now, self.state.gains().0);
        self.update_window();
    }

    fn on_mss_change(&mut self, old: u32, new: u32) {
        self.mss = new;
        self.window.rescale(old, new);
    }

    fn pace(&self, now: Instant) -> Option<Pace> {
        gate(&self.pacer, now, Waiting::Permission)
    }

    fn pacing(&self) -> PacingView {
        PacingView { interval: self.pacer.interval(), ..PacingView::default() }
    }
}
