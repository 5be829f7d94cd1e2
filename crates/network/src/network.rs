//! The network, and the loop that drives it.
//!
//! Each concern adds its methods in a room of its own: [`crate::routing`] what sets out and how it is forwarded, [`crate::node`] link layer
//! and relays, [`crate::air`] frames, [`crate::wired`] the links, [`crate::gateway`] what crosses between both, [`crate::conversations`] what
//! relays ask of all of them, [`crate::measure`] what is counted.

use crate::air::{Fading, FarFrames, Movement, RateTable};
use crate::conversations::Accounts;
use crate::event::{Alarm, Event, EventQueue};
use crate::gateway::GatewayNode;
use crate::measure::{HopDelays, LostPackets, Queues};
use crate::node::{ArpTable, Hosts, Node};
use crate::routing::{AddressBook, Paths};
use crate::watch::{NodeState, Watch};
use crate::wired::{WiredLink, WiredRoutes};
use meshpace_packet::{Handle, Host, Packet, Packets};
use meshpace_radio::{Action, Frame, Hearers, Losses, StationConfig};
use meshpace_routing::{Action as RoutingAction, ShortestPaths};
use meshpace_units::{Instant, NodeId, Span};
use std::cell::OnceCell;
use std::collections::VecDeque;
use std::fmt::Debug;
use std::sync::Arc;

/// Nodes, air, queues, routing, wired links and gateways of one run.
///
/// `T` names the timers of whoever hangs on it, which happen in one total order with what happens here.
pub struct Network<T> {
    /// The event queue, and with it the time.
    pub(crate) queue: EventQueue<T>,
    /// What all stations share.
    pub(crate) config: StationConfig,
    /// The mesh nodes.
    pub(crate) nodes: Vec<Node>,
    /// The frame that each node sent last, for those who receive it.
    pub(crate) on_air: Vec<Option<Frame>>,
    /// Copies of frames, each with a packet of its own, on their way to receivers far away.
    pub(crate) far: FarFrames,
    /// Who hears whom.
    pub(crate) hearers: Hearers,
    /// Who moves.
    pub(crate) movement: Option<Movement>,
    /// How links' strengths change with time.
    pub(crate) fading: Option<Fading>,
    /// What nodes take to hand on what they have received, if they take any time.
    pub(crate) hosts: Option<Hosts>,
    /// Data rates.
    pub(crate) rates: RateTable,
    /// Links that lose frames.
    pub(crate) losses: Losses,
    /// True if any node's relay listens.
    pub(crate) listening: bool,
    /// All packets under way.
    pub(crate) packets: Packets,
    /// Packets that have come to the host that they are for, until they are fetched.
    pub(crate) arrived: VecDeque<(Host, Packet)>,
    /// Packets that have set out so far: the identity of the latest.
    pub(crate) set_out: u64,
    /// The wired links, each direction by itself.
    pub(crate) wired: Vec<WiredLink>,
    /// The ways through them.
    pub(crate) wired_routes: WiredRoutes,
    /// Who has which address.
    pub(crate) addresses: AddressBook,
    /// The nodes between mesh and wired part, sorted by node.
    pub(crate) gateways: Vec<GatewayNode>,
    /// For every mesh node the index in `gateways` of the gateway between it and the wired part.
    pub(crate) gateway_of: Vec<Option<u32>>,
    /// The same by who hears whom now, if somebody has asked since that changed.
    pub(crate) by_air: OnceCell<Vec<Option<u32>>>,
    /// Paths that packets may name.
    pub(crate) paths: Paths,
    /// Delays over the next hops, if somebody wants them.
    pub(crate) hop_delays: Option<Box<HopDelays>>,
    /// What waits in the nodes' queues, if somebody wants to know.
    pub(crate) queues: Option<Box<Queues>>,
    /// Who could decode whom at the start.
    pub(crate) graph: Arc<ShortestPaths>,
    /// Conversations that packets are accounted under.
    pub(crate) accounts: Accounts,
    /// Nodes whose relays ask for conversations.
    pub(crate) watching_conversations: Vec<u32>,
    /// Packets that went no further.
    pub(crate) lost: LostPackets,
    /// Frames sent.
    pub(crate) frames: u64,
    /// Routing packets sent since counting began.
    pub(crate) control_packets: u64,
    /// Link failures that routing had noticed when counting began.
    pub(crate) failures_before: u64,
    /// Scratch, to save allocations.
    pub(crate) mac_actions: Vec<Action>,
    pub(crate) dropped: Vec<Handle>,
    pub(crate) routing_actions: Vec<RoutingAction<Handle>>,
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
                let waiting = node.relay.len() + usize::from(!node.station.accepts());
                let route_failures = node.routing.route_failures();
                watch.node(self.now(), index, NodeState { waiting, route_failures });
            }
        }
    }
}
