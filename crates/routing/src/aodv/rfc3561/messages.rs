//! Routing packets received under RFC 3561 (sections 6.5 to 6.7 and 6.11).

use super::table::{Offer, newer};
use super::{ACTIVE_ROUTE_TIMEOUT, NET_DIAMETER, NET_TRAVERSAL_TIME, NODE_TRAVERSAL_TIME, Rfc3561Aodv};
use crate::aodv::broadcast_jitter;
use crate::{Action, Recipient, Rerr, Rrep, Rreq};
use meshpace_units::{Instant, NodeId, Span};

/// 2 * ACTIVE_ROUTE_TIMEOUT: lifetime in a destination's own reply (RFC 3561, section 10).
const MY_ROUTE_TIMEOUT: Span = Span::from_secs(6);

impl<P> Rfc3561Aodv<P> {
    /// Sections 6.5 and 6.6.
    pub(super) fn on_rreq(
        &mut self,
        now: Instant,
        from: NodeId,
        ttl: u8,
        rreq: &Rreq,
        out: &mut Vec<Action<P>>,
    ) {
        if rreq.originator == self.me {
            return;
        }
        self.hear(now, from, rreq.originator, out);
        if !self.seen.insert(now, rreq.originator, rreq.id) {
            return;
        }
        self.learn_reverse(now, from, rreq, out);
        if rreq.destination == self.me {
            if rreq.destination_seqno.is_some_and(|asked| newer(asked, self.seqno)) {
                self.seqno = rreq.destination_seqno.unwrap_or(self.seqno);
            }
            let own = Rrep {
                originator: rreq.originator,
                destination: self.me,
                destination_seqno: self.seqno,
                hops: 1,
                lifetime: MY_ROUTE_TIMEOUT,
                request_sent: rreq.sent,
            };
            self.send_reply(now, own, NET_DIAMETER, out);
        } else if !self.answer_for(now, from, rreq, out) && ttl > 1 {
            let known = self.table.get(now, rreq.destination).and_then(|route| route.seqno);
            let destination_seqno = match (rreq.destination_seqno, known) {
                (Some(asked), Some(own)) => Some(if newer(own, asked) { own } else { asked }),
                (asked, own) => asked.or(own),
            };
            let hops = rreq.hops.saturating_add(1);
            let message = Rreq { hops, destination_seqno, ..rreq.clone() }.into();
            let delay = broadcast_jitter(&mut self.jitter);
            out.push(Action::SendControl { message, to: Recipient::Broadcast, ttl: ttl - 1, delay });
        }
    }

    /// A packet from `from` makes or keeps a route to it (section 6.2), unless the packet says more about it.
    fn hear(&mut self, now: Instant, from: NodeId, told_about: NodeId, out: &mut Vec<Action<P>>) {
        if from == told_about {
            return;
        }
        let expires = now + ACTIVE_ROUTE_TIMEOUT;
        if self.table.accept(now, Offer { destination: from, seqno: None, hops: 1, next_hop: from, expires })
        {
            self.established(now, from, out);
        } else if let Some(route) = self.table.valid(now, from).filter(|route| route.next_hop == from) {
            route.prolong(expires);
        }
    }

    /// The route back to the originator (section 6.5).
    fn learn_reverse(&mut self, now: Instant, from: NodeId, rreq: &Rreq, out: &mut Vec<Action<P>>) {
        let back_and_forth = NODE_TRAVERSAL_TIME * 2 * u64::from(rreq.hops);
        let expires = now + (NET_TRAVERSAL_TIME * 2).saturating_sub(back_and_forth);
        let (destination, seqno) = (rreq.originator, Some(rreq.originator_seqno));
        if self.table.accept(now, Offer { destination, seqno, hops: rreq.hops, next_hop: from, expires }) {
            self.established(now, destination, out);
        } else if let Some(route) = self.table.valid(now, destination) {
            route.prolong(expires);
        }
    }

    /// Answers for the destination if the own route is new enough (section 6.6.2), and tells the destination about
    /// the originator if asked to (section 6.6.3). A route through the asker is no answer.
    fn answer_for(&mut self, now: Instant, from: NodeId, rreq: &Rreq, out: &mut Vec<Action<P>>) -> bool {
        let Some(route) = self.table.valid(now, rreq.destination) else { return false };
        let Some(seqno) = route.seqno.filter(|_| route.seqno_valid) else { return false };
        if rreq.destination_seqno.is_some_and(|asked| newer(asked, seqno)) || route.next_hop == from {
            return false;
        }
        route.add_precursor(from);
        let (forward, hops, lifetime) = (route.next_hop, route.hops.saturating_add(1), route.lifetime(now));
        let answer = Rrep {
            originator: rreq.originator,
            destination: rreq.destination,
            destination_seqno: seqno,
            hops,
            lifetime,
            request_sent: rreq.sent,
        };
        self.send_reply(now, answer, NET_DIAMETER, out);
        let Some(back) = self.table.valid(now, rreq.originator) else { return true };
        back.add_precursor(forward);
        if rreq.gratuitous {
            let told = Rrep {
                originator: rreq.destination,
                destination: rreq.originator,
                destination_seqno: rreq.originator_seqno,
                hops: back.hops.saturating_add(1),
                lifetime: back.lifetime(now),
                request_sent: rreq.sent,
            };
            self.send_reply(now, told, NET_DIAMETER, out);
        }
        true
    }

    /// Sends a reply on toward its originator; silence if the route there is gone. Returns the next hop.
    fn send_reply(&mut self, now: Instant, rrep: Rrep, ttl: u8, out: &mut Vec<Action<P>>) -> Option<NodeId> {
        let back = self.table.valid(now, rrep.originator)?;
        back.prolong(now + ACTIVE_ROUTE_TIMEOUT);
        let next_hop = back.next_hop;
        let to = Recipient::Unicast(next_hop);
        out.push(Action::SendControl { message: rrep.into(), to, ttl, delay: Span::ZERO });
        Some(next_hop)
    }

    /// Section 6.7.
    pub(super) fn on_rrep(
        &mut self,
        now: Instant,
        from: NodeId,
        ttl: u8,
        rrep: &Rrep,
        out: &mut Vec<Action<P>>,
    ) {
        self.hear(now, from, rrep.destination, out);
        if rrep.destination == self.me {
            return;
        }
        let offer = Offer {
            destination: rrep.destination,
            seqno: Some(rrep.destination_seqno),
            hops: rrep.hops,
            next_hop: from,
            expires: now + rrep.lifetime,
        };
        if !self.table.accept(now, offer) {
            return;
        }
        self.established(now, rrep.destination, out);
        if rrep.originator == self.me || ttl <= 1 {
            return;
        }
        let onward = Rrep { hops: rrep.hops.saturating_add(1), ..rrep.clone() };
        if let Some(next_hop) = self.send_reply(now, onward, ttl - 1, out) {
            for node in [rrep.destination, from] {
                if let Some(route) = self.table.get(now, node) {
                    route.add_precursor(next_hop);
                }
            }
        }
    }

    /// Section 6.11, case (iii). With flag N the route stays, and only the news travels (section 6.12).
    pub(super) fn on_rerr(&mut self, now: Instant, from: NodeId, rerr: &Rerr, out: &mut Vec<Action<P>>) {
        let (mut unreachable, mut to) = (Vec::new(), Vec::new());
        for &(destination, seqno) in &rerr.unreachable {
            let Some(route) = self.table.valid(now, destination).filter(|route| route.next_hop == from)
            else {
                continue;
            };
            if !route.precursors.is_empty() {
                unreachable.push((destination, seqno));
                to.extend_from_slice(&route.precursors);
            }
            if !rerr.no_delete {
                route.invalidate_as(now, seqno);
                route.precursors.clear();
            }
        }
        if !unreachable.is_empty() {
            let delay = broadcast_jitter(&mut self.jitter);
            self.send_rerr(now, Rerr { unreachable, no_delete: rerr.no_delete }, &to, delay, out);
        }
    }
}
