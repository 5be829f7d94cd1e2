//! Acknowledgement policies.

use super::script::{Script, ack, ms};
use crate::{ACK_POLICIES, AckPolicy, Config, Delayed, DynamicDelayed, Every, Timestamps};
use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;
use meshpace_keys::{Setting, Values};
use meshpace_units::Span;

fn receiver(policy: impl AckPolicy + 'static) -> Script {
    Script::established(Config { acknowledgements: Box::new(policy), ..Config::ns2() })
}

fn arrive(s: &mut Script, at: u64, n: u64) {
    s.data(at, (n - 1) * 1460..n * 1460, 0);
}

#[test]
fn every_segment() {
    let mut s = receiver(Every);
    for (at, n, acked) in [(1, 1, 1), (2, 3, 1), (3, 4, 1), (4, 2, 4), (5, 2, 4)] {
        arrive(&mut s, at, n);
        s.expect(at, &[ack(1460 * acked)]);
    }
    s.expect(10_000, &[]);
}

#[test]
fn delayed() {
    let mut s = receiver(Delayed::SECOND);
    arrive(&mut s, 0, 1);
    s.expect(0, &[]);
    arrive(&mut s, 40, 2);
    s.expect(40, &[ack(2920)]);
    arrive(&mut s, 50, 3);
    s.expect_until(200, &[(150, ack(4380))]);
    // Out of order, gap fill, old: at once (RFC 5681, section 4.2).
    arrive(&mut s, 200, 5);
    s.expect(200, &[ack(4380)]);
    arrive(&mut s, 201, 6);
    s.expect(201, &[ack(4380)]);
    arrive(&mut s, 202, 4);
    s.expect(202, &[ack(6 * 1460)]);
    arrive(&mut s, 203, 2);
    s.expect(203, &[ack(6 * 1460)]);
    s.expect(1_000, &[]);
}

#[test]
fn the_timer_is_not_restarted() {
    let policy = Delayed { segments: 4, delay: Span::from_millis(100) };
    let mut s = receiver(policy);
    arrive(&mut s, 0, 1);
    arrive(&mut s, 90, 2);
    s.expect_until(250, &[(100, ack(2920))]);
}

#[test]
fn a_connection_that_is_gone_waits_for_no_timer() {
    let mut s = receiver(Delayed::SECOND);
    arrive(&mut s, 0, 1);
    assert_eq!(s.tcp.poll_timeout(), Some(ms(100)));
    s.app(10, crate::Connection::abort);
    assert_eq!(s.tcp.poll_timeout(), None);
}

#[test]
fn part_of_a_gap_filled_counts_as_filling() {
    let mut s = receiver(Delayed::SECOND);
    arrive(&mut s, 0, 2);
    arrive(&mut s, 1, 4);
    s.out.clear();
    arrive(&mut s, 2, 1);
    s.expect(2, &[ack(2920)]);
}

#[test]
fn dynamic_delayed() {
    // schemes.md 21, item 7.
    let mut s = receiver(DynamicDelayed::PAPER);
    for n in 1..=18 {
        arrive(&mut s, n, n);
    }
    s.expect_until(18, &[1, 3, 6, 10, 14, 18].map(|n| (n, ack(n * 1460))));
    arrive(&mut s, 20, 20);
    s.expect(20, &[ack(18 * 1460)]);
    arrive(&mut s, 21, 19);
    s.expect(21, &[ack(20 * 1460)]);
    // When the segments come slowly the timer triggers.
    arrive(&mut s, 30, 21);
    arrive(&mut s, 129, 22);
    s.expect_until(300, &[(130, ack(22 * 1460))]);
}

/// A receiver of segments of 1448 bytes with the policy of that word.
fn literal(word: &str, said: &[(&'static str, Setting)]) -> Script {
    Script::established(Config { mss: 1448, acknowledgements: policy(word, said), ..Config::ns2() })
}

/// It has these values instead of its defaults.
fn policy(word: &str, said: &[(&'static str, Setting)]) -> Box<dyn AckPolicy> {
    let part = ACK_POLICIES.iter().find(|part| part.about.word == word).unwrap();
    let defaults = Values::defaults(part.about.keys());
    let values = Values::new(defaults.iter().map(|(name, default)| {
        let other = said.iter().find(|(key, _)| *key == name).map(|(_, setting)| setting);
        (name, other.unwrap_or(default).clone())
    }));
    (part.build)(&values)
}

fn arrive_1448(s: &mut Script, at: u64, n: u64) {
    s.data(at, (n - 1) * 1448..n * 1448, 0);
}

#[test]
fn wifus_thresholds_are_sequence_numbers() {
    // schemes.md 21, item 7, `byu-literal`.
    let mut s = literal("wifu-delayed", &[]);
    (1..=78).for_each(|n| arrive_1448(&mut s, n, n));
    let answered = (1..=70).step_by(3).chain([74, 78]);
    s.expect_until(78, &answered.map(|n| (n, ack(n * 1448))).collect::<Vec<_>>());
    // `wifu-head`: one an acknowledgement up to 10,000 bytes, seven segments, and never four in a megabyte.
    let mut s = literal("wifu-head-delayed", &[]);
    (1..=691).for_each(|n| arrive_1448(&mut s, n, n));
    let answered = (1..=7).chain((10..=691).step_by(3));
    s.expect_until(691, &answered.map(|n| (n, ack(n * 1448))).collect::<Vec<_>>());
}

#[test]
fn a_megabyte_without_loss_is_179_acknowledgements_and_the_timer_s() {
    // The catalogue of the thesis, 1: 1, 23 of three and 155 of four for 690 full segments; nothing but the timer answers the last.
    let mut s = literal("wifu-delayed", &[]);
    (1..=690).for_each(|n| arrive_1448(&mut s, n, n));
    s.data(691, 690 * 1448..1_000_000, 0);
    s.advance(ms(2_000));
    assert_eq!(s.out.len(), 179 + 1);
    assert_eq!(s.tcp.counters().timer_acks, 1);
}

#[test]
fn wifu_counts_what_is_out_of_order() {
    let count = |word: &str| {
        let steps = Setting::List(vec![Setting::Whole(3); 4]);
        let mut s = literal(word, &[("ack_steps", steps)]);
        // 2 is lost, and comes after 8.
        for (at, n) in [(1, 1), (2, 3), (3, 4), (4, 5), (5, 6), (6, 7), (7, 8), (8, 2), (9, 9)] {
            arrive_1448(&mut s, at, n);
        }
        s.advance(ms(9));
        s.out.drain(..).map(|(at, _)| at.as_nanos() / 1_000_000).collect::<Vec<_>>()
    };
    assert_eq!(count("wifu-delayed"), [3, 6, 9], "every third, whatever it is");
    assert_eq!(count("dynamic-delayed"), [2, 3, 4, 5, 6, 7, 8], "at once (RFC 5681, section 4.2)");
}

#[test]
fn the_newest_or_the_oldest_departure_is_echoed() {
    let echoed = |word: &'static str| {
        let steps = Setting::List(vec![Setting::Whole(3); 4]);
        let mut s =
            literal("wifu-delayed", &[("ack_steps", steps), ("ack_echo", Setting::Text(word.into()))]);
        (1..=3).for_each(|n| arrive_1448(&mut s, 10 * n, n));
        s.out.pop().and_then(|(_, transmit)| transmit.segment.ns2?.echo)
    };
    assert_eq!(echoed("newest"), Some(ms(30)));
    assert_eq!(echoed("oldest"), Some(ms(10)));
}

#[test]
fn the_timer_s_acknowledgements_are_counted() {
    let mut s = receiver(Delayed::SECOND);
    (1..=3).for_each(|n| arrive(&mut s, n, n));
    assert_eq!(s.tcp.counters().timer_acks, 0);
    s.expect_until(103, &[(2, ack(2920)), (103, ack(4380))]);
    assert_eq!((s.tcp.counters().timer_acks, s.tcp.counters().pure_acks), (1, 2));
}

#[test]
fn data_carry_acknowledgements() {
    let mut s = receiver(Delayed::SECOND);
    arrive(&mut s, 0, 1);
    s.write(10, 500);
    s.expect(10, &[super::script::data(0..500).acking(1460)]);
    s.expect(199, &[]);
    // A duplicate goes alone: with data it would not count as one.
    s.ack(200, 500);
    arrive(&mut s, 201, 3);
    s.expect(201, &[ack(1460)]);
    assert_eq!(s.now, ms(201));
}

#[test]
fn what_a_peer_pushes_is_answered_at_once_by_thin_acknowledgements() {
    // Under way: 200 segments, 1 ms apart, were answered every sixteenth.
    let answered = |pushed: bool| {
        let mut s = literal("thin", &[]);
        (1..=200).for_each(|n| arrive_1448(&mut s, n, n));
        s.advance(ms(310));
        s.out.clear();
        arrive_1448(&mut s, 320, 201);
        s.out.clear();
        for n in 202..=204 {
            s.raw(120 + n, |segment| {
                segment.flags.psh = pushed && n == 204;
                segment.seq = crate::tests::script::PEER_ISS + 1 + ((n - 1) * 1448) as u32;
                segment.payload = 1448;
            });
        }
        s.advance(ms(1_000));
        s.out.iter().map(|(at, _)| at.as_nanos() / 1_000_000).collect::<Vec<_>>()
    };
    assert_eq!(answered(true), [324]);
    assert_eq!(answered(false), [424]);
}

#[test]
fn while_the_window_opens_linux_acknowledges_every_segment() {
    // From 64,080 bytes to 82,944 in seven segments; the sixteen quick ones come after them (tcp_grow_window).
    let config = Config {
        acknowledgements: policy("linux", &[]),
        receive_buffer: 400_000,
        window_grows: true,
        handshake: crate::Handshake::ThreeWay,
        ..Config::ns2()
    };
    let mut s = Script::established(config);
    for n in 1..=30 {
        arrive(&mut s, n, n);
    }
    let at_once = (1..=23).chain([25, 27, 29]);
    let expected: Vec<_> = at_once.map(|n| (n, ack(1460 * n))).collect();
    s.expect_until(30, &expected);
}

#[test]
fn what_is_out_of_order_is_acknowledged_together_where_the_round_trip_is_long() {
    let settings = [("quick_acks", Setting::Whole(0)), ("ack_compression", Setting::Real(0.01))];
    let config = Config {
        acknowledgements: policy("linux", &settings),
        receive_buffer: 60_000,
        window_grows: true,
        handshake: crate::Handshake::ThreeWay,
        ..Config::ns2()
    };
    let mut s = Script::established(config);
    // A window's worth shows a round trip of 840 ms; a twentieth of that is more than 10 ms.
    for n in 1..=43 {
        arrive(&mut s, 20 * n, n);
    }
    s.advance(ms(999));
    s.out.clear();
    for n in 45..=50 {
        arrive(&mut s, 955 + n, n);
    }
    let acked = 1460 * 43;
    s.expect_until(
        1_100,
        &[(1_000, ack(acked)), (1_001, ack(acked)), (1_002, ack(acked)), (1_013, ack(acked))],
    );
    assert_eq!(s.tcp.counters().timer_acks, 1, "of the 43rd segment, none of these");
}

#[test]
fn what_comes_together_is_acknowledged_once() {
    let settings = [("quick_acks", Setting::Whole(0)), ("ack_gro", Setting::Real(0.002))];
    let mut s = Script::established(Config { acknowledgements: policy("linux", &settings), ..Config::ns2() });
    for (at, n) in [(1, 1), (2, 2), (3, 3), (5, 4), (10, 5), (11, 6)] {
        arrive(&mut s, at, n);
    }
    s.expect_until(200, &[(4, ack(1460 * 3)), (12, ack(1460 * 6))]);
    assert_eq!(s.tcp.counters().timer_acks, 0);
}

/// ```text
/// segments every 2 ms, that echo what left 40 ms ago    2 4 6 ... 40
/// acknowledgements: four in 40 ms                       4 14 24 34
/// ```
#[test]
fn tack_goes_by_the_time_stamps_that_segments_echo() {
    let mut s = Script::established(Config { acknowledgements: policy("tack", &[]), ..Config::rfc() });
    for n in 1..=20u32 {
        let at = 100 + 2 * u64::from(n);
        let echoes = Timestamps { value: n, echo: 100 + 2 * n - 40 };
        s.options.timestamps = Some(echoes);
        s.data(at, u64::from(n - 1) * 1000..u64::from(n) * 1000, 0);
    }
    let expected = [(104, 2), (114, 6), (124, 11), (134, 16)].map(|(at, n)| (at, ack(1000 * n)));
    s.expect_until(140, &expected);
}
