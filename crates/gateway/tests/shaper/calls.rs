//! What a call gets beside bulk, and what its rule gives those who abuse it.

use super::*;

/// A host's call of 50 packets of 200 bytes a second, for four seconds; whatever else is wanted is kept filled. How long its packets waited.
fn call(bench: &mut Bench, host: u8, fill: impl Fn(&mut Bench)) -> Vec<Span> {
    let mut came = BTreeMap::new();
    let from = bench.passed.len();
    for n in 0..200 {
        bench.run_until(ms(1_000 + 20 * n));
        fill(bench);
        came.insert(bench.next, bench.now);
        bench.put(host, 99, 200);
    }
    bench.run_until(bench.now + Span::from_secs(1));
    let left = bench.passed[from..].iter();
    let waits: Vec<_> =
        left.filter_map(|(at, name, _)| Some(at.saturating_since(*came.get(&name.2)?))).collect();
    assert_eq!(waits.len(), 200);
    waits
}

/// Keeps so many packets of a flow waiting.
fn keep(bench: &mut Bench, host: u8, port: u16, size: u64, packets: usize) {
    let count = |names: &[Name]| names.iter().filter(|name| (name.0, name.1) == (host, port)).count();
    let left: Vec<Name> = bench.passed.iter().map(|(_, name, _)| *name).collect();
    let put = bench.put_count(host, port);
    let waiting = put - count(&left) - count(&bench.dropped);
    (waiting..packets).for_each(|_| bench.put(host, port, size));
}

/// At this rate a call sends more than a fifth of what its host has, with four downloads.
#[test]
fn a_call_does_not_wait_for_downloads_of_its_own_host() {
    let mut bench = Bench::new(ShaperConfig { rate: Rate::bits_per_sec(350_000), ..patient() });
    let waits = call(&mut bench, 1, |bench| (1..=4).for_each(|port| keep(bench, 1, port, 1_250, 3)));
    assert!(waits.iter().all(|wait| *wait == Span::ZERO), "{:?}", waits.iter().max());
    // What leaves ahead of the others is paid for: all together keep the rate.
    let meanwhile = bench.passed.iter().filter(|(at, ..)| *at < ms(5_000));
    let bytes: u64 = meanwhile.map(|(_, name, _)| if name.1 == 99 { 200 } else { 1_250 }).sum();
    assert!(bytes.abs_diff(350_000 / 8 * 4) < 3_000, "{bytes}");
}

#[test]
fn a_call_does_not_wait_for_other_hosts() {
    let mut bench = Bench::new(ShaperConfig { rate: Rate::bits_per_sec(350_000), ..patient() });
    let waits = call(&mut bench, 1, |bench| (1..=4).for_each(|port| keep(bench, 2, port, 1_250, 3)));
    assert!(waits.iter().all(|wait| *wait == Span::ZERO), "{:?}", waits.iter().max());
}

/// It has three quarters of its own host at the most before its turn comes, and nothing of another.
#[test]
fn bulk_in_short_packets_takes_nothing_from_another_host() {
    let mut bench = Bench::new(patient());
    for at in 0..20_000 {
        bench.run_until(ms(at));
        keep(&mut bench, 1, 1, 400, 4);
        keep(&mut bench, 1, 2, 1_250, 4);
        keep(&mut bench, 2, 1, 1_250, 4);
    }
    let bytes = |host, port, size: usize| {
        bench.passed.iter().filter(|(_, name, _)| (name.0, name.1) == (host, port)).count() * size
    };
    let (short, long, other) = (bytes(1, 1, 400), bytes(1, 2, 1_250), bytes(2, 1, 1_250));
    assert!((short + long).abs_diff(other) * 20 < other, "{short} and {long} beside {other}");
    assert!(short * 10 < (short + long) * 9 && long * 8 > short + long, "{short} beside {long}");
}

/// Forty hosts talk at once, for which there is no room: their packets wait.
#[test]
fn calls_do_not_exceed_the_rate() {
    let mut bench = Bench::new(patient());
    for at in 0..2_000 {
        bench.run_until(ms(at));
        (0..40).filter(|host| (at + u64::from(*host)) % 20 == 0).for_each(|host| bench.put(host, 99, 200));
    }
    let bytes = 200 * bench.passed.len();
    assert!(bytes.abs_diff(1_000_000 / 8 * 2) < 4_000, "{bytes}");
}

/// Some of them wait, as more come than a call's, and leave with the next one that does not; now and then a long one comes between.
#[test]
fn packets_of_a_flow_keep_their_order() {
    let mut bench = Bench::new(patient());
    for round in 0..200_u64 {
        bench.run_until(ms(30 * round));
        (2..9).for_each(|port| keep(&mut bench, 1, port, 1_250, 2));
        (0..round % 12).for_each(|n| bench.put(1, 1, 150 + 10 * n));
        if round.is_multiple_of(17) {
            bench.put(1, 1, 1_250);
        }
    }
    bench.run_until(ms(60_000));
    let of_flow: Vec<_> = bench.passed.iter().filter(|(_, name, _)| name.1 == 1).collect();
    assert_eq!(of_flow.len(), bench.put_count(1, 1));
    assert!(of_flow.is_sorted_by_key(|(_, name, _)| name.2));
    let together = of_flow.windows(2).filter(|two| two[0].0 == two[1].0).count();
    assert!(together > 100, "{together}");
}

/// Acknowledgements, and packets that are no longer short, wait as ever.
#[test]
fn other_lengths_take_turns() {
    for (size, waits) in [(60, true), (101, false), (400, false), (401, true)] {
        let mut bench = Bench::new(patient());
        bench.fill(20, 1, 1, 1_250);
        let before = bench.passed.len();
        bench.put(1, 2, size);
        assert_eq!(bench.passed.len() == before, waits, "{size}");
    }
}

#[test]
fn a_cap_holds_calls_too() {
    let cap = Some(Rate::bits_per_sec(40_000));
    let mut bench = Bench::new(patient()).agree(1, Terms { cap, ..NEAR });
    for n in 0..500 {
        bench.run_until(ms(20 * n));
        bench.put(1, 1, 200);
    }
    // 50,000 bytes.
    assert!(bench.passed.len().abs_diff(250) <= 8, "{}", bench.passed.len());
}
