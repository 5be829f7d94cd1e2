//! Limits of the shaper: which packets are dropped and marked, which hosts and flows are remembered, and how
//! all packets leave at the end.

use super::*;
use meshpace_gateway::Find;

/// Two hosts of which one fills its queue: too much waits, and that one loses what waits longest.
#[test]
fn the_host_with_the_most_pays_for_too_much() {
    let config = ShaperConfig { target: Span::from_secs(100), ..ShaperConfig::at(MEGABIT) };
    let mut bench = Bench::new(config);
    bench.fill(10, 2, 1, 1_250);
    bench.fill(100, 1, 1, 1_250);
    assert!(bench.dropped.iter().all(|(host, ..)| *host == 1), "{:?}", bench.dropped);
    // A quarter of a second at a megabit a second: 31,250 bytes.
    assert_eq!(bench.shaper.len(), 25);
    assert_eq!(bench.shaper.counters().crowded, bench.dropped.len() as u64);
    let first = bench.dropped.iter().map(|(.., number)| *number).min();
    assert_eq!(first, Some(10), "from the head");
    bench.run_until(ms(260));
    assert!(bench.shaper.is_empty(), "all leaves within that time");
}

/// A driver that wakes when it must, and not before, lets as much go: what is due meanwhile leaves together.
#[test]
fn at_high_rates_a_driver_may_wake_late_and_lose_nothing() {
    let carried = |bits: u64| {
        let rate = Rate::bits_per_sec(bits);
        let mut bench = Bench::new(ShaperConfig { rate, ..patient() });
        bench.fill(3_000, 1, 1, 1_250);
        let (mut wakes, mut latest) = (0, Span::ZERO);
        while let Some(at) = bench.shaper.poll_latest().filter(|at| *at <= ms(20)) {
            latest = latest.max(at.saturating_since(bench.shaper.poll_timeout().expect("one is due")));
            bench.now = at;
            bench.drain();
            wakes += 1;
        }
        (bench.passed.len(), wakes, latest)
    };
    assert_eq!(carried(10_000_000), (21, 20, Span::ZERO), "10 Mbit/s, a packet a millisecond: on time");
    let (packets, wakes, latest) = carried(1_000_000_000);
    // Half a burst is 50 packets.
    assert!((1_950..=2_001).contains(&packets) && wakes <= 41, "{packets} by {wakes} wake-ups");
    assert_eq!(latest, Span::from_micros(500));
}

/// A window of ten segments is no reason to drop, however slow it leaves.
#[test]
fn a_senders_first_packets_may_wait_at_any_rate() {
    let mut bench = Bench::new(ShaperConfig::at(Rate::bits_per_sec(64_000)));
    bench.fill(16, 1, 1, 1_500);
    assert!(bench.dropped.is_empty());
    bench.fill(10, 1, 1, 1_500);
    assert_eq!(bench.shaper.len(), 16);
}

/// A packet of a far host costs four times as much: with one each, all wait.
#[test]
fn for_want_of_time_nobody_loses_its_only_packet() {
    let far = Terms { hops: 4, ..NEAR };
    let mut bench = Bench::new(ShaperConfig { target: Span::from_secs(100), ..ShaperConfig::at(MEGABIT) });
    for host in 101..=140 {
        bench = bench.agree(host, far);
    }
    for host in (1..=40).chain(101..=140) {
        bench.fill(if host < 100 { 2 } else { 1 }, host, 1, 1_250);
    }
    assert!(bench.dropped.iter().all(|(host, ..)| *host < 100), "{:?}", bench.dropped);
    bench.run_until(ms(10_000));
    assert_eq!(bench.by_host().len(), 80);
}

#[test]
fn packets_are_bounded_however_small() {
    let mut bench = Bench::new(ShaperConfig { packets_max: 40, ..patient() });
    for host in 1..=200 {
        bench.put(host, 1, 40);
    }
    assert_eq!(bench.shaper.len(), 40);
    assert_eq!(bench.dropped.len() + bench.passed.len(), 160);
}

/// One packet every 10 ms comes and goes, 100 ms after it came: CoDel signals once that has lasted for an interval.
#[test]
fn a_standing_queue_is_signalled_by_marks_where_ecn_was_agreed() {
    for (ecn, marks) in [(Ecn::Ect0, true), (Ecn::NotEct, false)] {
        let mut bench = Bench::new(ShaperConfig::at(MEGABIT));
        (0..10).for_each(|_| bench.put_with(1, 1, 1_250, ecn));
        for n in 1..100 {
            bench.run_until(ms(10 * n));
            bench.put_with(1, 1, 1_250, ecn);
        }
        let marked = bench.passed.iter().filter(|(.., mark)| *mark).count();
        assert_eq!((marked > 2, bench.dropped.len() > 2), (marks, !marks), "{ecn:?}");
        let counters = bench.shaper.counters();
        assert_eq!((counters.marked, counters.dropped), (marked as u64, bench.dropped.len() as u64));
    }
}

#[test]
fn hosts_without_packets_are_forgotten_the_least_recently_seen_first() {
    let mut bench = Bench::new(ShaperConfig { hosts_max: 3, ..patient() });
    for host in 1..=5 {
        bench.put(host, 1, 100);
        bench.run_until(ms(u64::from(host) * 10));
    }
    let known: Vec<_> = bench.shaper.hosts(bench.now).map(|host| host.host).collect();
    assert_eq!(known, [3, 4, 5].map(address));
}

#[test]
fn what_is_let_go_leaves_at_once_in_the_order_in_which_it_came() {
    let mut bench = Bench::new(patient());
    for n in 0..12 {
        bench.now = ms(n);
        bench.put((n % 3) as u8 + 1, (n % 2) as u16, 1_250);
    }
    let left: Vec<u32> = bench.passed.iter().map(|(_, (.., number), _)| *number).collect();
    let gone = bench.shaper.let_go(bench.now);
    let numbers = gone.iter().map(|leaves| match leaves {
        Shaped::Passes { packet: (.., number), mark: false, .. } => *number,
        other => panic!("{other:?}"),
    });
    let expected: Vec<u32> = (0..12).filter(|number| !left.contains(number)).collect();
    assert_eq!(numbers.collect::<Vec<_>>(), expected);
    assert!(bench.shaper.is_empty() && bench.shaper.poll(ms(99)).is_none());
    assert_eq!(bench.shaper.host_count(), 0);
}

#[test]
fn a_host_is_told_with_its_shares() {
    let mut bench = Bench::new(patient()).agree(1, Terms { hops: 3, weight: 2, ..NEAR });
    for n in 0..300 {
        bench.put(1, 1, 1_250);
        bench.run_until(ms(10 * n));
    }
    let stats = bench.shaper.hosts(bench.now).next().expect("a host");
    assert_eq!((stats.host, stats.price, stats.terms.weight), (address(1), 3.0, 2));
    // 30 ms a packet.
    let rate = stats.rate.as_bits_per_sec();
    assert!((320_000..345_000).contains(&rate), "{rate}");
    assert_eq!(stats.queued, bench.shaper.len());
    assert!(stats.wait > Some(Span::from_millis(500)), "{:?}", stats.wait);
}

/// What is agreed is asked again after a second, at the host's next packet.
#[test]
fn other_terms_hold_within_a_second() {
    let mut bench = Bench::new(patient());
    bench.put(1, 1, 1_250);
    bench.terms.insert(1, Terms { hops: 4, ..NEAR });
    for (at, price) in [(500, 1.0), (1_000, 4.0)] {
        bench.run_until(ms(at));
        bench.put(1, 1, 1_250);
        assert_eq!(bench.shaper.hosts(bench.now).next().expect("a host").price, price);
    }
}

/// Forty flows of a host ask for one packet each, again and again, where there is room for sixteen: the flow that was served last loses one, and none
/// loses each time.
#[test]
fn whoever_asks_again_is_served_before_whoever_was_served() {
    let mut bench = Bench::new(ShaperConfig {
        target: Span::from_secs(100),
        ..ShaperConfig::at(Rate::bits_per_sec(400_000))
    });
    for round in 0..6 {
        for port in 1..=40 {
            bench.put(2, port, 1_250);
        }
        bench.run_until(ms(400 * (round + 1)));
    }
    let served: std::collections::BTreeSet<u16> =
        bench.passed.iter().map(|(_, (_, port, _), _)| *port).collect();
    assert_eq!(served.len(), 40, "{served:?}");
}

/// Where each host has a packet and the time is used up, a flow that was not served for eight seconds keeps its packet; three of a host do, and none
/// that was served lately.
#[test]
fn what_starving_flows_ask_for_is_not_lost_for_want_of_time() {
    let slow = Rate::bits_per_sec(400_000);
    let mut bench = Bench::new(ShaperConfig { target: Span::from_secs(100), ..ShaperConfig::at(slow) });
    for port in 1..=4 {
        bench.run_until(ms(100 * u64::from(port)));
        bench.put(1, port, 1_250);
    }
    bench.run_until(ms(8_000));
    bench.put(1, 5, 1_250);
    bench.run_until(ms(9_000));
    assert!(bench.shaper.is_empty());
    for host in 2..=21 {
        bench.put(host, 1, 1_250);
    }
    for port in [5, 1, 2, 3, 4] {
        bench.put(1, port, 1_250);
    }
    let lost: Vec<_> = bench.dropped.iter().map(|(host, port, _)| (*host, *port)).collect();
    assert_eq!(lost, [(1, 5), (1, 4)]);
}

/// A flow that was served is known for it after its host had nothing: it loses its packet where others ask for the first time.
#[test]
fn a_flow_that_was_served_is_known_for_it_while_its_host_has_nothing() {
    let slow = Rate::bits_per_sec(400_000);
    let mut bench = Bench::new(ShaperConfig { target: Span::from_secs(100), ..ShaperConfig::at(slow) });
    bench.run_until(ms(10));
    bench.put(1, 1, 1_250);
    bench.run_until(ms(500));
    bench.put(1, 99, 1_250);
    assert!(bench.shaper.is_empty());
    for port in 1..=17 {
        bench.run_until(ms(500 + u64::from(port)));
        bench.put(1, port, 1_250);
    }
    assert_eq!(bench.dropped.iter().map(|(_, port, _)| *port).collect::<Vec<_>>(), [1]);
}

/// A rate that is found and not used, as hosts have caps: what waits leaves within the time by what has left.
#[test]
fn what_left_lately_tells_how_much_may_wait_where_the_rate_is_found() {
    let find = Find { least: Rate::bits_per_sec(10_000_000), ..finds::FIND };
    let capped = Terms { cap: Some(Rate::bits_per_sec(4_000_000)), ..NEAR };
    for (find, most) in [(Some(find), 70), (None, 250)] {
        let config = ShaperConfig {
            find,
            target: Span::from_secs(100),
            ..ShaperConfig::at(Rate::bits_per_sec(10_000_000))
        };
        let mut bench = Bench::new(config).agree(1, capped);
        for n in 0..6_000 {
            bench.run_until(ms(n));
            bench.put(1, 1, 1_250);
        }
        assert!(bench.shaper.len().abs_diff(most) <= 2, "{} of {most}", bench.shaper.len());
    }
}
