//! The view of their node that relays under test get.

use crate::NodeView;
use crate::packet::{Account, PathId};
use meshpace_radio::backoff::Intervals;
use meshpace_radio::{Mode, Standard};
use meshpace_units::{Bytes, NodeId, Rate, Span};
use std::net::{IpAddr, Ipv4Addr};

/// A node without routes, flows and neighbours, but for what a test says.
pub(crate) struct TestNode {
    /// Hops left, of whatever path and to whatever node.
    pub(crate) hops: Option<u32>,
    pub(crate) next_hop: Option<NodeId>,
    pub(crate) conversations: Option<u32>,
    pub(crate) counted: Option<u32>,
    pub(crate) drawn: Span,
    /// Smallest contention window, as a power of 2.
    pub(crate) ecw_min: u8,
    /// Of every link.
    pub(crate) rate: Rate,
    /// Of every link, for flows that ask for more than its rate.
    pub(crate) mode: &'static Mode,
    /// Whether the first one senses the second one.
    pub(crate) senses: Box<dyn Fn(NodeId, NodeId) -> bool>,
}

impl Default for TestNode {
    fn default() -> Self {
        Self {
            hops: None,
            next_hop: None,
            conversations: None,
            counted: None,
            drawn: Span::ZERO,
            ecw_min: 5,
            rate: Rate::bits_per_sec(2_000_000),
            mode: Standard::named("802.11n").expect("a row").default_mode,
            senses: Box::new(|_, _| false),
        }
    }
}

impl NodeView for TestNode {
    fn busy_time(&mut self) -> Span {
        Span::ZERO
    }

    fn intervals(&self) -> Intervals {
        let (slot, sifs, difs) = (Span::from_micros(20), Span::from_micros(10), Span::from_micros(50));
        Intervals { slot, sifs, difs }
    }

    fn ecw_min(&self) -> u8 {
        self.ecw_min
    }

    fn set_ecw_min(&mut self, power: u8) {
        self.ecw_min = power;
    }

    fn mac_overhead(&self) -> Bytes {
        Bytes(34)
    }

    fn needs_rts(&self, _: Bytes) -> bool {
        true
    }

    fn address(&self, _: NodeId) -> IpAddr {
        IpAddr::V4(Ipv4Addr::LOCALHOST)
    }

    fn backoff_drawn(&self) -> Span {
        self.drawn
    }

    fn rate_to(&self, _: NodeId) -> Rate {
        self.rate
    }

    fn mode_to(&self, _: NodeId) -> &'static Mode {
        self.mode
    }

    fn hops_to(&self, _: NodeId) -> Option<u32> {
        self.hops
    }

    fn hops_on(&self, _: PathId) -> Option<u32> {
        self.hops
    }

    fn next_hop_to(&self, _: NodeId) -> Option<NodeId> {
        self.next_hop
    }

    fn conversations_beside(&self, _: Account) -> Option<u32> {
        self.conversations
    }

    fn conversations_counted(&mut self, _: Account) -> Option<u32> {
        self.counted
    }

    fn senses(&self, hearer: NodeId, sender: NodeId) -> bool {
        (self.senses)(hearer, sender)
    }

    fn share(&mut self, _: Account, _: f64) -> Option<f64> {
        None
    }
}
