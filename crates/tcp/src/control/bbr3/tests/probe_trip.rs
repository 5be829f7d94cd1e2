//! The probe of the round trip, and restarts from idle (sections 5.3.4, 5.4.3).

use super::*;

#[test]
fn five_seconds_without_a_shorter_round_trip_are_followed_by_half_of_the_window_for_200_ms_and_a_round() {
    // [Entering and Exiting PROBE_RTT]
    let mut told = ScriptedSender::cruising();
    told.acks(400, 8);
    told.until(State::ProbeTrip, 8);
    let since = told.now;
    assert!(
        since > Instant::ZERO + Span::from_secs(5) && since < Instant::ZERO + Span::from_millis(5_300),
        "{since:?}"
    );
    assert_eq!(told.bbr.state.gains(), (1.0, 0.5));
    assert_eq!(told.bbr.window.cwnd(), 5.0, "half of ten");
    told.acks(5, 8);
    assert_eq!(told.bbr.trips.done, None, "more than five are on their way");
    told.acks(1, 5);
    let small = told.now;
    told.until(State::Cruise, 5);
    let lasted = told.now.saturating_since(small);
    assert!(lasted > Span::from_millis(200) && lasted < Span::from_millis(320), "{lasted:?}");
    assert!(told.bbr.window.cwnd() > 5.0);
}

#[test]
fn a_probe_of_the_round_trip_before_the_pipe_is_full_goes_back_to_startup() {
    // [Entering and Exiting PROBE_RTT During STARTUP]
    let mut told = ScriptedSender::new();
    told.app_limited = true;
    told.until(State::ProbeTrip, 4);
    told.until(State::Startup, 4);
}

#[test]
fn who_was_idle_probes_no_round_trip_and_paces_at_the_bandwidth() {
    // [Skipping PROBE_RTT Due to Application-Limited Sending]
    let mut told = ScriptedSender::cruising();
    told.bbr.start_down(told.now);
    told.bbr.in_flight = 0;
    told.now += Span::from_secs(6);
    let sent = Sent::Data { start: 1 + told.delivered, length: MSS, first: true };
    told.bbr.on_departure(&Departure { now: told.now, token: told.now, sent });
    assert!(told.bbr.idle_restart);
    assert!((told.bbr.pace - 99e3).abs() < 1.0, "not nine tenths of it: {}", told.bbr.pace);
    told.acks(1, 5);
    assert_ne!(told.bbr.state, State::ProbeTrip);
    assert!(!told.bbr.idle_restart);
}
