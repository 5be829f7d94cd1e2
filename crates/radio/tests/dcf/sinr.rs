//! Overlapping frames under `sinr`: interference is summed, the order does not matter, no late frame takes over.

use super::{DATA, DIFS, EIFS, star};
use crate::air::{Action, Draws, Entry, Setup, What, at};
use meshpace_radio::{Frame, FrameKind};
use meshpace_units::NodeId;

fn setup() -> Setup {
    let mut setup = Setup::dsss(11.0, false);
    setup.sinr = true;
    setup
}

/// The senders of those frames that get through to station 0.
fn delivered(setup: &Setup, distances: &[f64], frames: &[(f64, &Frame)]) -> Vec<u32> {
    let mut air = star(setup, distances);
    for (start, frame) in frames {
        air.say(at(*start), (*frame).clone());
    }
    air.run_until(at(30_000.0));
    let from = |entry: &Entry| match entry.action {
        Action::Deliver { from, .. } => Some(from.0),
        _ => None,
    };
    air.log.iter().filter_map(from).collect()
}

/// The interferer at 400 m is 12 dB below a signal from 200 m, whichever starts first; at 355 m it is 9.97 dB below.
#[test]
fn the_order_does_not_matter() {
    let setup = setup();
    for (interferer, survives) in [(355.0, false), (357.0, true), (400.0, true)] {
        for (signal_at, interferer_at) in [(0.0, 100.0), (100.0, 0.0)] {
            let (data, other) = (setup.data(1, 0, 1500, 1), setup.data(2, 9, 1500, 1));
            let frames = [(signal_at, &data), (interferer_at, &other)];
            let got = delivered(&setup, &[200.0, interferer], &frames);
            assert_eq!(got.len(), usize::from(survives), "{interferer} m, signal at {signal_at}");
        }
    }
}

/// ```text
/// 1 (200 m)  DATA ------------------
/// 2 (400 m)     ACK --
/// 3 (400 m)          ACK --           one after the other: harmless
/// 3 (400 m)      ACK --               together: 16 / 2 < 10
/// ```
#[test]
fn interference_adds_up() {
    let setup = setup();
    let data = setup.data(1, 0, 1500, 1);
    let signal = (0.0, &data);
    let (a, b) = (&setup.ack(2, 9), &setup.ack(3, 9));
    let distances = [200.0, 400.0, 400.0];
    assert_eq!(delivered(&setup, &distances, &[signal, (100.0, a)]), [1]);
    assert_eq!(delivered(&setup, &distances, &[signal, (100.0, a), (404.0, b)]), [1]);
    assert_eq!(delivered(&setup, &distances, &[signal, (100.0, a), (403.0, b)]), []);
    // ns2-capture looks at each alone.
    let capture = Setup::dsss(11.0, false);
    assert_eq!(delivered(&capture, &distances, &[signal, (100.0, a), (403.0, b)]), [1]);
}

/// Three frames from 560 m, below the sense threshold, are 9.1 dB below a signal from 249 m together.
#[test]
fn frames_too_weak_to_be_sensed_count_too() {
    let setup = setup();
    let data = setup.data(1, 0, 1500, 1);
    let signal = (0.0, &data);
    let acks = [2, 3, 4].map(|from| setup.ack(from, 9));
    let weak = |from: usize| (100.0, &acks[from - 2]);
    let distances = [249.0, 560.0, 560.0, 560.0];
    assert_eq!(delivered(&setup, &distances, &[signal, weak(2), weak(3)]), [1]);
    assert_eq!(delivered(&setup, &distances, &[signal, weak(2), weak(3), weak(4)]), []);
}

#[test]
fn noise_is_in_the_sum() {
    let mut setup = setup();
    let frames = [(0.0, &setup.data(1, 0, 1500, 1))];
    let signal = setup.propagation.power(200.0);
    for (noise, read) in [(signal / 10.01, true), (signal / 9.99, false)] {
        setup.noise = noise;
        assert_eq!(delivered(&setup, &[200.0], &frames).len(), usize::from(read));
    }
}

/// ```text
/// 1 (240 m, for somebody else)  DATA ------------------
/// 2 (60 m, 24 dB stronger)          DATA ------------------
/// ```
#[test]
fn a_stronger_later_frame_does_not_take_over() {
    let setup = setup();
    let frames = [(0.0, &setup.data(1, 9, 1500, 1)), (100.0, &setup.data(2, 0, 1500, 1))];
    assert_eq!(delivered(&setup, &[240.0, 60.0], &frames), []);
    let in_turn = [frames[0], (DATA, &setup.data(2, 0, 1500, 1))];
    assert_eq!(delivered(&setup, &[240.0, 60.0], &in_turn), [2]);
}

/// Energy that cannot be locked on keeps the medium busy but leaves no EIFS; a frame that was lost leaves one.
#[test]
fn only_a_lost_frame_leaves_eifs() {
    let setup = setup();
    let ack = 304.0;
    let (data, last) = (setup.data(1, 9, 1500, 1), setup.ack(4, 9));
    for (frames, idle) in [
        (vec![(0.0, &setup.ack(2, 9))], ack),
        (vec![(0.0, &setup.ack(3, 9))], 0.0),
        (vec![(0.0, &data)], DATA + 314.0),
        (vec![(0.0, &data), (100.0, &last)], DATA + EIFS),
        (vec![(0.0, &data), (DATA - 100.0, &last)], DATA + EIFS),
    ] {
        let mut air = star(&setup, &[200.0, 400.0, 560.0, 210.0]);
        for (start, frame) in &frames {
            air.say(at(*start), (*frame).clone());
        }
        air.offer(at(0.0), 0, setup.packet(None, 100));
        air.run_until(at(30_000.0));
        let own = idle + DIFS + Draws::of(&setup, 0).backoff(31);
        assert_eq!(air.times(0, FrameKind::Data), [at(own)], "{frames:?}");
    }
}

/// Two frames that are each too weak to be sensed are sensed together: 2 * 560^-4 > 550^-4.
#[test]
fn carrier_sense_adds_up_as_well() {
    let setup = setup();
    let mut air = star(&setup, &[560.0, 560.0]);
    for from in [1, 2] {
        air.say(at(0.0), setup.ack(from, 9));
    }
    air.offer(at(0.0), 0, setup.packet(None, 100));
    air.run_until(at(30_000.0));
    assert_eq!(air.times(0, FrameKind::Data), [at(304.0 + DIFS + Draws::of(&setup, 0).backoff(31))]);
}

/// ```text
/// 0 |DIFS| 3 slots                |DIFS| the rest |DATA
/// 1 (400 m)       ACK (energy only)
/// ```
#[test]
fn a_backoff_goes_on_a_difs_after_mere_energy() {
    let setup = Draws::seed_with(&setup(), 0, 31, |slots| slots >= 6);
    let mut air = star(&setup, &[400.0, 560.0]);
    air.offer(at(0.0), 0, setup.packet(None, 100));
    air.say(at(DIFS + 65.0), setup.ack(1, 9));
    air.run_until(at(30_000.0));
    let own = DIFS + 65.0 + 304.0 + DIFS + Draws::of(&setup, 0).backoff(31) - 60.0;
    assert_eq!(air.times(0, FrameKind::Data), [at(own)]);
    // What cannot be sensed does not hold it up at all, neither when it begins nor when it ends.
    let setup = Draws::seed_with(&setup, 0, 31, |slots| slots >= 25);
    let mut air = star(&setup, &[400.0, 560.0]);
    air.offer(at(0.0), 0, setup.packet(None, 100));
    air.say(at(DIFS + 65.0), setup.ack(2, 9));
    air.run_until(at(30_000.0));
    assert_eq!(air.times(0, FrameKind::Data), [at(DIFS + Draws::of(&setup, 0).backoff(31))]);
}

/// ```text
/// 0 broadcast ----|                          1 DATA|SIFS|
/// 1            DATA ------ (not followed)    0          ACK
/// 2                   DATA                   2        broadcast ---- (killed)
/// ```
#[test]
fn a_station_that_transmits_hears_nothing() {
    let setup = setup();
    let mut air = star(&setup, &[200.0, 200.0]);
    let start = DIFS + Draws::of(&setup, 0).backoff(31);
    air.offer(at(0.0), 0, setup.packet(None, 100));
    let own_end = start + 192.0 + 134.0 * 8.0;
    air.say(at(own_end - 1.0), setup.data(1, 0, 1500, 1));
    air.say(at(own_end + DATA), setup.data(2, 0, 1500, 1));
    let ack = own_end + 2.0 * DATA + 10.0;
    air.say(at(ack - 5.0), setup.broadcast(1, 100));
    let script = [
        (start, 0, What::Data),
        (own_end, 0, What::Sent),
        (ack - 10.0, 0, What::Deliver),
        (ack, 0, What::Ack),
    ];
    air.expect(30_000.0, &script);
}

/// A frame for this node counts if it drowned, or if the receiver followed another one, but not if it was read or if
/// the own transmission covered it.
#[test]
fn collisions_are_counted_under_sinr_too() {
    let setup = setup();
    let mut air = star(&setup, &[200.0, 210.0]);
    air.say(at(0.0), setup.data(1, 0, 1500, 1));
    air.say(at(10_000.0), setup.rts(1, 0, 1500)); // drowned by the next
    air.say(at(10_100.0), setup.ack(2, 0)); // not followed
    let own = 20_000.0 + DIFS + Draws::of(&setup, 0).backoff(31);
    air.offer(at(20_000.0), 0, setup.packet(None, 100));
    air.say(at(own + 10.0), setup.data(1, 0, 1500, 2));
    air.settle(at(30_000.0), 0);
    air.run_until(at(30_000.0));
    let counted = [(NodeId(1), [1, 0, 0, 0]), (NodeId(2), [0, 0, 0, 1])];
    assert_eq!(air.station(0).stats().collisions().collect::<Vec<_>>(), counted);
    assert_eq!(air.times(0, FrameKind::Ack), [at(DATA + 10.0)]);
}
