//! Where packets enter and leave the mesh, and the ways through the wired part.

use meshpace_packet::Host;
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

/// Shortest paths by hops through the wired part, ties to the link that was defined first.
#[derive(Default)]
pub struct WiredRoutes {
    /// Every host that has a link, sorted.
    hosts: Vec<Host>,
    /// By destination, then by source: the directed link to take.
    next: Vec<Vec<Option<u32>>>,
}

impl WiredRoutes {
    /// Routes over directed links. The index of a link in `links` is the index that [`WiredRoutes::next`] returns.
    pub fn new(links: &[(Host, Host)]) -> Self {
        let mut hosts: Vec<Host> = links.iter().map(|link| link.0).collect();
        hosts.sort_unstable();
        hosts.dedup();
        let mut routes = Self { hosts, next: Vec::new() };
        let mut into: Vec<Vec<(usize, u32)>> = vec![Vec::new(); routes.hosts.len()];
        for (index, (from, to)) in links.iter().enumerate() {
            if let (Some(from), Some(to)) = (routes.index(*from), routes.index(*to)) {
                into[to].push((from, index as u32));
            }
        }
        routes.next = (0..routes.hosts.len()).map(|destination| search(destination, &into)).collect();
        routes
    }

    fn index(&self, host: Host) -> Option<usize> {
        self.hosts.binary_search(&host).ok()
    }

    /// The directed link on the way from `from` to `to`.
    pub fn next(&self, from: Host, to: Host) -> Option<u32> {
        self.next[self.index(to)?][self.index(from)?]
    }
}

/// The first link of the way from every host to `destination`, breadth first.
fn search(destination: usize, into: &[Vec<(usize, u32)>]) -> Vec<Option<u32>> {
    let mut next = vec![None; into.len()];
    let mut frontier = VecDeque::from([destination]);
    while let Some(host) = frontier.pop_front() {
        for &(from, link) in &into[host] {
            if from != destination && next[from].is_none() {
                next[from] = Some(link);
                frontier.push_back(from);
            }
        }
    }
    next
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

    #[test]
    fn the_wired_part_is_crossed_by_hops() {
        let gateway = Host::Mesh(NodeId(1));
        let wired = Host::Wired;
        let duplex = [(gateway, wired(0)), (wired(0), wired(1)), (wired(1), wired(2)), (gateway, wired(2))];
        let links: Vec<_> = duplex.iter().flat_map(|(a, b)| [(*a, *b), (*b, *a)]).collect();
        let routes = WiredRoutes::new(&links);
        assert_eq!(routes.next(gateway, wired(1)), Some(0));
        assert_eq!(routes.next(gateway, wired(2)), Some(6));
        assert_eq!(routes.next(wired(2), gateway), Some(7));
        assert_eq!(routes.next(wired(1), wired(0)), Some(3));
        assert_eq!(routes.next(Host::Mesh(NodeId(0)), wired(0)), None);
    }
}
