//! BBR, version 1, as in Linux 6: a model of the path, its bandwidth and its round trip, says how fast and how much to send
//! (Cardwell et al., "BBR: Congestion-Based Congestion Control", ACM Queue 14(5), 2016; net/ipv4/tcp_bbr.c).
//!
//! | what | file |
//! |---|---|
//! | modes, the cycle of gains, window and pace | `mod.rs` |
//! | bandwidth and round trips of the path | `model.rs` |
//! | policers: bandwidth over many round trips with losses | `policer.rs` |
//! | acknowledgements that come in lumps | `aggregation.rs` |
//!
//! Linux draws the phase at which the cycle begins. A control has no random source: here the nanoseconds of the time say it.

mod aggregation;
mod model;
mod policer;
#[cfg(test)]
mod tests;

use super::law_pacer::{gate, take_token};
use super::limiter::Waiting;
use super::part::WindowPart;
use super::{
    Ack, Asks, Congestion, Departure, Flight, Idled, InitialWindow, Outstanding, Pace, PacingView, Rules,
    Sent, Stage, Window,
};
use aggregation::Aggregation;
use core::num::NonZeroU32;
use meshpace_keys::{Brings, Need};
use meshpace_pacing::Pacer;
use meshpace_units::{Bytes, Instant, Rate, Span};
use model::Model;
use policer::Policer;

pub(super) static PART: WindowPart = WindowPart::new(
    "bbr",
    "A model of the path, greatest bandwidth and least round trip, gives pace and window; version 1, as in Linux.",
    "Cardwell et al. 2016; Linux 6, net/ipv4/tcp_bbr.c",
    |_, surroundings| Bbr::new(surroundings.rules).into(),
)
.brings(&[Brings { key: "recovery", word: Some("rack") }])
.needs(&[Need { key: "recovery", words: &["rack"] }]);

/// 2/ln 2, as Linux rounds it: the least gain that doubles what is sent each round trip.
const HIGH_GAIN: f64 = 739.0 / 256.0;
/// Its reciprocal, as Linux rounds it: drains in a round trip what that has queued.
const DRAIN_GAIN: f64 = 88.0 / 256.0;
/// Gain of the window while the bandwidth is probed.
const WINDOW_GAIN: f64 = 2.0;
/// The cycle of the pace's gains.
const CYCLE: [f64; 8] = [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
/// Phases with which the cycle may begin: any but the second.
const PHASES: u64 = 7;
/// The least window, segments.
const LEAST_WINDOW: f64 = 4.0;
/// The pace is this much of the bandwidth, lest a queue stay.
const MARGIN: f64 = 0.99;
/// How long a round trip is looked for with the least window.
const PROBE_TIME: Span = Span::from_millis(200);
/// Below this pace bursts are of a segment, bit/s.
const SMALL_BURSTS: f64 = 1_200_000.0;
/// The pace before the first round trip is known goes by this one.
const NOMINAL_TRIP: Span = Span::from_millis(1);

/// What it is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    /// The bandwidth is not known: faster each round trip.
    Startup,
    /// What that has queued drains.
    Drain,
    /// Around the bandwidth, faster and slower in turn.
    ProbeBandwidth,
    /// The least window, so that the round trip shows without queues.
    ProbeRoundTrip,
}

/// BBR's window and pace.
#[derive(Clone, Debug)]
pub struct Bbr {
    window: Window,
    mss: u32,
    mode: Mode,
    model: Model,
    policer: Policer,
    aggregation: Aggregation,
    /// Phase of the cycle, and when it began.
    phase: usize,
    phase_since: Instant,
    pacing_gain: f64,
    window_gain: f64,
    /// Bit/s.
    pace: f64,
    pacer: Pacer,
    has_seen_trip: bool,
    /// When the SYN left, until that is acknowledged.
    syn: Option<Instant>,
    syn_left: bool,
    /// The window before recovery or a probe of the round trip.
    prior_window: f64,
    stage: Stage,
    /// In the first round trip of recovery as much leaves as arrives.
    conserves: bool,
    probe_over: Option<Instant>,
    probe_round_over: bool,
    /// Nothing was on its way, and the application had had nothing to send.
    idle: bool,
    in_flight: u64,
    /// What had been found lost with the latest acknowledgement.
    found: u64,
}

impl Bbr {
    /// A control by these rules; it uses the initial window of them.
    #[must_use]
    pub fn new(rules: Rules) -> Self {
        let rules = Rules { initial_window: InitialWindow::Rfc6928, whole_segments: false, ..rules };
        Self {
            window: Window::new(rules).directed(),
            mss: 1,
            mode: Mode::Startup,
            model: Model::default(),
            policer: Policer::default(),
            aggregation: Aggregation::default(),
            phase: 0,
            phase_since: Instant::ZERO,
            pacing_gain: HIGH_GAIN,
            window_gain: HIGH_GAIN,
            pace: 0.0,
            pacer: Pacer::new(None),
            has_seen_trip: false,
            syn: None,
            syn_left: false,
            prior_window: 0.0,
            stage: Stage::Open,
            conserves: false,
            probe_over: None,
            probe_round_over: false,
            idle: false,
            in_flight: 0,
            found: 0,
        }
    }

    /// Bandwidth that it goes by, bit/s.
    fn bandwidth(&self) -> f64 {
        self.policer.rate().unwrap_or_else(|| self.model.bandwidth())
    }

    /// `gain` times what fills the path at this bandwidth, whole segments.
    fn product(&self, bandwidth: f64, gain: f64) -> f64 {
        let Some(trip) = self.model.least_trip() else { return 10.0 };
        libm::ceil(bandwidth / 8.0 * trip.as_secs_f64() * gain / f64::from(self.mss))
    }

    /// Segments that leave together: a millisecond's worth, at least one or two.
    fn burst(&self) -> f64 {
        let least = if self.pace < SMALL_BURSTS { 1.0 } else { 2.0 };
        libm::floor(self.pace / 8.0 / 1024.0 / f64::from(self.mss)).clamp(least, 127.0)
    }

    /// A window with room for bursts at both ends, and for delayed acknowledgements.
    fn with_room(&self, window: f64) -> f64 {
        let even = libm::ceil((window + 3.0 * self.burst()) / 2.0) * 2.0;
        even + if self.mode == Mode::ProbeBandwidth && self.phase == 0 { 2.0 } else { 0.0 }
    }

    /// What should be in flight at this bandwidth, segments.
    fn wanted(&self, bandwidth: f64, gain: f64) -> f64 {
        self.with_room(self.product(bandwidth, gain))
    }

    /// Of `in_flight` bytes, segments that will be in the network when the next may leave.
    fn at_next_departure(&self, now: Instant, in_flight: u64) -> f64 {
        let wait = self.pacer.release_at(now).saturating_since(now).as_secs_f64();
        let leaves = if self.pacing_gain > 1.0 { self.burst() } else { 0.0 };
        let delivered = libm::floor(self.bandwidth() / 8.0 * wait / f64::from(self.mss));
        (self.segments(in_flight) + leaves - delivered).max(0.0)
    }

    fn segments(&self, bytes: u64) -> f64 {
        bytes as f64 / f64::from(self.mss)
    }

    fn begin_cycle(&mut self, now: Instant) {
        self.mode = Mode::ProbeBandwidth;
        // Linux's: any phase but the one that drains, then the next.
        self.phase = CYCLE.len() - 1 - (now.as_nanos() % PHASES) as usize;
        self.advance(now);
    }

    fn advance(&mut self, now: Instant) {
        self.phase = (self.phase + 1) % CYCLE.len();
        self.phase_since = now;
    }

    /// Whether the phase is over: after a round trip; above the bandwidth also only once that much is in flight or lost, below
    /// it as soon as no queue is left.
    fn phase_is_over(&self, now: Instant, flight: &Flight, lost: bool) -> bool {
        let trip = self.model.least_trip().unwrap_or(Span::ZERO);
        let long_enough = now.saturating_since(self.phase_since) > trip;
        let bandwidth = self.model.bandwidth();
        let in_flight = self.at_next_departure(now, flight.before);
        if self.pacing_gain > 1.0 {
            long_enough && (lost || in_flight >= self.wanted(bandwidth, self.pacing_gain))
        } else if self.pacing_gain < 1.0 {
            long_enough || in_flight <= self.wanted(bandwidth, 1.0)
        } else {
            long_enough
        }
    }

    /// Modes, by what the model says.
    fn change_mode(&mut self, ack: &Ack<'_>, flight: &Flight, lost: bool) {
        let now = ack.now;
        if self.mode == Mode::ProbeBandwidth && self.phase_is_over(now, flight, lost) {
            self.advance(now);
        }
        let limited = ack.rate.is_some_and(|sample| sample.app_limited);
        self.model.judge_full(limited);
        if self.mode == Mode::Startup && self.model.is_full() {
            self.mode = Mode::Drain;
            self.window.set_ssthresh(self.wanted(self.model.bandwidth(), 1.0));
        }
        let drained =
            || self.at_next_departure(now, flight.bytes) <= self.wanted(self.model.bandwidth(), 1.0);
        if self.mode == Mode::Drain && drained() {
            self.begin_cycle(now);
        }
    }

    /// The probe of the round trip: once the least is 10 s old, for 200 ms and a round trip.
    fn probe_trip(&mut self, ack: &Ack<'_>, expired: bool) {
        let now = ack.now;
        if expired && !self.idle && self.mode != Mode::ProbeRoundTrip {
            self.mode = Mode::ProbeRoundTrip;
            self.save_window();
            self.probe_over = None;
        }
        if self.mode == Mode::ProbeRoundTrip {
            self.model.ignore_in_flight(self.in_flight);
            match self.probe_over {
                None if self.segments(self.in_flight) <= LEAST_WINDOW => {
                    self.probe_over = now.checked_add(PROBE_TIME);
                    self.probe_round_over = false;
                    self.model.begin_round();
                }
                None => {}
                Some(_) => {
                    self.probe_round_over |= self.model.round_began();
                    if self.probe_round_over {
                        self.end_probe(now);
                    }
                }
            }
        }
        if ack.rate.is_some() {
            self.idle = false;
        }
    }

    fn end_probe(&mut self, now: Instant) {
        if self.probe_over.is_none_or(|over| now <= over) {
            return;
        }
        self.model.trust_trip(now);
        self.window.set(self.window.cwnd().max(self.prior_window));
        if self.model.is_full() {
            self.begin_cycle(now);
        } else {
            self.mode = Mode::Startup;
        }
    }

    fn save_window(&mut self) {
        let cwnd = self.window.cwnd();
        let good = self.stage == Stage::Open && self.mode != Mode::ProbeRoundTrip;
        self.prior_window = if good { cwnd } else { self.prior_window.max(cwnd) };
    }

    fn set_gains(&mut self) {
        (self.pacing_gain, self.window_gain) = match self.mode {
            Mode::Startup => (HIGH_GAIN, HIGH_GAIN),
            Mode::Drain => (DRAIN_GAIN, HIGH_GAIN),
            Mode::ProbeBandwidth if self.policer.rate().is_some() => (1.0, WINDOW_GAIN),
            Mode::ProbeBandwidth => (CYCLE[self.phase], WINDOW_GAIN),
            Mode::ProbeRoundTrip => (1.0, 1.0),
        };
    }

    fn set_pace(&mut self, now: Instant, pace: f64) {
        self.pace = pace.max(1.0);
        let rate = Rate::bits_per_sec(libm::ceil(self.pace) as u64);
        self.pacer.set_burst(NonZeroU32::new(self.burst() as u32).unwrap_or(NonZeroU32::MIN));
        self.pacer.set_interval(now, rate.time_to_send(Bytes(u64::from(self.mss))));
    }

    /// The pace of a window a round trip, before any bandwidth is known.
    fn pace_by_window(&mut self, now: Instant, trip: Span) {
        let trip = trip.max(Span::from_micros(1)).as_secs_f64();
        let bandwidth = self.window.cwnd() * f64::from(self.mss) * 8.0 / trip;
        self.set_pace(now, bandwidth * HIGH_GAIN * MARGIN);
    }

    fn update_pace(&mut self, now: Instant) {
        let pace = self.bandwidth() * self.pacing_gain * MARGIN;
        if self.model.is_full() || pace > self.pace {
            self.set_pace(now, pace);
        }
    }

    /// In recovery less what is lost, and what arrives again; after it what it was before. True: nothing else moves it.
    fn recover(&mut self, acked: f64, lost: f64, stage: Stage) -> bool {
        let mut cwnd = (self.window.cwnd() - lost).max(1.0);
        let in_flight = self.segments(self.in_flight);
        if stage == Stage::Recovery && self.stage != Stage::Recovery {
            self.conserves = true;
            self.model.begin_round();
            cwnd = in_flight + acked;
        } else if stage == Stage::Open && self.stage != Stage::Open {
            cwnd = cwnd.max(self.prior_window);
            self.conserves = false;
        }
        self.stage = stage;
        if self.conserves {
            cwnd = cwnd.max(in_flight + acked);
        }
        self.window.set(cwnd);
        self.conserves
    }

    fn update_window(&mut self, acked: f64, lost: f64, stage: Stage) {
        if acked > 0.0 && !self.recover(acked, lost, stage) {
            let bandwidth = self.bandwidth();
            let extra = if self.model.is_full() { self.aggregation.extra(bandwidth, self.mss) } else { 0.0 };
            let target = self.with_room(self.product(bandwidth, self.window_gain) + extra);
            let cwnd = self.window.cwnd();
            let next = if self.model.is_full() {
                (cwnd + acked).min(target)
            } else if cwnd < target || self.segments(self.model.delivered()) < 10.0 {
                cwnd + acked
            } else {
                cwnd
            };
            self.window.set(next.max(LEAST_WINDOW));
        }
        if self.mode == Mode::ProbeRoundTrip {
            self.window.set(self.window.cwnd().min(LEAST_WINDOW));
        }
    }
}

impl Congestion for Bbr {
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
        if self.pace == 0.0 {
            let trip = self.model.smoothed_trip();
            self.has_seen_trip = trip.is_some();
            self.pace_by_window(Instant::ZERO, trip.unwrap_or(NOMINAL_TRIP));
        }
    }

    /// Neither marks nor losses move it directly.
    fn on_ack(&mut self, _: &Ack<'_>) {}

    fn on_progress(&mut self, _: &Ack<'_>) {}

    fn on_loss(&mut self, _: f64, _: &Outstanding) -> f64 {
        self.save_window();
        self.window.cwnd()
    }

    /// A timeout ends a round; the window is what is in flight and a segment.
    fn on_timeout(&mut self, now: Instant, _: bool, _: &Outstanding) {
        self.save_window();
        self.stage = Stage::Timeout;
        self.model.on_timeout();
        self.policer.on_sample(&policer::Sample::of_a_timeout(now, &self.model));
        self.window.set(1.0);
    }

    fn on_undo(&mut self) {
        self.model.look_again();
        self.policer = Policer::default();
    }

    /// The window stays: the pace is what keeps it from a burst.
    fn on_idle(&mut self, _: &Idled) {
        self.idle = true;
        if self.mode == Mode::ProbeBandwidth {
            self.set_pace(self.model.now(), self.bandwidth() * MARGIN);
        }
    }

    fn on_departure(&mut self, departure: &Departure) {
        if departure.sent == Sent::Syn {
            self.syn = (!self.syn_left).then_some(departure.now);
            self.syn_left = true;
        } else {
            if self.in_flight == 0 && self.model.is_app_limited() {
                self.idle = true;
                self.aggregation.begin(departure.now);
            }
            self.in_flight += u64::from(self.mss);
        }
        take_token(&mut self.pacer, departure);
    }

    fn on_flight(&mut self, ack: &Ack<'_>, flight: &Flight) {
        self.in_flight = flight.bytes;
        let lost = flight.found - self.found;
        self.found = flight.found;
        // The handshake's round trip is the first (bbr_init, tcp_min_rtt), unless the SYN was lost.
        if let Some(left) = self.syn.take().filter(|_| ack.out.una <= 1) {
            return self.model.on_first_trip(ack.now, ack.now.saturating_since(left));
        }
        self.model.on_sample(ack, flight);
        let acked = ack.rate.map_or(0.0, |sample| self.segments(sample.acked.0));
        if self.model.round_began() {
            self.conserves = false;
        }
        if ack.rate.is_some_and(|sample| sample.rate.is_some()) {
            if self.policer.on_sample(&policer::Sample::of(
                ack,
                &self.model,
                lost,
                self.mode == Mode::ProbeBandwidth,
            )) {
                self.begin_cycle(ack.now);
            }
            let window = self.window.cwnd();
            self.aggregation.on_sample(
                ack.now,
                acked,
                self.bandwidth(),
                self.mss,
                window,
                self.model.round_began(),
            );
        }
        self.change_mode(ack, flight, lost > 0);
        let expired = self.model.update_trip(ack);
        self.probe_trip(ack, expired);
        self.set_gains();
        if let Some(trip) = self.model.smoothed_trip().filter(|_| !self.has_seen_trip) {
            self.has_seen_trip = true;
            self.pace_by_window(ack.now, trip);
        }
        self.update_pace(ack.now);
        self.update_window(acked, self.segments(lost), flight.stage);
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
