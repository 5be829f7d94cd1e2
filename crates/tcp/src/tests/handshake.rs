//! Opening a connection.

use super::script::{ISS, MSS, Out, PEER_ISS, Script, ack, data, ms, segment, segments};
use crate::{Config, Connection, Event, Flags, HeaderSize, Options, Segment, State, Timestamps};
use meshpace_units::{Bytes, Seq};

fn syn_ack(segment: &mut Segment) {
    segment.flags = Flags { syn: true, ack: true, ..Flags::default() };
}

fn full_size_syn_ack(segment: &mut Segment) {
    syn_ack(segment);
    segment.options.mss = Some(1460);
}

fn plain_rfc() -> Config {
    Config { timestamps: false, ..Config::rfc() }
}

#[test]
fn ns2_has_no_third_packet() {
    let mut s = Script::connect(Config::ns2());
    s.expect(0, &[Out::syn()]);
    s.write_endless(5);
    s.expect(9, &[]);
    s.raw(40, full_size_syn_ack);
    // schemes.md 16: alone with cwnd 1, its ACK sets cwnd 2; the data complete the handshake.
    s.expect(40, &segments(1..=2));
    assert_eq!((s.tcp.state(), s.cwnd(), s.tcp.ssthresh()), (State::Established, 2.0, Some(20.0)));
    assert_eq!(s.events, [Event::Connected]);
    assert_eq!(s.tcp.counters().data_segments, 2);
}

#[test]
fn ns2_without_data_says_nothing() {
    let mut s = Script::connect(Config::ns2());
    s.expect(0, &[Out::syn()]);
    s.raw(40, full_size_syn_ack);
    s.expect(10_000, &[]);
}

#[test]
fn a_lost_syn_in_ns2_costs_window_and_threshold() {
    let mut s = Script::connect(Config::ns2());
    s.write_endless(0);
    s.expect_until(9_100, &[(0, Out::syn()), (3_000, Out::syn()), (9_000, Out::syn())]);
    s.peer = 0;
    s.raw(9_200, full_size_syn_ack);
    s.expect(9_200, &[segment(1)]);
    assert_eq!((s.cwnd(), s.tcp.ssthresh()), (1.0, Some(2.0)));
    // The back-off lasts until a timed segment is acknowledged: 3 s x 4.
    s.expect_until(21_300, &[(21_200, segment(1))]);
    assert_eq!(s.tcp.counters().timeouts, 3);
}

#[test]
fn ns2_listener_repeats_its_answer_only_to_a_repeated_syn() {
    let mut s = Script::listen(Config::ns2());
    let syn = |segment: &mut Segment| segment.flags = Flags { syn: true, ..Flags::default() };
    s.raw(0, syn);
    s.expect(0, &[Out::syn_ack()]);
    assert_eq!(s.tcp.state(), State::Established);
    s.expect(60_000, &[]);
    s.raw(60_001, syn);
    s.expect(60_001, &[Out::syn_ack()]);
    s.peer = 1;
    s.data(60_050, 0..1460, 0);
    s.expect(60_050, &[ack(1460)]);
    s.peer = 0;
    s.raw(60_060, syn); // a late copy
    s.expect(60_060, &[ack(1460)]);
}

#[test]
fn three_way() {
    let mut s = Script::connect(plain_rfc());
    s.expect(0, &[Out::syn()]);
    s.raw(30, syn_ack);
    s.expect(30, &[ack(0)]);
    s.write(31, 100);
    s.expect(31, &[data(0..100)]);

    let mut s = Script::listen(plain_rfc());
    s.raw(0, |segment| segment.flags = Flags { syn: true, ..Flags::default() });
    s.expect(0, &[Out::syn_ack()]);
    assert_eq!(s.tcp.state(), State::SynReceived);
    s.expect_until(3_500, &[(1_000, Out::syn_ack()), (3_000, Out::syn_ack())]);
    s.peer = 1;
    s.ack(3_600, 0);
    s.expect(9_999, &[]);
    assert_eq!((s.tcp.state(), s.events.as_slice()), (State::Established, [Event::Connected].as_slice()));
    // RFC 5681, section 3.1: a lost SYN or SYN-ACK leaves one segment; RFC 6298, rule 5.7: 3 s.
    s.write(10_000, 5_000);
    s.expect(10_000, &[data(0..536)]);
    s.expect_until(13_100, &[(13_000, data(0..536))]);
}

#[test]
fn data_carry_the_acknowledgement_of_the_syn_ack_but_for_linux() {
    // tcp_rcv_synsent_state_process acknowledges before anything is written.
    for (bare_handshake, expected) in [(false, [data(0..100)].as_slice()), (true, &[ack(0), data(0..100)])] {
        let mut s = Script::connect(Config { bare_handshake, ..plain_rfc() });
        s.write(0, 100);
        s.expect(0, &[Out::syn()]);
        s.raw(30, syn_ack);
        s.expect(30, expected);
    }
}

#[test]
fn a_lost_syn_keeps_the_rfc_threshold() {
    let mut s = Script::connect(plain_rfc());
    s.expect_until(1_100, &[(0, Out::syn()), (1_000, Out::syn())]);
    s.raw(1_200, syn_ack);
    assert_eq!((s.cwnd(), s.tcp.ssthresh()), (1.0, None));
}

#[test]
fn simultaneous_open() {
    // RFC 9293, section 3.5, figure 7.
    let mut s = Script::connect(plain_rfc());
    s.expect(0, &[Out::syn()]);
    s.raw(10, |segment| segment.flags = Flags { syn: true, ..Flags::default() });
    s.expect(10, &[Out::syn_ack()]);
    s.raw(20, syn_ack);
    s.expect(20, &[ack(0)]);
    s.peer = 1;
    s.ack(21, 0);
    assert_eq!(s.tcp.state(), State::Established);
}

#[test]
fn refused_and_unanswered() {
    let mut s = Script::connect(plain_rfc());
    s.raw(10, |segment| {
        (segment.flags, segment.ack) = (Flags { rst: true, ack: true, ..Flags::default() }, ISS + 7);
    });
    assert_eq!(s.tcp.state(), State::SynSent, "a reset that does not acknowledge the SYN means nothing");
    s.raw(11, |segment| segment.flags = Flags { rst: true, ack: true, ..Flags::default() });
    assert_eq!(s.events, [Event::Closed(crate::Closing::Refused)]);

    let mut s = Script::connect(Config { syn_retries: Some(2), ..plain_rfc() });
    s.expect_until(100_000, &[(0, Out::syn()), (1_000, Out::syn()), (3_000, Out::syn())]);
    assert_eq!(s.events, [Event::Closed(crate::Closing::TimedOut)]);
}

#[test]
fn a_half_open_peer_is_reset() {
    // RFC 9293, section 3.5, figure 9.
    let mut s = Script::connect(plain_rfc());
    s.expect(0, &[Out::syn()]);
    s.raw(10, |segment| segment.ack = ISS + 400);
    let reset = s.out.pop().unwrap().1.segment;
    assert!(reset.flags.rst && reset.seq == ISS + 400);
    assert_eq!(s.tcp.state(), State::SynSent);
    let mut s = Script::listen(plain_rfc());
    s.raw(10, |_| {});
    assert!(s.out.pop().unwrap().1.segment.flags.rst);
}

#[test]
fn options_are_agreed_on() {
    let mut s = Script::connect(Config { receive_buffer: 300_000, ..Config::rfc() });
    let syn = s.out.pop().unwrap().1.segment;
    assert_eq!((syn.options.mss, syn.options.window_scale, syn.window), (Some(1460), Some(3), u16::MAX));
    assert_eq!(syn.header_length(), 40);
    s.options = Options {
        mss: Some(1400),
        window_scale: Some(7),
        timestamps: Some(Timestamps { value: 99, echo: 0 }),
        sack_permitted: true,
        ..Options::default()
    };
    s.window = 1_000;
    s.raw(5, syn_ack);
    let third = s.out.pop().unwrap().1.segment;
    assert_eq!(third.options.timestamps, Some(Timestamps { value: 5, echo: 99 }));
    assert_eq!((third.window, third.options.mss), (37_500, None), "300,000 bytes in units of 8");
    assert_eq!(s.tcp.mss(), 1388, "RFC 6691: options come off the segment");
    // The peer's window is not scaled in its SYN, and is afterwards.
    s.peer = 1;
    s.options = Options { timestamps: Some(Timestamps { value: 100, echo: 5 }), ..Options::default() };
    s.write_endless(6);
    s.expect(6, &[data(0..1000)]);
    s.ack(7, 1000);
    s.expect(7, &[data(1000..2388), data(2388..3776), data(3776..5164)]);
}

#[test]
fn a_peer_without_options_gets_none() {
    let mut s = Script::connect(Config { receive_buffer: 300_000, ..Config::rfc() });
    s.raw(5, syn_ack);
    let third = s.out.pop().unwrap().1.segment;
    assert_eq!((third.options, third.window), (Options::default(), u16::MAX));
    assert_eq!(s.tcp.mss(), 536);
    let mut s = Script::listen(Config::rfc());
    s.raw(0, |segment| segment.flags = Flags { syn: true, ..Flags::default() });
    let answer = s.out.pop().unwrap().1.segment;
    assert_eq!(answer.options, Options { mss: Some(1460), ..Options::default() });
}

#[test]
fn sizes_on_the_wire() {
    let mut flat = Script::connect(Config::ns2());
    let syn = flat.out.pop().unwrap().1.segment;
    assert!(
        syn.options.window_scale.is_some(),
        "64 segments need scaling; the option is outside the 40 bytes"
    );
    assert_eq!(HeaderSize::Flat.wire_length(&syn), Bytes(40));
    assert_eq!(HeaderSize::Real.wire_length(&syn), Bytes(48));
    let full = Segment { payload: 1460, options: Options::default(), ..syn };
    assert_eq!(flat.tcp.wire_length(&full), Bytes(1500));
}

#[test]
fn a_listener_ignores_what_is_no_syn() {
    let mut tcp = Connection::listen(plain_rfc(), 80, ISS);
    let mut s = Script::listen(plain_rfc());
    s.raw(0, |segment| segment.flags = Flags { rst: true, ..Flags::default() });
    s.raw(0, |segment| segment.flags = Flags::default());
    s.expect(0, &[]);
    assert_eq!(s.tcp.state(), State::Listen);
    tcp.close();
    assert_eq!(tcp.state(), State::Closed);
}

#[test]
fn offsets_survive_the_wrap() {
    let mut s = Script::established(Config::ns2());
    s.write_endless(0);
    let (first, second) = (s.out[0].1.segment, s.out[1].1.segment);
    assert!(second.seq.0 < first.seq.0, "the first segment crosses the wrap");
    assert_eq!(s.tcp.send_offset(second.seq), Some(MSS));
    s.data(1, 0..3_000, 0);
    assert_eq!(s.tcp.receive_offset(PEER_ISS + 2_001), Some(2_000));
    assert_eq!(s.tcp.send_offset(ISS + 0), None);
    assert_eq!(s.tcp.receive_offset(Seq(PEER_ISS.0 - 5)), None);
    assert_eq!(s.now, ms(1));
}
