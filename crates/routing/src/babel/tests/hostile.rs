//! Neighbours that say anything at all.

use crate::babel::{BabelPacket, BabelTlv};
use crate::tests::harness::{babel, n};
use crate::{Action, Control, Cost, Recipient, ShortestPaths};
use meshpace_units::{Instant, NodeId, Span};
use proptest::prelude::*;
use std::sync::Arc;

const NODES: u32 = 6;

fn node() -> impl Strategy<Value = NodeId> {
    (0..NODES).prop_map(NodeId)
}

/// As packets carry it: none at all, too.
fn interval() -> impl Strategy<Value = Span> {
    any::<u16>().prop_map(|hundredths| Span::from_millis(10 * u64::from(hundredths)))
}

fn tlv() -> impl Strategy<Value = BabelTlv> {
    // Numbers near each other and near the end of their 16 bits, too.
    let seqno = || prop_oneof![any::<u16>(), 0..3u16, 65_533..=65_535u16];
    let metric = || prop_oneof![any::<u16>(), 0..1_000u16, Just(u16::MAX)];
    prop_oneof![
        (seqno(), interval()).prop_map(|(seqno, interval)| BabelTlv::Hello { seqno, interval }),
        (node(), metric(), interval()).prop_map(|(neighbour, rxcost, interval)| BabelTlv::Ihu {
            neighbour,
            rxcost,
            interval
        }),
        (node(), seqno(), metric(), interval()).prop_map(|(destination, seqno, metric, interval)| {
            BabelTlv::Update { destination, seqno, metric, interval }
        }),
        proptest::option::of(node()).prop_map(BabelTlv::RouteRequest),
        (node(), seqno(), any::<u8>()).prop_map(|(destination, seqno, hops)| BabelTlv::SeqnoRequest {
            destination,
            seqno,
            hops
        }),
    ]
}

proptest! {
    #[test]
    fn a_node_survives_whatever_it_is_told(
        wired in any::<bool>(),
        steps in proptest::collection::vec((1..NODES, proptest::collection::vec(tlv(), 1..5), 0..5_000u64), 1..60),
    ) {
        let alone = Arc::new(ShortestPaths::new(&vec![Vec::new(); NODES as usize], |_, _| Cost::ONE));
        let mut node = babel(n(0), &alone, wired);
        let (mut now, mut out) = (Instant::ZERO, Vec::new());
        for (from, tlvs, pause) in steps {
            node.on_control(now, n(from), 1, &Control::from(BabelPacket { tlvs }), &mut out);
            now += Span::from_millis(pause);
            while let Some(at) = node.poll_timeout().filter(|at| *at <= now) {
                node.handle_timeout(at, &mut out);
                prop_assert!(node.poll_timeout().is_some_and(|next| next > at), "the timer of {at:?} is due again");
            }
            // One packet in answer to each of a few neighbours, and what was due.
            prop_assert!(out.len() < 100, "{} actions", out.len());
            for action in out.drain(..) {
                let Action::SendControl { to, .. } = action else { panic!("{action:?}") };
                prop_assert!(to != Recipient::Unicast(n(0)), "a packet for the node itself");
            }
            prop_assert_eq!(node.next_hop(now, n(0)), None, "a way to the node itself");
            for to in 1..NODES {
                let next = node.next_hop(now, n(to));
                prop_assert!(next != Some(n(0)) && next.is_some() == node.hops_to(now, n(to)).is_some());
            }
        }
    }
}
