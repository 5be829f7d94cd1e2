//! What a relay may ask of its node, and do to packets.

use crate::packet::{Account, Handle, Host, Packet, Packets, PathId};
use crate::report::Heard;
use meshpace_radio::backoff::Intervals;
use meshpace_radio::{Categories, Category, Mode};
use meshpace_units::{Bytes, Instant, NodeId, Rate, Span};
use std::fmt;
use std::net::IpAddr;

/// The queue that a relay is to be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QueueConfig {
    /// Where it is.
    pub place: QueueSite,
    /// Packets at the most, the one in the MAC or on the wire included, as ns-2.35 counts (schemes.md 17.2).
    pub limit: usize,
    /// The transmitter has [categories](crate::Asks::categories).
    pub categories: bool,
    /// The run's seed, for relays that draw: from streams of their own, named after the relay and the place.
    pub seed: u64,
}

/// Where a queue is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum QueueSite {
    /// Between link layer and MAC of a mesh node.
    Radio {
        /// The node.
        node: NodeId,
        /// True if it is a gateway.
        gateway: bool,
        /// Data rate of its links where no exception applies.
        rate: Rate,
    },
    /// At one end of a wired link.
    Wired {
        /// The end.
        from: Host,
        /// The other end.
        to: Host,
        /// Rate of the link.
        rate: Rate,
    },
}

/// What a relay can learn of its mesh node.
pub trait NodeView {
    /// For how long since time 0 the medium has not been free: sensed busy, reserved, or used by the node itself; the
    /// union, so that no time counts twice ([`meshpace_radio::Station::busy_time`]).
    ///
    /// # Panics
    /// If the relay does not ask for it ([`Asks::busy_time`](crate::Asks)).
    fn busy_time(&mut self) -> Span;

    /// Slot and interframe spaces of its MAC.
    fn intervals(&self) -> Intervals;

    /// Its smallest contention window is 2 to the power of so much, less 1 ([`meshpace_radio::Station::ecw_min`]).
    fn ecw_min(&self) -> u8;

    /// It is to be another one, of 15 at the most, from the next backoff after a success on.
    fn set_ecw_min(&mut self, power: u8);

    /// Bytes around a packet in a data frame.
    fn mac_overhead(&self) -> Bytes;

    /// Whether a packet of this size goes after RTS/CTS.
    fn needs_rts(&self, packet: Bytes) -> bool;

    /// The address of a node of the mesh.
    fn address(&self, node: NodeId) -> IpAddr;

    /// All backoffs that its MAC has drawn since time 0, each as it was drawn.
    fn backoff_drawn(&self) -> Span;

    /// Data rate of the link to a neighbour.
    fn rate_to(&self, neighbour: NodeId) -> Rate;

    /// How data goes over the link to a neighbour.
    fn mode_to(&self, neighbour: NodeId) -> &'static Mode;

    /// Hops to a node of the mesh as the routing table has them.
    fn hops_to(&self, node: NodeId) -> Option<u32>;

    /// Hops left on a path from here on; `None` if it does not pass here.
    fn hops_on(&self, path: PathId) -> Option<u32>;

    /// The neighbour that a packet for a node of the mesh would go to now.
    fn next_hop_to(&self, node: NodeId) -> Option<NodeId>;

    /// The oracle: how many conversations, this one included, are going on now with a node on their way that is, or
    /// hears, one on the way of this one. `None` while it does not go on itself.
    ///
    /// # Panics
    /// If the relay does not ask for it ([`Asks::conversations`](crate::Asks)).
    fn conversations_beside(&self, account: Account) -> Option<u32>;

    /// How many conversations, this one included, the nodes of its way know of: those whose data one of them sent, took or
    /// could hear in the last whole period of three seconds (the time in which LUNAR builds its routes anew; Osipov and
    /// Tschudin 2005, section 4.1). `None` if nothing of this one went in it: no way is known.
    ///
    /// # Panics
    /// If the relay does not ask for it ([`Asks::counted`](crate::Asks)).
    fn conversations_counted(&mut self, account: Account) -> Option<u32>;

    /// The oracle: whether one node senses a carrier while the other sends.
    fn senses(&self, hearer: NodeId, sender: NodeId) -> bool;

    /// The oracle: the max-min share of the air that a conversation has, packets/s, by what went over the mesh's links in the last
    /// epoch and what that took, with each neighbourhood used for `limit` of the time (schemes.md 13, `wcpcap-airtime`). `None`
    /// before an epoch that had something of it is over.
    ///
    /// # Panics
    /// If the relay does not ask for it ([`Asks::shares`](crate::Asks)).
    fn share(&mut self, account: Account, limit: f64) -> Option<f64>;
}

/// The surroundings of one call.
pub struct Here<'a> {
    /// The time.
    pub now: Instant,
    /// The store: what waits can be looked at, marked and rewritten there.
    pub packets: &'a mut Packets,
    takes: Categories,
    node: Option<&'a mut dyn NodeView>,
    dropped: &'a mut Vec<Handle>,
}

impl<'a> Here<'a> {
    /// For one call `now`. `takes` says of which categories the transmitter would take a packet; `node` is `None` at wired links, which
    /// have best effort alone; `dropped` collects what the relay drops, which the driver has to free.
    pub fn new(
        now: Instant,
        packets: &'a mut Packets,
        takes: Categories,
        node: Option<&'a mut dyn NodeView>,
        dropped: &'a mut Vec<Handle>,
    ) -> Self {
        Self { now, packets, takes, node, dropped }
    }

    /// True if the transmitter is free and takes a packet at once, of best effort where there are categories.
    #[must_use]
    pub fn is_free(&self) -> bool {
        self.takes.has(Category::BestEffort)
    }

    /// The categories of which the transmitter takes a packet at once.
    #[must_use]
    pub fn takes(&self) -> Categories {
        self.takes
    }

    /// The mesh node; `None` at a wired link.
    pub fn node(&mut self) -> Option<&mut (dyn NodeView + 'a)> {
        self.node.as_deref_mut()
    }

    /// What was read of a data frame that is being heard: the packets as their sender has them.
    pub fn carried<'b>(&'b self, heard: &'b Heard<'_>) -> impl Iterator<Item = &'b Packet> {
        let was_read = |at: usize| heard.read.is_none_or(|read| read.has(at));
        let packets = heard.frame.packets().iter().enumerate().filter(move |(at, _)| was_read(*at));
        packets.map(|(_, mpdu)| self.packets.get(mpdu.packet.handle))
    }

    /// Drops a packet. It stays in the store until the call is over.
    pub fn drop(&mut self, packet: Handle) {
        self.dropped.push(packet);
    }

    /// Marks a packet instead of dropping it; false if its transport does not react to marks (RFC 3168, section 5).
    #[must_use]
    pub fn mark(&mut self, packet: Handle) -> bool {
        let packet = self.packets.get_mut(packet);
        let marked = packet.ecn.marked();
        packet.ecn = marked.unwrap_or(packet.ecn);
        marked.is_some()
    }
}

impl fmt::Debug for Here<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { now, takes, dropped, .. } = self;
        f.debug_struct("Here")
            .field("now", now)
            .field("takes", takes)
            .field("dropped", dropped)
            .finish_non_exhaustive()
    }
}
