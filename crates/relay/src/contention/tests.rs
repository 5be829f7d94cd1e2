use super::*;
use meshpace_packet::{Account, PathId};
use meshpace_radio::backoff::Intervals;
use meshpace_units::{Rate, Span};
use std::net::{IpAddr, Ipv4Addr};

/// Nodes on a line, `apart` metres from one to the next, that sense up to `range`.
struct Line {
    apart: f64,
    range: f64,
}

impl NodeView for Line {
    fn senses(&self, hearer: NodeId, sender: NodeId) -> bool {
        f64::from(hearer.0.abs_diff(sender.0)) * self.apart <= self.range
    }

    fn busy_time(&mut self) -> Span {
        Span::ZERO
    }

    fn intervals(&self) -> Intervals {
        Intervals { slot: Span::ZERO, sifs: Span::ZERO, difs: Span::ZERO }
    }

    fn mac_overhead(&self) -> Bytes {
        Bytes::ZERO
    }

    fn needs_rts(&self, _: Bytes) -> bool {
        true
    }

    fn address(&self, _: NodeId) -> IpAddr {
        IpAddr::V4(Ipv4Addr::LOCALHOST)
    }

    fn backoff_drawn(&self) -> Span {
        Span::ZERO
    }

    fn rate_to(&self, _: NodeId) -> Rate {
        Rate::bits_per_sec(1)
    }

    fn hops_to(&self, _: NodeId) -> Option<u32> {
        None
    }

    fn hops_on(&self, _: PathId) -> Option<u32> {
        None
    }

    fn next_hop_to(&self, _: NodeId) -> Option<NodeId> {
        None
    }

    fn conversations_beside(&self, _: Account) -> Option<u32> {
        None
    }

    fn conversations_counted(&mut self, _: Account) -> Option<u32> {
        None
    }

    fn share(&mut self, _: Account, _: f64) -> Option<f64> {
        None
    }
}

/// schemes.md 14: min(path, 2 floor(R_cs/d) + 1), 200 m and 550 m: 5.
#[test]
fn on_a_straight_chain_it_is_the_closed_form() {
    for (apart, range) in [(200.0, 550.0), (200.0, 500.0), (100.0, 550.0), (300.0, 250.0)] {
        let line = Line { apart, range };
        for nodes in 1..=10_u32 {
            let mut way = Way::default();
            (0..nodes).for_each(|node| way.push(NodeId(node)));
            let (reach, middle) = ((range / apart) as u32, (nodes - 1) / 2);
            let expected = 1 + reach.min(middle) + reach.min(nodes - 1 - middle);
            assert!(expected <= nodes.min(2 * reach + 1));
            assert_eq!(way.contention(&line), expected, "{nodes} nodes, {apart} m, {range} m");
        }
    }
}

#[test]
fn a_way_survives_the_wire_has_each_node_once_and_forgets_the_farthest() {
    let mut way = Way::default();
    assert_eq!(Way::from_bytes(way.to_bytes().as_slice()), Some(Way::default()));
    for node in [7, 8, 7, 9] {
        way.push(NodeId(node));
    }
    assert_eq!(way, Way([7, 8, 9].map(NodeId).to_vec()));
    assert_eq!(Way::from_bytes(way.to_bytes().as_slice()), Some(way.clone()));
    assert_eq!(Way::from_bytes(&[0; 5]), None);
    (100..120).for_each(|node| way.push(NodeId(node)));
    assert_eq!((way.0.len(), way.0[0], way.0[9]), (10, NodeId(110), NodeId(119)));
}
