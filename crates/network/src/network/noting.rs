//! What is noted of packets on their way.

use super::Network;
use crate::event::InterfaceId;
use crate::measure::{LossCause, LossPlace};
use meshpace_radio::MacPacket;
use meshpace_relay::packet::Handle;
use meshpace_units::NodeId;
use std::fmt::Debug;

impl<T: Copy + Debug> Network<T> {
    /// A data frame goes out.
    #[inline(always)]
    pub(super) fn note_attempt(&mut self, at: InterfaceId, packet: &MacPacket) {
        let carried = self.packets.get(packet.handle);
        let Some(account) = carried.account else { return };
        self.nodes.interface_mut(at).attempt(account, carried.class, packet.size);
        if self.accounts.counts() {
            let (air, station) = self.airs.at(at);
            let node = air.node(station);
            let (now, link) = (self.queue.now(), (node, packet.to));
            self.accounts.note_frame(now, link, (account, carried.class), air.neighbours(node));
        }
    }

    /// The MAC is through with a packet.
    #[inline(always)]
    pub(super) fn note_through(&mut self, at: InterfaceId, packet: &MacPacket) {
        let carried = self.packets.get(packet.handle);
        let Some(account) = carried.account else { return };
        self.nodes.interface_mut(at).through(account, carried.class, packet.size);
    }

    /// A packet comes to a node's queue, or has left it.
    #[inline]
    pub(super) fn note_waiting(&mut self, at: InterfaceId, packet: Handle, comes: bool) {
        if self.statistics.wants_queues() {
            self.count_waiting(at, packet, comes);
        }
    }

    #[cold]
    fn count_waiting(&mut self, at: InterfaceId, packet: Handle, comes: bool) {
        self.statistics.wait(self.queue.now(), self.airs.node(at), self.packets.get(packet), comes);
    }

    /// The MAC of a node takes a packet.
    #[inline]
    pub(super) fn note_taken(&mut self, at: InterfaceId, packet: Handle) {
        if self.statistics.wants_delays() {
            self.count_taken(at, packet);
        }
    }

    #[inline(never)]
    fn count_taken(&mut self, at: InterfaceId, packet: Handle) {
        let interface = self.nodes.interface(at);
        let expects = |packet: &_| interface.k_hop_delay(packet);
        self.statistics.take(self.queue.now(), self.airs.node(at), self.packets.get_mut(packet), expects);
    }

    /// A packet has come to a node by radio.
    #[inline]
    pub(super) fn note_arrived(&mut self, node: NodeId, packet: Handle) {
        if self.statistics.wants_delays() {
            self.count_arrived(node, packet);
        }
    }

    #[inline(never)]
    fn count_arrived(&mut self, node: NodeId, packet: Handle) {
        self.statistics.arrive(self.queue.now(), node, self.packets.get_mut(packet));
    }

    /// A packet goes no further in a mesh node.
    #[cold]
    pub(super) fn note_loss(&mut self, node: NodeId, packet: Handle, cause: LossCause) {
        let packet = self.packets.get(packet);
        let place = LossPlace::Mesh(node, packet.next_hop);
        self.statistics.lose(packet.account, packet.class, place, cause);
    }
}
