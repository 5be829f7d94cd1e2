//! What arrives in frames of several packets goes up in the order of its numbers.

use super::Network;
use crate::event::{Alarm, Event, InterfaceId};
use meshpace_radio::{MacPacket, Peer, Reorder};
use meshpace_relay::packet::{Body, Handle};
use std::fmt::Debug;

/// Packets that wait for packets before them, by receiver. Each receiver has a few neighbours and priorities, which are
/// searched for every packet.
#[derive(Default)]
pub(super) struct Reordering(Vec<Vec<Buffer>>);

/// Packets of one neighbour and priority, and the alarm for those that have waited long enough.
struct Buffer {
    from: Peer,
    packets: Reorder<Handle>,
    alarm: Alarm,
}

impl Reordering {
    /// What came to an interface from a neighbour; `None`: nothing so far.
    #[inline]
    fn known(&mut self, at: InterfaceId, from: Peer) -> Option<&mut Buffer> {
        self.0.get_mut(at.index())?.iter_mut().find(|buffer| buffer.from == from)
    }

    /// The buffer of packets that came to an interface from a neighbour, for a window of so many packets.
    #[inline]
    fn of(&mut self, at: InterfaceId, from: Peer, window: usize) -> &mut Buffer {
        if self.0.len() <= at.index() {
            self.0.resize_with(at.index() + 1, Vec::new);
        }
        let here = &mut self.0[at.index()];
        let place = here.iter().position(|buffer| buffer.from == from).unwrap_or_else(|| {
            here.push(Buffer { from, packets: Reorder::new(window), alarm: Alarm::default() });
            here.len() - 1
        });
        &mut here[place]
    }
}

impl<T: Copy + Debug> Network<T> {
    /// A packet with this number among its neighbour's has arrived, and has not come before; `more`: another packet of the same MPDU
    /// follows.
    pub(super) fn deliver_in_order(
        &mut self,
        at: InterfaceId,
        packet: &MacPacket,
        from: Peer,
        (seq, more): (u16, bool),
    ) {
        let packet = self.copy_arrived(packet.handle);
        if more || !self.together.is_empty() {
            self.together.push(packet);
            if !more {
                self.deliver_together(at, from, seq);
            }
            return;
        }
        if self.reordering.known(at, from).is_some_and(|buffer| buffer.packets.passes(seq)) {
            self.go_up(at, from, packet);
        } else {
            self.put_in_order(at, from, (packet, seq));
        }
    }

    /// Apart from [`Network::deliver_in_order`]: nearly all packets come in order.
    #[inline(never)]
    fn put_in_order(&mut self, at: InterfaceId, from: Peer, (packet, seq): (Handle, u16)) {
        let mut up = std::mem::take(&mut self.in_order);
        let now = self.now();
        let late = self.buffer(at, from).packets.arrived(now, seq, packet, &mut up);
        // A frame sent again after its window has passed: its receiver has done without (10.25.6.6.2, c).
        late.into_iter().for_each(|packet| self.packets.remove(packet));
        self.hand_all_up(at, from, up);
    }

    /// The packets of an MPDU of several have arrived.
    #[cold]
    fn deliver_together(&mut self, at: InterfaceId, from: Peer, seq: u16) {
        let now = self.now();
        let (mut together, mut up) = (std::mem::take(&mut self.together), std::mem::take(&mut self.in_order));
        if self.buffer(at, from).packets.arrived_together(now, seq, together.iter().copied(), &mut up) {
            together.iter().for_each(|packet| self.packets.remove(*packet));
        }
        together.clear();
        self.together = together;
        self.hand_all_up(at, from, up);
    }

    /// A neighbour has given up what it sent before this number.
    pub(super) fn release(&mut self, at: InterfaceId, from: Peer, start: u16) {
        let mut up = std::mem::take(&mut self.in_order);
        self.buffer(at, from).packets.starts_at(start, &mut up);
        self.hand_all_up(at, from, up);
    }

    /// What a neighbour sent may have waited long enough.
    pub(super) fn reorder_alarm(&mut self, at: InterfaceId, from: Peer) {
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
        self.reordering.0.iter().flatten().map(|buffer| buffer.packets.held()).sum()
    }

    #[inline]
    fn buffer(&mut self, at: InterfaceId, from: Peer) -> &mut Buffer {
        let window = self.airs.at(at).0.config().phy.standard.most_packets();
        self.reordering.of(at, from, window)
    }

    fn hand_all_up(&mut self, at: InterfaceId, from: Peer, mut up: Vec<Handle>) {
        let window = self.airs.at(at).0.config().phy.standard.most_packets();
        let buffer = self.reordering.of(at, from, window);
        buffer.alarm.arm(buffer.packets.deadline(), Event::Reorder { at, from }, &mut self.queue);
        for packet in up.drain(..) {
            self.go_up(at, from, packet);
        }
        self.in_order = up;
    }

    /// A packet that waits for nothing any longer goes up.
    #[inline]
    fn go_up(&mut self, at: InterfaceId, from: Peer, packet: Handle) {
        let carried = self.packets.get(packet);
        if let Body::Arp(message) = carried.body {
            self.packets.remove(packet);
            self.arp_input(at, message);
        } else if carried.is_probe() {
            self.packets.remove(packet);
        } else {
            self.hand_up(at, packet, from.node);
        }
    }
}
