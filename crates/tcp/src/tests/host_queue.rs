//! Small queues: how much of a sender is in its host's queue, and what lets more come.

use super::script::{MSS, Script, ms, segment, segments};
use crate::control::{Ack, Allowance, Asks, Fixed, InitialWindow, PacingView, Reaction, Rules, newreno};
use crate::{Config, Connection, Control, Flags, HostQueue, Options, RtoConfig, SmoothedConfig};
use meshpace_units::Span;
use std::sync::{Arc, Mutex};

fn config() -> Config {
    let rules = Rules { initial_window: InitialWindow::Segments(10.0), ..Rules::RFC };
    let rto = RtoConfig::Smoothed(SmoothedConfig::LINUX);
    Config { rto, host_queue: Some(HostQueue::WIRELESS), ..Config::ns2().controlled_by(newreno(rules)) }
}

/// A handshake that takes so long; everything that may leaves then.
fn established(config: Config, trip: u64) -> Script {
    let mut s = Script::connect(config);
    s.out.clear();
    s.options =
        Options { mss: Some(1460), window_scale: Some(2), sack_permitted: true, ..Options::default() };
    s.raw(trip, |segment| segment.flags = Flags { syn: true, ack: true, ..Flags::default() });
    s.options = Options::default();
    s.peer = 1;
    s.out.clear();
    s.write_endless(trip);
    s
}

/// So many segments have left the host.
fn leave(s: &mut Script, at: u64, count: u32) {
    for _ in 0..count {
        s.app(at, |tcp: &mut Connection| tcp.handle_departure(ms(at)));
    }
}

#[test]
fn two_bursts_are_in_the_host_and_the_next_comes_when_one_has_left_whole() {
    // Twice the window over 400 ms makes 570 bytes in 1/128 s: bursts of the least length, two segments.
    let mut s = established(config(), 400);
    assert!(s.tcp.asks_departures());
    s.expect(400, &segments(1..=4));
    leave(&mut s, 410, 1);
    s.expect_until(420, &[]);
    leave(&mut s, 420, 1);
    s.expect(420, &segments(5..=6));
    leave(&mut s, 430, 4);
    s.expect(430, &segments(7..=10));
    leave(&mut s, 440, 4);
    s.expect_until(500, &[]); // that is the window
    // It has grown by a segment.
    s.ack_segment([800], 2);
    s.expect(800, &segments(11..=13));
}

#[test]
fn what_the_pace_makes_may_be_there_even_if_it_is_more() {
    // Twice the window over 20 ms: 11,406 bytes in 1/128 s, in 1/1024 s but 1,425. Seven segments are a burst, two of which are
    // more than the ten of the window.
    let mut s = established(config(), 20);
    s.expect(20, &segments(1..=10));
    let mut s = established(Config { host_queue: Some(HostQueue::WIRED), ..config() }, 20);
    s.expect(20, &segments(1..=4));
    // A near peer gets long bursts: 65,215 bytes / 2^(8 ms / 512 us) are none, / 2^(1 ms / 512 us) 32,607.
    let mut s = established(Config { host_queue: Some(HostQueue::WIRED), ..config() }, 8);
    s.expect(8, &segments(1..=4));
    let mut s = established(Config { host_queue: Some(HostQueue::WIRED), ..config() }, 1);
    s.expect(1, &segments(1..=10));
}

#[test]
fn one_burst_alone_does_not_wait() {
    let mut s = established(config(), 400);
    s.expect(400, &segments(1..=4));
    // No departure is reported, but acknowledged data are not out.
    s.ack_segment([810], 2);
    s.expect(810, &segments(5..=6));
    s.ack_segment([820], 5);
    s.expect(820, &segments(7..=8));
}

/// A control whose pace makes next to nothing in the time of a burst, and which asks for bursts of so many segments.
#[derive(Clone, Copy, Debug)]
struct Together(u32);

impl Control for Together {
    fn on_ack(&mut self, _: &Ack<'_>) -> Reaction {
        Reaction::Continue
    }

    fn window(&self, mss: u32, _: bool) -> Option<Allowance> {
        Some(Allowance { bytes: 10 * u64::from(mss), extension: 0 })
    }

    fn pacing(&self) -> PacingView {
        PacingView { interval: Some(Span::from_secs(1)), together: self.0, ..PacingView::default() }
    }
}

#[test]
fn a_burst_is_as_long_as_the_control_asks_for() {
    let of = |together: u32| established(config().controlled_by(Together(together)), 400);
    of(0).expect(400, &segments(1..=4));
    of(3).expect(400, &segments(1..=6));
    of(5).expect(400, &segments(1..=10));
}

#[test]
fn what_is_sent_again_has_twice_the_room() {
    let mut s = established(config(), 400);
    s.expect(400, &segments(1..=4));
    leave(&mut s, 401, 2);
    s.expect(401, &segments(5..=6));
    leave(&mut s, 402, 2);
    s.expect(402, &segments(7..=8));
    // Two bursts are there. Limited transmit (RFC 3042) waits, the retransmission does not.
    s.ack_segment([800, 801, 802], 0);
    s.expect_until(900, &[(802, segment(1))]);
}

#[test]
fn what_a_timeout_sends_again_does_not_wait() {
    let mut s = established(config(), 400);
    s.expect(400, &segments(1..=4));
    // Nothing is told to have left: 400 ms and four times half of it later.
    s.expect_until(1_599, &[]);
    s.expect_until(1_700, &[(1_600, segment(1))]);
}

#[test]
fn a_pace_waits_for_the_host_and_its_driver_sleeps_until_then() {
    let mut s = established(config().paced_by(Fixed::new(Span::from_millis(30))), 400);
    s.expect_until(600, &[(400, segment(1)), (430, segment(2)), (460, segment(3)), (490, segment(4))]);
    assert!(s.tcp.poll_timeout().is_some_and(|at| at > ms(1000)), "but for the retransmission timer");
    leave(&mut s, 700, 2);
    s.expect(700, &[segment(5)]);
    leave(&mut s, 710, 1);
    s.expect_until(900, &[(730, segment(6)), (760, segment(7))]);
}

#[test]
fn who_has_no_limit_is_not_told() {
    let mut s = established(Config { host_queue: None, ..config() }, 400);
    assert!(!s.tcp.asks_departures());
    s.expect(400, &segments(1..=10));
    leave(&mut s, 401, 1);
    s.expect_until(500, &[]);
}

/// Ten segments, and whether the samples of the delivery rate say that the application limited them.
#[derive(Clone, Debug, Default)]
struct Samples(Arc<Mutex<std::vec::Vec<bool>>>);

impl Control for Samples {
    fn asks(&self) -> Asks {
        Asks { delivery_rate: true, ..Asks::default() }
    }

    fn on_ack(&mut self, ack: &Ack<'_>) -> Reaction {
        self.0.lock().unwrap().extend(ack.rate.map(|rate| rate.app_limited));
        Reaction::Continue
    }

    fn window(&self, mss: u32, _: bool) -> Option<Allowance> {
        Some(Allowance { bytes: 10 * u64::from(mss), extension: 0 })
    }
}

#[test]
fn the_application_limits_nothing_while_something_is_in_the_host() {
    let limited = |left: u32| {
        let samples = Samples::default();
        let mut s = Script::connect(config().controlled_by(samples.clone()));
        s.options = Options { mss: Some(1460), window_scale: Some(2), ..Options::default() };
        s.raw(400, |segment| segment.flags = Flags { syn: true, ack: true, ..Flags::default() });
        s.options = Options::default();
        s.peer = 1;
        s.out.clear();
        s.write(400, 4 * MSS);
        s.expect(400, &segments(1..=4));
        // Those left after the handshake, a time without data.
        s.ack_segment([800], 4);
        leave(&mut s, 801, left);
        s.write(802, MSS);
        s.expect(802, &[segment(5)]);
        s.ack_segment([1_200], 5);
        samples.0.lock().unwrap().clone()
    };
    assert_eq!(limited(4), [true, true], "the fifth left after a time without data");
    assert_eq!(limited(3), [true, false], "the host still had one of the first four");
}
