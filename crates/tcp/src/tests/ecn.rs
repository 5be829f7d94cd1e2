//! Explicit congestion notification: exact segment lists, after RFC 3168, section 6.1.

use super::script::{MSS, Out, Script, ack, data, segment};
use crate::control::{InitialWindow, Rules, newreno, sack_reno, tahoe};
use crate::{Config, Control, Flags, Segment};
use alloc::vec::Vec;
use core::ops::RangeInclusive;
use meshpace_units::Ecn;

/// Segments of 1,460 bytes, no timestamps, a minimum timeout of 200 ms.
fn config() -> Config {
    let rto = crate::RtoConfig::Smoothed(crate::SmoothedConfig::LINUX);
    Config { timestamps: false, ecn: true, rto, ..Config::rfc() }
}

fn rules(window: f64) -> Rules {
    Rules { initial_window: InitialWindow::Segments(window), ..Rules::RFC }
}

/// A connection that has agreed on ECN.
fn established(control: impl Control + 'static) -> Script {
    Script::established(config().controlled_by(control))
}

/// New data, which may be marked.
fn new(range: RangeInclusive<u64>) -> Vec<Out> {
    range.map(|n| segment(n).ect()).collect()
}

/// The peer acknowledges full segments up to number `n` and echoes a mark.
fn echo(s: &mut Script, at: u64, n: u64) {
    s.raw(at, |segment| {
        segment.ack = super::script::ISS + 1 + (n * MSS) as u32;
        segment.flags.ece = true;
    });
}

fn flags(segment: &mut Segment, syn_ack: bool, ece: bool, cwr: bool) {
    segment.flags = Flags { syn: true, ack: syn_ack, ece, cwr, ..Flags::NONE };
    segment.options.mss = Some(1460);
}

#[test]
fn both_sides_have_to_ask() {
    // Section 6.1.1: ECE and CWR in the SYN, ECE alone in the SYN-ACK; both are those of a host that reflects flags.
    for (ece, cwr, agreed) in
        [(true, false, true), (false, false, false), (true, true, false), (false, true, false)]
    {
        let mut s = Script::connect(config());
        s.expect(0, &[Out::syn().ece().cwr()]);
        s.raw(10, |segment| flags(segment, true, ece, cwr));
        s.expect(10, &[ack(0)]);
        s.peer = 1;
        s.write(11, 100);
        let expected = data(0..100);
        s.expect(11, &[if agreed { expected.ect() } else { expected }]);
    }
    let mut s = Script::connect(Config { ecn: false, ..config() });
    s.expect(0, &[Out::syn()]);
}

#[test]
fn a_listener_agrees_if_it_is_asked() {
    for (wanted, ece, cwr, agreed) in [
        (true, true, true, true),
        (true, true, false, false),
        (true, false, false, false),
        (false, true, true, false),
    ] {
        let mut s = Script::listen(Config { ecn: wanted, ..config() });
        s.raw(0, |segment| flags(segment, false, ece, cwr));
        s.expect(0, &[if agreed { Out::syn_ack().ece() } else { Out::syn_ack() }]);
        s.peer = 1;
        s.ack(1, 0);
        s.write(2, 100);
        s.expect(2, &[if agreed { data(0..100).ect() } else { data(0..100) }]);
    }
}

#[test]
fn a_lost_syn_is_repeated_without_asking() {
    // Section 6.1.1.1: perhaps it was dropped because it asked.
    let mut s = Script::connect(config());
    s.expect_until(1_100, &[(0, Out::syn().ece().cwr()), (1_000, Out::syn())]);
    // The answer to the first SYN was late. Nothing may be sent ECN-capable, but marks must be echoed (section 6.1.1).
    s.raw(1_200, |segment| flags(segment, true, true, false));
    s.peer = 1;
    s.write(1_201, 100);
    s.expect_until(1_201, &[(1_200, ack(0)), (1_201, data(0..100))]);
    s.ecn = Ecn::Ce;
    s.data(1_202, 0..1460, 100);
    s.data(1_203, 1460..2920, 100);
    s.expect(1_203, &[ack(2920).ece()]);
}

#[test]
fn a_listener_forgets_it_if_the_syn_is_repeated_without_asking() {
    let mut s = Script::listen(config());
    s.raw(0, |segment| flags(segment, false, true, true));
    s.raw(500, |segment| flags(segment, false, false, false));
    s.peer = 1;
    s.ack(510, 0);
    s.write(511, 100);
    s.expect_until(511, &[(0, Out::syn_ack().ece()), (500, Out::syn_ack()), (511, data(0..100))]);
}

#[test]
fn a_mark_is_echoed_until_the_peer_has_reduced_its_window() {
    let mut s = established(newreno(rules(4.0)));
    s.ecn = Ecn::Ect0;
    s.data(10, 0..1460, 0);
    s.data(11, 1460..2920, 0);
    s.expect(11, &[ack(2920)]);
    s.ecn = Ecn::Ce;
    s.data(12, 2920..4380, 0); // delayed: the echo waits with the acknowledgement
    s.ecn = Ecn::Ect0;
    s.data(13, 4380..5840, 0);
    s.expect(13, &[ack(5840).ece()]);
    // On data, too.
    s.write(14, 100);
    s.expect(14, &[data(0..100).ect().ece()]);
    s.data(15, 5840..7300, 100);
    s.data(16, 7300..8760, 100);
    s.expect(16, &[ack(8760).ece()]);
    let with_cwr = |s: &mut Script, at, from: u64| {
        s.peer = 1 + from + MSS;
        s.raw(at, |segment| {
            segment.seq = super::script::PEER_ISS + 1 + from as u32;
            (segment.payload, segment.ack, segment.flags.cwr) = (MSS as u32, super::script::ISS + 101, true);
        });
    };
    with_cwr(&mut s, 17, 8760);
    s.data(18, 10_220..11_680, 100);
    s.expect(18, &[ack(11_680)]);
    // The answer and the next mark in one packet.
    s.ecn = Ecn::Ce;
    with_cwr(&mut s, 19, 11_680);
    s.ecn = Ecn::Ect0;
    s.data(20, 13_140..14_600, 100);
    s.expect(20, &[ack(14_600).ece()]);
    assert_eq!(s.tcp.counters().marks, 2);
}

#[test]
fn marks_outside_the_window_and_without_data_are_ignored() {
    // Sections 6.1.4 and 6.1.5.
    let mut s = established(newreno(rules(4.0)));
    s.data(10, 0..1460, 0);
    s.data(10, 1460..2920, 0);
    s.out.clear();
    s.ecn = Ecn::Ce;
    s.data(11, 0..1460, 0);
    s.expect(11, &[ack(2920)]);
    s.ack(12, 0);
    s.ecn = Ecn::NotEct;
    s.data(13, 2920..4380, 0);
    s.data(14, 4380..5840, 0);
    s.expect(14, &[ack(5840)]);
}

#[test]
fn an_echo_halves_the_window_once_a_window_of_data() {
    let mut s = established(newreno(rules(10.0)));
    s.write_endless(0);
    s.expect(0, &new(1..=10));
    s.ack_segment([100], 1);
    s.expect(100, &new(11..=12));
    // 10 outstanding after it; the window does not open for it either.
    echo(&mut s, 101, 2);
    s.expect(101, &[]);
    assert_eq!((s.cwnd(), s.tcp.ssthresh()), (5.0, Some(5.0)));
    // More echoes of the same window: nothing is cut, nothing opens.
    (3..=7).for_each(|n| echo(&mut s, 100 + n, n));
    s.expect(107, &[]);
    echo(&mut s, 108, 8);
    let mut told = new(13..=13);
    told[0] = told[0].clone().cwr(); // the first new data after the reduction
    s.expect(108, &told);
    s.ack_segment([109], 9); // without the echo the window opens: 5.2
    s.expect(109, &new(14..=14));
    echo(&mut s, 110, 11);
    s.expect(110, &new(15..=16));
    assert_eq!(s.tcp.counters().ecn_reductions, 1);
    // The peer has all of the window, but not the answer; then what was sent after the reduction was marked, too.
    echo(&mut s, 200, 12);
    assert_eq!(s.tcp.counters().ecn_reductions, 1);
    echo(&mut s, 201, 13);
    assert_eq!((s.cwnd(), s.tcp.counters().ecn_reductions), (2.0, 2));
    assert_eq!(s.tcp.counters().retransmits, 0);
}

#[test]
fn retransmissions_are_not_ecn_capable_and_a_loss_is_told_too() {
    // Sections 6.1.5 and 6.1.2.
    let mut s = established(newreno(rules(10.0)));
    s.write_endless(0);
    s.ack_segment([100], 1);
    s.out.clear();
    s.ack_segment([101, 102, 103], 1);
    s.expect_until(103, &[(101, segment(13).ect()), (102, segment(14).ect()), (103, segment(2))]);
    echo(&mut s, 104, 1); // the loss was answered
    assert_eq!((s.cwnd(), s.tcp.counters().ecn_reductions), (5.5, 0));
    s.ack_segment([200], 14);
    s.expect(200, &[segment(15).ect().cwr(), segment(16).ect()]);
}

#[test]
fn a_loss_in_a_window_whose_mark_was_answered_is_only_resent() {
    let controls: [(bool, fn() -> Script); 2] =
        [(false, || established(newreno(rules(10.0)))), (true, || established(sack_reno(rules(10.0))))];
    for (sack, script) in controls {
        let mut s = script();
        s.write_endless(0);
        s.ack_segment([100], 1);
        echo(&mut s, 101, 2);
        echo(&mut s, 102, 6);
        s.out.clear();
        assert_eq!(s.cwnd(), 5.0);
        for n in 0..3 {
            if sack {
                s.sack(103 + n, 6, &[(8, 8 + n)]);
            } else {
                s.ack_segment([103 + n], 6);
            }
        }
        // Six are outstanding: another cut would be to 3. Three of seven have arrived, so one more may leave.
        let resent = (105, segment(7));
        s.expect_until(105, &[(104, segment(13).ect().cwr()), resent, (105, segment(14).ect())]);
        assert_eq!((s.cwnd(), s.tcp.ssthresh()), (5.0, Some(5.0)));
    }
}

#[test]
fn tahoe_halves_without_going_back() {
    let mut s = established(tahoe(rules(10.0)));
    s.write_endless(0);
    s.ack_segment([100], 1);
    s.out.clear();
    echo(&mut s, 101, 2);
    s.expect(101, &[]);
    assert_eq!((s.cwnd(), s.tcp.ssthresh()), (5.0, Some(5.0)));
}

#[test]
fn a_timeout_is_told_with_the_first_new_data() {
    let mut s = established(newreno(rules(2.0)));
    s.write_endless(0);
    s.expect_until(250, &[(0, segment(1).ect()), (0, segment(2).ect()), (200, segment(1))]);
    s.ack_segment([300], 1);
    s.expect(300, &[segment(2), segment(3).ect().cwr()]);
}

#[test]
fn without_agreement_nothing_is_echoed_and_nothing_answered() {
    let mut s = Script::established(Config { ecn: false, ..config() }.controlled_by(newreno(rules(10.0))));
    s.write_endless(0);
    s.ack_segment([100], 1);
    echo(&mut s, 101, 2);
    assert_eq!((s.cwnd(), s.tcp.ssthresh()), (12.0, None));
    s.out.clear();
    s.ecn = Ecn::Ce;
    s.data(102, 0..1460, 2 * MSS);
    s.data(103, 1460..2920, 2 * MSS);
    s.expect(103, &[ack(2920)]);
}
