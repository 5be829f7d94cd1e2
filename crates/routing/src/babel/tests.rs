//! Convergence, costs of links, lost links, starvation, sizes.

mod hostile;

use super::{BabelPacket, BabelTlv, message::INFINITE};
use crate::message::Message;
use crate::tests::harness::{HOP, Network, Record, What, babel, chain, ms, n};
use meshpace_units::{Bytes, Instant, NodeId, Span};
use std::net::Ipv4Addr;

fn network(links: &[(u32, u32)], wired: bool) -> Network {
    Network::new(links, move |me, paths| babel(me, paths, wired))
}

/// What was said, by whom.
fn said(net: &Network, since: Instant) -> Vec<(Instant, u32, BabelTlv)> {
    let packet = |r: &Record| match &r.what {
        What::Control { message, .. } if r.at >= since => {
            Some((r.at, r.node.0, message.get::<BabelPacket>()?.clone()))
        }
        _ => None,
    };
    let packets = net.log.iter().filter_map(packet);
    packets.flat_map(|(at, node, packet)| packet.tlvs.into_iter().map(move |tlv| (at, node, tlv))).collect()
}

fn next_hop(net: &Network, from: u32, to: u32) -> Option<u32> {
    net.node(from).next_hop(net.now, n(to)).map(|next| next.0)
}

#[test]
fn a_chain_converges_within_half_a_minute() {
    for wired in [false, true] {
        let mut net = network(&chain(5), wired);
        assert_eq!(next_hop(&net, 0, 5), None);
        net.run(ms(30_000));
        for (from, to) in
            (0..6_u32).flat_map(|from| (0..6_u32).map(move |to| (from, to))).filter(|(a, b)| a != b)
        {
            let toward = if to > from { from + 1 } else { from - 1 };
            assert_eq!(next_hop(&net, from, to), Some(toward), "{from} to {to}, wired: {wired}");
        }
        // Once all Hellos of sixteen have come a link costs what a good one costs, and hops are what the metric says.
        net.run(ms(150_000));
        assert_eq!(net.node(0).hops_to(net.now, n(5)), Some(5));
    }
}

#[test]
fn hellos_and_updates_keep_their_times() {
    let mut net = network(&chain(2), false);
    net.run(ms(200_000));
    let said = said(&net, ms(100_000));
    let times = |node: u32, kind: fn(&BabelTlv) -> bool| {
        said.iter()
            .filter(|(_, from, tlv)| *from == node && kind(tlv))
            .map(|(at, ..)| *at)
            .collect::<Vec<_>>()
    };
    for node in 0..3 {
        let hellos = times(node, |tlv| matches!(tlv, BabelTlv::Hello { .. }));
        let own = times(node, |tlv| matches!(tlv, BabelTlv::Update { metric: 0, .. }));
        for (times, interval) in [(hellos, 4.0), (own, 16.0)] {
            assert!(times.len() >= 4, "{times:?}");
            for pair in times.windows(2) {
                let gap = (pair[1] - pair[0]).as_secs_f64();
                assert!((0.75 * interval..=1.25 * interval).contains(&gap), "{gap} s of {interval}");
            }
        }
    }
    // Nobody asks for anything, and every third Hello tells neighbours that they are heard.
    assert!(
        !said
            .iter()
            .any(|(.., tlv)| matches!(tlv, BabelTlv::RouteRequest(_) | BabelTlv::SeqnoRequest { .. }))
    );
    let count = |kind: fn(&BabelTlv) -> bool| said.iter().filter(|(.., tlv)| kind(tlv)).count() as f64;
    let (hellos, heard) = (
        count(|tlv| matches!(tlv, BabelTlv::Hello { .. })),
        count(|tlv| matches!(tlv, BabelTlv::Ihu { .. })),
    );
    // Of three nodes the middle one has two neighbours.
    assert!((heard / hellos - 4.0 / 9.0).abs() < 0.05, "{heard} of {hellos}");
}

/// 0 - 1 - 2 and a direct link that loses: expected transmissions decide (2 good links cost 512, the direct one 256 / 0.4^2 = 1,600).
#[test]
fn a_link_that_loses_is_not_taken_where_two_good_ones_cost_less() {
    let mut net = network(&[(0, 1), (1, 2), (0, 2)], false);
    net.run(ms(100_000));
    assert_eq!(next_hop(&net, 0, 2), Some(2));
    net.lose(0, 2, 0.6);
    net.lose(2, 0, 0.6);
    net.run(ms(400_000));
    assert_eq!((next_hop(&net, 0, 2), next_hop(&net, 2, 0)), (Some(1), Some(1)));
    // Links of type wired do not see it while two of three Hellos come, and are gone when they do not.
    let mut net = network(&[(0, 1), (1, 2), (0, 2)], true);
    net.run(ms(60_000));
    net.cut(0, 2);
    net.run(ms(80_000));
    assert_eq!((next_hop(&net, 0, 2), next_hop(&net, 2, 0)), (Some(1), Some(1)));
}

#[test]
fn a_link_in_one_direction_is_none() {
    let mut net = network(&chain(1), false);
    net.lose(1, 0, 1.0);
    net.run(ms(60_000));
    assert_eq!((next_hop(&net, 0, 1), next_hop(&net, 1, 0)), (None, None));
}

/// 1 and 2 both reach 0 over good links. When 1 loses its own, the way over 2 is as long as the one that 1 told of, so that it is infeasible: it
/// may lead through 1. 1 asks, 2 hands it on, 0 makes a new number (RFC 8966, section 2.6).
#[test]
fn who_starves_asks_for_a_new_number() {
    let mut net = network(&[(0, 1), (0, 2), (1, 2)], true);
    net.run(ms(60_000));
    assert_eq!((next_hop(&net, 1, 0), next_hop(&net, 2, 0)), (Some(0), Some(0)));
    let cut = net.now;
    net.cut(0, 1);
    net.run(cut + Span::from_secs(20));
    assert_eq!(next_hop(&net, 1, 0), Some(2));
    let said = said(&net, cut);
    let when = |what: &dyn Fn(u32, &BabelTlv) -> bool| {
        let found = said.iter().find(|(_, from, tlv)| what(*from, tlv));
        found.unwrap_or_else(|| panic!("{said:?}")).0
    };
    let asks = |node| {
        move |from: u32, tlv: &BabelTlv| {
            from == node && matches!(tlv, BabelTlv::SeqnoRequest { destination: NodeId(0), seqno: 1, .. })
        }
    };
    let (asked, on) = (when(&asks(1)), when(&asks(2)));
    let gone = when(&|from, tlv| {
        from == 1 && matches!(tlv, BabelTlv::Update { destination: NodeId(0), metric: INFINITE, .. })
    });
    let made = when(&|from, tlv| {
        from == 0 && matches!(tlv, BabelTlv::Update { destination: NodeId(0), seqno: 1, metric: 0, .. })
    });
    let told = when(&|from, tlv| {
        from == 2 && matches!(tlv, BabelTlv::Update { destination: NodeId(0), seqno: 1, metric: 96, .. })
    });
    assert!(asked < on && on < made && made < told, "{asked:?} {on:?} {made:?} {told:?}");
    assert!(gone - asked < Span::from_millis(100), "a way that is gone is urgent news");
    assert!(told - asked < Span::from_millis(200), "{:?}", told - asked);
}

/// A request that is lost is made again after two seconds.
#[test]
fn a_lost_request_is_made_again() {
    let mut net = network(&[(0, 1), (0, 2), (1, 2)], true);
    net.run(ms(60_000));
    let cut = net.now;
    net.cut(0, 1);
    let requests = |net: &Network| {
        let asks = |from: u32, tlv: &BabelTlv| {
            from == 1 && matches!(tlv, BabelTlv::SeqnoRequest { destination: NodeId(0), .. })
        };
        said(net, cut).iter().filter(|(_, from, tlv)| asks(*from, tlv)).count()
    };
    while requests(&net) == 0 {
        // A hop takes as long: the request is still under way.
        net.run(net.now + HOP);
    }
    net.lose(1, 2, 1.0);
    net.run(net.now + Span::from_secs(1));
    assert_eq!((requests(&net), next_hop(&net, 1, 0)), (1, None));
    net.lose(1, 2, 0.0);
    net.run(net.now + Span::from_millis(900));
    assert_eq!((requests(&net), next_hop(&net, 1, 0)), (1, None));
    net.run(net.now + Span::from_millis(500));
    assert_eq!((requests(&net), next_hop(&net, 1, 0)), (2, Some(2)));
}

/// RFC 8966, sections 4.2 and 4.6, byte by byte.
#[test]
fn packets_have_the_bytes_of_the_rfc() {
    let second = Span::from_secs(1);
    let tlvs = [
        (BabelTlv::Hello { seqno: 0x0102, interval: second * 4 }, vec![4, 6, 0, 0, 1, 2, 0x01, 0x90]),
        (
            BabelTlv::Ihu { neighbour: n(7), rxcost: 0x0203, interval: second * 12 },
            vec![5, 10, 1, 0, 2, 3, 0x04, 0xb0, 10, 77, 0, 7],
        ),
        (
            BabelTlv::Update { destination: n(9), seqno: 5, metric: 0xffff, interval: second * 16 },
            vec![8, 14, 1, 0x40, 32, 0, 0x06, 0x40, 0, 5, 0xff, 0xff, 10, 77, 0, 9],
        ),
        (BabelTlv::RouteRequest(None), vec![9, 2, 0, 0]),
        (BabelTlv::RouteRequest(Some(n(3))), vec![9, 6, 1, 32, 10, 77, 0, 3]),
        (
            BabelTlv::SeqnoRequest { destination: n(4), seqno: 6, hops: 127 },
            vec![10, 18, 1, 32, 0, 6, 127, 0, 0, 0, 0, 0, 10, 77, 0, 4, 10, 77, 0, 4],
        ),
    ];
    let packet = BabelPacket { tlvs: tlvs.iter().map(|(tlv, _)| *tlv).collect() };
    let mut bytes = Vec::new();
    packet.write(&mut bytes, &|node| Ipv4Addr::new(10, 77, 0, node.0 as u8));
    let expected: Vec<u8> = tlvs.into_iter().flat_map(|(_, bytes)| bytes).collect();
    assert_eq!(bytes[..4], [42, 2, 0, expected.len() as u8]);
    assert_eq!(bytes[4..], expected);
    // IP and UDP around it.
    assert_eq!(packet.wire_length(), Bytes(28 + bytes.len() as u64));
}

#[test]
fn a_packet_fits_an_interface() {
    let update = |node| BabelTlv::Update {
        destination: n(node),
        seqno: 0,
        metric: 256,
        interval: Span::from_secs(16),
    };
    let packets = BabelPacket::of((0..200).map(update).collect());
    // 1,500 - 28 - 4 bytes are 91 updates.
    assert_eq!(packets.iter().map(|packet| packet.tlvs.len()).collect::<Vec<_>>(), [91, 91, 18]);
    assert!(packets.iter().all(|packet| packet.wire_length() <= Bytes(1500)));
}
