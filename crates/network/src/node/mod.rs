//! A mesh node: its interfaces, and the time that it takes to hand on what it has received.

mod arp;
mod interface;
mod processing;

pub(crate) use arp::{ArpTable, Resolution};
pub(crate) use interface::Interface;
pub(crate) use processing::Hosts;

use crate::event::InterfaceId;
use meshpace_units::{Instant, NodeId};

/// The nodes: what each has of its own above the air and below routing. An interface is known by its number.
pub(crate) struct Nodes {
    interfaces: Vec<Interface>,
    count: usize,
    /// How long hosts take to hand on a packet that they have received, if they take any time.
    hosts: Option<Hosts>,
}

impl Nodes {
    /// So many nodes with these interfaces.
    pub(crate) fn new(nodes: usize, interfaces: Vec<Interface>, hosts: Option<Hosts>) -> Self {
        Self { interfaces, count: nodes, hosts }
    }

    /// How many.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// An interface.
    #[inline(always)]
    pub(crate) fn interface(&self, at: InterfaceId) -> &Interface {
        &self.interfaces[at.index()]
    }

    /// The same.
    #[inline(always)]
    pub(crate) fn interface_mut(&mut self, at: InterfaceId) -> &mut Interface {
        &mut self.interfaces[at.index()]
    }

    /// All interfaces, in order.
    pub(crate) fn interfaces(&self) -> impl Iterator<Item = &Interface> {
        self.interfaces.iter()
    }

    /// When a packet is handed on that a node has received now.
    #[inline]
    pub(crate) fn hand_on(&mut self, node: NodeId, now: Instant) -> Instant {
        self.hosts.as_mut().map_or(now, |hosts| hosts.hand_on(node, now))
    }

    /// Everything is counted afresh from now on.
    pub(crate) fn begin_counting(&mut self) {
        self.interfaces.iter_mut().for_each(Interface::begin_counting);
    }
}
