//! What the network has counted, from a moment on that whoever hangs on it chooses.

use super::Network;
use crate::measure::{HopDelays, Loss, Queues};
use crate::node::Node;
use crate::wired::WiredLink;
use meshpace_packet::Account;
use meshpace_radio::Hearers;
use meshpace_units::Instant;
use std::fmt::Debug;

impl<T: Copy + Debug> Network<T> {
    /// Everything is counted afresh from now on, but for [`frames`](Self::frames) and [`events`](Self::events).
    pub fn begin_counting(&mut self) {
        let now = self.now();
        for node in &mut self.nodes {
            node.station.settle(now, &self.config);
            node.station.reset_stats();
            node.links.reset();
            node.relay_before = node.relay.counters();
            node.loads.reset();
        }
        for link in &mut self.wired {
            link.count = Default::default();
        }
        self.gateways.begin_counting();
        self.statistics.begin_counting(now);
        self.control_packets = 0;
        self.failures_before = self.failures();
    }

    /// Brings the counters of stations and queues up to `end`: stations look at the medium only when they have to.
    pub fn settle(&mut self, end: Instant) {
        for node in &mut self.nodes {
            node.station.settle(end, &self.config);
        }
        self.statistics.settle(end);
    }

    /// The run is over, and nobody moves any more: who hears whom is let go, for the memory that a result takes.
    pub fn end(&mut self) {
        self.hearers = Hearers::default();
    }

    /// The mesh nodes, with what they count.
    #[must_use]
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The wired links, each direction by itself, with what they count.
    #[must_use]
    pub fn wired_links(&self) -> &[WiredLink] {
        &self.wired
    }

    /// Events handled since time 0.
    #[must_use]
    pub fn events(&self) -> u64 {
        self.queue.handled()
    }

    /// Frames sent since time 0.
    #[must_use]
    pub fn frames(&self) -> u64 {
        self.frames
    }

    /// Routing packets sent, each hop counted.
    #[must_use]
    pub fn control_packets(&self) -> u64 {
        self.control_packets
    }

    /// Link failures that took routes down or started a repair.
    #[must_use]
    pub fn route_failures(&self) -> u64 {
        self.failures() - self.failures_before
    }

    fn failures(&self) -> u64 {
        self.nodes.iter().map(|node| node.routing.route_failures()).sum()
    }

    /// The packets of accounts that were lost since counting began, in the order of accounts, places and causes.
    pub fn losses(&self) -> impl Iterator<Item = Loss> + '_ {
        self.statistics.losses()
    }

    /// The data packets and acknowledgements of an account that were lost since time 0.
    #[must_use]
    pub fn lost_of(&self, account: Account) -> [u64; 2] {
        self.statistics.lost_of(account)
    }

    /// What was measured of packets' delays over the next hops; `None` unless asked for.
    #[must_use]
    pub fn hop_delays(&self) -> Option<&HopDelays> {
        self.statistics.hop_delays()
    }

    /// What waited, brought up to when the network was last [settled](Self::settle); `None` unless asked for.
    #[must_use]
    pub fn queues(&self) -> Option<&Queues> {
        self.statistics.queues()
    }
}
