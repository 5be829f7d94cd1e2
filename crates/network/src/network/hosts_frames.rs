//! Frames of real hosts' kernels: they go to a neighbour or to all nodes that hear them, and no further. Routing sees nothing of them.

use super::Network;
use super::link_layer::LINK_LAYER_DELAY;
use crate::air::AirId;
use crate::event::Event;
use meshpace_relay::packet::{Body, Handle, Host, Packet, PacketId};
use meshpace_units::NodeId;
use std::fmt::Debug;

impl<T: Copy + Debug> Network<T> {
    /// A frame of a node's kernel comes to its interface on a channel, for a neighbour or (`None`) for all. A node that hears it tells by an
    /// [arrival](crate::Step::Arrival). It keeps its identity, and gets one if it has none. `None`: the node has no interface there, or the
    /// neighbour has none.
    ///
    /// # Panics
    /// If the packet is no frame.
    pub fn send_frame(
        &mut self,
        from: NodeId,
        on: AirId,
        to: Option<NodeId>,
        mut packet: Packet,
    ) -> Option<PacketId> {
        let at = self.airs.interface(on, from)?;
        if to.is_some_and(|to| self.airs.beside(at, to).is_none()) {
            return None;
        }
        let Body::Ethernet(frame) = &mut packet.body else { panic!("{packet:?} is no frame") };
        frame.channel = on.0;
        let now = self.now();
        if packet.id == PacketId::UNSENT {
            packet.id = self.next_id();
            packet.set_out = now;
        }
        let id = packet.id;
        packet.entry = from;
        packet.exit = to.unwrap_or(from);
        packet.to = Host::Mesh(packet.exit);
        packet.arrived = now;
        packet.next_hop = to;
        let packet = self.packets.add(packet);
        self.queue.schedule(now + LINK_LAYER_DELAY, Event::Enqueue { at, packet });
        Some(id)
    }

    /// True for a frame of a real host.
    pub(super) fn is_frame(&self, packet: Handle) -> bool {
        matches!(self.packets.get(packet).body, Body::Ethernet(_))
    }
}
