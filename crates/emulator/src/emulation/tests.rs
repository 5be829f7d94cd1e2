//! Hosts' packets through the network, without any host.

mod frames;

use super::*;
use meshpace_network::{NoWatch, host};
use meshpace_scenario::{Overrides, ScenarioFile};
use meshpace_units::Span;
use meshpace_wire::checksum_ok;
use std::net::IpAddr;

/// Three hops, a gateway at their end, a host behind it.
const TEXT: &str = r#"
    measure = { duration = "10s", warmup = "0s" }
    topology = { kind = "chain", hops = 3 }
    routing = { protocol = "static" }
    node = [{ id = "B", role = "wired" }]
    link = [{ a = "n3", b = "B", rate = "10Mbps", delay = "5ms" }]
    emulate = { host = [{ node = "n0" }, { node = "B" }] }
"#;

fn scenario(text: &str) -> Scenario {
    let file = ScenarioFile::parse("test.toml", text.as_bytes(), &Overrides::none());
    file.and_then(|file| file.resolve(1)).unwrap_or_else(|error| panic!("{error}"))
}

fn hosts(scenario: &Scenario) -> Vec<(Host, Layer)> {
    scenario.emulated_hosts.iter().map(|real| (host(real.node), real.layer)).collect()
}

fn at(ms: u64) -> Instant {
    Instant::ZERO + Span::from_millis(ms)
}

/// A datagram between two addresses of one version, its payload the number `mark`.
fn datagram(source: IpAddr, destination: IpAddr, traffic_class: u8, mark: u32, length: usize) -> Vec<u8> {
    let mut payload = vec![7; length];
    payload[..4].copy_from_slice(&mark.to_be_bytes());
    let udp = [&[0x13, 0x88, 0, 53][..], &(8 + length as u16).to_be_bytes(), &[0, 0], &payload].concat();
    match (source, destination) {
        (IpAddr::V4(source), IpAddr::V4(destination)) => {
            let [high, low] = (20 + udp.len() as u16).to_be_bytes();
            let header = [0x45, traffic_class, high, low, 0, 9, 0x40, 0, 61, 17, 0, 0];
            let mut packet = [&header[..], &source.octets(), &destination.octets(), &udp].concat();
            // Sets the header's checksum.
            meshpace_wire::set_hop(&mut packet, 61, Ecn::from_bits(traffic_class));
            packet
        }
        (IpAddr::V6(source), IpAddr::V6(destination)) => {
            let [high, low] = (udp.len() as u16).to_be_bytes();
            let header = [0x60 | traffic_class >> 4, traffic_class << 4, 0, 0, high, low, 17, 61];
            [&header[..], &source.octets(), &destination.octets(), &udp].concat()
        }
        _ => panic!("{source} to {destination}"),
    }
}

fn address(text: &str) -> IpAddr {
    text.parse().expect("an address")
}

#[test]
fn bytes_come_out_at_the_other_host_as_they_went_in() {
    let scenario = scenario(TEXT);
    let mut watch = NoWatch;
    let mut emulation = Emulation::new(&scenario, &hosts(&scenario), &mut watch).expect("it runs");
    assert_eq!(emulation.end(), at(10_000));
    let [v4, v6] = [("10.77.0.2", "10.77.0.6"), ("fd77::a4d:2", "fd77::a4d:6")]
        .map(|(from, to)| (address(from), address(to)));
    let mut sent = Vec::new();
    let mut came = Vec::new();
    for number in 0..20 {
        let now = at(100 * u64::from(number));
        while let Some(delivery) = emulation.advance(now) {
            came.push(delivery);
        }
        // Both ways, both versions in turns.
        let (from, to) = if number % 2 == 0 { v4 } else { v6 };
        let back = number % 4 >= 2;
        let packet = if back {
            datagram(to, from, 0x2e << 2 | 1, number, 1000)
        } else {
            datagram(from, to, 0, number, 40)
        };
        emulation.send(now, usize::from(back), &packet);
        sent.push((usize::from(!back), packet));
    }
    while let Some(delivery) = emulation.advance(at(3_000)) {
        came.push(delivery);
    }
    assert_eq!(came.len(), sent.len());
    for (number, (delivery, (host, bytes))) in came.iter().zip(&sent).enumerate() {
        assert_eq!((delivery.port, &delivery.bytes[..]), (*host, &bytes[..]), "packet {number}");
        let took = delivery.at.saturating_since(at(100 * number as u64));
        assert!(took > Span::from_millis(7) && took < Span::from_millis(60), "packet {number}: {took:?}");
    }
    let (result, traffic, _) = emulation.report(&scenario, at(3_000));
    assert_eq!((result.flows.len(), result.simulated_s), (0, 3.0));
    let rows: Vec<_> = traffic
        .iter()
        .map(|row| (row.from.as_str(), row.to.as_str(), row.packets, row.delivered, row.hops))
        .collect();
    assert_eq!(rows, [("n0", "B", 10, 10, Some(3)), ("B", "n0", 10, 10, Some(3))]);
    assert_eq!(traffic[1].delivered_bytes, 10 * 1008 + 5 * 20 + 5 * 40);
}

#[test]
fn a_real_gateway_carries_packets_across_and_may_change_them() {
    let scenario = scenario(&TEXT.replace("[{ node = \"n0\" }", "[{ node = \"n0\" }, { node = \"n3\" }"));
    let mut watch = NoWatch;
    let mut emulation = Emulation::new(&scenario, &hosts(&scenario), &mut watch).expect("it runs");
    let (roof, gateway, wired, there) = (0, 1, 3, 2);
    let port = |host, behind| Port { host, behind };
    let (up, down) = (Behind::Side(Side::Wireless), Behind::Side(Side::Wired));
    assert_eq!(
        emulation.ports(),
        [port(0, Behind::Network), port(1, up), port(2, Behind::Network), port(1, down)]
    );
    let next = |emulation: &mut Emulation<'_>, until| {
        let came = emulation.advance(at(until)).expect("a packet");
        (came.port, came.bytes.to_vec())
    };
    let (n0, n3, b) = (address("10.77.0.2"), address("10.77.0.5"), address("10.77.0.6"));
    // Up: in at the gateway's port toward the mesh; without its host nothing goes further.
    let mut up = datagram(n0, b, 0x2e << 2 | 2, 1, 500);
    emulation.send(Instant::ZERO, roof, &up);
    assert_eq!(next(&mut emulation, 100), (gateway, up.clone()));
    assert_eq!(emulation.advance(at(100)), None);
    meshpace_wire::set_hop(&mut up, 60, Ecn::Ce);
    emulation.send(at(100), wired, &up);
    assert_eq!(next(&mut emulation, 200), (there, up));
    // Down, and once more the same, as a cache would; and what the gateway itself has to say, both ways.
    emulation.advance(at(200));
    let mut down = datagram(b, n0, 0, 2, 900);
    emulation.send(at(200), there, &down);
    assert_eq!(next(&mut emulation, 300), (wired, down.clone()));
    assert_eq!(emulation.advance(at(300)), None);
    meshpace_wire::set_hop(&mut down, 60, Ecn::NotEct);
    for (now, from, packet, to) in [
        (300, gateway, down.clone(), roof),
        (400, gateway, down, roof),
        (500, gateway, datagram(n3, n0, 0, 3, 40), roof),
        (600, wired, datagram(n3, b, 0, 4, 40), there),
        (700, there, datagram(b, n3, 0, 5, 40), wired),
        (800, roof, datagram(n0, n3, 0, 6, 40), gateway),
    ] {
        emulation.send(at(now), from, &packet);
        assert_eq!(next(&mut emulation, now + 100), (to, packet), "at {now}");
        assert_eq!(emulation.advance(at(now + 100)), None);
    }
    let (_, traffic, _) = emulation.report(&scenario, at(1_000));
    let rows: Vec<_> = traffic
        .iter()
        .map(|row| (row.from.as_str(), row.to.as_str(), row.packets, row.delivered, row.hops))
        .collect();
    assert_eq!(
        rows,
        [
            ("n0", "n3", 1, 1, Some(3)),
            ("n0", "B", 1, 1, Some(3)),
            ("n3", "n0", 1, 1, Some(3)),
            ("n3", "B", 1, 1, Some(0)),
            ("B", "n0", 1, 1, Some(3)),
            ("B", "n3", 1, 1, Some(0)),
        ],
        "the repeated one is one"
    );
    let delay = traffic[1].delay_mean_s.expect("one came");
    assert!(delay > 0.105 && delay < 0.12, "{delay} s: the time in the gateway counts");
}

#[test]
fn what_nobody_takes_goes_nowhere_and_stops_nothing() {
    let scenario = scenario(TEXT);
    let mut watch = NoWatch;
    let mut emulation = Emulation::new(&scenario, &hosts(&scenario), &mut watch).expect("it runs");
    let here = address("10.77.0.2");
    emulation.send(Instant::ZERO, 0, &[]);
    emulation.send(Instant::ZERO, 0, &[0x45; 12]);
    for nobody in ["224.0.0.251", "10.77.3.4", "8.8.8.8"] {
        emulation.send(Instant::ZERO, 0, &datagram(here, address(nobody), 0, 1, 40));
    }
    // A node that is no real host.
    emulation.send(Instant::ZERO, 0, &datagram(here, address("10.77.0.3"), 0, 2, 40));
    emulation.send(Instant::ZERO, 0, &datagram(here, address("10.77.0.6"), 0, 3, 40));
    let came: Vec<_> = std::iter::from_fn(|| emulation.advance(at(1_000))).collect();
    assert_eq!(came.iter().map(|delivery| delivery.port).collect::<Vec<_>>(), [1]);
}

#[test]
fn a_queue_that_marks_marks_the_bytes() {
    let text = format!(
        "{TEXT}\ndefaults = {{ scheme = \"coded\" }}\n[scheme.coded]\nbase = \"newreno\"\nrelay = \"fq-codel\"\n"
    );
    let scenario = scenario(&text);
    let mut watch = NoWatch;
    let mut emulation = Emulation::new(&scenario, &hosts(&scenario), &mut watch).expect("it runs");
    let (from, to) = (address("10.77.0.2"), address("10.77.0.6"));
    let mut came = Vec::new();
    // 8 Mbit/s into what carries less than 2.
    for number in 0..1_500 {
        let now = at(u64::from(number));
        while let Some(delivery) = emulation.advance(now) {
            came.push(delivery);
        }
        emulation.send(now, 0, &datagram(from, to, 0x2e << 2 | 2, number, 972));
    }
    let ecn = |delivery: &Delivery| Ecn::from_bits(delivery.bytes[1]);
    let marked: Vec<_> = came.iter().filter(|delivery| ecn(delivery) == Ecn::Ce).collect();
    assert!(!marked.is_empty() && came.iter().any(|delivery| ecn(delivery) == Ecn::Ect0), "{}", came.len());
    let number = |bytes: &[u8]| u32::from_be_bytes([bytes[28], bytes[29], bytes[30], bytes[31]]);
    for delivery in marked {
        let mut unmarked = delivery.bytes.to_vec();
        meshpace_wire::set_hop(&mut unmarked, 61, Ecn::Ect0);
        assert_eq!(unmarked, datagram(from, to, 0x2e << 2 | 2, number(&delivery.bytes), 972), "nothing else");
        let mut sealed = delivery.bytes.to_vec();
        meshpace_wire::set_hop(&mut sealed, 61, Ecn::Ce);
        assert_eq!(sealed, delivery.bytes[..], "a right checksum");
    }
}

#[test]
fn flows_are_simulated_beside_the_hosts() {
    let text = format!("{TEXT}\n[[flow]]\nfrom = \"n3\"\nto = \"n0\"\nscheme = \"newreno\"\n");
    let scenario = scenario(&text);
    let alone = meshpace_mesh::run(&scenario).expect("it runs");
    let mut watch = NoWatch;
    let emulation = Emulation::new(&scenario, &hosts(&scenario), &mut watch).expect("it runs");
    let idle = drive(emulation, &scenario, false);
    assert_eq!(idle.flows, alone.flows, "hosts that say nothing change nothing");
    let mut watch = NoWatch;
    let emulation = Emulation::new(&scenario, &hosts(&scenario), &mut watch).expect("it runs");
    let disturbed = drive(emulation, &scenario, true);
    let goodput = |result: &RunResult| result.flows[0].goodput_bps;
    assert!(goodput(&disturbed) < 0.9 * goodput(&alone), "{} {}", goodput(&disturbed), goodput(&alone));
    assert!(goodput(&disturbed) > 0.0);
}

/// Millisecond by millisecond; busy hosts send a datagram every fourth.
fn drive(mut emulation: Emulation<'_>, scenario: &Scenario, busy: bool) -> RunResult {
    for ms in 0..=10_000 {
        while emulation.advance(at(ms)).is_some() {}
        if busy && ms % 8 == 0 {
            let packet = datagram(address("10.77.0.2"), address("10.77.0.6"), 0, 0, 900);
            emulation.send(at(ms), 0, &packet);
        }
    }
    emulation.report(scenario, at(10_000)).0
}

#[test]
fn acknowledgements_count_apart() {
    let tcp = |payload: &[u8]| {
        let header = [0, 80, 0, 81, 0, 0, 0, 1, 0, 0, 0, 1, 0x50, 0x10, 0, 9, 0, 0, 0, 0];
        let length = 40 + payload.len() as u8;
        let ip = [0x45, 0, 0, length, 0, 0, 0, 0, 64, 6, 0, 0, 10, 77, 0, 2, 10, 77, 0, 6];
        [&ip[..], &header, payload].concat()
    };
    let class = |bytes: &[u8]| entering::packet(bytes).expect("a packet").class;
    assert_eq!(class(&tcp(&[])), meshpace_relay::packet::Class::Ack);
    assert_eq!(class(&tcp(b"data")), meshpace_relay::packet::Class::Data);
    assert!(!checksum_ok(&tcp(&[])), "damaged packets are carried, too");
}
