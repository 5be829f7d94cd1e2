//! RACK-TLP and what goes with it: exact segment lists, after RFC 8985, 9937, 5682 and 3708.

use super::script::{MSS, Script, data, segment, segments};
use crate::control::{
    Ack, Asks, Congestion, InitialWindow, Recovered, Reno, Rules, Window,
    recovery::{Rack, With},
};
use crate::{Config, Options};
use alloc::boxed::Box;
use meshpace_units::Span;

/// Segments of 1,460 bytes, no timestamps, a minimum timeout of 200 ms.
fn config(window: f64, with: With) -> Config {
    let rto = crate::RtoConfig::Smoothed(crate::SmoothedConfig::LINUX);
    let rules = Rules { initial_window: InitialWindow::Segments(window), ..Rules::RFC };
    let control = Recovered::new(Box::new(Reno::new(rules)), Box::new(Rack::new(&rules, with)));
    Config { timestamps: false, rto, ..Config::rfc() }.controlled_by(control)
}

/// Opened at 100 ms, in a round trip of 100 ms.
fn with(window: f64, with: With) -> Script {
    let mut s = Script::connect(config(window, with));
    s.options =
        Options { mss: Some(1460), window_scale: Some(2), sack_permitted: true, ..Options::default() };
    s.raw(100, |segment| segment.flags.syn = true);
    (s.options, s.peer) = (Options::default(), 1);
    s.out.clear();
    s
}

fn established(window: f64) -> Script {
    with(window, With::ALL)
}

/// 1 to 10 left at 100 ms; 1 is acknowledged at 200 ms, which lets 11 and 12 out.
fn ten(with_all: With) -> Script {
    let mut s = with(10.0, with_all);
    s.write_endless(100);
    s.expect(100, &segments(1..=10));
    s.ack_segment([200], 1);
    s.expect(200, &segments(11..=12));
    s
}

/// The same, and 2 is lost: 3, 4 and 5 arrive.
fn in_recovery(with: With) -> Script {
    let mut s = ten(with);
    s.sack(201, 1, &[(3, 3)]);
    s.sack(202, 1, &[(3, 4)]);
    s.sack(203, 1, &[(3, 5)]);
    s.expect_until(203, &[(201, segment(13)), (202, segment(14)), (203, segment(2))]);
    s
}

#[test]
fn what_left_before_something_that_arrived_has_a_quarter_of_a_round_trip_more() {
    // RFC 8985, section 6.2: 3 left with 2 and arrived after 101 ms; a quarter of the least round trip is 25 ms.
    let mut s = ten(With::ALL);
    s.sack(201, 1, &[(3, 3)]);
    s.expect(201, &[segment(13)]);
    s.expect_until(300, &[(226, segment(2))]);
    let counters = s.tcp.counters();
    assert_eq!((counters.fast_retransmits, counters.timeouts), (1, 0));
    // 12 outstanding, without the one of limited transmit: half of 11. PRR: the ten in flight, and the fast retransmission.
    assert_eq!((s.cwnd(), s.tcp.ssthresh()), (11.0, Some(5.5)));
}

#[test]
fn what_comes_late_but_in_time_is_not_sent_again() {
    let mut s = ten(With::ALL);
    s.sack(201, 1, &[(3, 3)]);
    s.ack_segment([220], 3);
    s.ack_segment([222], 12);
    assert_eq!((s.tcp.counters().retransmits, s.tcp.ssthresh()), (0, None));
    // Reordering was seen: now three that arrived do not make a loss at once (section 6.2, step 4).
    s.out.clear();
    s.sack(323, 13, &[(15, 18)]);
    s.advance(super::script::ms(324));
    assert_eq!(s.tcp.counters().retransmits, 0);
    s.advance(super::script::ms(360));
    assert_eq!(s.tcp.counters().retransmits, 1);
}

#[test]
fn three_that_arrived_make_a_loss_at_once() {
    // The window is half of the flight, 13 less the two of limited transmit; recovery begins with nine in flight.
    let s = in_recovery(With::ALL);
    assert_eq!((s.cwnd(), s.tcp.ssthresh()), (10.0, Some(5.5)));
}

#[test]
fn in_recovery_every_second_arrival_lets_a_segment_out() {
    // RFC 9937: 5.5 of the 11 outstanding are wanted.
    let mut s = in_recovery(With::ALL);
    for (at, last) in [(204, 6), (205, 7), (206, 8), (207, 9), (208, 10)] {
        s.sack(at, 1, &[(3, last)]);
    }
    s.expect_until(208, &[(206, segment(15)), (208, segment(16))]);
    // What ends recovery leaves the window where it was to be.
    s.ack_segment([303], 14);
    assert_eq!((s.cwnd(), s.tcp.ssthresh()), (5.5, Some(5.5)));
}

#[test]
fn without_proportional_reduction_the_window_is_cut_at_once() {
    let mut s = in_recovery(With { proportional: false, ..With::ALL });
    assert_eq!(s.cwnd(), 5.5);
    s.sack(204, 1, &[(3, 8)]);
    s.expect(204, &[]);
}

#[test]
fn a_retransmission_that_is_lost_is_found_by_what_left_after_it() {
    let mut s = in_recovery(With::ALL);
    for (at, last) in [(204, 6), (205, 7), (206, 8)] {
        s.sack(at, 1, &[(3, last)]);
    }
    s.expect(206, &[segment(15)]);
    s.sack(302, 1, &[(3, 14)]);
    s.out.clear();
    // 15 left 3 ms after the second 2, and arrived.
    s.sack(306, 1, &[(3, 15)]);
    let first = s.out.first().map(|(_, transmit)| transmit.offset);
    assert_eq!((first, s.tcp.counters().timeouts), (Some(MSS), 0));
}

#[test]
fn where_no_acknowledgement_comes_the_last_segment_is_sent_again_as_a_probe() {
    // RFC 8985, section 7.2: 4 and 5 are lost. The probe is due two round trips after the last acknowledgement.
    let mut s = established(10.0);
    s.write(100, 5 * MSS);
    s.expect(100, &segments(1..=5));
    s.ack_segment([200], 3);
    s.expect_until(400, &[(400, segment(5))]);
    // Its answer shows that 4 is lost.
    s.sack(500, 3, &[(5, 5)]);
    s.expect(500, &[segment(4)]);
    s.ack_segment([600], 5);
    s.expect(9_000, &[]);
    assert_eq!((s.tcp.counters().timeouts, s.tcp.counters().retransmits), (0, 2));
}

#[test]
fn a_probe_is_new_data_if_there_are_any_beyond_the_window() {
    let mut s = established(2.0);
    s.write_endless(100);
    s.expect_until(300, &[(100, segment(1)), (100, segment(2)), (300, segment(3))]);
    // It arrives, 1 and 2 did not: half of the flight of two, at least two; one leaves for one that arrived.
    s.sack(400, 0, &[(3, 3)]);
    s.expect(400, &[segment(1)]);
    s.sack(500, 1, &[(3, 3)]);
    s.expect(500, &[segment(2), segment(4)]);
    assert_eq!((s.cwnd(), s.tcp.ssthresh(), s.tcp.counters().timeouts), (2.0, Some(2.0), 0));
}

#[test]
fn a_probe_takes_the_place_of_a_timeout_that_comes_before_it() {
    // Only 5 is out: its acknowledgement may be delayed, so the probe would be due at 600 ms, after the timer.
    let mut s = established(10.0);
    s.write(100, 5 * MSS);
    s.out.clear();
    s.ack_segment([200], 4);
    s.expect_until(500, &[(450, segment(5))]);
    assert_eq!((s.tcp.counters().timeouts, s.tcp.ssthresh()), (0, None));
    // If that is not answered, either, the timer runs out.
    s.expect_until(800, &[(700, segment(5))]);
    assert_eq!(s.tcp.counters().timeouts, 1);
}

#[test]
fn a_loss_that_a_probe_mended_is_answered_when_something_later_is_acknowledged() {
    // Section 7.4.2.
    let mut s = established(10.0);
    s.write(100, 5 * MSS);
    s.ack_segment([200], 4);
    s.ack_segment([550], 5);
    assert_eq!(s.tcp.ssthresh(), None);
    s.write(600, MSS);
    s.ack_segment([700], 6);
    assert_eq!((s.cwnd(), s.tcp.ssthresh()), (2.0, Some(2.0)));
    // Not if the peer got it twice.
    let mut s = established(10.0);
    s.write(100, 5 * MSS);
    s.ack_segment([200], 4);
    s.sack(550, 5, &[(5, 5)]);
    s.write(600, MSS);
    s.ack_segment([700], 6);
    assert_eq!(s.tcp.ssthresh(), None);
}

#[test]
fn without_probes_there_is_silence_until_the_timer() {
    let mut s = with(10.0, With { probes: false, ..With::ALL });
    s.write(100, 5 * MSS);
    s.out.clear();
    s.ack_segment([200], 3);
    s.expect_until(460, &[(450, segment(4))]);
    assert_eq!(s.tcp.counters().timeouts, 1);
}

/// Four are out, and nothing comes: a probe with 5 at 300 ms, a timeout at 600 ms.
fn timed_out(with_all: With) -> Script {
    let mut s = with(4.0, with_all);
    s.write_endless(100);
    s.out.clear();
    s.expect_until(600, &[(300, segment(5)), (600, segment(1))]);
    assert_eq!((s.cwnd(), s.tcp.counters().timeouts), (1.0, 1));
    s
}

#[test]
fn a_timeout_that_was_not_needed_is_taken_back() {
    // RFC 5682, section 3.1: the originals arrive, late. The first answer lets new data out, the second one shows it.
    let mut s = timed_out(With::ALL);
    s.ack_segment([650], 1);
    s.expect(650, &segments(6..=7));
    s.ack_segment([660], 2);
    s.expect(660, &[]);
    assert_eq!((s.cwnd(), s.tcp.ssthresh(), s.tcp.counters().retransmits), (4.0, None, 1));
    s.ack_segment([670], 5);
    s.expect(670, &segments(8..=10));
}

#[test]
fn a_timeout_that_was_needed_goes_on_when_new_data_arrive_instead() {
    let mut s = timed_out(With::ALL);
    s.ack_segment([700], 1);
    s.expect(700, &segments(6..=7));
    s.sack(800, 1, &[(6, 6)]);
    s.expect(800, &[segment(2)]);
    s.sack(801, 1, &[(6, 7)]);
    s.expect(801, &[segment(3)]);
    assert_eq!(s.tcp.ssthresh(), Some(2.0));
}

#[test]
fn a_timeout_in_recovery_is_not_taken_back() {
    // 2 was lost, and so was its retransmission: what fills the hole shows nothing of the timeout, and what had been on its way
    // arrives.
    let mut s = in_recovery(With::ALL);
    s.advance(super::script::ms(700));
    assert_eq!((s.cwnd(), s.tcp.counters().timeouts), (1.0, 1));
    s.out.clear();
    s.sack(720, 2, &[(3, 5)]);
    s.ack_segment([721], 8);
    assert!(s.cwnd() <= 5.5 && s.tcp.ssthresh().is_some_and(|ssthresh| ssthresh <= 5.5), "{}", s.cwnd());
}

#[test]
fn without_f_rto_what_is_lost_is_sent_again_at_once() {
    let mut s = timed_out(With { forward: false, ..With::ALL });
    s.ack_segment([650], 1);
    s.expect(650, &segments(2..=3));
}

#[test]
fn a_report_that_everything_arrived_twice_takes_a_recovery_back() {
    // RFC 3708: 2 was late. Then its retransmission arrives.
    let mut s = in_recovery(With::ALL);
    s.ack_segment([210], 5);
    s.sack(303, 12, &[(2, 2)]);
    assert_eq!((s.cwnd(), s.tcp.ssthresh()), (11.0, None));
    let mut s = in_recovery(With { undoes: false, ..With::ALL });
    s.ack_segment([210], 5);
    s.sack(303, 12, &[(2, 2)]);
    assert_eq!(s.tcp.ssthresh(), Some(5.5));
}

/// 1 is lost, 2 to 4 arrive 120 ms after they left and 1 leaves again; then the originals of 5 to 10, one by one.
fn reported_late(rto: crate::RtoConfig) -> Script {
    let mut s = Script::connect(Config { rto, ..config(10.0, With::ALL) });
    s.options =
        Options { mss: Some(1460), window_scale: Some(2), sack_permitted: true, ..Options::default() };
    s.raw(100, |segment| segment.flags.syn = true);
    (s.options, s.peer) = (Options::default(), 1);
    s.write_endless(100);
    s.out.clear();
    for last in 2..=10 {
        s.sack(218 + last, 0, &[(2, last)]);
    }
    s
}

#[test]
fn linux_measures_what_is_reported_and_gives_the_first_its_time_anew() {
    let smoothed = crate::SmoothedConfig::LINUX;
    // Without reports: one round trip of 100 ms, the handshake's; 1 leaves again at 222 ms, and the timer with it.
    let s = reported_late(crate::RtoConfig::Smoothed(smoothed));
    assert_eq!(s.tcp.srtt(), Some(Span::from_millis(100)));
    // Linux's tcp_ack_update_rtt: those of 120 to 128 ms, too.
    let mut s = reported_late(crate::RtoConfig::Linux(smoothed));
    assert!(s.tcp.srtt().is_some_and(|srtt| srtt > Span::from_millis(115)), "{:?}", s.tcp.srtt());
    // The last report came at 228 ms, of what had left before 1 did for the last time.
    let timeout = s.tcp.rto();
    s.out.clear();
    s.advance(super::script::ms(228) + timeout - Span::from_millis(1));
    assert_eq!(s.tcp.counters().timeouts, 0);
    s.advance(super::script::ms(228) + timeout);
    assert_eq!(s.tcp.counters().timeouts, 1);
}

/// Its window is as many segments as the latest sample has milliseconds.
#[derive(Clone, Debug)]
struct Sampled(Window);

impl Congestion for Sampled {
    fn asks(&self) -> Asks {
        Asks { round_trips: true, ..Asks::default() }
    }

    fn window(&self) -> &Window {
        &self.0
    }

    fn window_mut(&mut self) -> &mut Window {
        &mut self.0
    }

    fn on_ack(&mut self, ack: &Ack<'_>) {
        if let Some(sample) = ack.sample {
            self.0.set(sample.as_secs_f64() * 1e3);
        }
    }

    fn on_progress(&mut self, _: &Ack<'_>) {}
}

#[test]
fn a_control_has_the_round_trip_of_what_arrived_last_of_what_was_not_known_before() {
    let after = |rto: crate::RtoConfig| {
        let rules = Rules { initial_window: InitialWindow::Segments(10.0), ..Rules::RFC };
        let sampled: Box<dyn Congestion> = Box::new(Sampled(Window::new(rules).directed()));
        let control = Recovered::new(sampled, Box::new(Rack::new(&rules, With::ALL)));
        let mut s =
            Script::connect(Config { timestamps: false, rto, ..Config::rfc() }.controlled_by(control));
        s.options =
            Options { mss: Some(1460), window_scale: Some(2), sack_permitted: true, ..Options::default() };
        s.raw(100, |segment| segment.flags.syn = true);
        (s.options, s.peer) = (Options::default(), 1);
        // Ten leave at 100 ms; nothing further that matters here.
        s.write(100, 10 * MSS);
        let mut samples = alloc::vec![];
        // 1 is late; 2 and 3 are reported; 1 and 4 are acknowledged with them; 5, all of which is known by then.
        for (at, n, blocks) in
            [(200, 0, &[(2, 3)][..]), (210, 4, &[][..]), (220, 4, &[(6, 6)]), (230, 6, &[])]
        {
            s.sack(at, n, blocks);
            samples.push(s.cwnd());
        }
        samples
    };
    let smoothed = crate::SmoothedConfig::LINUX;
    assert_eq!(after(crate::RtoConfig::Linux(smoothed)), [100.0, 110.0, 120.0, 130.0]);
    assert_eq!(after(crate::RtoConfig::Smoothed(smoothed)), [10.0, 110.0, 110.0, 130.0], "no reports");
}

#[test]
fn a_peer_without_reports_is_served_by_newreno() {
    let mut s = Script::connect(config(10.0, With::ALL));
    s.options = Options { mss: Some(1460), window_scale: Some(2), ..Options::default() };
    s.raw(0, |segment| segment.flags.syn = true);
    (s.options, s.peer) = (Options::default(), 1);
    s.out.clear();
    s.write_endless(0);
    s.ack_segment([100], 1); // as in rfc.rs: fast_recovery
    s.out.clear();
    s.ack_segment([101, 102, 103], 1);
    s.expect_until(103, &[(101, segment(13)), (102, segment(14)), (103, segment(2))]);
    s.ack_segment([200], 5);
    s.out.clear();
    // A timeout goes back.
    s.expect_until(420, &[(400, segment(6))]);
}

#[test]
fn the_end_of_a_connection_is_sent_again_with_its_data() {
    let mut s = established(10.0);
    s.write(100, 2 * MSS + 100);
    s.app(100, crate::Connection::close);
    s.out.clear();
    s.ack_segment([200], 1);
    s.expect_until(420, &[(400, data(2 * MSS..2 * MSS + 100).fin())]);
    s.ack(500, 2 * MSS + 101);
    s.expect(9_000, &[]);
    // The FIN alone.
    let mut s = established(10.0);
    s.write(100, MSS);
    s.ack_segment([200], 1);
    s.app(200, crate::Connection::close);
    s.out.clear();
    s.expect_until(500, &[(450, data(MSS..MSS).fin())]);
}

#[test]
fn what_became_too_big_for_the_path_is_sent_again_without_a_cut() {
    let mut s = established(10.0);
    s.write(100, 2 * MSS);
    s.out.clear();
    s.app(110, |tcp| tcp.set_mss(1000));
    s.expect(110, &[data(0..1000), data(1000..1460), data(1460..2460), data(2460..2920)]);
    assert_eq!(s.tcp.ssthresh(), None);
}
