//! A mesh node: its station, relay and routing.

use crate::accounts::Loads;
use crate::arp::ArpTable;
use crate::event::Alarm;
use meshpace_packet::{Class, Handle};
use meshpace_radio::{FrameKind, Station};
use meshpace_relay::{Asks, ExchangeLog, Relay};
use meshpace_routing::Protocol;
use meshpace_units::NodeId;

/// A node of the mesh.
pub struct Node {
    /// Its 802.11 station.
    pub station: Station,
    /// Where packets wait for the station.
    pub relay: Box<dyn Relay>,
    /// When the relay wants to be called.
    pub relay_alarm: Alarm,
    /// What the relay hears of all that the station can read.
    pub listens: Listens,
    /// What the station's exchanges come to, if the relay asks.
    pub exchanges: Option<Box<ExchangeLog>>,
    /// Its routing.
    pub routing: Protocol<Handle>,
    /// When routing wants to be called.
    pub routing_alarm: Alarm,
    /// The addresses of its neighbours, if it has to ask for them.
    pub(crate) arp: Option<ArpTable>,
    /// What happened to the packets for each neighbour.
    pub links: LinkCounters,
    /// What the relay had counted when counting began.
    pub(crate) relay_before: Vec<(&'static str, u64)>,
    /// What it sent, by account.
    pub loads: Loads,
}

impl Node {
    /// What the relay has counted since counting began.
    pub fn relay_counters(&self) -> impl Iterator<Item = (&'static str, u64)> + '_ {
        let before =
            |name| self.relay_before.iter().find(|(known, _)| *known == name).map_or(0, |(_, count)| *count);
        self.relay.counters().into_iter().map(move |(name, count)| (name, count - before(name)))
    }
}

/// The frames that a relay wants to hear.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Listens {
    /// None.
    No,
    /// Data frames for others.
    Data,
    /// All.
    All,
}

impl Listens {
    /// What a relay asks for.
    #[must_use]
    pub fn of(asks: Asks) -> Self {
        match asks {
            Asks { frames: true, .. } => Self::All,
            Asks { data_frames: true, .. } => Self::Data,
            _ => Self::No,
        }
    }

    /// True if it hears frames of this kind that are for others.
    #[must_use]
    pub fn to(self, kind: FrameKind) -> bool {
        self == Self::All || (self == Self::Data && kind == FrameKind::Data)
    }

    /// True if it hears those for this node, too.
    #[must_use]
    pub fn to_all(self) -> bool {
        self == Self::All
    }
}

/// Counters of one directed link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkCount {
    /// Packets with payload that the MAC gave up.
    pub data_drops: u64,
    /// Pure TCP acknowledgements that the MAC gave up.
    pub ack_drops: u64,
    /// All packets that the MAC gave up.
    pub retry_drops: u64,
    /// Packets for this neighbour that found the interface queue full.
    pub queue_drops: u64,
    /// Packets for this neighbour that waited for its address and gave way to a later one, or failed since nobody answered.
    pub arp_drops: u64,
    /// Packets that were acknowledged.
    pub carried: u64,
}

/// Counters by next hop, sorted.
#[derive(Clone, Debug, Default)]
pub struct LinkCounters {
    by_next_hop: Vec<(NodeId, LinkCount)>,
    /// Where the next hop stands that was asked for last: mostly it is asked for again.
    latest: usize,
}

impl LinkCounters {
    /// The counters toward `next_hop`.
    #[inline]
    pub fn toward(&mut self, next_hop: NodeId) -> &mut LinkCount {
        if self.by_next_hop.get(self.latest).is_none_or(|(latest, _)| *latest != next_hop) {
            self.find(next_hop);
        }
        &mut self.by_next_hop[self.latest].1
    }

    #[inline(never)]
    fn find(&mut self, next_hop: NodeId) {
        let found = self.by_next_hop.binary_search_by_key(&next_hop, |entry| entry.0);
        self.latest = found.unwrap_or_else(|place| {
            if self.by_next_hop.len() == self.by_next_hop.capacity() {
                // Every node has such a list, mostly short: doubling would leave half of it empty.
                self.by_next_hop.reserve_exact(2);
            }
            self.by_next_hop.insert(place, (next_hop, LinkCount::default()));
            place
        });
    }

    /// All counters, in order of next hop.
    pub fn iter(&self) -> impl Iterator<Item = (NodeId, LinkCount)> + '_ {
        self.by_next_hop.iter().copied()
    }

    /// Forgets everything counted.
    pub fn reset(&mut self) {
        self.by_next_hop.clear();
    }
}

impl LinkCount {
    /// Counts a packet that the MAC gave up.
    pub fn given_up(&mut self, class: Class) {
        self.retry_drops += 1;
        match class {
            Class::Data => self.data_drops += 1,
            Class::Ack => self.ack_drops += 1,
            Class::Control | Class::Arp => {}
        }
    }
}
