//! Guards over scripted goodput, and what is counted of flows.

use super::*;
use crate::control::tests::example;

const TERMS: GuardTerms = GuardTerms { block: Span::from_secs(10), pairs: 6, loss: 1.0 / 3.0 };

/// How a guard ends that looks once a second, if at each look the flows get what `bytes` says of second, side and seconds of the
/// block, and want more if `want` says so of the second. With it the sides of all seconds.
fn ends(
    terms: GuardTerms,
    seed: u64,
    bytes: impl Fn(u64, Side, u64) -> u64,
    want: impl Fn(u64) -> bool,
) -> (Order, Vec<Side>) {
    let at = |second: u64| Instant::ZERO + Span::from_secs(second);
    let mut guard = Guard::new(terms, seed, 0, at(0));
    let (mut sides, mut since) = (Vec::new(), 0);
    for second in 1..10_000 {
        let side = guard.side();
        sides.push(side);
        let acknowledged = Bytes(bytes(second, side, second - since));
        match guard.look(at(second), Look { acknowledged, want: want(second), wait: false }) {
            None => {}
            Some(Order::Change(other)) => {
                assert_ne!(side, other);
                assert_eq!(guard.side(), other);
                since = second;
            }
            Some(end) => return (end, sides),
        }
    }
    panic!("it never ends");
}

fn always(_: u64) -> bool {
    true
}

#[test]
fn pacing_that_costs_nothing_stays_after_six_pairs() {
    let (end, sides) = ends(TERMS, 1, |_, side, _| if side == Side::Paced { 95 } else { 100 }, always);
    let Order::Stays(verdict) = end else { panic!("{end:?}") };
    assert_eq!((verdict.pairs, verdict.less), (6, 6));
    assert!((verdict.ratio.unwrap() - 0.95).abs() < 0.001, "{verdict:?}");
    assert_eq!(sides.len() as u64, Guard::length(&TERMS).as_nanos() / 1_000_000_000);
    assert!(sides[..10].iter().all(|side| *side == Side::Paced), "the first block is paced");
    assert_eq!(sides.iter().filter(|side| **side == Side::Before).count(), 60, "as long with as without");
}

#[test]
fn pacing_that_costs_half_goes_back_after_four() {
    for seed in 0..20 {
        let (end, sides) = ends(TERMS, seed, |_, side, _| if side == Side::Paced { 50 } else { 100 }, always);
        let Order::GoesBack(verdict) = end else { panic!("{end:?}") };
        assert_eq!((verdict.pairs, verdict.less, sides.len()), (4, 4, 90));
    }
}

#[test]
fn what_costs_a_little_less_than_a_third_stays_and_a_little_more_goes_back() {
    // Noise of a tenth beside it: pairs differ in what they say.
    let with = |cost: u64| {
        move |second: u64, side, _| {
            let noise = 90 + (second * 7_919) % 21;
            if side == Side::Paced { (100 - cost) * noise } else { 100 * noise }
        }
    };
    for seed in 0..20 {
        assert!(matches!(ends(TERMS, seed, with(30), always).0, Order::Stays(_)), "{seed}");
        let (end, _) = ends(TERMS, seed, with(36), always);
        assert!(matches!(end, Order::GoesBack(verdict) if verdict.pairs >= 4), "{seed}: {end:?}");
    }
}

#[test]
fn one_bad_moment_is_not_pacings() {
    // An outage of fifty seconds that meets whatever side.
    for seed in 0..50 {
        let outage = |second: u64, _, _| if (40..90).contains(&second) { 0 } else { 100 };
        let (end, _) = ends(TERMS, seed, outage, always);
        assert!(matches!(end, Order::Stays(_)), "{seed}: {end:?}");
    }
}

#[test]
fn what_a_change_costs_is_not_counted() {
    let stall = |_, _, into: u64| if into <= 3 { 0 } else { 100 };
    let (end, _) = ends(TERMS, 3, stall, always);
    assert!(matches!(end, Order::Stays(Verdict { ratio: Some(1.0), .. })), "{end:?}");
}

#[test]
fn without_traffic_nothing_is_said_and_pacing_stays() {
    let (end, sides) = ends(TERMS, 1, |_, _, _| 0, |_| false);
    assert_eq!(end, Order::Stays(Verdict::default()));
    assert_eq!(sides.len(), 10 * (1 + 2 * 18));
    let (end, _) = ends(
        TERMS,
        1,
        |second, side, _| if second < 150 { 0 } else { 60 + 40 * u64::from(side == Side::Before) },
        |second| second >= 150,
    );
    assert!(matches!(end, Order::GoesBack(Verdict { pairs: 4, .. })), "once there is some: {end:?}");
}

#[test]
fn a_download_of_which_nothing_is_on_its_way_counts() {
    let with = |bytes: u64| move |_, side, _| if side == Side::Paced { bytes / 2 } else { bytes };
    let (end, _) = ends(TERMS, 1, with(20_000), |_| false);
    assert!(matches!(end, Order::GoesBack(Verdict { pairs: 4, .. })), "{end:?}");
    assert_eq!(ends(TERMS, 1, with(1_000), |_| false).0, Order::Stays(Verdict::default()), "a trickle");
}

#[test]
fn orders_are_drawn_by_seed_and_both_come() {
    let sides = |seed| ends(TERMS, seed, |_, _, _| 100, always).1;
    assert_eq!(sides(7), sides(7));
    let firsts: std::collections::BTreeSet<_> = (0..32)
        .map(|seed| {
            sides(seed).iter().skip(10).step_by(20).map(|side| *side == Side::Paced).collect::<Vec<_>>()
        })
        .collect();
    assert!(firsts.len() > 16, "{firsts:?}");
}

#[test]
fn what_flows_got_is_counted_once() {
    let mut acknowledged = Acknowledged::default();
    let snapshot = |flows| example::snapshot(flows);
    // `report` has acknowledged 500 bytes for each kbit/s.
    let all = |_: &meshpace_gateway::FlowKey| true;
    let mut waits = example::report(1, 8);
    waits.stats.queued = 1;
    let first = Look { acknowledged: Bytes(0), want: true, wait: true };
    assert_eq!(acknowledged.look(&snapshot(vec![waits]), all), first, "none before");
    let next = vec![example::report(1, 10), example::report(2, 6)];
    assert_eq!(acknowledged.look(&snapshot(next), all).acknowledged, Bytes(1_000 + 3_000));
    let mut anew = example::report(2, 2);
    (anew.opened, anew.stats.outstanding) = (example::now(), false);
    let another = Look { acknowledged: Bytes(1_000), ..Look::default() };
    assert_eq!(acknowledged.look(&snapshot(vec![anew]), all), another, "another of that name");
    let others =
        |key: &meshpace_gateway::FlowKey| key.wireless.address != std::net::IpAddr::from([10, 1, 2, 9]);
    assert_eq!(acknowledged.look(&snapshot(vec![example::report(9, 8)]), others), Look::default());
}

/// The kernel keeps the departures that it was given: after a change nothing passes for a while but what was ordered.
#[test]
fn a_block_without_pacing_begins_when_nothing_waits_any_more() {
    for (waits, at_most) in [(6, 6), (10_000, 9)] {
        let terms = GuardTerms { block: Span::from_secs(3), pairs: 1, loss: 1.0 / 3.0 };
        let at = |second: u64| Instant::ZERO + Span::from_secs(second);
        let mut guard = Guard::new(terms, 1, 0, at(0));
        let (mut since, mut before) = (0, 0);
        let end = (1..100).find_map(|second| {
            let side = guard.side();
            let wait = side == Side::Before && second - since <= waits;
            before += u64::from(side == Side::Before);
            let bytes = match side {
                Side::Paced => 30_000,
                Side::Before => {
                    if wait {
                        0
                    } else {
                        100_000
                    }
                }
            };
            let order = guard.look(at(second), Look { acknowledged: Bytes(bytes), want: true, wait });
            if matches!(order, Some(Order::Change(_))) {
                since = second;
            }
            order.filter(|order| !matches!(order, Order::Change(_)))
        });
        assert_eq!(before, at_most + terms.block.as_nanos() / 1_000_000_000, "{waits}");
        assert_eq!(matches!(end, Some(Order::GoesBack(_))), waits < 10_000, "{waits}: {end:?}");
    }
}
