//! One interface over all protocols.

use crate::{
    Action, Control, DropReason, Dsdv, DsdvConfig, Ns2Aodv, PacketInfo, Rfc3561Aodv, ShortestPaths,
    StaticRoutes,
};
use meshpace_random::Stream;
use meshpace_units::{Instant, NodeId};
use std::sync::Arc;

/// The routing of one node.
#[derive(Debug)]
pub enum Protocol<P> {
    /// Routes that never change.
    Static(StaticRoutes),
    /// AODV as in ns-2.35.
    AodvNs2(Ns2Aodv<P>),
    /// AODV after RFC 3561.
    AodvRfc3561(Rfc3561Aodv<P>),
    /// DSDV as in ns-2.35.
    Dsdv(Dsdv<P>),
}

impl<P> Protocol<P> {
    /// Static routes for node `me`.
    #[must_use]
    pub fn static_routes(me: NodeId, paths: Arc<ShortestPaths>) -> Self {
        Self::Static(StaticRoutes::new(me, paths))
    }

    /// AODV, profile `ns2`, knowing nothing yet.
    #[must_use]
    pub fn aodv_ns2(me: NodeId, jitter: Stream) -> Self {
        Self::AodvNs2(Ns2Aodv::new(me, jitter))
    }

    /// AODV, profile `rfc3561`, knowing nothing yet.
    #[must_use]
    pub fn aodv_rfc3561(me: NodeId, jitter: Stream) -> Self {
        Self::AodvRfc3561(Rfc3561Aodv::new(me, jitter))
    }

    /// DSDV; with `converged`, as after many dumps over that graph, otherwise knowing nothing yet.
    #[must_use]
    pub fn dsdv(me: NodeId, config: DsdvConfig, converged: Option<&ShortestPaths>, jitter: Stream) -> Self {
        Self::Dsdv(match converged {
            Some(paths) => Dsdv::converged(me, config, paths, jitter),
            None => Dsdv::new(me, config, jitter),
        })
    }

    /// The time to live that a source gives its data packets: 30 for AODV and 32 for DSDV as in ns-2.35, 64 for the
    /// RFC profile (the recommended default of RFC 1700), 255 for static routes, which cannot loop.
    #[must_use]
    pub const fn data_ttl(&self) -> u8 {
        match self {
            Self::Static(_) => 255,
            Self::AodvNs2(_) => 30,
            Self::AodvRfc3561(_) => 64,
            Self::Dsdv(_) => 32,
        }
    }

    /// Finds the way for a data packet that enters the mesh here or arrived for another node.
    ///
    /// # Panics
    /// If the packet is for this node.
    pub fn route(&mut self, now: Instant, packet: P, info: &PacketInfo, out: &mut Vec<Action<P>>) {
        match self {
            Self::Static(it) => it.route(packet, info, out),
            Self::AodvNs2(it) => it.route(now, packet, info, out),
            Self::AodvRfc3561(it) => it.route(now, packet, info, out),
            Self::Dsdv(it) => it.route(now, packet, info, out),
        }
    }

    /// Takes in a routing packet heard from neighbour `from`, with the time to live it was sent with.
    pub fn on_control(
        &mut self,
        now: Instant,
        from: NodeId,
        ttl: u8,
        message: &Control,
        out: &mut Vec<Action<P>>,
    ) {
        match (self, message) {
            (Self::AodvNs2(it), Control::Rreq(rreq)) => it.on_rreq(now, from, ttl, rreq, out),
            (Self::AodvNs2(it), Control::Rrep(rrep)) => it.on_rrep(now, from, ttl, rrep, out),
            (Self::AodvNs2(it), Control::Rerr(rerr)) => it.on_rerr(from, rerr, out),
            (Self::AodvRfc3561(it), Control::Rreq(rreq)) => it.on_rreq(now, from, ttl, rreq, out),
            (Self::AodvRfc3561(it), Control::Rrep(rrep)) => it.on_rrep(now, from, ttl, rrep, out),
            (Self::AodvRfc3561(it), Control::Rerr(rerr)) => it.on_rerr(now, from, rerr, out),
            (Self::Dsdv(it), Control::DsdvUpdate(update)) => it.on_update(now, from, update, out),
            // A packet of a protocol that this node does not speak.
            _ => {}
        }
    }

    /// The MAC gave up `packet` on its way to `next_hop`: data and TCP acknowledgements, not routing packets, which
    /// the driver just drops.
    pub fn on_link_failure(
        &mut self,
        now: Instant,
        next_hop: NodeId,
        packet: P,
        info: &PacketInfo,
        out: &mut Vec<Action<P>>,
    ) {
        match self {
            Self::Static(_) => out.push(Action::Drop { packet, reason: DropReason::LinkFailure }),
            Self::AodvNs2(it) => it.on_link_failure(now, next_hop, packet, info, out),
            Self::AodvRfc3561(it) => it.on_link_failure(now, next_hop, packet, info, out),
            Self::Dsdv(it) => it.on_link_failure(now, next_hop, packet, info, out),
        }
    }

    /// When [`handle_timeout`](Self::handle_timeout) is due; `None`: nothing is armed.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Instant> {
        match self {
            Self::Static(_) => None,
            Self::AodvNs2(it) => it.poll_timeout(),
            Self::AodvRfc3561(it) => it.poll_timeout(),
            Self::Dsdv(it) => it.poll_timeout(),
        }
    }

    /// Does what is due; too early a call does nothing.
    pub fn handle_timeout(&mut self, now: Instant, out: &mut Vec<Action<P>>) {
        match self {
            Self::Static(_) => {}
            Self::AodvNs2(it) => it.handle_timeout(now, out),
            Self::AodvRfc3561(it) => it.handle_timeout(now, out),
            Self::Dsdv(it) => it.handle_timeout(now, out),
        }
    }

    /// Hops to `destination` in the routing table, if it has a route: the `h` of the pacing schemes (schemes.md 1.2).
    #[must_use]
    pub fn hops_to(&self, now: Instant, destination: NodeId) -> Option<u32> {
        match self {
            Self::Static(it) => it.hops_to(destination),
            Self::AodvNs2(it) => it.hops_to(destination),
            Self::AodvRfc3561(it) => it.hops_to(now, destination),
            Self::Dsdv(it) => it.hops_to(destination),
        }
    }

    /// The neighbour a packet for `destination` would go to now.
    #[must_use]
    pub fn next_hop(&self, now: Instant, destination: NodeId) -> Option<NodeId> {
        match self {
            Self::Static(it) => it.next_hop(destination),
            Self::AodvNs2(it) => it.next_hop(destination),
            Self::AodvRfc3561(it) => it.next_hop(now, destination),
            Self::Dsdv(it) => it.next_hop(destination),
        }
    }

    /// Link failures so far that took routes down or started a local repair. Since the MAC also gives up frames on
    /// links that are fine, most of them are false.
    #[must_use]
    pub const fn route_failures(&self) -> u64 {
        match self {
            Self::Static(_) => 0,
            Self::AodvNs2(it) => it.route_failures(),
            Self::AodvRfc3561(it) => it.route_failures(),
            Self::Dsdv(it) => it.route_failures(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_that_takes_part_in_nothing_is_small() {
        assert!(size_of::<Protocol<u64>>() <= 320, "{} bytes", size_of::<Protocol<u64>>());
    }
}
