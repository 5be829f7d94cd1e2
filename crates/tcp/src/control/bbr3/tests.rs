//! BBR of version 3 by its draft's steps, and over a bottleneck of 6 Mbit/s: a packet of 1,500 bytes takes 2 ms. Names of tests in
//! brackets are those of the draft's appendix A.

use super::cycle::AckPhase;
use super::*;
use crate::control::recovery::{Rack, With};
use crate::control::{AckKind, RateSample, Recovered};
use crate::tests::bare;
use crate::tests::path::{Link, Path, Seen as Shot};
use crate::{Config, Every};
use alloc::boxed::Box;
use alloc::vec::Vec;
use proptest::prelude::*;

const MSS: u32 = 1000;
const TRIP: Span = Span::from_millis(100);

/// A sender that is told each 10 ms of a segment that left one round trip before: 100 kB/s, ten segments a round trip of 100 ms.
struct Told {
    bbr: Bbr3,
    now: Instant,
    delivered: u64,
    /// Delivered with each of the latest acknowledgements.
    history: Vec<u64>,
    rate: f64,
    app_limited: bool,
}

impl Told {
    fn new() -> Self {
        let mut bbr = Bbr3::new(Rules::LINUX);
        bbr.on_connected(false, MSS);
        Self { bbr, now: Instant::ZERO, delivered: 0, history: Vec::new(), rate: 100e3, app_limited: false }
    }

    /// The same with a pipe that is known to be full: in the cycle, cruising.
    fn cruising() -> Self {
        let mut told = Self::new();
        told.acks(60, 10);
        assert!(told.bbr.full.reached);
        told.acks(30, 8);
        assert!(told.bbr.state.probes_bandwidth(), "{:?}", told.bbr.state);
        told.bbr.state = State::Cruise;
        told
    }

    /// A segment leaves now with `in_flight` segments on their way, itself included.
    fn leave(&mut self, in_flight: u64) {
        let bytes = in_flight * u64::from(MSS);
        let end = 1 + self.delivered + 20 * u64::from(MSS); // known for 200 ms
        self.bbr.departures.push(self.now, end, bytes, self.bbr.lost);
    }

    /// So many acknowledgements of a segment, with `in_flight` segments on their way.
    fn acks(&mut self, count: u64, in_flight: u64) {
        for _ in 0..count {
            self.ack(in_flight, Stage::Open, false);
        }
    }

    fn ack(&mut self, in_flight: u64, stage: Stage, marked: bool) {
        // What left ten acknowledgements ago.
        let prior = self.history.len().checked_sub(10).map_or(0, |n| self.history[n]);
        self.arrive(1, prior, in_flight, stage, marked);
    }

    /// Ten segments are acknowledged at once, a round trip after the ten before them.
    fn lump(&mut self, in_flight: u64) {
        let prior = self.history.last().copied().unwrap_or(0);
        self.arrive(10, prior, in_flight, Stage::Open, false);
    }

    /// So many segments of 10 ms each arrive; `prior` had when the latest of them left.
    fn arrive(&mut self, segments: u64, prior: u64, in_flight: u64, stage: Stage, marked: bool) {
        self.leave(in_flight);
        self.now += Span::from_millis(10 * segments);
        let length = segments * u64::from(MSS);
        self.delivered += length;
        self.history.push(self.delivered);
        let bytes = in_flight * u64::from(MSS);
        let una = 1 + self.delivered;
        let max = una + bytes;
        let out =
            Outstanding { queued: false, una, nxt: max, max, flight: in_flight as f64, limit: f64::INFINITY };
        let sample = RateSample {
            delivered: Bytes(self.delivered - prior),
            interval: TRIP,
            rate: Some(Rate::bits_per_sec((8.0 * self.rate) as u64)),
            app_limited: self.app_limited,
            prior_delivered: Bytes(prior),
            acked: Bytes(length),
            sent: Instant::ZERO + self.now.saturating_since(Instant::ZERO + TRIP),
            rtt: Some(TRIP),
            losses: Bytes(0),
        };
        let ack = Ack {
            now: self.now,
            acked: length,
            rate: Some(sample),
            ecn_signal: marked,
            ..bare(AckKind::New, out, MSS)
        };
        self.bbr.on_ack(&ack);
        self.bbr.on_flight(&ack, &Flight { bytes, before: bytes, found: self.bbr.lost, stage });
    }

    /// The segment that left `ms` ago is found lost, one that touches no other.
    fn lose(&mut self, ms: u64) {
        let sent = Instant::ZERO + self.now.saturating_since(Instant::ZERO + Span::from_millis(ms));
        let start = self.bbr.losses.last_end + 5 * u64::from(MSS);
        self.bbr.on_lost(self.now, &Lost { start, end: start + u64::from(MSS), sent });
    }

    fn segments(&self, bytes: f64) -> f64 {
        bytes / f64::from(MSS)
    }

    fn until(&mut self, state: State, in_flight: u64) {
        for _ in 0..600 {
            if self.bbr.state == state {
                return;
            }
            self.acks(1, in_flight);
        }
        panic!("{:?}, not {state:?}", self.bbr.state);
    }
}

#[test]
fn startup_ends_on_a_plateau_and_drain_when_what_is_in_flight_fills_the_path() {
    // [Exiting STARTUP on Bandwidth Plateau], [Exiting DRAIN Based on Inflight]
    let mut told = Told::new();
    assert_eq!(told.bbr.state.gains(), (2.77, 2.0));
    told.until(State::Drain, 20);
    assert!(told.bbr.full.now && told.bbr.full.reached);
    assert_eq!(told.bbr.max_bandwidth.get(), 100e3);
    // A first round, then three of ten acknowledgements without more.
    assert!((31..=42).contains(&told.history.len()), "{}", told.history.len());
    assert_eq!(told.bbr.state.gains(), (0.5, 2.0));
    told.acks(3, 20);
    assert_eq!(told.bbr.state, State::Drain);
    told.acks(1, 10);
    assert_eq!(told.bbr.state, State::Cruise, "nothing is left for Down to drain");
}

#[test]
fn drain_ends_after_three_round_trips() {
    // [Exiting DRAIN Based on Time]
    let mut told = Told::new();
    told.until(State::Drain, 20);
    told.acks(29, 20);
    assert_eq!(told.bbr.state, State::Drain);
    told.until(State::Down, 20);
    assert_eq!(told.bbr.rounds.count, told.bbr.drain_since + 4);
}

#[test]
fn what_is_limited_by_the_application_fills_no_pipe() {
    // [Never Exiting PROBE_UP (or STARTUP) When Application-Limited With No Loss]
    let mut told = Told::new();
    told.app_limited = true;
    told.acks(300, 8);
    assert_eq!(told.bbr.state, State::Startup);
    // Three round trips without growth end a probe where the application is not what limits: these are five.
    let after = |app_limited: bool| {
        let mut told = Told::cruising();
        told.until(State::Up, 8);
        told.app_limited = app_limited;
        told.acks(50, 8);
        told.bbr.state
    };
    assert_eq!(after(true), State::Up);
    assert_ne!(after(false), State::Up);
}

#[test]
fn lumps_of_acknowledgements_do_not_keep_startup_from_the_bandwidth() {
    // [Achieving Expected STARTUP Bandwidth on a Link With Aggregation]
    let mut told = Told::new();
    for rate in [25e3, 50e3, 100e3] {
        told.rate = rate;
        told.lump(20);
        assert_eq!((told.bbr.state, told.bbr.bandwidth), (State::Startup, rate));
        assert!(told.bbr.pace >= 2.77 * 0.99 * rate, "{}", told.bbr.pace);
    }
    assert!(told.bbr.aggregation.extra() > 0.0);
    assert!(told.bbr.window.cwnd() > 20.0, "more than twice what fills the path: {}", told.bbr.window.cwnd());
    (0..3).for_each(|_| told.lump(20));
    assert_eq!(told.bbr.state, State::Drain);
}

#[test]
fn a_lump_that_is_more_than_expected_is_added_to_the_window_for_ten_round_trips() {
    // [Achieving Expected Cruise Bandwidth on a Link With Aggregation]
    let mut told = Told::cruising();
    let even = told.bbr.window.cwnd();
    assert!(even <= 23.0, "twice ten segments, and what delayed acknowledgements bring: {even}");
    (0..5).for_each(|_| told.lump(10));
    assert!((told.bbr.window.cwnd() - 30.0).abs() < 1e-9, "and ten more: {}", told.bbr.window.cwnd());
    told.now += Span::from_millis(110); // what comes later is not too much any more
    told.acks(80, 10);
    assert!(told.bbr.window.cwnd() >= 29.0, "{}", told.bbr.window.cwnd());
    told.acks(60, 10);
    assert!(told.bbr.window.cwnd() <= even, "{}", told.bbr.window.cwnd());
}

#[test]
fn startup_ends_when_six_ranges_and_two_percent_are_lost_in_a_round_of_recovery() {
    // [Exiting STARTUP on Loss When Application-Limited]
    let after = |ranges: u32| {
        let mut told = Told::new();
        told.app_limited = true;
        told.acks(25, 20);
        let out = bare(
            AckKind::Duplicate,
            Outstanding { queued: false, una: 1, nxt: 1, max: 1, flight: 0.0, limit: 1e9 },
            MSS,
        )
        .out;
        told.lose(50);
        told.bbr.on_loss(0.0, &out);
        for _ in 0..30 {
            told.ack(20, Stage::Recovery, false);
            if told.bbr.losses.ranges < ranges {
                told.lose(50);
            }
        }
        told
    };
    let told = after(6);
    assert!(told.bbr.full.reached && told.bbr.full.now);
    assert!(matches!(told.bbr.state, State::Drain | State::Down | State::Cruise), "{:?}", told.bbr.state);
    // What fills the path, or what a round trip delivered: ten segments either way.
    assert!((told.segments(told.bbr.long_term) - 10.0).abs() <= 10.0 && told.bbr.long_term.is_finite());
    assert_eq!(after(5).bbr.state, State::Startup, "five may be a burst");
}

#[test]
fn the_cycle_is_down_cruise_refill_up() {
    // [Exiting PROBE_DOWN on Inflight], [Exiting PROBE_UP on Bandwidth Plateau]
    let mut told = Told::cruising();
    told.until(State::Refill, 8);
    // Ten segments fill the path: so many round trips or one fewer have passed, long before 2 s.
    assert_eq!(told.bbr.state.gains(), (1.0, 2.0));
    let since = told.history.len();
    told.until(State::Up, 10);
    assert!((9..=11).contains(&(told.history.len() - since)), "one round trip");
    assert_eq!((told.bbr.state.gains(), told.bbr.cycle.phase), ((1.25, 2.25), AckPhase::Starting));
    told.acks(12, 13);
    assert_eq!(told.bbr.cycle.phase, AckPhase::Feedback);
    let since = told.history.len();
    told.until(State::Down, 13);
    assert!((15..=35).contains(&(told.history.len() - since)), "three round trips without a quarter more");
    assert_eq!(told.bbr.state.gains(), (0.9, 2.0));
    // Down until what fills the path, and no more than that, is in flight: ten, but there is room for six at least.
    told.acks(3, 11);
    assert_eq!(told.bbr.state, State::Down);
    told.acks(1, 10);
    assert_eq!(told.bbr.state, State::Cruise);
}

#[test]
fn down_leaves_headroom_below_the_long_term_bound_and_ends_after_the_wait() {
    // [Exiting PROBE_DOWN After Max Time]
    let mut told = Told::cruising();
    told.bbr.start_down(told.now);
    told.bbr.long_term = 10e3;
    told.acks(1, 9);
    assert_eq!(told.bbr.state, State::Down, "8.5 are left");
    let mut other = Told::cruising();
    other.bbr.start_down(other.now);
    other.bbr.long_term = 10e3;
    other.acks(1, 8);
    assert_eq!(other.bbr.state, State::Cruise);
    assert!(other.bbr.window.cwnd() <= 8.5, "{}", other.bbr.window.cwnd());
    // 20 in flight for ever: to the refill without a cruise, by rounds or after 2 to 3 s.
    told.until(State::Refill, 20);
}

#[test]
fn probes_are_two_to_three_seconds_apart_or_as_many_round_trips_as_segments_fill_the_path() {
    let mut told = Told::cruising();
    told.bbr.start_down(told.now);
    let (since, drawn) = (told.history.len() as u64, told.bbr.cycle.rounds_since_up);
    told.until(State::Refill, 8);
    let rounds = (told.history.len() as u64 - since) / 10;
    assert!((9 - drawn..=11).contains(&rounds), "{rounds}");
    // Of more than 63 segments the clock decides.
    let mut told = Told::cruising();
    told.bbr.start_down(told.now);
    (told.bbr.max_bandwidth, told.bbr.bandwidth) = (MaxBandwidth::default(), 1e6);
    told.bbr.max_bandwidth.update(1e6, false);
    told.bbr.window.set(100.0);
    let began = told.now;
    told.rate = 1e6;
    told.until(State::Refill, 90);
    let waited = told.now.saturating_since(began);
    assert!(waited > Span::from_secs(2) && waited < Span::from_millis(3_020), "{waited:?}");
}

#[test]
fn too_much_lost_in_a_probe_sets_the_bound_where_the_loss_passed_two_percent() {
    // [Handling Loss During PROBE_UP After inflight_longterm is Set]
    let mut told = Told::cruising();
    told.until(State::Up, 8);
    told.acks(12, 100);
    assert!(told.bbr.cycle.is_sample);
    told.lose(50);
    assert_eq!(told.bbr.state, State::Up, "one of a hundred");
    told.lose(50);
    assert_eq!(told.bbr.state, State::Up, "two percent are not more than two percent");
    told.lose(50);
    // 99 and two lost before it: (0.02 * 99 - 2) / 0.98 of a segment more.
    let bound = 99.0 + (0.02 * 99.0 - 2.0) / 0.98;
    assert!((told.segments(told.bbr.long_term) - bound).abs() < 1e-6, "{}", told.bbr.long_term);
    assert_eq!((told.bbr.state, told.bbr.saved.state), (State::Down, Some(State::Up)));
    assert!(told.bbr.cycle.too_high && !told.bbr.cycle.is_sample);
    let before = told.bbr.long_term;
    (0..5).for_each(|_| told.lose(50));
    assert_eq!(told.bbr.long_term, before, "once a probe");
}

#[test]
fn a_bound_is_no_less_than_seven_tenths_of_what_is_wanted_and_none_of_the_application() {
    let mut told = Told::cruising();
    told.until(State::Up, 8);
    told.acks(12, 4);
    told.bbr.window.set(20.0);
    told.lose(50);
    // One of four is too many; ten fill the path.
    assert!((told.segments(told.bbr.long_term) - 7.0).abs() < 1e-6, "{}", told.bbr.long_term);
    // [Exiting PROBE_UP on Loss When Application-Limited]
    let mut told = Told::cruising();
    told.until(State::Up, 8);
    told.app_limited = true;
    told.acks(12, 4);
    told.lose(50);
    assert_eq!((told.bbr.state, told.bbr.long_term), (State::Down, f64::INFINITY));
}

#[test]
fn after_a_probe_that_lost_too_much_the_next_turns_back_at_the_bound_and_the_one_after_that_stays() {
    let mut told = Told::cruising();
    told.bbr.long_term = 12e3;
    told.bbr.cycle.too_high = true;
    told.until(State::Up, 9);
    told.acks(2, 11);
    assert_eq!(told.bbr.state, State::Up);
    told.acks(1, 12);
    assert_eq!((told.bbr.state, told.bbr.cycle.too_high), (State::Down, false), "before it loses");
    // A round trip without excess: again, without a cruise.
    let since = told.history.len();
    told.until(State::Refill, 11);
    assert!(told.history.len() - since <= 11);
    told.until(State::Up, 12);
    told.acks(3, 12);
    assert_eq!(told.bbr.state, State::Up);
}

#[test]
fn the_long_term_bound_grows_by_one_two_four_segments_a_round_trip() {
    // [Increasing Bandwidth 10x and Ensuring Full Bandwidth is Reached]
    let mut told = Told::cruising();
    told.bbr.long_term = 10e3;
    told.until(State::Up, 9);
    let mut grown = Vec::new();
    for _ in 0..4 {
        let before = told.bbr.long_term;
        for _ in 0..10 {
            told.bbr.window.set(told.bbr.long_term / 1e3);
            told.bbr.limited = [true, true];
            told.rate *= 1.01; // or the pipe would be full
            told.acks(1, 9);
            told.bbr.limited = [true, true];
        }
        grown.push(told.segments(told.bbr.long_term - before));
    }
    assert_eq!(told.bbr.state, State::Up);
    assert!(grown[0] <= 2.0 && grown[3] >= 4.0 && grown[3] > 2.0 * grown[1], "{grown:?}");
}

#[test]
fn losses_beside_a_probe_bound_bandwidth_and_window_by_what_is_delivered_until_the_refill() {
    let mut told = Told::cruising();
    told.bbr.window.set(20.0);
    told.rate = 60e3;
    told.bbr.cycle.rounds_since_up = 0;
    told.acks(25, 8);
    assert_eq!(told.bbr.bandwidth, 100e3, "nothing was lost");
    told.bbr.cycle.rounds_since_up = 0;
    told.lose(50);
    // With the round trip in which that was found.
    told.acks(12, 8);
    let bound = told.bbr.losses;
    assert!(bound.bandwidth < 100e3 && bound.bandwidth >= 70e3, "{bound:?}");
    assert!(bound.inflight.is_finite());
    assert_eq!(told.bbr.bandwidth, bound.bandwidth);
    told.bbr.cycle.rounds_since_up = 0;
    told.lose(50);
    told.acks(12, 8);
    assert!(
        told.bbr.losses.bandwidth <= 70e3 && told.bbr.losses.bandwidth >= 60e3,
        "no less than is delivered"
    );
    told.until(State::Refill, 8);
    assert_eq!((told.bbr.losses.bandwidth, told.bbr.losses.inflight), (f64::INFINITY, f64::INFINITY));
}

#[test]
fn five_seconds_without_a_shorter_round_trip_are_followed_by_half_of_the_window_for_200_ms_and_a_round() {
    // [Entering and Exiting PROBE_RTT]
    let mut told = Told::cruising();
    told.acks(400, 8);
    told.until(State::ProbeTrip, 8);
    let since = told.now;
    assert!(
        since > Instant::ZERO + Span::from_secs(5) && since < Instant::ZERO + Span::from_millis(5_300),
        "{since:?}"
    );
    assert_eq!(told.bbr.state.gains(), (1.0, 0.5));
    assert_eq!(told.bbr.window.cwnd(), 5.0, "half of ten");
    told.acks(5, 8);
    assert_eq!(told.bbr.trips.done, None, "more than five are on their way");
    told.acks(1, 5);
    let small = told.now;
    told.until(State::Cruise, 5);
    let lasted = told.now.saturating_since(small);
    assert!(lasted > Span::from_millis(200) && lasted < Span::from_millis(320), "{lasted:?}");
    assert!(told.bbr.window.cwnd() > 5.0);
}

#[test]
fn a_probe_of_the_round_trip_before_the_pipe_is_full_goes_back_to_startup() {
    // [Entering and Exiting PROBE_RTT During STARTUP]
    let mut told = Told::new();
    told.app_limited = true;
    told.until(State::ProbeTrip, 4);
    told.until(State::Startup, 4);
}

#[test]
fn who_was_idle_probes_no_round_trip_and_paces_at_the_bandwidth() {
    // [Skipping PROBE_RTT Due to Application-Limited Sending]
    let mut told = Told::cruising();
    told.bbr.start_down(told.now);
    told.bbr.in_flight = 0;
    told.now += Span::from_secs(6);
    let sent = Sent::Data { start: 1 + told.delivered, length: MSS, first: true };
    told.bbr.on_departure(&Departure { now: told.now, token: told.now, sent });
    assert!(told.bbr.idle_restart);
    assert!((told.bbr.pace - 99e3).abs() < 1.0, "not nine tenths of it: {}", told.bbr.pace);
    told.acks(1, 5);
    assert_ne!(told.bbr.state, State::ProbeTrip);
    assert!(!told.bbr.idle_restart);
}

#[test]
fn a_loss_that_was_none_gives_back_window_bounds_and_state() {
    // [Handling Spurious Fast Recovery]
    let mut told = Told::cruising();
    told.until(State::Up, 8);
    told.acks(12, 10);
    told.bbr.long_term = 30e3;
    let window = told.bbr.window.cwnd();
    told.lose(50);
    assert_eq!(told.bbr.state, State::Down);
    assert!(told.bbr.long_term < 30e3);
    told.bbr.window.set(4.0);
    told.bbr.on_undo();
    assert_eq!((told.bbr.state, told.bbr.long_term), (State::Refill, 30e3));
    assert_eq!(told.bbr.window.cwnd(), window);
    // [Handling Spurious RTO Recovery]
    let mut told = Told::cruising();
    let window = told.bbr.window.cwnd();
    told.bbr.in_flight = 2_000;
    let out = Outstanding { queued: false, una: 1, nxt: 1, max: 1, flight: 0.0, limit: f64::INFINITY };
    told.bbr.on_timeout(told.now, false, &out);
    assert_eq!(told.bbr.window.cwnd(), 3.0, "what is in flight and a segment");
    told.bbr.on_undo();
    assert_eq!(told.bbr.window.cwnd(), window);
}

#[test]
fn a_mark_counts_as_congestion() {
    let mut told = Told::cruising();
    told.until(State::Up, 8);
    told.acks(12, 12);
    told.ack(12, Stage::Open, true);
    assert_eq!(told.bbr.state, State::Down);
    assert!(told.bbr.long_term.is_finite());
    let mut told = Told::cruising();
    told.rate = 60e3;
    told.bbr.cycle.rounds_since_up = 0;
    told.acks(25, 8);
    told.ack(8, Stage::Open, true);
    told.acks(12, 8);
    assert!(told.bbr.losses.bandwidth < 100e3, "{:?}", told.bbr.losses);
}

#[test]
fn low_samples_of_the_application_do_not_lower_the_bandwidth_in_a_refill() {
    // [Handling Application-Limited Sending During PROBE_REFILL]
    let mut told = Told::cruising();
    told.until(State::Refill, 8);
    (told.app_limited, told.rate) = (true, 20e3);
    told.until(State::Up, 3);
    assert_eq!(told.bbr.max_bandwidth.get(), 100e3);
}

fn config() -> Config {
    let rack = Rack::new(&Rules::LINUX, With::ALL);
    Config {
        timestamps: false,
        nagle: false,
        mss: 1460,
        acknowledgements: Box::new(Every),
        ..Config::linux()
    }
    .controlled_by(Recovered::new(Box::new(Bbr3::new(Rules::LINUX)), Box::new(rack)))
}

fn at(seconds: f64) -> Instant {
    Instant::ZERO + Span::from_secs_f64(seconds)
}

/// 6 Mbit/s with a round trip of 100 ms and a segment's time: 51 segments fill it.
fn link(buffer: usize) -> Link {
    Link { rate: Rate::bits_per_sec(6_000_000), delay: Span::from_millis(50), buffer }
}

/// Payload over the link: 1,460 of each 1,500 bytes.
const GOODPUT: f64 = 6_000_000.0 * 1460.0 / 1500.0;

fn mean(shots: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = shots.fold((0.0, 0.0), |(sum, count), value| (sum + value, count + 1.0));
    sum / count
}

#[test]
fn it_fills_the_path_keeps_the_queue_short_and_looks_for_the_round_trip_after_five_seconds() {
    let mut path = Path::new(&config(), link(1_000));
    path.run(at(12.0));
    assert!(path.goodput(2.0, 12.0) > 0.93 * GOODPUT, "{}", path.goodput(2.0, 12.0));
    let queue = mean(path.between(2.0, 12.0).map(|seen| seen.queue as f64));
    assert!(queue < 15.0, "{queue}");
    assert_eq!(path.drops, 0);
    let small: Vec<f64> =
        path.between(2.0, 12.0).filter(|seen| seen.cwnd < 30.0).map(|seen| seen.at.as_secs_f64()).collect();
    let (first, last) = (small[0], small.iter().take_while(|at| **at < small[0] + 1.0).last().unwrap());
    assert!((5.0..6.5).contains(&first) && (0.2..0.5).contains(&(last - first)), "{first} to {last}");
    // Spacings of 1,460 bytes at 99 % of 5.84 Mbit/s: 2.02 ms, 1.62 at 1.25 times the pace, 2.24 at 0.9.
    let spacing = |seen: &&Shot| seen.interval.map_or(0.0, Span::as_secs_f64) * 1e3;
    let near =
        |wanted: f64| path.between(2.0, 12.0).filter(|seen| (spacing(seen) - wanted).abs() < 0.05).count();
    let all = path.between(2.0, 12.0).count();
    let (even, fast, slow) = (near(2.02), near(1.616), near(2.245));
    assert!(even > all / 2 && fast > all / 50 && slow > all / 100, "{even} {fast} {slow} of {all}");
}

#[test]
fn one_percent_lost_that_is_no_congestion_costs_little() {
    let mut path = Path::new(&config(), link(1_000)).losing(|n| n % 100 == 0);
    path.run(at(12.0));
    assert!(path.goodput(3.0, 12.0) > 0.8 * GOODPUT, "{}", path.goodput(3.0, 12.0));
}

#[test]
fn a_shallow_buffer_loses_little_once_startup_is_over() {
    let mut path = Path::new(&config(), link(10));
    path.run(at(3.0));
    let startup = path.drops;
    path.run(at(15.0));
    let sent = 12.0 * 500.0;
    assert!(((path.drops - startup) as f64) < 0.03 * sent, "{} of {sent}", path.drops - startup);
    assert!(path.goodput(3.0, 15.0) > 0.8 * GOODPUT, "{}", path.goodput(3.0, 15.0));
}

#[test]
fn ten_times_the_bandwidth_is_found() {
    // [Increasing Bandwidth 10x and Ensuring Full Bandwidth is Reached]
    let mut path = Path::new(&config(), link(1_000));
    path.run(at(4.0));
    path.link.rate = Rate::bits_per_sec(60_000_000);
    path.run(at(20.0));
    assert!(path.goodput(16.0, 20.0) > 8.0 * GOODPUT, "{}", path.goodput(16.0, 20.0) / GOODPUT);
}

/// Spacing of departures (ms) and goodput as a share of a tenth of the bandwidth, which is all that is left at 4 s: from `from` to
/// 30 s.
fn with_a_tenth_left(buffer: usize, from: f64) -> (f64, f64) {
    let mut path = Path::new(&config(), link(buffer));
    path.run(at(4.0));
    path.link.rate = Rate::bits_per_sec(600_000);
    path.run(at(30.0));
    let spacing = path.between(from, 30.0).filter_map(|seen| seen.interval).map(Span::as_secs_f64);
    (1e3 * mean(spacing), path.goodput(from, 30.0) / (GOODPUT / 10.0))
}

#[test]
fn a_tenth_of_the_bandwidth_is_followed() {
    // [Decreasing Bandwidth 10x and Ensuring Max Bandwidth Adapts Down]: after two cycles of 2 to 3 s. 1,460 bytes at 99 % of 584
    // kbit/s are 20.2 ms.
    for buffer in [10, 20, 30] {
        let (spacing, goodput) = with_a_tenth_left(buffer, 12.0);
        assert!((spacing - 20.2).abs() < 0.4 && goodput > 0.97, "{buffer}: {spacing} ms, {goodput}");
    }
    // A hundred packets in the buffer are round trips of 2 s. A cycle has four of them, and a probe of the round trip each 5 s marks
    // the samples of one as the application's, so that the greatest bandwidth does not age there (AdaptLongTermModel): 17 s.
    let (spacing, goodput) = with_a_tenth_left(100, 22.0);
    assert!((16.0..20.3).contains(&spacing) && goodput > 0.97, "{spacing} ms, {goodput}");
    assert!(with_a_tenth_left(100, 10.0).0 < 10.0, "not by then");
}

#[test]
fn a_path_of_less_than_a_segment_is_served_with_at_least_four() {
    // [Correctly Managing Sub-Packet BDPs]
    let slow = Link { rate: Rate::bits_per_sec(600_000), delay: Span::from_millis(2), buffer: 100 };
    let mut path = Path::new(&config(), slow);
    path.run(at(10.0));
    assert!(path.between(2.0, 10.0).all(|seen| (4.0..20.0).contains(&seen.cwnd)));
    assert!(path.goodput(2.0, 10.0) > 0.9 * GOODPUT / 10.0, "{}", path.goodput(2.0, 10.0));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever the path: the window is at least a segment, the pace never nothing, and data get on.
    #[test]
    fn window_and_pace_are_bounded(kbps in 200u64..5_000, delay in 1u64..150, buffer in 6usize..100, every in 8u64..200) {
        let link = Link { rate: Rate::bits_per_sec(1_000 * kbps), delay: Span::from_millis(delay), buffer };
        let lost: fn(u64) -> bool = if every < 40 { |n| n % 40 == 7 } else { |_| false };
        let mut path = Path::new(&config(), link).losing(lost);
        path.run(at(8.0));
        for seen in path.between(2.0, 8.0) {
            prop_assert!(seen.cwnd >= 1.0 && seen.cwnd.is_finite(), "{seen:?}");
            prop_assert!(seen.interval.is_some_and(|interval| interval > Span::ZERO && interval < Span::from_secs(5)), "{seen:?}");
        }
        prop_assert!(path.goodput(3.0, 8.0) > 0.2 * kbps as f64 * 1e3, "{}", path.goodput(3.0, 8.0));
    }

    /// Whatever it is told: no panic, and a window that is a number of at least a segment.
    #[test]
    fn any_samples_will_do(told in proptest::collection::vec((0u64..500, 0u64..400_000, 0u8..14, 1u64..60), 1..400)) {
        let mut sender = Told::new();
        for (wait, rate, what, in_flight) in told {
            sender.now += Span::from_millis(wait);
            sender.rate = rate as f64;
            sender.app_limited = what == 5;
            let out = Outstanding { queued: false, una: 1, nxt: 1, max: 1, flight: 0.0, limit: f64::INFINITY };
            match what {
                0 => { sender.lose(wait); let _ = sender.bbr.on_loss(0.0, &out); }
                1 => sender.bbr.on_timeout(sender.now, false, &out),
                2 => sender.bbr.on_undo(),
                3 => sender.bbr.on_idle(&Idled { mss: MSS, timeouts: 1 }),
                4 => (0..in_flight).for_each(|_| sender.lose(wait)),
                6 => sender.ack(in_flight, Stage::Recovery, false),
                7 => sender.ack(in_flight, Stage::Timeout, true),
                _ => sender.ack(in_flight, Stage::Open, what == 8),
            }
            let cwnd = sender.bbr.window.cwnd();
            prop_assert!(cwnd.is_finite() && cwnd >= 1.0, "{cwnd}");
            prop_assert!(sender.bbr.pace.is_finite() && sender.bbr.pace > 0.0);
            prop_assert!(sender.bbr.long_term > 0.0);
        }
    }
}
