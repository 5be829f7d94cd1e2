//! Duplicate ACKs from the mesh: repairs from the cache (schemes.md 3.3, rules 1 to 5).

use crate::common::*;
use meshpace_gateway::{Config, DupAck, Side};
use meshpace_tcp::{Options, Segment};
use meshpace_units::Seq;

/// `n` segments went down at 0 ms; the first is lost on the mesh. The handshake's ACK named the same number.
fn with_a_hole(dupack: DupAck, n: u32) -> (Script, Vec<Packet>) {
    let mut s = Script::established(Config { dupack, ..config() });
    let packets = (0..n).map(|i| s.down(i * MSS, MSS, 0)).collect::<Vec<_>>();
    let packets = packets.iter().map(|p| s.forwards(Side::Wired, p)).collect();
    s.now = ms(40);
    (s, packets)
}

#[test]
fn the_first_duplicate_repairs_once_and_the_next_are_kept() {
    let (mut s, packets) = with_a_hole(DupAck::Snoop, 5);
    let duplicate = s.ack(0);
    s.consumes(&duplicate);
    s.retransmits(&packets[..1]);
    for at in [41, 60, 89] {
        s.now = ms(at);
        s.consumes(&duplicate);
        s.retransmits(&[]);
    }
    // 50 ms after the first attempt (no round trip known yet): the second, and 50 ms later the sender takes over.
    s.now = ms(90);
    s.consumes(&duplicate);
    s.retransmits(&packets[..1]);
    s.now = ms(139);
    s.consumes(&duplicate);
    for at in [140, 141] {
        s.now = ms(at);
        s.forwards(Side::Wireless, &duplicate);
        s.retransmits(&[]);
    }
    assert_eq!(s.stats().local_retransmissions, 2);
}

#[test]
fn the_guard_follows_the_round_trip() {
    let mut s = Script::established(config());
    let base = s.sample(0, 100); // guard 150 ms
    let data = s.down(base, MSS, 0);
    let packet = s.forwards(Side::Wired, &data);
    let duplicate = s.ack(base);
    s.now = ms(200);
    s.consumes(&duplicate);
    s.retransmits(&[packet]);
    s.now = ms(349);
    s.consumes(&duplicate);
    s.retransmits(&[]);
    s.now = ms(350);
    s.consumes(&duplicate);
    s.retransmits(&[packet]);
}

#[test]
fn a_new_hole_is_a_new_matter_and_its_ack_gives_no_sample() {
    let (mut s, packets) = with_a_hole(DupAck::Snoop, 5);
    let duplicate = s.ack(0);
    s.consumes(&duplicate);
    s.retransmits(&packets[..1]);
    s.now = ms(80);
    let partial = s.ack(2 * MSS);
    s.forwards(Side::Wireless, &partial);
    assert_eq!(s.stats().samples, (0, 0), "the latest segment covered was sent twice");
    s.consumes(&partial);
    s.retransmits(&packets[2..3]);
}

#[test]
fn a_repair_takes_the_token() {
    let mut s = Script::established(config());
    let base = s.sample(0, 40);
    let (first, second) = (s.down(base, MSS, 0), s.down(base + MSS, MSS, 0));
    let lost = s.forwards(Side::Wired, &first);
    let held = s.holds(&second);
    s.now = ms(60);
    let duplicate = s.ack(base);
    s.consumes(&duplicate);
    s.retransmits(&[lost]);
    let interval = s.stats().interval.unwrap();
    assert_eq!(s.run_until(ms(300)), [(ms(60) + interval, held)], "not at 40 ms plus the interval");
}

#[test]
fn what_looks_like_a_duplicate_but_is_none_goes_on() {
    let (mut s, _) = with_a_hole(DupAck::Snoop, 3);
    let window_update = Segment { window: WINDOW + 1, ..s.ack(0) };
    s.forwards(Side::Wireless, &window_update);
    let with_data = Segment { window: WINDOW + 1, ..s.up(0, 100, 0) };
    s.forwards(Side::Wireless, &with_data);
    let fin = Segment { flags: FIN_ACK, ..s.up(100, 0, 0) };
    s.forwards(Side::Wireless, &fin);
    let keep_alive = Segment { seq: Seq(WIRELESS_ISN), ..s.ack(0) };
    s.forwards(Side::Wireless, &keep_alive);
    let all = s.up(101, 0, 3 * MSS);
    s.forwards(Side::Wireless, &all);
    s.forwards(Side::Wireless, &all); // nothing is outstanding: nothing is missing
    s.retransmits(&[]);
}

#[test]
fn a_hole_that_is_not_cached_is_the_senders() {
    // Held here, not yet sent: the hole cannot be the mesh's fault.
    let mut s = Script::established(config());
    let base = s.sample(0, 40);
    let (first, third) = (s.down(base, MSS, 0), s.down(base + 2 * MSS, MSS, 0));
    s.forwards(Side::Wired, &first);
    s.now = ms(100);
    s.forwards(Side::Wired, &third); // the second was lost before the gateway
    let partial = s.ack(base + MSS);
    s.forwards(Side::Wireless, &partial);
    for _ in 0..3 {
        s.forwards(Side::Wireless, &partial);
    }
    s.retransmits(&[]);
}

#[test]
fn sack_bounds_the_hole_and_d_sack_alone_is_none() {
    let (mut s, packets) = with_a_hole(DupAck::Snoop, 4);
    let at = |bytes: u32| Seq(WIRED_ISN) + 1 + bytes;
    let sack = |blocks: [Option<(Seq, Seq)>; 4]| Options { sack: blocks, ..Options::default() };
    let duplicate_data = sack([Some((at(0) + u32::MAX, at(0))), None, None, None]);
    let d_sack = Segment { options: duplicate_data, ..s.ack(0) };
    s.forwards(Side::Wireless, &d_sack);
    s.retransmits(&[]);
    // A block that begins inside the first segment: not that segment is missing.
    let inside = Segment { options: sack([Some((at(700), at(MSS))), None, None, None]), ..s.ack(0) };
    s.forwards(Side::Wireless, &inside);
    let blocks = [Some((at(3 * MSS), at(4 * MSS))), Some((at(MSS), at(2 * MSS))), None, None];
    let hole = Segment { options: sack(blocks), ..s.ack(0) };
    s.consumes(&hole);
    s.retransmits(&packets[..1]);
    s.consumes(&hole); // once a hole
    s.retransmits(&[]);
}

#[test]
fn literal_resends_at_each_and_off_forwards_each() {
    let (mut s, packets) = with_a_hole(DupAck::Literal, 3);
    let duplicate = s.ack(0);
    for _ in 0..5 {
        s.consumes(&duplicate);
        s.retransmits(&packets[..1]);
    }
    let (mut s, _) = with_a_hole(DupAck::Off, 3);
    for _ in 0..5 {
        s.forwards(Side::Wireless, &duplicate);
    }
    s.retransmits(&[]);
    assert_eq!(s.gateway.buffered().0, 0, "nothing is cached");
}

#[test]
fn without_the_handshake_there_is_no_service() {
    let mut s = Script::new(config());
    let packets: Vec<_> = (0..3).map(|i| s.down(i * MSS, MSS, 0)).collect();
    for packet in &packets {
        s.forwards(Side::Wired, packet);
    }
    s.now = ms(40);
    let first = s.ack(MSS);
    for _ in 0..4 {
        s.forwards(Side::Wireless, &first);
    }
    s.retransmits(&[]);
}

#[test]
fn the_cache_is_given_back_with_the_acks() {
    let (mut s, _) = with_a_hole(DupAck::Snoop, 5);
    assert_eq!(s.gateway.buffered().0, 5 * 1500);
    let ack = s.ack(2 * MSS);
    s.forwards(Side::Wireless, &ack);
    assert_eq!((s.gateway.buffered().0, s.gateway.segments()), (3 * 1500, 3));
    // The sender repeats one of them: its copy takes the place of the earlier one.
    let again = s.down(3 * MSS, MSS, 0);
    s.forwards(Side::Wired, &again);
    assert_eq!(s.gateway.buffered().0, 3 * 1500);
    let all = s.ack(5 * MSS);
    s.forwards(Side::Wireless, &all);
    assert_eq!((s.gateway.buffered().0, s.gateway.segments(), s.stats().buffered.0), (0, 0, 0));
}
