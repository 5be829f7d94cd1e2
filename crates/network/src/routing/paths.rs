//! Paths that packets take whatever routing says.

use crate::measure::LossCause;
use crate::network::Network;
use meshpace_pacing::LinkRates;
use meshpace_packet::{Handle, Packet, PathId};
use meshpace_units::{NodeId, Span};
use std::fmt::Debug;
use std::num::NonZeroU32;

/// The paths of a network, by number from 1.
#[derive(Debug, Default)]
pub(crate) struct Paths(Vec<Box<[NodeId]>>);

impl Paths {
    fn add(&mut self, nodes: Vec<NodeId>) -> PathId {
        self.0.push(nodes.into());
        let number = u32::try_from(self.0.len()).ok().and_then(NonZeroU32::new);
        PathId(number.unwrap_or_else(|| panic!("{} paths", self.0.len())))
    }

    pub(crate) fn nodes(&self, path: PathId) -> &[NodeId] {
        &self.0[path.0.get() as usize - 1]
    }

    /// The first and the last node of the path that a packet takes, if it takes one.
    pub(crate) fn ends(&self, packet: &Packet) -> Option<(NodeId, NodeId)> {
        let nodes = self.nodes(packet.path?);
        Some((nodes[0], nodes[nodes.len() - 1]))
    }
}

impl<T: Copy + Debug> Network<T> {
    /// Adds a path, for packets to name: mesh nodes in order, where the packet enters the mesh and where it leaves it
    /// included.
    ///
    /// # Panics
    /// If there is no node, or one twice.
    pub fn add_path(&mut self, nodes: Vec<NodeId>) -> PathId {
        let mut sorted = nodes.clone();
        sorted.sort_unstable();
        sorted.dedup();
        assert!(!nodes.is_empty() && sorted.len() == nodes.len(), "a path of {nodes:?}");
        self.paths.add(nodes)
    }

    /// Sends a packet on to the next node of its path.
    pub(crate) fn follow(&mut self, node: u32, handle: Handle, path: PathId) {
        let packet = self.packets.get_mut(handle);
        if packet.ttl == 0 {
            self.note_loss(node, handle, LossCause::Loop);
            return self.packets.remove(handle);
        }
        let nodes = self.paths.nodes(path);
        let here = nodes.iter().position(|on_path| on_path.0 == node);
        let next = here.and_then(|here| nodes.get(here + 1));
        packet.next_hop = Some(*next.unwrap_or_else(|| panic!("node {node} is not on the way of {nodes:?}")));
        self.send_down(node, handle, Span::ZERO);
    }

    /// The rates of a path's links; `None` if all links have the same rate.
    #[must_use]
    pub fn rates_on(&self, path: PathId) -> Option<LinkRates> {
        if self.rates.exceptions.is_empty() {
            return None;
        }
        let links = self.paths.nodes(path).windows(2).map(|pair| self.rates.between(pair[0], pair[1]));
        Some(LinkRates::PerLink(links.collect::<Vec<_>>().into()))
    }
}
