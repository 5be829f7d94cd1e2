//! The ways through the wired part.

use meshpace_relay::packet::Host;
use std::collections::VecDeque;

/// Shortest paths by hops through the wired part, ties to the link that was defined first.
#[derive(Default)]
pub struct WiredRoutes {
    /// Every host that has a link, as a [number](number), sorted.
    hosts: Vec<u64>,
    /// By destination, then by source: the directed link to take.
    next: Vec<Vec<Option<u32>>>,
}

impl WiredRoutes {
    /// Routes over directed links. The index of a link in `links` is the index that [`WiredRoutes::next`] returns.
    pub fn new(links: &[(Host, Host)]) -> Self {
        let mut hosts: Vec<u64> = links.iter().map(|link| number(link.0)).collect();
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
        self.hosts.binary_search(&number(host)).ok()
    }

    /// The directed link on the way from `from` to `to`.
    pub fn next(&self, from: Host, to: Host) -> Option<u32> {
        self.next[self.index(to)?][self.index(from)?]
    }
}

/// Hosts are looked for with each packet: one comparison tells two of them apart.
const fn number(host: Host) -> u64 {
    match host {
        Host::Mesh(node) => node.0 as u64,
        Host::Wired(index) => 1 << 32 | index as u64,
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
    use meshpace_units::NodeId;

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
