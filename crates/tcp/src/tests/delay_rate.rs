//! Rate by delay at a sender: its pace, its window, and that what is lost is sent again at the rate.

use super::script::{MSS, Out, Script, ms, segment};
use crate::control::{RECOVERIES, Rules, Surroundings, WINDOWS};
use crate::{Config, Options, RtoConfig, SmoothedConfig};
use meshpace_keys::{Setting, Values};
use meshpace_units::{Instant, Span};

/// Opened at 100 ms in a round trip of 100 ms, with an endless stream; parameters besides the defaults, packets one by one.
fn sender(parameters: &[(&str, f64)]) -> Script {
    sender_of(1, parameters)
}

/// The same with trains of so many segments at the most.
fn sender_of(unit: u64, parameters: &[(&str, f64)]) -> Script {
    sender_timed(RtoConfig::Smoothed(SmoothedConfig::LINUX), unit, parameters)
}

fn sender_timed(rto: RtoConfig, unit: u64, parameters: &[(&str, f64)]) -> Script {
    let part = WINDOWS.iter().find(|part| part.about.word == "delay-rate").expect("the part");
    let recovery = RECOVERIES.iter().find(|part| part.about.word == "rack").expect("its recovery");
    let keys: Vec<_> = part.about.keys().chain(recovery.about.keys()).collect();
    let values = Values::new(keys.iter().map(|key| {
        let given = parameters.iter().find(|(name, _)| *name == key.name);
        let default = Values::defaults([*key].into_iter()).get(key.name).cloned();
        let given = given.map(|(_, value)| Setting::Real(*value));
        let given = if key.name == "dr_unit" { Some(Setting::Whole(unit)) } else { given };
        (key.name, given.or(default).expect("a default"))
    }));
    let rules = Rules::LINUX;
    let control = (part.build)(&values, &Surroundings { rules, segment: MSS as u32, from_mesh: true })
        .control(recovery, &values);
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

/// While a hole is open nothing is acknowledged, but each report of what arrives behind it has a round trip.
#[test]
fn what_is_reported_behind_a_hole_tells_of_the_queue() {
    let mut s = sender_timed(RtoConfig::Linux(SmoothedConfig::LINUX), 1, &[]);
    s.ack_segment([200], 1);
    s.ack_segment([300], 6);
    assert_eq!(interval(&s), Some(20_000));
    // Segment 7 is lost; what left 20 ms apart comes 40 ms apart.
    for (at, last) in [(400, 8), (440, 9), (480, 10)] {
        s.sack(at, 6, &[(8, last)]);
    }
    assert_eq!((interval(&s), s.tcp.counters().timeouts), (Some(21_000), 0), "the start is over");
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

/// A path that carries what left together at once, in 100 ms there and back, and then what left after that. Its receiver answers what is
/// pushed, and else every 16th segment or every one; until `until` ms. When each segment left, its number, and whether it was pushed.
fn over_a_path(s: &mut Script, thin: bool, until: u64) -> Vec<(u64, u64, bool)> {
    let at = |at: Instant| at.saturating_since(ms(0)).as_micros() / 1_000;
    let (mut seen, mut waiting, mut carried) = (0, 0, 0);
    for now in at(s.now)..until {
        s.advance(ms(now));
        let Some((next, _)) = s.out.get(seen).filter(|(left, _)| at(*left).max(carried) + 100 <= now) else {
            continue;
        };
        let next = *next;
        carried = now;
        let together: Vec<_> = s.out[seen..].iter().take_while(|(left, _)| *left == next).cloned().collect();
        seen += together.len();
        for (_, sent) in together {
            waiting += 1;
            if sent.segment.flags.psh || !thin || waiting == 16 {
                s.ack(now, sent.offset + MSS);
                waiting = 0;
            }
        }
    }
    s.out.drain(..).map(|(left, sent)| (at(left), sent.offset / MSS + 1, sent.segment.flags.psh)).collect()
}

/// How many segments left at each time, and which of them were pushed.
fn trains(left: &[(u64, u64, bool)]) -> Vec<(usize, Vec<usize>)> {
    let of = |train: &[(u64, u64, bool)]| {
        let pushed = train.iter().zip(1..).filter(|((.., pushed), _)| *pushed).map(|(_, n)| n);
        (train.len(), pushed.collect())
    };
    left.chunk_by(|a, b| a.0 == b.0).map(of).collect()
}

#[test]
fn now_and_then_four_leave_together_and_ask_for_two_answers() {
    let mut s = sender_of(16, &[]);
    s.out.clear();
    // The peer's acknowledgements are half a millisecond apart, as on a radio of a packet an access.
    let mut left = Vec::new();
    for n in 0..130u64 {
        s.advance(ms(100 + 20 * n));
        left.extend(s.out.drain(..).map(|(_, sent)| (sent.offset / MSS + 1, sent.segment.flags.psh)));
        s.ack_segment([100 + 20 * n], left.len() as u64);
    }
    let pushed: Vec<u64> = left.iter().filter(|(_, pushed)| *pushed).map(|(n, _)| *n).collect();
    let asked = [4, 16, 36, 72, 140, 272];
    let expected: Vec<u64> = asked.iter().flat_map(|before| [before + 2, before + 4]).collect();
    assert_eq!(pushed[..12], expected, "after 4, 8, 16 and so on that leave one by one, four do not");
}

#[test]
fn where_answers_come_at_once_trains_leave_whole_and_one_after_another() {
    let mut s = sender_of(16, &[]);
    let first = over_a_path(&mut s, false, 1_500);
    assert!(first.iter().any(|(.., pushed)| *pushed), "{first:?}");
    let mut left = over_a_path(&mut s, true, 30_000);
    let whole = left.split_off(left.len() - 640);
    let trains = trains(&whole);
    let middle = &trains[1..trains.len() - 1];
    assert!(middle.iter().all(|train| train.0 == 16 && train.1.ends_with(&[16])), "{trains:?}");
    let asking = middle.iter().zip(0..).filter(|(train, _)| train.1 == [8, 16]).map(|(_, n)| n);
    let asking: Vec<i32> = asking.collect();
    assert!(
        asking.len() >= 4 && asking.windows(2).all(|two| two[1] - two[0] == 8),
        "one in eight: {asking:?}"
    );
}

/// A receiver that lies, beside an honest one: the same segments are acknowledged at the same times, each in four parts, and what was not
/// sent besides.
#[test]
fn parts_of_acknowledgements_and_of_what_was_not_sent_change_no_rate() {
    let rates = |lies: bool| -> Vec<Option<u64>> {
        let mut s = sender(&[]);
        let answers = (1..60u64).map(|n| (200 + 20 * n + n / 4, n));
        answers
            .map(|(at, n)| {
                if lies {
                    (1..4).for_each(|part| s.ack(at, (n - 1) * MSS + part * MSS / 4));
                    s.ack(at, (n + 5_000) * MSS);
                }
                s.ack(at, n * MSS);
                interval(&s)
            })
            .collect()
    };
    let honest = rates(false);
    assert!(honest.windows(2).filter(|pair| pair[0] != pair[1]).count() > 2, "it does something: {honest:?}");
    assert_eq!(rates(true), honest);
}
