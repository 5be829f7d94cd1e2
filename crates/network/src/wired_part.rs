//! Forwarding over the wired part.

use crate::event::Event;
use crate::network::Network;
use crate::wired::Offered;
use meshpace_gateway::Side;
use meshpace_packet::{Host, Packet};
use meshpace_units::Bytes;
use std::fmt::Debug;

impl<T: Copy + Debug> Network<T> {
    /// Sends a packet over the wired part, from `here` on.
    pub(crate) fn forward_wired(&mut self, here: Host, packet: Packet) {
        let goal = match packet.to {
            Host::Wired(_) => packet.to,
            Host::Mesh(node) => match self.gateway_for(node) {
                Some(gateway) => Host::Mesh(gateway),
                None => return,
            },
        };
        let Some(link) = self.wired_routes.next(here, goal) else { return };
        let (class, size) = (packet.class, packet.size);
        let handle = self.packets.add(packet);
        match self.wired[link as usize].offer(handle, class) {
            Offered::Started => self.start_sending(link, handle, size),
            Offered::Queued => {}
            Offered::Dropped => self.packets.remove(handle),
        }
    }

    fn start_sending(&mut self, link: u32, handle: u32, size: Bytes) {
        let this = &self.wired[link as usize];
        let sent = self.queue.now() + this.serialisation(size);
        let arrives = sent + this.delay();
        self.queue.schedule(sent, Event::WiredSent(link));
        self.queue.schedule(arrives, Event::WiredArrival { link, packet: handle });
    }

    pub(crate) fn wired_sent(&mut self, link: u32) {
        if let Some(next) = self.wired[link as usize].sent() {
            let size = self.packets.get(next).size;
            self.start_sending(link, next, size);
        }
    }

    pub(crate) fn wired_arrival(&mut self, link: u32, handle: u32) {
        let packet = self.packets.take(handle);
        let here = self.wired[link as usize].to;
        if packet.to == here {
            return self.arrived.push_back((here, packet));
        }
        match (here, packet.to) {
            (Host::Mesh(gateway), Host::Mesh(_)) => self.pass_gateway(Side::Wired, gateway, packet),
            _ => self.forward_wired(here, packet),
        }
    }
}
