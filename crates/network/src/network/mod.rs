//! The network, and the loop that drives it.
//!
//! Each room beside this one has its own part of the state, and knows of the others only what it is told. Here they are
//! joined: what a packet goes through on its way from room to room, a file for each step.

mod build;
mod conversations;
mod counting;
mod crossing;
mod forwarding;
mod frames;
mod gateways;
mod link_layer;
mod movement;
mod noting;
mod paths;
mod relays;
mod sending;
mod wired;

pub use build::RelayFactory;

use crate::air::{Fading, FarFrames, Movement, OnAir, RateTable};
use crate::conversations::Accounts;
use crate::event::{Alarm, Event, EventQueue};
use crate::gateway::Gateways;
use crate::measure::Statistics;
use crate::node::{ArpTable, Hosts, Node};
use crate::routing::{AddressBook, Paths};
use crate::watch::{NodeState, Watch};
use crate::wired::{WiredLink, WiredRoutes};
use meshpace_packet::{Handle, Host, Packet, Packets};
use meshpace_radio::{Action, Hearers, Losses, StationConfig};
use meshpace_routing::Action as RoutingAction;
use meshpace_units::{Instant, NodeId, Span};
use std::collections::VecDeque;
use std::fmt::Debug;

/// Nodes, air, queues, routing, wired links and gateways of one run.
///
/// `T` names the timers of whoever hangs on it, which happen in one total order with what happens here.
pub struct Network<T> {
    /// The event queue, and with it the time.
    queue: EventQueue<T>,
    /// What all stations share.
    config: StationConfig,
    /// The mesh nodes.
    nodes: Vec<Node>,
    /// The frame that each node sent last, for those who receive it.
    on_air: Vec<Option<OnAir>>,
    /// Copies of frames, each with a packet of its own, on their way to receivers far away.
    far: FarFrames,
    /// Who hears whom.
    hearers: Hearers,
    /// Who moves.
    movement: Option<Movement>,
    /// How links' strengths change with time.
    fading: Option<Fading>,
    /// What nodes take to hand on what they have received, if they take any time.
    hosts: Option<Hosts>,
    /// Data rates.
    rates: RateTable,
    /// Links that lose frames.
    losses: Losses,
    /// True if any node's relay listens.
    listening: bool,
    /// All packets under way.
    packets: Packets,
    /// Packets that have come to the host that they are for, until they are fetched.
    arrived: VecDeque<(Host, Packet)>,
    /// Packets that have set out so far: the identity of the latest.
    set_out: u64,
    /// The wired links, each direction by itself.
    wired: Vec<WiredLink>,
    /// The ways through them.
    wired_routes: WiredRoutes,
    /// Who has which address.
    addresses: AddressBook,
    /// The nodes between mesh and wired part.
    gateways: Gateways,
    /// Paths that packets may name.
    paths: Paths,
    /// Conversations that packets are accounted under.
    accounts: Accounts,
    /// What is noted of packets on their way.
    statistics: Statistics,
    /// Frames sent.
    frames: u64,
    /// Routing packets sent since counting began.
    control_packets: u64,
    /// Link failures that routing had noticed when counting began.
    failures_before: u64,
    /// Scratch, to save allocations.
    mac_actions: Vec<Action>,
    dropped: Vec<Handle>,
    routing_actions: Vec<RoutingAction<Handle>>,
}

/// What concerns whoever hangs on the network.
#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "it is looked at once and never stored")]
pub enum Step<T> {
    /// A packet has come to the host that it is for, or to a gateway that is [given out](Network::give_out).
    Arrival(Host, Packet),
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

    /// Lets things happen, up to `end`, until one concerns whoever hangs on the network; `None` at the end. What it says
    /// has to be dealt with before the next call. `watch` looks on.
    pub fn step(&mut self, end: Instant, watch: &mut (impl Watch + ?Sized)) -> Option<Step<T>> {
        loop {
            // A packet is some hundred bytes: it is moved only if there is one.
            if !self.arrived.is_empty() {
                return self.arrived.pop_front().map(|(host, packet)| Step::Arrival(host, packet));
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
            Event::FrameEnds { node, from } => self.frame_ends(node, from, watch),
            Event::FarFrameEnds { node, copy } => self.far_frame_ends(node, copy, watch),
            Event::Overheard { node, from } => self.overheard(node, from),
            Event::FarOverheard { node, copy } => self.far_overheard(node, copy),
            Event::Relay(node) => self.relay_alarm(node),
            Event::WiredRelay(link) => self.wired_relay_alarm(link),
            Event::Station(node) => self.station_alarm(node, watch),
            Event::NetworkInput { node, packet, from } => self.network_input(node, packet, NodeId(from)),
            Event::SendDown { node, packet } => self.send_down(node, packet, Span::ZERO),
            Event::Enqueue { node, packet } => self.enqueue(node, packet),
            Event::Routing(node) => self.routing_alarm(node),
            Event::WiredSent(link) => self.wired_sent(link),
            Event::WiredArrival { link, packet } => self.wired_arrival(link, packet),
            Event::Gateway(gateway) => self.gateway_alarm(gateway),
            Event::Movement => self.nodes_move(),
            Event::Timer(timer) => unreachable!("{timer:?} is not the network's"),
        }
    }

    /// When something happens next, as things stand; whoever drives the network by a clock wakes up then.
    #[must_use]
    pub fn next_at(&self) -> Option<Instant> {
        if self.arrived.is_empty() { self.queue.next_at() } else { Some(self.now()) }
    }

    /// Time moves on to `to` and nothing happens meanwhile: what is sent now is sent then.
    ///
    /// # Panics
    /// If something happens before.
    pub fn pass(&mut self, to: Instant) {
        self.queue.pass(to);
    }

    /// Schedules a timer. Timers are never cancelled; whoever scheduled one that no longer applies ignores it.
    pub fn schedule(&mut self, at: Instant, timer: T) {
        self.queue.schedule(at, Event::Timer(timer));
    }

    /// Makes sure that a timer fires at a deadline that moves, or earlier: ask [`Alarm::rings`] then.
    pub fn arm(&mut self, alarm: &mut Alarm, deadline: Option<Instant>, timer: T) {
        alarm.arm(deadline, Event::Timer(timer), &mut self.queue);
    }

    /// Who has which address.
    #[must_use]
    pub fn addresses(&self) -> &AddressBook {
        &self.addresses
    }

    /// Frames on their way to receivers far away.
    #[must_use]
    pub fn far_frames(&self) -> usize {
        self.far.count()
    }

    /// Packets under way. In a network that has come to rest there are none but those that wait for an
    /// [address](Self::unresolved).
    #[must_use]
    pub fn under_way(&self) -> usize {
        self.packets.count()
    }

    /// Packets that wait for an address: for ever, if nobody answers and no other packet comes.
    #[must_use]
    pub fn unresolved(&self) -> usize {
        self.nodes.iter().filter_map(|node| node.arp.as_ref()).map(ArpTable::waiting).sum()
    }

    /// Shows the mesh nodes to whoever wants to see them.
    pub fn show_nodes(&self, watch: &mut (impl Watch + ?Sized)) {
        if watch.wants_nodes() {
            for (index, node) in self.nodes.iter().enumerate() {
                let waiting = node.relay.len() + node.station.held();
                let route_failures = node.routing.route_failures();
                watch.node(self.now(), index, NodeState { waiting, route_failures });
            }
        }
    }
}
