//! The network layer of the mesh nodes: routing and forwarding.

use super::Network;
use crate::event::InterfaceId;
use crate::measure::LossCause;
use crate::routing::Radios;
use meshpace_relay::packet::{Body, Class, Handle, Host, Packet, Ticket};
use meshpace_routing::{Action, Control, DropReason, LinkEvent, Recipient, RoutingProtocol};
use meshpace_units::{Instant, NodeId, Span};
use std::fmt::Debug;
use std::net::{IpAddr, Ipv4Addr};

impl<T: Copy + Debug> Network<T> {
    /// A packet that was received by radio reaches the network layer.
    pub(super) fn network_input(&mut self, at: InterfaceId, handle: Handle, from: NodeId) {
        let node = self.airs.node(at);
        let packet = self.packets.get_mut(handle);
        if let Body::Control(message) = &packet.body {
            let (message, ttl) = (message.clone(), packet.ttl);
            let broadcast = packet.next_hop.is_none().then_some(packet.id);
            self.packets.remove(handle);
            let heard = |radios: &mut Box<Radios>| radios.heard((node, from), at, broadcast);
            if !self.radios.as_mut().is_none_or(heard) {
                return;
            }
            self.with_routing(node, |routing, now, out| routing.on_control(now, from, ttl, &message, out));
        } else if packet.exit == node {
            self.leaves_mesh(node, handle);
        } else if matches!(packet.body, Body::Ethernet(_)) {
            self.arrived.push_back((Host::Mesh(node), handle));
        } else {
            packet.ttl = packet.ttl.saturating_sub(1);
            self.route(node, handle);
        }
    }

    /// A packet enters the mesh at `node`: from an endpoint there, or from the wired part. It has a ticket if its host wants to know
    /// when it has left.
    #[inline]
    pub(super) fn enters_mesh(&mut self, node: NodeId, mut packet: Packet, ticket: Option<Ticket>) {
        packet.entry = node;
        packet.travelled = 0;
        packet.arrived = self.now();
        packet.unfollow();
        packet.ttl = self.routing.of(node).data_ttl();
        let handle = self.packets.add(packet);
        if let Some(ticket) = ticket {
            self.packets.issue(handle, ticket);
        }
        self.route(node, handle);
    }

    fn route(&mut self, node: NodeId, handle: Handle) {
        if let Some(path) = self.packets.get(handle).path {
            return self.follow(node, handle, path);
        }
        let info = self.packets.get(handle).info();
        if let Some(next_hop) = self.routing.of(node).at_once(&info) {
            self.packets.get_mut(handle).next_hop = Some(next_hop);
            return self.send_down(node, handle, Span::ZERO);
        }
        self.with_routing(node, |routing, now, out| routing.route(now, handle, &info, out));
    }

    /// The MAC gave up a data packet or TCP acknowledgement.
    pub(super) fn link_failed(&mut self, node: NodeId, next_hop: NodeId, handle: Handle) {
        let info = self.packets.get(handle).info();
        self.with_routing(node, |routing, now, out| {
            routing.on_link_failure(now, next_hop, handle, &info, out);
        });
    }

    /// The MAC has found out something of a link, and routing may want to know.
    #[inline]
    pub(super) fn link_event(&mut self, node: NodeId, neighbour: NodeId, event: LinkEvent) {
        if self.routing.asks_for_link_events(node) {
            self.tell_link_event(node, neighbour, event);
        }
    }

    /// Apart from [`Network::link_event`]: most protocols do not ask.
    #[inline(never)]
    fn tell_link_event(&mut self, node: NodeId, neighbour: NodeId, event: LinkEvent) {
        self.with_routing(node, |routing, now, out| routing.on_link_event(now, neighbour, event, out));
    }

    pub(super) fn routing_alarm(&mut self, node: NodeId) {
        if self.routing.rings(node, self.queue.now()) {
            self.with_routing(node, |routing, now, out| routing.handle_timeout(now, out));
        }
    }

    /// Calls a node's routing, carries out what it asks for, and sets its alarm.
    fn with_routing(
        &mut self,
        node: NodeId,
        call: impl FnOnce(&mut dyn RoutingProtocol<Handle>, Instant, &mut Vec<Action<Handle>>),
    ) {
        let now = self.now();
        let mut actions = self.routing.call(node, |routing, out| call(routing, now, out));
        // Mostly there is one.
        if actions.len() > 1 {
            actions.drain(..).for_each(|action| self.carry_out_routing(node, action));
        } else if let Some(action) = actions.pop() {
            self.carry_out_routing(node, action);
        }
        self.routing.done(node, actions, &mut self.queue);
    }

    /// What a node's routing asks for.
    fn carry_out_routing(&mut self, node: NodeId, action: Action<Handle>) {
        match action {
            Action::SendData { packet, next_hop, delay } => {
                self.packets.get_mut(packet).next_hop = Some(next_hop);
                self.send_down(node, packet, delay);
            }
            Action::SendControl { message, to, ttl, delay } => {
                self.send_control(node, message, to, ttl, delay);
            }
            Action::PurgeQueue { next_hop, unaddressed } => self.purge(node, next_hop, unaddressed),
            Action::Drop { packet, reason } => {
                let cause = match reason {
                    DropReason::NoRoute | DropReason::SendBufferFull | DropReason::SendBufferTimeout => {
                        LossCause::NoRoute
                    }
                    DropReason::Expired | DropReason::Loop => LossCause::Loop,
                    DropReason::LinkFailure => LossCause::GivenUp,
                };
                self.note_loss(node, packet, cause);
                self.packets.remove(packet);
            }
        }
    }

    fn send_control(&mut self, node: NodeId, message: Control, to: Recipient, ttl: u8, delay: Span) {
        self.routing.count_control();
        let here = node;
        let next_hop = match to {
            Recipient::Broadcast => None,
            Recipient::Unicast(next_hop) => Some(next_hop),
        };
        let address = |node| self.addresses.address(Host::Mesh(node));
        let destination = next_hop.map_or(IpAddr::V4(Ipv4Addr::BROADCAST), address);
        let (size, body) = (message.wire_length(), Body::Control(message));
        let mut packet = Packet::new(address(here), destination, size, Class::Control, body);
        packet.id = self.next_id();
        packet.entry = here;
        packet.exit = next_hop.unwrap_or(here);
        packet.to = Host::Mesh(packet.exit);
        packet.ttl = ttl;
        packet.next_hop = next_hop;
        let packet = self.packets.add(packet);
        self.send_down(node, packet, delay);
    }

    /// Drops the waiting packets for a neighbour: data, acknowledgements and unicast replies alike; if asked to, also
    /// routing's own that go with them, and packets of address resolution, for any destination.
    fn purge(&mut self, node: NodeId, next_hop: NodeId, unaddressed: bool) {
        let goes_along = |body: &Body| match body {
            Body::Control(message) => message.goes_with_purges(),
            body => matches!(body, Body::Arp(_)),
        };
        // What a real host's kernel sends is not routing's.
        let mut wanted = |packet: &Packet| {
            !matches!(packet.body, Body::Ethernet(_))
                && (packet.next_hop == Some(next_hop) || (unaddressed && goes_along(&packet.body)))
        };
        let mut interface = self.airs.of(node).next();
        while let Some(at) = interface {
            self.purge_relay(at, &mut wanted);
            interface = self.airs.after(at, node);
        }
    }
}
