//! BBR over a bottleneck of 1.2 Mbit/s: a packet of 1,500 bytes takes 10 ms.

use super::*;
use crate::tests::path::{self, GOODPUT, Link, Path, at};
use crate::tests::script::Script;
use crate::{Config, Flags, Options};
use proptest::prelude::*;

fn config() -> Config {
    path::linux(Bbr::new(Rules::LINUX))
}

#[test]
fn it_fills_the_path_and_keeps_the_queue_short() {
    let mut path = Path::new(&config(), Link::narrow(1_000));
    path.run(at(9.5));
    assert!(path.goodput(3.0, 9.5) > 0.95 * GOODPUT, "{}", path.goodput(3.0, 9.5));
    // 1.25 times the bandwidth for a round trip queues a quarter of 11 segments, a phase in eight; the window stops at twice 11 and
    // room for bursts and delayed acknowledgements.
    let queue = path.between(3.0, 9.5).map(|seen| seen.queue);
    let mean = queue.clone().sum::<usize>() as f64 / queue.clone().count() as f64;
    // The one on the link counts. Twice 11, six for bursts and two in the phase that probes are 30 in flight at most.
    assert!(mean < 9.0 && queue.max() <= Some(19), "{mean}");
    assert_eq!(path.drops, 0);
    // Startup left a queue of some 1.9 times the path, and drained it.
    assert!(path.between(0.0, 2.0).map(|seen| seen.queue).max() > Some(15));
}

#[test]
fn the_pace_goes_round_a_cycle_of_eight() {
    let mut path = Path::new(&config(), Link::narrow(1_000));
    path.run(at(9.5));
    // The spacing at a gain of one and a margin of 1 %: 1,460 bytes at 99 % of 1.168 Mbit/s are 10.1 ms; 8.08 and 13.47 ms else.
    let spacing = |seen: &path::Seen| seen.interval.map_or(0.0, Span::as_secs_f64) * 1e3;
    let near =
        |wanted: f64| path.between(4.0, 9.5).filter(|seen| (spacing(seen) - wanted).abs() < 0.15).count();
    let all = path.between(4.0, 9.5).count();
    let (even, fast, slow) = (near(10.10), near(8.08), near(13.47));
    assert!(even > all / 2 && fast > all / 20 && slow > all / 50, "{even} {fast} {slow} of {all}");
    assert!(even + fast + slow > all * 9 / 10, "{even} {fast} {slow} of {all}");
}

#[test]
fn from_1_200_kbit_s_on_two_segments_leave_together() {
    // bbr_min_tso_segs; 24 Mbit/s make two in a millisecond, 36 three.
    for (pace, together) in [(1.19e6, 1), (1.2e6, 2), (23.0e6, 2), (36.0e6, 3)] {
        let mut bbr = Bbr::new(Rules::LINUX);
        bbr.on_connected(true, 1_460);
        bbr.set_pace(at(1.0), pace);
        let data = Sent::Data { start: 1, length: 1_460, first: true };
        let mut left = 0;
        while bbr.pace(at(2.0)).is_some_and(|pace| pace.release == at(2.0)) {
            bbr.on_departure(&Departure { now: at(2.0), token: at(2.0), sent: data });
            left += 1;
        }
        let pause = bbr.pace(at(2.0)).map(|pace| pace.release.saturating_since(at(2.0)).as_secs_f64());
        let wanted = f64::from(together) * 1_460.0 * 8.0 / pace;
        assert!(
            left == together && pause.is_some_and(|pause| (pause - wanted).abs() < 1e-6),
            "{pace}: {left}, {pause:?}"
        );
    }
}

#[test]
fn after_ten_seconds_it_looks_for_the_round_trip_with_four_segments() {
    let mut path = Path::new(&config(), Link::narrow(1_000));
    path.run(at(13.0));
    let small: alloc::vec::Vec<_> =
        path.between(1.0, 13.0).filter(|seen| seen.cwnd <= 4.0).map(|seen| seen.at).collect();
    let (first, last) = (small[0].as_secs_f64(), small[small.len() - 1].as_secs_f64());
    // 200 ms and what it takes to drain to four segments, and for a round trip.
    assert!((9.0..12.5).contains(&first) && (0.2..0.7).contains(&(last - first)), "{first} to {last}");
    // Then the window is what it was.
    let before = path.between(first - 0.1, first - 0.002).map(|seen| seen.cwnd).fold(0.0, f64::max);
    let after = path.between(last + 0.002, last + 0.1).map(|seen| seen.cwnd).fold(0.0, f64::max);
    assert!((before - after).abs() <= 4.0, "{before} and {after}");
}

#[test]
fn losses_that_are_no_congestion_cost_what_is_lost() {
    let mut path = Path::new(&config(), Link::narrow(1_000)).losing(|n| n % 50 == 0);
    path.run(at(9.5));
    assert!(path.goodput(3.0, 9.5) > 0.9 * GOODPUT, "{}", path.goodput(3.0, 9.5));
    assert_eq!(path.sender.counters().timeouts, 0);
}

#[test]
fn what_a_policer_lets_through_is_its_pace() {
    // The link is ten times as fast; what comes quicker than 1.2 Mbit/s for longer than 20 packets is dropped.
    let mut path = Path::new(&config(), Link { rate: Rate::bits_per_sec(12_000_000), ..Link::narrow(1_000) });
    path.policer = Some(path::Bucket::new(Rate::bits_per_sec(1_200_000), 30_000));
    path.run(at(3.0));
    let (drops, sent) = (path.drops, path.sender.counters().data_segments);
    path.run(at(6.0));
    // Four round trips with a fifth lost, twice: then 48 of probing go by at what came through, a loss in a hundred at the most.
    let (drops, sent) = (path.drops - drops, path.sender.counters().data_segments - sent);
    assert!(drops * 100 <= sent, "{drops} of {sent}");
    assert!(path.goodput(3.0, 6.0) > 0.9 * GOODPUT, "{}", path.goodput(3.0, 6.0));
    let spacing: alloc::vec::Vec<_> = path
        .between(3.0, 6.0)
        .filter_map(|seen| seen.interval)
        .map(|span| span.as_secs_f64() * 1e3)
        .collect();
    let mean = spacing.iter().sum::<f64>() / spacing.len() as f64;
    assert!((9.5..11.5).contains(&mean), "{mean} ms");
}

#[test]
fn a_path_that_becomes_slower_is_followed_after_ten_round_trips() {
    let mut path = Path::new(&config(), Link::narrow(1_000));
    path.run(at(4.0));
    path.link.rate = Rate::bits_per_sec(600_000);
    path.run(at(15.0));
    let mean = |from: f64, to: f64| {
        let spacing =
            path.between(from, to).filter_map(|seen| seen.interval).map(Span::as_secs_f64).sum::<f64>();
        spacing * 1e3 / path.between(from, to).count() as f64
    };
    // With 28 in flight, which is twice the path and room, a round trip takes 560 ms: the old bandwidth is forgotten after 5.6 s.
    assert!((9.5..11.0).contains(&mean(6.0, 8.0)), "{} ms", mean(6.0, 8.0));
    assert!((19.0..22.5).contains(&mean(12.0, 15.0)), "{} ms", mean(12.0, 15.0));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever the path: the window is at least a segment, the pace never nothing, the window never far beyond what fills the path
    /// and its buffer, and data get on.
    #[test]
    fn window_and_pace_are_bounded(kbps in 200u64..5_000, delay in 1u64..150, buffer in 4usize..100, every in 8u64..200) {
        let mut path = Path::drawn(&config(), kbps, delay, buffer, every);
        path.run(at(6.0));
        let fills = kbps as f64 / 12.0 * (2.0 * delay as f64 + 12_000.0 / kbps as f64) / 1e3 + buffer as f64;
        for seen in path.between(0.5, 6.0) {
            prop_assert!(seen.cwnd >= 1.0 && seen.cwnd <= 4.0 * fills + 30.0, "{seen:?} of {fills}");
            prop_assert!(seen.interval.is_some_and(|interval| interval > Span::ZERO && interval < Span::from_secs(2)), "{seen:?}");
        }
        prop_assert!(path.goodput(2.0, 6.0) > 0.3 * kbps as f64 * 1e3, "{}", path.goodput(2.0, 6.0));
    }
}

#[test]
fn the_handshake_s_round_trip_is_the_first_unless_its_syn_was_lost() {
    let opened = |at: u64| {
        let mut s = Script::connect(config());
        s.options =
            Options { mss: Some(1460), window_scale: Some(2), sack_permitted: true, ..Options::default() };
        s.raw(at, |segment| segment.flags = Flags { syn: true, ack: true, ..Flags::default() });
        s.tcp.pacing().interval.map(Span::as_micros)
    };
    // Ten segments in 100 ms, 2.887 times as fast and 1 % slower; the SYN that leaves again after a second has no round trip,
    // and a millisecond takes its place.
    assert_eq!((opened(100), opened(1_100)), (Some(3_499), Some(34)));
}
