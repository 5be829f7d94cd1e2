//! Routing packets received by ns-2.35's AODV (ns2-behaviour 5.4, 5.5, 5.8).

use super::table::{State, UNREACHABLE};
use super::{ACTIVE_ROUTE_TIMEOUT, NETWORK_DIAMETER, Ns2Aodv, RELEASE_GAP, purge, tick_after};
use crate::aodv::broadcast_jitter;
use crate::{Action, Recipient, Rerr, Rrep, Rreq};
use meshpace_units::{Instant, NodeId, Span};

/// REV_ROUTE_LIFE (ns2-behaviour 5.1).
const REVERSE_ROUTE_LIFE: Span = Span::from_secs(6);
/// MY_ROUTE_TIMEOUT: lifetime in a destination's own reply (ns2-behaviour 5.1).
const MY_ROUTE_TIMEOUT: Span = Span::from_secs(10);

impl<P> Ns2Aodv<P> {
    pub(super) fn on_rreq(
        &mut self,
        now: Instant,
        from: NodeId,
        ttl: u8,
        rreq: &Rreq,
        out: &mut Vec<Action<P>>,
    ) {
        if rreq.originator == self.me || !self.seen.insert(now, rreq.originator, rreq.id) {
            return;
        }
        let reverse = self.learn_reverse(now, from, rreq, out);
        let asked = rreq.destination_seqno.unwrap_or(0);
        let forward = self.table.position(rreq.destination);
        if rreq.destination == self.me {
            // One more than any number heard of, and even; past the last one it wraps, as 32 bits in ns-2 do.
            let next = self.seqno.max(asked).wrapping_add(1);
            self.seqno = next.wrapping_add(next % 2);
            self.reply(reverse, rreq, 1, self.seqno, MY_ROUTE_TIMEOUT, out);
            return;
        }
        // A route in repair answers too, and so does the upstream node whose route leads through the asker.
        let known = forward.filter(|&at| self.table[at].hops != UNREACHABLE && self.table[at].seqno >= asked);
        if let Some(at) = known {
            let route = &self.table[at];
            let (hops, seqno, next_hop) = (route.hops.saturating_add(1), route.seqno, route.next_hop);
            self.reply(reverse, rreq, hops, seqno, whole_seconds_left(now, route.expires), out);
            let back = self.table[reverse].next_hop;
            self.table[at].add_precursor(back);
            self.table[reverse].add_precursor(next_hop);
        } else if ttl > 1 {
            let newest = forward.map_or(asked, |at| self.table[at].seqno.max(asked));
            let hops = rreq.hops.saturating_add(1);
            let message = Rreq { hops, destination_seqno: Some(newest), ..rreq.clone() }.into();
            let delay = broadcast_jitter(&mut self.jitter);
            out.push(Action::SendControl { message, to: Recipient::Broadcast, ttl: ttl - 1, delay });
        }
    }

    /// Makes or refreshes the route back to the originator, and sends it what waits. Returns the entry's position.
    fn learn_reverse(&mut self, now: Instant, from: NodeId, rreq: &Rreq, out: &mut Vec<Action<P>>) -> usize {
        let at = self.table.obtain(rreq.originator);
        let entry = &mut self.table[at];
        let expires = entry.expires.max(now + REVERSE_ROUTE_LIFE);
        entry.expires = expires;
        if entry.accept(rreq.originator_seqno, rreq.hops, from, expires) {
            if entry.request_until.is_some() {
                entry.search_done(rreq.hops);
                entry.expires = now + ACTIVE_ROUTE_TIMEOUT;
            }
            self.release(now, at, Span::ZERO, Span::ZERO, out);
            self.arm(tick_after(self.table[at].expires));
        }
        at
    }

    fn reply(
        &self,
        reverse: usize,
        rreq: &Rreq,
        hops: u8,
        destination_seqno: u32,
        lifetime: Span,
        out: &mut Vec<Action<P>>,
    ) {
        let reverse = &self.table[reverse];
        if reverse.state == State::Down {
            return;
        }
        let rrep = Rrep {
            originator: rreq.originator,
            destination: rreq.destination,
            destination_seqno,
            hops,
            lifetime,
            request_sent: rreq.sent,
        };
        out.push(Action::SendControl {
            message: rrep.into(),
            to: Recipient::Unicast(reverse.next_hop),
            ttl: NETWORK_DIAMETER,
            delay: Span::ZERO,
        });
    }

    pub(super) fn on_rrep(
        &mut self,
        now: Instant,
        from: NodeId,
        ttl: u8,
        rrep: &Rrep,
        out: &mut Vec<Action<P>>,
    ) {
        let at = self.table.obtain(rrep.destination);
        let entry = &mut self.table[at];
        if !entry.accept(rrep.destination_seqno, rrep.hops, from, now + rrep.lifetime) {
            return;
        }
        entry.search_done(rrep.hops);
        if rrep.originator == self.me {
            entry.add_latency(now.saturating_since(rrep.request_sent) / u64::from(rrep.hops.max(1)));
        }
        self.release(now, at, Span::ZERO, RELEASE_GAP, out);
        self.arm(tick_after(self.table[at].expires));
        if rrep.originator == self.me {
            return;
        }
        let Some(back) =
            self.table.position(rrep.originator).filter(|&at| self.table[at].hops != UNREACHABLE)
        else {
            return;
        };
        let next_hop = self.table[back].next_hop;
        self.table[at].add_precursor(next_hop);
        if ttl > 1 {
            self.table[back].expires = now + ACTIVE_ROUTE_TIMEOUT;
            let message = Rrep { hops: rrep.hops.saturating_add(1), ..rrep.clone() }.into();
            let to = Recipient::Unicast(next_hop);
            out.push(Action::SendControl { message, to, ttl: ttl - 1, delay: Span::ZERO });
        }
    }

    pub(super) fn on_rerr(&mut self, from: NodeId, rerr: &Rerr, out: &mut Vec<Action<P>>) {
        let mut pass_on = Vec::new();
        for &(destination, seqno) in &rerr.unreachable {
            let Some(at) = self.table.position(destination) else { continue };
            let entry = &mut self.table[at];
            if entry.hops == UNREACHABLE || entry.next_hop != from || entry.seqno > seqno {
                continue;
            }
            entry.seqno = seqno;
            entry.take_down();
            out.push(purge(from));
            if !entry.precursors.is_empty() {
                entry.precursors.clear();
                pass_on.push((destination, seqno));
            }
        }
        if !pass_on.is_empty() {
            let delay = broadcast_jitter(&mut self.jitter);
            self.send_error(pass_on, delay, out);
        }
    }
}

/// The lifetime in a relay's reply: what is left of its route, in whole seconds, as an unsigned 32-bit number. A
/// route in repair has expiry 0, so that ns-2 converts a negative difference, which wraps: the requester gets a route
/// that outlives any run until it is first used.
fn whole_seconds_left(now: Instant, expires: Instant) -> Span {
    const SECOND: Span = Span::from_secs(1);
    const WRAP: u64 = 1 << 32;
    let seconds = match expires.checked_since(now) {
        Some(left) => left.whole(SECOND),
        None => (WRAP - (now - expires).whole(SECOND) % WRAP) % WRAP,
    };
    Span::from_secs(seconds)
}
