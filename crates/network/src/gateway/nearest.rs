//! Which gateway is near whom.

use meshpace_radio::Hearers;
use meshpace_units::NodeId;
use std::collections::VecDeque;

/// For every mesh node the index in `gateways` of the gateway nearest by hops, the first at equal distance; itself
/// for a gateway. `None`: no gateway within reach.
pub fn nearest_gateways(hearers: &Hearers, gateways: impl Iterator<Item = NodeId>) -> Vec<Option<u32>> {
    let mut nearest = vec![None; hearers.nodes()];
    let mut frontier: VecDeque<NodeId> = gateways.collect();
    for (index, gateway) in frontier.iter().enumerate() {
        nearest[gateway.index()] = Some(index as u32);
    }
    // Breadth first from all at once: within a distance, nodes stay in the order of their gateways.
    while let Some(node) = frontier.pop_front() {
        for hearer in hearers.of(node).filter(|hearer| hearer.decodable) {
            if nearest[hearer.node.index()].is_none() {
                nearest[hearer.node.index()] = nearest[node.index()];
                frontier.push_back(hearer.node);
            }
        }
    }
    nearest
}

#[cfg(test)]
mod tests {
    use super::*;
    use meshpace_radio::Hearer;
    use meshpace_units::Span;

    #[test]
    fn the_first_gateway_serves_those_halfway() {
        let link = |to: u32, decodable| Hearer {
            node: NodeId(to),
            power: 1.0,
            delay: Span::NANOSECOND,
            decodable,
            lossy: false,
        };
        // 0 - 1 - 2 - 3 - 4, and 5 which is sensed only.
        let mut hearers: Vec<Vec<Hearer>> = vec![Vec::new(); 6];
        for node in 0..4u32 {
            hearers[node as usize].push(link(node + 1, true));
            hearers[node as usize + 1].push(link(node, true));
        }
        hearers[4].push(link(5, false));
        let hearers = Hearers::new(hearers.iter().map(Vec::as_slice));
        let at = |gateways: [u32; 2]| nearest_gateways(&hearers, gateways.into_iter().map(NodeId));
        assert_eq!(at([0, 4]), [Some(0), Some(0), Some(0), Some(1), Some(1), None]);
        assert_eq!(at([0, 3]), [Some(0), Some(0), Some(1), Some(1), Some(1), None]);
    }
}
