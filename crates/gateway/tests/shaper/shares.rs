//! How much each host gets, and when.

use super::*;
use meshpace_gateway::ShareBy;

/// ```text
/// 0    10   20   30 ms     1,250 bytes each at 1 Mbit/s
/// ▮    ▮    ▮    ▮
/// ```
#[test]
fn packets_leave_at_the_rate() {
    let mut bench = Bench::new(patient());
    bench.fill(4, 1, 1, 1_250);
    bench.run_until(ms(100));
    let times: Vec<_> = bench.passed.iter().map(|(at, ..)| *at).collect();
    assert_eq!(times, [0, 10, 20, 30].map(ms));
    assert!(bench.shaper.is_empty() && bench.shaper.poll_timeout().is_none());
}

#[test]
fn a_driver_that_wakes_late_keeps_the_rate_as_far_as_the_burst_goes() {
    let left_by = |late: u64| {
        let mut bench = Bench::new(ShaperConfig { burst: Span::from_millis(5), ..patient() });
        bench.fill(60, 1, 1, 1_250);
        while let Some(due) = bench.shaper.poll_timeout().filter(|due| *due < ms(500)) {
            bench.now = bench.now.max(due) + Span::from_millis(late);
            bench.drain();
        }
        bench.passed.len()
    };
    assert_eq!(left_by(0), 50);
    assert_eq!(left_by(4), 50, "made up for");
    assert_eq!(left_by(10), 34, "5 of the 10 ms are lost each time");
}

#[test]
fn one_flow_of_a_host_gets_what_twenty_of_another_get() {
    let mut bench = Bench::new(patient());
    bench.fill(60, 1, 1, 1_250);
    (1..=20).for_each(|port| bench.fill(10, 2, port, 1_250));
    bench.run_until(ms(1_000));
    let by_host = bench.by_host();
    assert!(by_host[&1].abs_diff(by_host[&2]) <= 1, "{by_host:?}");
    // Inside the host its flows take turns, too.
    let of_second =
        bench.passed.iter().filter(|(_, (host, ..), _)| *host == 2).map(|(_, (_, port, _), _)| *port);
    let mut ports: Vec<_> = of_second.collect();
    ports.sort_unstable();
    assert!(
        (1..=20).all(|port| (2..=3).contains(&ports.iter().filter(|known| **known == port).count())),
        "{ports:?}"
    );
}

/// Over four hops a packet takes four times the air; over half of the rate twice as much.
#[test]
fn by_air_time_a_far_host_gets_fewer_bytes_and_by_bytes_as_many() {
    let far = Terms { hops: 4, ..NEAR };
    let slow = Terms { link: Rate::bits_per_sec(5_500_000), ..NEAR };
    let shares = |by| {
        let mut bench = Bench::new(ShaperConfig { by, ..patient() }).agree(2, far).agree(3, slow);
        (1..=3).for_each(|host| bench.fill(150, host, 1, 1_250));
        bench.run_until(ms(1_199));
        bench.by_host()
    };
    // A third of 1.2 s each: 40 packets of 10 ms, 10 of 40 ms, 20 of 20 ms.
    let by_air = shares(ShareBy::Airtime);
    for (host, packets) in [(1, 40), (2, 10), (3, 20)] {
        assert!(by_air[&host].abs_diff(packets) <= 1, "{by_air:?}");
    }
    let by_bytes = shares(ShareBy::Bytes);
    assert!((1..=3).all(|host| by_bytes[&host].abs_diff(40) <= 1), "{by_bytes:?}");
}

#[test]
fn more_hops_than_the_air_is_used_by_cost_no_more() {
    let mut bench =
        Bench::new(patient()).agree(1, Terms { hops: 4, ..NEAR }).agree(2, Terms { hops: 9, ..NEAR });
    (1..=2).for_each(|host| bench.fill(100, host, 1, 1_250));
    bench.run_until(ms(800));
    assert!(bench.by_host()[&1].abs_diff(bench.by_host()[&2]) <= 1, "{:?}", bench.by_host());
}

#[test]
fn weights_are_shares_and_caps_leave_the_rest_to_others() {
    let thrice = Terms { weight: 3, ..NEAR };
    let capped = Terms { cap: Some(Rate::bits_per_sec(100_000)), ..NEAR };
    let mut bench = Bench::new(patient()).agree(2, thrice).agree(3, capped);
    (1..=3).for_each(|host| bench.fill(200, host, 1, 1_250));
    bench.run_until(ms(999));
    // A hundred packets: ten of them are the cap's, the others are shared as one to three.
    let by_host = bench.by_host();
    assert_eq!(by_host.values().sum::<usize>(), 100, "the rate is used: {by_host:?}");
    for (host, packets) in [(1, 22), (2, 67), (3, 10)] {
        assert!(by_host[&host].abs_diff(packets) <= 2, "{by_host:?}");
    }
}

#[test]
fn a_capped_host_alone_has_its_cap() {
    let mut bench = Bench::new(patient()).agree(1, Terms { cap: Some(Rate::bits_per_sec(250_000)), ..NEAR });
    bench.fill(40, 1, 1, 1_250);
    bench.run_until(ms(1_000));
    // One every 40 ms from 0 on.
    assert_eq!(bench.passed.len(), 26);
    assert_eq!(bench.passed[25].0, ms(1_000));
}

#[test]
fn a_host_that_sends_little_does_not_wait_behind_those_that_fill_their_queues() {
    let mut bench = Bench::new(patient());
    (1..=5).for_each(|host| bench.fill(100, host, 1, 1_250));
    bench.run_until(ms(505));
    let before = bench.passed.len();
    bench.put(9, 1, 200);
    bench.run_until(ms(511));
    assert_eq!(bench.hosts()[before..], [9]);
    // It is no newcomer for ever: at the second packet in a row it takes turns.
    bench.fill(20, 9, 1, 1_250);
    bench.run_until(ms(700));
    let of_it = bench.hosts()[before + 1..].iter().filter(|host| **host == 9).count();
    assert!((2..=5).contains(&of_it), "of about 18, of six hosts: {of_it}");
}

/// A host whose packets cost hundreds of turns does not make the others wait, nor itself.
#[test]
fn turns_that_nobody_can_use_pass_at_once() {
    let dear = Terms { hops: 4, link: Rate::bits_per_sec(55_000), ..NEAR };
    let mut bench = Bench::new(ShaperConfig { rate: Rate::bits_per_sec(1_000_000_000), ..patient() });
    bench = bench.agree(1, dear).agree(2, dear);
    (1..=2).for_each(|host| bench.fill(50, host, 1, 1_500));
    bench.run_until(ms(480));
    let by_host = bench.by_host();
    // 800 times 12 us each, 9.6 ms.
    assert_eq!(by_host.values().sum::<usize>(), 51, "{by_host:?}");
    assert!(by_host[&1].abs_diff(by_host[&2]) <= 1, "{by_host:?}");
}
