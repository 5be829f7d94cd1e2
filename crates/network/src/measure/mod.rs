//! What the network counts, from a moment on that whoever hangs on it chooses.

mod by_account;
mod hop_delays;
mod link_counters;
mod load;
mod lost;
mod queue_levels;

pub use hop_delays::{HopDelay, HopDelays, Second};
pub use link_counters::{LinkCount, LinkCounters};
pub use load::{Load, Loads};
pub(crate) use lost::LostPackets;
pub use lost::{Loss, LossCause, LossPlace};
pub use queue_levels::{Level, QueueLevels, Queues};

use crate::gateway::GatewayNode;
use crate::network::Network;
use crate::node::Node;
use crate::wired::WiredLink;
use meshpace_radio::Hearers;
use meshpace_units::{Instant, Quantiles};
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
        for gateway in &mut self.gateways {
            if let Some(machine) = &gateway.machine {
                gateway.before = *machine.counters();
                gateway.queue_max = machine.held();
                gateway.waits = Quantiles::default();
            }
        }
        if let Some(delays) = &mut self.hop_delays {
            delays.begin_counting();
        }
        if let Some(queues) = &mut self.queues {
            queues.begin_counting(now);
        }
        self.lost.reset();
        self.control_packets = 0;
        self.failures_before = self.failures();
    }

    /// Brings the counters of stations and queues up to `end`: stations look at the medium only when they have to.
    pub fn settle(&mut self, end: Instant) {
        for node in &mut self.nodes {
            node.station.settle(end, &self.config);
        }
        if let Some(queues) = &mut self.queues {
            queues.settle(end);
        }
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

    /// The gateways, with what their machines count.
    #[must_use]
    pub fn gateways(&self) -> &[GatewayNode] {
        &self.gateways
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
}
