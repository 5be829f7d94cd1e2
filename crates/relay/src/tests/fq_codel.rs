//! FQ-CoDel: turns, new flows, and CoDel's law.

use super::{Bench, at, packet, radio};
use meshpace_units::{Ecn, Span};

/// So many packets of a flow come.
fn fill(bench: &mut Bench, packets: u32, flow: u16, size: u64) {
    for _ in 0..packets {
        bench.put(packet(flow, 1, size));
    }
}

/// Flows of the packets that come out, in order.
fn flows(bench: &mut Bench) -> Vec<u16> {
    let out = bench.drain();
    out.into_iter().map(|handle| bench.packets.get(handle).body.ports().0).collect()
}

/// ```text
/// 1: a a a a a a      2: b b b     1,500 bytes each, one a turn
/// out: a b a b a b a a a
/// ```
#[test]
fn flows_take_turns_by_bytes() {
    let mut bench = Bench::new("fq-codel", &radio(1000));
    fill(&mut bench, 6, 1, 1500);
    fill(&mut bench, 3, 2, 1500);
    assert_eq!(flows(&mut bench), [1, 2, 1, 2, 1, 2, 1, 1, 1]);
    // Three small ones for a big one.
    fill(&mut bench, 4, 1, 1500);
    fill(&mut bench, 9, 2, 500);
    assert_eq!(flows(&mut bench), [1, 2, 2, 2, 1, 2, 2, 2, 1, 2, 2, 2, 1]);
}

/// A flow that sends a packet now and then does not wait behind one that fills its queue.
#[test]
fn a_flow_that_has_just_begun_goes_first() {
    let mut bench = Bench::new("fq-codel", &radio(1000));
    fill(&mut bench, 5, 1, 1500);
    // The turn of the first flow is over: it is an old one.
    bench.get();
    bench.get();
    let sparse = bench.put(packet(2, 1, 100));
    assert_eq!(bench.get(), Some(sparse));
    let routing = bench.routing();
    assert_eq!(bench.get(), Some(routing), "before all flows");
}

#[test]
fn the_longest_queue_pays_for_a_full_node() {
    let mut bench = Bench::new("fq-codel", &radio(11));
    let first: Vec<_> = (0..8).map(|_| bench.put(packet(1, 1, 1000))).collect();
    let second: Vec<_> = (0..4).map(|_| bench.put(packet(2, 1, 1000))).collect();
    assert_eq!(bench.dropped, first[..2]);
    assert!(second.iter().all(|handle| !bench.dropped.contains(handle)));
    assert_eq!(bench.relay.len(), 10);
}

/// One packet every 10 ms comes, and goes 50 ms later, for longer than an interval: RFC 8289, section 5.3.
///
/// ```text
/// 0     50 ms           150 ms       250    250+100/sqrt(2) ...
/// | fill | above target  | interval over: first drop, then ever sooner
/// ```
#[test]
fn a_standing_queue_is_dropped_from_at_the_rate_of_the_law() {
    let mut bench = Bench::new("fq-codel", &radio(1000));
    for ms in 0..5 {
        bench.now = at(10 * ms);
        bench.data();
    }
    let mut drops = Vec::new();
    for ms in 5..120 {
        bench.now = at(10 * ms);
        bench.data();
        let before = bench.dropped.len();
        bench.get().expect("a packet waits");
        // The queue stands: for what was dropped another one comes.
        for _ in before..bench.dropped.len() {
            bench.data();
            drops.push(10 * ms);
        }
    }
    // The wait is above 5 ms from the first look, at 50 ms; an interval later it has stood too long. From then on drops are due
    // 100 ms / sqrt(n) apart, each at the next departure after that.
    let mut due = 150.0;
    for (n, drop) in drops.iter().enumerate() {
        let tick = (due / 10.0f64).ceil() * 10.0;
        assert!((*drop as f64 - tick).abs() < 0.5, "drop {n} at {drop} ms, due at {due:.1}: {drops:?}");
        due += 100.0 / f64::from(n as u32 + 1).sqrt();
    }
    assert!(drops.len() > 20, "{drops:?}");
}

#[test]
fn who_reacts_to_marks_is_marked_and_loses_nothing() {
    let mut bench = Bench::new("fq-codel", &radio(1000));
    let mut marked = 0;
    for ms in 0..120 {
        bench.now = at(10 * ms);
        bench.capable(1);
        if ms >= 5 {
            let out = bench.get().expect("a packet waits");
            marked += u32::from(bench.packets.take(out).ecn == Ecn::Ce);
        }
    }
    assert!(bench.dropped.is_empty());
    assert!(marked > 10, "{marked}");
}

#[test]
fn a_queue_that_empties_in_time_loses_nothing() {
    let mut bench = Bench::new("fq-codel", &radio(1000));
    for ms in 0..2000 {
        bench.now = at(ms);
        bench.put(packet(1, 1, 1500));
        bench.now += Span::from_micros(900);
        assert!(bench.get().is_some());
    }
    assert!(bench.dropped.is_empty());
}
