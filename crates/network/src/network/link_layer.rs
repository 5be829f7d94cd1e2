//! The link layer: packets on their way down to the interface queue, and what resolves the addresses that they need.

use super::Network;
use crate::event::Event;
use crate::measure::LossCause;
use crate::node::Resolution;
use meshpace_packet::{Arp, ArpOperation, Body, Class, Handle, Host, Packet};
use meshpace_units::{NodeId, Span};
use std::fmt::Debug;
use std::net::{IpAddr, Ipv4Addr};

/// A packet takes this long through the link layer, on its way up and on its way down (ns2-behaviour 4.1).
pub(super) const LINK_LAYER_DELAY: Span = Span::from_micros(25);

/// Packets of address resolution, and those that waited for them, take this long instead (ns2-behaviour 4.2).
const ARP_DELAY: Span = Span::from_micros(5);

impl<T: Copy + Debug> Network<T> {
    /// A packet whose next hop is noted in it comes to the link layer of `node` in `delay`, from above.
    pub(super) fn send_down(&mut self, node: u32, packet: Handle, delay: Span) {
        let next_hop = self.packets.get(packet).next_hop;
        let unknown = match (&self.nodes[node as usize].arp, next_hop) {
            (Some(table), Some(next_hop)) if !table.knows(next_hop) => Some(next_hop),
            _ => None,
        };
        let now = self.queue.now();
        match unknown {
            // An address that is known now will not be forgotten.
            None => self.queue.schedule(now + delay + LINK_LAYER_DELAY, Event::Enqueue { node, packet }),
            Some(next_hop) if delay.is_zero() => self.resolve(node, next_hop, packet),
            Some(_) => self.queue.schedule(now + delay, Event::SendDown { node, packet }),
        }
    }

    /// A packet comes to the link layer of `node`, which does not know the address of `next_hop`.
    fn resolve(&mut self, node: u32, next_hop: NodeId, packet: Handle) {
        let table = self.nodes[node as usize].arp.as_mut();
        match table.map_or(Resolution::Known, |table| table.resolve(next_hop, packet)) {
            Resolution::Known => panic!("node {node} knows the address of {next_hop:?}"),
            Resolution::Waits { replaced } => {
                if let Some(replaced) = replaced {
                    self.nodes[node as usize].links.toward(next_hop).arp_drops += 1;
                    self.note_loss(node, replaced, LossCause::NoAddress);
                    self.packets.remove(replaced);
                }
                self.send_arp(node, ArpOperation::Request, next_hop);
            }
            Resolution::Fails { waiting } => {
                self.nobody_answers(node, next_hop, waiting);
                self.nobody_answers(node, next_hop, packet);
            }
        }
    }

    /// Nobody answers: to routing that is what a packet given up by the MAC is (ns2-behaviour 4.3).
    fn nobody_answers(&mut self, node: u32, next_hop: NodeId, packet: Handle) {
        self.nodes[node as usize].links.toward(next_hop).arp_drops += 1;
        match self.packets.get(packet).class {
            Class::Control | Class::Arp => self.packets.remove(packet),
            Class::Data | Class::Ack => self.link_failed(node, next_hop, packet),
        }
    }

    /// A packet of address resolution has been received. It does not pass the link layer.
    pub(super) fn arp_input(&mut self, node: u32, message: Arp) {
        let Some(table) = &mut self.nodes[node as usize].arp else { return };
        if let Some(packet) = table.learn(message.sender) {
            self.queue.schedule(self.queue.now() + ARP_DELAY, Event::Enqueue { node, packet });
        }
        if message.operation == ArpOperation::Request && message.target == NodeId(node) {
            self.send_arp(node, ArpOperation::Reply, message.sender);
        }
    }

    fn send_arp(&mut self, node: u32, operation: ArpOperation, target: NodeId) {
        let here = NodeId(node);
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
        self.queue.schedule(self.queue.now() + ARP_DELAY, Event::Enqueue { node, packet });
    }
}
