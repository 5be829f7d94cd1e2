//! Random traffic over random small topologies.

use crate::air::{Action, Air, Setup, at, mbps, standard};
use meshpace_radio::BackoffRange;
use meshpace_radio::propagation::AT_1M;
use meshpace_radio::{FrameKind, MacPacket, Position, Preamble, Priority, Propagation, Standard};
use meshpace_units::{Bytes, Instant, NodeId, Span};
use proptest::collection::vec;
use proptest::prelude::*;

/// Nodes, packets and a radio.
#[derive(Clone, Debug)]
pub(super) struct Scenario {
    pub(super) setup: Setup,
    pub(super) positions: Vec<Position>,
    pub(super) packets: Vec<(Instant, u32, MacPacket)>,
}

/// Everything over by then: no packet has more than 11 attempts of some 40 ms.
const END: f64 = 60e6;

fn radio() -> impl Strategy<Value = Setup> {
    let propagation = prop_oneof![
        4 => Just(Propagation::TwoRay),
        1 => Just(Propagation::Ranges),
        1 => Just(Propagation::LogDistance { exponent: 3.0, shadowing_db: 6.0, at_1m: AT_1M }),
    ];
    let words = ["802.11b", "802.11a", "802.11g", "802.11n"];
    let word =
        prop_oneof![4 => Just(words[0]), 1 => Just(words[1]), 1 => Just(words[2]), 2 => Just(words[3])];
    let threshold = prop_oneof![Just(None), Just(Some(Bytes(0))), Just(Some(Bytes(600)))];
    (propagation, word, threshold, any::<[bool; 3]>(), 0..1000u64, (1..8u32, 1..5u32)).prop_map(
        |(propagation, word, rts_threshold, [sinr, short, standard_range], seed, retries)| {
            let mut setup = if word == "802.11b" { Setup::dsss(11.0, true) } else { Setup::ofdm(54.0, true) };
            // Of 802.11n what `aggregate = 0` makes of it: one packet a frame.
            setup.phy.standard = Standard { aggregation: None, ..standard(word) };
            if word == "802.11n" {
                setup.phy.mac_overhead = setup.phy.standard.mac_overhead;
                setup.rate = setup.phy.standard.default_mode.rate;
            }
            setup.phy.basic = setup.phy.standard.lowest();
            setup.phy.rts_threshold = rts_threshold;
            setup.phy.preamble = if short { Preamble::Short } else { Preamble::Long };
            setup.phy.backoff_range = if standard_range { BackoffRange::Standard } else { BackoffRange::Ns2 };
            (setup.phy.retry_short, setup.phy.retry_long) = retries;
            // Discs have no power to sum.
            setup.sinr = sinr && propagation != Propagation::Ranges;
            setup.propagation = propagation;
            setup.seed = seed;
            setup
        },
    )
}

/// On a grid everything happens at the same time as something else; off it, hardly ever.
pub(super) fn scenario(on_grid: bool) -> impl Strategy<Value = Scenario> {
    let place = (0.0..900.0f64, 0.0..400.0f64);
    let to_grid = move |x: f64| if on_grid { (x / 50.0).floor() * 50.0 } else { x };
    let packet = (0.0..20_000.0f64, any::<[u32; 2]>(), 1..1500u64, 0..4usize);
    (radio(), vec(place, 2..8), vec(packet, 1..60), any::<bool>()).prop_map(
        move |(setup, places, packets, no_delay)| {
            let mut setup = setup;
            setup.no_delay = on_grid && no_delay;
            let positions: Vec<_> =
                places.into_iter().map(|(x, y)| Position::flat(to_grid(x), to_grid(y))).collect();
            let n = positions.len() as u32;
            let rates = match setup.phy.standard.word {
                "802.11b" => [1.0, 2.0, 5.5, 11.0],
                "802.11n" => [6.5, 26.0, 39.0, 65.0],
                _ => [6.0, 18.0, 24.0, 54.0],
            };
            let packet = |(i, (us, ends, size, rate)): (usize, (f64, [u32; 2], u64, usize))| {
                let from = ends[0] % n;
                // Every eighth a broadcast, every eighth to a station that does not exist.
                let to = match ends[1] % 8 {
                    0 => None,
                    1 => Some(NodeId(n)),
                    _ => Some(NodeId((from + 1 + ends[1] % (n - 1)) % n)),
                };
                let mode = setup.mode_of(mbps(rates[rate]));
                let when = if on_grid { at((us / 1000.0).floor() * 1000.0) } else { at(us) };
                (
                    when,
                    from,
                    MacPacket {
                        handle: i as u32,
                        to,
                        size: Bytes(size),
                        mode,
                        priority: Priority::BEST_EFFORT,
                    },
                )
            };
            let packets = packets.into_iter().enumerate().map(packet).collect();
            Scenario { setup, positions, packets }
        },
    )
}

impl Scenario {
    pub(super) fn air(&self) -> Air {
        let mut air = Air::new(&self.setup, &self.positions);
        for (when, node, packet) in &self.packets {
            air.offer(*when, *node, *packet);
        }
        air
    }

    pub(super) fn run(&self, mut air: Air) -> Air {
        air.run_until(at(END));
        for node in 0..self.positions.len() as u32 {
            air.settle(at(END), node);
        }
        air.run_until(at(END));
        air
    }
}

/// Fails with the first difference, not with two logs. What two stations do in the same nanosecond has no order.
pub(super) fn assert_same(a: &Air, b: &Air, nodes: usize) -> Result<(), TestCaseError> {
    let [a_log, b_log] = [a, b].map(|air| {
        let mut log = air.log.clone();
        log.sort_by_key(|entry| (entry.at, entry.node));
        log
    });
    for (i, (a, b)) in a_log.iter().zip(&b_log).enumerate() {
        prop_assert_eq!(a, b, "entry {} of the logs", i);
    }
    prop_assert_eq!(a.log.len(), b.log.len());
    for node in 0..nodes as u32 {
        prop_assert_eq!(a.station(node).stats(), b.station(node).stats(), "node {}", node);
    }
    Ok(())
}

/// A packet that its sender took for acknowledged had been delivered.
pub(super) fn assert_delivered_before_sent(air: &Air, packets: usize) -> Result<(), TestCaseError> {
    let mut delivered = vec![false; packets];
    for entry in &air.log {
        match entry.action {
            Action::Deliver { packet, .. } => delivered[packet.handle as usize] = true,
            Action::Sent(packet) if packet.to.is_some() => {
                prop_assert!(delivered[packet.handle as usize], "{:?}", packet);
            }
            _ => {}
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]

    /// Every packet is sent or given up, once, in the order of each station's queue; one is delivered to its receiver
    /// at most once, and to nobody else.
    #[test]
    fn every_packet_has_one_fate(scenario in prop_oneof![scenario(true), scenario(false)]) {
        let air = scenario.run(scenario.air());
        for node in 0..scenario.positions.len() as u32 {
            let fates: Vec<u32> = air.log.iter().filter(|e| e.node == node).filter_map(|e| match e.action {
                Action::Sent(packet) | Action::GaveUp(packet) => Some(packet.handle),
                _ => None,
            }).collect();
            let mut offered: Vec<_> = scenario.packets.iter().filter(|(_, from, _)| *from == node).collect();
            offered.sort_by_key(|(when, ..)| *when);
            prop_assert_eq!(fates, offered.iter().map(|(.., packet)| packet.handle).collect::<Vec<_>>());
            prop_assert!(air.station(node).accepts());
        }
        let mut delivered = vec![0; scenario.packets.len()];
        for entry in &air.log {
            if let Action::Deliver { packet, from, .. } = entry.action {
                let (_, origin, offered) = scenario.packets[packet.handle as usize];
                prop_assert_eq!((from, packet), (NodeId(origin), offered));
                prop_assert!(packet.to.is_none_or(|to| to == NodeId(entry.node)));
                delivered[packet.handle as usize] += u32::from(packet.to.is_some());
            }
        }
        prop_assert!(delivered.iter().all(|n| *n <= 1), "{:?}", delivered);
    }

    /// With RTS/CTS for everything, an acknowledged packet has arrived. (Without, an acknowledgement that was held up
    /// can be taken for another one.)
    #[test]
    fn what_was_acknowledged_after_rts_was_delivered(mut scenario in scenario(false)) {
        scenario.setup.phy.rts_threshold = Some(Bytes(0));
        assert_delivered_before_sent(&scenario.run(scenario.air()), scenario.packets.len())?;
    }

    /// One frame at a time; data within its limits; an RTS, a CTS or an ACK always to one station. Of one packet a frame none is
    /// acknowledged by a block acknowledgement, nor asked after, 802.11n's or not.
    #[test]
    fn a_station_sends_one_frame_at_a_time(scenario in prop_oneof![scenario(true), scenario(false)]) {
        let air = scenario.run(scenario.air());
        for node in 0..scenario.positions.len() as u32 {
            let mut free = Instant::ZERO;
            for (start, frame) in air.frames_of(node) {
                prop_assert!(start >= free, "{:?} at {:?}, before {:?}", frame, start, free);
                prop_assert!(start == free || start >= free + scenario.setup.phy.sifs());
                prop_assert_eq!(frame.from, NodeId(node));
                prop_assert!(!matches!(frame.kind, FrameKind::BlockAck | FrameKind::BlockAckReq));
                prop_assert_eq!(!frame.packets().is_empty(), frame.kind == FrameKind::Data);
                prop_assert!(frame.to.is_some() || !frame.packets().is_empty());
                free = start + frame.airtime;
            }
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_log(scenario in prop_oneof![scenario(true), scenario(false)]) {
        let (a, b) = (scenario.run(scenario.air()), scenario.run(scenario.air()));
        prop_assert_eq!(&a.log, &b.log);
        assert_same(&a, &b, scenario.positions.len())?;
    }

    /// Laziness is exact: looking at everything the moment it happens, never putting a deadline off, calling `timer` and
    /// `settle` at any other time: none of it changes anything.
    #[test]
    fn looking_more_often_changes_nothing(
        scenario in scenario(false),
        pokes in vec((any::<prop::sample::Index>(), -500_000..500_000i64, any::<u32>(), any::<bool>()), 0..300),
    ) {
        let lazy = scenario.run(scenario.air());

        let mut eager = scenario.air();
        (eager.eager, eager.postponing) = (true, false);
        assert_same(&lazy, &scenario.run(eager), scenario.positions.len())?;

        let mut poked = scenario.air();
        for (place, offset, node, timer) in pokes {
            // Around something that happens.
            let near = lazy.log[place.index(lazy.log.len())].at.as_nanos();
            let when = Instant::ZERO + Span::from_nanos(near.saturating_add_signed(offset));
            let node = node % scenario.positions.len() as u32;
            if timer { poked.poke(when, node) } else { poked.settle(when, node) }
        }
        assert_same(&lazy, &scenario.run(poked), scenario.positions.len())?;
    }

    /// A station that is watched does what the others do, tie or not, and hears whole frames one after another.
    #[test]
    fn listening_changes_nothing(scenario in prop_oneof![scenario(true), scenario(false)], some in any::<u8>()) {
        let plain = scenario.run(scenario.air());
        for listeners in [0xff, some] {
            let mut air = scenario.air();
            let nodes = scenario.positions.len() as u32;
            (0..nodes).filter(|node| listeners >> node & 1 == 1).for_each(|node| air.listen(node));
            let mut listening = scenario.run(air);
            prop_assert_eq!(&plain.log, &listening.log);
            assert_same(&plain, &listening, scenario.positions.len())?;
            for node in (0..nodes).filter(|node| listeners >> node & 1 == 1) {
                let heard = listening.overheard.iter().filter(|(_, hearer, _)| *hearer == node);
                let (mut free, mut silence) = (Instant::ZERO, Span::ZERO);
                for (end, _, frame) in heard {
                    prop_assert!(frame.from != NodeId(node) && frame.to.is_some_and(|to| to != NodeId(node)));
                    prop_assert!(*end >= free + frame.airtime, "{:?} ends at {:?}, before {:?}", frame, end, free);
                    (free, silence) = (*end, silence + frame.airtime);
                }
                let own: Span = listening.frames_of(node).iter().map(|(_, frame)| frame.airtime).sum();
                let busy = listening.busy(node);
                prop_assert!(busy * 1e3 >= (own + silence).as_nanos() as f64 - 1.0);
                prop_assert!(busy <= END);
            }
        }
    }

    /// The busy time is the same whether the station looks at everything at once or at the end.
    #[test]
    fn laziness_does_not_change_the_busy_time(scenario in scenario(false)) {
        let nodes = scenario.positions.len() as u32;
        let [mut lazy, mut eager] = [scenario.air(), scenario.air()];
        (eager.eager, eager.postponing) = (true, false);
        for air in [&mut lazy, &mut eager] {
            (0..nodes).for_each(|node| air.listen(node));
        }
        let [mut lazy, mut eager] = [scenario.run(lazy), scenario.run(eager)];
        for node in 0..nodes {
            prop_assert_eq!(lazy.busy(node), eager.busy(node), "node {}", node);
        }
    }

    /// What a station says that it sent is what it sent.
    #[test]
    fn every_unicast_frame_is_counted_once(scenario in prop_oneof![scenario(true), scenario(false)]) {
        let air = scenario.run(scenario.air());
        for node in 0..scenario.positions.len() as u32 {
            let mut attempts = 0;
            let mut airtime = Span::ZERO;
            for (_, sent) in air.station(node).stats().sent() {
                attempts += sent.attempts;
                airtime = airtime + sent.airtime + sent.answers;
            }
            let unicast = air.frames_of(node).into_iter().map(|(_, frame)| frame).filter(|f| f.to.is_some());
            let opened = unicast.clone().filter(|f| f.kind == FrameKind::Rts || !f.packets().is_empty() && !f.protected);
            prop_assert_eq!(attempts, opened.count() as u64);
            prop_assert_eq!(airtime, unicast.map(|f| f.airtime).sum::<Span>());
        }
    }
}
