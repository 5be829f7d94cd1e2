//! Packets that nobody should send.

use crate::common::{World, exchange};
use meshpace_endpoint::{ImpairmentConfig, SocketOptions};
use meshpace_units::{Dscp, Span};
use meshpace_wire::{IpHeader, parse, protocol};
use proptest::prelude::*;

/// Mends the checksums of a packet that was changed, so that it gets past them.
fn reseal(packet: &[u8]) -> Option<Vec<u8>> {
    let parsed = parse(packet).ok()?;
    let header = IpHeader {
        source: parsed.source,
        destination: parsed.destination,
        protocol: protocol::TCP,
        ttl: parsed.ttl,
        ecn: parsed.ecn(),
        dscp: Dscp::DEFAULT,
        identification: 0,
    };
    let end = usize::try_from(parsed.wire_len.0).ok()?.min(packet.len());
    let transport = packet.get(parsed.tcp_offset..end)?;
    let mut whole = Vec::new();
    header.write(&mut whole, transport.len());
    let start = whole.len();
    whole.extend_from_slice(transport);
    whole[start + 16..start + 18].fill(0);
    header.seal(&mut whole[start..]);
    Some(whole)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Copies of real packets with bytes changed, checksums mended or not, into a running connection: nothing panics,
    /// nothing grows without bound. What is delivered may be the forger's: he knows everything.
    #[test]
    fn forged_packets_break_nothing(
        seed: u64,
        changes in proptest::collection::vec((0usize..200, 0usize..70, any::<u8>(), any::<bool>()), 0..300),
        noise in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..120), 0..20),
    ) {
        let network = ImpairmentConfig { seed, delay: Span::from_millis(5), ..ImpairmentConfig::default() };
        let mut world = World::new(network);
        world.logs = true;
        let (here, there) = world.connected(&SocketOptions::default(), SocketOptions::default());
        let data = vec![7; 3_000];
        let forged = changes.len();
        for (which, at, value, mend) in changes {
            let _ = world.client.write(here, &data);
            let _ = world.server.write(there, &data[..500]);
            let _ = (world.client.read(here, &mut [0; 400]), world.server.read(there, &mut [0; 4000]));
            world.step();
            let back = which.min(world.log.len() - 1);
            let (client, mut packet) = world.log[world.log.len() - 1 - back].clone();
            let at = at % packet.len();
            packet[at] = value;
            let packet = if mend { reseal(&packet).unwrap_or(packet) } else { packet };
            let now = world.now;
            if client { world.server.handle_packet(now, &packet) } else { world.client.handle_packet(now, &packet) }
            world.settle();
        }
        for packet in noise {
            let now = world.now;
            world.server.handle_packet(now, &packet);
            world.settle();
        }
        // A forged SYN may be as good as any other; the client listens to none.
        prop_assert!(world.server.len() <= 1 + forged && world.client.len() <= 1);
    }
}

/// The same without mended checksums is as if nothing had come.
#[test]
fn damage_is_noticed() {
    let network = ImpairmentConfig {
        corrupt: 0.2,
        delay: Span::from_millis(1),
        seed: 7,
        ..ImpairmentConfig::default()
    };
    let mut world = World::new(network);
    let ends = world.connected(&SocketOptions::default(), SocketOptions::default());
    exchange(&mut world, ends, 300_000, 300_000, 30_000);
    let counters = world.server.counters();
    assert!(counters.damaged + counters.not_tcp + counters.not_ours > 20, "{counters:?}");
}
