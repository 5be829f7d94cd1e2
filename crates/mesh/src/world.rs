//! The simulated world: everything there is in one run, and the loop that drives it.
//!
//! Each concern adds its methods in a module of its own: [`crate::mac`] the air, [`crate::network`] routing and the
//! interface queues, [`crate::wired_part`] the links and the gateways, [`crate::transport`] the endpoints,
//! [`crate::traffic`] the applications, [`crate::measure`] what is counted.

use crate::addresses::AddressBook;
use crate::ends::Directory;
use crate::event::{Alarm, Event, EventQueue};
use crate::far_frames::FarFrames;
use crate::flow::Flow;
use crate::gateway_node::GatewayNode;
use crate::measure::Meter;
use crate::movement::Movement;
use crate::node::Node;
use crate::probe::Probe;
use crate::topology::WiredRoutes;
use crate::wired::WiredLink;
use meshpace_packet::{Handle, Packets};
use meshpace_radio::{Action, Frame, Hearer, StationConfig};
use meshpace_routing::Action as RoutingAction;
use meshpace_units::{Instant, NodeId, Rate};

/// One run's state.
pub struct World<'a> {
    /// The event queue, and with it the time.
    pub queue: EventQueue,
    /// What all stations share.
    pub config: StationConfig,
    /// The mesh nodes.
    pub nodes: Vec<Node>,
    /// The frame that each node sent last, for those who receive it.
    pub on_air: Vec<Option<Frame>>,
    /// Copies of frames, each with a packet of its own, on their way to receivers far away.
    pub far: FarFrames,
    /// Who hears whom.
    pub hearers: Vec<Vec<Hearer>>,
    /// Who moves.
    pub movement: Option<Movement>,
    /// Data rates that differ from the common one.
    pub rates: LinkRates,
    /// Packets in the interface queue at the most, the one in the MAC included.
    pub queue_limit: usize,
    /// All packets under way.
    pub packets: Packets,
    /// The wired links, each direction by itself.
    pub wired: Vec<WiredLink>,
    /// The ways through them.
    pub wired_routes: WiredRoutes,
    /// Packets that have set out so far: the identity of the latest.
    pub set_out: u64,
    /// Who has which address.
    pub addresses: AddressBook,
    /// The nodes between mesh and wired part, sorted by node.
    pub gateways: Vec<GatewayNode>,
    /// For every mesh node the index in `gateways` of the gateway between it and the wired part.
    pub gateway_of: Vec<Option<u32>>,
    /// Whose packets are whose.
    pub directory: Directory,
    /// The flows.
    pub flows: Vec<Flow>,
    /// Deadlines of the connections: sender and receiver of each flow.
    pub connection_alarms: Vec<Alarm>,
    /// What is measured.
    pub meter: Meter,
    /// Who watches.
    pub probe: &'a mut dyn Probe,
    /// Frames sent.
    pub frames: u64,
    /// Routing packets sent in the measured interval.
    pub control_packets: u64,
    /// Link failures that routing had noticed when the measured interval began.
    pub failures_before: u64,
    /// Scratch, to save allocations.
    pub(crate) mac_actions: Vec<Action>,
    pub(crate) routing_actions: Vec<RoutingAction<Handle>>,
}

/// Data rates of links.
pub struct LinkRates {
    /// Where no exception applies.
    pub common: Rate,
    /// `(from, to, rate)`, sorted; `to` is `None` for a rate of all links of a node.
    pub exceptions: Vec<(NodeId, Option<NodeId>, Rate)>,
}

impl LinkRates {
    /// The rate of data from one node to another: the link's, else the node's, else the common one.
    pub fn between(&self, from: NodeId, to: NodeId) -> Rate {
        if self.exceptions.is_empty() {
            return self.common;
        }
        let find = |to| {
            let found = self.exceptions.binary_search_by_key(&(from, to), |entry| (entry.0, entry.1));
            found.ok().map(|index| self.exceptions[index].2)
        };
        find(Some(to)).or_else(|| find(None)).unwrap_or(self.common)
    }
}

impl World<'_> {
    /// The time.
    pub fn now(&self) -> Instant {
        self.queue.now()
    }

    /// Handles events up to `end`, or until the measurement has all that it wants.
    pub fn run(&mut self, end: Instant) {
        while let Some(event) = self.queue.next(end) {
            self.dispatch(event);
            if self.meter.is_complete() {
                break;
            }
        }
    }

    fn dispatch(&mut self, event: Event) {
        match event {
            Event::FrameEnds { node, from } => self.frame_ends(node, from),
            Event::FarFrameEnds { node, copy } => self.far_frame_ends(node, copy),
            Event::Station(node) => self.station_alarm(node),
            Event::NetworkInput { node, packet, from } => self.network_input(node, packet, NodeId(from)),
            Event::Enqueue { node, packet } => self.enqueue(node, packet),
            Event::Routing(node) => self.routing_alarm(node),
            Event::WiredSent(link) => self.wired_sent(link),
            Event::WiredArrival { link, packet } => self.wired_arrival(link, packet),
            Event::Connection(index) => self.connection_alarm(index),
            Event::Application(flow) => self.application(flow),
            Event::Gateway(gateway) => self.gateway_alarm(gateway),
            Event::Sample => self.sample(),
            Event::MeasurementBegins => self.measurement_begins(),
            Event::WindowEnds(window) => self.window_ends(window),
            Event::Movement => self.nodes_move(),
        }
    }
}
