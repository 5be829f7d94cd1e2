//! Frames of nodes whose kernels forward, without any kernel.

use super::{address, at, datagram, hosts, scenario};
use crate::emulation::{Behind, Delivery, Emulation, FrameCounts};
use meshpace_gateway::Side;
use meshpace_network::NoWatch;
use meshpace_scenario::Scenario;
use meshpace_units::Instant;
use meshpace_units::random::Stream;
use std::net::IpAddr;

/// Three hops whose kernels forward; a gateway at their end, a host behind it.
const TEXT: &str = r#"
    measure = { duration = "10s", warmup = "0s" }
    topology = { kind = "chain", hops = 3 }
    routing = { protocol = "static" }
    node = [{ id = "B", role = "wired" }]
    link = [{ a = "n3", b = "B", rate = "10Mbps", delay = "5ms" }]

    [emulate]
    host = [{ node = "B" }]
    node = [{ node = "n0" }, { node = "n1" }, { node = "n2" }, { node = "n3" }]
"#;
/// Ports, in the order of the hosts.
const B: usize = 0;
const N0: usize = 1;
const N1: usize = 2;
const N2: usize = 3;
const N3: usize = 4;
const N3_WIRED: usize = 5;
const ALL: [u8; 6] = [0xff; 6];

fn with<R>(text: &str, then: impl FnOnce(&Scenario, Emulation<'_>) -> R) -> R {
    let scenario = scenario(text);
    let mut watch = NoWatch;
    let emulation = Emulation::new(&scenario, &hosts(&scenario), &mut watch).expect("it runs");
    then(&scenario, emulation)
}

/// The MAC address of the n-th node.
fn mac(n: u8) -> [u8; 6] {
    [0x02, 0x6d, 0x70, 0, 0, n + 1]
}

fn ip(n: u8) -> IpAddr {
    address(&format!("10.77.0.{}", n + 2))
}

fn frame(to: [u8; 6], from: [u8; 6], ether_type: u16, payload: &[u8]) -> Vec<u8> {
    [&to[..], &from, &ether_type.to_be_bytes(), payload].concat()
}

/// What has come by then: into which port, and the bytes.
fn came(emulation: &mut Emulation<'_>, until: Instant) -> Vec<(usize, Vec<u8>)> {
    let next = std::iter::from_fn(|| emulation.advance(until));
    next.map(|Delivery { port, bytes, .. }| (port, bytes.to_vec())).collect()
}

#[test]
fn a_frame_for_one_comes_to_it_and_one_for_all_to_the_neighbours() {
    with(TEXT, |scenario, mut emulation| {
        let ping = frame(mac(2), mac(1), 0x88b5, b"local experiment");
        emulation.send(Instant::ZERO, N1, &ping);
        assert_eq!(came(&mut emulation, at(50)), [(N2, ping.clone())]);
        let to_all = frame(ALL, mac(1), 0x0806, &[1; 28]);
        emulation.send(at(50), N1, &to_all);
        let mut heard = came(&mut emulation, at(100));
        heard.sort();
        assert_eq!(heard, [(N0, to_all.clone()), (N2, to_all)], "n3 is two hops away");
        // A neighbour by its address alone: n3 is on the channel, and out of reach.
        emulation.send(at(100), N1, &frame(mac(3), mac(1), 0x88b5, b"far"));
        assert_eq!(came(&mut emulation, at(500)), []);
        let (result, _, frames) = emulation.report(scenario, at(500));
        let (n1, _) = (&frames[1], &frames[0]);
        assert_eq!((n1.node.as_str(), n1.device.as_str()), ("n1", "mesh0"));
        assert_eq!((n1.counts.sent, n1.counts.sent_to_all, n1.counts.sent_bytes), (3, 1, 30 + 42 + 17));
        let given_up: u64 = result.links.iter().map(|link| link.retry_drops).sum();
        assert_eq!(given_up, 1, "what is for one is acknowledged, or given up: {:?}", result.links);
    });
}

#[test]
fn kernels_forward_and_what_crosses_them_is_counted_from_end_to_end() {
    with(TEXT, |scenario, mut emulation| {
        let mut packet = datagram(ip(0), ip(3), 0, 7, 600);
        let mut now = Instant::ZERO;
        for (hop, (from, to)) in [(N0, N1), (N1, N2), (N2, N3)].into_iter().enumerate() {
            let hop = hop as u8;
            meshpace_wire::set_hop(&mut packet, 64 - hop, meshpace_units::Ecn::NotEct);
            let sent = frame(mac(hop + 1), mac(hop), 0x0800, &packet);
            emulation.send(now, from, &sent);
            now += meshpace_units::Span::from_millis(20);
            assert_eq!(came(&mut emulation, now), [(to, sent)]);
        }
        let (_, traffic, _) = emulation.report(scenario, now);
        let row = &traffic[0];
        assert_eq!((row.from.as_str(), row.to.as_str(), row.packets, row.delivered), ("n0", "n3", 1, 1));
        assert_eq!((row.hops, row.bytes), (Some(3), 628));
        assert!(row.delay_mean_s.expect("it came") > 0.04, "the time in the kernels counts");
    });
}

#[test]
fn a_gateway_whose_kernel_forwards_has_a_port_toward_the_wired_links() {
    with(TEXT, |scenario, mut emulation| {
        assert_eq!(emulation.ports()[N3_WIRED].behind, Behind::Side(Side::Wired));
        assert_eq!([N3, N3_WIRED].map(|port| emulation.device(port)), ["mesh0", "wired0"]);
        let up = datagram(ip(2), address("10.77.0.6"), 0, 1, 100);
        let sent = frame(mac(3), mac(2), 0x0800, &up);
        emulation.send(Instant::ZERO, N2, &sent);
        assert_eq!(came(&mut emulation, at(20)), [(N3, sent)]);
        emulation.send(at(20), N3_WIRED, &up);
        assert_eq!(came(&mut emulation, at(50)), [(B, up)]);
        let down = datagram(address("10.77.0.6"), ip(2), 0, 2, 100);
        emulation.send(at(50), B, &down);
        assert_eq!(came(&mut emulation, at(80)), [(N3_WIRED, down.clone())]);
        let back = frame(mac(2), mac(3), 0x0800, &down);
        emulation.send(at(80), N3, &back);
        assert_eq!(came(&mut emulation, at(100)), [(N2, back)]);
        let (_, traffic, _) = emulation.report(scenario, at(100));
        let ends: Vec<_> =
            traffic.iter().map(|row| (row.from.as_str(), row.to.as_str(), row.delivered)).collect();
        assert_eq!(ends, [("n2", "B", 1), ("B", "n2", 1)]);
    });
}

#[test]
fn several_radios_are_several_ports_and_a_channel_is_one_link() {
    let text = r#"
        measure = { duration = "10s", warmup = "0s" }
        routing = { protocol = "static" }
        [[node]]
        id = "left"
        x = 0
        y = 0
        radio = [{ channel = 1 }]
        [[node]]
        id = "middle"
        x = 150
        y = 0
        radio = [{ channel = 1 }, { channel = 6 }]
        [[node]]
        id = "right"
        x = 300
        y = 0
        radio = [{ channel = 6 }]
        [emulate]
        node = [{ node = "left" }, { node = "middle" }, { node = "right" }]
    "#;
    with(text, |_, mut emulation| {
        let names: Vec<_> = (0..emulation.ports().len())
            .map(|port| (emulation.ports()[port].host, emulation.device(port)))
            .collect();
        let name = |name: &str| name.to_owned();
        assert_eq!(names, [(0, name("mesh0")), (1, name("mesh0")), (2, name("mesh0")), (1, name("mesh1"))]);
        let second = [0x02, 0x6d, 0x70, 1, 0, 2];
        for (port, own, to) in [(1, mac(1), 0), (3, second, 2)] {
            let to_all = frame(ALL, own, 0x88b5, &[port as u8; 40]);
            let now = at(100 * port as u64);
            assert_eq!(came(&mut emulation, now), []);
            emulation.send(now, port, &to_all);
            assert_eq!(came(&mut emulation, at(100 * port as u64 + 50)), [(to, to_all)]);
        }
        assert_eq!(came(&mut emulation, at(400)), []);
        emulation.send(at(400), 0, &frame(mac(2), mac(0), 0x88b5, b"right is on another channel"));
        assert_eq!((came(&mut emulation, at(500)), emulation.frames.by_port[0].unknown), (vec![], 1));
        // Each radio has an address of its own, by which it is known on its own channel alone.
        emulation.send(at(500), 3, &frame(mac(2), mac(1), 0x88b5, b"its first radio's"));
        emulation.send(at(500), 2, &frame(mac(1), mac(2), 0x88b5, b"for its first radio"));
        let for_second = frame(second, mac(2), 0x88b5, b"for its second radio");
        emulation.send(at(500), 2, &for_second);
        assert_eq!(came(&mut emulation, at(600)), [(3, for_second)]);
        let counts = &emulation.frames.by_port;
        assert_eq!((counts[3].foreign, counts[2].unknown), (1, 1));
    });
}

/// A neighbour that goes 2 km away at once, and comes back in 4 s.
#[test]
fn a_node_goes_and_comes_back() {
    let text = TEXT.replace("[emulate]", "[emulate]\nevent = [{ at = \"1s\", node = \"n0\", x = 0, y = 2000 }, { at = \"2s\", node = \"n0\", x = 0, y = 0, takes = \"4s\" }]");
    with(&text, |_, mut emulation| {
        let mut heard = Vec::new();
        for tenth in 0..70 {
            let now = at(100 * tenth + 50);
            heard.extend(came(&mut emulation, now).into_iter().map(|_| tenth - 1));
            emulation.send(now, N1, &frame(mac(0), mac(1), 0x88b5, &[1; 30]));
        }
        // Within 250 m of n1, which is 200 m to the east, from 150 m to the north on: 3.7 of the 4 s.
        let (before, after): (Vec<_>, Vec<_>) = heard.iter().partition(|tenth| **tenth < 10);
        assert_eq!(before, (0..10).collect::<Vec<_>>());
        assert!(after.contains(&58) && !after.contains(&55), "{after:?}");
        assert_eq!(after.last(), Some(&68));
    });
}

#[test]
fn frames_and_the_time_that_they_take_count_from_the_beginning_of_the_measured_interval() {
    let scenario = scenario(&TEXT.replace("warmup = \"0s\"", "warmup = \"1s\""));
    let mut clock = crate::air::Clock::new(&scenario);
    let read = clock.clone();
    let mut emulation = Emulation::new(&scenario, &hosts(&scenario), &mut clock).expect("it runs");
    for now in [at(500), at(1_500), at(2_500)] {
        came(&mut emulation, now);
        emulation.send(now, N1, &frame(ALL, mac(1), 0x0806, &[1; 28]));
    }
    came(&mut emulation, at(2_600));
    emulation.send(at(2_600), N1, &frame(mac(0), mac(1), 0x88b5, &[1; 100]));
    came(&mut emulation, at(3_000));
    let radios: Vec<_> = emulation.radios().map(|radio| read.of(radio)).collect();
    let (_, _, frames) = emulation.report(&scenario, at(3_000));
    let counts = |index: usize| frames[index].counts;
    assert_eq!((counts(1).sent, counts(1).sent_to_all), (3, 2));
    assert_eq!((counts(0).received, counts(0).received_to_all), (3, 2));
    assert_eq!((counts(2).received, counts(2).received_to_all), (2, 2));
    // At 1 Mbit/s, after a preamble of 192 us: 28 bytes and 34 of the MAC's. The RTS for the third frame is not for all.
    let to_all = 2.0 * (192.0 + 8.0 * 62.0) * 1e-6;
    assert!((radios[1].airtime_to_all_s - to_all).abs() < 1e-12, "{radios:?}");
    assert!(radios[1].airtime_s > to_all + 400e-6, "{radios:?}");
    assert!(radios[0].airtime_s > 200e-6 && radios[0].airtime_to_all_s == 0.0, "its answers: {radios:?}");
}

#[test]
fn a_node_that_is_off_hears_nobody_and_nobody_hears_it_until_it_is_on() {
    let text = format!(
        "{TEXT}\n[[emulate.event]]\nat = \"2s\"\nnode = \"n1\"\nradios = \"on\"\n[[emulate.event]]\nat = \"1s\"\nnode = \"n1\"\nradios = \"off\"\n"
    );
    with(&text, |scenario, mut emulation| {
        let packet = |number| datagram(ip(0), ip(1), 0, number, 100);
        let mut heard = Vec::new();
        for number in 0..30_u32 {
            let now = at(100 * u64::from(number) + 50);
            heard.extend(came(&mut emulation, now).into_iter().map(|(port, _)| (number, port)));
            emulation.send(now, N0, &frame(mac(1), mac(0), 0x0800, &packet(number)));
            emulation.send(now, N1, &frame(ALL, mac(1), 0x88b5, &[1; 30]));
        }
        let of = |port| {
            heard.iter().filter(|(_, at)| *at == port).map(|(number, _)| number - 1).collect::<Vec<_>>()
        };
        let while_on: Vec<_> = (0..10).chain(20..29).collect();
        assert_eq!([of(N0), of(N1), of(N2)], [while_on.clone(), while_on.clone(), while_on]);
        let (result, traffic, _) = emulation.report(scenario, at(3_000));
        let gap = traffic[0].longest_gap_s.expect("several came");
        assert!((gap - 1.1).abs() < 0.02, "{gap} s from the last before to the first after");
        let given_up: u64 = result.links.iter().map(|link| link.retry_drops).sum();
        assert_eq!(given_up, 10, "what is for one is given up");
    });
}

#[test]
fn what_no_radio_would_send_is_refused_and_counted() {
    with(TEXT, |_, mut emulation| {
        let tagged = frame(mac(1), mac(0), 0x8100, &[&[0, 5, 8, 0][..], &[7; 100]].concat());
        let largest = frame(mac(1), mac(0), 0x0800, &[0x45; 2296]);
        let refused = [
            vec![],
            vec![0xff; 13],
            frame(mac(1), mac(0), 0x0800, &[0x45; 2297]),
            frame(mac(1), mac(0), 0x0800, &[0x45; 4096 - 14]),
            frame(mac(1), mac(2), 0x0800, &[0x45; 60]),
            frame([2, 0, 0, 0, 0, 9], mac(0), 0x0800, &[0x45; 60]),
            frame(mac(0), mac(0), 0x0800, &[0x45; 60]),
        ];
        for bytes in refused.iter().chain([&tagged, &largest]) {
            emulation.send(Instant::ZERO, N0, bytes);
        }
        assert_eq!(came(&mut emulation, at(500)), [(N1, tagged.clone()), (N1, largest.clone())]);
        let sent_bytes = (tagged.len() + largest.len()) as u64;
        let expected = FrameCounts {
            sent: 2,
            sent_bytes,
            runts: 2,
            oversized: 2,
            foreign: 1,
            unknown: 2,
            ..FrameCounts::default()
        };
        assert_eq!(emulation.frames.by_port[N0], expected);
    });
}

#[test]
fn random_frames_break_nothing() {
    with(TEXT, |scenario, mut emulation| {
        let mut stream = Stream::new(1, "frames", 0);
        let mut sent = 0;
        for number in 0..60_000_u64 {
            let now = Instant::ZERO + meshpace_units::Span::from_micros(100 * number);
            for (port, bytes) in came(&mut emulation, now) {
                // What comes goes on, as from a kernel that does not look.
                if number % 7 == 0 {
                    emulation.send(now, port, &bytes);
                }
            }
            let port = (stream.unit() * 6.0) as usize;
            let mut bytes: Vec<u8> =
                (0..(stream.unit() * 200.0) as usize).map(|_| (stream.unit() * 256.0) as u8).collect();
            if bytes.len() >= 14 && stream.unit() < 0.7 {
                // Addresses that somebody has, and types that are looked into.
                bytes[..6].copy_from_slice(
                    &[mac((stream.unit() * 4.0) as u8), ALL][(stream.unit() * 2.0) as usize],
                );
                bytes[6..12].copy_from_slice(&mac(port.saturating_sub(1) as u8));
                let types = [[8, 0], [0x86, 0xdd], [8, 6], [0x81, 0], [0, 20]];
                bytes[12..14].copy_from_slice(&types[(stream.unit() * 5.0) as usize]);
            }
            emulation.send(now, port, &bytes);
            sent += 1;
        }
        came(&mut emulation, at(9_000));
        let (_, _, frames) = emulation.report(scenario, at(9_000));
        let total = |count: fn(&FrameCounts) -> u64| frames.iter().map(|row| count(&row.counts)).sum::<u64>();
        assert!(
            total(|c| c.sent) > 1_000 && total(|c| c.runts) > 100 && total(|c| c.foreign) > 100,
            "{sent}: {frames:?}"
        );
    });
}
