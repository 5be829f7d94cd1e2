//! What arrives in frames of several packets goes up in the order of its numbers.

use super::Network;
use crate::event::{Alarm, Event, InterfaceId};
use meshpace_packet::{Body, Handle};
use meshpace_radio::{MacPacket, Reorder};
use meshpace_units::NodeId;
use std::collections::BTreeMap;
use std::fmt::Debug;

/// What waits for packets before it, by receiver and neighbour.
pub(super) type Reordering = BTreeMap<(InterfaceId, NodeId), Buffer>;

/// Packets of one neighbour, and the alarm for those that have waited long enough.
pub(super) struct Buffer {
    packets: Reorder<Handle>,
    alarm: Alarm,
}

impl<T: Copy + Debug> Network<T> {
    /// A packet with this number among its neighbour's has arrived, and has not come before.
    pub(super) fn deliver_in_order(&mut self, at: InterfaceId, packet: &MacPacket, from: NodeId, seq: u16) {
        let packet = self.copy_arrived(packet.handle);
        let mut up = std::mem::take(&mut self.in_order);
        let now = self.now();
        let late = self.buffer(at, from).packets.arrived(now, seq, packet, &mut up);
        // A frame sent again after its window has passed: its receiver has done without (10.25.6.6.2, c).
        late.into_iter().for_each(|packet| self.packets.remove(packet));
        self.hand_all_up(at, from, up);
    }

    /// A neighbour has given up what it sent before this number.
    pub(super) fn release(&mut self, at: InterfaceId, from: NodeId, start: u16) {
        let mut up = std::mem::take(&mut self.in_order);
        self.buffer(at, from).packets.starts_at(start, &mut up);
        self.hand_all_up(at, from, up);
    }

    /// What a neighbour sent may have waited long enough.
    pub(super) fn reorder_alarm(&mut self, at: InterfaceId, from: NodeId) {
        let now = self.now();
        let mut up = std::mem::take(&mut self.in_order);
        let buffer = self.buffer(at, from);
        if buffer.alarm.rings(now) {
            buffer.packets.handle_timeout(now, &mut up);
        }
        self.hand_all_up(at, from, up);
    }

    /// Packets that wait for others before them, a tenth of a second at the most.
    #[must_use]
    pub fn out_of_order(&self) -> usize {
        self.reordering.values().map(|buffer| buffer.packets.held()).sum()
    }

    fn buffer(&mut self, at: InterfaceId, from: NodeId) -> &mut Buffer {
        let window = self.airs.at(at).0.config().phy.standard.most_packets();
        let empty = || Buffer { packets: Reorder::new(window), alarm: Alarm::default() };
        self.reordering.entry((at, from)).or_insert_with(empty)
    }

    fn hand_all_up(&mut self, at: InterfaceId, from: NodeId, mut up: Vec<Handle>) {
        if let Some(buffer) = self.reordering.get_mut(&(at, from)) {
            let deadline = buffer.packets.deadline();
            buffer.alarm.arm(deadline, Event::Reorder { at, from }, &mut self.queue);
        }
        for packet in up.drain(..) {
            let carried = self.packets.get(packet);
            if let Body::Arp(message) = carried.body {
                self.packets.remove(packet);
                self.arp_input(at, message);
            } else if carried.is_probe() {
                self.packets.remove(packet);
            } else {
                self.hand_up(at, packet, from);
            }
        }
        self.in_order = up;
    }
}
