//! The cycle that probes the bandwidth (section 5.3.3).

use super::*;

#[test]
fn the_cycle_is_down_cruise_refill_up() {
    // [Exiting PROBE_DOWN on Inflight], [Exiting PROBE_UP on Bandwidth Plateau]
    let mut told = ScriptedSender::cruising();
    told.until(State::Refill, 8);
    // Ten segments fill the path: so many round trips or one fewer have passed, long before 2 s.
    assert_eq!(told.bbr.state.gains(), (1.0, 2.0));
    let since = told.history.len();
    told.until(State::Up, 10);
    assert!((9..=11).contains(&(told.history.len() - since)), "one round trip");
    assert_eq!((told.bbr.state.gains(), told.bbr.cycle.phase), ((1.25, 2.25), AckPhase::Starting));
    told.acks(12, 13);
    assert_eq!(told.bbr.cycle.phase, AckPhase::Feedback);
    let since = told.history.len();
    told.until(State::Down, 13);
    assert!((15..=35).contains(&(told.history.len() - since)), "three round trips without a quarter more");
    assert_eq!(told.bbr.state.gains(), (0.9, 2.0));
    // Down until what fills the path, and no more than that, is in flight: ten, but there is room for six at least.
    told.acks(3, 11);
    assert_eq!(told.bbr.state, State::Down);
    told.acks(1, 10);
    assert_eq!(told.bbr.state, State::Cruise);
}

#[test]
fn down_leaves_headroom_below_the_long_term_bound_and_ends_after_the_wait() {
    // [Exiting PROBE_DOWN After Max Time]
    let mut told = ScriptedSender::cruising();
    told.bbr.start_down(told.now);
    told.bbr.long_term = 10e3;
    told.acks(1, 9);
    assert_eq!(told.bbr.state, State::Down, "8.5 are left");
    let mut other = ScriptedSender::cruising();
    other.bbr.start_down(other.now);
    other.bbr.long_term = 10e3;
    other.acks(1, 8);
    assert_eq!(other.bbr.state, State::Cruise);
    assert!(other.bbr.window.cwnd() <= 8.5, "{}", other.bbr.window.cwnd());
    // 20 in flight for ever: to the refill without a cruise, by rounds or after 2 to 3 s.
    told.until(State::Refill, 20);
}

#[test]
fn probes_are_two_to_three_seconds_apart_or_as_many_round_trips_as_segments_fill_the_path() {
    let mut told = ScriptedSender::cruising();
    told.bbr.start_down(told.now);
    let (since, drawn) = (told.history.len() as u64, told.bbr.cycle.rounds_since_up);
    told.until(State::Refill, 8);
    let rounds = (told.history.len() as u64 - since) / 10;
    assert!((9 - drawn..=11).contains(&rounds), "{rounds}");
    // Of more than 63 segments the clock decides.
    let mut told = ScriptedSender::cruising();
    told.bbr.start_down(told.now);
    (told.bbr.max_bandwidth, told.bbr.bandwidth) = (MaxBandwidth::default(), 1e6);
    told.bbr.max_bandwidth.update(1e6, false);
    told.bbr.window.set(100.0);
    let began = told.now;
    told.rate = 1e6;
    told.until(State::Refill, 90);
    let waited = told.now.saturating_since(began);
    assert!(waited > Span::from_secs(2) && waited < Span::from_millis(3_020), "{waited:?}");
}

#[test]
fn the_long_term_bound_grows_by_one_two_four_segments_a_round_trip() {
    // [Increasing Bandwidth 10x and Ensuring Full Bandwidth is Reached]
    let mut told = ScriptedSender::cruising();
    told.bbr.long_term = 10e3;
    told.until(State::Up, 9);
    let mut grown = Vec::new();
    for _ in 0..4 {
        let before = told.bbr.long_term;
        for _ in 0..10 {
            told.bbr.window.set(told.bbr.long_term / 1e3);
            told.bbr.limited = [true, true];
            told.rate *= 1.01; // or the pipe would be full
            told.acks(1, 9);
            told.bbr.limited = [true, true];
        }
        grown.push(told.segments(told.bbr.long_term - before));
    }
    assert_eq!(told.bbr.state, State::Up);
    assert!(grown[0] <= 2.0 && grown[3] >= 4.0 && grown[3] > 2.0 * grown[1], "{grown:?}");
}

#[test]
fn low_samples_of_the_application_do_not_lower_the_bandwidth_in_a_refill() {
    // [Handling Application-Limited Sending During PROBE_REFILL]
    let mut told = ScriptedSender::cruising();
    told.until(State::Refill, 8);
    (told.app_limited, told.rate) = (true, 20e3);
    told.until(State::Up, 3);
    assert_eq!(told.bbr.max_bandwidth.get(), 100e3);
}
