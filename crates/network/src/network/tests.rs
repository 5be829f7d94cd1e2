//! Networks on several channels, driven by a script.

mod metrics;

use super::{Network, Step};
use crate::air::AirId;
use crate::event::InterfaceId;
use crate::watch::Watch;
use meshpace_gateway::Behaviour;
use meshpace_radio::{Frame, FrameEnd, FrameKind};
use meshpace_relay::DropTail;
use meshpace_relay::packet::{Body, Class, Host, Opaque, Packet, PacketId};
use meshpace_scenario::{Channel, NodeRadio, Overrides, Scenario, ScenarioFile, Standard};
use meshpace_units::{Bytes, Instant, NodeId, Span};
use std::collections::BTreeSet;

const END: Instant = Instant::from_nanos(5_000_000_000);

/// Three nodes in a row, each heard by all; the outer ones decode the middle only.
fn chain(routing: &str, arp: bool) -> Scenario {
    let (radio, routing) =
        (format!("radio = {{ arp = {arp} }}"), format!("routing = {{ protocol = \"{routing}\" }}"));
    chain_of("200m", &radio, &routing)
}

/// Three nodes in a row with these lines of a file.
fn chain_of(spacing: &str, radio: &str, routing: &str) -> Scenario {
    let text = format!(
        r#"
        measure = {{ duration = "5s", warmup = "0s" }}
        topology = {{ kind = "chain", hops = 2, spacing = "{spacing}" }}
        {routing}
        {radio}
        "#
    );
    let file = ScenarioFile::parse("test.toml", text.as_bytes(), &Overrides::none());
    file.and_then(|file| file.resolve(1)).unwrap_or_else(|error| panic!("{error}"))
}

/// The same nodes on these channels, each with a radio of each of these nodes; `None`: of all. Each node's are numbered as they come.
fn with_channels(mut scenario: Scenario, airs: &[Option<&[u32]>]) -> Scenario {
    let all: Vec<u32> = (0..scenario.mesh.len() as u32).collect();
    let own = scenario.radio.own.clone();
    let standard = scenario.radio.standard;
    let mode = standard.data_mode(scenario.radio.rate).expect("the rate of [radio]");
    let standard = Standard { default_mode: mode, ..standard };
    let mut radios = vec![0; all.len()];
    for (mhz, nodes) in (2412..).step_by(25).zip(airs) {
        let radio = |node: &u32| {
            let number = radios[*node as usize];
            radios[*node as usize] += 1;
            NodeRadio { node: NodeId(*node), number, mode }
        };
        let radios = nodes.unwrap_or(&all).iter().map(radio).collect();
        let basic_rate = scenario.radio.basic_rate;
        scenario.channels.push(Channel { mhz, standard, own: own.clone(), basic_rate, radios });
    }
    scenario
}

fn network(scenario: &Scenario, airs: &[Option<&[u32]>]) -> Network<u32> {
    let scenario = with_channels(scenario.clone(), airs);
    let mut network = Network::new(&scenario, &Behaviour::default, &|queue| Box::new(DropTail::new(queue)));
    network.start();
    network
}

/// The first hop on one channel, the second on another: the node in the middle has an interface on both.
const SPLIT: [Option<&[u32]>; 2] = [Some(&[0, 1]), Some(&[1, 2])];

fn packet(network: &Network<u32>, from: NodeId, to: NodeId) -> Packet {
    let body = Opaque { protocol: 253, source_port: 0, destination_port: 0, bytes: [7; 1000].into() };
    let [source, destination] = [from, to].map(|node| network.addresses().address(Host::Mesh(node)));
    Packet::new(source, destination, Bytes(1000), Class::Data, Body::Opaque(body))
}

/// The data frames on the air by transmitter and receiver, and the nodes that lost one.
#[derive(Default)]
struct Seen {
    data: Vec<(NodeId, Option<NodeId>)>,
    lost: Vec<NodeId>,
}

impl Watch for Seen {
    fn frame(&mut self, _: Instant, _: AirId, frame: &Frame, _: &[&Packet]) {
        if frame.kind == FrameKind::Data {
            self.data.push((frame.from, frame.to));
        }
    }

    fn lost(&mut self, _: Instant, _: AirId, at: NodeId, _: &Frame, _: &FrameEnd) {
        self.lost.push(at);
    }
}

/// Sends `count` packets at once from one end to the other; what arrived, when the last did, and what was seen.
fn carry(network: &mut Network<u32>, (from, to): (NodeId, NodeId), count: usize) -> (usize, Instant, Seen) {
    let mut seen = Seen::default();
    for _ in 0..count {
        let packet = packet(network, from, to);
        assert!(network.send(Host::Mesh(from), packet).is_some());
    }
    let (mut arrived, mut last) = (0, Instant::ZERO);
    while let Some(step) = network.step(END, &mut seen) {
        let Step::Arrival(Host::Mesh(node), packet) = step else { panic!("{step:?}") };
        assert_eq!((node, packet.travelled), (to, 2));
        (arrived, last) = (arrived + 1, network.now());
    }
    (arrived, last, seen)
}

#[test]
fn an_interface_is_an_air_with_a_station_and_a_node_with_a_place_in_its_list() {
    let scenario = chain("static", false);
    let network = network(&scenario, &[Some(&[0, 1]), None, Some(&[1, 2])]);
    let airs = &network.airs;
    // Air by air: 0 1, 0 1 2, 1 2.
    let nodes: Vec<_> = (0..7).map(|at| airs.node(InterfaceId(at)).0).collect();
    assert_eq!(nodes, [0, 1, 0, 1, 2, 1, 2]);
    let lists: Vec<Vec<u32>> = (0..3).map(|node| airs.of(NodeId(node)).map(|at| at.0).collect()).collect();
    assert_eq!(lists, [vec![0, 2], vec![1, 3, 5], vec![4, 6]]);
    for (node, list) in lists.iter().enumerate() {
        let node = NodeId::from_index(node);
        for (place, at) in list.iter().enumerate() {
            let (at, next) = (InterfaceId(*at), list.get(place + 1).map(|next| InterfaceId(*next)));
            let (air, station) = airs.at(at);
            assert_eq!((air.node(station), air.station_of(node)), (node, Some(station)));
            assert_eq!((airs.after(at, node), airs.beside(at, node)), (next, Some(at)));
        }
        assert_eq!(network.interfaces(node).count(), list.len());
    }
    // The neighbour's interface is on the same air, or there is none.
    assert_eq!(airs.beside(InterfaceId(1), NodeId(0)), Some(InterfaceId(0)));
    assert_eq!(airs.beside(InterfaceId(1), NodeId(2)), None);
    // The first air that both are on.
    let toward = |from, to| airs.toward(NodeId(from), NodeId(to));
    assert_eq!(
        [toward(0, 1), toward(1, 2), toward(2, 1)].map(|at| at.map(|at| at.0)),
        [Some(0), Some(3), Some(4)]
    );
    // Every air is found by its number.
    let members = |at| {
        let air = airs.by_id(airs.id(InterfaceId(at)));
        (0..3).filter(|node| air.station_of(NodeId(*node)).is_some()).collect::<Vec<_>>()
    };
    assert_eq!([0, 2, 5].map(members), [vec![0, 1], vec![0, 1, 2], vec![1, 2]]);
    let split = self::network(&scenario, &SPLIT);
    assert_eq!(split.airs.toward(NodeId(0), NodeId(2)), None);
}

#[test]
fn packets_go_from_one_channel_to_the_other() {
    // Of packets that wait for an address all but the latest are dropped: one then.
    let cases = [("static", 20), ("aodv", 20), ("dsdv", 20), ("static", 1), ("aodv", 1)];
    for (routing, count) in cases {
        let scenario = chain(routing, count == 1);
        let mut network = network(&scenario, &SPLIT);
        let ends = (NodeId(0), NodeId(2));
        let (arrived, _, seen) = carry(&mut network, ends, count);
        assert_eq!(arrived, count, "{routing}");
        let unicast: BTreeSet<_> =
            seen.data.iter().filter_map(|(from, to)| Some((from.0, (*to)?.0))).collect();
        assert!(unicast.contains(&(0, 1)) && unicast.contains(&(1, 2)), "{routing}: {unicast:?}");
        assert!(!unicast.contains(&(0, 2)) && !unicast.contains(&(2, 0)), "{routing}: {unicast:?}");
        // Each interface of the node in the middle has counted what it carried.
        let carried = |to: NodeId| -> Vec<u64> {
            let interfaces = network.interfaces(NodeId(1));
            let toward = |(neighbour, count): (NodeId, crate::measure::LinkCount)| {
                (neighbour == to).then_some(count.carried)
            };
            interfaces.map(|interface| interface.links().find_map(toward).unwrap_or(0)).collect()
        };
        assert_eq!(carried(NodeId(2))[0], 0, "{routing}");
        assert!(carried(NodeId(2))[1] >= count as u64, "{routing}: {:?}", carried(NodeId(2)));
        assert_eq!(carried(NodeId(0))[1], 0, "{routing}");
        assert!(
            network.under_way() <= network.unresolved(),
            "{routing}: {} packets left",
            network.under_way()
        );
    }
}

#[test]
fn what_is_for_all_goes_out_by_every_interface_once() {
    let scenario = chain("dsdv", false);
    let mut network = network(&scenario, &SPLIT);
    let mut seen = Seen::default();
    assert!(network.step(Instant::ZERO + Span::from_secs(40), &mut seen).is_none());
    let by = |node| seen.data.iter().filter(|frame| **frame == (NodeId(node), None)).count() as u64;
    assert!(by(0) > 0 && by(2) > 0);
    assert!(by(1) > 0 && by(1).is_multiple_of(2), "{} broadcasts of two interfaces", by(1));
    // A packet of routing is one, whatever number of interfaces it leaves by.
    assert_eq!(network.control_packets(), by(0) + by(1) / 2 + by(2));
    assert_eq!(network.under_way(), 0);
}

#[test]
fn a_neighbour_is_reached_by_the_radio_that_heard_it_first() {
    let mut network = network(&chain("aodv", false), &[None, None]);
    let link = (NodeId(0), NodeId(1));
    let toward = |network: &Network<u32>| network.toward(link.0, link.1).map(|at| at.0);
    assert_eq!(toward(&network), Some(0), "both links cost the same: the lowest radio");
    let heard = |network: &mut Network<u32>, at, packet: Option<u64>| {
        let radios = network.radios.as_mut().expect("several channels");
        radios.heard(link, InterfaceId(at), packet.map(PacketId))
    };
    assert!(heard(&mut network, 3, Some(9)));
    assert_eq!(toward(&network), Some(3));
    assert!(!heard(&mut network, 0, Some(9)), "the copy that another radio sent, and this one heard later");
    assert_eq!(toward(&network), Some(3));
    assert!(heard(&mut network, 0, Some(10)));
    assert!(!heard(&mut network, 3, Some(9)), "later still");
    assert!(heard(&mut network, 3, None), "for this node alone");
    assert_eq!(toward(&network), Some(3));
    // One that nobody reached at the beginning: by the lowest radio that both have.
    assert_eq!(network.toward(NodeId(0), NodeId(2)), Some(InterfaceId(0)));
}

#[test]
fn channels_do_not_meet() {
    let scenario = chain("static", false);
    let ends = (NodeId(0), NodeId(2));
    let (arrived, one_channel, _) = carry(&mut network(&scenario, &[None]), ends, 40);
    assert_eq!(arrived, 40);
    let (arrived, two_channels, seen) = carry(&mut network(&scenario, &SPLIT), ends, 40);
    assert_eq!((arrived, seen.lost), (40, Vec::new()), "nobody is in anybody's way");
    // Both hops at once: nearly half the time.
    let share = two_channels.as_nanos() as f64 / one_channel.as_nanos() as f64;
    assert!((0.45..0.6).contains(&share), "{two_channels:?} of {one_channel:?}");
    // Two channels with everybody: the second is idle, and the first as if it were alone.
    let (_, beside, _) = carry(&mut network(&scenario, &[None, None]), ends, 40);
    assert_eq!(beside, one_channel);
}

#[test]
#[should_panic(expected = "shares no air with")]
fn nobody_sends_to_a_node_on_another_channel_only() {
    let scenario = chain("static", false);
    let mut network = network(&scenario, &SPLIT);
    let path = network.add_path(vec![NodeId(0), NodeId(2)]);
    let mut packet = packet(&network, NodeId(0), NodeId(2));
    packet.path = Some(path);
    network.send(Host::Mesh(NodeId(0)), packet);
}
