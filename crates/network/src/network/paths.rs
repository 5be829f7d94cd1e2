//! Packets that take a path, and the rates on it.

use super::Network;
use crate::measure::LossCause;
use meshpace_pacing::LinkRates;
use meshpace_packet::{Handle, PathId};
use meshpace_units::{NodeId, Span};
use std::fmt::Debug;

impl<T: Copy + Debug> Network<T> {
    /// Adds a path, for packets to name: mesh nodes in order, where the packet enters the mesh and where it leaves it
    /// included.
    ///
    /// # Panics
    /// If there is no node, or one twice.
    pub fn add_path(&mut self, nodes: Vec<NodeId>) -> PathId {
        self.paths.add(nodes)
    }

    /// Sends a packet on to the next node of its path.
    pub(super) fn follow(&mut self, node: u32, handle: Handle, path: PathId) {
        let packet = self.packets.get_mut(handle);
        if packet.ttl == 0 {
            self.note_loss(node, handle, LossCause::Loop);
            return self.packets.remove(handle);
        }
        packet.next_hop = Some(self.paths.after(path, NodeId(node)));
        self.send_down(node, handle, Span::ZERO);
    }

    /// The rates of a path's links; `None` if all links have the same rate.
    #[must_use]
    pub fn rates_on(&self, path: PathId) -> Option<LinkRates> {
        if self.rates.exceptions.is_empty() {
            return None;
        }
        let links = self.paths.nodes(path).windows(2).map(|pair| self.rates.between(pair[0], pair[1]).rate);
        Some(LinkRates::PerLink(links.collect::<Vec<_>>().into()))
    }
}
