//! Packets that set out, and where they leave the mesh.

use super::Network;
use meshpace_gateway::Side;
use meshpace_relay::packet::{Handle, Host, Packet, PacketId, Ticket};
use meshpace_units::NodeId;
use std::fmt::Debug;

impl<T: Copy + Debug> Network<T> {
    /// A packet sets out from a host, which has its source address. Its identity; `None` if no host has the address that it
    /// is for, so that it is not forwarded.
    pub fn send(&mut self, from: Host, packet: Packet) -> Option<PacketId> {
        self.send_told(from, packet, None)
    }

    /// Sends a packet, with a ticket. A step returns the ticket when the packet has left the host by its first link, or has been
    /// dropped there; at once where no queue of the host holds it.
    pub fn send_told(&mut self, from: Host, mut packet: Packet, ticket: Option<Ticket>) -> Option<PacketId> {
        let Some(to) = self.addresses.host(packet.destination) else {
            self.leaves_at_once(ticket);
            return None;
        };
        let id = self.next_id();
        packet.id = id;
        packet.to = to;
        packet.set_out = self.now();
        match from {
            _ if from == to => {
                self.leaves_at_once(ticket);
                let packet = self.packets.add(packet);
                self.arrived.push_back((from, packet));
            }
            Host::Wired(_) => self.forward_wired(from, packet, ticket),
            Host::Mesh(node) => {
                packet.entry = node;
                match self.mesh_exit(node, &packet) {
                    Some(exit) if exit == node => {
                        self.leaves_at_once(ticket); // what a gateway holds is in no queue of its host
                        let packet = self.packets.add(packet);
                        self.leaves_mesh(node, packet);
                    }
                    Some(exit) => {
                        packet.exit = exit;
                        self.enters_mesh(node, packet, ticket);
                    }
                    None => self.leaves_at_once(ticket), // no gateway within reach: it would not be forwarded
                }
            }
        }
        Some(id)
    }

    /// A packet that sets out is in no queue of its host.
    pub(super) fn leaves_at_once(&mut self, ticket: Option<Ticket>) {
        if let Some(ticket) = ticket {
            self.packets.leaves(ticket);
        }
    }

    /// The identity of a packet that sets out now.
    pub(super) fn next_id(&mut self) -> PacketId {
        self.set_out += 1;
        PacketId(self.set_out)
    }

    /// Where a packet from `node` leaves the mesh: its destination, or the gateway of its path or of the node.
    fn mesh_exit(&self, node: NodeId, packet: &Packet) -> Option<NodeId> {
        if let Some((_, last)) = self.paths.ends(packet) {
            return Some(last);
        }
        match packet.to {
            Host::Mesh(node) => Some(node),
            Host::Wired(_) => self.gateway_for(node),
        }
    }

    /// A packet has come to the node where it leaves the mesh.
    pub(super) fn leaves_mesh(&mut self, node: NodeId, handle: Handle) {
        let here = Host::Mesh(node);
        if self.packets.get(handle).to == here {
            self.arrived.push_back((here, handle));
        } else {
            let packet = self.packets.take(handle);
            self.pass_gateway(Side::Wireless, node, packet);
        }
    }
}
