//! Profile `rfc`: exact segment lists, after RFC 5681, 6582, 3042, 3390, 3465 and 6298.

use super::script::{Out, Script, data};
use crate::Config;
use crate::control::{self, Growth, InitialWindow, Rules, newreno};
use alloc::vec::Vec;
use meshpace_units::Span;

/// Segments of 1,460 bytes, no timestamps, a minimum timeout of 200 ms.
fn config() -> Config {
    let rto = crate::RtoConfig::Smoothed(crate::SmoothedConfig::LINUX);
    Config { timestamps: false, rto, ..Config::rfc() }
}

fn rules(segments: f64) -> Rules {
    Rules { initial_window: InitialWindow::Segments(segments), ..Rules::RFC }
}

fn with_window(segments: f64) -> Config {
    config().controlled_by(newreno(rules(segments)))
}

/// Segments of 1,460 bytes, numbered from 1.
fn segment(n: u64) -> Out {
    data((n - 1) * 1460..n * 1460)
}

fn segments(range: core::ops::RangeInclusive<u64>) -> Vec<Out> {
    range.map(segment).collect()
}

#[test]
fn initial_windows() {
    // RFC 3390, section 1: min(4 MSS, max(2 MSS, 4380)); RFC 6928, section 2.
    let segments = |window: InitialWindow, mss: u32| window.segments(mss) * f64::from(mss);
    assert_eq!(segments(InitialWindow::Rfc3390, 1460), 4380.0);
    assert_eq!(segments(InitialWindow::Rfc3390, 536), 2144.0);
    assert_eq!(segments(InitialWindow::Rfc3390, 4000), 8000.0);
    assert_eq!(segments(InitialWindow::Rfc6928, 1460), 14_600.0);
    assert_eq!(segments(InitialWindow::Rfc6928, 9000), 18_000.0);
}

#[test]
fn slow_start_and_avoidance() {
    let mut s = Script::established(with_window(4.0));
    assert_eq!((s.cwnd(), s.tcp.ssthresh()), (4.0, None));
    s.write_endless(0);
    s.expect(0, &segments(1..=4));
    s.ack_segment([100], 2); // one segment an ACK, however much it covers
    s.expect(100, &segments(5..=7));
    assert_eq!(s.cwnd(), 5.0);
    s.ack(101, 2 * 1460 + 730); // half a segment opens half a segment
    assert_eq!(s.cwnd(), 5.5);
}

#[test]
fn fast_recovery() {
    let mut s = Script::established(with_window(10.0));
    s.write_endless(0);
    s.expect(0, &segments(1..=10));
    s.ack_segment([100], 1); // cwnd 11
    s.expect(100, &segments(11..=12));
    // RFC 3042.
    s.ack_segment([101, 102], 1);
    s.expect_until(102, &[(101, segment(13)), (102, segment(14))]);
    // RFC 6582, section 3.2, step 2: flight 11 without limited transmit, ssthresh 5.5, cwnd + 3.
    s.ack_segment([103], 1);
    s.expect(103, &[segment(2)]);
    assert_eq!((s.cwnd(), s.tcp.ssthresh()), (5.5, Some(5.5)));
    s.ack_segment([104, 105, 106, 107], 1); // 5.5 + 7: to 13.5
    s.expect(107, &[]);
    s.ack_segment([108, 109], 1); // 5.5 + 9: to 15.5
    s.expect(109, &[segment(15)]);
    // Partial: 4 segments, 5.5 + 9 - 4 + 1: to 5 + 11.5.
    s.ack_segment([200], 5);
    s.expect(200, &[segment(6), segment(16)]);
    // Full: min(ssthresh, max(flight, 1) + 1) = min(5.5, 2 + 1).
    s.ack_segment([300], 14);
    s.expect(300, &[segment(17)]);
    assert_eq!(s.cwnd(), 3.0);
    // Step 1: no new recovery for what was sent before.
    s.ack_segment([301, 302, 303], 14);
    s.expect_until(303, &[(301, segment(18)), (302, segment(19))]);
    assert_eq!(s.tcp.counters().fast_retransmits, 1);
}

#[test]
fn a_partial_ack_of_less_than_a_segment_adds_nothing_back() {
    let mut s = Script::established(with_window(10.0));
    s.write_endless(0);
    s.ack_segment(100..104, 0); // the first scales the window and is no duplicate of the SYN's acknowledgement
    s.out.clear();
    assert_eq!(s.cwnd(), 5.0);
    s.ack(200, 730); // 5 + 3 - 0.5: 8 - 0.5 from 0.5 on: 8 segments, 12 are out
    s.expect(200, &[data(730..2190)]);
}

#[test]
fn limited_transmit_is_for_new_data() {
    let mut s = Script::established(with_window(4.0));
    s.write_endless(0);
    s.expect(0, &segments(1..=4));
    s.expect_until(250, &[(200, segment(1))]);
    s.ack_segment([300, 301], 0);
    s.expect(301, &[]); // ns-2 would resend 2 and 3
}

#[test]
fn timeout() {
    let mut s = Script::established(with_window(8.0));
    s.write_endless(0);
    s.expect(0, &segments(1..=8));
    // RFC 6298, rules 5.4 to 5.6; RFC 5681, section 3.1: the threshold is cut once for one segment.
    s.expect_until(700, &[(200, segment(1)), (600, segment(1))]);
    assert_eq!((s.cwnd(), s.tcp.ssthresh()), (1.0, Some(4.0)));
    s.ack_segment([701], 1);
    s.expect(701, &segments(2..=3));
    s.ack_segment([702], 8);
    s.expect(702, &segments(9..=11));
    assert_eq!(s.tcp.rto(), Span::from_millis(800), "Karn: retransmissions end no back-off");
    s.ack_segment([802], 9);
    assert_eq!(s.tcp.rto(), Span::from_millis(200), "srtt 12.5, rttvar 25: below the minimum");
}

#[test]
fn timestamps_end_the_back_off() {
    // RFC 7323, section 4: an echoed timestamp is never ambiguous.
    let mut s = Script::established(Config { timestamps: true, ..with_window(4.0) });
    s.write_endless(0);
    s.expect_until(
        250,
        &[
            (0, data(0..1448)),
            (0, data(1448..2896)),
            (0, data(2896..4344)),
            (0, data(4344..5792)),
            (200, data(0..1448)),
        ],
    );
    assert_eq!(s.tcp.rto(), Span::from_millis(400));
    s.options.timestamps = Some(crate::Timestamps { value: 7, echo: 200 });
    s.ack(260, 1448);
    assert_eq!((s.tcp.rto(), s.tcp.latest_rtt()), (Span::from_millis(200), Some(Span::from_millis(60))));
}

#[test]
fn byte_counting() {
    // RFC 3465 with L = 2.
    let rules = Rules { growth: Growth::Bytes { limit: 2.0 }, ..rules(4.0) };
    let mut s = Script::established(config().controlled_by(newreno(rules)));
    s.write_endless(0);
    s.ack_segment([100], 2);
    assert_eq!(s.cwnd(), 6.0);
    s.ack_segment([101], 6);
    assert_eq!(s.cwnd(), 8.0, "not more than L");
    s.out.clear();
    s.expect_until(350, &[(301, segment(7))]);
    assert_eq!((s.cwnd(), s.tcp.ssthresh()), (1.0, Some(4.0)));
    s.ack_segment([360], 9);
    assert_eq!(s.cwnd(), 2.0, "L = 1 after a timeout");
    s.ack_segment([361], 10);
    s.ack_segment([362], 11);
    assert_eq!(s.cwnd(), 4.0);
    s.ack_segment([363], 13);
    assert_eq!(s.cwnd(), 4.0);
    s.ack_segment([364], 15);
    assert_eq!(s.cwnd(), 5.0, "a window's worth of bytes is one segment");
}

#[test]
fn tahoe() {
    let mut s = Script::established(config().controlled_by(control::tahoe(rules(8.0))));
    s.write_endless(0);
    s.ack_segment(100..104, 0);
    s.out.drain(..8);
    s.expect_until(104, &[(101, segment(9)), (102, segment(10)), (103, segment(1))]);
    assert_eq!((s.cwnd(), s.tcp.ssthresh()), (1.0, Some(4.0)));
    s.ack_segment([200], 10);
    s.expect(200, &segments(11..=12));
}

#[test]
fn restart_after_idle() {
    // RFC 5681, section 4.1.
    let mut s = Script::established(with_window(4.0));
    s.write(0, 1460 * 20);
    for n in 1..=20 {
        s.ack_segment([20 * n], n);
    }
    assert_eq!(s.cwnd(), 24.0);
    s.out.clear();
    s.write(10_000, 1460 * 20);
    s.expect(10_000, &segments(21..=23)); // RFC 3390's window
    assert_eq!(s.cwnd(), 3.0);
}

#[test]
fn restart_after_idle_as_in_linux() {
    // tcp_cwnd_restart: half a timeout, no less than the initial window, told once however often is asked.
    let rules = Rules { restart_halves: true, initial_ssthresh: Some(10.0), ..rules(4.0) };
    let after = |silence: f64| {
        let mut s = Script::established(config().controlled_by(newreno(rules)));
        s.write(0, 1460 * 100);
        for n in 1..=100 {
            s.ack_segment([20 * n], n);
        }
        let cwnd = s.cwnd();
        s.out.clear();
        let at = 2000 + (silence * s.tcp.rto().as_micros() as f64 / 1000.0) as u64;
        s.write(at, 100);
        s.write(at, 1460 * 40);
        (cwnd, s.cwnd(), s.tcp.ssthresh())
    };
    let (cwnd, restarted, ssthresh) = after(0.9);
    assert!(cwnd > 16.0 && restarted == cwnd && ssthresh == Some(10.0), "{cwnd}: no timeout has passed");
    let kept = Some(0.75 * cwnd);
    assert_eq!(after(1.5), (cwnd, (cwnd / 2.0).floor(), kept));
    assert_eq!(after(2.5), (cwnd, ((cwnd / 2.0).floor() / 2.0).floor(), kept));
    assert_eq!(after(50.0), (cwnd, 3.0, kept), "RFC 3390's window, to which this profile restarts");
}

#[test]
fn a_smaller_path_mtu_resends_at_once() {
    let mut s = Script::established(with_window(4.0));
    s.write_endless(0);
    s.expect(0, &segments(1..=4));
    s.ack_segment([100], 1);
    s.expect(100, &segments(5..=6));
    s.app(110, |tcp| tcp.set_mss(730));
    assert_eq!((s.cwnd(), s.tcp.ssthresh()), (10.0, None), "the same bytes");
    let resent: Vec<_> = (2..12).map(|n| data(n * 730..(n + 1) * 730)).collect();
    s.expect(110, &resent);
}

#[test]
fn a_path_does_not_raise_what_the_peer_takes() {
    let mut s = Script::established(with_window(4.0)); // the peer takes 1,460 bytes
    s.app(0, |tcp| tcp.set_mss(8_960));
    assert_eq!(s.tcp.mss(), 1460);
    s.app(1, |tcp| tcp.set_mss(536));
    s.app(2, |tcp| tcp.set_mss(8_960));
    assert_eq!(s.tcp.mss(), 1460);
}

#[test]
fn nagle() {
    let mut s = Script::established(config());
    s.write(0, 100);
    s.write(1, 100);
    s.write(2, 1_500);
    s.expect_until(3, &[(0, data(0..100)), (2, data(100..1560))]);
    s.ack(50, 1_560);
    s.expect(50, &[data(1560..1700)]);
}

#[test]
fn the_peer_is_given_up() {
    let mut s = Script::established(Config { retries: Some(3), ..config() });
    s.write(0, 10);
    s.expect_until(60_000, &[0, 200, 600, 1400].map(|at| (at, data(0..10))));
    assert_eq!(s.events, [crate::Event::Closed(crate::Closing::TimedOut)]);
}
