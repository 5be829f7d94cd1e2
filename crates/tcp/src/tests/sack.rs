//! Recovery by selective acknowledgements: exact segment lists, after RFC 6675 and RFC 2018.

use super::script::{MSS, Script, data, segment, segments};
use crate::control::{InitialWindow, Rules, sack_reno};
use crate::{Config, Options, SackOffer};

/// Segments of 1,460 bytes, no timestamps, a minimum timeout of 200 ms.
fn established(window: f64) -> Script {
    let rto = crate::RtoConfig::Smoothed(crate::SmoothedConfig::LINUX);
    let rules = Rules { initial_window: InitialWindow::Segments(window), ..Rules::RFC };
    Script::established(Config { timestamps: false, rto, ..Config::rfc() }.controlled_by(sack_reno(rules)))
}

#[test]
fn it_asks_for_what_it_lives_on() {
    let mut s = Script::connect(Config::rfc().controlled_by(sack_reno(Rules::RFC)));
    assert!(s.out.remove(0).1.segment.options.sack_permitted);
    assert!(!Script::connect(Config::rfc()).out.remove(0).1.segment.options.sack_permitted);
}

#[test]
fn what_is_never_offered_a_control_does_not_get() {
    let config = Config { sack: SackOffer::Never, ..Config::rfc() }.controlled_by(sack_reno(Rules::RFC));
    assert!(!Script::connect(config.clone()).out.remove(0).1.segment.options.sack_permitted);
    // It recovers as with a peer that reports nothing: what the peer reports all the same is not looked at.
    let rules = Rules { initial_window: InitialWindow::Segments(6.0), ..Rules::RFC };
    let mut s =
        Script::established(Config { timestamps: false, ..config.clone() }.controlled_by(sack_reno(rules)));
    s.write_endless(0);
    s.expect(0, &segments(1..=6));
    for (at, last) in [(101, 4), (102, 5), (103, 6)] {
        s.sack(at, 1, &[(3, last)]);
    }
    let reno = |s: &Script| (s.cwnd(), s.tcp.ssthresh());
    let mut plain = Script::established(
        Config { timestamps: false, ..config }.controlled_by(crate::control::newreno(rules)),
    );
    plain.write_endless(0);
    plain.expect(0, &segments(1..=6));
    plain.ack_segment([101, 102, 103], 1);
    assert_eq!(reno(&s), reno(&plain));
}

#[test]
fn three_losses_in_one_window_are_repaired_in_one_round_trip() {
    // 2, 4 and 6 of 1 to 10 are lost; the round trip is 100 ms.
    let mut s = established(10.0);
    s.write_endless(0);
    s.expect(0, &segments(1..=10));
    s.ack_segment([100], 1); // cwnd 11
    s.expect(100, &segments(11..=12));
    // Step 3: one new segment for each that arrived.
    s.sack(102, 1, &[(3, 3)]);
    s.expect(102, &[segment(13)]);
    s.sack(104, 1, &[(5, 5), (3, 3)]);
    s.expect(104, &[segment(14)]);
    // Step 4: flight 11 without limited transmit; of 13 outstanding 3 have arrived, 2 is in flight again: 10 of 5.5.
    s.sack(106, 1, &[(7, 7), (5, 5), (3, 3)]);
    s.expect(106, &[segment(2)]);
    assert_eq!((s.cwnd(), s.tcp.ssthresh()), (5.5, Some(5.5)));
    // 8 makes 4 lost (pipe 8), 9 makes 6 lost (pipe 6).
    for (at, last) in [(107, 8), (108, 9), (109, 10)] {
        s.sack(at, 1, &[(7, last), (5, 5), (3, 3)]);
        s.expect(at, &[]);
    }
    // Step C: 2, 12, 13 and 14 are in the network, and a segment fits.
    s.sack(111, 1, &[(7, 11), (5, 5), (3, 3)]);
    s.expect(111, &[segment(4)]);
    s.sack(112, 1, &[(7, 12), (5, 5), (3, 3)]);
    s.expect(112, &[segment(6)]);
    // NextSeg, rule 2: nothing else is lost.
    s.sack(113, 1, &[(7, 13), (5, 5), (3, 3)]);
    s.sack(114, 1, &[(7, 14), (5, 5), (3, 3)]);
    s.expect_until(205, &[(113, segment(15)), (114, segment(16))]);
    s.sack(206, 3, &[(7, 14), (5, 5)]);
    s.sack(211, 5, &[(7, 14)]);
    s.expect_until(211, &[(206, segment(17)), (211, segment(18))]);
    // Step A: everything sent before is acknowledged; the window is what it was cut to.
    s.ack_segment([212], 14);
    s.expect_until(300, &[(212, segment(19))]);
    assert_eq!((s.cwnd(), s.tcp.ssthresh()), (5.5, Some(5.5)));
    let counters = s.tcp.counters();
    assert_eq!((counters.fast_retransmits, counters.retransmits, counters.timeouts), (1, 3, 0));
}

#[test]
fn two_segments_and_a_byte_above_are_a_loss_too() {
    // Step 2: the acknowledgements of 3 and 4 were lost.
    let mut s = established(10.0);
    s.write_endless(0);
    s.ack_segment([100], 1);
    s.out.clear();
    s.sack(101, 1, &[(3, 5)]);
    s.expect(101, &[segment(2)]);
}

#[test]
fn duplicates_that_report_nothing_new_are_none() {
    let mut s = established(10.0);
    s.write_endless(0);
    s.ack_segment([100], 1);
    s.out.clear();
    for at in 101..110 {
        s.sack(at, 1, &[(4, 4)]);
    }
    s.expect_until(109, &[(101, segment(13))]);
    assert_eq!(s.tcp.counters().fast_retransmits, 0);
}

#[test]
fn a_lost_retransmission_ends_in_a_timeout_after_which_only_holes_are_sent() {
    let mut s = established(10.0);
    s.write_endless(0);
    s.ack_segment([100], 1);
    s.out.clear();
    // 2 and 6 are lost, and 2 again.
    s.sack(101, 1, &[(3, 5)]);
    s.expect(101, &[segment(2)]);
    s.sack(102, 1, &[(7, 12), (3, 5)]);
    s.expect(102, &[segment(6), segment(13), segment(14), segment(15)]);
    s.sack(202, 1, &[(3, 12)]);
    s.expect(202, &[segment(16)]);
    s.sack(203, 1, &[(3, 16)]);
    s.out.clear();
    // The timer runs from the fast retransmit on. The reports do not count any more (RFC 2018, section 8).
    s.expect_until(500, &[(301, segment(2))]);
    assert_eq!((s.cwnd(), s.tcp.counters().timeouts), (1.0, 1));
    // What the peer reports now it has (RFC 6675, section 5.1): 17 and what follows it is what it does not.
    s.sack(510, 2, &[(4, 16)]);
    s.expect(510, &[segment(3), segment(17)]);
}

#[test]
fn the_end_of_a_window_is_rescued_without_a_timeout() {
    // 2 and 10 of 10 are lost, and there is no more to send (rule 4).
    let mut s = established(10.0);
    s.write(0, 10 * MSS);
    s.ack_segment([100], 1);
    s.out.clear();
    s.sack(101, 1, &[(3, 5)]);
    s.expect(101, &[segment(2)]);
    s.sack(103, 1, &[(3, 9)]);
    s.expect(200, &[]);
    s.ack_segment([201], 9);
    s.expect(201, &[segment(10)]);
    s.ack_segment([301], 10);
    s.expect(9_000, &[]);
    assert_eq!((s.tcp.counters().retransmits, s.tcp.counters().timeouts), (2, 0));
}

#[test]
fn what_is_perhaps_not_lost_waits_for_new_data() {
    // Rule 3: one segment above 4 has arrived, and there is nothing else to send.
    let mut s = established(10.0);
    s.write(0, 10 * MSS);
    s.ack_segment([100], 1);
    s.out.clear();
    s.sack(101, 1, &[(3, 3)]);
    s.sack(102, 1, &[(5, 5), (3, 3)]);
    s.sack(103, 1, &[(6, 10), (3, 3)]);
    s.expect_until(103, &[(103, segment(2)), (103, segment(4))]);
}

#[test]
fn a_peer_without_reports_is_served_by_newreno() {
    let rto = crate::RtoConfig::Smoothed(crate::SmoothedConfig::LINUX);
    let rules = Rules { initial_window: InitialWindow::Segments(10.0), ..Rules::RFC };
    let config = Config { timestamps: false, rto, ..Config::rfc() }.controlled_by(sack_reno(rules));
    let mut s = Script::connect(config);
    s.options = Options { mss: Some(1460), window_scale: Some(2), ..Options::default() };
    s.raw(0, |segment| segment.flags.syn = true);
    (s.options, s.peer) = (Options::default(), 1);
    s.out.clear();
    s.write_endless(0);
    s.ack_segment([100], 1); // as in rfc.rs: fast_recovery
    s.out.clear();
    s.ack_segment([101, 102, 103], 1);
    s.expect_until(103, &[(101, segment(13)), (102, segment(14)), (103, segment(2))]);
    s.ack_segment([104, 105, 106, 107, 108, 109], 1);
    s.expect(109, &[segment(15)]);
    s.ack_segment([200], 5);
    s.expect(200, &[segment(6), segment(16)]);
}

#[test]
fn a_retransmission_covers_what_was_sent_before_only() {
    // The last segment is short and has the FIN.
    let mut s = established(10.0);
    s.write(0, 5 * MSS + 100);
    s.app(0, crate::Connection::close);
    s.ack_segment([100], 1);
    s.out.clear();
    s.sack(101, 1, &[(3, 5)]);
    s.expect(101, &[segment(2)]);
    s.ack_segment([201], 5);
    s.expect(201, &[data(5 * MSS..5 * MSS + 100).fin()]);
    s.ack(301, 5 * MSS + 101);
    s.expect(9_000, &[]);
}
