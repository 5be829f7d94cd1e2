//! Which gateway a node uses: the nearest.

use crate::network::Network;
use meshpace_radio::Hearers;
use meshpace_units::NodeId;
use std::collections::VecDeque;
use std::fmt::Debug;

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

impl<T: Copy + Debug> Network<T> {
    /// The gateway between a mesh node and the wired part.
    pub(crate) fn gateway_for(&self, node: NodeId) -> Option<NodeId> {
        Some(self.gateways[self.gateway_index_for(node)? as usize].node)
    }

    pub(super) fn gateway_index_for(&self, node: NodeId) -> Option<u32> {
        let last = self.gateway_of[node.index()];
        // What a node knows may have changed since the links were last looked at: the MAC has given up the link to its gateway.
        if self.links_change() && self.gateways.len() > 1 {
            self.nearest_gateway(node).or(last)
        } else {
            last
        }
    }

    pub(crate) fn gateway_index(&self, node: NodeId) -> usize {
        let found = self.gateways.binary_search_by_key(&node, |gateway| gateway.node);
        found.unwrap_or_else(|_| panic!("{node:?} is no gateway"))
    }

    /// The gateway nearest to a node: what goes between it and the wired part uses that; where nodes move, it changes, and the new
    /// gateway builds its state from scratch (schemes.md 3.1).
    ///
    /// Nearest is what the routing table there says. If it knows no gateway, as AODV's after a break, the node would
    /// ask for one, and the first to answer is the nearest by the links as they are.
    fn nearest_gateway(&self, node: NodeId) -> Option<u32> {
        let (now, routing) = (self.now(), &self.nodes[node.index()].routing);
        let hops = |gateway: NodeId| if gateway == node { Some(0) } else { routing.hops_to(now, gateway) };
        let known = self.gateways.iter().enumerate().filter_map(|(i, g)| Some((hops(g.node)?, i as u32)));
        known.min().map(|(_, gateway)| gateway).or_else(|| {
            let gateways = self.gateways.iter().map(|gateway| gateway.node);
            self.by_air.get_or_init(|| nearest_gateways(&self.hearers, gateways))[node.index()]
        })
    }

    /// Who hears whom has changed: notes each node's gateway, which it keeps while it knows and reaches none.
    pub(crate) fn reassign_gateways(&mut self) {
        self.by_air.take();
        if self.gateways.is_empty() {
            return;
        }
        for index in 0..self.gateway_of.len() {
            if let Some(nearest) = self.nearest_gateway(NodeId::from_index(index)) {
                self.gateway_of[index] = Some(nearest);
            }
        }
    }
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
