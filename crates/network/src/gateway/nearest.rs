//! Which gateway is near whom.

use meshpace_units::NodeId;
use std::collections::VecDeque;

/// For every mesh node the index in `gateways` of the gateway nearest by hops, the first at equal distance; itself
/// for a gateway. `None`: no gateway within reach. `neighbours` are the nodes that can decode what one sends.
pub fn nearest_gateways<N: Iterator<Item = NodeId>>(
    nodes: usize,
    gateways: impl Iterator<Item = NodeId>,
    neighbours: impl Fn(NodeId) -> N,
) -> Vec<Option<u32>> {
    let mut nearest = vec![None; nodes];
    let mut frontier: VecDeque<NodeId> = gateways.collect();
    for (index, gateway) in frontier.iter().enumerate() {
        nearest[gateway.index()] = Some(index as u32);
    }
    // Breadth first from all at once: within a distance, nodes stay in the order of their gateways.
    while let Some(node) = frontier.pop_front() {
        for neighbour in neighbours(node) {
            if nearest[neighbour.index()].is_none() {
                nearest[neighbour.index()] = nearest[node.index()];
                frontier.push_back(neighbour);
            }
        }
    }
    nearest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_gateway_serves_those_halfway() {
        // 0 - 1 - 2 - 3 - 4, and 5, which no node can decode.
        let line = |node: NodeId| {
            let beside = [node.0.checked_sub(1), Some(node.0 + 1)].into_iter().flatten();
            beside.filter(move |other| node.0 < 5 && *other < 5).map(NodeId)
        };
        let at = |gateways: [u32; 2]| nearest_gateways(6, gateways.into_iter().map(NodeId), line);
        assert_eq!(at([0, 4]), [Some(0), Some(0), Some(0), Some(1), Some(1), None]);
        assert_eq!(at([0, 3]), [Some(0), Some(0), Some(1), Some(1), Some(1), None]);
    }
}
