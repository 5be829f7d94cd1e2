//! Overlapping frames under `ns2-capture`, and under `ranges`.

use super::{ACK, DATA, DIFS, EIFS, star};
use crate::air::{Action, Air, Draws, Setup, at, us_between};
use meshpace_radio::propagation::AT_1M;
use meshpace_radio::{FrameKind, Propagation};
use meshpace_units::{NodeId, Span};

fn delivered(air: &Air) -> Vec<u32> {
    let from = |entry: &crate::air::Entry| match entry.action {
        Action::Deliver { from, .. } => Some(from.0),
        _ => None,
    };
    air.log.iter().filter_map(from).collect()
}

/// schemes.md 21, item 11: decoded up to 250 m, sensed up to 550 m, then nothing.
#[test]
fn decoded_at_250_m_sensed_at_251_m_nothing_at_551_m() {
    for propagation in [
        Propagation::TwoRay,
        Propagation::LogDistance { exponent: 3.0, shadowing_db: 0.0, at_1m: AT_1M },
        Propagation::Ranges,
    ] {
        let mut setup = Setup::dsss(11.0, false);
        setup.propagation = propagation;
        let airtime = 192.0 + 134.0 * 8.0;
        for (distance, decoded, idle) in [
            (1.0, true, airtime),
            (250.0, true, airtime),
            (251.0, false, airtime + EIFS),
            (550.0, false, airtime + EIFS),
            (551.0, false, 0.0),
        ] {
            let mut air = star(&setup, &[distance]);
            air.say(at(0.0), setup.broadcast(1, 100));
            air.offer(at(0.0), 0, setup.packet(None, 100));
            air.run_until(at(20_000.0));
            let own = idle + DIFS + Draws::of(&setup, 0).backoff(31);
            assert_eq!(
                delivered(&air),
                if decoded { vec![1] } else { vec![] },
                "{:?} {distance}",
                setup.propagation
            );
            assert_eq!(air.times(0, FrameKind::Data), [at(own)], "{:?} {distance}", setup.propagation);
        }
    }
}

/// ```text
/// signal first:       200 m  DATA -----------      interferer first:  200 m     DATA -----------
///                     d m       DATA -----------                      d m    DATA -----------
/// ```
///
/// 10 dB are a factor of 1.778 in distance: 355.7 m. A signal that starts second is lost at any distance at which the
/// first frame is sensed, however weak that is (schemes.md 17.1).
#[test]
fn capture_matrix() {
    let setup = Setup::dsss(11.0, false);
    let (first, second) = (0.0, 100.0);
    for (interferer, signal_at, survives) in [
        (355.0, first, false),
        (357.0, first, true),
        (400.0, first, true),
        (355.0, second, false),
        (357.0, second, false),
        (400.0, second, false),
        (549.0, second, false),
        (551.0, second, true),
    ] {
        let mut air = star(&setup, &[200.0, interferer]);
        air.say(at(signal_at), setup.data(1, 0, 1500, 1));
        air.say(at(second - signal_at), setup.data(2, 9, 1500, 1));
        air.run_until(at(20_000.0));
        assert_eq!(delivered(&air).len(), usize::from(survives), "{interferer} m, signal at {signal_at}");
        let acks = if survives { vec![at(signal_at + DATA + 10.0)] } else { vec![] };
        assert_eq!(air.times(0, FrameKind::Ack), acks, "{interferer} m, signal at {signal_at}");
        // What ns-2 logs as COL: a decodable frame for this node, lost to another one.
        air.settle(at(20_000.0), 0);
        air.run_until(at(20_000.0));
        let collisions: Vec<_> = air.station(0).stats().collisions().collect();
        let lost = vec![(NodeId(1), [0, 0, 1, 0])];
        assert_eq!(collisions, if survives { vec![] } else { lost }, "{interferer} m, signal at {signal_at}");
    }
}

/// ```text
/// 2 (400 m) |sends            first bit: 1.333 us
/// 1 (100 m)      |sends 0.5 us later, first bit at 0.833 us
/// ```
///
/// What counts is which first bit arrives first.
#[test]
fn a_near_frame_overtakes_a_far_one() {
    let mut setup = Setup::dsss(11.0, false);
    setup.no_delay = false;
    for (near_at, read) in [(0.5, true), (1.2, false)] {
        let mut air = star(&setup, &[100.0, 400.0]);
        air.say(at(0.0), setup.data(2, 9, 1500, 1));
        air.say(at(near_at), setup.data(1, 0, 1500, 1));
        air.run_until(at(20_000.0));
        assert_eq!(delivered(&air).len(), usize::from(read), "{near_at}");
    }
}

/// Every kind of frame is counted by its kind; frames for others, undecodable ones and broadcasts are not.
#[test]
fn collisions_are_counted_by_sender_and_kind() {
    let setup = Setup::dsss(11.0, false);
    let mut air = star(&setup, &[200.0, 210.0, 300.0]);
    let frames = [
        setup.rts(1, 0, 1500),
        setup.cts(1, 0, 1500),
        setup.data(1, 0, 1500, 1),
        setup.ack(1, 0),
        setup.data(1, 9, 1500, 1),
        setup.broadcast(1, 1500),
    ];
    for (i, frame) in frames.iter().enumerate() {
        let start = 20_000.0 * i as f64;
        air.say(at(start), frame.clone());
        air.say(at(start + 50.0), setup.rts(2, 9, 1500));
    }
    // Too weak to decode.
    air.say(at(150_000.0), setup.rts(3, 0, 1500));
    air.say(at(150_050.0), setup.rts(1, 9, 1500));
    // The later of the two counts as well, and so do both.
    air.say(at(160_000.0), setup.rts(1, 0, 1500));
    air.say(at(160_010.0), setup.ack(2, 0));
    air.settle(at(200_000.0), 0);
    air.run_until(at(200_000.0));
    let counted = [(NodeId(1), [2, 1, 1, 1]), (NodeId(2), [0, 0, 0, 1])];
    assert_eq!(air.station(0).stats().collisions().collect::<Vec<_>>(), counted);
    assert_eq!(air.log, []);
}

/// ```text
/// 1 (200 m) ACK -----|
/// 2 (300 m)     ACK -----|          collides with 1, ends last: it is followed on
/// 3 (500 m)           RTS -------|  7.7 times weaker than 2: collides as well
/// 1                         DATA ----------
/// ```
///
/// The receiver follows 2, then 3, so that the data meets 3 and is lost. If 3 had been captured over (as it would be
/// by 1), nothing would be followed when the data comes, and it would be read.
#[test]
fn the_frame_that_ends_last_is_the_one_to_compare_with() {
    let setup = Setup::dsss(11.0, false);
    for (first_distance, read) in [(300.0, false), (280.0, true)] {
        let mut air = star(&setup, &[200.0, first_distance, 500.0]);
        air.say(at(0.0), setup.ack(1, 9));
        air.say(at(50.0), setup.ack(2, 9));
        air.say(at(200.0), setup.rts(3, 9, 1500));
        air.say(at(400.0), setup.data(1, 0, 1500, 1));
        air.run_until(at(20_000.0));
        assert_eq!(delivered(&air).len(), usize::from(read), "{first_distance} m");
    }
}

/// Of two that end together the first is followed on: the one at 500 m is captured over if that is the one at 200 m.
#[test]
fn of_two_frames_that_end_together_the_first_is_kept() {
    let setup = Setup::dsss(11.0, false);
    for (first, second, read) in [(200.0, 300.0, true), (300.0, 200.0, false)] {
        let mut air = star(&setup, &[first, second, 500.0, 200.0]);
        let mut shorter = setup.ack(2, 9);
        shorter.airtime -= Span::from_micros(50);
        air.say(at(0.0), setup.ack(1, 9));
        air.say(at(50.0), shorter);
        air.say(at(200.0), setup.rts(3, 9, 1500));
        air.say(at(400.0), setup.data(4, 0, 1500, 1));
        air.run_until(at(20_000.0));
        assert_eq!(delivered(&air).len(), usize::from(read), "{first} m and {second} m");
    }
}

/// A frame that collided and ends first no longer counts; the medium stays busy until the later end.
#[test]
fn the_shorter_of_two_colliding_frames_is_forgotten() {
    let setup = Setup::dsss(11.0, false);
    // Data for the station ends inside a longer broadcast that began before it; the next one, right after, is clean.
    let mut air = star(&setup, &[200.0, 210.0]);
    let long = setup.broadcast(2, 500);
    air.say(at(0.0), long.clone());
    air.say(at(10.0), setup.data(1, 0, 1500, 1));
    let end = us_between(at(0.0), at(0.0) + long.airtime);
    air.say(at(end), setup.data(1, 0, 1500, 2));
    air.run_until(at(end + DATA + 5.0 + ACK));
    assert_eq!((delivered(&air), air.log[0].at), (vec![1], at(end + DATA)));
}

/// ```text
/// 1 DATA ---------
/// 0     RTS (the own transmission started earlier)
/// ```
#[test]
fn a_station_that_transmits_hears_nothing() {
    let setup = Setup::dsss(11.0, false);
    let mut air = star(&setup, &[200.0, 200.0]);
    let start = DIFS + Draws::of(&setup, 0).backoff(31);
    air.offer(at(0.0), 0, setup.packet(None, 100));
    let own_end = start + 192.0 + 134.0 * 8.0;
    air.say(at(own_end - 1.0), setup.data(1, 0, 1500, 1)); // its first bit is lost
    air.say(at(own_end + 5000.0), setup.data(2, 0, 1500, 1));
    air.run_until(at(own_end + 20_000.0));
    assert_eq!(delivered(&air), [2]);
    assert_eq!(air.station(0).stats().collisions().count(), 0);
}

/// A frame lost to the station's own transmission is no collision, even if it meets another frame as well.
#[test]
fn collisions_during_the_own_transmission_are_not_counted() {
    let setup = Setup::dsss(11.0, false);
    for second_is_later in [true, false] {
        let mut air = star(&setup, &[200.0, 200.0]);
        let start = DIFS + Draws::of(&setup, 0).backoff(31);
        air.offer(at(0.0), 0, setup.packet(None, 100));
        let (short, long) = (setup.ack(1, 0), setup.data(2, 0, 1500, 1));
        let (first, second) = if second_is_later { (short, long) } else { (long, short) };
        air.say(at(start + 10.0), first);
        air.say(at(start + 100.0), second);
        air.settle(at(20_000.0), 0);
        air.run_until(at(20_000.0));
        assert_eq!(air.station(0).stats().collisions().count(), 0);
        assert_eq!(delivered(&air), []);
    }
}

/// Discs have no power: any overlap destroys both, in either order.
#[test]
fn under_ranges_every_overlap_collides() {
    let mut setup = Setup::dsss(11.0, false);
    setup.propagation = Propagation::Ranges;
    for interferer in [240.0, 400.0, 549.0] {
        for (signal_at, interferer_at) in [(0.0, 100.0), (100.0, 0.0), (0.0, DATA - 0.001)] {
            let mut air = star(&setup, &[100.0, interferer]);
            air.say(at(signal_at), setup.data(1, 0, 1500, 1));
            air.say(at(interferer_at), setup.data(2, 9, 1500, 1));
            air.run_until(at(20_000.0));
            // Undecodable frames are half as strong as decodable ones: no capture either.
            assert_eq!(delivered(&air), [], "{interferer} m, {signal_at} {interferer_at}");
        }
    }
    let mut air = star(&setup, &[100.0, 549.0]);
    air.say(at(0.0), setup.data(1, 0, 1500, 1));
    air.say(at(DATA), setup.data(2, 9, 1500, 1));
    air.run_until(at(20_000.0));
    assert_eq!(delivered(&air), [1]);
}
