//! A mesh node: its interfaces, what it loads the air with, and the time that it takes to hand on what it has received.

mod arp;
mod interface;
mod processing;

pub(crate) use arp::{ArpTable, Resolution};
pub(crate) use interface::Interface;
pub(crate) use processing::Hosts;

use crate::event::InterfaceId;
use crate::measure::{Load, Loads};
use meshpace_packet::{Account, Class};
use meshpace_units::{Bytes, Instant, NodeId};

/// The nodes: what each has of its own above the air and below routing. An interface is known by its number.
pub(crate) struct Nodes {
    interfaces: Vec<Interface>,
    /// What each sent, by account.
    loads: Vec<Loads>,
    /// What they take to hand on what they have received, if they take any time.
    hosts: Option<Hosts>,
}

impl Nodes {
    /// So many nodes with these interfaces.
    pub(crate) fn new(nodes: usize, interfaces: Vec<Interface>, hosts: Option<Hosts>) -> Self {
        Self { interfaces, loads: vec![Loads::default(); nodes], hosts }
    }

    /// How many.
    pub(crate) fn count(&self) -> usize {
        self.loads.len()
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

    /// A data frame of an account goes out.
    #[inline]
    pub(crate) fn attempt(&mut self, node: NodeId, account: Account, class: Class, size: Bytes) {
        self.loads[node.index()].attempt(account, class, size);
    }

    /// A MAC of a node is through with a packet of an account.
    #[inline]
    pub(crate) fn through(&mut self, node: NodeId, account: Account, class: Class, size: Bytes) {
        self.loads[node.index()].through(account, class, size);
    }

    /// What a node sent for an account: packets that carry data, and acknowledgements. `None`: nothing.
    pub(crate) fn load(&self, node: NodeId, account: Account) -> Option<[Load; 2]> {
        self.loads[node.index()].get(account)
    }

    /// Everything is counted afresh from now on.
    pub(crate) fn begin_counting(&mut self) {
        self.interfaces.iter_mut().for_each(Interface::begin_counting);
        self.loads.iter_mut().for_each(Loads::reset);
    }
}
