//! The network driven by a script instead of the simulation's end points: packets of bytes, timers, no flow anywhere.

use meshpace_gateway::Behaviour;
use meshpace_network::{Network, NoWatch, Step, host};
use meshpace_relay::packet::{
    Body, Class, Host, Opaque, Packet, PacketId, Shim, ShimBytes, ShimKind, Ticket,
};
use meshpace_scenario::{Endpoint, Overrides, Scenario, ScenarioFile};
use meshpace_units::{Bytes, Ecn, Instant, NodeId, Span};
use std::net::{IpAddr, Ipv4Addr};
use std::num::NonZeroU16;
use std::sync::Arc;

/// Three hops to a gateway, and a host behind it.
const TEXT: &str = r#"
    measure = { duration = "10s", warmup = "0s" }
    topology = { kind = "chain", hops = 3, spacing = "200m" }
    routing = { protocol = "aodv" }
    node = [{ id = "B", role = "wired" }]
    link = [{ a = "n3", b = "B", rate = "10Mbps", delay = "5ms" }]
"#;

const END: Instant = Instant::from_nanos(10_000_000_000);
const STEP: Span = Span::from_millis(50);

fn scenario(text: &str) -> Scenario {
    let file = ScenarioFile::parse("test.toml", text.as_bytes(), &Overrides::none());
    file.and_then(|file| file.resolve(1)).unwrap_or_else(|error| panic!("{error}"))
}

/// The script's timer: the number of the packet that is to be sent.
type Scripted = Network<u32>;

fn network(scenario: &Scenario) -> Scripted {
    let mut network =
        Network::new(scenario, &Behaviour::default, &|queue| Box::new(meshpace_relay::DropTail::new(queue)));
    network.start();
    network
}

/// A packet of bytes from one host to another.
fn packet(network: &Scripted, from: Host, to: Host, bytes: &[u8]) -> Packet {
    let bytes: Arc<[u8]> = bytes.into();
    let size = Bytes(bytes.len() as u64);
    let body = Body::Opaque(Opaque { protocol: 253, source_port: 0, destination_port: 0, bytes });
    let [source, destination] = [from, to].map(|host| network.addresses().address(host));
    Packet::new(source, destination, size, Class::Data, body)
}

fn bytes(packet: &Packet) -> &[u8] {
    match &packet.body {
        Body::Opaque(opaque) => &opaque.bytes,
        other => panic!("{other:?}"),
    }
}

/// Says which packet it stands beside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Number(u32);

impl Shim for Number {
    const KIND: ShimKind = ShimKind::ExperimentA;
    const NAME: &'static str = "number";
    const WIRE_LENGTH: Bytes = Bytes(8);

    fn to_bytes(&self) -> ShimBytes {
        ShimBytes::new(&self.0.to_be_bytes())
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(|bytes| Self(u32::from_be_bytes(bytes)))
    }
}

#[test]
fn a_packet_every_50_ms_over_three_hops_and_a_gateway_and_its_answer() {
    let scenario = scenario(TEXT);
    let mut network = network(&scenario);
    let (roof, there) = (Host::Mesh(NodeId(0)), host(Endpoint::Wired(meshpace_scenario::WiredId(0))));
    network.schedule(Instant::ZERO + STEP, 1);
    let (mut arrived, mut answered) = (Vec::new(), Vec::new());
    while let Some(step) = network.step(END, &mut NoWatch) {
        match step {
            Step::Timer(number) => {
                let mut sent = packet(&network, roof, there, format!("question {number}").as_bytes());
                sent.ecn = Ecn::Ect0;
                sent.set_shim(&Number(number));
                assert!(network.send(roof, sent).is_some());
                if number < 100 {
                    network.schedule(network.now() + STEP, number + 1);
                }
            }
            Step::Left(ticket) => unreachable!("nobody asked to be told: {ticket:?}"),
            Step::Arrival(at, packet) if at == there => {
                assert_eq!((packet.travelled, packet.ecn), (3, Ecn::Ect0));
                let Some(Number(number)) = packet.shim() else { panic!("{packet:?}") };
                assert_eq!(bytes(&packet), format!("question {number}").as_bytes());
                assert_eq!(packet.size.0 as usize, bytes(&packet).len() + 8);
                arrived.push((packet.id, number, network.now()));
                let answer = crate::packet(&network, there, roof, format!("answer {number}").as_bytes());
                network.send(there, answer);
            }
            Step::Arrival(at, packet) => {
                assert_eq!((at, packet.travelled, packet.source_end().port()), (roof, 3, 0));
                assert_eq!(bytes(&packet), format!("answer {}", answered.len() + 1).as_bytes());
                answered.push(packet.id);
            }
        }
    }
    let numbers: Vec<u32> = arrived.iter().map(|(_, number, _)| *number).collect();
    assert_eq!(numbers, (1..=100).collect::<Vec<_>>(), "in order, none lost");
    assert_eq!(answered.len(), 100);
    assert!(arrived.windows(2).all(|pair| pair[0].0 < pair[1].0), "identities in the order of setting out");
    assert!(answered.iter().all(|id| arrived.iter().all(|(other, ..)| id != other)));
    // Known routes: 5 ms of wire and three exchanges of about 2 ms.
    for (_, number, at) in &arrived[1..] {
        let took = at.saturating_since(Instant::ZERO + STEP * u64::from(*number));
        assert!(took > Span::from_millis(8) && took < Span::from_millis(20), "{number}: {took:?}");
    }
    assert_eq!((network.under_way(), network.far_frames()), (0, 0));
}

#[test]
fn timers_and_arrivals_come_in_one_order() {
    let scenario = scenario(TEXT);
    let mut network = network(&scenario);
    let at = |ms: u64| Instant::ZERO + Span::from_millis(ms);
    for (when, timer) in [(at(30), 3), (at(10), 1), (at(30), 4), (at(20), 2)] {
        network.schedule(when, timer);
    }
    let mut seen = Vec::new();
    let here = Host::Mesh(NodeId(2));
    while let Some(step) = network.step(at(30), &mut NoWatch) {
        match step {
            Step::Timer(timer) => {
                seen.push((network.now(), timer));
                if timer == 2 {
                    // To itself: arrives before time goes on.
                    let packet = packet(&network, here, here, b"note");
                    assert!(network.send(here, packet).is_some());
                }
            }
            Step::Left(ticket) => unreachable!("nobody asked to be told: {ticket:?}"),
            Step::Arrival(host, packet) => {
                assert_eq!((host, packet.travelled, bytes(&packet)), (here, 0, &b"note"[..]));
                seen.push((network.now(), 99));
            }
        }
    }
    assert_eq!(seen, [(at(10), 1), (at(20), 2), (at(20), 99), (at(30), 3), (at(30), 4)]);
}

#[test]
fn nobody_forwards_what_nobody_is_addressed_by() {
    let scenario = scenario(TEXT);
    let mut network = network(&scenario);
    let roof = Host::Mesh(NodeId(0));
    let mut lost = packet(&network, roof, roof, b"lost");
    lost.destination = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1));
    assert_eq!(network.send(roof, lost), None);
    let sent = packet(&network, roof, Host::Mesh(NodeId(1)), b"sent");
    assert_eq!(network.send(roof, sent), Some(PacketId(1)), "what did not set out is not counted");
    let mut arrivals = 0;
    while let Some(step) = network.step(END, &mut NoWatch) {
        assert!(matches!(step, Step::Arrival(Host::Mesh(NodeId(1)), _)), "{step:?}");
        arrivals += 1;
    }
    assert_eq!(arrivals, 1);
}

#[test]
fn without_a_gateway_the_outside_is_out_of_reach_and_the_mesh_is_not() {
    let text = TEXT.replace("link = [{ a = \"n3\", b = \"B\"", "link = [{ a = \"C\", b = \"B\"");
    let text = text.replace("role = \"wired\" }", "role = \"wired\" }, { id = \"C\", role = \"wired\" }");
    let scenario = scenario(&text);
    let mut network = network(&scenario);
    let (roof, far) = (Host::Mesh(NodeId(0)), Host::Mesh(NodeId(3)));
    for to in [Host::Wired(0), far] {
        let sent = packet(&network, roof, to, b"hello");
        network.send(roof, sent);
    }
    let mut hosts = Vec::new();
    while let Some(step) = network.step(END, &mut NoWatch) {
        if let Step::Arrival(host, packet) = step {
            hosts.push((host, packet.id));
        }
    }
    assert_eq!(hosts, [(far, PacketId(2))]);
    assert_eq!(network.under_way(), 0);
}

/// When, ms, and which.
type Times<N> = Vec<(u64, N)>;

/// When packets with a ticket are told to have left their host, and when what arrives does so.
fn told(text: &str, from: Host, to: Host, packets: u16, length: usize) -> (Times<u16>, Times<u64>) {
    let scenario = scenario(text);
    let mut network = network(&scenario);
    for number in 1..=packets {
        let sent = packet(&network, from, to, &vec![0; length]);
        assert!(network.send_told(from, sent, NonZeroU16::new(number).map(Ticket)).is_some());
    }
    let (mut left, mut arrived) = (Vec::new(), Vec::new());
    while let Some(step) = network.step(END, &mut NoWatch) {
        let at = network.now().saturating_since(Instant::ZERO).as_micros() / 1000;
        match step {
            Step::Left(Ticket(number)) => left.push((at, number.get())),
            Step::Arrival(_, packet) => arrived.push((at, packet.id.0)),
            Step::Timer(number) => unreachable!("timer {number}"),
        }
    }
    (left, arrived)
}

#[test]
fn whoever_asks_is_told_when_a_packet_has_left_its_host() {
    let (roof, gateway, wired) = (Host::Mesh(NodeId(0)), Host::Mesh(NodeId(3)), Host::Wired(0));
    let text = TEXT.replace("aodv", "static") + "radio = { arp = false }\n";
    // By radio: when the next node has acknowledged it, one after the other, and only there.
    let (left, arrived) = told(&text, roof, wired, 3, 1500);
    assert_eq!(left.iter().map(|(_, number)| *number).collect::<Vec<_>>(), [1, 2, 3]);
    assert_eq!(arrived.len(), 3);
    assert!(
        left[0].0 < left[1].0 && left[1].0 < left[2].0 && left[0].0 + 8 < arrived[0].0,
        "{left:?} {arrived:?}"
    );
    // By wire: when its last bit is on the line, 1.2 ms at 10 Mbit/s.
    let (left, arrived) = told(&text, wired, gateway, 3, 1500);
    assert_eq!((left, arrived), (vec![(1, 1), (2, 2), (3, 3)], vec![(6, 1), (7, 2), (8, 3)]));
    // On the wire it is lost, but it has left.
    let lossy = text.replace("delay = \"5ms\"", "delay = \"5ms\", loss = 0.999999");
    assert_eq!(told(&lossy, wired, gateway, 1, 1500), (vec![(1, 1)], vec![]));
    // What no queue of its host has: to itself, and from the gateway to the wired part.
    assert_eq!(told(&text, roof, roof, 1, 100), (vec![(0, 1)], vec![(0, 1)]));
    assert_eq!(told(&text, gateway, wired, 1, 100).0, [(0, 1)]);
    // A packet that a full queue drops has left, too: each packet is reported once.
    let (left, arrived) = told(&text, roof, wired, 80, 1500);
    let mut numbers: Vec<u16> = left.iter().map(|(_, number)| *number).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, (1..=80).collect::<Vec<_>>());
    assert!(
        left[..20].iter().all(|(at, _)| *at == 0) && (40..60).contains(&arrived.len()),
        "{left:?} {arrived:?}"
    );
}
