//! Gateways that somebody else is: a real host, whose kernel forwards.

use crate::network::Network;
use meshpace_gateway::Side;
use meshpace_packet::{Host, Packet, PacketId};
use meshpace_units::NodeId;
use std::fmt::Debug;

impl<T: Copy + Debug> Network<T> {
    /// From now on packets of a real host's bytes do not cross a gateway: they are an [arrival](crate::Step::Arrival) there, although they are
    /// for another host, and whoever has carried one across says so with [`Network::crossed`].
    ///
    /// # Panics
    /// If the node is no gateway.
    pub fn give_out(&mut self, gateway: NodeId) {
        let index = self.gateway_index(gateway);
        self.gateways[index].given_out = true;
    }

    /// True if the node is a gateway.
    #[must_use]
    pub fn is_gateway(&self, node: NodeId) -> bool {
        self.gateways.binary_search_by_key(&node, |gateway| gateway.node).is_ok()
    }

    /// A packet has been carried across a gateway by somebody else, or sets out there: it came from the given side and goes on to the
    /// other. It keeps its identity, and gets one if it has none. `None`: nobody has the address that it is for, or the gateway itself.
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
