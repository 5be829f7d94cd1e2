//! A mesh node: its station, relay and routing, and the link layer between them.

mod arp;
mod processing;

pub(crate) use arp::{ArpTable, Resolution};
pub(crate) use processing::Hosts;

use crate::event::Alarm;
use crate::measure::{LinkCounters, Loads};
use meshpace_packet::Handle;
use meshpace_radio::{FrameKind, Station};
use meshpace_relay::{Asks, ExchangeLog, Relay};
use meshpace_routing::RoutingProtocol;

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
    pub routing: Box<dyn RoutingProtocol<Handle>>,
    /// True if routing asks for the MAC's reports of links.
    pub(crate) link_events: bool,
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
