//! Copa by the paper's steps, and over a bottleneck of 1.2 Mbit/s: a packet of 1,500 bytes takes 10 ms.

use super::*;
use crate::Config;
use crate::control::{AckKind, RateSample};
use crate::tests::bare;
use crate::tests::path::{self, GOODPUT, Link, Path, at};
use meshpace_units::Bytes;
use proptest::prelude::*;

const MSS: u32 = 1000;

/// So many segments arrived after a round trip of `trip`.
fn sample(segments: u64, trip: Span) -> RateSample {
    RateSample {
        delivered: Bytes(0),
        interval: Span::ZERO,
        rate: None,
        app_limited: false,
        prior_delivered: Bytes(0),
        acked: Bytes(segments * u64::from(MSS)),
        sent: Instant::ZERO,
        rtt: Some(trip),
        losses: Bytes(0),
    }
}

/// A sender with given round trips: it gets an acknowledgement for one segment after the other, and keeps its window full.
struct ScriptedSender {
    copa: Copa,
    now: Instant,
    una: u64,
}

impl ScriptedSender {
    fn new(cwnd: f64) -> Self {
        let mut copa = Copa::new(Rules::RFC, 0.5, true);
        copa.on_connected(false, MSS);
        copa.window.set(cwnd);
        Self { copa, now: Instant::ZERO, una: 1 }
    }

    /// The same, which has seen a path of 100 ms and has left slow start.
    fn steady(cwnd: f64) -> Self {
        let mut told = Self::new(cwnd);
        told.ack(100);
        told.copa.window.set(cwnd);
        told.copa.slow_start = false;
        told
    }

    /// An acknowledgement after a round trip of `trip` ms, 1 ms after the one before.
    fn ack(&mut self, trip: u64) -> f64 {
        self.now += Span::from_millis(1);
        self.una += u64::from(MSS);
        let before = self.copa.window.cwnd();
        let max = self.una + (before * f64::from(MSS)) as u64;
        let out = Outstanding {
            queued: false,
            una: self.una,
            nxt: max,
            max,
            flight: before - 1.0,
            limit: f64::INFINITY,
        };
        let rate = Some(sample(1, Span::from_millis(trip)));
        self.copa.on_ack(&Ack { now: self.now, rate, ..bare(AckKind::New, out, MSS) });
        self.copa.window.cwnd() - before
    }

    /// Acknowledgements for a window.
    fn window(&mut self, trip: u64) {
        let end = self.una + (self.copa.window.cwnd() * f64::from(MSS)) as u64;
        while self.una <= end + u64::from(MSS) {
            self.ack(trip);
        }
    }

    /// The same for so many ms, one each ms.
    fn lasting(&mut self, ms: u64, trip: u64) {
        (0..ms).for_each(|_| {
            self.ack(trip);
        });
    }
}

#[test]
fn below_the_target_rate_the_window_grows_and_above_it_shrinks() {
    // 20 ms of queue: the target is 1 / (0.5 * 20 ms) = 100 segments/s. 10 in 120 ms are 83, 13 are 108. The queue stands once
    // the least of half a smoothed round trip has it.
    let change = |cwnd: f64| {
        let mut told = ScriptedSender::steady(cwnd);
        told.lasting(70, 120);
        told.copa.window.set(cwnd);
        (told.copa.velocity, told.copa.same) = (1.0, 0);
        told.copa.direction = if cwnd < 12.0 { Direction::Up } else { Direction::Down };
        told.ack(120)
    };
    // One over delta in a window.
    assert!((change(10.0) - 1.0 / (0.5 * 10.0)).abs() < 1e-9, "{}", change(10.0));
    assert!((change(13.0) + 1.0 / (0.5 * 13.0)).abs() < 1e-9, "{}", change(13.0));
}

#[test]
fn an_empty_queue_has_no_target() {
    let mut told = ScriptedSender::steady(1_000.0);
    assert!(told.ack(100) > 0.0);
}

#[test]
fn the_velocity_doubles_from_the_fourth_window_of_a_direction_on() {
    let mut told = ScriptedSender::steady(40.0);
    told.copa.direction = Direction::Down;
    let mut seen = alloc::vec::Vec::new();
    for _ in 0..7 {
        told.window(100);
        seen.push(told.copa.velocity);
    }
    // The first window turns it; three more in the same direction, then it doubles with each.
    assert_eq!(seen[..6], [1.0, 1.0, 1.0, 2.0, 4.0, 8.0]);
    // A queue of 100 ms, where 200 segments/s and more are too many: it turns, with velocity 1, as soon as the queue stands.
    told.lasting(120, 200);
    assert_eq!((told.copa.direction, told.copa.velocity), (Direction::Down, 1.0));
}

#[test]
fn a_velocity_moves_the_window_by_no_more_than_itself_in_a_round_trip() {
    let mut told = ScriptedSender::steady(10.0);
    for _ in 0..12 {
        let before = told.copa.window.cwnd();
        told.window(100);
        assert!(told.copa.window.cwnd() <= 2.1 * before + 2.0);
    }
    assert!(told.copa.window.cwnd() > 300.0, "{}", told.copa.window.cwnd());
}

#[test]
fn slow_start_doubles_the_window_until_the_rate_exceeds_the_target() {
    let mut told = ScriptedSender::new(10.0);
    told.lasting(10, 100);
    assert_eq!((told.copa.window.cwnd(), told.copa.slow_start), (20.0, true));
    told.lasting(20, 100);
    assert_eq!(told.copa.window.cwnd(), 40.0);
    // 12 ms of queue are a target of 167 segments/s, 18.7 in 112 ms.
    told.lasting(60, 112);
    assert!(!told.copa.slow_start);
    let after = told.copa.window.cwnd();
    assert!(told.ack(112) < 0.0 && after > 80.0, "{after}");
}

#[test]
fn the_pace_is_twice_a_window_a_standing_round_trip() {
    let mut told = ScriptedSender::steady(25.0);
    told.lasting(70, 120);
    told.copa.window.set(25.0);
    told.ack(120);
    let spacing = 120.0 / (2.0 * told.copa.window.cwnd());
    let interval = told.copa.pacing().interval.unwrap().as_secs_f64() * 1e3;
    assert!((interval - spacing).abs() < 1e-6, "{interval} of {spacing}");
}

#[test]
fn beside_a_queue_that_never_empties_delta_falls_as_nobody_loses_and_doubles_with_a_loss() {
    let mut told = ScriptedSender::steady(20.0);
    told.lasting(500, 160); // the queue was empty less than five round trips ago
    assert_eq!((told.copa.competing, told.copa.delta), (None, 0.5));
    told.lasting(500, 160); // five round trips are over, and up to two more
    let once = 1.0 / told.copa.delta;
    assert!(told.copa.competing.is_some() && (2.0..=5.0).contains(&once), "{once}");
    // 160 ms each, 1/delta gains one.
    told.lasting(480, 160);
    assert!((1.0 / told.copa.delta - once - 3.0).abs() < 1e-9, "{}", 1.0 / told.copa.delta);
    let out = Outstanding { queued: false, una: 1, nxt: 1, max: 1, flight: 0.0, limit: f64::INFINITY };
    let (before, cwnd) = (told.copa.delta, told.copa.window.cwnd());
    assert_eq!(told.copa.on_loss(0.0, &out), cwnd, "the window itself stays");
    assert!((told.copa.delta - 2.0 * before).abs() < 1e-9);
    for _ in 0..5 {
        told.copa.on_loss(0.0, &out);
    }
    assert_eq!(told.copa.delta, 0.5, "never calmer than without company");
    told.lasting(320, 160);
    assert!(told.copa.delta < 0.4);
    // Nearly empty: back to the default mode.
    told.ack(100);
    assert_eq!((told.copa.competing, told.copa.delta), (None, 0.5));
}

#[test]
fn who_does_not_compete_keeps_delta() {
    let mut told = ScriptedSender::steady(20.0);
    told.copa.competes = false;
    told.lasting(3_000, 160);
    assert_eq!((told.copa.competing, told.copa.delta), (None, 0.5));
    // The target is 33 segments/s: 5.3 in 160 ms.
    assert!((told.copa.window.cwnd() - 5.3).abs() < 1.0, "{}", told.copa.window.cwnd());
}

#[test]
fn a_timeout_begins_slow_start_anew_and_may_be_taken_back() {
    let mut told = ScriptedSender::steady(20.0);
    let out = Outstanding { queued: false, una: 1, nxt: 1, max: 1, flight: 0.0, limit: f64::INFINITY };
    told.copa.window.remember();
    told.copa.on_timeout(told.now, false, &out);
    assert_eq!((told.copa.window.cwnd(), told.copa.slow_start), (1.0, true));
    told.copa.on_undo();
    assert_eq!((told.copa.window.cwnd(), told.copa.slow_start), (20.0, false));
}

#[test]
fn what_was_sent_twice_moves_the_window_by_the_delays_that_are_known() {
    let mut told = ScriptedSender::steady(20.0);
    let out = Outstanding { queued: false, una: 1, nxt: 1, max: 1, flight: 0.0, limit: f64::INFINITY };
    told.copa.on_timeout(told.now, false, &out);
    for n in 1..=5 {
        let out = Outstanding { una: told.una + n * u64::from(MSS), flight: told.copa.window.cwnd(), ..out };
        let rate = Some(RateSample { rtt: None, ..sample(1, Span::ZERO) });
        told.copa.on_ack(&Ack { now: told.now, rate, ..bare(AckKind::New, out, MSS) });
    }
    assert_eq!((told.copa.window.cwnd(), told.copa.slow_start), (6.0, true));
    assert_eq!(told.copa.delays.standing(), Some(Span::from_millis(100)), "no sample");
}

#[test]
fn a_window_that_is_not_in_use_does_not_grow() {
    let mut told = ScriptedSender::steady(20.0);
    let out = Outstanding {
        queued: false,
        una: 100_001,
        nxt: 105_001,
        max: 105_001,
        flight: 5.0,
        limit: f64::INFINITY,
    };
    let rate = Some(sample(1, Span::from_millis(100)));
    told.copa.on_ack(&Ack { now: told.now, rate, ..bare(AckKind::New, out, MSS) });
    assert_eq!(told.copa.window.cwnd(), 20.0);
}

fn config(competes: bool) -> Config {
    path::linux(Copa::new(Rules::LINUX, 0.5, competes))
}

#[test]
fn alone_it_fills_the_path_with_a_few_segments_in_the_queue() {
    let mut path = Path::new(&config(false), Link::narrow(1_000));
    path.run(at(9.5));
    assert!(path.goodput(3.0, 9.5) > 0.95 * GOODPUT, "{}", path.goodput(3.0, 9.5));
    // Section 3: the queue goes between nothing and 2.5 / delta segments; the one on the link counts here.
    let queue = path.between(3.0, 9.5).map(|seen| seen.queue);
    let mean = queue.clone().sum::<usize>() as f64 / queue.clone().count() as f64;
    assert!((2.0..4.5).contains(&mean) && queue.max() <= Some(7), "{mean}");
    assert_eq!(path.drops, 0);
}

#[test]
fn a_queue_of_others_costs_the_calm_most_of_the_path_and_who_competes_nothing() {
    // From 4 s on a queue that never empties takes 60 ms: 1 / (0.5 * 60 ms) are a third of the path. After 10 s without the
    // least round trip that queue is part of the path.
    let goodput = |competes: bool| {
        let mut path = Path::new(&config(competes), Link::narrow(1_000));
        path.run(at(4.0));
        path.link.delay = Span::from_millis(80);
        path.run(at(11.0));
        path.goodput(7.0, 11.0) / GOODPUT
    };
    assert!(goodput(false) < 0.45, "{}", goodput(false));
    assert!(goodput(true) > 0.95, "{}", goodput(true));
}

#[test]
fn a_path_of_eleven_segments_never_empties_and_is_taken_for_company() {
    // Section 3's queue that empties is that of windows that a round trip changes little.
    let mut path = Path::new(&config(true), Link::narrow(1_000));
    path.run(at(12.0));
    let window = |from: f64| path.between(from, from + 0.01).map(|seen| seen.cwnd).fold(0.0, f64::max);
    let company = (20..120).map(|n| f64::from(n) / 10.0).find(|&from| window(from) > 18.0);
    assert!(company == Some(2.7) && (61.0..63.0).contains(&window(11.9)), "{company:?} {}", window(11.9));
}

#[test]
fn losses_that_are_no_congestion_cost_what_is_lost() {
    let mut path = Path::new(&config(true), Link::narrow(1_000)).losing(|n| n % 50 == 0);
    path.run(at(12.0));
    assert!(path.goodput(3.0, 12.0) > 0.9 * GOODPUT, "{}", path.goodput(3.0, 12.0));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever the path: the window is at least a segment, the pace never nothing, and data get on.
    #[test]
    fn window_and_pace_are_bounded(kbps in 200u64..5_000, delay in 1u64..150, buffer in 6usize..100, every in 8u64..200) {
        let mut path = Path::drawn(&config(true), kbps, delay, buffer, every);
        path.run(at(12.0));
        let fills = kbps as f64 / 12.0 * (2.0 * delay as f64 + 12_000.0 / kbps as f64) / 1e3 + buffer as f64;
        for seen in path.between(2.0, 12.0) {
            prop_assert!(seen.cwnd >= 1.0 && seen.cwnd <= 4.0 * fills + 60.0, "{seen:?} of {fills}");
            prop_assert!(seen.interval.is_some_and(|interval| interval > Span::ZERO), "{seen:?}");
        }
        // Losses do not shorten the window: where slow start has overrun a short queue it takes seconds until it fits, and what is
        // sent again is lost again meanwhile.
        prop_assert!(path.goodput(2.0, 12.0) > 0.3 * kbps as f64 * 1e3, "{}", path.goodput(2.0, 12.0));
    }

    /// For any reports: no panic, and a window that is a number of at least a segment.
    #[test]
    fn any_samples_will_do(told in proptest::collection::vec((0u64..3_000, 0u64..5_000, 0u8..12, 0u64..40), 1..300)) {
        let mut copa = Copa::new(Rules::LINUX, 0.5, true);
        copa.on_connected(false, MSS);
        let (mut now, mut una) = (Instant::ZERO, 1);
        for (wait, trip, what, segments) in told {
            now += Span::from_millis(wait);
            let max = una + 100 * u64::from(MSS);
            let out = Outstanding { queued: false, una, nxt: max, max, flight: 100.0, limit: f64::INFINITY };
            match what {
                0 => { let _ = copa.on_loss(0.0, &out); }
                1 => copa.on_timeout(now, false, &out),
                2 => copa.on_undo(),
                3 => copa.on_idle(&Idled { mss: MSS, timeouts: 1 }),
                _ => {
                    una += segments * u64::from(MSS);
                    let rate = Some(sample(segments, Span::from_micros(trip)));
                    copa.on_ack(&Ack { now, rate, ecn_signal: what == 4, ..bare(AckKind::New, out, MSS) });
                }
            }
            let cwnd = copa.window.cwnd();
            prop_assert!(cwnd.is_finite() && cwnd >= 1.0, "{cwnd}");
            prop_assert!(copa.delta > 0.0 && copa.delta <= 0.5);
            prop_assert!(copa.pace(now).is_none_or(|pace| pace.release >= now));
        }
    }
}
