//! The network, and the loop that drives it.
//!
//! Each other room has its own part of the state, and knows of the rest only what it is given. Here the rooms are
//! joined: the way of a packet from room to room, a file for each step.

mod build;
mod conversations;
mod counting;
mod crossing;
mod forwarding;
mod frames;
mod gateways;
mod hosts_frames;
mod link_layer;
mod movement;
mod noting;
mod paths;
mod relays;
mod reordering;
mod sending;
mod shaping;
#[cfg(test)]
mod tests;
mod wired;

pub use build::RelayFactory;
pub use counting::InterfaceCounts;

use crate::air::{Air, Airs, Movement};
use crate::conversations::Accounts;
use crate::event::{Alarm, Event, EventQueue};
use crate::gateway::Gateways;
use crate::measure::Statistics;
use crate::node::Nodes;
use crate::routing::{AddressBook, Machines, Paths, Radios};
use crate::watch::{NodeState, Watch};
use crate::wired::Wired;
use meshpace_radio::{Action, Aggregates};
use meshpace_relay::packet::{Handle, Host, Packet, Packets, Ticket};
use meshpace_units::{Instant, NodeId, Span};
use reordering::Reordering;
use std::collections::VecDeque;
use std::fmt::Debug;

/// Nodes, air, queues, routing, wired links and gateways of one run.
///
/// `T` names the timers of its user, which happen in one total order with what happens here.
pub struct Network<T> {
    /// The event queue, and with it the time.
    queue: EventQueue<T>,
    /// The channels, with the stations on them.
    airs: Airs,
    /// The nodes that move.
    movement: Option<Movement>,
    /// The mesh nodes and their interfaces.
    nodes: Nodes,
    /// Their routing.
    routing: Machines,
    /// By which of its radios each reaches its neighbours; `None`: each has one.
    radios: Option<Box<Radios>>,
    /// The hosts by address.
    addresses: AddressBook,
    /// Paths that packets may name.
    paths: Paths,
    /// The wired links, and the ways through them.
    wired: Wired,
    /// The nodes between mesh and wired part.
    gateways: Gateways,
    /// Conversations that packets are accounted under.
    accounts: Accounts,
    /// What is noted of packets on their way.
    statistics: Statistics,
    /// All packets under way.
    packets: Packets,
    /// Packets that have come to the host that they are for, until they are fetched.
    arrived: VecDeque<(Host, Handle)>,
    /// Packets that have set out so far: the identity of the latest.
    set_out: u64,
    /// Packets that wait for others that their neighbour sent before.
    reordering: Reordering,
    /// Scratch, to save allocations.
    mac_actions: Vec<Action>,
    dropped: Vec<Handle>,
    in_order: Vec<Handle>,
    /// Packets of an MPDU of several that have been delivered, until the last has.
    together: Vec<Handle>,
}

/// What concerns the network's user.
#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "it is looked at once and never stored")]
pub enum Step<T> {
    /// A packet has come to the host that it is for, to a gateway that is [given out](Network::give_out), or as a [frame](Network::send_frame)
    /// to one that heard it.
    Arrival(Host, Packet),
    /// A packet with this ticket has left the host that it set out from, by its first link, or has been dropped there.
    Left(Ticket),
    /// A timer that was [scheduled](Network::schedule) or [armed](Network::arm).
    Timer(T),
}

impl<T: Copy + Debug> Network<T> {
    /// The time.
    #[inline]
    #[must_use]
    pub fn now(&self) -> Instant {
        self.queue.now()
    }

    /// Lets things happen, up to `end`, until one concerns the network's user; `None` at the end. What it says
    /// has to be dealt with before the next call. `watch` looks on.
    pub fn step(&mut self, end: Instant, watch: &mut (impl Watch + ?Sized)) -> Option<Step<T>> {
        loop {
            if let Some((host, packet)) = self.arrived.pop_front() {
                return Some(Step::Arrival(host, self.packets.take(packet)));
            }
            if let Some(ticket) = self.packets.next_left() {
                return Some(Step::Left(ticket));
            }
            match self.queue.next(end)? {
                Event::Timer(timer) => return Some(Step::Timer(timer)),
                event => self.dispatch(event, watch),
            }
        }
    }

    /// Part of the loop in [`Network::step`]: a call of its own for each event costs as much as what many of them do.
    #[inline(always)]
    fn dispatch(&mut self, event: Event<T>, watch: &mut (impl Watch + ?Sized)) {
        match event {
            Event::FrameEnds { at, from } => self.frame_ends(at, from, watch),
            Event::FarFrameEnds { at, copy } => self.far_frame_ends(at, copy, watch),
            Event::Overheard { at, from } => self.overheard(at, from),
            Event::FarOverheard { at, copy } => self.far_overheard(at, copy),
            Event::Reorder { at, from } => self.reorder_alarm(at, from),
            Event::Relay(at) => self.relay_alarm(at),
            Event::WiredRelay(link) => self.wired_relay_alarm(link),
            Event::Station(at) => self.station_alarm(at, watch),
            Event::NetworkInput { at, packet, from } => self.network_input(at, packet, from),
            Event::SendDown { at, packet } => self.send_down_by(at, packet, Span::ZERO),
            Event::Enqueue { at, packet } => self.enqueue(at, packet),
            Event::Routing(node) => self.routing_alarm(node),
            Event::WiredSent(link) => self.wired_sent(link),
            Event::WiredArrival { link, packet } => self.wired_arrival(link, packet),
            Event::Gateway(gateway) => self.gateway_alarm(gateway),
            Event::Movement => self.nodes_move(),
            Event::Timer(timer) => unreachable!("{timer:?} is not the network's"),
        }
    }

    /// When something happens next, as things stand; a driver by the clock wakes up then.
    #[must_use]
    pub fn next_at(&self) -> Option<Instant> {
        let news = !self.arrived.is_empty() || self.packets.any_left();
        if news { Some(self.now()) } else { self.queue.next_at() }
    }

    /// Time moves on to `to` and nothing happens meanwhile: what is sent now is sent then.
    ///
    /// # Panics
    /// If something happens before.
    pub fn pass(&mut self, to: Instant) {
        self.queue.pass(to);
    }

    /// Schedules a timer. Timers are never cancelled; the user ignores one that no longer applies.
    pub fn schedule(&mut self, at: Instant, timer: T) {
        self.queue.schedule(at, Event::Timer(timer));
    }

    /// Makes sure that a timer fires at a deadline that moves, or earlier: ask [`Alarm::rings`] then.
    pub fn arm(&mut self, alarm: &mut Alarm, deadline: Option<Instant>, timer: T) {
        alarm.arm(deadline, Event::Timer(timer), &mut self.queue);
    }

    /// The hosts by address.
    #[must_use]
    pub fn addresses(&self) -> &AddressBook {
        &self.addresses
    }

    /// Frames on their way to receivers far away.
    #[must_use]
    pub fn far_frames(&self) -> usize {
        self.airs.iter().map(Air::far_frames).sum()
    }

    /// Packets under way. In a network that has come to rest there are none but those that wait for an
    /// [address](Self::unresolved).
    #[must_use]
    pub fn under_way(&self) -> usize {
        self.packets.count()
    }

    /// Shows the mesh nodes to an observer.
    pub fn show_nodes(&self, watch: &mut (impl Watch + ?Sized)) {
        if watch.wants_nodes() {
            for index in 0..self.nodes.count() {
                let node = NodeId::from_index(index);
                let waits = |at| {
                    let (air, station) = self.airs.at(at);
                    self.nodes.interface(at).waiting() + air.station(station).held()
                };
                let waiting = self.airs.of(node).map(waits).sum();
                let route_failures = self.routing.of(node).route_failures();
                let mut aggregates = Aggregates::default();
                for at in self.airs.of(node) {
                    let (air, station) = self.airs.at(at);
                    aggregates += air.station(station).aggregates();
                }
                watch.node(self.now(), index, NodeState { waiting, route_failures, aggregates });
            }
        }
    }
}
