//! Which gateway a node uses, and what the network's user does with gateways.

use super::Network;
use crate::gateway::GatewayNode;
use meshpace_gateway::Side;
use meshpace_relay::packet::{Host, Packet, PacketId};
use meshpace_units::NodeId;
use std::fmt::Debug;

impl<T: Copy + Debug> Network<T> {
    /// The gateway between a mesh node and the wired part.
    pub(super) fn gateway_for(&self, node: NodeId) -> Option<NodeId> {
        Some(self.gateways.all()[self.gateway_index_for(node)?].node)
    }

    /// Its index.
    pub(super) fn gateway_index_for(&self, node: NodeId) -> Option<usize> {
        let last = self.gateways.last(node);
        // What a node knows may have changed since the links were last looked at: the MAC has given up the link to its gateway.
        let index = if self.links_change() && self.gateways.count() > 1 {
            let (now, routing) = (self.now(), self.routing.of(node));
            let neighbours = |node| self.airs.neighbours(node);
            self.gateways.nearest(node, |gateway| routing.hops_to(now, gateway), neighbours).or(last)
        } else {
            last
        };
        index.map(|index| index as usize)
    }

    /// The links have changed.
    pub(super) fn reassign_gateways(&mut self) {
        let (now, routing, airs) = (self.now(), &self.routing, &self.airs);
        let hops = |node, gateway| routing.of(node).hops_to(now, gateway);
        self.gateways.reassign(hops, |node| airs.neighbours(node));
    }

    /// The gateways, with what their machines count.
    #[must_use]
    pub fn gateways(&self) -> &[GatewayNode] {
        self.gateways.all()
    }

    /// From now on packets of a real host's bytes do not cross a gateway: they are an [arrival](crate::Step::Arrival) there, although they are
    /// for another host, and the code that has carried one across says so with [`Network::crossed`].
    ///
    /// # Panics
    /// If the node is no gateway.
    pub fn give_out(&mut self, gateway: NodeId) {
        let index = self.gateways.index(gateway);
        self.gateways.at(index).given_out = true;
    }

    /// True if the node is a gateway.
    #[must_use]
    pub fn is_gateway(&self, node: NodeId) -> bool {
        self.gateways.find(node).is_some()
    }

    /// A packet has been carried across a gateway by a real host, or sets out there: it came from the given side and goes on to the
    /// other. It keeps its identity, and gets one if it has none. `None`: no host has the address that it is for, or the gateway itself.
    pub fn crossed(&mut self, side: Side, gateway: NodeId, mut packet: Packet) -> Option<PacketId> {
        packet.to = self.addresses.host(packet.destination).filter(|to| *to != Host::Mesh(gateway))?;
        if packet.id == PacketId::UNSENT {
            packet.id = self.next_id();
        }
        let id = packet.id;
        self.pass_on(side, gateway, packet);
        Some(id)
    }
}
