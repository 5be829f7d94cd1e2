//! AODV after RFC 3561, with link-layer detection and without hellos: what AODV's false route failures cost when its
//! local repair works.
//!
//! Where the RFC leaves a choice:
//! - the originator of a packet that the MAC gave up keeps it and searches (section 6.3: data waiting for a route is
//!   buffered); a relay repairs if the destination was at most MAX_REPAIR_TTL hops away (section 6.12), and only for
//!   the destination of that packet: the other routes over the link go down at once;
//! - packets already in the interface queue stay there: each is delivered or reported by the MAC on its own;
//! - searches after data set the flag G, as TCP needs both directions (section 6.6.3); repairs do not;
//! - the first search at the widest ring is repeated RREQ_RETRIES times (section 6.3), waits doubling;
//! - buffered packets leave together and in order;
//! - no acknowledgement of replies, no blacklist: the links of the mesh are symmetric.

mod messages;
mod rate_limit;
mod search;
mod table;

#[cfg(test)]
mod tests;

use super::seen::SeenRequests;
use crate::action::refusal;
use crate::send_buffer::SendBuffer;
use crate::{Action, Control, DropReason, PacketInfo, Recipient, Rerr, RoutingProtocol};
use meshpace_units::random::Stream;
use meshpace_units::{Instant, NodeId, Span};
use rate_limit::RateLimit;
use search::Search;
use std::fmt::Debug;
use table::Table;

/// RFC 3561, section 10.
const ACTIVE_ROUTE_TIMEOUT: Span = Span::from_secs(3);
/// RFC 3561, section 10.
const NODE_TRAVERSAL_TIME: Span = Span::from_millis(40);
/// RFC 3561, section 10.
const NET_DIAMETER: u8 = 35;
/// 2 * NODE_TRAVERSAL_TIME * NET_DIAMETER (RFC 3561, section 10).
const NET_TRAVERSAL_TIME: Span = Span::from_millis(2800);
/// 2 * NET_TRAVERSAL_TIME: how long requests are remembered (RFC 3561, sections 6.5 and 10).
const PATH_DISCOVERY_TIME: Span = Span::from_millis(5600);
/// 0.3 * NET_DIAMETER, whole hops (RFC 3561, section 10).
const MAX_REPAIR_TTL: u8 = 10;

/// AODV of RFC 3561 on one node.
#[derive(Debug)]
pub struct Rfc3561Aodv<P> {
    me: NodeId,
    seqno: u32,
    next_request: u32,
    table: Table,
    buffer: SendBuffer<P>,
    seen: SeenRequests,
    searches: Vec<Search>,
    requests: RateLimit,
    errors: RateLimit,
    jitter: Stream,
    route_failures: u64,
}

impl<P> Rfc3561Aodv<P> {
    /// Node `me` before it heard or sent anything; `jitter` is its own stream.
    #[must_use]
    pub fn new(me: NodeId, jitter: Stream) -> Self {
        Self {
            me,
            seqno: 0,
            next_request: 0,
            table: Table::new(),
            buffer: SendBuffer::new(),
            seen: SeenRequests::new(PATH_DISCOVERY_TIME),
            searches: Vec::new(),
            requests: RateLimit::new(),
            errors: RateLimit::new(),
            jitter,
            route_failures: 0,
        }
    }

    /// Sends the packet if there is a route, keeps it if one is being searched or may be. Gives it back otherwise.
    fn send_or_hold(
        &mut self,
        now: Instant,
        packet: P,
        info: &PacketInfo,
        out: &mut Vec<Action<P>>,
    ) -> Result<(), P> {
        if let Some(route) = self.table.valid(now, info.destination) {
            let next_hop = route.next_hop;
            self.touch(now, info);
            out.push(Action::SendData { packet, next_hop, delay: Span::ZERO });
            Ok(())
        } else if info.source == self.me {
            self.buffer.push(now, packet, info, out);
            self.search(now, info.destination, out);
            Ok(())
        } else if self.repairs(info.destination) {
            self.buffer.push(now, packet, info, out);
            Ok(())
        } else {
            Err(packet)
        }
    }

    /// A packet keeps the routes to its destination, its source and the next hops to both alive (section 6.2).
    fn touch(&mut self, now: Instant, info: &PacketInfo) {
        let until = now + ACTIVE_ROUTE_TIMEOUT;
        for end in [info.destination, info.source] {
            if let Some(route) = self.table.valid(now, end) {
                route.prolong(until);
                let next_hop = route.next_hop;
                if let Some(neighbour) = self.table.valid(now, next_hop) {
                    neighbour.prolong(until);
                }
            }
        }
    }

    /// To the one neighbour that uses the routes, or to all (section 6.11). Nobody known: to all, since someone
    /// sent the packet.
    fn send_error(
        &mut self,
        now: Instant,
        unreachable: Vec<(NodeId, u32)>,
        to: &[NodeId],
        delay: Span,
        out: &mut Vec<Action<P>>,
    ) {
        self.send_rerr(now, Rerr { unreachable, no_delete: false }, to, delay, out);
    }

    fn send_rerr(&mut self, now: Instant, rerr: Rerr, to: &[NodeId], delay: Span, out: &mut Vec<Action<P>>) {
        if self.errors.admit(now).is_err() {
            return;
        }
        let to = match to {
            [first, rest @ ..] if rest.iter().all(|node| node == first) => Recipient::Unicast(*first),
            _ => Recipient::Broadcast,
        };
        out.push(Action::SendControl { message: rerr.into(), to, ttl: 1, delay });
    }

    /// A route to `destination` has come up: ends its search and sends what waits.
    fn established(&mut self, now: Instant, destination: NodeId, out: &mut Vec<Action<P>>) {
        let search = self.end_search(destination);
        let Some(route) = self.table.valid(now, destination) else { return };
        let next_hop = route.next_hop;
        let longer = search.and_then(|search| search.repairs).is_some_and(|hops| route.hops > hops);
        if longer && !route.precursors.is_empty() {
            // Section 6.12: the sources may look for a better route than the one repaired.
            let to = route.precursors.clone();
            let unreachable = vec![(destination, route.seqno.unwrap_or(0))];
            self.send_rerr(now, Rerr { unreachable, no_delete: true }, &to, Span::ZERO, out);
        }
        while let Some(packet) = self.buffer.pop(now, destination, out) {
            out.push(Action::SendData { packet, next_hop, delay: Span::ZERO });
            if let Some(route) = self.table.valid(now, destination) {
                route.prolong(now + ACTIVE_ROUTE_TIMEOUT);
            }
        }
    }
}

impl<P: Debug + Send> RoutingProtocol<P> for Rfc3561Aodv<P> {
    fn route(&mut self, now: Instant, packet: P, info: &PacketInfo, out: &mut Vec<Action<P>>) {
        if let Some(reason) = refusal(self.me, info) {
            out.push(Action::Drop { packet, reason });
        } else if let Err(packet) = self.send_or_hold(now, packet, info, out) {
            // Section 6.11, case (ii).
            let (mut seqno, mut to) = (None, Vec::new());
            if let Some(route) = self.table.get(now, info.destination) {
                route.count_up();
                seqno = route.seqno;
                to.clone_from(&route.precursors);
            }
            self.send_error(now, vec![(info.destination, seqno.unwrap_or(0))], &to, Span::ZERO, out);
            out.push(Action::Drop { packet, reason: DropReason::NoRoute });
        }
    }

    fn on_control(
        &mut self,
        now: Instant,
        from: NodeId,
        ttl: u8,
        message: &Control,
        out: &mut Vec<Action<P>>,
    ) {
        if let Some(rreq) = message.get() {
            self.on_rreq(now, from, ttl, rreq, out);
        } else if let Some(rrep) = message.get() {
            self.on_rrep(now, from, ttl, rrep, out);
        } else if let Some(rerr) = message.get() {
            self.on_rerr(now, from, rerr, out);
        }
    }

    /// Sections 6.11, case (i), and 6.12.
    fn on_link_failure(
        &mut self,
        now: Instant,
        next_hop: NodeId,
        packet: P,
        info: &PacketInfo,
        out: &mut Vec<Action<P>>,
    ) {
        let (mut unreachable, mut to, mut repairable) = (Vec::new(), Vec::new(), None);
        let mut broken = false;
        for route in self.table.valid_routes(now).filter(|route| route.next_hop == next_hop) {
            broken = true;
            route.invalidate(now);
            if route.destination == info.destination && info.source != self.me && route.hops <= MAX_REPAIR_TTL
            {
                repairable = Some(route.hops);
            } else if !route.precursors.is_empty() {
                unreachable.push((route.destination, route.seqno.unwrap_or(0)));
                to.append(&mut route.precursors);
            }
        }
        self.route_failures += u64::from(broken);
        if let Some(hops) = repairable {
            self.buffer.push(now, packet, info, out);
            self.repair(now, info, hops, out);
        } else if let Err(packet) = self.send_or_hold(now, packet, info, out) {
            out.push(Action::Drop { packet, reason: DropReason::LinkFailure });
        }
        if !unreachable.is_empty() {
            self.send_error(now, unreachable, &to, Span::ZERO, out);
        }
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.searches.iter().map(|search| search.due).min()
    }

    fn handle_timeout(&mut self, now: Instant, out: &mut Vec<Action<P>>) {
        while let Some(at) = self.searches.iter().position(|search| search.due <= now) {
            self.search_timed_out(now, at, out);
        }
    }

    fn hops_to(&self, now: Instant, destination: NodeId) -> Option<u32> {
        self.table.peek(now, destination).map(|route| u32::from(route.hops))
    }

    fn next_hop(&self, now: Instant, destination: NodeId) -> Option<NodeId> {
        self.table.peek(now, destination).map(|route| route.next_hop)
    }

    fn route_failures(&self) -> u64 {
        self.route_failures
    }
}
