//! Paths that packets take whatever routing says.

use meshpace_relay::packet::{Packet, PathId};
use meshpace_units::NodeId;
use std::num::NonZeroU32;

/// The paths of a network, by number from 1.
#[derive(Debug, Default)]
pub(crate) struct Paths(Vec<Box<[NodeId]>>);

impl Paths {
    /// One more: mesh nodes in order.
    ///
    /// # Panics
    /// If there is no node, or one twice.
    pub(crate) fn add(&mut self, nodes: Vec<NodeId>) -> PathId {
        let mut sorted = nodes.clone();
        sorted.sort_unstable();
        sorted.dedup();
        assert!(!nodes.is_empty() && sorted.len() == nodes.len(), "a path of {nodes:?}");
        self.0.push(nodes.into());
        let number = u32::try_from(self.0.len()).ok().and_then(NonZeroU32::new);
        PathId(number.unwrap_or_else(|| panic!("{} paths", self.0.len())))
    }

    /// The nodes of one.
    pub(crate) fn nodes(&self, path: PathId) -> &[NodeId] {
        &self.0[path.0.get() as usize - 1]
    }

    /// The node after this one on a path.
    ///
    /// # Panics
    /// If there is none.
    pub(crate) fn after(&self, path: PathId, node: NodeId) -> NodeId {
        let nodes = self.nodes(path);
        let here = nodes.iter().position(|on_path| *on_path == node);
        let next = here.and_then(|here| nodes.get(here + 1));
        *next.unwrap_or_else(|| panic!("{node:?} is not on the way of {nodes:?}"))
    }

    /// The first and the last node of the path that a packet takes, if it takes one.
    pub(crate) fn ends(&self, packet: &Packet) -> Option<(NodeId, NodeId)> {
        let nodes = self.nodes(packet.path?);
        Some((nodes[0], nodes[nodes.len() - 1]))
    }
}
