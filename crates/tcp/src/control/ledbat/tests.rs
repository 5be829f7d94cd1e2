//! LEDBAT++ by its draft's formulas, and over a bottleneck of 1.2 Mbit/s: a packet of 1,500 bytes takes 10 ms.

use super::*;
use crate::Config;
use crate::control::{AckKind, Idled};
use crate::tests::bare;
use crate::tests::path::{self, GOODPUT, Link, Path, at};
use proptest::prelude::*;

const MSS: u32 = 1000;

fn ms(n: u64) -> Span {
    Span::from_millis(n)
}

/// A sender that keeps its window full, and is told the round trip of each acknowledgement of a segment.
struct ScriptedSender {
    ledbat: Ledbat,
    now: Instant,
    una: u64,
}

impl ScriptedSender {
    fn new() -> Self {
        let mut ledbat = Ledbat::new(Rules::RFC, TARGET);
        ledbat.on_connected(false, MSS);
        Self { ledbat, now: Instant::ZERO, una: 1 }
    }

    /// The same past its slow start, with this window, no slowdown soon, and a path of 120 ms: the gain is one.
    fn steady(cwnd: f64) -> Self {
        let mut told = Self::new();
        told.acks(4, 120);
        told.ledbat.phase = Phase::Steady { next: Some(Instant::ZERO + Span::from_secs(3_600)) };
        told.ledbat.window.set(cwnd);
        told.ledbat.window.set_ssthresh(cwnd);
        told
    }

    fn cwnd(&self) -> f64 {
        self.ledbat.window.cwnd()
    }

    fn ack(&mut self, trip: u64) -> Ack<'static> {
        self.una += u64::from(MSS);
        let max = self.una + (self.cwnd() * f64::from(MSS)) as u64;
        let flight = self.cwnd() - 1.0;
        let out = Outstanding { queued: false, una: self.una, nxt: max, max, flight, limit: f64::INFINITY };
        Ack { now: self.now, acked: MSS.into(), newest: Some(ms(trip)), ..bare(AckKind::New, out, MSS) }
    }

    /// So many acknowledgements, one each millisecond.
    fn acks(&mut self, count: u64, trip: u64) {
        for _ in 0..count {
            self.now += ms(1);
            let ack = self.ack(trip);
            self.ledbat.on_ack(&ack);
            self.ledbat.on_progress(&ack);
        }
    }

    /// One acknowledgement at this time.
    fn at(&mut self, time: u64, trip: u64) {
        self.now = Instant::ZERO + ms(time - 1);
        self.acks(1, trip);
    }
}

#[test]
fn the_gain_is_one_over_two_targets_in_round_trips_rounded_up() {
    let gain = |base: u64| {
        let mut told = ScriptedSender::new();
        told.acks(1, base);
        1.0 / told.ledbat.gain()
    };
    for (base, divisor) in [
        (1, 16.0),
        (7, 16.0),
        (8, 15.0),
        (10, 12.0),
        (50, 3.0),
        (60, 2.0),
        (119, 2.0),
        (120, 1.0),
        (500, 1.0),
    ] {
        assert!((gain(base) - divisor).abs() < 1e-9, "{base} ms: {}", gain(base));
    }
    assert_eq!(ScriptedSender::new().ledbat.gain(), 1.0 / 16.0, "nothing is known yet");
}

#[test]
fn slow_start_grows_by_the_gain_and_ends_above_three_quarters_of_the_target() {
    let mut told = ScriptedSender::new();
    assert_eq!(told.cwnd(), 2.0);
    // A gain of a third.
    told.acks(6, 50);
    assert!((told.cwnd() - 4.0).abs() < 1e-9, "{}", told.cwnd());
    // 45 ms of queue are three quarters of 60: not yet.
    told.acks(6, 95);
    assert!(told.ledbat.phase == Phase::Initial && (told.cwnd() - 6.0).abs() < 1e-9, "{}", told.cwnd());
    // The least of four.
    told.acks(3, 96);
    assert_eq!(told.ledbat.phase, Phase::Initial);
    told.acks(1, 96);
    assert!(matches!(told.ledbat.phase, Phase::Steady { next: Some(_) }));
    assert!(
        (told.cwnd() - 7.0).abs() < 1e-9 && told.ledbat.window.ssthresh() == told.cwnd(),
        "{}",
        told.cwnd()
    );
}

#[test]
fn a_slowdown_keeps_two_segments_for_two_round_trips_and_the_next_is_nine_times_as_far() {
    let mut told = ScriptedSender::new();
    told.acks(100, 120); // to 102 segments, with a gain of one
    told.acks(4, 170);
    let Phase::Steady { next: Some(next) } = told.ledbat.phase else { panic!("{:?}", told.ledbat.phase) };
    // Two smoothed round trips after slow start ended at 104 ms: of 120 to 140 ms.
    let first = next.as_nanos() / 1_000_000;
    assert!((344..400).contains(&first), "{first}");
    told.at(first - 1, 130);
    let before = told.cwnd();
    assert!(before > 100.0);
    told.at(first + 1, 130);
    assert_eq!((told.cwnd(), told.ledbat.window.ssthresh()), (2.0, before));
    let Phase::Frozen { until, .. } = told.ledbat.phase else { panic!("{:?}", told.ledbat.phase) };
    let until = until.as_nanos() / 1_000_000;
    assert!((first + 240..first + 300).contains(&until), "{until}");
    told.at(until - 1, 120);
    assert_eq!(told.cwnd(), 2.0, "frozen");
    // Back with slow start, whatever the delay: 3 ms an acknowledgement.
    for n in 0..200 {
        told.at(until + 1 + 3 * n, 200);
        if matches!(told.ledbat.phase, Phase::Steady { .. }) {
            break;
        }
    }
    assert_eq!(told.cwnd(), before, "no further than it was");
    let Phase::Steady { next: Some(next) } = told.ledbat.phase else { panic!("{:?}", told.ledbat.phase) };
    let now = told.now.as_nanos() / 1_000_000;
    let next = next.as_nanos() / 1_000_000;
    assert_eq!(next - now, 9 * (now - first - 1));
}

#[test]
fn below_the_target_a_round_trip_adds_the_gain_and_above_it_takes_what_it_is_over() {
    // 100 acknowledgements of a window of 100 are a round trip, the first three of which the filter hides.
    let change = |cwnd: f64, trip: u64| {
        let mut told = ScriptedSender::steady(cwnd);
        for _ in 0..4 {
            let ack = told.ack(trip);
            told.ledbat.on_ack(&ack);
        }
        told.acks(1, trip);
        (told.cwnd() - cwnd) * cwnd // of a round trip
    };
    let near = |found: f64, wanted: f64| assert!((found - wanted).abs() < 1e-6, "{found}, not {wanted}");
    near(change(100.0, 120), 1.0);
    near(change(100.0, 180), 1.0); // the target itself
    // A tenth above it: a tenth of the window, less the gain. The same of half the window.
    near(change(100.0, 186), 1.0 - 100.0 * 0.1);
    near(change(50.0, 186), 1.0 - 50.0 * 0.1);
    // Twice the target and more: half of the window.
    near(change(100.0, 240), -50.0);
    near(change(100.0, 500), -50.0);
    let mut small = ScriptedSender::steady(3.0);
    small.acks(50, 500);
    assert_eq!(small.cwnd(), 2.0, "no less");
}

#[test]
fn a_loss_halves_the_window_ends_the_initial_slow_start_and_a_slowdown_comes_two_round_trips_later() {
    let mut told = ScriptedSender::new();
    told.acks(30, 120);
    assert_eq!(told.ledbat.phase, Phase::Initial);
    let out = told.ack(120).out;
    let cwnd = told.ledbat.on_loss(0.0, &out);
    assert!((cwnd - out.flight / 2.0).abs() < 1e-9, "{cwnd}");
    told.ledbat.window.set(cwnd);
    assert_eq!(told.ledbat.phase, Phase::Steady { next: None });
    told.acks(1, 120);
    let Phase::Steady { next: Some(next) } = told.ledbat.phase else { panic!("{:?}", told.ledbat.phase) };
    assert_eq!(next.saturating_since(told.now), ms(240));
    // A timeout: from a segment to the threshold, whatever the delay.
    let mut told = ScriptedSender::steady(20.0);
    let out = told.ack(120).out;
    told.ledbat.on_timeout(told.now, false, &out);
    assert_eq!((told.cwnd(), told.ledbat.window.ssthresh()), (1.0, 9.5));
    told.acks(5, 190);
    assert_eq!(told.cwnd(), 6.0);
}

#[test]
fn a_window_that_is_not_in_use_does_not_grow() {
    let mut told = ScriptedSender::steady(20.0);
    let ack = told.ack(120);
    told.ledbat.on_progress(&Ack { out: Outstanding { flight: 5.0, ..ack.out }, ..ack });
    assert_eq!(told.cwnd(), 20.0);
}

fn config() -> Config {
    path::linux(Ledbat::new(Rules::LINUX, TARGET))
}

#[test]
fn it_fills_the_path_with_a_target_in_the_queue_and_empties_it_from_time_to_time() {
    let mut path = Path::new(&config(), Link::narrow(1_000));
    path.run(at(60.0));
    assert!(path.goodput(20.0, 60.0) > 0.85 * GOODPUT, "{}", path.goodput(20.0, 60.0));
    // 60 ms are six segments, and the one on the link counts.
    let queue = path.between(20.0, 60.0).map(|seen| seen.queue);
    assert!(queue.clone().max() <= Some(9) && queue.clone().max() >= Some(6), "{:?}", queue.max());
    // A slowdown is a tenth of the time.
    let slow = path.between(20.0, 60.0).filter(|seen| seen.cwnd < 10.0).count();
    assert!((1_000..5_000).contains(&slow), "{slow} ms");
    assert_eq!(path.drops, 0);
}

#[test]
fn it_gives_way_to_a_queue_of_others() {
    let mut path = Path::new(&config(), Link::narrow(1_000));
    path.run(at(10.0));
    path.link.delay = ms(100); // 100 ms more, 40 above the target
    path.run(at(20.0));
    assert!(path.goodput(12.0, 20.0) < 0.2 * GOODPUT, "{}", path.goodput(12.0, 20.0));
    assert!(path.between(12.0, 20.0).all(|seen| seen.cwnd < 4.0));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() })]

    /// For any reports: no panic, and a window that is a number of at least a segment.
    #[test]
    fn any_samples_will_do(told in proptest::collection::vec((0u64..100_000, 0u64..5_000, 0u8..12, 0u64..40), 1..300)) {
        let mut ledbat = Ledbat::new(Rules::LINUX, TARGET);
        ledbat.on_connected(false, MSS);
        let (mut now, mut una) = (Instant::ZERO, 1);
        for (wait, trip, what, segments) in told {
            now += ms(wait);
            let max = una + 100 * u64::from(MSS);
            let out = Outstanding { queued: false, una, nxt: max, max, flight: 100.0, limit: f64::INFINITY };
            match what {
                0 => { let cwnd = ledbat.on_loss(0.0, &out); ledbat.window.set(cwnd); }
                1 => ledbat.on_timeout(now, false, &out),
                2 => ledbat.on_undo(),
                3 => ledbat.on_idle(&Idled { mss: MSS, timeouts: 1 }),
                _ => {
                    una += segments * u64::from(MSS);
                    let newest = Some(Span::from_micros(trip));
                    let acked = segments * u64::from(MSS);
                    let ack = Ack { now, acked, newest, ecn_signal: what == 4, ..bare(AckKind::New, out, MSS) };
                    ledbat.on_ack(&ack);
                    ledbat.on_progress(&ack);
                }
            }
            let cwnd = ledbat.window.cwnd();
            prop_assert!(cwnd.is_finite() && cwnd >= 1.0, "{cwnd}");
        }
    }

    /// Whatever the path, data get on.
    #[test]
    fn data_get_on(kbps in 200u64..5_000, delay in 1u64..150, buffer in 6usize..100, every in 8u64..200) {
        let mut path = Path::drawn(&config(), kbps, delay, buffer, every);
        path.run(at(8.0));
        prop_assert!(path.between(2.0, 8.0).all(|seen| seen.cwnd >= 1.0));
        prop_assert!(path.goodput(2.0, 8.0) > 20e3, "{}", path.goodput(2.0, 8.0));
    }
}
