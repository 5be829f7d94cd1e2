//! How connections begin, stall and end.

use crate::common::{CLIENT, SERVER, Transfer, World, config, exchange, scheme, socket};
use meshpace_endpoint::{BindError, ConnectError, ImpairmentConfig, SocketError, SocketOptions, StackConfig};
use meshpace_tcp::{Closing, Config, KeepAlive, Segment, State};
use meshpace_units::{Ecn, Seq, Span};
use meshpace_wire::{build, parse};

const MS: fn(u64) -> Span = Span::from_millis;

fn delayed(ms: u64) -> World {
    World::new(ImpairmentConfig { delay: MS(ms), ..ImpairmentConfig::default() })
}

fn closed(world: &World, id: meshpace_endpoint::SocketId) -> Option<Closing> {
    world.client.info(id).expect("known").closed
}

/// The segments of the log, the client's only.
fn sent_by_client(world: &World) -> Vec<Segment> {
    let ours = world.log.iter().filter(|(client, _)| *client);
    ours.map(|(_, bytes)| parse(bytes).expect("our own packet").segment).collect()
}

#[test]
fn nobody_listens() {
    let mut world = delayed(10);
    let id =
        world.client.connect(world.now, socket(SERVER, 81), None, &SocketOptions::default()).expect("room");
    world.pass(MS(30));
    assert_eq!(closed(&world, id), Some(Closing::Refused));
    assert_eq!(world.client.read(id, &mut [0]), Err(SocketError::Closed(Closing::Refused)));
    assert_eq!(world.server.counters().resets_sent, 1);
    world.client.release(world.now, id);
    world.settle();
    assert!(world.client.is_empty());
}

#[test]
fn both_open_at_once() {
    let mut world = delayed(10);
    let options = SocketOptions::default();
    let here = world.client.connect(world.now, socket(SERVER, 80), Some(90), &options).expect("room");
    let there = world.server.connect(world.now, socket(CLIENT, 90), Some(80), &options).expect("room");
    world.pass(MS(50));
    assert!(world.client.info(here).expect("known").connected);
    assert_eq!(exchange(&mut world, (here, there), 50_000, 70_000, 9_000).as_secs_f64() as u64, 0);
    assert_eq!(world.client.counters().resets_sent + world.server.counters().resets_sent, 0);
}

#[test]
fn ipv6() {
    let mut world = delayed(5);
    let listener = world.server.listen(None, 80, 1, SocketOptions::default()).expect("free");
    let remote = "[fd00::2]:80".parse().expect("an address");
    let here = world.client.connect(world.now, remote, None, &SocketOptions::default()).expect("room");
    world.pass(MS(20));
    let there = world.server.accept(listener).expect("a connection");
    exchange(&mut world, (here, there), 100_000, 1, 5_000);
    let info = world.client.info(here).expect("known");
    assert_eq!(info.mss, 1500 - 40 - 20 - 12, "IPv6, TCP, timestamps");
}

#[test]
fn ports_and_addresses_are_taken_once() {
    let mut world = delayed(1);
    let options = SocketOptions::default();
    let listener = world.server.listen(None, 80, 1, options.clone()).expect("free");
    assert_eq!(world.server.listen(None, 80, 1, options.clone()), Err(BindError::InUse(80)));
    let one = Some(crate::common::address(SERVER));
    world.server.listen(one, 80, 1, options.clone()).expect("an address of its own goes before all");
    let strange = crate::common::address("10.0.0.9");
    assert_eq!(world.server.listen(Some(strange), 80, 1, options.clone()), Err(BindError::NotLocal(strange)));
    world.server.unlisten(world.now, listener);
    world.server.listen(None, 80, 1, options.clone()).expect("free again");

    let remote = socket(SERVER, 80);
    world.client.connect(world.now, remote, Some(5000), &options).expect("free");
    let again = world.client.connect(world.now, remote, Some(5000), &options);
    assert!(matches!(again, Err(ConnectError::InUse(_))), "{again:?}");
    let mut lone = StackConfig::new(vec![crate::common::address(CLIENT)], config(CLIENT).secret);
    lone.connections = 0;
    let mut lone = meshpace_endpoint::Stack::new(lone);
    let v6 = "[fd00::2]:80".parse().expect("an address");
    assert!(matches!(lone.connect(world.now, v6, None, &options), Err(ConnectError::NoAddress(_))));
    assert_eq!(lone.connect(world.now, remote, None, &options), Err(ConnectError::Exhausted));
}

#[test]
fn a_closed_window_is_probed_and_opens() {
    let mut world = delayed(5);
    let mut server = SocketOptions::default();
    server.tcp.receive_buffer = 20_000;
    let (here, there) = world.connected(&SocketOptions::default(), server);
    let mut up = Transfer::of(100_000);
    up.write(&mut world.client, here, u64::MAX);
    world.pass(MS(1000));
    let full = world.server.info(there).expect("known").readable;
    assert!((18_000..=20_000 + 1460).contains(&full), "{full} bytes in the buffer");
    world.log.clear();
    world.logs = true;
    world.pass(Span::from_secs(20));
    let probes = sent_by_client(&world);
    assert!((3..=12).contains(&probes.len()), "{} probes in 20 s", probes.len());
    assert!(probes.iter().all(|probe| probe.payload == 0));
    while !up.ended {
        up.write(&mut world.client, here, u64::MAX);
        up.read(&mut world.server, there, 4000);
        if up.read < up.total || !up.ended {
            world.step();
        }
    }
    assert_eq!(up.read, 100_000);
}

#[test]
fn half_closed_the_other_half_goes_on() {
    let mut world = delayed(5);
    let (here, there) = world.connected(&SocketOptions::default(), SocketOptions::default());
    world.client.shutdown_write(here).expect("open");
    assert_eq!(world.client.write(here, b"x"), Err(SocketError::ShutDown));
    world.pass(MS(100));
    assert_eq!(world.server.read(there, &mut [0; 9]), Ok(0));
    assert_eq!(world.client.info(here).expect("known").state, State::FinWait2);
    let mut down = Transfer::of(300_000);
    while !down.ended {
        down.write(&mut world.server, there, u64::MAX);
        world.step();
        down.drain(&mut world.client, here);
    }
    assert_eq!(down.read, 300_000);
    world.pass(MS(100));
    // The window that the last read opens interests nobody any more. Telling it would reset the connection in TIME-WAIT.
    assert_eq!(world.client.info(here).expect("known").state, State::TimeWait);
    assert_eq!(world.server.info(there).expect("known").closed, Some(Closing::Finished));
}

#[test]
fn what_nobody_reads_is_reset() {
    // Data that had arrived when the application left (RFC 2525, section 2.17).
    let mut world = delayed(5);
    let (here, there) = world.connected(&SocketOptions::default(), SocketOptions::default());
    world.client.write(here, b"unread").expect("room");
    world.pass(MS(50));
    world.server.release(world.now, there);
    world.pass(MS(50));
    assert_eq!(closed(&world, here), Some(Closing::Reset));
    assert!(world.server.is_empty());

    // Data that arrive after it (RFC 9293, section 3.6.1).
    let mut world = delayed(5);
    let (here, there) = world.connected(&SocketOptions::default(), SocketOptions::default());
    world.server.release(world.now, there);
    world.pass(MS(50));
    assert_eq!(world.client.read(here, &mut [0; 9]), Ok(0), "an orderly end until then");
    world.client.write(here, b"too late").expect("room");
    world.pass(MS(50));
    assert_eq!(closed(&world, here), Some(Closing::Reset));
    assert!(world.server.is_empty());
}

#[test]
fn nobody_listens_to_what_a_deaf_connection_hears() {
    let mut world = delayed(5);
    let (here, there) = world.connected(&SocketOptions::default(), SocketOptions::default());
    world.server.shutdown_read(there).expect("known");
    let mut up = Transfer::of(5_000_000);
    while !up.shut {
        up.write(&mut world.client, here, u64::MAX);
        world.step();
    }
    world.pass(MS(500));
    assert_eq!(world.server.read(there, &mut [0; 9]), Ok(0));
    assert_eq!(world.client.info(here).expect("known").acknowledged.0, 5_000_000);
}

#[test]
fn an_orphan_is_given_up() {
    let mut world = delayed(5);
    let (here, there) = world.connected(&SocketOptions::default(), SocketOptions::default());
    world.client.release(world.now, here);
    world.pass(Span::from_secs(59));
    assert_eq!(world.client.info(here).expect("still waiting for the peer's FIN").state, State::FinWait2);
    world.pass(Span::from_secs(2));
    assert!(world.client.is_empty());
    assert_eq!(world.server.info(there).expect("known").closed, Some(Closing::Reset));
}

#[test]
fn an_abort_reaches_the_peer() {
    let mut world = delayed(5);
    let (here, there) = world.connected(&SocketOptions::default(), SocketOptions::default());
    world.client.abort(world.now, here);
    assert_eq!(closed(&world, here), Some(Closing::Aborted));
    world.pass(MS(10));
    assert_eq!(world.server.info(there).expect("known").closed, Some(Closing::Reset));
    assert_eq!(world.server.read(there, &mut [0]), Err(SocketError::Closed(Closing::Reset)));
}

#[test]
fn a_silent_peer_is_found_out() {
    let keep_alive = Some(KeepAlive { idle: Span::from_secs(10), interval: Span::from_secs(2), probes: 3 });
    let options = SocketOptions {
        tcp: Config { keep_alive, ..SocketOptions::default().tcp },
        ..SocketOptions::default()
    };
    let mut world = delayed(5);
    let (here, _) = world.connected(&options, SocketOptions::default());
    world.pass(Span::from_secs(60));
    assert_eq!(closed(&world, here), None, "answered probes keep it");
    world.server.abort_all(world.now);
    // Its reset is lost on the way, and it answers nothing any more.
    let mut packet = Vec::new();
    while world.server.poll_transmit(world.now, &mut packet) {}
    world.server = meshpace_endpoint::Stack::new(config("10.0.0.3"));
    world.pass(Span::from_secs(18));
    assert_eq!(closed(&world, here), Some(Closing::TimedOut));
}

#[test]
fn a_port_in_time_wait_is_reused_by_a_new_syn() {
    let mut world = delayed(5);
    let listener = world.server.listen(None, 80, 8, SocketOptions::default()).expect("free");
    for round in 0..3_u64 {
        let options = SocketOptions::default();
        let here = world.client.connect(world.now, socket(SERVER, 80), Some(7000), &options).expect("room");
        world.pass(MS(20));
        let there = world.server.accept(listener).expect("a connection");
        let mut up = Transfer::of(1_000_000 * round);
        // The server closes first, so it is the one in TIME-WAIT.
        world.server.shutdown_write(there).expect("open");
        world.pass(MS(20));
        while !up.ended {
            up.write(&mut world.client, here, u64::MAX);
            world.step();
            up.drain(&mut world.server, there);
        }
        world.pass(MS(50));
        assert_eq!(world.server.info(there).expect("known").state, State::TimeWait);
        assert_eq!(closed(&world, here), Some(Closing::Finished));
        world.client.release(world.now, here);
        world.server.release(world.now, there);
        world.pass(MS(50));
    }
    assert_eq!((world.client.len(), world.server.len()), (0, 3), "only the server's old ones are left");
    world.pass(Span::from_secs(61));
    assert!(world.server.is_empty());
}

/// A SYN from a host that does not exist.
fn forged(n: u32) -> Vec<u8> {
    let segment = Segment {
        flags: meshpace_tcp::Flags { syn: true, ..Default::default() },
        window: 1000,
        ..Segment::new(1024 + (n % 50_000) as u16, 80, Seq(n))
    };
    build([172, 16, (n >> 8) as u8, n as u8].into(), crate::common::address(SERVER), 60, &segment, &[])
}

#[test]
fn a_flood_of_syns_costs_a_bounded_amount_and_harms_no_connection() {
    let mut world = delayed(5);
    let (here, there) = world.connected(&SocketOptions::default(), SocketOptions::default());
    for n in 0..50_000 {
        let now = world.now;
        world.server.handle_packet(now, &forged(n));
        if n % 100 == 0 {
            world.settle();
        }
        assert!(world.server.len() <= 1 + 1024, "{} connections after {n} SYNs", world.server.len());
    }
    assert_eq!(world.server.counters().half_open_dropped, 50_000 - 1024);
    exchange(&mut world, (here, there), 1_000_000, 1_000_000, 10_000);
    // Those that are left give up: a SYN-ACK that nobody answers is repeated some times.
    world.client.release(world.now, here);
    world.server.release(world.now, there);
    world.pass(Span::from_secs(600));
    assert!(world.server.is_empty(), "{} half-open connections for ever", world.server.len());
}

#[test]
fn a_full_backlog_lets_nobody_in() {
    let mut world = delayed(5);
    let listener = world.server.listen(None, 80, 2, SocketOptions::default()).expect("free");
    let options = SocketOptions::default();
    let ids: Vec<_> = (0..4)
        .map(|n| {
            world.pass(MS(20));
            let remote = socket(SERVER, 80);
            world.client.connect(world.now, remote, Some(6000 + n), &options).expect("room")
        })
        .collect();
    world.pass(MS(100));
    let connected =
        |world: &World| ids.iter().filter(|id| world.client.info(**id).expect("known").connected).count();
    assert_eq!(connected(&world), 2);
    assert!(world.server.counters().syns_ignored >= 2);
    assert!(world.server.accept(listener).is_some() && world.server.accept(listener).is_some());
    world.pass(Span::from_secs(5));
    assert_eq!(connected(&world), 4, "their SYNs are repeated");
}

/// An ICMP "fragmentation needed" of a router about `packet`.
fn too_big(packet: &[u8], mtu: u16) -> Vec<u8> {
    let sum = |bytes: &[u8]| {
        let words =
            bytes.chunks(2).map(|pair| u32::from(pair[0]) << 8 | u32::from(*pair.get(1).unwrap_or(&0)));
        let sum: u32 = words.sum();
        let sum = (sum >> 16) + (sum & 0xffff);
        !(((sum >> 16) + sum) as u16)
    };
    let mut message = vec![3, 4, 0, 0, 0, 0];
    message.extend(mtu.to_be_bytes());
    message.extend(&packet[..28]);
    let checksum = sum(&message);
    message[2..4].copy_from_slice(&checksum.to_be_bytes());
    let mut whole = vec![0x45, 0, 0, (20 + message.len()) as u8, 0, 0, 0, 0, 60, 1, 0, 0, 10, 0, 0, 77];
    whole.extend(&packet[12..16]);
    let checksum = sum(&whole);
    whole[10..12].copy_from_slice(&checksum.to_be_bytes());
    whole.extend(message);
    whole
}

#[test]
fn a_router_lowers_the_packet_size_if_it_knows_what_is_in_flight() {
    let mut world = delayed(5);
    let (here, there) = world.connected(&SocketOptions::default(), SocketOptions::default());
    world.logs = true;
    let mut up = Transfer::of(400_000);
    up.write(&mut world.client, here, u64::MAX);
    world.settle();
    let big = world
        .log
        .iter()
        .find(|(client, bytes)| *client && bytes.len() == 1500)
        .expect("full packets")
        .1
        .clone();
    let now = world.now;
    let mut guessed = big.clone();
    guessed[24..28].copy_from_slice(&0x1234_5678_u32.to_be_bytes());
    world.client.handle_packet(now, &too_big(&guessed, 600));
    assert_eq!(world.client.counters().too_big_ignored, 1);
    assert_eq!(world.client.info(here).expect("known").path_mtu, None);
    world.client.handle_packet(now, &too_big(&big, 100));
    assert_eq!(world.client.counters().too_big_ignored, 2, "no link is that narrow");
    world.client.handle_packet(now, &too_big(&big, 600));
    assert_eq!(world.client.info(here).expect("known").path_mtu, Some(600));
    world.log.clear();
    while !up.ended {
        up.write(&mut world.client, here, u64::MAX);
        world.step();
        up.drain(&mut world.server, there);
    }
    let longest = world.log.iter().filter(|(client, _)| *client).map(|(_, bytes)| bytes.len()).max();
    assert_eq!(longest, Some(600));

    // The next connection to that host knows, for ten minutes.
    let options = SocketOptions::default();
    let next = world.client.connect(world.now, socket(SERVER, 80), None, &options).expect("room");
    world.pass(MS(50));
    assert_eq!(world.client.info(next).expect("known").mss, 600 - 40 - 12);
    world.pass(Span::from_secs(601));
    let late = world.client.connect(world.now, socket(SERVER, 80), None, &options).expect("room");
    world.pass(MS(50));
    assert_eq!(world.client.info(late).expect("known").mss, 1500 - 40 - 12);
}

#[test]
fn tcp_gap_paces_by_the_option_and_gives_up_waiting_for_it() {
    let gateway = |meddle: crate::common::Meddle| {
        let mut world = delayed(20);
        world.meddle = meddle;
        let ends = world.connected(&scheme("tcp-gap"), scheme("tcp-gap"));
        exchange(&mut world, ends, 300_000, 0, 100_000);
        world.client.info(ends.0).expect("known").pacing
    };
    let with = gateway(|packet| {
        if parse(packet).is_ok_and(|packet| packet.segment.is_pure_ack()) {
            meshpace_wire::set_rtt(packet, MS(30)).expect("room for the option");
        }
    });
    // 40 ms less 30 ms over 4 hops at 11 Mbit/s: 2 * (10 ms / 4 + 11,584 bit / 11 Mbit/s), 1,448 bytes a segment.
    let delay = with.k_hop_delay.expect("samples");
    assert!((delay - 7.106e-3).abs() < 0.1e-3, "{delay}");
    assert!(with.samples > 100 && with.interval.is_some(), "{with:?}");
    let without = gateway(|_| {});
    assert_eq!((without.samples, without.interval), (0, None), "no gateway: plain NewReno");
}

#[test]
fn the_agent_of_2005_paces_by_real_timestamps() {
    let mut world = delayed(20);
    let ends = world.connected(&scheme("tcp-ap-ns2-2005"), scheme("tcp-ap-ns2-2005"));
    exchange(&mut world, ends, 300_000, 0, 100_000);
    let pacing = world.client.info(ends.0).expect("known").pacing;
    // 40 ms over 4 hops: 2 * (40 ms / 4 + 11,680 bit / 11 Mbit/s).
    let delay = pacing.k_hop_delay.expect("samples");
    assert!((delay - 22.1e-3).abs() < 1e-3, "{delay}");
}

#[test]
fn nagle_waits_and_can_be_told_not_to() {
    for (nagle, packets) in [(true, 2), (false, 10)] {
        let mut options = SocketOptions::default();
        options.tcp.nagle = nagle;
        let mut world = delayed(20);
        let (here, there) = world.connected(&options, SocketOptions::default());
        world.logs = true;
        for _ in 0..10 {
            world.client.write(here, b"x").expect("room");
            world.settle();
        }
        world.pass(MS(200));
        assert_eq!(sent_by_client(&world).iter().filter(|segment| segment.payload > 0).count(), packets);
        let mut got = [0; 20];
        assert_eq!(world.server.read(there, &mut got), Ok(10));
    }
}

#[test]
fn without_window_scale_and_timestamps() {
    let mut plain = SocketOptions::default();
    plain.tcp.window_scaling = false;
    plain.tcp.timestamps = false;
    let mut world = delayed(5);
    world.logs = true;
    let ends = world.connected(&plain, SocketOptions::default());
    exchange(&mut world, ends, 200_000, 200_000, 20_000);
    assert_eq!(world.client.info(ends.0).expect("known").mss, 1460);
    let answers = world.log.iter().filter(|(client, _)| !client);
    let options = answers.map(|(_, bytes)| parse(bytes).expect("our own packet").segment.options);
    assert!(
        options.into_iter().all(|options| options.timestamps.is_none() && options.window_scale.is_none())
    );
}

#[test]
fn marks_slow_a_sender_down_without_a_retransmission() {
    let network = ImpairmentConfig { delay: MS(10), mark: 0.05, ..ImpairmentConfig::default() };
    let mut world = World::new(network);
    let options = SocketOptions {
        tcp: Config { ecn: true, ..SocketOptions::default().tcp },
        ..SocketOptions::default()
    };
    world.logs = true;
    let ends = world.connected(&options, options.clone());
    let slowed = exchange(&mut world, ends, 3_000_000, 1, 50_000);
    let counters = world.client.info(ends.0).expect("known").counters;
    let marks = world.server.info(ends.1).expect("known").counters.marks;
    assert!(counters.ecn_reductions > 5 && marks > counters.ecn_reductions, "{counters:?} {marks}");
    assert_eq!((counters.retransmits, world.there.counters().marked), (0, marks));
    for (_, bytes) in &world.log {
        let packet = parse(bytes).expect("our own packet");
        let data = packet.segment.payload > 0;
        assert_eq!(packet.ecn(), if data { Ecn::Ect0 } else { Ecn::NotEct }, "{packet:?}");
    }
    // A peer without ECN: nothing may be marked.
    let mut world = World::new(network);
    let ends = world.connected(&options, SocketOptions::default());
    let free = exchange(&mut world, ends, 3_000_000, 1, 50_000);
    assert_eq!(world.there.counters().marked, 0);
    assert!(free < slowed, "{free:?} {slowed:?}");
}
