//! Packets that take a path, and the rates on it.

use super::Network;
use crate::air::RateTable;
use crate::measure::LossCause;
use meshpace_pacing::LinkRates;
use meshpace_relay::packet::{Handle, PathId};
use meshpace_units::{NodeId, Rate, Span};
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
    pub(super) fn follow(&mut self, node: NodeId, handle: Handle, path: PathId) {
        let packet = self.packets.get_mut(handle);
        if packet.ttl == 0 {
            self.note_loss(node, handle, LossCause::Loop);
            return self.packets.remove(handle);
        }
        packet.next_hop = Some(self.paths.after(path, node));
        self.send_down(node, handle, Span::ZERO);
    }

    /// The rates of a path's links; `None` if all links have the same rate.
    #[must_use]
    pub fn rates_on(&self, path: PathId) -> Option<LinkRates> {
        if self.one_rate() { None } else { Some(self.rates_along(self.paths.nodes(path))) }
    }

    /// True if all links have the same rate.
    pub(super) fn one_rate(&self) -> bool {
        let common = self.airs.first().rates().common.rate;
        let same = |rates: &RateTable| rates.exceptions.is_empty() && rates.common.rate == common;
        self.airs.iter().all(|air| same(air.rates()))
    }

    /// The rates of the links from each of these nodes to the next.
    pub(super) fn rates_along(&self, nodes: &[NodeId]) -> LinkRates {
        let links = nodes.windows(2).map(|pair| self.rate_between(pair[0], pair[1]));
        LinkRates::PerLink(links.collect::<Vec<_>>().into())
    }

    /// The rate of what a node sends to a neighbour.
    ///
    /// # Panics
    /// If they are on no air together.
    fn rate_between(&self, from: NodeId, to: NodeId) -> Rate {
        let at = self.toward(from, to);
        let at = at.unwrap_or_else(|| panic!("{from:?} shares no air with {to:?}"));
        self.airs.at(at).0.rates().between(from, to).rate
    }
}
