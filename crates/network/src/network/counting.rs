//! What the network has counted, from a moment on that its user chooses.

use super::Network;
use crate::air::{Air, AirId, RateCount};
use crate::measure::{HopDelays, LinkCount, Load, Loss, Queues};
use crate::node::Interface;
use crate::wired::WiredLink;
use meshpace_radio::{Aggregates, Category, StationStats};
use meshpace_relay::packet::{Account, Packets};
use meshpace_units::{Instant, NodeId};
use std::fmt::Debug;

/// What an interface of a mesh node counts.
pub struct InterfaceCounts<'a> {
    id: AirId,
    interface: &'a Interface,
    air: &'a Air,
    station: u32,
}

impl<'a> InterfaceCounts<'a> {
    /// The channel that it is on.
    #[must_use]
    pub const fn air(&self) -> AirId {
        self.id
    }

    /// What its station counts.
    #[must_use]
    pub fn station(&self) -> &'a StationStats {
        self.air.station(self.station).stats()
    }

    /// What its station has sent to a neighbour in frames of several packets, of a category; `None`: frames carry one.
    #[must_use]
    pub fn aggregates_to(&self, to: NodeId, category: Category) -> Option<Aggregates> {
        self.air.station(self.station).aggregates_to(to, category)
    }

    /// In which modes its data frames to a neighbour went, slowest streams first; nothing where the modes of links are given.
    pub fn rates_to(&self, to: NodeId) -> impl Iterator<Item = RateCount> + use<'a> {
        self.air.rate_counts(self.station, to)
    }

    /// What happened to its packets for each neighbour, in order.
    pub fn links(&self) -> impl Iterator<Item = (NodeId, LinkCount)> + use<'a> {
        self.interface.links()
    }

    /// What its station sent for an account: packets that carry data, and acknowledgements. `None`: nothing.
    #[must_use]
    pub fn load(&self, account: Account) -> Option<[Load; 2]> {
        self.interface.load(account)
    }

    /// What its relay has counted since counting began.
    pub fn relay(&self) -> impl Iterator<Item = (&'static str, u64)> + use<'a> {
        self.interface.relay_counters()
    }
}

impl<T: Copy + Debug> Network<T> {
    /// Everything is counted afresh from now on, but for [`frames`](Self::frames) and [`events`](Self::events).
    pub fn begin_counting(&mut self) {
        let now = self.now();
        self.airs.iter_mut().for_each(|air| air.begin_counting(now));
        self.nodes.begin_counting();
        self.wired.begin_counting();
        self.gateways.begin_counting();
        self.statistics.begin_counting(now);
        self.routing.begin_counting();
    }

    /// Brings the counters of stations and queues up to `end`: stations look at the medium only when they have to.
    pub fn settle(&mut self, end: Instant) {
        self.airs.iter_mut().for_each(|air| air.settle(end));
        self.statistics.settle(end);
    }

    /// The run is over: the tables of links, the tables of routing with what they count, and packets on their way are let go, for the memory
    /// that a result takes.
    pub fn end(&mut self) {
        self.airs.iter_mut().for_each(Air::end);
        self.routing.end();
        self.packets = Packets::default();
    }

    /// A mesh node's interfaces, with what they count: one for each air that it is on.
    pub fn interfaces(&self, node: NodeId) -> impl Iterator<Item = InterfaceCounts<'_>> {
        self.airs.of(node).map(|at| {
            let (air, station) = self.airs.at(at);
            InterfaceCounts { id: self.airs.id(at), interface: self.nodes.interface(at), air, station }
        })
    }

    /// The wired links, each direction by itself, with what they count.
    #[must_use]
    pub fn wired_links(&self) -> &[WiredLink] {
        self.wired.links()
    }

    /// Events handled since time 0.
    #[must_use]
    pub fn events(&self) -> u64 {
        self.queue.handled()
    }

    /// Frames sent since time 0.
    #[must_use]
    pub fn frames(&self) -> u64 {
        self.airs.iter().map(Air::frames).sum()
    }

    /// Routing packets sent, each hop counted.
    #[must_use]
    pub fn control_packets(&self) -> u64 {
        self.routing.control_packets()
    }

    /// Link failures that took routes down or started a repair.
    #[must_use]
    pub fn route_failures(&self) -> u64 {
        self.routing.failures()
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

    /// The queues' statistics, up to when the network was last [settled](Self::settle); `None` unless asked for.
    #[must_use]
    pub fn queues(&self) -> Option<&Queues> {
        self.statistics.queues()
    }
}
