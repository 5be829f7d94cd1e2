//! The contract's edges; what stations do on the air is tested in `tests/dcf`.

use super::pending::ROOM;
use super::*;
use crate::category::Priority;
use crate::frame::{Frame, Header};
use crate::phy::tests::dsss;
use crate::propagation::Propagation;
use crate::reception::{Capture, Signal};
use meshpace_units::Bytes;

fn config() -> StationConfig {
    let phy = Phy { rts_threshold: None, ..dsss(34) };
    let thresholds = Propagation::TwoRay.thresholds(250.0, 550.0);
    let limits = ReceptionLimits { ratio: 10.0, noise: 0.0, thresholds, eifs: phy.eifs() };
    StationConfig::new(phy, limits)
}

fn station(config: &StationConfig) -> Station {
    let stream = Stream::new(1, "backoff", 0);
    Station::new(NodeId(0), Reception::Capture(Capture::default()), stream, config)
}

fn packet() -> MacPacket {
    MacPacket {
        handle: 0,
        to: None,
        size: Bytes(100),
        mode: config().phy.basic,
        priority: Priority::BEST_EFFORT,
    }
}

#[test]
#[should_panic(expected = "offered")]
fn a_second_packet_is_refused() {
    let config = config();
    let mut station = station(&config);
    assert!(station.accepts());
    station.offer(Instant::ZERO, packet(), &config);
    assert!(!station.accepts());
    station.offer(Instant::ZERO, packet(), &config);
}

#[test]
#[should_panic(expected = "noticed at")]
fn a_missed_deadline_is_noticed() {
    let config = config();
    let mut station = station(&config);
    station.offer(Instant::ZERO, packet(), &config);
    let deadline = station.next_deadline(&config).expect("a backoff runs");
    station.timer(deadline + Span::NANOSECOND, &config, &mut Vec::new());
}

/// Nothing is ever asked of a bystander, and it hears frames all the time. If it is watched it looks at them later, several at once.
#[test]
fn a_bystander_does_not_collect_arrivals() {
    let config = config();
    let [mut bystander, mut watched] = [(); 2].map(|()| station(&config));
    watched.watch();
    let mode = config.phy.basic;
    let signal = Signal::of(&Frame::new(Header {
        kind: FrameKind::Ack,
        from: NodeId(1),
        to: Some(NodeId(2)),
        airtime: Span::from_micros(304),
        duration: Span::ZERO,
        mode,
        size: Bytes(14),
        data_mode: mode,
        retry: false,
        protected: false,
        packet: None,
    }));
    for i in 0..10_000 {
        let start = Instant::ZERO + Span::from_millis(i);
        let arrival = signal.at(start, 1e-9, true, false);
        for station in [&mut bystander, &mut watched] {
            assert_eq!(station.hear(start, arrival, &config), None);
            assert_eq!(station.next_deadline(&config), None);
        }
        assert_eq!((bystander.passing, bystander.pending.room()), (Some(arrival), 0));
        assert!(watched.pending.waiting().len() <= ROOM);
        assert_eq!((watched.passing, watched.pending.room()), (None, ROOM));
    }
}

/// The windows of a broadcast's backoff, which nothing answers, and after failures.
#[test]
fn another_smallest_contention_window_holds_from_the_next_success_on() {
    let config = config();
    let mut station = station(&config);
    assert_eq!((station.ecw_min(), station.cw), (5, 31));
    for (power, windows) in [(7, [127, 255, 511, 1023, 1023]), (4, [15, 31, 63, 127, 255]), (12, [4095; 5])] {
        station.set_ecw_min(power);
        station.narrow(&config);
        for window in windows {
            assert_eq!(station.cw, window, "2 to the power of {power}");
            station.widen(&config);
        }
    }
    station.set_ecw_min(16);
    assert_eq!(station.ecw_min(), 15);
}
