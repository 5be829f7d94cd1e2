//! AODV exactly as in ns-2.35, with what is odd in it: the studies of the field were made with it, and its
//! local-repair defect decides the goodput of long chains (schemes.md 18, items 1-11; ns2-behaviour 5.1-5.10).
//!
//! Two differences are deliberate; no run can show either. A reply toward a requester whose reverse route is down is
//! dropped; ns-2 would address it to node 0. Requests are forgotten after 6 s, not at the next multiple of 6 s.

mod messages;
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
use std::fmt::Debug;
use table::{Entry, State, Table, UNREACHABLE};

/// NETWORK_DIAMETER: time to live of network-wide searches, replies and data (ns2-behaviour 5.1).
const NETWORK_DIAMETER: u8 = 30;
/// Life of a route since it last forwarded a packet (ns2-behaviour 5.1, 5.6).
const ACTIVE_ROUTE_TIMEOUT: Span = Span::from_secs(10);
/// BCAST_ID_SAVE (ns2-behaviour 5.1).
const REQUEST_MEMORY: Span = Span::from_secs(6);
/// Period of the timer that takes expired routes down, in step on all nodes (ns2-behaviour 5.1).
const PURGE_PERIOD: Span = Span::from_millis(500);
/// ARP_DELAY: gap between packets released by a reply (schemes.md 18, item 10).
const RELEASE_GAP: Span = Span::from_millis(10);
/// ns-2 scripts start traffic at 1 s, this engine at 0 (docs/contract.md 3). Absolute time matters in one place only, the
/// delay of the local repair timer (schemes.md 18, item 8); the purge timer's multiples of 0.5 s are the same.
const TRAFFIC_START: Span = Span::from_secs(1);

/// AODV of ns-2.35 on one node.
#[derive(Debug)]
pub struct Ns2Aodv<P> {
    me: NodeId,
    /// Own sequence number: even, 2 at first.
    seqno: u32,
    next_request: u32,
    table: Table,
    buffer: SendBuffer<P>,
    seen: SeenRequests,
    /// Local repair timers and their destinations. Each repair arms one, and none is ever cancelled.
    repair_timers: Vec<(Instant, NodeId)>,
    /// The first multiple of the purge period at which there may be something to do.
    tick: Option<Instant>,
    jitter: Stream,
    route_failures: u64,
}

impl<P> Ns2Aodv<P> {
    /// Node `me` before it heard or sent anything; `jitter` is its own stream.
    #[must_use]
    pub fn new(me: NodeId, jitter: Stream) -> Self {
        Self {
            me,
            seqno: 2,
            next_request: 1,
            table: Table::new(),
            buffer: SendBuffer::new(),
            seen: SeenRequests::new(REQUEST_MEMORY),
            repair_timers: Vec::new(),
            tick: None,
            jitter,
            route_failures: 0,
        }
    }

    /// The neighbour that is supposed to be gone still has its route and answers with what this entry already knows,
    /// so the repair hardly ever succeeds while the link is in fact alive (ns2-behaviour 5.7, "why local repair
    /// stalls"). The timer is armed with the *absolute* time of the search timeout as its delay.
    fn repair(&mut self, now: Instant, at: usize, packet: P, info: &PacketInfo, out: &mut Vec<Action<P>>) {
        self.hold(now, packet, info, out);
        let entry = &mut self.table[at];
        if entry.state != State::InRepair {
            entry.state = State::InRepair;
            self.route_failures += 1;
        }
        self.search(now, at, out);
        let until =
            self.table[at].request_until.expect("a search that is not for a valid route leaves a timeout");
        self.repair_timers.push((now + (until - Instant::ZERO) + TRAFFIC_START, info.destination));
    }

    fn hold(&mut self, now: Instant, packet: P, info: &PacketInfo, out: &mut Vec<Action<P>>) {
        self.buffer.push(now, packet, info, out);
        self.arm(tick_after(now));
    }

    /// Sends what waits for the destination of entry `at`, whose route is up: the first after `delay`, each further
    /// one `gap` later. Returns the delay of the next.
    fn release(
        &mut self,
        now: Instant,
        at: usize,
        mut delay: Span,
        gap: Span,
        out: &mut Vec<Action<P>>,
    ) -> Span {
        let entry = &mut self.table[at];
        while let Some(packet) = self.buffer.pop(now, entry.destination, out) {
            entry.expires = now + ACTIVE_ROUTE_TIMEOUT;
            out.push(Action::SendData { packet, next_hop: entry.next_hop, delay });
            delay += gap;
        }
        delay
    }

    fn send_error(&mut self, unreachable: Vec<(NodeId, u32)>, delay: Span, out: &mut Vec<Action<P>>) {
        let message = Rerr { unreachable, no_delete: false }.into();
        out.push(Action::SendControl { message, to: Recipient::Broadcast, ttl: 1, delay });
    }

    /// The 0.5 s timer: takes expired routes down and presses on with searches for which packets wait
    /// (schemes.md 18, item 5).
    fn purge(&mut self, now: Instant, out: &mut Vec<Action<P>>) {
        let mut delay = Span::ZERO;
        for at in self.table.positions() {
            let entry = &mut self.table[at];
            match entry.state {
                State::Up if entry.expires < now => {
                    self.buffer.give_up(now, entry.destination, out);
                    entry.seqno = entry.seqno.wrapping_add(1);
                    entry.take_down();
                }
                State::Up => delay = self.release(now, at, delay, RELEASE_GAP, out),
                State::Down | State::InRepair => {
                    if self.buffer.holds(entry.destination) {
                        self.search(now, at, out);
                    }
                }
            }
        }
    }

    /// Wakes the purge timer for the earliest tick that can matter. Expiries only move back while a route is in use,
    /// so an early wake-up finds nothing to do and costs one walk of the table every 10 s.
    fn rearm(&mut self, now: Instant) {
        let up = self.table.iter().filter(|entry| entry.state == State::Up);
        let expiry = up.map(|entry| tick_after(entry.expires)).min();
        let waiting = (!self.buffer.is_empty()).then(|| tick_after(now));
        if let Some(tick) = expiry.into_iter().chain(waiting).min() {
            self.arm(tick);
        }
    }

    fn arm(&mut self, tick: Instant) {
        self.tick = Some(self.tick.map_or(tick, |armed| armed.min(tick)));
    }

    /// A route in repair keeps its hops and next hop, but sends nothing.
    fn known(&self, destination: NodeId) -> Option<&Entry> {
        self.table.get(destination).filter(|entry| entry.hops != UNREACHABLE)
    }
}

impl<P: Debug + Send> RoutingProtocol<P> for Ns2Aodv<P> {
    /// NETWORK_DIAMETER (ns2-behaviour 5.1).
    fn data_ttl(&self) -> u8 {
        NETWORK_DIAMETER
    }

    /// ns2-behaviour 5.6 and 5.9.
    fn route(&mut self, now: Instant, packet: P, info: &PacketInfo, out: &mut Vec<Action<P>>) {
        if let Some(reason) = refusal(self.me, info) {
            out.push(Action::Drop { packet, reason });
            return;
        }
        let at = self.table.obtain(info.destination);
        let entry = &mut self.table[at];
        if entry.state == State::Up {
            entry.expires = now + ACTIVE_ROUTE_TIMEOUT;
            out.push(Action::SendData { packet, next_hop: entry.next_hop, delay: Span::ZERO });
        } else if info.source == self.me {
            self.hold(now, packet, info, out);
            self.search(now, at, out);
        } else if entry.state == State::InRepair {
            self.hold(now, packet, info, out);
        } else {
            let unreachable = vec![(entry.destination, entry.seqno)];
            self.send_error(unreachable, Span::ZERO, out);
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
            self.on_rerr(from, rerr, out);
        }
    }

    /// ns2-behaviour 5.7.
    fn on_link_failure(
        &mut self,
        now: Instant,
        next_hop: NodeId,
        packet: P,
        info: &PacketInfo,
        out: &mut Vec<Action<P>>,
    ) {
        let Some(at) = self.table.position(info.destination) else {
            out.push(Action::Drop { packet, reason: DropReason::LinkFailure });
            return;
        };
        if info.travelled > u32::from(self.table[at].hops) {
            self.repair(now, at, packet, info, out);
            return;
        }
        out.push(Action::Drop { packet, reason: DropReason::LinkFailure });
        out.push(purge(next_hop));
        self.seqno = self.seqno.wrapping_add(2);
        let mut unreachable = Vec::new();
        for entry in self.table.iter_mut() {
            if entry.hops != UNREACHABLE && entry.next_hop == next_hop {
                entry.seqno = entry.seqno.wrapping_add(1);
                unreachable.push((entry.destination, entry.seqno));
                entry.take_down();
            }
            entry.precursors.retain(|&p| p != next_hop);
        }
        if !unreachable.is_empty() {
            self.route_failures += 1;
            self.send_error(unreachable, Span::ZERO, out);
        }
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.repair_timers.iter().map(|&(at, _)| at).chain(self.tick).min()
    }

    fn handle_timeout(&mut self, now: Instant, out: &mut Vec<Action<P>>) {
        while let Some(due) = self.poll_timeout().filter(|&due| due <= now) {
            if self.tick == Some(due) {
                self.tick = None;
                self.purge(now, out);
                self.rearm(now);
            } else {
                let at = self
                    .repair_timers
                    .iter()
                    .position(|&(t, _)| t == due)
                    .expect("the earliest is in the list");
                let (_, destination) = self.repair_timers.remove(at);
                // The entry exists: its repair armed the timer.
                if let Some(entry) = self.table.position(destination).map(|at| &mut self.table[at]) {
                    if entry.state != State::Up {
                        entry.take_down();
                    }
                }
            }
        }
    }

    fn hops_to(&self, _: Instant, destination: NodeId) -> Option<u32> {
        self.known(destination).map(|entry| u32::from(entry.hops))
    }

    fn next_hop(&self, _: Instant, destination: NodeId) -> Option<NodeId> {
        self.known(destination).filter(|entry| entry.state == State::Up).map(|entry| entry.next_hop)
    }

    fn route_failures(&self) -> u64 {
        self.route_failures
    }
}

/// Empties the queue for a neighbour. ns-2 queues errors and address resolution under next hop 0, so that a purge for node 0
/// takes them along (ns2-behaviour 4.5).
fn purge<P>(next_hop: NodeId) -> Action<P> {
    Action::PurgeQueue { next_hop, unaddressed: next_hop == NodeId(0) }
}

/// The first multiple of the purge period strictly after `t`.
fn tick_after(t: Instant) -> Instant {
    Instant::ZERO + PURGE_PERIOD * ((t - Instant::ZERO).whole(PURGE_PERIOD) + 1)
}
