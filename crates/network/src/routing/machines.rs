//! The routing protocols of the nodes.

use crate::event::{Alarm, Event, EventQueue};
use meshpace_relay::packet::Handle;
use meshpace_routing::{Action, RoutingProtocol};
use meshpace_units::{Instant, NodeId};
use std::fmt::Debug;

/// The routing of every node. It gets packets and failures, and answers where packets go; other rooms carry out its requests.
pub(crate) struct Machines {
    nodes: Vec<Machine>,
    /// Routing packets sent since counting began.
    control_packets: u64,
    /// Link failures that had been noticed when counting began.
    failures_before: u64,
    /// Scratch, to save allocations.
    actions: Vec<Action<Handle>>,
}

struct Machine {
    protocol: Box<dyn RoutingProtocol<Handle>>,
    /// True if it asks for the MAC's reports of links.
    link_events: bool,
    /// When it wants to be called.
    alarm: Alarm,
}

impl Machines {
    /// Of the nodes, in order.
    pub(crate) fn new(protocols: impl Iterator<Item = Box<dyn RoutingProtocol<Handle>>>) -> Self {
        let machine = |protocol: Box<dyn RoutingProtocol<Handle>>| {
            let link_events = protocol.asks_for_link_events();
            Machine { protocol, link_events, alarm: Alarm::default() }
        };
        Self {
            nodes: protocols.map(machine).collect(),
            control_packets: 0,
            failures_before: 0,
            actions: Vec::new(),
        }
    }

    /// A node's.
    #[inline]
    pub(crate) fn of(&self, node: NodeId) -> &dyn RoutingProtocol<Handle> {
        self.nodes[node.index()].protocol.as_ref()
    }

    /// True if a node's asks for the MAC's reports of links.
    #[inline]
    pub(crate) fn asks_for_link_events(&self, node: NodeId) -> bool {
        self.nodes[node.index()].link_events
    }

    /// Calls a node's; what it asks for comes back, to be [returned](Self::done) when it is carried out.
    #[inline]
    pub(crate) fn call(
        &mut self,
        node: NodeId,
        call: impl FnOnce(&mut dyn RoutingProtocol<Handle>, &mut Vec<Action<Handle>>),
    ) -> Vec<Action<Handle>> {
        let mut actions = std::mem::take(&mut self.actions);
        call(self.nodes[node.index()].protocol.as_mut(), &mut actions);
        actions
    }

    /// What a node's routing asked for has been carried out: its alarm is set.
    #[inline]
    pub(crate) fn done<T: Copy + Debug>(
        &mut self,
        node: NodeId,
        actions: Vec<Action<Handle>>,
        queue: &mut EventQueue<T>,
    ) {
        self.actions = actions;
        self.arm(node, queue);
    }

    /// Sets the alarm of a node's.
    pub(crate) fn arm<T: Copy + Debug>(&mut self, node: NodeId, queue: &mut EventQueue<T>) {
        let this = &mut self.nodes[node.index()];
        let deadline = this.protocol.poll_timeout();
        this.alarm.arm(deadline, Event::Routing(node), queue);
    }

    /// A node's alarm went off: true if it still counts.
    pub(crate) fn rings(&mut self, node: NodeId, now: Instant) -> bool {
        self.nodes[node.index()].alarm.rings(now)
    }

    /// The nodes that a packet passes from one to another, both included, if the nodes on the way know it all.
    pub(crate) fn way(&self, now: Instant, from: NodeId, to: NodeId) -> Option<Vec<NodeId>> {
        let mut way = vec![from];
        let mut here = from;
        while here != to {
            here = self.of(here).next_hop(now, to)?;
            way.push(here);
            if way.len() > self.nodes.len() + 1 {
                return None; // the tables disagree and form a loop
            }
        }
        Some(way)
    }

    /// A routing packet is sent.
    pub(crate) fn count_control(&mut self) {
        self.control_packets += 1;
    }

    /// Routing packets sent since counting began.
    pub(crate) const fn control_packets(&self) -> u64 {
        self.control_packets
    }

    /// Link failures that took routes down or started a repair, since counting began.
    pub(crate) fn failures(&self) -> u64 {
        self.all_failures() - self.failures_before
    }

    /// Everything is counted afresh from now on.
    pub(crate) fn begin_counting(&mut self) {
        self.control_packets = 0;
        self.failures_before = self.all_failures();
    }

    /// Routes and failures are not asked for any more.
    pub(crate) fn end(&mut self) {
        self.nodes = Vec::new();
    }

    fn all_failures(&self) -> u64 {
        self.nodes.iter().map(|node| node.protocol.route_failures()).sum()
    }
}
