//! Packets on their way over the wired part.

use super::Network;
use crate::wired::{Surroundings, Wired};
use meshpace_gateway::Side;
use meshpace_relay::packet::{Handle, Host, Packet, Ticket};
use meshpace_units::NodeId;
use std::fmt::Debug;

impl<T: Copy + Debug> Network<T> {
    /// Sends a packet over the wired part, from `here` on. It has a ticket if it sets out here and its host wants to know when it has
    /// left.
    pub(super) fn forward_wired(&mut self, here: Host, packet: Packet, ticket: Option<Ticket>) {
        let Some(link) = self.wired_way(here, &packet) else { return self.leaves_at_once(ticket) };
        let packet = self.packets.add(packet);
        if let Some(ticket) = ticket {
            self.packets.issue(packet, ticket);
        }
        self.enqueue_wired(link, packet);
    }

    /// The wired link that a packet takes from `here` on.
    fn wired_way(&self, here: Host, packet: &Packet) -> Option<u32> {
        let goal = match packet.to {
            Host::Wired(_) => packet.to,
            Host::Mesh(node) => Host::Mesh(self.way_into_mesh(node, packet)?),
        };
        self.wired.next(here, goal)
    }

    fn enqueue_wired(&mut self, link: u32, packet: Handle) {
        let (wired, mut with) = self.wired();
        wired.enqueue(link, packet, &mut with);
    }

    /// The gateway through which a packet goes to a mesh node: that of its path, or of the node.
    fn way_into_mesh(&self, node: NodeId, packet: &Packet) -> Option<NodeId> {
        self.paths.ends(packet).map(|(first, _)| first).or_else(|| self.gateway_for(node))
    }

    /// False if the packet's path begins at another gateway.
    fn enters_here(&self, gateway: NodeId, packet: &Packet) -> bool {
        self.paths.ends(packet).is_none_or(|(first, _)| first == gateway)
    }

    /// A wired link has sent a packet.
    pub(super) fn wired_sent(&mut self, link: u32) {
        let (wired, mut with) = self.wired();
        wired.sent(link, &mut with);
    }

    /// A packet has come to the end of a wired link. One whose way goes on by wire stays in the store.
    pub(super) fn wired_arrival(&mut self, link: u32, handle: Handle) {
        let here = self.wired.end_of(link);
        let packet = self.packets.get(handle);
        if packet.to == here {
            return self.arrived.push_back((here, handle));
        }
        match (here, packet.to) {
            (Host::Mesh(gateway), Host::Mesh(_)) if self.enters_here(gateway, packet) => {
                let packet = self.packets.take(handle);
                self.pass_gateway(Side::Wired, gateway, packet);
            }
            _ => match self.wired_way(here, packet) {
                Some(link) => self.enqueue_wired(link, handle),
                None => self.packets.remove(handle),
            },
        }
    }

    /// The deadline of the relay of a wired link.
    pub(super) fn wired_relay_alarm(&mut self, link: u32) {
        let (wired, mut with) = self.wired();
        wired.relay_alarm(link, &mut with);
    }

    /// The wired part, and what it needs of the others.
    fn wired(&mut self) -> (&mut Wired, Surroundings<'_, T>) {
        let Self { wired, queue, packets, statistics, .. } = self;
        (wired, Surroundings { queue, packets, statistics })
    }
}
