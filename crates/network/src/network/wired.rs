//! Forwarding over the wired part, and what drives the relays of its links.

use super::Network;
use crate::event::Event;
use crate::measure::{LossCause, LossPlace};
use meshpace_gateway::Side;
use meshpace_packet::{Class, Handle, Host, Packet};
use meshpace_relay::{Here, Relay};
use meshpace_units::NodeId;
use std::fmt::Debug;

impl<T: Copy + Debug> Network<T> {
    /// Sends a packet over the wired part, from `here` on.
    pub(super) fn forward_wired(&mut self, here: Host, packet: Packet) {
        let goal = match packet.to {
            Host::Wired(_) => packet.to,
            Host::Mesh(node) => match self.way_into_mesh(node, &packet) {
                Some(gateway) => Host::Mesh(gateway),
                None => return,
            },
        };
        let Some(link) = self.wired_routes.next(here, goal) else { return };
        let handle = self.packets.add(packet);
        self.enqueue_wired(link, handle);
    }

    /// The gateway through which a packet goes to a mesh node: that of its path, or of the node.
    fn way_into_mesh(&self, node: NodeId, packet: &Packet) -> Option<NodeId> {
        self.paths.ends(packet).map(|(first, _)| first).or_else(|| self.gateway_for(node))
    }

    /// False if the packet's path begins at another gateway.
    fn enters_here(&self, gateway: NodeId, packet: &Packet) -> bool {
        self.paths.ends(packet).is_none_or(|(first, _)| first == gateway)
    }

    /// A packet's first bit leaves.
    pub(super) fn start_sending(&mut self, link: u32, handle: Handle) {
        let size = self.packets.get(handle).size;
        let this = &mut self.wired[link as usize];
        this.sending = true;
        let sent = self.queue.now() + this.serialisation(size);
        let arrives = sent + this.delay();
        self.queue.schedule(sent, Event::WiredSent(link));
        self.queue.schedule(arrives, Event::WiredArrival { link, packet: handle });
    }

    pub(super) fn wired_sent(&mut self, link: u32) {
        let this = &mut self.wired[link as usize];
        this.sending = false;
        this.count.carried += 1;
        self.send_wired(link);
    }

    pub(super) fn wired_arrival(&mut self, link: u32, handle: u32) {
        let packet = self.packets.take(handle);
        let here = self.wired[link as usize].to;
        if packet.to == here {
            return self.arrived.push_back((here, packet));
        }
        match (here, packet.to) {
            (Host::Mesh(gateway), Host::Mesh(_)) if self.enters_here(gateway, &packet) => {
                self.pass_gateway(Side::Wired, gateway, packet);
            }
            _ => self.forward_wired(here, packet),
        }
    }

    /// A packet reaches the queue of a directed wired link.
    pub(super) fn enqueue_wired(&mut self, link: u32, packet: Handle) {
        self.with_wired_relay(link, |relay, here| relay.enqueue(here, packet));
        self.send_wired(link);
    }

    /// Puts the next packet on a wired link, if it is free.
    pub(super) fn send_wired(&mut self, link: u32) {
        let this = &self.wired[link as usize];
        if this.sending || this.relay.is_empty() {
            return;
        }
        if let Some(packet) = self.with_wired_relay(link, |relay, here| relay.dequeue(here)) {
            self.start_sending(link, packet);
        }
    }

    pub(super) fn wired_relay_alarm(&mut self, link: u32) {
        if self.wired[link as usize].relay_alarm.rings(self.queue.now()) {
            self.with_wired_relay(link, |relay, here| relay.handle_timeout(here));
            self.send_wired(link);
        }
    }

    /// Calls the relay of a wired link, frees and counts what it drops, and sets its alarm.
    fn with_wired_relay<R>(&mut self, link: u32, call: impl FnOnce(&mut dyn Relay, &mut Here<'_>) -> R) -> R {
        let now = self.queue.now();
        let this = &mut self.wired[link as usize];
        let mut here = Here::new(now, &mut self.packets, !this.sending, None, &mut self.dropped);
        let answer = call(this.relay.as_mut(), &mut here);
        while let Some(handle) = self.dropped.pop() {
            let packet = self.packets.take(handle);
            self.statistics.lose(packet.account, packet.class, LossPlace::Wired(link), LossCause::Queue);
            match packet.class {
                Class::Data => this.count.data_drops += 1,
                Class::Ack => this.count.ack_drops += 1,
                Class::Control | Class::Arp => {}
            }
        }
        let deadline = this.relay.poll_timeout().filter(|at| *at > now);
        this.relay_alarm.arm(deadline, Event::WiredRelay(link), &mut self.queue);
        answer
    }
}
