//! Startup, Drain, and what fills the pipe (sections 5.3.1, 5.3.2, 5.5.9).

use super::*;

#[test]
fn startup_ends_on_a_plateau_and_drain_when_what_is_in_flight_fills_the_path() {
    // [Exiting STARTUP on Bandwidth Plateau], [Exiting DRAIN Based on Inflight]
    let mut told = ScriptedSender::new();
    assert_eq!(told.bbr.state.gains(), (2.77, 2.0));
    told.until(State::Drain, 20);
    assert!(told.bbr.full.now && told.bbr.full.reached);
    assert_eq!(told.bbr.max_bandwidth.get(), 100e3);
    // A first round, then three of ten acknowledgements without more.
    assert!((31..=42).contains(&told.history.len()), "{}", told.history.len());
    assert_eq!(told.bbr.state.gains(), (0.5, 2.0));
    told.acks(3, 20);
    assert_eq!(told.bbr.state, State::Drain);
    told.acks(1, 10);
    assert_eq!(told.bbr.state, State::Cruise, "nothing is left for Down to drain");
}

#[test]
fn drain_ends_after_three_round_trips() {
    // [Exiting DRAIN Based on Time]
    let mut told = ScriptedSender::new();
    told.until(State::Drain, 20);
    told.acks(29, 20);
    assert_eq!(told.bbr.state, State::Drain);
    told.until(State::Down, 20);
    assert_eq!(told.bbr.rounds.count, told.bbr.drain_since + 4);
}

#[test]
fn what_is_limited_by_the_application_fills_no_pipe() {
    // [Never Exiting PROBE_UP (or STARTUP) When Application-Limited With No Loss]
    let mut told = ScriptedSender::new();
    told.app_limited = true;
    told.acks(300, 8);
    assert_eq!(told.bbr.state, State::Startup);
    // Three round trips without growth end a probe where the application is not what limits: these are five.
    let after = |app_limited: bool| {
        let mut told = ScriptedSender::cruising();
        told.until(State::Up, 8);
        told.app_limited = app_limited;
        told.acks(50, 8);
        told.bbr.state
    };
    assert_eq!(after(true), State::Up);
    assert_ne!(after(false), State::Up);
}

#[test]
fn lumps_of_acknowledgements_do_not_keep_startup_from_the_bandwidth() {
    // [Achieving Expected STARTUP Bandwidth on a Link With Aggregation]
    let mut told = ScriptedSender::new();
    for rate in [25e3, 50e3, 100e3] {
        told.rate = rate;
        told.lump(20);
        assert_eq!((told.bbr.state, told.bbr.bandwidth), (State::Startup, rate));
        assert!(told.bbr.pace >= 2.77 * 0.99 * rate, "{}", told.bbr.pace);
    }
    assert!(told.bbr.aggregation.extra() > 0.0);
    assert!(told.bbr.window.cwnd() > 20.0, "more than twice what fills the path: {}", told.bbr.window.cwnd());
    (0..3).for_each(|_| told.lump(20));
    assert_eq!(told.bbr.state, State::Drain);
}

#[test]
fn a_lump_that_is_more_than_expected_is_added_to_the_window_for_ten_round_trips() {
    // [Achieving Expected Cruise Bandwidth on a Link With Aggregation]
    let mut told = ScriptedSender::cruising();
    let even = told.bbr.window.cwnd();
    assert!(even <= 23.0, "twice ten segments, and what delayed acknowledgements bring: {even}");
    (0..5).for_each(|_| told.lump(10));
    assert!((told.bbr.window.cwnd() - 30.0).abs() < 1e-9, "and ten more: {}", told.bbr.window.cwnd());
    told.now += Span::from_millis(110); // what comes later is not too much any more
    told.acks(80, 10);
    assert!(told.bbr.window.cwnd() >= 29.0, "{}", told.bbr.window.cwnd());
    told.acks(60, 10);
    assert!(told.bbr.window.cwnd() <= even, "{}", told.bbr.window.cwnd());
}

#[test]
fn startup_ends_when_six_ranges_and_two_percent_are_lost_in_a_round_of_recovery() {
    // [Exiting STARTUP on Loss When Application-Limited]
    let after = |ranges: u32| {
        let mut told = ScriptedSender::new();
        told.app_limited = true;
        told.acks(25, 20);
        let out = bare(
            AckKind::Duplicate,
            Outstanding { queued: false, una: 1, nxt: 1, max: 1, flight: 0.0, limit: 1e9 },
            MSS,
        )
        .out;
        told.lose(50);
        told.bbr.on_loss(0.0, &out);
        for _ in 0..30 {
            told.ack(20, Stage::Recovery, false);
            if told.bbr.losses.ranges < ranges {
                told.lose(50);
            }
        }
        told
    };
    let told = after(6);
    assert!(told.bbr.full.reached && told.bbr.full.now);
    assert!(matches!(told.bbr.state, State::Drain | State::Down | State::Cruise), "{:?}", told.bbr.state);
    // What fills the path, or what a round trip delivered: ten segments either way.
    assert!((told.segments(told.bbr.long_term) - 10.0).abs() <= 10.0 && told.bbr.long_term.is_finite());
    assert_eq!(after(5).bbr.state, State::Startup, "five may be a burst");
}
