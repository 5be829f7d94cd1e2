//! The joint of routing protocols: what the network reports to a protocol, and what the protocol answers.

use crate::metric::Cost;
use crate::{Action, Control, DropReason, LinkQuality, PacketInfo, ShortestPaths};
use meshpace_keys::{Part, Values};
use meshpace_units::random::Stream;
use meshpace_units::{Instant, NodeId};
use std::fmt::Debug;
use std::sync::Arc;

/// The number by which the simulator's network knows a packet.
pub type Handle = u32;

/// The routing of one node. `P` names a data packet: it comes back in exactly one [`Action::SendData`] or
/// [`Action::Drop`], now or later.
pub trait RoutingProtocol<P>: Debug + Send {
    /// The time to live that a source gives its data packets: by default the one recommended in RFC 1700.
    fn data_ttl(&self) -> u8 {
        64
    }

    /// Finds the way for a data packet that enters the mesh here or arrived for another node.
    ///
    /// # Panics
    /// If the packet is for this node.
    fn route(&mut self, now: Instant, packet: P, info: &PacketInfo, out: &mut Vec<Action<P>>);

    /// Takes in a routing packet heard from neighbour `from`, with the time to live it was sent with. One of a protocol
    /// that this node does not speak changes nothing.
    fn on_control(
        &mut self,
        now: Instant,
        from: NodeId,
        ttl: u8,
        message: &Control,
        out: &mut Vec<Action<P>>,
    ) {
        let _ = (now, from, ttl, message, out);
    }

    /// The MAC gave up `packet` on its way to `next_hop`: data and TCP acknowledgements. By default it ends there.
    fn on_link_failure(
        &mut self,
        now: Instant,
        next_hop: NodeId,
        packet: P,
        info: &PacketInfo,
        out: &mut Vec<Action<P>>,
    ) {
        let _ = (now, next_hop, info);
        out.push(Action::Drop { packet, reason: DropReason::LinkFailure });
    }

    /// True if [`on_link_event`](Self::on_link_event) shall be called.
    fn asks_for_link_events(&self) -> bool {
        false
    }

    /// What the MAC found out about the link to `neighbour` otherwise than by a data packet that it gave up.
    fn on_link_event(&mut self, now: Instant, neighbour: NodeId, event: LinkEvent, out: &mut Vec<Action<P>>) {
        let _ = (now, neighbour, event, out);
    }

    /// When [`handle_timeout`](Self::handle_timeout) is due; `None`: nothing is armed.
    fn poll_timeout(&self) -> Option<Instant> {
        None
    }

    /// Does what is due; too early a call does nothing.
    fn handle_timeout(&mut self, now: Instant, out: &mut Vec<Action<P>>) {
        let _ = (now, out);
    }

    /// Hops to `destination` in the routing table, if it has a route: the `h` of the pacing schemes (schemes.md 1.2).
    fn hops_to(&self, now: Instant, destination: NodeId) -> Option<u32>;

    /// The neighbour a packet for `destination` would go to now.
    fn next_hop(&self, now: Instant, destination: NodeId) -> Option<NodeId>;

    /// Link failures so far that took routes down or started a local repair. Since the MAC also gives up frames on
    /// links that are fine, most of them are false.
    fn route_failures(&self) -> u64 {
        0
    }
}

/// What the MAC found out about a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkEvent {
    /// The neighbour has acknowledged a packet of any kind.
    Acknowledged,
    /// A routing packet for the neighbour was given up.
    ControlGivenUp,
}

/// What a node's routing is made of.
pub struct Site<'a> {
    /// The node.
    pub me: NodeId,
    /// The values of the protocol's keys.
    pub values: &'a Values,
    /// The shortest ways over the mesh as it is at time 0.
    pub paths: &'a Arc<ShortestPaths>,
    /// What using a link costs.
    pub metric: fn(&LinkQuality) -> Cost,
    /// The node's random stream of a name.
    pub stream: &'a dyn Fn(&'static str) -> Stream,
}

/// One way in which a protocol exists.
#[derive(Debug)]
pub struct Profile {
    /// The word that chooses it; `None`: the protocol has no other.
    pub word: Option<&'static str>,
    /// For readers of reports: `AODV as in ns-2`.
    pub title: &'static str,
    /// Makes the routing of a node at time 0.
    pub build: fn(&Site<'_>) -> Box<dyn RoutingProtocol<Handle>>,
}

impl Profile {
    /// The only one of a protocol.
    #[must_use]
    pub const fn only(title: &'static str, build: fn(&Site<'_>) -> Box<dyn RoutingProtocol<Handle>>) -> Self {
        Self { word: None, title, build }
    }
}

/// A routing protocol as it describes itself, and its profiles: the first unless the scenario chooses.
pub type ProtocolPart = Part<&'static [Profile]>;
