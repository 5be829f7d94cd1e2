//! What arrives is what was sent, over networks that lose, double, overtake and damage packets.

use crate::common::{World, config, exchange, scheme};
use meshpace_endpoint::{ImpairmentConfig, SocketOptions, StackConfig};
use meshpace_tcp::control::{Rules, sack_reno};
use meshpace_units::Span;
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn exactly_the_bytes(
        seed: u64,
        loss in 0.0..0.08,
        duplicate in 0.0..0.1,
        reorder in 0.0..0.2,
        corrupt in 0.0..0.02,
        delay in 0u64..60,
        sizes in (0u64..120_000, 0u64..120_000),
        chunk in 1u64..20_000,
        buffers in (2_000u32..200_000, 1_000usize..200_000),
        which in 0usize..8,
        mtus in (300u32..1600, 300u32..1600),
        (mark, ecn, selective) in (0.0f64..0.2, any::<bool>(), any::<bool>()),
    ) {
        let network = ImpairmentConfig {
            seed, loss, duplicate, reorder, corrupt, mark, delay: Span::from_millis(delay),
            reorder_by: Span::from_millis(7),
        };
        let names: Vec<&str> = meshpace_schemes::names().collect();
        let with = |name: &str| {
            let mut options = scheme(name);
            options.tcp.receive_buffer = buffers.0;
            options.tcp.time_wait = Span::from_secs(10);
            options.tcp.ecn = ecn;
            if selective {
                options.tcp = options.tcp.clone().controlled_by(sack_reno(Rules::RFC));
            }
            SocketOptions { send_buffer: buffers.1, ..options }
        };
        let mtu = |mtu, host| StackConfig { mtu, ..config(host) };
        let mut world = World::of(network, mtu(mtus.0, crate::common::CLIENT), mtu(mtus.1, crate::common::SERVER));
        let ends = world.connected(&with(names[which % names.len()]), with(names[(which + 3) % names.len()]));
        exchange(&mut world, ends, sizes.0, sizes.1, chunk);
        world.client.release(world.now, ends.0);
        world.server.release(world.now, ends.1);
        while world.step() {}
        prop_assert!(world.client.is_empty() && world.server.is_empty(), "a connection is left for ever");
    }
}

/// Every scheme's sender moves a megabyte over a clean path and over one that loses 1 %.
#[test]
fn every_scheme_moves_data() {
    for name in meshpace_schemes::names() {
        for loss in [0.0, 0.01] {
            let network =
                ImpairmentConfig { loss, delay: Span::from_millis(2), ..ImpairmentConfig::default() };
            let mut world = World::new(network);
            world.late = Span::from_micros(60);
            let options = scheme(name);
            // Where no router answers such a sender keeps the rate that it begins with, which may be a segment a second.
            let least = if options.tcp.control.asks().relays.is_some() { 0.01 } else { 0.2 };
            let ends = world.connected(&options, options.clone());
            let took = exchange(&mut world, ends, 1_000_000, 0, 64_000);
            let info = world.client.info(ends.0).expect("known");
            let rate = 8.0 / took.as_secs_f64();
            println!("{name:18} loss {loss}: {rate:7.3} Mbit/s, {:?}", info.counters);
            assert!(rate > least, "{name}: {rate} Mbit/s");
            if loss == 0.0 {
                assert_eq!((info.counters.retransmits, info.counters.timeouts), (0, 0), "{name}");
            }
        }
    }
}

/// A sender with a few segments at a time does not wait for a receiver that acknowledges thinly: what it pushes is answered.
#[test]
fn small_buffers_move_data_past_thin_acknowledgements() {
    for name in ["calm", "linux-bbr-thin"] {
        let network = ImpairmentConfig { delay: Span::from_millis(2), ..ImpairmentConfig::default() };
        let mut world = World::new(network);
        let options = SocketOptions { send_buffer: 8_000, ..scheme(name) };
        let ends = world.connected(&options, options.clone());
        let took = exchange(&mut world, ends, 1_000_000, 0, 64_000);
        let rate = 8.0 / took.as_secs_f64();
        println!("{name:18} buffer of 8,000 bytes: {rate:7.3} Mbit/s");
        assert!(rate > 11.0, "{name}: {rate} Mbit/s, where what is pushed waits 9");
    }
}
