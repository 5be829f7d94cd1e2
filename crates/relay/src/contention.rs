//! The contention count of a path (schemes.md 14; Sanzgiri, Chakeres, Belding-Royer 2004): of its nodes, the most that lie within carrier-sensing
//! range of one, that one included.

use crate::here::NodeView;
use crate::packet::{Shim, ShimBytes, ShimKind};
use meshpace_units::{Bytes, NodeId};

/// The nodes that a packet has gone through, in order: the latest ten.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct RecentHops(Vec<NodeId>);

impl RecentHops {
    /// Nodes that it has room for. What lies further back than this is not within range of what comes.
    const MOST: usize = ShimBytes::MOST / 4;

    /// One more node, once.
    pub(crate) fn push(&mut self, node: NodeId) {
        if !self.0.contains(&node) {
            if self.0.len() == Self::MOST {
                self.0.remove(0);
            }
            self.0.push(node);
        }
    }

    /// The count of these nodes. All of them transmit, the last one TCP's acknowledgements.
    pub(crate) fn contention(&self, view: &dyn NodeView) -> u32 {
        let within = |node: &NodeId| {
            let sensed = |other: &&NodeId| *other == node || view.senses(*node, **other);
            self.0.iter().filter(sensed).count() as u32
        };
        self.0.iter().map(within).max().unwrap_or(0)
    }
}

impl Shim for RecentHops {
    const KIND: ShimKind = ShimKind::WinfWay;
    const NAME: &'static str = "winf-way";
    /// None is printed, so none (docs/experiments/we-tcp-ap.md, E10).
    const WIRE_LENGTH: Bytes = Bytes(0);

    fn to_bytes(&self) -> ShimBytes {
        let bytes: Vec<u8> = self.0.iter().flat_map(|node| node.0.to_be_bytes()).collect();
        ShimBytes::new(&bytes)
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (nodes, rest) = bytes.as_chunks::<4>();
        rest.is_empty().then(|| Self(nodes.iter().map(|node| NodeId(u32::from_be_bytes(*node))).collect()))
    }
}

#[cfg(test)]
mod tests;
