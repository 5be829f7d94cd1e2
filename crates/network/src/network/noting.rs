//! What is noted of packets on their way.

use super::Network;
use crate::measure::{LossCause, LossPlace};
use meshpace_packet::Handle;
use meshpace_radio::MacPacket;
use meshpace_units::NodeId;
use std::fmt::Debug;

impl<T: Copy + Debug> Network<T> {
    /// A data frame goes out.
    #[inline]
    pub(super) fn note_attempt(&mut self, node: u32, packet: &MacPacket) {
        let carried = self.packets.get(packet.handle);
        let Some(account) = carried.account else { return };
        self.nodes[node as usize].loads.attempt(account, carried.class, packet.size);
        if self.accounts.counts() {
            let (now, link) = (self.queue.now(), (NodeId(node), packet.to));
            self.accounts.note_frame(now, link, (account, carried.class), &self.hearers);
        }
    }

    /// The MAC is through with a packet.
    #[inline]
    pub(super) fn note_through(&mut self, node: u32, packet: &MacPacket) {
        let carried = self.packets.get(packet.handle);
        let Some(account) = carried.account else { return };
        self.nodes[node as usize].loads.through(account, carried.class, packet.size);
    }

    /// A packet comes to a node's queue, or has left it.
    #[inline]
    pub(super) fn note_waiting(&mut self, node: u32, packet: Handle, comes: bool) {
        if self.statistics.wants_queues() {
            self.count_waiting(node, packet, comes);
        }
    }

    #[cold]
    fn count_waiting(&mut self, node: u32, packet: Handle, comes: bool) {
        self.statistics.wait(self.queue.now(), NodeId(node), self.packets.get(packet), comes);
    }

    /// The MAC of a node takes a packet.
    #[inline]
    pub(super) fn note_taken(&mut self, node: u32, packet: Handle) {
        if self.statistics.wants_delays() {
            self.count_taken(node, packet);
        }
    }

    #[inline(never)]
    fn count_taken(&mut self, node: u32, packet: Handle) {
        let relay = &self.nodes[node as usize].relay;
        let expects = |packet: &_| relay.k_hop_delay(packet);
        self.statistics.take(self.queue.now(), NodeId(node), self.packets.get_mut(packet), expects);
    }

    /// A packet has come to a node by radio.
    #[inline]
    pub(super) fn note_arrived(&mut self, node: u32, packet: Handle) {
        if self.statistics.wants_delays() {
            self.count_arrived(node, packet);
        }
    }

    #[inline(never)]
    fn count_arrived(&mut self, node: u32, packet: Handle) {
        self.statistics.arrive(self.queue.now(), NodeId(node), self.packets.get_mut(packet));
    }

    /// A packet goes no further in a mesh node.
    #[cold]
    pub(super) fn note_loss(&mut self, node: u32, packet: Handle, cause: LossCause) {
        let packet = self.packets.get(packet);
        let place = LossPlace::Mesh(NodeId(node), packet.next_hop);
        self.statistics.lose(packet.account, packet.class, place, cause);
    }
}
