//! Virtual carrier sense: the NAV, and EIFS, which is one.
//!
//! Seen by when station 0 sends a broadcast that it has had from the beginning: after the silence, DIFS and the whole
//! backoff, since the air is never free before. Puppets 1 (right) and 2 (left) are at 200 m, 3 at 400 m right.

use super::{ACK, CTS, DATA, DIFS, EIFS, RTS, TIMEOUT};
use crate::air::{Air, Draws, Setup, at, line};
use meshpace_radio::{Category, Frame, FrameKind};
use meshpace_units::Span;

/// When the medium turned idle for station 0, given what the puppets say.
#[track_caller]
fn idle_since(setup: &Setup, frames: &[(f64, Frame)]) -> f64 {
    let mut air = Air::new(setup, &line(&[0.0, 200.0, -200.0, 400.0])).puppets(&[1, 2, 3]);
    for (start, frame) in frames {
        air.say(at(*start), frame.clone());
    }
    air.offer(at(0.0), 0, setup.packet(None, 100));
    air.run_until(at(60_000.0));
    let sent = air.times(0, FrameKind::Data);
    assert_eq!(sent.len(), 1);
    let difs = setup.phy.difs().as_nanos() as f64 / 1e3;
    sent[0].as_nanos() as f64 / 1e3
        - difs
        - Draws::of(setup, 0).backoff(setup.phy.window(Category::BestEffort).0)
}

#[track_caller]
fn assert_idle_since(want: f64, setup: &Setup, frames: &[(f64, Frame)]) {
    let got = idle_since(setup, frames);
    assert!((got - want).abs() < 0.0015, "idle since {got}, expected {want}");
}

fn micros(span: Span) -> f64 {
    span.as_nanos() as f64 / 1e3
}

#[test]
fn each_frame_reserves_what_its_duration_field_says() {
    let setup = Setup::dsss(11.0, true);
    let (rts, cts) = (setup.rts(1, 9, 1500), setup.cts(1, 9, 1500));
    let (data, ack) = (setup.data(1, 9, 1500, 1), setup.ack(1, 9));
    assert_idle_since(RTS + 1946.0, &setup, &[(0.0, rts.clone())]);
    assert_idle_since(CTS + 1632.0, &setup, &[(0.0, cts.clone())]);
    assert_idle_since(DATA + 314.0, &setup, &[(0.0, data.clone())]);
    assert_idle_since(ACK, &setup, &[(0.0, ack.clone())]);
}

#[test]
fn an_unreadable_frame_costs_eifs() {
    let setup = Setup::dsss(11.0, true);
    assert_idle_since(ACK + EIFS, &setup, &[(0.0, setup.ack(3, 9))]);
    // Its duration field cannot be read either.
    assert_idle_since(RTS + EIFS, &setup, &[(0.0, setup.rts(3, 9, 1500))]);
    // IEEE 802.11-2020, 10.3.7: SIFS 16 + DIFS 34 + ACK at 6 Mbit/s 44.
    let setup = Setup::ofdm(54.0, true);
    let ack = setup.ack(3, 9);
    let mut air = Air::new(&setup, &line(&[0.0, 200.0, -200.0, 400.0])).puppets(&[1, 2, 3]);
    air.say(at(0.0), ack.clone());
    air.offer(at(0.0), 0, setup.packet(None, 100));
    air.run_until(at(20_000.0));
    let slots = f64::from(Draws::of(&setup, 0).slots(15));
    assert_eq!(air.times(0, FrameKind::Data), [at(micros(ack.airtime) + 94.0 + 34.0 + 9.0 * slots)]);
}

/// ```text
/// 1 RTS                |NAV 1946 us ....................|
/// 2        ACK (its own duration field: 0)
/// ```
///
/// The data that was announced does not come: no reset either.
#[test]
fn the_nav_only_grows() {
    let setup = Setup::dsss(11.0, true);
    let long = setup.rts(1, 9, 1500);
    assert_idle_since(RTS + 1946.0, &setup, &[(0.0, long.clone()), (600.0, setup.ack(2, 9))]);
    assert_idle_since(RTS + 1946.0, &setup, &[(0.0, long.clone()), (600.0, setup.rts(2, 9, 40))]);
    assert_idle_since(RTS + 1946.0, &setup, &[(0.0, long.clone()), (600.0, setup.ack(3, 9))]);
    assert_idle_since(600.0 + RTS + 1946.0, &setup, &[(0.0, setup.rts(2, 9, 40)), (600.0, long.clone())]);
}

/// ```text
/// 3 (400 m) ACK|EIFS 364 us .................|
/// 2              ACK (read without error)
/// ```
#[test]
fn a_good_frame_does_not_cut_eifs_short() {
    let setup = Setup::dsss(11.0, true);
    assert_idle_since(ACK + EIFS, &setup, &[(0.0, setup.ack(3, 9)), (ACK + 20.0, setup.ack(2, 9))]);
}

#[test]
fn a_frame_for_this_node_leaves_the_nav_alone() {
    let setup = Setup::dsss(11.0, true);
    // A stray CTS for the station; a broadcast.
    assert_idle_since(CTS, &setup, &[(0.0, setup.cts(1, 0, 1500))]);
    let broadcast = setup.broadcast(1, 100);
    assert_idle_since(micros(broadcast.airtime), &setup, &[(0.0, broadcast)]);
}

/// Two frames of equal strength destroy each other; EIFS counts from the later end.
#[test]
fn a_collision_costs_eifs_after_the_later_end() {
    let setup = Setup::dsss(11.0, true);
    let (short, long) = (setup.ack(1, 9), setup.data(2, 9, 1500, 1));
    assert_idle_since(100.0 + DATA + EIFS, &setup, &[(0.0, short.clone()), (100.0, long.clone())]);
    assert_idle_since(DATA + EIFS, &setup, &[(0.0, long.clone()), (100.0, short.clone())]);
}

/// ```text
/// 1 RTS -----------------|
/// 0     ^ a packet comes: its time is not before the end of the reservation, or of an EIFS
/// 2         ACK -------------|EIFS |DIFS|bo
/// ```
///
/// The reservation is destroyed together with the RTS.
#[test]
fn a_reservation_that_collides_is_none() {
    let setup = Setup::dsss(11.0, true);
    let mut air = Air::new(&setup, &line(&[0.0, 200.0, -200.0])).puppets(&[1, 2]);
    air.say(at(0.0), setup.rts(1, 9, 1500));
    air.offer(at(100.0), 0, setup.packet(None, 100));
    air.say(at(200.0), setup.ack(2, 9));
    air.run_until(at(20_000.0));
    let own = 200.0 + ACK + EIFS + DIFS + Draws::of(&setup, 0).backoff(31);
    assert_eq!(air.times(0, FrameKind::Data), [at(own)]);
}

/// ```text
/// 1   DATA (to somebody else) ----------------|
/// 3 (400 m, 16 times weaker)            RTS ------|EIFS |
/// ```
///
/// The data is read, and reserves time for its ACK; the frame captured over reserves its own length and EIFS from its
/// start, whichever is later.
#[test]
fn a_frame_captured_over_reserves_its_length_and_eifs() {
    let setup = Setup::dsss(11.0, true);
    let (strong, weak) = (setup.data(1, 9, 1500, 1), setup.rts(3, 9, 1500));
    assert_idle_since(1200.0 + RTS + EIFS, &setup, &[(0.0, strong.clone()), (1200.0, weak.clone())]);
    assert_idle_since(DATA + 314.0, &setup, &[(0.0, strong.clone()), (100.0, weak.clone())]);
}

/// ```text
/// 0  DATA ------------------|timeout 318        |DIFS|bo|DATA
/// 3 (400 m)    ACK |                                           ends during it: forgotten
/// 3                     ACK ------|EIFS 364 |DIFS|bo|DATA      ends after it: EIFS
/// ```
#[test]
fn a_frame_that_meets_the_own_one_costs_eifs_only_if_it_ends_later() {
    let setup = Setup::dsss(11.0, false);
    for (offset, ends_later) in
        [(300.0, false), (DATA - ACK, true), (DATA - ACK - 0.002, false), (DATA - 100.0, true)]
    {
        let mut draws = Draws::of(&setup, 0);
        let mut air = Air::new(&setup, &line(&[0.0, 200.0, -200.0, 400.0])).puppets(&[1, 2, 3]);
        air.offer(at(0.0), 0, setup.packet(Some(1), 1500));
        let start = DIFS + draws.backoff(31);
        air.say(at(start + offset), setup.ack(3, 9));
        let timeout = start + DATA + TIMEOUT;
        let idle = if ends_later { timeout.max(start + offset + ACK + EIFS) } else { timeout };
        air.run_until(at(idle + DIFS + 62.0 * 20.0 + 1.0));
        assert_eq!(
            air.times(0, FrameKind::Data),
            [at(start), at(idle + DIFS + draws.backoff(63))],
            "{offset}"
        );
    }
}
