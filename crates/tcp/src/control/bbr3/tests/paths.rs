//! Over a bottleneck of 6 Mbit/s: a packet of 1,500 bytes takes 2 ms.

use super::super::Bbr3;
use crate::Config;
use crate::control::Rules;
use crate::tests::path::{self, GOODPUT as NARROW, Link, Path, Seen, at};
use alloc::vec::Vec;
use meshpace_units::{Rate, Span};
use proptest::prelude::*;

fn config() -> Config {
    path::linux(Bbr3::new(Rules::LINUX))
}

/// 6 Mbit/s with a round trip of 100 ms and a segment's time: 51 segments fill it.
fn link(buffer: usize) -> Link {
    Link { rate: Rate::bits_per_sec(6_000_000), ..Link::narrow(buffer) }
}

const GOODPUT: f64 = 5.0 * NARROW;

fn mean(shots: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = shots.fold((0.0, 0.0), |(sum, count), value| (sum + value, count + 1.0));
    sum / count
}

#[test]
fn it_fills_the_path_keeps_the_queue_short_and_looks_for_the_round_trip_after_five_seconds() {
    let mut path = Path::new(&config(), link(1_000));
    path.run(at(12.0));
    assert!(path.goodput(2.0, 12.0) > 0.93 * GOODPUT, "{}", path.goodput(2.0, 12.0));
    let queue = mean(path.between(2.0, 12.0).map(|seen| seen.queue as f64));
    assert!(queue < 15.0, "{queue}");
    assert_eq!(path.drops, 0);
    let small: Vec<f64> =
        path.between(2.0, 12.0).filter(|seen| seen.cwnd < 30.0).map(|seen| seen.at.as_secs_f64()).collect();
    let (first, last) = (small[0], small.iter().take_while(|at| **at < small[0] + 1.0).last().unwrap());
    assert!((5.0..6.5).contains(&first) && (0.2..0.5).contains(&(last - first)), "{first} to {last}");
    // Spacings of 1,460 bytes at 99 % of 5.84 Mbit/s: 2.02 ms, 1.62 at 1.25 times the pace, 2.24 at 0.9.
    let spacing = |seen: &&Seen| seen.interval.map_or(0.0, Span::as_secs_f64) * 1e3;
    let near =
        |wanted: f64| path.between(2.0, 12.0).filter(|seen| (spacing(seen) - wanted).abs() < 0.05).count();
    let all = path.between(2.0, 12.0).count();
    let (even, fast, slow) = (near(2.02), near(1.616), near(2.245));
    assert!(even > all / 2 && fast > all / 50 && slow > all / 100, "{even} {fast} {slow} of {all}");
}

#[test]
fn one_percent_lost_that_is_no_congestion_costs_little() {
    let mut path = Path::new(&config(), link(1_000)).losing(|n| n % 100 == 0);
    path.run(at(12.0));
    assert!(path.goodput(3.0, 12.0) > 0.8 * GOODPUT, "{}", path.goodput(3.0, 12.0));
}

#[test]
fn a_shallow_buffer_loses_little_once_startup_is_over() {
    let mut path = Path::new(&config(), link(10));
    path.run(at(3.0));
    let startup = path.drops;
    path.run(at(15.0));
    let sent = 12.0 * 500.0;
    assert!(((path.drops - startup) as f64) < 0.03 * sent, "{} of {sent}", path.drops - startup);
    assert!(path.goodput(3.0, 15.0) > 0.8 * GOODPUT, "{}", path.goodput(3.0, 15.0));
}

#[test]
fn ten_times_the_bandwidth_is_found() {
    // [Increasing Bandwidth 10x and Ensuring Full Bandwidth is Reached]
    let mut path = Path::new(&config(), link(1_000));
    path.run(at(4.0));
    path.link.rate = Rate::bits_per_sec(60_000_000);
    path.run(at(20.0));
    assert!(path.goodput(16.0, 20.0) > 8.0 * GOODPUT, "{}", path.goodput(16.0, 20.0) / GOODPUT);
}

/// Spacing of departures (ms) and goodput as a share of a tenth of the bandwidth, which is all that is left at 4 s: from `from` to
/// 30 s.
fn with_a_tenth_left(buffer: usize, from: f64) -> (f64, f64) {
    let mut path = Path::new(&config(), link(buffer));
    path.run(at(4.0));
    path.link.rate = Rate::bits_per_sec(600_000);
    path.run(at(30.0));
    let spacing = path.between(from, 30.0).filter_map(|seen| seen.interval).map(Span::as_secs_f64);
    (1e3 * mean(spacing), path.goodput(from, 30.0) / (GOODPUT / 10.0))
}

#[test]
fn a_tenth_of_the_bandwidth_is_followed() {
    // [Decreasing Bandwidth 10x and Ensuring Max Bandwidth Adapts Down]: after two cycles of 2 to 3 s. 1,460 bytes at 99 % of 584
    // kbit/s are 20.2 ms.
    for buffer in [10, 20, 30] {
        let (spacing, goodput) = with_a_tenth_left(buffer, 12.0);
        assert!((spacing - 20.2).abs() < 0.4 && goodput > 0.97, "{buffer}: {spacing} ms, {goodput}");
    }
    // A hundred packets in the buffer are round trips of 2 s. A cycle has four of them, and a probe of the round trip each 5 s marks
    // the samples of one as the application's, so that the greatest bandwidth does not age there (AdaptLongTermModel): 17 s.
    let (spacing, goodput) = with_a_tenth_left(100, 22.0);
    assert!((16.0..20.3).contains(&spacing) && goodput > 0.97, "{spacing} ms, {goodput}");
    assert!(with_a_tenth_left(100, 10.0).0 < 10.0, "not by then");
}

#[test]
fn a_path_of_less_than_a_segment_is_served_with_at_least_four() {
    // [Correctly Managing Sub-Packet BDPs]
    let slow = Link { rate: Rate::bits_per_sec(600_000), delay: Span::from_millis(2), buffer: 100 };
    let mut path = Path::new(&config(), slow);
    path.run(at(10.0));
    assert!(path.between(2.0, 10.0).all(|seen| (4.0..20.0).contains(&seen.cwnd)));
    assert!(path.goodput(2.0, 10.0) > 0.9 * GOODPUT / 10.0, "{}", path.goodput(2.0, 10.0));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever the path: the window is at least a segment, the pace never nothing, and data get on.
    #[test]
    fn window_and_pace_are_bounded(kbps in 200u64..5_000, delay in 1u64..150, buffer in 6usize..100, every in 8u64..200) {
        let mut path = Path::drawn(&config(), kbps, delay, buffer, every);
        path.run(at(8.0));
        for seen in path.between(2.0, 8.0) {
            prop_assert!(seen.cwnd >= 1.0 && seen.cwnd.is_finite(), "{seen:?}");
            prop_assert!(seen.interval.is_some_and(|interval| interval > Span::ZERO && interval < Span::from_secs(5)), "{seen:?}");
        }
        prop_assert!(path.goodput(3.0, 8.0) > 0.2 * kbps as f64 * 1e3, "{}", path.goodput(3.0, 8.0));
    }
}
