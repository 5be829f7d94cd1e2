//! Pacing at the sender: spacing, what bypasses it, which acknowledgements are samples.

use super::script::{MSS, Script, data, ms, segment, segments};
use crate::control::{Fixed, Khd, Rules, WirelessKhd, tahoe};
use crate::{Config, Control};
use meshpace_pacing::{AdaptiveConfig, HopSource, LinkRates};
use meshpace_units::{Rate, Span};

fn khd() -> Khd {
    Khd::new(AdaptiveConfig::PAPER)
}

fn fixed() -> Fixed {
    Fixed::new(Span::from_millis(30))
}

fn paced(pacing: impl Control + 'static) -> Script {
    let mut s = Script::established(Config::ns2().paced_by(pacing));
    s.hops = Some(4);
    s.write_endless(0);
    s
}

/// A round trip whose k-hop delay over 4 hops at 2 Mbit/s is 2 * (28.32 / 4 + 5.84) = 25.84 ms.
const RTT: Span = Span::from_micros(28_320);

#[test]
fn fixed_interval() {
    let mut s = paced(fixed());
    s.expect_until(100, &[(0, segment(1)), (30, segment(2))]);
    // After idling one leaves at once, no more.
    s.ack_segment([150], 2);
    s.expect_until(300, &[(150, segment(3)), (180, segment(4)), (210, segment(5))]);
    assert_eq!(s.tcp.pacing().interval, Some(Span::from_millis(30)));
}

#[test]
fn a_late_driver_s_lateness_does_not_add_up() {
    let mut s = paced(fixed());
    s.expect(0, &[segment(1)]);
    s.ack_segment([1], 1); // the window holds three
    s.out.clear();
    let mut sends = |at: u64| {
        s.tcp.handle_timeout(ms(at));
        let sent = s.tcp.poll_transmit(ms(at)).is_some();
        assert_eq!(s.tcp.poll_transmit(ms(at)), None, "one at a time");
        (sent, s.tcp.poll_timeout())
    };
    // Due at 30 and looked at 10 ms later: the next is due at 60 all the same.
    assert_eq!(sends(40), (true, Some(ms(60))));
    assert_eq!(sends(59), (false, Some(ms(60))));
    // Later than an interval: what was missed stays missed.
    assert!(sends(200).0);
    s.ack_segment([201], 3);
    assert_eq!(s.tcp.poll_timeout(), Some(ms(230)));
}

#[test]
fn before_the_first_sample() {
    let mut s = paced(khd());
    // The handshake's round trip is no data packet's: 50 ms stay.
    assert_eq!((s.tcp.pacing().samples, s.tcp.pacing().interval), (0, Some(Span::from_millis(50))));
    s.expect_until(90, &[(0, segment(1)), (50, segment(2))]);
}

#[test]
fn a_sample_sets_the_interval() {
    let mut s = paced(khd());
    s.raw_at(ms(0) + RTT, |ack| ack.ack = super::script::ISS + 1 + MSS as u32);
    let view = s.tcp.pacing();
    assert_eq!(
        (view.interval, view.samples, view.variation),
        (Some(Span::from_micros(25_840)), 1, Some(0.0))
    );
    // The waiting release moves: 25.84 ms after the last departure, which is past.
    assert_eq!(s.out.len(), 2);
    assert_eq!(s.out[1].0, ms(0) + RTT);
    s.advance(ms(60));
    assert_eq!(s.out[2].0, ms(0) + RTT + Span::from_micros(25_840));
}

#[test]
fn hops_and_rates_come_with_the_acknowledgement() {
    let mut s = paced(khd());
    s.hops = Some(8);
    s.ack_segment([80], 1); // 2 * (80 / 8 + 5.84)
    assert_eq!(s.tcp.pacing().interval, Some(Span::from_micros(31_680)));
    let mut s = paced(khd());
    s.hops = Some(2); // 1 * (40 / 2 + 5.84)
    s.ack_segment([40], 1);
    assert_eq!(s.tcp.pacing().interval, Some(Span::from_micros(25_840)));
    let mut s = paced(khd());
    s.rates = LinkRates::Uniform(Rate::bits_per_sec(11_680_000)); // 2 * (40 / 4 + 1)
    s.ack_segment([40], 1);
    assert_eq!(s.tcp.pacing().interval, Some(Span::from_millis(22)));
}

#[test]
fn the_most_recently_sent_segment_is_the_sample() {
    let mut s = paced(khd());
    s.advance(ms(60));
    s.ack_segment([90], 2); // 1 left at 0, 2 at 50
    assert_eq!(s.tcp.pacing().interval, Some(Span::from_micros(31_680)));
    // Duplicates are none.
    s.ack_segment([91, 92], 2);
    assert_eq!(s.tcp.pacing().samples, 1);
}

/// Segments 1 to 4 have left, at 0, 30, 60 and 90; 1 is acknowledged, 2 is lost.
fn losing_the_second() -> Script {
    let mut s = paced(fixed());
    s.advance(ms(31));
    s.ack_segment([40], 1);
    s.advance(ms(100));
    s.out.clear();
    s
}

#[test]
fn a_fast_retransmission_bypasses_the_pacer_and_takes_a_token() {
    let mut s = losing_the_second();
    s.ack_segment([101, 102], 1);
    s.expect_until(119, &[]);
    // Limited transmit is permission, not a departure: it waits for its turn.
    s.expect(120, &[segment(5)]);
    s.ack_segment([125], 1);
    s.expect(125, &[segment(2)]);
    // Recovery with cwnd 1.5 + 3 lets nothing out yet; two duplicates more do, 30 ms after the retransmission.
    s.ack_segment([126, 127, 128], 1);
    s.expect_until(190, &[(155, segment(6)), (185, segment(7))]);
}

#[test]
fn partial_acknowledgements_and_going_back_wait_for_the_pacer() {
    let mut s = losing_the_second();
    s.ack_segment([101, 102, 103], 1);
    s.expect_until(104, &[(103, segment(2))]);
    s.ack_segment([110], 2); // partial
    s.expect_until(132, &[]);
    s.expect(133, &[segment(3)]);
    // Timeout: the token is there, the rest follows at its pace.
    let mut s = losing_the_second();
    s.expect_until(300, &[(240, segment(2))]);
    s.ack_segment([305], 2);
    s.expect_until(360, &[(305, segment(3)), (335, segment(4))]);
}

#[test]
fn tahoe_sends_the_lost_segment_once() {
    let tahoe = Config::ns2().controlled_by(tahoe(Rules::NS2));
    let mut s = Script::established(tahoe.paced_by(fixed()));
    s.write_endless(0);
    s.advance(ms(40));
    s.ack_segment([41], 1);
    s.advance(ms(100));
    s.out.clear();
    s.ack_segment([101, 102, 103], 1);
    s.expect_until(250, &[(103, segment(2))]);
}

#[test]
fn karn_for_the_rate_law() {
    let mut s = paced(khd());
    s.expect_until(240, &[(0, segment(1)), (50, segment(2)), (200, segment(1))]);
    s.ack_segment([241], 1);
    assert_eq!(s.tcp.pacing().samples, 0, "1 left twice");
    s.ack_segment([242], 2); // 2 left once, at 50, and waits to leave again
    assert_eq!(s.tcp.pacing().samples, 1);
}

#[test]
fn without_back_off_if_so_configured() {
    let config = Config { rto_backoff: false, ..Config::ns2() }.paced_by(khd());
    let mut s = Script::established(config);
    s.write_endless(0);
    s.out.clear();
    s.expect_until(650, &[(50, segment(2)), (200, segment(1)), (400, segment(1)), (600, segment(1))]);
}

#[test]
fn the_fin_follows_the_data_and_waits_for_no_token() {
    let mut s = Script::established(Config::ns2().paced_by(fixed()));
    s.write(0, MSS + 10);
    s.expect_until(39, &[(0, segment(1)), (30, data(MSS..MSS + 10))]);
    s.app(40, crate::Connection::close);
    s.expect(40, &[data(MSS + 10..MSS + 10).fin()]);
}

fn gap_sender() -> Script {
    paced(WirelessKhd::new(AdaptiveConfig::PAPER, HopSource::Ack))
}

fn with_option(s: &mut Script, at: u64, n: u64, rtt_wired: Option<u64>) {
    s.options.rtt_wired = rtt_wired.map(Span::from_millis);
    s.ack_segment([at], n);
}

#[test]
fn the_wired_part_does_not_count() {
    let mut s = gap_sender();
    with_option(&mut s, 150, 1, Some(110)); // 2 * (40 / 4 + 5.84)
    assert_eq!(s.tcp.pacing().interval, Some(Span::from_micros(31_680)));
}

#[test]
fn the_oldest_newly_acknowledged_segment_is_the_sample() {
    let mut s = gap_sender();
    s.advance(ms(60)); // 1 left at 0, 2 at 50
    with_option(&mut s, 100, 2, Some(60)); // (100 - 60) / 4
    assert_eq!(s.tcp.pacing().interval, Some(Span::from_micros(31_680)));
}

#[test]
fn no_option_no_update() {
    let mut s = gap_sender();
    with_option(&mut s, 100, 1, Some(60));
    let interval = s.tcp.pacing().interval;
    for n in 2..20 {
        s.advance(ms(100 * n));
        with_option(&mut s, 100 * n, n, None);
    }
    assert_eq!(s.tcp.pacing().interval, interval, "R unchanged, and the pacer stays");
    // A wired part as long as the whole is discarded.
    s.advance(ms(2_000));
    with_option(&mut s, 2_000, 20, Some(60_000));
    assert_eq!((s.tcp.pacing().interval, s.tcp.pacing().samples), (interval, 1));
}

#[test]
fn three_acks_without_the_option_end_pacing() {
    let mut s = gap_sender();
    s.expect_until(60, &[(0, segment(1)), (50, segment(2))]);
    with_option(&mut s, 61, 1, None);
    with_option(&mut s, 62, 2, None);
    assert_eq!(s.tcp.pacing().interval, Some(Span::from_millis(50)));
    s.expect_until(160, &[(100, segment(3)), (150, segment(4))]);
    with_option(&mut s, 161, 3, None); // the third: plain NewReno, 3 + 5 segments
    assert_eq!(s.tcp.pacing().interval, None);
    s.expect(161, &segments(5..=8));
    // Never again the initial interval; a gateway that appears later is heeded.
    with_option(&mut s, 162, 4, None);
    s.expect(162, &segments(9..=10));
    s.expect(205, &[]);
    with_option(&mut s, 209, 5, Some(8)); // 48 - 8
    assert_eq!(s.tcp.pacing().interval, Some(Span::from_micros(31_680)));
}

#[test]
fn a_gateway_once_seen_stays() {
    let mut s = gap_sender();
    with_option(&mut s, 10, 1, Some(10)); // discarded, but there is a gateway
    for n in 2..8 {
        s.advance(ms(50 * n));
        with_option(&mut s, 50 * n, n - 1, None);
    }
    assert_eq!(s.tcp.pacing().interval, Some(Span::from_millis(50)));
}

#[test]
fn exact_stamps_travel_only_where_they_are_asked_for() {
    let mut s = Script::connect(Config::ns2());
    assert!(s.out.pop().unwrap().1.segment.ns2.is_some());
    let mut s = Script::connect(Config { exact_stamps: false, ..Config::ns2() });
    assert_eq!(s.out.pop().unwrap().1.segment.ns2, None);
    // The echo is the departure of the segment that triggered the acknowledgement.
    let mut s = Script::established(Config::ns2());
    s.raw(70, |segment| {
        (segment.payload, segment.ns2) = (10, Some(crate::Ns2Stamp { sent: ms(33), echo: None }));
    });
    let stamp = s.out.pop().unwrap().1.segment.ns2.unwrap();
    assert_eq!((stamp.sent, stamp.echo), (ms(70), Some(ms(33))));
}
