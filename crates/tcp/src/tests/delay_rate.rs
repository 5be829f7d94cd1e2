//! Rate by delay at a sender: its pace, its window, and that what is lost is sent again at the rate.

use super::script::{MSS, Out, Script, ms, segment};
use crate::control::{RECOVERIES, Rules, Surroundings, WINDOWS};
use crate::{Config, Options};
use meshpace_keys::{Setting, Values};
use meshpace_units::{Instant, Span};

/// Opened at 100 ms in a round trip of 100 ms, with an endless stream; parameters besides the defaults.
fn sender(parameters: &[(&str, f64)]) -> Script {
    let part = WINDOWS.iter().find(|part| part.about.word == "delay-rate").expect("the part");
    let recovery = RECOVERIES.iter().find(|part| part.about.word == "rack").expect("its recovery");
    let keys: Vec<_> = part.about.keys().chain(recovery.about.keys()).collect();
    let values = Values::new(keys.iter().map(|key| {
        let given = parameters.iter().find(|(name, _)| *name == key.name);
        let default = Values::defaults([*key].into_iter()).get(key.name).cloned();
        (key.name, given.map(|(_, value)| Setting::Real(*value)).or(default).expect("a default"))
    }));
    let rules = Rules::LINUX;
    let control = (part.build)(&values, &Surroundings { rules, segment: MSS as u32, from_mesh: true })
        .control(recovery, &values);
    let rto = crate::RtoConfig::Smoothed(crate::SmoothedConfig::LINUX);
    let mut s = Script::connect(Config { timestamps: false, rto, control, ..Config::rfc() });
    s.options =
        Options { mss: Some(1460), window_scale: Some(2), sack_permitted: true, ..Options::default() };
    s.raw(100, |segment| segment.flags.syn = true);
    (s.options, s.peer) = (Options::default(), 1);
    s.out.clear();
    s.write_endless(100);
    s
}

/// Full segments from number `first` on, at these times.
fn from(first: u64, at: &[u64]) -> Vec<(u64, Out)> {
    at.iter().zip(first..).map(|(at, n)| (*at, segment(n))).collect()
}

use alloc::vec::Vec;

fn interval(s: &Script) -> Option<u64> {
    s.tcp.pacing().interval.map(Span::as_micros)
}

#[test]
fn it_begins_at_a_pace_and_doubles_it_while_no_queue_shows() {
    let mut s = sender(&[]);
    // 50 segments a second, and four in the first round trip would be fewer.
    s.ack_segment([200], 1);
    s.expect_until(299, &from(1, &[100, 120, 140, 160, 180, 200, 220, 240, 260, 280]));
    s.ack_segment([300], 6);
    assert_eq!(interval(&s), Some(20_000), "one round trip of this step");
    s.ack_segment([320], 7);
    assert_eq!(interval(&s), Some(10_000));
    s.expect_until(350, &from(11, &[300, 320, 330, 340, 350]));
}

#[test]
fn a_queue_ends_the_start_and_then_the_rate_goes_by_it() {
    let mut s = sender(&[("dr_delta", 1.0), ("dr_gain", 0.5), ("dr_fall", 10.0)]);
    s.ack_segment([200, 300], 1);
    s.ack_segment([300], 4); // left at 160: 140 ms
    s.ack_segment([360], 7); // 220: 140 ms, so 2 segments wait
    assert_eq!(interval(&s), Some(40_000), "half of what was too much");
    s.ack_segment([500], 10); // 280: 220 ms
    s.ack_segment([580], 14); // 360: 220 ms
    // 1 / 120 ms are fewer than 25 a second: half of the way there, as a ratio.
    let expected = 1e6 / libm::sqrt(25.0 / 0.12);
    assert!(
        interval(&s).is_some_and(|found| (found as f64 - expected).abs() < 2.0),
        "{:?} {expected}",
        interval(&s)
    );
}

#[test]
fn no_more_is_out_than_the_window() {
    // 50 a second in 100 ms, and two.
    let mut s = sender(&[("dr_room", 1.0), ("dr_slack", 2.0)]);
    s.ack_segment([200], 1);
    s.expect_until(420, &from(1, &[100, 120, 140, 160, 180, 200, 220, 240]));
    // Nobody answers: a share of the rate is left each time.
    s.advance(ms(3_000));
    let timeouts = s.tcp.counters().timeouts as i32;
    let expected = (0..timeouts).fold(50.0, |rate, _| rate * 0.7);
    assert!(
        timeouts >= 1 && interval(&s).is_some_and(|found| (found as f64 - 1e6 / expected).abs() < 2.0),
        "{timeouts}"
    );
}

#[test]
fn what_is_lost_is_sent_again_at_the_rate() {
    let mut s = sender(&[]);
    s.ack_segment([200], 1);
    s.advance(ms(310));
    s.out.clear();
    for (at, last) in [(312, 3), (314, 4), (316, 5)] {
        s.sack(at, 1, &[(3, last)]);
    }
    assert_eq!(interval(&s), Some(20_000), "a loss is no sign of a queue");
    s.advance(ms(450));
    let times: Vec<Instant> = s.out.iter().map(|(at, _)| *at).collect();
    assert!(
        times.windows(2).all(|pair| pair[1].saturating_since(pair[0]) >= Span::from_millis(20)),
        "{times:?}"
    );
    assert_eq!(s.out.iter().filter(|(_, sent)| sent.offset == MSS).count(), 1, "the second, once");
    assert_eq!((s.tcp.counters().retransmits, s.tcp.counters().timeouts), (1, 0));
}

#[test]
fn losses_that_are_frequent_keep_it_from_yielding() {
    // Delay alone asks for next to nothing, and steps are small: what counts is their sign.
    let after = |friendly: f64| {
        let mut s = sender(&[("dr_delta", 1_000.0), ("dr_gain", 0.001), ("dr_friendly", friendly)]);
        s.ack_segment([200], 1);
        s.ack_segment([310], 6);
        s.ack_segment([330], 7);
        assert_eq!(interval(&s), Some(40_000), "the start is over");
        for (at, lost) in [(350, 8), (590, 14), (830, 19)] {
            (1..=3).for_each(|n| s.sack(at + 40 * (n - 1), lost - 1, &[(lost + 1, lost + n)]));
            s.ack_segment([at + 150], lost + 4);
        }
        assert_eq!((s.tcp.counters().fast_retransmits, s.tcp.counters().timeouts), (3, 0));
        let before = interval(&s);
        (0..8).for_each(|n| s.ack_segment([1_090 + 40 * n], 24 + n));
        (before, interval(&s))
    };
    let (before, alone) = after(0.0);
    assert!(alone > before, "{before:?} {alone:?}");
    let (before, beside) = after(1_000.0);
    assert!(beside < before, "{before:?} {beside:?}");
}
