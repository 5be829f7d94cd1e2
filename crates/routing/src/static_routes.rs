//! Static routing: the shortest routes of a graph that never changes.

use crate::action::refusal;
use crate::metric;
use crate::{Action, DropReason, PacketInfo, Profile, ProtocolPart, RoutingProtocol, ShortestPaths};
use meshpace_units::{Instant, NodeId, Span};
use std::sync::Arc;

pub(super) static PART: ProtocolPart = ProtocolPart::new(
    "static",
    "The shortest routes of the mesh as it is at time 0, never changed.",
    "docs/contract.md 3",
    &[Profile::only("static routes", |site| Box::new(StaticRoutes::new(site.me, Arc::clone(site.paths))))],
)
.keys(&[&metric::KEYS]);

/// One node's view of the shared routes. There are no routing packets, no timers and no state: a frame that the MAC
/// gives up costs that packet and nothing else.
#[derive(Clone, Debug)]
pub struct StaticRoutes {
    me: NodeId,
    paths: Arc<ShortestPaths>,
}

impl StaticRoutes {
    /// The routes of node `me`.
    #[must_use]
    pub fn new(me: NodeId, paths: Arc<ShortestPaths>) -> Self {
        Self { me, paths }
    }

    /// Where a packet goes, or why it ends here.
    fn way_on(&self, info: &PacketInfo) -> Result<NodeId, DropReason> {
        match refusal(self.me, info) {
            Some(reason) => Err(reason),
            None => self.paths.next_hop(self.me, info.destination).ok_or(DropReason::NoRoute),
        }
    }
}

impl<P> RoutingProtocol<P> for StaticRoutes {
    /// They cannot loop.
    fn data_ttl(&self) -> u8 {
        255
    }

    fn route(&mut self, _: Instant, packet: P, info: &PacketInfo, out: &mut Vec<Action<P>>) {
        out.push(match self.way_on(info) {
            Ok(next_hop) => Action::SendData { packet, next_hop, delay: Span::ZERO },
            Err(reason) => Action::Drop { packet, reason },
        });
    }

    fn at_once(&self, info: &PacketInfo) -> Option<NodeId> {
        self.way_on(info).ok()
    }

    fn hops_to(&self, _: Instant, destination: NodeId) -> Option<u32> {
        self.paths.hops(self.me, destination)
    }

    fn next_hop(&self, _: Instant, destination: NodeId) -> Option<NodeId> {
        self.paths.next_hop(self.me, destination)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Cost;

    /// A grid of `side` x `side` nodes, row by row.
    fn grid(side: u32) -> Arc<ShortestPaths> {
        let neighbours = |v: u32| {
            let (row, column) = (v / side, v % side);
            let mut list = Vec::new();
            // Deliberately not ascending.
            if row + 1 < side {
                list.push(NodeId(v + side));
            }
            if column + 1 < side {
                list.push(NodeId(v + 1));
            }
            if column > 0 {
                list.push(NodeId(v - 1));
            }
            if row > 0 {
                list.push(NodeId(v - side));
            }
            list
        };
        let graph: Vec<_> = (0..side * side).map(neighbours).collect();
        Arc::new(ShortestPaths::new(&graph, |_, _| Cost::ONE))
    }

    fn info(source: u32, destination: u32, travelled: u32, ttl: u8) -> PacketInfo {
        PacketInfo { source: NodeId(source), destination: NodeId(destination), travelled, ttl }
    }

    #[test]
    fn ties_go_to_the_lowest_index() {
        // 0 1 2
        // 3 4 5
        // 6 7 8
        let paths = grid(3);
        let mut way = vec![NodeId(8)];
        while let Some(next) = paths.next_hop(way[way.len() - 1], NodeId(0)) {
            way.push(next);
        }
        assert_eq!(way, [8, 5, 2, 1, 0].map(NodeId));
        assert_eq!(paths.next_hop(NodeId(0), NodeId(8)), Some(NodeId(1)));
        assert_eq!(paths.hops(NodeId(0), NodeId(8)), Some(4));
        assert_eq!(paths.hops(NodeId(4), NodeId(4)), Some(0));
    }

    #[test]
    fn packets_follow_the_route_or_end() {
        let mut node = StaticRoutes::new(NodeId(4), grid(3));
        let mut out = Vec::new();
        node.route(Instant::ZERO, 'a', &info(8, 0, 2, 9), &mut out);
        node.route(Instant::ZERO, 'b', &info(8, 0, 2, 0), &mut out);
        node.route(Instant::ZERO, 'c', &info(4, 0, 3, 9), &mut out);
        let at_once = |info: PacketInfo| RoutingProtocol::<char>::at_once(&node, &info);
        assert_eq!(at_once(info(8, 0, 2, 9)), Some(NodeId(1)), "as it would be routed");
        assert_eq!([info(8, 0, 2, 0), info(4, 0, 3, 9)].map(at_once), [None; 2]);
        let island = ShortestPaths::new(&[vec![NodeId(1)], vec![NodeId(0)], vec![]], |_, _| Cost::ONE);
        StaticRoutes::new(NodeId(0), Arc::new(island)).route(Instant::ZERO, 'd', &info(0, 2, 0, 9), &mut out);
        assert_eq!(
            out,
            [
                Action::SendData { packet: 'a', next_hop: NodeId(1), delay: Span::ZERO },
                Action::Drop { packet: 'b', reason: DropReason::Expired },
                Action::Drop { packet: 'c', reason: DropReason::Loop },
                Action::Drop { packet: 'd', reason: DropReason::NoRoute },
            ]
        );
    }

    #[test]
    fn large_meshes_cost_only_the_destinations_asked_for() {
        let paths = grid(40);
        assert_eq!(paths.hops(NodeId(0), NodeId(1599)), Some(78));
        assert_eq!(paths.hops(NodeId(1599), NodeId(0)), Some(78));
        assert_eq!(paths.next_hop(NodeId(1599), NodeId(0)), Some(NodeId(1559)));
    }
}
