//! Closing, resetting, probing.

use super::script::{ISS, Out, PEER_ISS, Script, ack, data, ms};
use crate::{Closing, Config, Connection, Event, KeepAlive, State, WriteError, reset_for};
use alloc::boxed::Box;
use meshpace_units::Span;

fn config() -> Config {
    Config { timestamps: false, acknowledgements: Box::new(crate::Every), nagle: false, ..Config::rfc() }
}

fn established() -> Script {
    Script::established(config())
}

fn fin(s: &mut Script, at: u64, offset: u64, acked: u64) {
    s.peer = 1 + offset;
    s.raw(at, |segment| {
        segment.flags.fin = true;
        segment.ack = ISS + 1 + acked as u32;
    });
    s.peer += 1;
}

fn close(s: &mut Script, at: u64) {
    s.app(at, Connection::close);
}

#[test]
fn we_close_first() {
    let mut s = established();
    s.write(0, 100);
    close(&mut s, 1);
    s.expect_until(1, &[(0, data(0..100)), (1, data(100..100).fin())]);
    assert_eq!(s.app(2, |tcp| tcp.write(1)), Err(WriteError::Closed));
    s.ack(10, 101);
    assert_eq!(s.tcp.state(), State::FinWait2);
    s.data(20, 0..50, 101); // the peer may still send
    s.expect(20, &[ack(50)]);
    fin(&mut s, 30, 50, 101);
    s.expect(30, &[ack(51)]);
    assert_eq!(s.tcp.state(), State::TimeWait);
    // A repeated FIN is acknowledged and restarts the wait.
    fin(&mut s, 20_000, 50, 101);
    s.expect(20_000, &[ack(51)]);
    s.expect(79_999, &[]);
    assert_eq!(s.tcp.state(), State::TimeWait);
    s.advance(ms(80_000));
    assert_eq!(s.tcp.state(), State::Closed);
    assert_eq!(s.events, [Event::Drained, Event::PeerFinished, Event::Closed(Closing::Finished)]);
    assert_eq!(s.tcp.poll_timeout(), None);
}

#[test]
fn a_reset_after_both_have_finished_takes_nothing_back() {
    let mut s = established();
    s.write(0, 100);
    close(&mut s, 1);
    s.ack(10, 101);
    fin(&mut s, 30, 0, 101);
    s.out.clear();
    s.raw(40, |segment| {
        segment.flags.rst = true;
        segment.seq = PEER_ISS + 2;
    });
    s.expect(40, &[]);
    assert_eq!(s.tcp.state(), State::Closed);
    assert_eq!(s.events, [Event::Drained, Event::PeerFinished, Event::Closed(Closing::Finished)]);
}

#[test]
fn what_is_written_before_the_handshake_is_sent_though_we_close_before_it_too() {
    for config in [config(), Config::ns2()] {
        let mut tcp = Connection::connect(config, crate::Ports { local: 1024, remote: 80 }, ISS, ms(0));
        tcp.write(100).expect("it is open");
        tcp.close();
        assert_eq!((tcp.state(), tcp.unsent()), (State::SynSent, Some(100)));
        assert!(tcp.poll_transmit(ms(0)).is_some_and(|syn| syn.segment.flags.syn));
    }
    for endless in [false, true] {
        let mut tcp = Connection::connect(config(), crate::Ports { local: 1024, remote: 80 }, ISS, ms(0));
        if endless {
            tcp.write_endless().expect("it is open");
        }
        tcp.close();
        assert_eq!(tcp.state(), State::Closed);
        assert!(tcp.poll_transmit(ms(0)).is_none());
    }
}

#[test]
fn the_peer_closes_first() {
    let mut s = established();
    s.data(0, 0..10, 0);
    s.out.clear();
    fin(&mut s, 1, 10, 0);
    s.expect(1, &[ack(11)]);
    assert_eq!((s.tcp.state(), s.tcp.delivered()), (State::CloseWait, 10));
    s.write(2, 5);
    s.expect(2, &[data(0..5)]);
    s.app(3, |tcp| tcp.write(5)).unwrap();
    close(&mut s, 3);
    s.expect(3, &[data(5..10), data(10..10).fin()]);
    assert_eq!(s.tcp.state(), State::LastAck);
    s.ack(4, 11);
    assert_eq!(s.tcp.state(), State::Closed);
    assert_eq!(s.events, [Event::PeerFinished, Event::Drained, Event::Closed(Closing::Finished)]);
}

#[test]
fn both_close_at_once() {
    // RFC 9293, section 3.6, figure 13.
    let mut s = established();
    close(&mut s, 0);
    s.expect(0, &[data(0..0).fin()]);
    fin(&mut s, 1, 0, 0);
    s.expect(1, &[ack(1)]);
    assert_eq!(s.tcp.state(), State::Closing);
    s.ack(2, 1);
    assert_eq!(s.tcp.state(), State::TimeWait);
}

#[test]
fn a_fin_that_acknowledges_ours() {
    let mut s = established();
    close(&mut s, 0);
    s.out.clear();
    fin(&mut s, 1, 0, 1);
    s.expect(1, &[ack(1)]);
    assert_eq!(s.tcp.state(), State::TimeWait);
}

#[test]
fn a_fin_before_its_data_waits() {
    let mut s = established();
    fin(&mut s, 0, 10, 0);
    s.expect(0, &[ack(0)]);
    assert_eq!(s.tcp.state(), State::Established);
    s.data(1, 0..10, 0);
    s.expect(1, &[ack(11)]);
    assert_eq!(s.tcp.state(), State::CloseWait);
}

#[test]
fn a_lost_fin_is_repeated_with_what_it_followed() {
    let mut s = established();
    s.write(0, 100);
    close(&mut s, 1);
    s.out.clear();
    // The minimum timeout of RFC 6298 is a second.
    s.expect_until(1_100, &[(1_000, data(0..100).fin())]);
    s.ack(1_200, 100);
    assert_eq!(s.tcp.state(), State::FinWait1);
    s.expect_until(4_000, &[(3_200, data(100..100).fin())]);
    s.ack(4_001, 101);
    assert_eq!(s.tcp.state(), State::FinWait2);
}

#[test]
fn closing_while_opening() {
    let mut s = Script::connect(config());
    s.app(0, |tcp| tcp.write(10)).unwrap();
    close(&mut s, 0);
    s.expect(0, &[Out::syn()]);
    s.raw(5, |segment| segment.flags.syn = true);
    s.expect(5, &[data(0..10).fin()]);
    assert_eq!(s.tcp.state(), State::FinWait1);
}

#[test]
fn closing_an_endless_stream_ends_it_at_what_was_sent() {
    let mut s = Script::established(Config::ns2());
    s.write_endless(0);
    s.out.clear();
    close(&mut s, 10);
    s.expect(10, &[data(2920..2920).fin()]);
    s.ack(20, 2921);
    assert_eq!((s.tcp.state(), s.tcp.unsent()), (State::FinWait2, Some(0)));
}

#[test]
fn an_endless_stream_may_rest_and_go_on() {
    let mut s = Script::established(Config::ns2());
    s.write_endless(0);
    s.out.clear();
    s.tcp.write_no_more();
    s.ack(20, 2920);
    s.expect(20, &[]);
    assert_eq!((s.tcp.state(), s.tcp.unsent()), (State::Established, Some(0)));
    s.write_endless(500);
    // After the rest the window starts anew, as ns-2's does.
    s.expect(500, &[data(2920..4380)]);
    assert_eq!(s.tcp.unsent(), None);
    s.tcp.write_no_more();
    s.tcp.write_no_more();
    assert_eq!(s.tcp.state(), State::Established);
}

#[test]
fn resets_are_exact() {
    // RFC 5961, section 3.2.
    let mut s = established();
    s.data(0, 0..100, 0);
    s.out.clear();
    let mut reset = |at, offset: u32| {
        s.raw(at, |segment| {
            segment.flags.rst = true;
            segment.seq = PEER_ISS + 1 + offset;
        });
        s.expect(at, &[]);
        s.tcp.state()
    };
    assert_eq!(reset(1, 99), State::Established, "outside the window: ignored");
    assert_eq!(reset(3, 100), State::Closed);
    assert_eq!(s.events, [Event::Closed(Closing::Reset)]);
}

#[test]
fn a_reset_inside_the_window_is_challenged() {
    let mut s = established();
    s.raw(0, |segment| {
        segment.flags.rst = true;
        segment.seq = PEER_ISS + 50;
    });
    s.expect(0, &[ack(0)]);
    // So is a SYN, wherever it is (section 4.2), and an acknowledgement of the future (section 5.2).
    s.raw(1, |segment| segment.flags.syn = true);
    s.expect(1, &[ack(0)]);
    s.raw(2, |segment| segment.ack = ISS + 5_000);
    s.expect(2, &[ack(0)]);
    assert_eq!(s.tcp.state(), State::Established);
    // Ten a second (section 7).
    for at in 3..100 {
        s.raw(at, |segment| segment.flags.syn = true);
    }
    assert_eq!(s.out.len(), 7);
    s.out.clear();
    s.raw(1_500, |segment| segment.flags.syn = true);
    s.expect(1_500, &[ack(0)]);
}

#[test]
fn an_old_acknowledgement_carries_no_data_in() {
    // RFC 5961, section 5.2: below what any window could explain.
    let mut s = established();
    s.raw(0, |segment| {
        segment.payload = 10;
        segment.ack = ISS + 1 + 0xF000_0000;
    });
    s.expect(0, &[ack(0)]);
    assert_eq!(s.tcp.delivered(), 0);
}

#[test]
fn aborting() {
    let mut s = established();
    s.write(0, 100);
    s.out.clear();
    s.app(1, Connection::abort);
    let reset = s.out.pop().unwrap().1.segment;
    assert!(reset.flags.rst && reset.seq == ISS + 101);
    assert_eq!(
        (s.tcp.state(), s.events.as_slice()),
        (State::Closed, [Event::Closed(Closing::Aborted)].as_slice())
    );
    // What still comes is answered with a reset, a reset with nothing.
    s.raw(2, |segment| segment.ack = ISS + 51);
    let reset = s.out.pop().unwrap().1.segment;
    assert!(reset.flags.rst && !reset.flags.ack && reset.seq == ISS + 51);
    assert_eq!(reset_for(&reset), None);
}

#[test]
fn a_closed_window_is_probed() {
    let mut s = established();
    s.window = 0;
    s.ack(0, 0);
    s.write(1, 5_000);
    // RTO 1 s after the handshake, doubling; the probe is one below what was acknowledged.
    s.advance(ms(7_100));
    let probes: alloc::vec::Vec<_> =
        s.out.drain(..).map(|(at, out)| (at, out.segment.seq, out.segment.payload)).collect();
    assert_eq!(probes, [1_001, 3_001, 7_001].map(|at| (ms(at), ISS, 0)));
    // Each answered probe says that the peer lives; opening starts the data.
    s.window = u16::MAX;
    s.ack(7_200, 0);
    s.expect(7_200, &[data(0..1460), data(1460..2920), data(2920..4380)]);
    assert_eq!(s.tcp.counters().timeouts, 0);
}

#[test]
fn a_lost_window_update_is_found_by_probing() {
    let mut s = established();
    s.write(0, 2_000);
    s.expect(0, &[data(0..1460), data(1460..2000)]);
    s.window = 0;
    s.ack(10, 2_000);
    s.write(20, 100);
    s.expect_until(1_100, &[(1_020, data(0..0))]);
}

#[test]
fn a_silly_window_is_used_after_a_while() {
    // RFC 9293, section 3.8.6.2.1: less than a segment and than half the largest window.
    let mut s = established();
    s.window = 100 / 4;
    s.ack(0, 0);
    s.write(1, 5_000);
    s.expect_until(1_100, &[(1_001, data(0..100))]);
    s.ack(1_200, 100);
    s.expect_until(2_300, &[(2_200, data(100..200))]);
}

#[test]
fn a_retransmission_goes_into_a_closed_window() {
    let mut s = established();
    s.write(0, 2_000);
    s.out.clear();
    s.window = 0;
    s.ack(1, 0);
    s.expect_until(1_100, &[(1_000, data(0..1460))]);
}

#[test]
fn keep_alive() {
    let keep_alive = KeepAlive { idle: Span::from_secs(10), interval: Span::from_secs(2), probes: 2 };
    let mut s = Script::established(Config { keep_alive: Some(keep_alive), ..config() });
    s.advance(ms(10_500));
    assert_eq!(s.out.pop().unwrap().1.segment.seq, ISS);
    s.ack(10_600, 0);
    s.expect(20_599, &[]);
    s.advance(ms(30_000));
    let at: alloc::vec::Vec<_> = s.out.iter().map(|(at, out)| (*at, out.segment.flags.rst)).collect();
    assert_eq!(at, [(ms(20_600), false), (ms(22_600), false), (ms(24_600), true)]);
    assert_eq!(s.events, [Event::Closed(Closing::TimedOut)]);
}

/// A driver that was stopped for long (a suspended machine) asks once, late, and waits for the answer.
#[test]
fn keep_alive_after_a_pause() {
    let keep_alive = KeepAlive { idle: Span::from_secs(10), interval: Span::from_secs(2), probes: 2 };
    let mut s = Script::established(Config { keep_alive: Some(keep_alive), ..config() });
    s.now = ms(60_000);
    s.advance(ms(60_000));
    assert_eq!((s.out.len(), s.tcp.poll_timeout()), (1, Some(ms(62_000))));
    s.ack(60_100, 0);
    s.out.clear();
    s.expect(70_099, &[]);
    assert_eq!(s.events, []);
}
