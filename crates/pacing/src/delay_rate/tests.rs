//! The law alone, and closed over one queue.

use super::*;
use alloc::collections::BTreeMap;
use alloc::vec;
use alloc::vec::Vec;
use proptest::prelude::*;

fn ms(n: u64) -> Instant {
    Instant::ZERO + Span::from_millis(n)
}

/// A law of these parameters that has seen a path of 100 ms without a queue, at this rate.
fn seen(config: DelayRateConfig, rate: f64) -> DelayRate {
    let mut law = DelayRate::new(DelayRateConfig { start: rate, first: 0.1, ..config });
    law.on_round_trip(ms(0), Span::from_millis(100));
    law.starting = false;
    law
}

/// A step of two round trips, with everything that was sent arrived; the rate after it.
fn step(law: &mut DelayRate, at: u64, rtt: u64) -> f64 {
    law.on_arrived(law.rate());
    law.on_round_trip(ms(at), Span::from_millis(rtt));
    law.on_round_trip(ms(at), Span::from_millis(rtt));
    law.rate()
}

#[test]
fn it_rests_where_one_by_delta_packets_wait() {
    // 50 packets a second, 1.25 packets in queues: 25 ms.
    let mut law = seen(DelayRateConfig { delta: 0.8, ..DelayRateConfig::CALM }, 50.0);
    assert!((step(&mut law, 1_000, 125) - 50.0).abs() < 1e-9);
    assert_eq!(law.queue().map(|queue| libm::round(queue * 1e6)), Some(25_000.0));
}

#[test]
fn a_step_is_a_share_of_the_way_within_bounds() {
    let config = DelayRateConfig { delta: 1.0, gain: 0.5, rise: 0.2, fall: 0.4, ..DelayRateConfig::CALM };
    // 1 / q against 50: at 22 ms 45.45, a way of ln(0.909); at 100 ms and at 1 ms farther than counts.
    for (rtt, expected) in
        [(122, 50.0 * libm::sqrt(1.0 / 1.1)), (200, 50.0 * exp(-0.2)), (101, 50.0 * exp(0.1))]
    {
        let rate = step(&mut seen(config, 50.0), 1_000, rtt);
        assert!((rate - expected).abs() < 1e-9, "{rtt} ms: {rate}, {expected}");
    }
}

#[test]
fn a_step_that_shows_later_is_a_share_of_one() {
    // The queue is far too long: 0.1 of 0.4 in the logarithm, or as much of that as the step's time is of the time until it shows.
    let config = DelayRateConfig { fall: 0.4, ..DelayRateConfig::CALM };
    for (after, share) in [(None, 1.0), (Some(4_000), 0.25), (Some(1_000), 1.0), (Some(500), 1.0)] {
        let mut law = seen(config, 50.0);
        law.set_answered(after.map(Span::from_millis));
        let rate = step(&mut law, 1_000, 300);
        assert!((rate - 50.0 * exp(-0.04 * share)).abs() < 1e-9, "{after:?}: {rate}");
    }
}

#[test]
fn a_step_takes_its_round_trips_and_a_round_trip() {
    let mut law = seen(DelayRateConfig::CALM, 50.0);
    law.on_arrived(100.0);
    assert!(!law.on_round_trip(ms(50), Span::from_millis(120)));
    assert!(!law.on_round_trip(ms(110), Span::from_millis(120)), "110 ms");
    assert!(law.on_round_trip(ms(120), Span::from_millis(120)));
    assert!(!law.on_round_trip(ms(500), Span::from_millis(120)), "one alone");
}

#[test]
fn what_is_not_used_does_not_rise_and_falls_all_the_same() {
    let mut law = seen(DelayRateConfig::CALM, 50.0);
    let mut told = |arrived, at, rtt| {
        law.on_arrived(arrived);
        (0..2).for_each(|_| {
            law.on_round_trip(ms(at), Span::from_millis(rtt));
        });
        law.rate()
    };
    assert_eq!(told(19.0, 1_000, 100), 50.0, "19 of 50 packets");
    assert!(told(26.0, 2_000, 100) > 50.0);
    assert!(told(0.0, 3_000, 300) < 50.0);
}

#[test]
fn at_a_host_far_too_long_a_queue_drains_by_what_arrives() {
    // 20 of its packets wait for 400 ms: in 500 ms a quarter of what is too much goes, however much faster was sent.
    let config = DelayRateConfig::CALM;
    let drained = 50.0 * (1.0 - 0.25 * (0.4 - 1.0 / config.delta / 50.0) / 0.5);
    for rate in [50.0, 200.0] {
        let mut law = seen(config, rate).on_host();
        law.on_arrived(50.0);
        (0..2).for_each(|_| {
            law.on_round_trip(ms(1_000), Span::from_millis(500));
        });
        assert!((law.rate() - drained).abs() < 1e-9, "{rate}: {}, {drained}", law.rate());
        // Until it is as long as it may be; 5 packets, of which else the first step would make less.
        law.on_arrived(law.rate());
        (0..2).for_each(|_| {
            law.on_round_trip(ms(2_000), Span::from_millis(220));
        });
        assert!(law.rate() > 0.85 * drained, "{}", law.rate());
    }
    let elsewhere = step(&mut seen(config, 50.0), 1_000, 500);
    assert!((elsewhere - 50.0 * libm::pow(1.0 / config.delta / 0.4 / 50.0, 0.1)).abs() < 1e-9, "{elsewhere}");
}

#[test]
fn of_two_thinned_acknowledgements_the_one_that_did_not_wait_counts_at_a_host() {
    let rate = |law: DelayRate, at| {
        let mut law = law;
        law.on_arrived(50.0 * at as f64 / 1e3);
        law.on_round_trip(ms(at), Span::from_millis(300));
        law.on_round_trip(ms(at), Span::from_millis(110));
        law.rate()
    };
    let law = || seen(DelayRateConfig::CALM, 50.0);
    // In 400 ms of a path of 100, and as far up as in four steps.
    assert!((rate(law().on_host(), 400) - 50.0 * exp(0.1)).abs() < 1e-9);
    assert!(rate(law().on_host(), 399) < 50.0, "acknowledgements that are not that rare");
    assert!(rate(law(), 400) < 50.0, "simulated receivers thin by themselves");
}

#[test]
fn it_doubles_a_round_trip_until_a_queue_shows() {
    let mut law = DelayRate::new(DelayRateConfig::CALM);
    assert_eq!(law.rate(), 50.0);
    law.on_round_trip(ms(0), Span::from_millis(40));
    assert_eq!(law.rate(), 100.0, "four in the first round trip");
    let rates: Vec<f64> =
        [40, 40, 40, 60, 60].iter().zip(1..).map(|(rtt, at)| step(&mut law, 1_000 * at, *rtt)).collect();
    assert_eq!(rates[..4], [200.0, 400.0, 800.0, 400.0], "20 ms are more than 1/0.7 packets at 800 a second");
    assert!(rates[4] < 400.0 && !law.starting);
    // A start that nobody uses does not go on.
    let mut idle = DelayRate::new(DelayRateConfig::CALM);
    idle.on_round_trip(ms(0), Span::from_millis(40));
    for at in 1..9 {
        idle.on_arrived(1.0);
        idle.on_round_trip(ms(1_000 * at), Span::from_millis(40));
    }
    assert_eq!(idle.rate(), 100.0);
}

#[test]
fn the_start_ends_at_what_its_queue_asks_for_if_that_is_more_than_half() {
    let mut law = DelayRate::new(DelayRateConfig::CALM);
    law.on_round_trip(ms(0), Span::from_millis(40));
    (1..4).for_each(|at| _ = step(&mut law, 1_000 * at, 40));
    assert!(
        (step(&mut law, 4_000, 42) - 1.0 / 0.7 / 0.002).abs() < 1e-9,
        "2 ms are 1/0.7 packets at 714 a second"
    );
}

#[test]
fn a_newcomer_climbs_twice_as_fast_for_sixteen_steps() {
    let mut law = DelayRate::new(DelayRateConfig::CALM);
    law.on_round_trip(ms(0), Span::from_millis(40));
    (1..4).for_each(|at| _ = step(&mut law, 1_000 * at, 40));
    let mut before = step(&mut law, 4_000, 60);
    for n in 5..30 {
        let rate = step(&mut law, 1_000 * n, 40);
        let rise = if n < 21 { 0.5 } else { 0.25 };
        assert!((rate / before - exp(0.1 * rise)).abs() < 1e-9, "step {n}: {rate}");
        before = rate;
    }
}

#[test]
fn what_nobody_tells_is_taken_for_granted() {
    let mut law = seen(DelayRateConfig::CALM, 50.0);
    let mut rate = |at| {
        (0..2).for_each(|_| {
            law.on_round_trip(ms(at), Span::from_millis(100));
        });
        law.rate()
    };
    assert!(rate(1_000) < rate(2_000));
    // Told once that it is not in use, it stays until told otherwise.
    law.on_arrived(1.0);
    let mut rate = |at| {
        (0..2).for_each(|_| {
            law.on_round_trip(ms(at), Span::from_millis(100));
        });
        law.rate()
    };
    let before = rate(3_000);
    assert_eq!(rate(4_000), before);
    law.on_arrived(500.0);
    (0..2).for_each(|_| {
        law.on_round_trip(ms(5_000), Span::from_millis(100));
    });
    assert!(law.rate() > before);
}

#[test]
fn a_timeout_leaves_a_share_and_ends_the_start() {
    let mut law = DelayRate::new(DelayRateConfig::CALM);
    law.on_round_trip(ms(0), Span::from_millis(40));
    law.on_timeout(ms(10));
    assert!((law.rate() - 70.0).abs() < 1e-9);
    assert!(step(&mut law, 1_000, 40) < 140.0, "no doubling");
    (0..200).for_each(|_| law.on_timeout(ms(2_000)));
    assert_eq!(law.rate(), SLOWEST);
}

/// Losses, so many packets apart; then steps in a queue of a second: the rate after them.
fn beside_others(law: DelayRate, apart: f64) -> f64 {
    let mut law = law;
    for _ in 0..8 {
        law.on_arrived(apart);
        law.on_loss();
    }
    (1..200).for_each(|n| {
        law.on_round_trip(ms(2_000 * n), Span::from_millis(1_100));
        law.on_round_trip(ms(2_000 * n), Span::from_millis(1_100));
    });
    law.rate()
}

#[test]
fn beside_flows_that_fill_the_queue_it_keeps_what_its_losses_leave_a_tcp_flow() {
    let law = seen(DelayRateConfig { horizon: Span::from_secs(3_600), ..DelayRateConfig::CALM }, 50.0);
    let by_delay = 1.0 / 0.7; // in a second
    let near = |rate: f64, expected: f64| assert!((rate / expected - 1.0).abs() < 0.01, "{rate} {expected}");
    near(beside_others(law, 24.0), by_delay);
    near(beside_others(law.friendly(1.0, 0.01), 24.0), 6.0 / 1.1);
    near(beside_others(law.friendly(2.0, 0.01), 24.0), 12.0 / 1.1);
    near(beside_others(law.friendly(1.0, 0.05), 24.0), by_delay);
    near(beside_others(law.friendly(0.1, 0.01), 24.0), by_delay);
    // A timeout is a loss.
    let mut timed = law.friendly(1.0, 0.01);
    (0..8).for_each(|_| timed.on_timeout(ms(0)));
    assert_eq!(timed.friendly.map(|friendly| friendly.floor(1.0) > 0.0), Some(true));
}

#[test]
fn other_parameters_leave_the_rate() {
    let mut law = seen(DelayRateConfig::CALM, 50.0);
    law.set_config(DelayRateConfig { delta: 1.0, ..DelayRateConfig::CALM });
    assert_eq!((law.rate(), law.config().delta), (50.0, 1.0));
    assert!((step(&mut law, 1_000, 120) - 50.0).abs() < 1e-9, "20 ms are a packet");
    // Another horizon begins anew: that there is a shorter way is no longer known.
    law.set_config(DelayRateConfig { horizon: Span::from_secs(5), ..*law.config() });
    assert!(step(&mut law, 2_000, 120) > 50.0);
}

/// Flows over one queue: each packet is served in `service`, and its acknowledgement, one for `thin` packets, comes `path` later. Each
/// flow's packets a second from `from` on, and how many waited in the mean.
struct Shared {
    service: Span,
    path: Span,
    thin: u32,
}

impl Shared {
    fn run(&self, starts: &[u64], from: u64, until: u64) -> (Vec<f64>, f64) {
        enum Event {
            Departure(usize),
            Acknowledgement(usize, Instant, u32),
        }
        let mut laws = vec![DelayRate::new(DelayRateConfig::CALM); starts.len()];
        let mut waiting = vec![0; starts.len()];
        let (mut events, mut count, mut free) = (BTreeMap::new(), 0u64, Instant::ZERO);
        let mut schedule = |events: &mut BTreeMap<_, _>, at: Instant, event| {
            count += 1;
            events.insert((at, count), event);
        };
        for (flow, start) in starts.iter().enumerate() {
            schedule(&mut events, ms(*start), Event::Departure(flow));
        }
        let (mut served, mut wait) = (vec![0.0; starts.len()], 0.0);
        while let Some(((now, _), event)) = events.pop_first().filter(|((now, _), _)| *now < ms(until)) {
            match event {
                Event::Departure(flow) => {
                    free = free.max(now) + self.service;
                    if now >= ms(from) {
                        served[flow] += 1.0;
                        wait += free.saturating_since(now + self.service).as_secs_f64();
                    }
                    waiting[flow] += 1;
                    if waiting[flow] == self.thin {
                        schedule(
                            &mut events,
                            free + self.path,
                            Event::Acknowledgement(flow, now, waiting[flow]),
                        );
                        waiting[flow] = 0;
                    }
                    schedule(&mut events, now + laws[flow].spacing(), Event::Departure(flow));
                }
                Event::Acknowledgement(flow, sent, packets) => {
                    laws[flow].on_arrived(f64::from(packets));
                    laws[flow].on_round_trip(now, now.saturating_since(sent));
                }
            }
        }
        let seconds = (until - from) as f64 / 1_000.0;
        (served.iter().map(|packets| packets / seconds).collect(), wait / seconds)
    }
}

fn jain(rates: &[f64]) -> f64 {
    let (sum, squares) =
        rates.iter().fold((0.0, 0.0), |(sum, squares), rate| (sum + rate, squares + rate * rate));
    sum * sum / (rates.len() as f64 * squares)
}

#[test]
fn one_flow_fills_a_queue_with_few_packets() {
    for (service, path, thin) in [(10, 30, 1), (10, 30, 8), (10, 240, 8), (3, 5, 16)] {
        let shared = Shared { service: Span::from_millis(service), path: Span::from_millis(path), thin };
        let (rates, waited) = shared.run(&[0], 10_000, 60_000);
        let share = rates[0] * service as f64 / 1_000.0;
        assert!((0.85..1.001).contains(&share) && waited < 5.0, "{service} {path} {thin}: {share} {waited}");
    }
}

#[test]
fn flows_that_share_a_queue_share_it_evenly() {
    let shared = Shared { service: Span::from_millis(5), path: Span::from_millis(60), thin: 4 };
    let (rates, waited) = shared.run(&[0, 7, 5_000, 9_000], 30_000, 90_000);
    let used: f64 = rates.iter().sum::<f64>() * 0.005;
    assert!(
        jain(&rates) > 0.99 && (0.9..1.001).contains(&used) && waited < 10.0,
        "{rates:?} {used} {waited}"
    );
}

proptest! {
    #[test]
    fn whatever_it_is_told_the_rate_stays_in_bounds(
        told in proptest::collection::vec((0u64..2_000_000, 0u64..5_000_000, 0u32..100, proptest::bool::weighted(0.1)), 1..200)
    ) {
        let mut law = DelayRate::new(DelayRateConfig::CALM);
        let mut now = Instant::ZERO;
        for (gap, rtt, arrived, timeout) in told {
            now += Span::from_micros(gap);
            let before = law.rate();
            law.on_arrived(f64::from(arrived));
            let changed = law.on_round_trip(now, Span::from_micros(rtt));
            prop_assert_eq!(changed, law.rate() != before);
            if timeout {
                law.on_timeout(now);
            }
            prop_assert!((SLOWEST..=FASTEST).contains(&law.rate()) && law.spacing() > Span::ZERO);
        }
    }
}

#[test]
fn what_was_known_of_another_unit_is_forgotten() {
    let mut law = DelayRate::new(DelayRateConfig::CALM);
    for at in [0, 100, 200, 300] {
        law.on_round_trip(ms(at), Span::from_millis(20));
    }
    assert_eq!((law.base(), law.queue().is_some()), (Some(0.02), true));
    law.set_unit(ms(400), 16);
    assert_eq!((law.base(), law.queue()), (None, None));
    law.on_round_trip(ms(500), Span::from_millis(45));
    assert_eq!(law.base(), Some(0.045), "a longer one is the least now");
}
