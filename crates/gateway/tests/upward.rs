//! Wireless-to-wired flows: the gateway times the wired part and tells the sender (schemes.md 3.2).

use crate::common::*;
use meshpace_gateway::{RttOption, Side};
use meshpace_tcp::{Options, Segment, Timestamps};
use meshpace_units::{Bytes, Seq, Span};

fn set(ms: u64) -> RttOption {
    RttOption::Set(Span::from_millis(ms))
}

/// Flow 1 with `n` segments that went up at 0, 1, 2, ... ms.
fn after_segments(n: u32) -> Script {
    let mut s = Script::established(config());
    for i in 0..n {
        s.now = ms(u64::from(i));
        let data = s.up(i * MSS, MSS, 0);
        s.forwards(Side::Wireless, &data);
    }
    s
}

#[test]
fn the_ack_carries_the_wired_round_trip_to_the_nearest_millisecond() {
    let mut s = after_segments(1);
    s.now = us(42_400);
    let ack = s.down(0, 0, MSS);
    s.forwards_with(Side::Wired, &ack, set(42));
    assert_eq!(s.stats().wired_rtt, Some(Span::from_micros(42_400)));
    assert_eq!((s.stats().options_written, s.gateway.counters().options_written), (1, 1));
}

#[test]
fn a_long_round_trip_is_clamped() {
    let mut s = after_segments(1);
    s.now = ms(70_000);
    let ack = s.down(0, 0, MSS);
    s.forwards_with(Side::Wired, &ack, set(65_535));
}

#[test]
fn a_delayed_ack_is_timed_by_the_oldest_segment_it_covers() {
    let mut s = after_segments(4);
    s.now = ms(100);
    let ack = s.down(0, 0, 2 * MSS);
    s.forwards_with(Side::Wired, &ack, set(100));
    s.now = ms(110);
    let ack = s.down(0, 0, 4 * MSS);
    s.forwards_with(Side::Wired, &ack, set(108));
}

#[test]
fn duplicates_and_old_acks_carry_nothing() {
    let mut s = after_segments(2);
    s.now = ms(50);
    let ack = s.down(0, 0, MSS);
    s.forwards_with(Side::Wired, &ack, set(50));
    for _ in 0..3 {
        s.forwards(Side::Wired, &ack);
    }
    let old = s.down(0, 0, 0);
    s.forwards(Side::Wired, &old);
}

#[test]
fn a_retransmitted_segment_gives_no_option() {
    let mut s = after_segments(2);
    s.now = ms(200);
    let again = s.up(0, MSS, 0);
    s.forwards(Side::Wireless, &again);
    s.now = ms(240);
    let ack = s.down(0, 0, MSS);
    s.forwards(Side::Wired, &ack);
    let ack = s.down(0, 0, 2 * MSS);
    s.forwards_with(Side::Wired, &ack, set(239));
}

#[test]
fn data_never_seen_gives_no_option() {
    let mut s = after_segments(1);
    s.now = ms(50);
    let optimistic = s.down(0, 0, 5 * MSS);
    s.forwards(Side::Wired, &optimistic);
    // The gap before segment 2 was never seen here, so the oldest newly acknowledged segment has no time.
    let data = s.up(2 * MSS, MSS, 0);
    s.forwards(Side::Wireless, &data);
    s.now = ms(60);
    let ack = s.down(0, 0, MSS);
    s.forwards_with(Side::Wired, &ack, set(60));
    let ack = s.down(0, 0, 3 * MSS);
    s.forwards(Side::Wired, &ack);
    assert_eq!(s.stats().options_written, 1);
}

#[test]
fn only_a_pure_ack_with_room_carries_it() {
    let mut s = after_segments(3);
    s.now = ms(50);
    let with_data = s.down(0, 100, MSS);
    s.forwards(Side::Wired, &with_data);
    // Timestamps 12 and two SACK blocks 20 leave exactly 8 of 40 bytes, a third block none.
    let block = |n: u32| Some((Seq(n), Seq(n + 1)));
    let timestamps = Some(Timestamps { value: 1, echo: 2 });
    let two = Options { timestamps, sack: [block(1), block(3), None, None], ..Options::default() };
    let ack = Segment { options: two, ..s.down(100, 0, 2 * MSS) };
    s.forwards_with(Side::Wired, &ack, set(49));
    let three = Options { sack: [block(1), block(3), block(5), None], ..two };
    let ack = Segment { options: three, ..s.down(100, 0, 3 * MSS) };
    s.forwards(Side::Wired, &ack);
}

#[test]
fn an_option_from_outside_is_removed_or_replaced() {
    let mut s = after_segments(1);
    let forged = Options { rtt_wired: Some(Span::from_millis(1)), ..Options::default() };
    s.now = ms(30);
    let stale = Segment { options: forged, ..s.down(0, 0, 0) };
    s.forwards_with(Side::Wired, &stale, RttOption::Strip);
    let ack = Segment { options: forged, ..s.down(0, 0, MSS) };
    s.forwards_with(Side::Wired, &ack, set(30));
    let data = Segment { options: forged, ..s.up(MSS, MSS, 0) };
    s.forwards_with(Side::Wireless, &data, RttOption::Strip);
    s.flow = 9;
    let unknown = Segment { options: forged, ..s.down(0, 0, 0) };
    s.forwards_with(Side::Wired, &unknown, RttOption::Strip);
}

#[test]
fn a_new_gateway_adopts_the_flow_at_its_first_data() {
    let mut s = Script::new(config());
    let ack = s.down(0, 0, 40 * MSS);
    s.forwards(Side::Wired, &ack);
    assert_eq!(s.gateway.flow_count(), 0, "an ACK alone makes no state");
    let data = s.up(50 * MSS, MSS, 0);
    s.forwards(Side::Wireless, &data);
    s.now = ms(20);
    let ack = s.down(0, 0, 45 * MSS);
    s.forwards(Side::Wired, &ack);
    let ack = s.down(0, 0, 51 * MSS);
    s.forwards_with(Side::Wired, &ack, set(20));
}

#[test]
fn goodput_and_round_trips_are_counted() {
    let mut s = after_segments(1);
    s.now = ms(1000);
    let ack = s.down(0, 0, MSS);
    s.forwards_with(Side::Wired, &ack, set(1000));
    assert_eq!(s.gateway.round_trips().wired.total(), Span::from_secs(1));
    assert_eq!(s.stats().goodput_up.unwrap().total(), Bytes(u64::from(MSS)));
}
