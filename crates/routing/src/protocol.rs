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

    /// The neighbour that a data packet goes on to at once, if nothing else follows from it: neither the state of the protocol nor
    /// its alarm changes. `None`: the network calls [`route`](Self::route).
    fn at_once(&self, info: &PacketInfo) -> Option<NodeId> {
        let _ = info;
        None
    }

    /// A routing packet arrived from neighbour `from` with time to live `ttl`. A packet of another protocol changes
    /// nothing.
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

    /// The MAC gave up `packet`, data or a TCP acknowledgement, on its way to `next_hop`. By default the packet is
    /// dropped.
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

    /// True if the driver is to call [`on_link_event`](Self::on_link_event).
    fn asks_for_link_events(&self) -> bool {
        false
    }

    /// The MAC learnt something about the link to `neighbour`, apart from a data packet that it gave up.
    fn on_link_event(&mut self, now: Instant, neighbour: NodeId, event: LinkEvent, out: &mut Vec<Action<P>>) {
        let _ = (now, neighbour, event, out);
    }

    /// The time at which [`handle_timeout`](Self::handle_timeout) is due; `None`: no timer runs.
    fn poll_timeout(&self) -> Option<Instant> {
        None
    }

    /// Does the work that is due. A call that comes too early does nothing.
    fn handle_timeout(&mut self, now: Instant, out: &mut Vec<Action<P>>) {
        let _ = (now, out);
    }

    /// Hops to `destination` in the routing table, if it has a route: the `h` of the pacing schemes (schemes.md 1.2).
    fn hops_to(&self, now: Instant, destination: NodeId) -> Option<u32>;

    /// The neighbour to which a packet for `destination` would go now; `None`: there is no route.
    fn next_hop(&self, now: Instant, destination: NodeId) -> Option<NodeId>;

    /// The number of link failures so far that took routes down or started a local repair. The MAC also gives up
    /// frames on links that are fine, so most of these failures are false.
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

/// The material from which a node's routing is made.
pub struct Site<'a> {
    /// The node.
    pub me: NodeId,
    /// The values of the protocol's keys.
    pub values: &'a Values,
    /// The shortest ways over the mesh as it is at time 0.
    pub paths: &'a Arc<ShortestPaths>,
    /// The cost of using a link.
    pub metric: fn(&LinkQuality) -> Cost,
    /// Gives the node's random stream of a name.
    pub stream: &'a dyn Fn(&'static str) -> Stream,
}

/// A variant of a protocol.
#[derive(Debug)]
pub struct Profile {
    /// The word that chooses the variant; `None`: the protocol has only this one.
    pub word: Option<&'static str>,
    /// The name of the variant in reports: `AODV as in ns-2`.
    pub title: &'static str,
    /// Makes the routing of a node at time 0.
    pub build: fn(&Site<'_>) -> Box<dyn RoutingProtocol<Handle>>,
}

impl Profile {
    /// The only variant of a protocol.
    #[must_use]
    pub const fn only(title: &'static str, build: fn(&Site<'_>) -> Box<dyn RoutingProtocol<Handle>>) -> Self {
        Self { word: None, title, build }
    }
}

/// A routing protocol as it describes itself, with its variants. The first variant holds unless the scenario
/// chooses another.
pub type ProtocolPart = Part<&'static [Profile]>;
