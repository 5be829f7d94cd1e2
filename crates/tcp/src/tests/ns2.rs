//! Profile `ns2`: exact segment lists, after ns2-behaviour.md section 6 and schemes.md 16.

use super::script::{MSS, Out, Script, data, ms, segment, segments};
use crate::Config;
use crate::control::{self, LossBasis, Rules, WindowCut, newreno};
use alloc::vec::Vec;
use meshpace_units::Span;

/// Slow start until segments 7 to 14 are outstanding with cwnd 8; the last acknowledgement came at 203 ms.
fn eight_outstanding(config: Config) -> Script {
    let mut s = Script::established(config);
    s.write_endless(0);
    s.ack_segment([100], 1);
    s.ack_segment([101], 2);
    for n in 3..=6 {
        s.ack_segment([197 + n], n);
    }
    let came: Vec<_> = core::mem::take(&mut s.out);
    assert_eq!(came.len(), 14);
    assert_eq!(s.cwnd(), 8.0);
    s
}

#[test]
fn growth() {
    // 6.2: one segment an ACK below 20, then 1/cwnd, and on beyond the window.
    let mut s = Script::established(Config { window: Some(4), ..Config::ns2() });
    s.write_endless(0);
    s.expect(0, &segments(1..=2));
    s.ack_segment([10], 1);
    s.expect(10, &segments(3..=4));
    s.ack_segment([20], 2);
    s.expect(20, &segments(5..=6));
    s.ack_segment([30], 3);
    s.expect(30, &[segment(7)]); // window_ 4
    for n in 4..=18 {
        s.ack_segment([30 + n], n);
    }
    assert_eq!(s.cwnd(), 20.0);
    s.ack_segment([60], 19);
    assert_eq!(s.cwnd(), 20.05);
    s.ack_segment([61], 21); // growth is per ACK, not per segment
    assert_eq!(s.cwnd(), 20.05 + 1.0 / 20.05);
    // 6.4: what is halved is the window.
    s.ack_segment([70, 71, 72], 21);
    assert_eq!((s.cwnd(), s.tcp.ssthresh()), (2.0, Some(2.0)));
}

#[test]
fn fast_retransmit_and_recovery() {
    let mut s = eight_outstanding(Config::ns2());
    // 6.3: limited transmit.
    s.ack_segment([300], 6);
    s.expect(300, &[segment(15)]);
    s.ack_segment([301], 6);
    s.expect(301, &[segment(16)]);
    // 6.4.
    s.ack_segment([302], 6);
    s.expect(302, &[segment(7)]);
    assert_eq!((s.cwnd(), s.tcp.ssthresh()), (4.0, Some(4.0)));
    s.ack_segment([303, 304, 305], 6); // 4 + 6 < 11
    s.expect(305, &[]);
    s.ack_segment([306], 6);
    s.expect(306, &[segment(17)]);
    s.ack_segment([307], 6);
    s.expect(307, &[segment(18)]);
    s.ack_segment([308], 6);
    s.expect(308, &[segment(19)]);
    // 6.6: the window stays, and grows with this very ACK.
    s.ack_segment([402], 16);
    s.expect(402, &[segment(20)]);
    assert_eq!((s.cwnd(), s.tcp.ssthresh()), (4.25, Some(4.0)));
    // 6.3: no second fast retransmit unless highest_ack > recover, strictly.
    s.ack_segment([403], 16);
    s.expect(403, &[segment(21)]);
    s.ack_segment([404], 16);
    s.expect(404, &[segment(22)]);
    s.ack_segment([405, 406], 16);
    s.expect(406, &[]);
    assert_eq!(s.tcp.counters().fast_retransmits, 1);
    s.ack_segment([407], 17);
    assert_eq!(s.cwnd(), 4.25 + 1.0 / 4.25);
    s.expect(407, &[]);
    s.ack_segment([408], 17);
    s.expect(408, &[]); // 23 > 17 + 4.49 + 1
    s.ack_segment([409], 17);
    s.expect(409, &[segment(23)]);
    s.ack_segment([410], 17);
    s.expect(410, &[segment(18)]);
    let counters = s.tcp.counters();
    assert_eq!((counters.fast_retransmits, counters.retransmits, counters.timeouts), (2, 2, 0));
    assert_eq!((counters.data_segments, counters.distinct_segments), (25, 23));
}

#[test]
fn a_window_is_cut_as_it_is_or_in_whole_segments() {
    // ns2-behaviour.md 6.4; precisionReduce_ 0 until 24 January 2006 (schemes.md 16).
    for (cut, cwnd) in [(WindowCut::Real, 4.5), (WindowCut::Integer, 4.0)] {
        let rules = Rules { loss_basis: LossBasis::Window(cut), ..Rules::NS2 };
        let mut s = eight_outstanding(Config::ns2().controlled_by(newreno(rules)));
        s.ack_segment([300], 7);
        assert_eq!(s.cwnd(), 9.0);
        s.ack_segment([301, 302, 303], 7);
        assert_eq!((s.cwnd(), s.tcp.ssthresh()), (cwnd, Some(4.0)), "{cut:?}");
    }
}

#[test]
fn one_segment_for_each_of_the_first_duplicates() {
    // 6.3, even if the window has room for more: the peer's was closed until now.
    let mut s = eight_outstanding(Config::ns2());
    s.window = (6 * MSS / 4) as u16; // up to segment 14
    s.ack_segment([300], 8);
    s.expect(300, &[]);
    s.window = u16::MAX;
    s.ack_segment([301], 8); // 9 + 1 from 8 on
    s.expect(301, &[segment(15)]);
    s.ack_segment([302], 8);
    s.expect(302, &[segment(16)]);
}

#[test]
fn partial_acknowledgements() {
    let mut s = eight_outstanding(Config::ns2());
    s.ack_segment(300..308, 6); // 7 and 9 are lost: eight duplicates
    let expected = [(300, 15), (301, 16), (302, 7), (306, 17), (307, 18)].map(|(at, n)| (at, segment(n)));
    s.expect_until(399, &expected);
    // 6.5: two segments newly acknowledged: dupwnd 8 -> 7, resend the hole, then what 4 + 7 allow.
    s.ack_segment([400], 8);
    s.expect(400, &[segment(9), segment(19)]);
    assert_eq!((s.cwnd(), s.tcp.ssthresh()), (4.0, Some(4.0)));
    s.ack_segment([401], 8); // 17 and 18 arrive; the duplicates go on counting
    s.expect(401, &[segment(20)]);
    s.ack_segment([402], 8);
    s.expect(402, &[segment(21)]);
    s.ack_segment([500], 18);
    s.expect(500, &[segment(22)]);
    assert_eq!(s.cwnd(), 4.25);
}

#[test]
fn a_large_partial_acknowledgement_shrinks_the_window() {
    let mut s = eight_outstanding(Config::ns2());
    s.ack_segment(300..304, 6); // dupwnd 4
    s.expect_until(399, &[(300, segment(15)), (301, segment(16)), (302, segment(7))]);
    // d = 6 > dupwnd 4: cwnd = 4 - 2, dupwnd = 1: 3 from 12 on.
    s.ack_segment([400], 12);
    s.expect(400, &[segment(13)]);
    assert_eq!(s.cwnd(), 2.0);
    // d = 3 > 1: cwnd would be 0.
    s.ack_segment([401], 15);
    s.expect(401, &[segment(16), segment(17)]);
    assert_eq!(s.cwnd(), 1.0);
}

#[test]
fn two_segments_an_ack_in_recovery() {
    let mut s = eight_outstanding(Config::ns2());
    s.window = (8 * MSS / 4) as u16; // up to segment 14
    s.ack_segment(300..310, 6); // ten, the first of which also moves the window
    s.expect_until(399, &[(302, segment(7))]);
    // The window opens: 4 + 10 from 7 on would be seven segments.
    s.window = u16::MAX;
    s.ack_segment([400], 7);
    s.expect(400, &[segment(8), segment(15), segment(16)]);
    s.ack_segment([401], 7);
    s.expect(401, &segments(17..=18));
}

#[test]
fn only_the_first_partial_ack_restarts_the_timer() {
    let mut s = eight_outstanding(Config::ns2());
    s.ack_segment(300..303, 6);
    assert_eq!(s.tcp.rto(), Span::from_millis(200));
    s.out.clear();
    s.ack_segment([400], 7); // restarts: 600
    s.ack_segment([500], 8); // does not
    s.expect_until(599, &[(400, segment(8)), (500, segment(9))]);
    // 6.7: recover = highest sent; one segment.
    s.expect(600, &[segment(9)]);
    assert_eq!((s.cwnd(), s.tcp.counters().timeouts), (1.0, 1));
}

#[test]
fn timeout_goes_back() {
    let mut s = eight_outstanding(Config::ns2());
    s.expect_until(402, &[]);
    s.expect(403, &[segment(7)]);
    assert_eq!((s.cwnd(), s.tcp.ssthresh()), (1.0, Some(4.0)));
    assert_eq!(s.tcp.rto(), Span::from_millis(400));
    s.ack_segment([450], 7);
    s.expect(450, &segments(8..=9));
    s.ack_segment([550], 8);
    s.expect(550, &segments(10..=11));
    // A cumulative ACK jumps ahead: on from there.
    s.ack_segment([560], 14);
    s.expect(560, &segments(15..=18));
    // 6.9: only a timed segment ends the back-off.
    assert_eq!(s.tcp.rto(), Span::from_millis(400));
    s.ack_segment([660], 15); // S = 25 + 7, V = 17 + 7 - 4: 24 ticks
    assert_eq!(s.tcp.rto(), Span::from_millis(240));
    assert_eq!(s.cwnd(), 4.25);
}

#[test]
fn timeouts_in_a_row() {
    let mut s = eight_outstanding(Config::ns2());
    let expected = [403, 803, 1603, 3203, 6403, 12_803, 25_603, 51_203].map(|at| (at, segment(7)));
    s.expect_until(102_402, &expected);
    // 6.9: 200 ms x 256 was the last below the ceiling of 60 s.
    s.expect(102_403, &[segment(7)]);
    s.expect(162_403, &[segment(7)]);
    s.expect(222_403, &[segment(7)]);
    assert_eq!((s.cwnd(), s.tcp.ssthresh(), s.tcp.counters().timeouts), (1.0, Some(2.0), 11));
    // The smoothed value went into the variation: 3 x rtt after the next sample.
    s.ack_segment([222_500], 14);
    s.expect(222_500, &segments(15..=16));
    s.ack_segment([222_900], 15);
    assert_eq!(s.tcp.rto(), Span::from_millis(1200));
}

#[test]
fn duplicates_after_a_timeout() {
    let mut s = eight_outstanding(Config::ns2());
    s.expect(403, &[segment(7)]);
    // 6.7: nothing but limited transmit, which resends.
    s.ack_segment([410], 6);
    s.expect(410, &[segment(8)]);
    s.ack_segment([411], 6);
    s.expect(411, &[segment(9)]);
    s.ack_segment([412, 413, 414], 6);
    s.expect(414, &[]);
    assert_eq!(s.tcp.counters().fast_retransmits, 0);
}

#[test]
fn the_first_segment_may_be_fast_retransmitted() {
    // 6.3: highest_ack = 0. Even after a lost SYN, when recover is the SYN.
    let mut s = Script::connect(Config::ns2());
    s.write_endless(0);
    s.expect_until(3_000, &[(0, Out::syn()), (3_000, Out::syn())]);
    s.raw(3_100, |segment| {
        segment.flags.syn = true;
        segment.options.mss = Some(1460);
    });
    s.peer = 1;
    s.expect(3_100, &[segment(1)]);
    s.ack_segment([3_200], 0);
    s.expect(3_200, &[segment(2)]);
    s.ack_segment([3_201], 0);
    s.expect(3_201, &[segment(3)]);
    s.ack_segment([3_202], 0);
    s.expect(3_202, &[segment(1), segment(4)]);
}

#[test]
fn tahoe() {
    let mut s = eight_outstanding(Config::ns2().controlled_by(control::tahoe(Rules::NS2)));
    s.ack_segment([300, 301], 6);
    s.expect_until(301, &[(300, segment(15)), (301, segment(16))]);
    s.ack_segment([302], 6);
    s.expect(302, &[segment(7)]);
    assert_eq!((s.cwnd(), s.tcp.ssthresh()), (1.0, Some(4.0)));
    s.ack_segment([303, 304, 305], 6);
    s.expect(305, &[]);
    s.ack_segment([400], 8);
    s.expect(400, &segments(9..=10));
    s.ack_segment([500], 16);
    s.expect(500, &segments(17..=19));
    // The timer was reset by the loss, without back-off; a timeout goes back, too.
    s.expect_until(701, &[(700, segment(17))]);
}

#[test]
fn rtt_is_not_sampled_from_retransmissions() {
    let mut s = eight_outstanding(Config::ns2());
    assert_eq!(s.tcp.latest_rtt(), Some(Span::from_millis(100)));
    s.ack_segment(300..303, 6);
    s.ack_segment([390], 16);
    assert_eq!(s.tcp.latest_rtt(), Some(Span::from_millis(100)), "timing stopped at the loss");
}

#[test]
fn idling_restarts_from_one_segment() {
    let mut s = Script::established(Config::ns2());
    s.write(0, 10 * MSS);
    for n in 1..=10 {
        s.ack_segment([100 * n], n);
    }
    assert_eq!(s.cwnd(), 12.0);
    s.out.clear();
    s.write(1_100, 2 * MSS); // less than a timeout later
    s.expect(1_100, &segments(11..=12));
    s.ack_segment([1_150], 12);
    s.write(60_000, 4 * MSS);
    s.expect(60_000, &[segment(13)]);
    assert_eq!(s.cwnd(), 1.0);
}

#[test]
fn the_last_segment_may_be_short() {
    let mut s = Script::established(Config::ns2());
    s.write(0, 2_000);
    s.expect(0, &[data(0..1460), data(1460..2000)]);
    s.ack(100, 2_000);
    assert_eq!((s.tcp.acknowledged(), s.tcp.unsent(), s.now), (2_000, Some(0), ms(100)));
    assert_eq!(s.events, [crate::Event::Drained]);
    s.expect(100_000, &[]);
}
