//! What a receiver answers, and what it keeps silent on.
//!
//! Station 0 stands between puppets 1 (200 m to the right) and 2 (200 m to the left); 3 (400 m to the right) is only
//! sensed, and 16 times weaker than 1.

use super::{ACK, CTS, DATA, DIFS, EIFS, RTS, SIFS, TIMEOUT};
use crate::air::{Air, Draws, Setup, What::*, at, line};

fn air(setup: &Setup) -> Air {
    Air::new(setup, &line(&[0.0, 200.0, -200.0, 400.0])).puppets(&[1, 2, 3])
}

/// ```text
/// 1 RTS      DATA
/// 0     CTS       ACK
/// ```
#[test]
fn an_announced_frame_is_received_and_acknowledged() {
    let setup = Setup::dsss(11.0, true);
    let mut air = air(&setup);
    let cts = RTS + SIFS;
    let data = cts + CTS + SIFS;
    air.say(at(0.0), setup.rts(1, 0, 1500));
    air.say(at(data), setup.data(1, 0, 1500, 7));
    let end = data + DATA;
    air.expect(50_000.0, &[(cts, 0, Cts), (end, 0, Deliver), (end + SIFS, 0, Ack)]);
}

/// The CTS needs an idle medium and no NAV the moment it is due; a NAV that ends in that moment does no harm.
///
/// ```text
/// 2 RTS (to somebody else)    |NAV 1946 us .......|
/// 1                              RTS|SIFS|
/// 0                                      (silence)
/// ```
#[test]
fn an_overheard_reservation_suppresses_the_cts() {
    let setup = Setup::dsss(11.0, true);
    let nav_until = RTS + 1946.0;
    for (due, answered) in
        [(nav_until, true), (nav_until - 0.001, false), (1000.0, false), (nav_until + 500.0, true)]
    {
        let mut air = air(&setup);
        air.say(at(0.0), setup.rts(2, 9, 1500));
        air.say(at(due - SIFS - RTS), setup.rts(1, 0, 1500));
        let script = [(due, 0, Cts)];
        air.expect(50_000.0, &script[..usize::from(answered)]);
    }
}

/// ```text
/// 3 (400 m)  ACK    |EIFS 364 us  |
/// 1                   RTS     SIFS|
/// ```
#[test]
fn eifs_suppresses_the_cts() {
    let setup = Setup::dsss(11.0, true);
    for (after, answered) in [(EIFS - SIFS - RTS, true), (EIFS - SIFS - RTS - 0.001, false)] {
        let mut air = air(&setup);
        air.say(at(0.0), setup.ack(3, 9));
        let rts = ACK + after;
        air.say(at(rts), setup.rts(1, 0, 1500));
        let script = [(rts + RTS + SIFS, 0, Cts)];
        air.expect(50_000.0, &script[..usize::from(answered)]);
    }
}

/// ```text
/// 1  RTS --------------|SIFS|
/// 3 (400 m)  ACK (captured over)     NAV = its end + EIFS
/// 0                          (silence)
/// ```
#[test]
fn a_frame_captured_over_suppresses_the_cts() {
    let setup = Setup::dsss(11.0, true);
    let mut air = air(&setup);
    air.say(at(0.0), setup.rts(1, 0, 1500));
    air.say(at(20.0), setup.ack(3, 9));
    air.expect(10_000.0, &[]);
    // The silence is the NAV's, not a lost RTS: without RTS the data in its place is acknowledged.
    let setup = Setup::dsss(11.0, false);
    let mut air = self::air(&setup);
    air.say(at(0.0), setup.data(1, 0, 1500, 1));
    air.say(at(20.0), setup.ack(3, 9));
    air.expect(10_000.0, &[(DATA, 0, Deliver), (DATA + SIFS, 0, Ack)]);
}

/// ```text
/// 1 RTS      |SIFS|
/// 2             ACK (to somebody else)
/// 0               (silence)           |DIFS|bo|own packet
///               ^ that came in the SIFS, when no backoff was started
/// ```
#[test]
fn a_busy_medium_suppresses_the_cts() {
    let setup = Setup::dsss(11.0, true);
    let mut air = air(&setup);
    air.say(at(0.0), setup.rts(1, 0, 1500));
    air.say(at(RTS + 7.0), setup.ack(2, 9));
    air.offer(at(RTS + 5.0), 0, setup.packet(None, 100));
    let own = RTS + 7.0 + ACK + DIFS + Draws::of(&setup, 0).backoff(31);
    air.expect(20_000.0, &[(own, 0, Data), (own + 192.0 + 134.0 * 8.0, 0, Sent)]);
}

/// A suppressed CTS leaves the station free: its own packet goes out as if nothing had been asked.
#[test]
fn a_station_that_refuses_a_cts_goes_on() {
    let setup = Setup::dsss(11.0, true);
    let mut draws = Draws::of(&setup, 0);
    let mut air = air(&setup);
    air.say(at(0.0), setup.ack(3, 9));
    let (rts, nav) = (ACK + 1.0, ACK + EIFS);
    air.say(at(rts), setup.rts(1, 0, 1500));
    air.offer(at(rts + 100.0), 0, setup.packet(None, 100));
    let own = nav + DIFS + draws.backoff(31);
    air.expect(20_000.0, &[(own, 0, Data), (own + 192.0 + 134.0 * 8.0, 0, Sent)]);
}

/// ```text
/// 1 RTS      (no DATA)                                      RTS
/// 0     CTS |waits SIFS + DATA + 4 us from its end|              CTS
/// 2              RTS (ignored)
/// ```
#[test]
fn an_rts_is_ignored_while_data_is_awaited() {
    let setup = Setup::dsss(11.0, true);
    // CTS duration field 1632 - SIFS - ACK = 1318 (the RTS's was rounded to whole microseconds), + 4.
    let waits_until = RTS + SIFS + CTS + 1318.0 + 4.0;
    for (second_ends, answered) in
        [(1500.0, false), (waits_until - 0.001, false), (waits_until + 0.001, true)]
    {
        let mut air = air(&setup);
        air.say(at(0.0), setup.rts(1, 0, 1500));
        air.say(at(second_ends - RTS), setup.rts(2, 0, 1500));
        let script = [(RTS + SIFS, 0, Cts), (second_ends + SIFS, 0, Cts)];
        air.expect(50_000.0, &script[..1 + usize::from(answered)]);
    }
}

#[test]
fn data_after_the_wait_is_ignored() {
    let setup = Setup::dsss(11.0, true);
    for (late, accepted) in [(0.0, true), (4.3, true), (4.4, false), (100.0, false)] {
        let mut air = air(&setup);
        let data = RTS + SIFS + CTS + SIFS + late;
        air.say(at(0.0), setup.rts(1, 0, 1500));
        air.say(at(data), setup.data(1, 0, 1500, 7));
        let end = data + DATA;
        let script = [(RTS + SIFS, 0, Cts), (end, 0, Deliver), (end + SIFS, 0, Ack)];
        air.expect(50_000.0, &script[..if accepted { 3 } else { 1 }]);
    }
}

#[test]
fn announced_data_without_a_cts_is_ignored() {
    let setup = Setup::dsss(11.0, true);
    let mut air = air(&setup);
    air.say(at(0.0), setup.data(1, 0, 1500, 7));
    air.expect(50_000.0, &[]);
}

/// From whom the awaited data comes is not checked (ns2-behaviour 3.5).
#[test]
fn a_third_station_may_use_the_wait() {
    let setup = Setup::dsss(11.0, true);
    let mut air = air(&setup);
    air.say(at(0.0), setup.rts(1, 0, 1500));
    let data = RTS + SIFS + CTS + 50.0;
    air.say(at(data), setup.data(2, 0, 500, 7));
    let end = data + setup.data_airtime(500).as_nanos() as f64 / 1e3;
    air.expect(50_000.0, &[(RTS + SIFS, 0, Cts), (end, 0, Deliver), (end + SIFS, 0, Ack)]);
    let Some(frame) = air.log[2].frame() else { panic!("{:?}", air.log[2]) };
    assert_eq!(frame.to, Some(meshpace_units::NodeId(2)));
}

/// The wait for the data holds up the own packet: DIFS and backoff come after it.
#[test]
fn waiting_for_data_holds_up_the_own_packet() {
    let setup = Setup::dsss(11.0, true);
    let mut draws = Draws::of(&setup, 0);
    let mut air = air(&setup);
    air.say(at(0.0), setup.rts(1, 0, 1500));
    air.offer(at(RTS + SIFS + 100.0), 0, setup.packet(None, 100));
    let waits_until = RTS + SIFS + CTS + 1318.0 + 4.0;
    let own = waits_until + DIFS + draws.backoff(31);
    let sent = own + 192.0 + 134.0 * 8.0;
    air.expect(30_000.0, &[(RTS + SIFS, 0, Cts), (own, 0, Data), (sent, 0, Sent)]);
}

/// ```text
/// 0 |DIFS| 4+ slots |         CTS (waits for the data) ......|DIFS| the rest |DATA
/// 1                  RTS           (no data)
/// 2                                   ACK (to somebody else)
/// ```
///
/// The slots that had passed before the RTS are not counted again when another frame is overheard in the wait.
#[test]
fn a_wait_for_data_freezes_the_backoff_once() {
    let setup = Draws::seed_with(&Setup::dsss(11.0, true), 0, 31, |slots| slots >= 12);
    let backoff = Draws::of(&setup, 0).backoff(31);
    let mut air = air(&setup);
    air.offer(at(0.0), 0, setup.packet(None, 100));
    let rts = DIFS + 4.0 * 20.0 + 7.0;
    air.say(at(rts), setup.rts(1, 0, 1500));
    let cts = rts + RTS + SIFS;
    air.say(at(cts + CTS + 500.0), setup.ack(2, 9));
    let own = cts + CTS + 1318.0 + 4.0 + DIFS + backoff - 4.0 * 20.0;
    air.expect(20_000.0, &[(cts, 0, Cts), (own, 0, Data), (own + 192.0 + 134.0 * 8.0, 0, Sent)]);
}

/// ns2-behaviour 2.6: a packet that comes in the SIFS before an own answer starts nothing; its backoff is drawn after.
#[test]
fn a_packet_that_comes_in_the_sifs_waits_for_the_answer() {
    let setup = Setup::dsss(11.0, false);
    let mut draws = Draws::of(&setup, 0);
    let mut air = air(&setup);
    air.say(at(0.0), setup.data(1, 0, 1500, 1));
    air.offer(at(DATA + 5.0), 0, setup.packet(None, 100));
    let ack = DATA + SIFS;
    let own = ack + ACK + DIFS + draws.backoff(31);
    let sent = own + 192.0 + 134.0 * 8.0;
    air.expect(30_000.0, &[(DATA, 0, Deliver), (ack, 0, Ack), (own, 0, Data), (sent, 0, Sent)]);
}

/// ```text
/// 2 RTS (to somebody else)|NAV ...................
/// 1                          DATA|SIFS|
/// 0                                   ACK
/// ```
#[test]
fn an_ack_does_not_ask_the_nav() {
    let setup = Setup::dsss(11.0, false);
    let mut air = air(&setup);
    air.say(at(0.0), setup.rts(2, 9, 3000));
    let data = RTS + 50.0;
    air.say(at(data), setup.data(1, 0, 1500, 7));
    air.expect(30_000.0, &[(data + DATA, 0, Deliver), (data + DATA + SIFS, 0, Ack)]);
}

/// ```text
/// 1 DATA|SIFS|
/// 0          ACK   |       EIFS after the broadcast
/// 2        broadcast ---------|
/// ```
///
/// The broadcast is lost. It ends after the ACK, so EIFS follows; had it ended during the ACK, nothing would.
#[test]
fn an_ack_kills_what_is_being_received() {
    let setup = Setup::dsss(11.0, false);
    for (size, silence) in [(100, EIFS), (1, 0.0)] {
        let mut draws = Draws::of(&setup, 0);
        let mut air = air(&setup);
        air.say(at(0.0), setup.data(1, 0, 1500, 7));
        let (start, ack) = (DATA + 5.0, DATA + SIFS);
        let mut other = setup.broadcast(2, size);
        if silence == 0.0 {
            other.airtime = setup.ack(2, 9).airtime - meshpace_units::Span::from_micros(50);
        }
        air.say(at(start), other.clone());
        let other_ends = start + other.airtime.as_nanos() as f64 / 1e3;
        air.offer(at(ack + ACK + 1.0), 0, setup.packet(None, 100));
        let idle = if silence > 0.0 { other_ends + silence } else { ack + ACK + 1.0 };
        let own = idle + DIFS + draws.backoff(31);
        let sent = own + 192.0 + 134.0 * 8.0;
        let script = [(DATA, 0, Deliver), (ack, 0, Ack), (own, 0, Data), (sent, 0, Sent)];
        air.expect(30_000.0, &script);
    }
}

/// ```text
/// 0 DATA      |timeout 318|SIFS|ACK (late)
/// 2     DATA|
/// ```
#[test]
fn without_rts_an_ack_waits_for_the_own_timeout() {
    let setup = Setup::dsss(11.0, false);
    let mut draws = Draws::of(&setup, 0);
    let mut air = air(&setup);
    air.offer(at(0.0), 0, setup.packet(Some(1), 1500));
    let own = DIFS + draws.backoff(31);
    let end = own + DATA;
    // 40 bytes: 245.8 us.
    air.say(at(end + 5.0), setup.data(2, 0, 40, 3));
    let delivered = end + 5.0 + setup.data_airtime(40).as_nanos() as f64 / 1e3;
    let late_ack = end + TIMEOUT + SIFS;
    let again = late_ack + ACK + DIFS + draws.backoff(63);
    air.say(at(again + DATA + SIFS), setup.ack(1, 0));
    let script = [
        (own, 0, Data),
        (delivered, 0, Deliver),
        (late_ack, 0, Ack),
        (again, 0, Data),
        (again + DATA + SIFS + ACK, 0, Sent),
    ];
    air.expect(30_000.0, &script);
}

/// The last sequence number of a neighbour is remembered, no more: an equal one is acknowledged and dropped
/// (ns2-behaviour 3.9).
#[test]
fn a_duplicate_is_acknowledged_and_not_delivered() {
    let setup = Setup::dsss(11.0, false);
    let mut air = air(&setup);
    let (mut now, mut script) = (0.0, Vec::new());
    for (from, seq, new) in
        [(1, 7, true), (1, 7, false), (2, 7, true), (1, 7, false), (1, 8, true), (1, 7, true), (2, 7, false)]
    {
        air.say(at(now), setup.data(from, 0, 1500, seq));
        if new {
            script.push((now + DATA, 0, Deliver));
        }
        script.push((now + DATA + SIFS, 0, Ack));
        now += 5000.0;
    }
    air.expect(now, &script);
}

#[test]
fn broadcasts_are_not_checked_for_duplicates_and_not_acknowledged() {
    let setup = Setup::dsss(11.0, false);
    let mut air = air(&setup);
    let airtime = 192.0 + 134.0 * 8.0;
    for start in [0.0, 5000.0] {
        air.say(at(start), setup.broadcast(1, 100));
    }
    air.expect(20_000.0, &[(airtime, 0, Deliver), (5000.0 + airtime, 0, Deliver)]);
}

/// Neither does a stray CTS or ACK do anything.
#[test]
fn answers_to_nothing_are_ignored() {
    for rts in [true, false] {
        let setup = Setup::dsss(11.0, rts);
        let mut draws = Draws::of(&setup, 0);
        let mut air = air(&setup);
        air.say(at(0.0), setup.ack(1, 0));
        air.say(at(1000.0), setup.cts(1, 0, 1500));
        air.offer(at(5000.0), 0, setup.packet(None, 100));
        air.say(at(5000.0 + 10.0), setup.cts(2, 0, 1500));
        // The stray frame is addressed to the station, so its duration field reserves nothing.
        let own = 5010.0 + CTS + DIFS + draws.backoff(31);
        air.expect(20_000.0, &[(own, 0, Data), (own + 192.0 + 134.0 * 8.0, 0, Sent)]);
    }
}
