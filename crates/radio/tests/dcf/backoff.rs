//! When a station may send.

use super::{ACK, DATA, DIFS, EIFS, RTS, SIFS};
use crate::air::{Air, Draws, Setup, What::*, at, line, us_between};
use meshpace_radio::BackoffRange;
use meshpace_radio::{FrameKind, Position};
use meshpace_units::Span;

/// Counts how often each k of `base + 20 k` us occurs; anything else fails.
fn slots(gaps: &[f64], base: f64, choices: usize) -> Vec<u32> {
    let mut counts = vec![0; choices];
    for gap in gaps {
        let k = (gap - base) / 20.0;
        assert!((k - k.round()).abs() < 1e-6 && k > -0.5, "a gap of {gap} us is not {base} + 20 k");
        counts[k.round() as usize] += 1;
    }
    counts
}

/// Pearson's statistic against the uniform distribution. 99.9 % of uniform samples lie below 59.7 with 31 classes, and
/// below 61.1 with 32.
fn chi_square(counts: &[u32]) -> f64 {
    let mean = f64::from(counts.iter().sum::<u32>()) / counts.len() as f64;
    counts.iter().map(|n| (f64::from(*n) - mean).powi(2) / mean).sum()
}

/// ```text
/// 0  DATA     |DIFS| 20 k |DATA
/// 1       ACK             .
///            ^ gap        ^
/// ```
#[test]
fn a_saturated_station_waits_50_us_and_0_to_30_slots() {
    for (range, choices) in [(BackoffRange::Ns2, 31), (BackoffRange::Standard, 32)] {
        for (rts, first) in [(false, FrameKind::Data), (true, FrameKind::Rts)] {
            let mut setup = Setup::dsss(11.0, rts);
            setup.phy.backoff_range = range;
            let mut air = Air::new(&setup, &line(&[0.0, 200.0]));
            air.saturate(0, 1, 1500, setup.mode());
            air.run_until(at(10e6));
            let (starts, acks) = (air.times(0, first), air.times(1, FrameKind::Ack));
            let gaps: Vec<_> =
                acks.iter().zip(&starts[1..]).map(|(ack, next)| us_between(*ack, *next) - ACK).collect();
            assert!(gaps.len() > 3000, "{} gaps", gaps.len());
            let counts = slots(&gaps, DIFS, choices);
            assert!(chi_square(&counts) < 60.0, "{counts:?}");
        }
    }
}

/// ```text
/// 1 (400 m)  DATA            |
/// 0              |EIFS |DIFS| 20 k |DATA
///            ^ a packet comes      ^ 414 + 20 k after the sensed frame
/// ```
#[test]
fn a_sensed_frame_costs_414_us_and_whole_slots() {
    let mut gaps = Vec::new();
    for seed in 0..4000 {
        let setup = Setup::dsss(11.0, false).seed(seed);
        let mut air = Air::new(&setup, &line(&[0.0, 400.0])).puppets(&[1]);
        air.say(at(0.0), setup.broadcast(1, 100));
        air.offer(at(700.0), 0, setup.packet(None, 100));
        air.run_until(at(10_000.0));
        let end = at(0.0) + setup.broadcast(1, 100).airtime;
        gaps.push(us_between(end, air.times(0, FrameKind::Data)[0]));
    }
    let counts = slots(&gaps, EIFS + DIFS, 31);
    assert!(chi_square(&counts) < 60.0, "{counts:?}");
}

/// Two saturated stations that only sense each other: the station that had to wait keeps at least one slot, 434 us at least.
#[test]
fn a_hidden_sense_pair_leaves_434_us() {
    let mut setup = Setup::dsss(11.0, false);
    setup.no_delay = false;
    let mut air = Air::new(&setup, &line(&[0.0, 400.0]));
    for node in [0, 1] {
        for _ in 0..3000 {
            air.offer(at(0.0), node, setup.packet(None, 500));
        }
    }
    air.run_until(at(60e6));
    let frames: Vec<_> = air.log.iter().filter_map(|e| e.frame().map(|f| (e.at, f))).collect();
    let (mut own, mut others) = (Vec::new(), Vec::new());
    for pair in frames.windows(2).filter(|pair| pair[1].0 > pair[0].0 + Span::from_micros(2)) {
        let ((start, frame), (next_start, next)) = (pair[0], pair[1]);
        let gap = us_between(start + frame.airtime, next_start);
        if frame.from == next.from { own.push(gap) } else { others.push(gap - 1.333) }
    }
    assert!(own.len() > 1000 && others.len() > 1000, "{} and {}", own.len(), others.len());
    assert!(slots(&own, DIFS, 31)[0] > 20);
    // 400 m are 1333 ns.
    assert_eq!(slots(&others, EIFS + DIFS, 31)[0], 0);
}

/// ```text
/// 0 |DIFS|b0|DATA      |DIFS |b1|DATA      |DIFS|b2|         |DIFS|b3|DATA
/// 1              ACK        ^         ACK           (nothing)^
///   ^ first packet          second, in the post-backoff       third, long after
/// ```
#[test]
fn a_packet_uses_what_is_left_of_the_post_backoff_and_never_goes_at_once() {
    let setup = Draws::seed_with(&Setup::dsss(11.0, false), 0, 31, |slots| slots > 3);
    let mut draws = Draws::of(&setup, 0);
    let mut air = Air::new(&setup, &line(&[0.0, 200.0]));
    let exchange = |data: f64| {
        let ack = data + DATA + SIFS;
        [(data, 0, Data), (data + DATA, 1, Deliver), (ack, 1, Ack), (ack + ACK, 0, Sent)]
    };
    let first = exchange(DIFS + draws.backoff(31));
    air.offer(at(0.0), 0, setup.packet(Some(1), 1500));
    let sent = first[3].0;
    air.offer(at(sent + 30.0), 0, setup.packet(Some(1), 1500));
    let second = exchange(sent + DIFS + draws.backoff(31));
    let third_offered = second[3].0 + 5000.0;
    draws.backoff(31); // runs out unused
    air.offer(at(third_offered), 0, setup.packet(Some(1), 1500));
    let third = exchange(third_offered + DIFS + draws.backoff(31));
    air.expect(60_000.0, &[first, second, third].concat());
}

/// ```text
/// 1            ACK (to somebody else)
/// 0 |DIFS| 2+  .....................|DIFS|b - 2 slots|DATA
/// ```
#[test]
fn a_frozen_backoff_keeps_its_whole_slots() {
    let setup = Draws::seed_with(&Setup::dsss(11.0, false), 0, 31, |slots| slots >= 6);
    let backoff = Draws::of(&setup, 0).backoff(31);
    for (busy_at, slots_passed) in [
        (0.5, 0.0),           // in the DIFS
        (DIFS, 0.0),          // when counting would start
        (DIFS + 19.999, 0.0), // the first slot not yet over
        (DIFS + 20.0, 1.0),   // a slot that is just over counts
        (DIFS + 53.0, 2.0),   // a part slot does not
        (DIFS + 119.9, 5.0),
    ] {
        let mut air = Air::new(&setup, &line(&[0.0, 200.0, 400.0])).puppets(&[1, 2]);
        air.offer(at(0.0), 0, setup.packet(None, 100));
        air.say(at(busy_at), setup.ack(1, 2));
        let start = busy_at + ACK + DIFS + backoff - 20.0 * slots_passed;
        air.run_until(at(10_000.0));
        assert_eq!(air.times(0, FrameKind::Data), [at(start)], "busy at {busy_at}");
    }
}

#[test]
fn a_backoff_frozen_twice_loses_both_parts() {
    let setup = Draws::seed_with(&Setup::dsss(11.0, false), 0, 31, |slots| slots == 10);
    let mut air = Air::new(&setup, &line(&[0.0, 200.0, 400.0])).puppets(&[1, 2]);
    air.offer(at(0.0), 0, setup.packet(None, 100));
    air.say(at(100.0), setup.ack(1, 2)); // 2 of 10 slots
    air.say(at(1000.0), setup.ack(1, 2)); // idle since 404: the other 8 are over at 614
    air.run_until(at(3000.0));
    assert_eq!(air.times(0, FrameKind::Data), [at(100.0 + ACK + DIFS + 160.0)]);

    let mut air = Air::new(&setup, &line(&[0.0, 200.0, 400.0])).puppets(&[1, 2]);
    air.offer(at(0.0), 0, setup.packet(None, 100));
    air.say(at(100.0), setup.ack(1, 2)); // 2 of 10
    air.say(at(404.0 + DIFS + 70.0), setup.ack(1, 2)); // 3 more
    let idle = 404.0 + DIFS + 70.0 + ACK;
    air.run_until(at(3000.0));
    assert_eq!(air.times(0, FrameKind::Data), [at(idle + DIFS + 100.0)]);
}

/// A frame whose first bit arrives in the very moment in which the backoff ends is not noticed; one that arrives a
/// nanosecond earlier leaves one slot.
#[test]
fn stations_that_count_to_the_same_moment_collide() {
    let setup = Draws::seed_with(&Setup::dsss(11.0, false), 0, 31, |slots| slots == 4);
    let expiry = DIFS + 80.0;
    for (busy_at, start) in [(expiry, expiry), (expiry - 0.001, expiry - 0.001 + ACK + DIFS + 20.0)] {
        let mut air = Air::new(&setup, &line(&[0.0, 200.0, 400.0])).puppets(&[1, 2]);
        air.offer(at(0.0), 0, setup.packet(None, 100));
        air.say(at(busy_at), setup.ack(1, 2));
        air.run_until(at(3000.0));
        assert_eq!(air.times(0, FrameKind::Data), [at(start)]);
    }
}

/// Two stations with a packet each at time 0: the smaller draw goes first and freezes the other, equal draws go
/// together; also across 200 m, as 0.667 us is less than a slot.
#[test]
fn equal_draws_collide_and_the_smaller_one_wins() {
    let (mut equal, runs) = (0, 400);
    for seed in 0..runs {
        for no_delay in [true, false] {
            let mut setup = Setup::dsss(11.0, false).seed(seed);
            setup.no_delay = no_delay;
            let at_200_m = [(0.0, 0.0), (200.0, 0.0), (100.0, 0.0)].map(|(x, y)| Position::flat(x, y));
            let mut air = Air::new(&setup, &at_200_m).puppets(&[2]);
            let draws = [0, 1].map(|node| Draws::of(&setup, node).slots(31));
            for node in [0, 1] {
                air.offer(at(0.0), node, setup.packet(None, 500));
            }
            air.run_until(at(60_000.0));
            let first = [0, 1].map(|node| air.times(node, FrameKind::Data)[0]);
            let due = draws.map(|slots| at(DIFS + 20.0 * f64::from(slots)));
            let winner = usize::from(draws[1] < draws[0]);
            assert_eq!(first[winner], due[winner]);
            if draws[0] == draws[1] {
                equal += 1;
                assert_eq!(first[0], first[1]);
            } else {
                // The loser: frame end, DIFS, and the slots that the winner had not used up.
                let rest = f64::from(draws[0].abs_diff(draws[1])) * 20.0;
                let airtime = us_between(at(0.0), at(0.0) + setup.broadcast(0, 500).airtime);
                let delay = if no_delay { 0.0 } else { 0.667 };
                let start = us_between(due[winner], first[1 - winner]);
                assert!((start - (airtime + delay + DIFS + rest)).abs() < 0.0015, "{draws:?}: {start}");
            }
        }
    }
    // 1 in 31; 400 runs twice.
    assert!((8..=50).contains(&equal), "{equal}");
}

/// ```text
/// 0 |DIFS|b0|broadcast|DIFS|b1|broadcast|DIFS|b2|   |DIFS|b3|broadcast
/// ```
#[test]
fn a_broadcast_goes_once_at_the_basic_rate_and_is_followed_by_a_backoff() {
    let setup = Setup::dsss(11.0, true);
    let mut draws = Draws::of(&setup, 0);
    let mut air = Air::new(&setup, &line(&[0.0, 200.0, 400.0]));
    air.offer(at(0.0), 0, setup.packet(None, 500));
    air.offer(at(0.0), 0, setup.packet(None, 500));
    let airtime = 192.0 + 534.0 * 8.0;
    let mut script = Vec::new();
    let mut idle = 0.0;
    for _ in 0..2 {
        let start = idle + DIFS + draws.backoff(31);
        idle = start + airtime;
        // The neighbour's event, then the sender's, or the other way round: both at the end.
        script.extend([(start, 0, Data), (idle, 0, Sent), (idle, 1, Deliver)]);
    }
    draws.backoff(31); // the post-backoff, with an empty queue
    let offered = idle + 3000.0;
    air.offer(at(offered), 0, setup.packet(None, 500));
    let start = offered + DIFS + draws.backoff(31);
    script.extend([(start, 0, Data), (start + airtime, 0, Sent), (start + airtime, 1, Deliver)]);
    air.run_until(at(40_000.0));
    air.log.sort_by_key(|e| (e.at, e.node));
    air.expect(40_000.0, &script);
    assert!(air.frames_of(0).iter().all(|(_, f)| f.duration == Span::ZERO && f.to.is_none()));
}

#[test]
fn an_offer_while_the_medium_is_busy_waits_for_difs_and_backoff() {
    let setup = Setup::dsss(11.0, false);
    let mut draws = Draws::of(&setup, 0);
    let mut air = Air::new(&setup, &line(&[0.0, 200.0, 400.0])).puppets(&[1, 2]);
    air.say(at(100.0), setup.rts(1, 2, 1500));
    air.offer(at(200.0), 0, setup.packet(None, 100));
    // The RTS's duration field is overheard as well.
    let nav = 100.0 + RTS + 1946.0;
    air.run_until(at(20_000.0));
    assert_eq!(air.times(0, FrameKind::Data), [at(nav + DIFS + draws.backoff(31))]);
}
