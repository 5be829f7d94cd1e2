//! The link layer: packets on their way down to an interface's queue, and what resolves the addresses that they need.

use super::Network;
use crate::event::{Event, InterfaceId};
use crate::measure::LossCause;
use crate::node::{Interface, Resolution};
use meshpace_relay::packet::{Arp, ArpOperation, Body, Class, Handle, Host, Packet};
use meshpace_units::{NodeId, Span};
use std::fmt::Debug;
use std::net::{IpAddr, Ipv4Addr};

/// A packet takes this long through the link layer, on its way up and on its way down (ns2-behaviour 4.1).
pub(super) const LINK_LAYER_DELAY: Span = Span::from_micros(25);

/// Packets of address resolution, and those that waited for them, take this long instead (ns2-behaviour 4.2).
const ARP_DELAY: Span = Span::from_micros(5);

impl<T: Copy + Debug> Network<T> {
    /// A packet whose next hop is noted in it comes to the link layer of a node in `delay`, from above. One for a neighbour goes by the
    /// interface by which the node reaches it; one for all by every interface.
    ///
    /// # Panics
    /// If the node is on no air with the neighbour.
    #[inline]
    pub(super) fn send_down(&mut self, node: NodeId, packet: Handle, delay: Span) {
        let next_hop = self.packets.get(packet).next_hop;
        let at = match next_hop {
            Some(next_hop) => self.toward(node, next_hop),
            None => self.airs.of(node).next(),
        };
        let Some(at) = at else { panic!("{node:?} shares no air with {next_hop:?}") };
        if next_hop.is_none() {
            self.repeat_down(node, at, packet, delay);
        }
        self.down(at, packet, next_hop, delay);
    }

    /// The interface of a node by which it reaches a neighbour. `None`: they share no air.
    #[inline]
    pub(super) fn toward(&self, node: NodeId, neighbour: NodeId) -> Option<InterfaceId> {
        match &self.radios {
            None => self.airs.toward(node, neighbour),
            Some(radios) => radios.toward(&self.airs, node, neighbour),
        }
    }

    /// A copy of what goes to all for each interface but the first.
    fn repeat_down(&mut self, node: NodeId, first: InterfaceId, packet: Handle, delay: Span) {
        let mut latest = first;
        while let Some(at) = self.airs.after(latest, node) {
            let copy = self.packets.copy(packet);
            self.down(at, copy, None, delay);
            latest = at;
        }
    }

    /// A packet whose next hop is noted in it comes to the link layer of an interface in `delay`.
    pub(super) fn send_down_by(&mut self, at: InterfaceId, packet: Handle, delay: Span) {
        self.down(at, packet, self.packets.get(packet).next_hop, delay);
    }

    #[inline]
    fn down(&mut self, at: InterfaceId, packet: Handle, next_hop: Option<NodeId>, delay: Span) {
        let unknown = next_hop.filter(|next_hop| self.nodes.interface(at).lacks(*next_hop));
        let now = self.queue.now();
        match unknown {
            // An address that is known now will not be forgotten.
            None => self.queue.schedule(now + delay + LINK_LAYER_DELAY, Event::Enqueue { at, packet }),
            Some(next_hop) if delay.is_zero() => self.resolve(at, next_hop, packet),
            Some(_) => self.queue.schedule(now + delay, Event::SendDown { at, packet }),
        }
    }

    /// A packet comes to the link layer of an interface, which does not know the address of `next_hop`.
    fn resolve(&mut self, at: InterfaceId, next_hop: NodeId, packet: Handle) {
        let table = self.nodes.interface_mut(at).arp();
        match table.map_or(Resolution::Known, |table| table.resolve(next_hop, packet)) {
            Resolution::Known => panic!("{at:?} knows the address of {next_hop:?}"),
            Resolution::Waits { replaced } => {
                if let Some(replaced) = replaced {
                    self.nodes.interface_mut(at).toward(next_hop).arp_drops += 1;
                    self.note_loss(self.airs.node(at), replaced, LossCause::NoAddress);
                    self.packets.remove(replaced);
                }
                self.send_arp(at, ArpOperation::Request, next_hop);
            }
            Resolution::Fails { waiting } => {
                self.nobody_answers(at, next_hop, waiting);
                self.nobody_answers(at, next_hop, packet);
            }
        }
    }

    /// No answer came: to routing that is what a packet given up by the MAC is (ns2-behaviour 4.3).
    fn nobody_answers(&mut self, at: InterfaceId, next_hop: NodeId, packet: Handle) {
        self.nodes.interface_mut(at).toward(next_hop).arp_drops += 1;
        match self.packets.get(packet).class {
            Class::Control | Class::Arp => self.packets.remove(packet),
            Class::Data | Class::Ack => self.link_failed(self.airs.node(at), next_hop, packet),
        }
    }

    /// A packet of address resolution has been received. It does not pass the link layer.
    pub(super) fn arp_input(&mut self, at: InterfaceId, message: Arp) {
        let Some(table) = self.nodes.interface_mut(at).arp() else { return };
        if let Some(packet) = table.learn(message.sender) {
            self.queue.schedule(self.queue.now() + ARP_DELAY, Event::Enqueue { at, packet });
        }
        if message.operation == ArpOperation::Request && message.target == self.airs.node(at) {
            self.send_arp(at, ArpOperation::Reply, message.sender);
        }
    }

    fn send_arp(&mut self, at: InterfaceId, operation: ArpOperation, target: NodeId) {
        let here = self.airs.node(at);
        let address = |node| self.addresses.address(Host::Mesh(node));
        let (next_hop, destination) = match operation {
            ArpOperation::Request => (None, IpAddr::V4(Ipv4Addr::BROADCAST)),
            ArpOperation::Reply => (Some(target), address(target)),
        };
        let body = Body::Arp(Arp { operation, sender: here, target });
        let mut packet = Packet::new(address(here), destination, Arp::WIRE_LENGTH, Class::Arp, body);
        packet.id = self.next_id();
        packet.entry = here;
        packet.exit = next_hop.unwrap_or(here);
        packet.to = Host::Mesh(packet.exit);
        packet.next_hop = next_hop;
        let packet = self.packets.add(packet);
        self.queue.schedule(self.queue.now() + ARP_DELAY, Event::Enqueue { at, packet });
    }

    /// Packets that wait for an address: for ever, if no answer and no other packet comes.
    #[must_use]
    pub fn unresolved(&self) -> usize {
        self.nodes.interfaces().map(Interface::unresolved).sum()
    }
}
