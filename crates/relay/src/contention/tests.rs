use super::*;
use crate::tests::view::TestNode;

/// A node among nodes on a line, `apart` metres from one to the next, that sense up to `range`.
fn on_a_line(apart: f64, range: f64) -> TestNode {
    let senses =
        move |hearer: NodeId, sender: NodeId| f64::from(hearer.0.abs_diff(sender.0)) * apart <= range;
    TestNode { senses: Box::new(senses), ..TestNode::default() }
}

/// schemes.md 14: min(path, 2 floor(R_cs/d) + 1), 200 m and 550 m: 5.
#[test]
fn on_a_straight_chain_it_is_the_closed_form() {
    for (apart, range) in [(200.0, 550.0), (200.0, 500.0), (100.0, 550.0), (300.0, 250.0)] {
        let line = on_a_line(apart, range);
        for nodes in 1..=10_u32 {
            let mut way = RecentHops::default();
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
    let mut way = RecentHops::default();
    assert_eq!(RecentHops::from_bytes(way.to_bytes().as_slice()), Some(RecentHops::default()));
    for node in [7, 8, 7, 9] {
        way.push(NodeId(node));
    }
    assert_eq!(way, RecentHops([7, 8, 9].map(NodeId).to_vec()));
    assert_eq!(RecentHops::from_bytes(way.to_bytes().as_slice()), Some(way.clone()));
    assert_eq!(RecentHops::from_bytes(&[0; 5]), None);
    (100..120).for_each(|node| way.push(NodeId(node)));
    assert_eq!((way.0.len(), way.0[0], way.0[9]), (10, NodeId(110), NodeId(119)));
}
