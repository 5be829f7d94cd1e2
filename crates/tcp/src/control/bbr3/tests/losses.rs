//! What losses bound, and what gives it back (sections 5.5.10, 5.5.11).

use super::*;

#[test]
fn too_much_lost_in_a_probe_sets_the_bound_where_the_loss_passed_two_percent() {
    // [Handling Loss During PROBE_UP After inflight_longterm is Set]
    let mut told = ScriptedSender::cruising();
    told.until(State::Up, 8);
    told.acks(12, 100);
    assert!(told.bbr.cycle.is_sample);
    told.lose(50);
    assert_eq!(told.bbr.state, State::Up, "one of a hundred");
    told.lose(50);
    assert_eq!(told.bbr.state, State::Up, "two percent are not more than two percent");
    told.lose(50);
    // 99 and two lost before it: (0.02 * 99 - 2) / 0.98 of a segment more.
    let bound = 99.0 + (0.02 * 99.0 - 2.0) / 0.98;
    assert!((told.segments(told.bbr.long_term) - bound).abs() < 1e-6, "{}", told.bbr.long_term);
    assert_eq!((told.bbr.state, told.bbr.saved.state), (State::Down, Some(State::Up)));
    assert!(told.bbr.cycle.too_high && !told.bbr.cycle.is_sample);
    let before = told.bbr.long_term;
    (0..5).for_each(|_| told.lose(50));
    assert_eq!(told.bbr.long_term, before, "once a probe");
}

#[test]
fn a_bound_is_no_less_than_seven_tenths_of_what_is_wanted_and_none_of_the_application() {
    let mut told = ScriptedSender::cruising();
    told.until(State::Up, 8);
    told.acks(12, 4);
    told.bbr.window.set(20.0);
    told.lose(50);
    // One of four is too many; ten fill the path.
    assert!((told.segments(told.bbr.long_term) - 7.0).abs() < 1e-6, "{}", told.bbr.long_term);
    // [Exiting PROBE_UP on Loss When Application-Limited]
    let mut told = ScriptedSender::cruising();
    told.until(State::Up, 8);
    told.app_limited = true;
    told.acks(12, 4);
    told.lose(50);
    assert_eq!((told.bbr.state, told.bbr.long_term), (State::Down, f64::INFINITY));
}

#[test]
fn after_a_probe_that_lost_too_much_the_next_turns_back_at_the_bound_and_the_one_after_that_stays() {
    let mut told = ScriptedSender::cruising();
    told.bbr.long_term = 12e3;
    told.bbr.cycle.too_high = true;
    told.until(State::Up, 9);
    told.acks(2, 11);
    assert_eq!(told.bbr.state, State::Up);
    told.acks(1, 12);
    assert_eq!((told.bbr.state, told.bbr.cycle.too_high), (State::Down, false), "before it loses");
    // A round trip without excess: again, without a cruise.
    let since = told.history.len();
    told.until(State::Refill, 11);
    assert!(told.history.len() - since <= 11);
    told.until(State::Up, 12);
    told.acks(3, 12);
    assert_eq!(told.bbr.state, State::Up);
}

#[test]
fn losses_beside_a_probe_bound_bandwidth_and_window_by_what_is_delivered_until_the_refill() {
    let mut told = ScriptedSender::cruising();
    told.bbr.window.set(20.0);
    told.rate = 60e3;
    told.bbr.cycle.rounds_since_up = 0;
    told.acks(25, 8);
    assert_eq!(told.bbr.bandwidth, 100e3, "nothing was lost");
    told.bbr.cycle.rounds_since_up = 0;
    told.lose(50);
    // With the round trip in which that was found.
    told.acks(12, 8);
    let bound = told.bbr.losses;
    assert!(bound.bandwidth < 100e3 && bound.bandwidth >= 70e3, "{bound:?}");
    assert!(bound.inflight.is_finite());
    assert_eq!(told.bbr.bandwidth, bound.bandwidth);
    told.bbr.cycle.rounds_since_up = 0;
    told.lose(50);
    told.acks(12, 8);
    assert!(
        told.bbr.losses.bandwidth <= 70e3 && told.bbr.losses.bandwidth >= 60e3,
        "no less than is delivered"
    );
    told.until(State::Refill, 8);
    assert_eq!((told.bbr.losses.bandwidth, told.bbr.losses.inflight), (f64::INFINITY, f64::INFINITY));
}

#[test]
fn a_loss_that_was_none_gives_back_window_bounds_and_state() {
    // [Handling Spurious Fast Recovery]
    let mut told = ScriptedSender::cruising();
    told.until(State::Up, 8);
    told.acks(12, 10);
    told.bbr.long_term = 30e3;
    let window = told.bbr.window.cwnd();
    told.lose(50);
    assert_eq!(told.bbr.state, State::Down);
    assert!(told.bbr.long_term < 30e3);
    told.bbr.window.set(4.0);
    told.bbr.on_undo();
    assert_eq!((told.bbr.state, told.bbr.long_term), (State::Refill, 30e3));
    assert_eq!(told.bbr.window.cwnd(), window);
    // [Handling Spurious RTO Recovery]
    let mut told = ScriptedSender::cruising();
    let window = told.bbr.window.cwnd();
    told.bbr.in_flight = 2_000;
    let out = Outstanding { queued: false, una: 1, nxt: 1, max: 1, flight: 0.0, limit: f64::INFINITY };
    told.bbr.on_timeout(told.now, false, &out);
    assert_eq!(told.bbr.window.cwnd(), 3.0, "what is in flight and a segment");
    told.bbr.on_undo();
    assert_eq!(told.bbr.window.cwnd(), window);
}

#[test]
fn a_mark_counts_as_congestion() {
    let mut told = ScriptedSender::cruising();
    told.until(State::Up, 8);
    told.acks(12, 12);
    told.ack(12, Stage::Open, true);
    assert_eq!(told.bbr.state, State::Down);
    assert!(told.bbr.long_term.is_finite());
    let mut told = ScriptedSender::cruising();
    told.rate = 60e3;
    told.bbr.cycle.rounds_since_up = 0;
    told.acks(25, 8);
    told.ack(8, Stage::Open, true);
    told.acks(12, 8);
    assert!(told.bbr.losses.bandwidth < 100e3, "{:?}", told.bbr.losses);
}
