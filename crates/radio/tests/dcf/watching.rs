//! What a station tells its observers.
//!
//! Stations 0, 1 and 2 in a line, 200 m apart: 0 sends to 1, 2 overhears 1 and senses 0. Puppets 3 (right of 2) and 4
//! (left of 0).

use super::{ACK, CTS, DATA, DIFS, EIFS, RTS, SIFS, TIMEOUT};
use crate::air::{Air, Draws, Setup, at, line, us_between};
use meshpace_radio::FrameKind::{self, Ack, Cts, Data, Rts};
use meshpace_units::{Instant, NodeId};

const PLACES: [f64; 5] = [0.0, 200.0, 400.0, 600.0, -200.0];

fn listening(setup: &Setup) -> Air {
    let mut air = Air::new(setup, &line(&PLACES)).puppets(&[3, 4]);
    (0..3).for_each(|node| air.listen(node));
    air
}

/// What `node` overheard: the microsecond of the last bit, the kind, the transmitter.
fn overheard(air: &Air, node: u32) -> Vec<(f64, FrameKind, u32)> {
    let of_node = air.overheard.iter().filter(|(_, hearer, _)| *hearer == node);
    of_node.map(|(when, _, f)| (us_between(Instant::ZERO, *when), f.kind, f.from.0)).collect()
}

#[track_caller]
fn assert_heard(air: &Air, node: u32, want: &[(f64, FrameKind, u32)]) {
    let got = overheard(air, node);
    let same = got.len() == want.len()
        && got.iter().zip(want).all(|(a, b)| (a.0 - b.0).abs() < 0.0015 && (a.1, a.2) == (b.1, b.2));
    assert!(same, "node {node}\n  expected {want:?}\n  heard    {got:?}");
}

#[track_caller]
fn assert_busy(air: &mut Air, node: u32, want: f64) {
    let got = air.busy(node);
    assert!((got - want).abs() < 0.0025, "node {node} was busy for {got} us, expected {want}");
}

/// ```text
/// 0 RTS          DATA            sensed by 2, read by 4 only
/// 1      CTS             ACK     read by 2
/// 2 |--- busy -------------------|
/// ```
#[test]
fn a_neighbour_overhears_its_side_of_an_exchange() {
    let setup = Setup::dsss(11.0, true);
    let mut air = listening(&setup);
    air.offer(at(0.0), 0, setup.packet(Some(1), 1500));
    air.run_until(at(20_000.0));
    let rts = DIFS + Draws::of(&setup, 0).backoff(31);
    let cts = rts + RTS + SIFS;
    let data = cts + CTS + SIFS;
    let ack = data + DATA + SIFS;
    assert_heard(&air, 0, &[]);
    assert_heard(&air, 1, &[]);
    // The data of 0 begins while nothing is received: 2 cannot read it, and the ACK comes after it.
    assert_heard(&air, 2, &[(cts + CTS, Cts, 1), (ack + ACK, Ack, 1)]);
    let exchange = ack + ACK - rts;
    assert_busy(&mut air, 0, exchange);
    assert_busy(&mut air, 1, exchange);
    // From the first bit of the RTS that it senses to the end of the CTS's reservation (whole microseconds), or of the
    // EIFS after the data, which is longer: the ACK is over by then.
    assert_busy(&mut air, 2, data + DATA + EIFS - rts);
}

/// A header can be read off a neighbour's data frame: it names the packet.
#[test]
fn an_overheard_data_frame_brings_its_packet() {
    let setup = Setup::dsss(11.0, false);
    let mut air = listening(&setup);
    air.offer(at(0.0), 1, setup.packet(Some(2), 700));
    air.run_until(at(20_000.0));
    assert_eq!(air.overheard.len(), 1, "the ACK of 2 does not reach 0: {:?}", air.overheard);
    let (_, hearer, frame) = &air.overheard[0];
    assert_eq!((*hearer, frame.from, frame.to), (0, NodeId(1), Some(NodeId(2))));
    assert_eq!(frame.packets()[0].packet, setup.packet(Some(2), 700));
}

/// ```text
/// 3 DATA to nobody here      lost at 2: 1 starts into it
/// 1      broadcast           lost at 2, read by 0
/// ```
#[test]
fn a_frame_lost_to_overlap_is_not_overheard() {
    let setup = Setup::dsss(11.0, false);
    let mut air = Air::new(&setup, &line(&PLACES)).puppets(&[1, 3, 4]);
    air.listen(2);
    air.listen(0);
    air.say(at(100.0), setup.data(3, 9, 1500, 1));
    air.say(at(200.0), setup.data(1, 9, 500, 1));
    // And one that nothing overlaps.
    air.say(at(5_000.0), setup.data(3, 9, 500, 2));
    air.run_until(at(20_000.0));
    let short = setup.data_airtime(500).as_nanos() as f64 / 1e3;
    assert_heard(&air, 0, &[(200.0 + short, Data, 1)]);
    assert_heard(&air, 2, &[(5_000.0 + short, Data, 3)]);
    // A collision ends in an EIFS, longer than the 314 us that a data frame reserves.
    assert_busy(&mut air, 2, DATA + EIFS + short + 314.0);
}

/// While a station sends it hears nothing, and what began then is not read either.
#[test]
fn a_frame_under_the_own_transmission_is_not_overheard() {
    let setup = Setup::dsss(11.0, false);
    let mut air = listening(&setup);
    air.offer(at(0.0), 2, setup.packet(None, 100));
    let start = DIFS + Draws::of(&setup, 2).backoff(31);
    let own = setup.broadcast(2, 100).airtime.as_nanos() as f64 / 1e3;
    air.say(at(start + 100.0), setup.data(3, 9, 1500, 1));
    air.run_until(at(20_000.0));
    assert_heard(&air, 2, &[]);
    assert!(own > 100.0 && own < DATA);
    assert_busy(&mut air, 2, 100.0 + DATA + EIFS);
}

/// The NAV counts, once, and an own attempt until its time-out.
///
/// ```text
/// 4 RTS to nobody |NAV 1946 us ........|
/// 4      ACK (within the NAV)
/// 0                                     |DIFS|bo|RTS |timeout| ...
/// ```
#[test]
fn reservations_and_time_outs_are_busy_time_once() {
    let setup = Setup::dsss(11.0, true);
    let mut air = Air::new(&setup, &line(&PLACES)).puppets(&[1, 2, 3, 4]);
    air.listen(0);
    air.say(at(0.0), setup.rts(4, 9, 1500));
    air.say(at(600.0), setup.ack(4, 9));
    air.run_until(at(1_000.0));
    assert_busy(&mut air, 0, 1_000.0);
    air.run_until(at(4_000.0));
    assert_busy(&mut air, 0, RTS + 1946.0);
    assert_heard(&air, 0, &[(RTS, Rts, 4), (600.0 + ACK, Ack, 4)]);
    air.offer(at(4_000.0), 0, setup.packet(Some(1), 1500));
    let mut draws = Draws::of(&setup, 0);
    let first = 4_000.0 + DIFS + draws.backoff(31);
    let second = first + RTS + TIMEOUT + DIFS + draws.backoff(63);
    air.run_until(at(second + 100.0));
    assert_busy(&mut air, 0, RTS + 1946.0 + RTS + TIMEOUT + 100.0);
}

/// 802.11a: the medium is busy at every station of an exchange from its first bit to its last, SIFS included.
#[test]
fn the_sifs_of_an_exchange_are_busy_time() {
    for rts in [true, false] {
        let setup = Setup::ofdm(54.0, rts);
        let mut air = listening(&setup);
        air.offer(at(0.0), 0, setup.packet(Some(1), 1000));
        air.run_until(at(20_000.0));
        let first = air.frames_of(0)[0].0;
        let (last, ack) = air.frames_of(1).pop().expect("an ACK");
        let exchange = us_between(first, last + ack.airtime);
        assert_busy(&mut air, 0, exchange);
        assert_busy(&mut air, 1, exchange);
    }
}

/// ```text
/// 0 RTS  RTS  RTS ...  (1 is silent)      7 attempts, nothing else on the air
/// ```
#[test]
fn attempts_and_airtime_are_counted_by_neighbour() {
    let setup = Setup::dsss(11.0, true);
    let mut air = Air::new(&setup, &line(&PLACES)).puppets(&[1, 3]);
    air.offer(at(0.0), 0, setup.packet(Some(1), 1500));
    air.offer(at(100_000.0), 0, setup.packet(None, 100));
    air.run_until(at(300_000.0));
    let sent: Vec<_> = air.station(0).stats().sent().collect();
    assert_eq!(sent.len(), 1, "a broadcast goes to nobody");
    let micros = |span: meshpace_units::Span| span.as_nanos() as f64 / 1e3;
    assert_eq!((sent[0].0, sent[0].1.attempts), (NodeId(1), 7));
    assert!((micros(sent[0].1.airtime) - 7.0 * RTS).abs() < 0.01);
    assert!(sent[0].1.answers.is_zero());

    let mut air = listening(&setup);
    air.offer(at(0.0), 0, setup.packet(Some(1), 1500));
    air.run_until(at(20_000.0));
    let of = |node: u32| air.station(node).stats().sent().collect::<Vec<_>>();
    let (there, back) = (of(0), of(1));
    assert_eq!((there.len(), there[0].0, there[0].1.attempts), (1, NodeId(1), 1));
    assert!((micros(there[0].1.airtime) - RTS - DATA).abs() < 0.0015);
    assert_eq!((back.len(), back[0].0, back[0].1.attempts), (1, NodeId(0), 0));
    assert!((micros(back[0].1.answers) - CTS - ACK).abs() < 0.0015);
}

/// 700 m and 4 us for the way there and back: 2.33 us each way are too much. With 5 us it is heard in time.
#[test]
fn answers_from_far_away_come_in_time_if_the_time_out_allows_for_them() {
    for rts in [true, false] {
        let mut setup = Setup::dsss(11.0, rts);
        setup.no_delay = false;
        setup.ranges = (1_000.0, 1_000.0);
        assert!((setup.phy.reach() - 600.0).abs() < 1e-6);
        for (metres, allowance, arrives) in [
            (600.0, 4, true),
            (601.0, 4, false),
            (700.0, 4, false),
            (700.0, 5, true),
            (750.0, 5, true),
            (751.0, 5, false),
        ] {
            setup.phy.propagation_allowance = meshpace_units::Span::from_micros(allowance);
            let mut air = Air::new(&setup, &line(&[0.0, metres]));
            air.offer(at(0.0), 0, setup.packet(Some(1), 1500));
            air.run_until(at(1e6));
            let fate = (air.sent[0], air.given_up[0]);
            assert_eq!(fate, if arrives { (1, 0) } else { (0, 1) }, "{metres} m, {allowance} us, RTS {rts}");
        }
    }
}
