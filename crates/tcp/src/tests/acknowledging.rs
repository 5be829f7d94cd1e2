//! Acknowledgement policies.

use super::script::{Script, ack, ms};
use crate::{AckPolicy, Config, Delayed, DynamicDelayed, Every};
use alloc::boxed::Box;
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
