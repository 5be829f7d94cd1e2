//! The queues of a node that flows begin at (schemes.md 4, "Queue structure at the source").
//!
//! ```text
//!   routing, address resolution ────────────────────────────┐
//!   a queue for every local flow ── gate ──┐                ▼
//!   a queue for every local flow ── gate ──┼─ in turn ── priority ── MAC
//!   what the node acknowledges ────────────┘                ▲
//!   what it forwards ───────────────────────────────────────┘
//! ```
//!
//! Without gates (`split`) what is forwarded takes its turn like a flow; behind gates (`throttle`) it goes last. A queue drops
//! what does not fit. Where no flow begins there is one queue, [`DropTail`], unless the parts act everywhere.

use crate::here::Here;
use crate::packet::{Account, Body, Class, Handle, Packet, PathId};
use crate::relay::{Asks, Relay};
use crate::report::Report;
use crate::throttle::gate::Passage;
use crate::throttle::{self, Flows, Gate, GateKind, Situation};
use crate::{DropTail, QueueConfig, QueueSite, RelayPart};
use meshpace_keys::{Key, Values};
use meshpace_units::{Bytes, Instant, NodeId, Span};
use std::collections::VecDeque;
use std::net::SocketAddr;

meshpace_keys::words! {
    /// Which nodes have these queues (schemes.md 4: `ot_where`).
    pub enum Nodes {
        /// Those that flows with data begin at.
        Sources = "sources",
        /// All: at relays and destinations too what begins there goes before what is forwarded.
        Everywhere = "everywhere",
    }
}

pub(crate) static WHERE: [Key; 1] = [Key::word(
    "ot_where",
    Nodes::WORDS,
    Nodes::Sources.word(),
    "Nodes with queues of their own for what begins there: those that data begin at, or all.",
)];

/// A queue for every flow that begins here, served in turn.
pub(crate) static PART: RelayPart = RelayPart::new(
    "split",
    "At sources a drop-tail queue for every flow that begins there and one for the rest, served in turn, packet by packet.",
    "schemes.md 4; Osipov and Tschudin 2005, appendix 6.3",
    |values, queue| Box::new(SourceQueues::new(queue, SourceQueues::nodes(values), None)),
)
.keys(&[&WHERE]);

/// Behind gates: ingress throttling.
pub(crate) static THROTTLE: RelayPart = RelayPart::new(
    "throttle",
    "As split, and at a source each flow's packets wait for a delay by path length and number of flows, at a gate that does \
     not conserve work; routing goes before local data, and these before what is forwarded.",
    "schemes.md 4; Osipov and Tschudin 2005",
    |values, queue| Box::new(SourceQueues::new(queue, SourceQueues::nodes(values), Some(throttle::gate(values)))),
)
.keys(&[&throttle::KEYS, &WHERE]);

/// Flows are distinguished by their account, which stands for all of its connections; without an account by the
/// two ends and by whether the flow is TCP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FlowKey {
    Account(Account),
    Ends(SocketAddr, SocketAddr, bool),
}

/// A flow that begins here.
#[derive(Clone, Debug)]
struct LocalFlow {
    key: FlowKey,
    /// In the order in which flows came up; the turn goes by it.
    id: u64,
    waiting: VecDeque<Handle>,
    /// The largest packet so far: its full packets.
    full: Bytes,
    /// Where its latest packet goes, and by which path.
    way: (NodeId, Option<PathId>),
    passage: Passage,
    /// What its bound was reckoned from last, and the bound: the tables are not read for every packet.
    bound: Option<(Situation, Option<f64>)>,
    /// The delay of the packet at the head as of now, or of a full one; `None`: it is not throttled.
    delay: Option<Span>,
    /// As far as the oracle knows.
    goes_on: bool,
    /// Where it stands with a gate that it shares: the end of its latest packet's share.
    share: Span,
}

/// Turns that are no flow's.
const ACKS: u64 = 0;
const FORWARDED: u64 = 1;
const FIRST_FLOW: u64 = 2;

/// All queues of one node.
#[derive(Clone, Debug)]
pub struct SourceQueues {
    /// The mesh node; `None`: a wired link, at which no flow begins.
    node: Option<NodeId>,
    limit: usize,
    /// It has queues of its own for what begins here: always, or since data did.
    source: bool,
    gate: Option<Gate>,
    control: VecDeque<Handle>,
    acks: VecDeque<Handle>,
    flows: Vec<LocalFlow>,
    forwarded: DropTail,
    /// Whose turn it was last.
    last: u64,
    next_id: u64,
    /// The packet in the MAC that is a local flow's, with that flow's id.
    in_mac: Option<(Handle, u64)>,
    /// The gate that all flows share, and where the flow that it let through last stood.
    shared: (Passage, Span),
    /// The time of the latest call.
    now: Instant,
}

impl SourceQueues {
    /// Empty queues; with a `gate` local flows are throttled.
    #[must_use]
    pub fn new(queue: &QueueConfig, nodes: Nodes, gate: Option<Gate>) -> Self {
        let node = match queue.place {
            QueueSite::Radio { node, .. } => Some(node),
            QueueSite::Wired { .. } => None,
        };
        Self {
            node,
            limit: queue.limit.max(1),
            source: nodes == Nodes::Everywhere && node.is_some(),
            gate,
            control: VecDeque::new(),
            acks: VecDeque::new(),
            flows: Vec::new(),
            forwarded: DropTail::new(queue),
            last: ACKS,
            next_id: FIRST_FLOW,
            in_mac: None,
            shared: (Passage::default(), Span::ZERO),
            now: Instant::ZERO,
        }
    }

    /// What `ot_where` says.
    pub(crate) fn nodes(values: &Values) -> Nodes {
        values.word("ot_where")
    }

    /// Places of a queue: as in [`DropTail`], the packet at the transmitter counts, and a free one takes a packet at once.
    fn room(&self, here: &Here<'_>) -> usize {
        (if here.is_free() { self.limit.max(2) } else { self.limit }) - 1
    }

    /// The place of a local flow's queue, made if it is not there. What has no account and nothing to send goes then.
    fn place_of(&mut self, key: FlowKey) -> usize {
        if let Some(place) = self.flows.iter().position(|flow| flow.key == key) {
            return place;
        }
        let (now, kind) = (self.now, self.gate.map(|gate| gate.kind));
        let in_mac = self.in_mac.map(|(_, id)| id);
        self.flows.retain(|flow| {
            let delay = flow.delay.unwrap_or_default();
            let open = |kind| flow.passage.opens(delay, kind).is_some_and(|at| at <= now);
            matches!(flow.key, FlowKey::Account(_))
                || !flow.waiting.is_empty()
                || Some(flow.id) == in_mac
                || !kind.is_none_or(open)
        });
        self.flows.push(LocalFlow {
            key,
            id: self.next_id,
            waiting: VecDeque::new(),
            full: Bytes::ZERO,
            way: (NodeId(0), None),
            passage: Passage::default(),
            bound: None,
            delay: None,
            goes_on: true,
            share: self.shared.1,
        });
        self.next_id += 1;
        self.flows.len() - 1
    }

    fn enqueue_local(&mut self, here: &mut Here<'_>, handle: Handle) {
        let room = self.room(here);
        let packet = here.packets.get(handle);
        let (key, size, way) = (key_of(packet), packet.size, (packet.exit, packet.path));
        let place = self.place_of(key);
        let flow = &mut self.flows[place];
        flow.full = flow.full.max(size);
        flow.way = way;
        if flow.waiting.len() >= room {
            return here.drop(handle);
        }
        let was_empty = flow.waiting.is_empty();
        flow.waiting.push_back(handle);
        if let (true, Some(gate)) = (was_empty, self.gate) {
            flow.passage.arrives_at_empty(here.now, gate.kind);
            if gate.shared && self.flows.iter().map(|flow| flow.waiting.len()).sum::<usize>() == 1 {
                self.shared.0.arrives_at_empty(here.now, gate.kind);
            }
        }
        self.look_at(place, here);
    }

    /// The delay of the packet at the head of a flow's queue, by what is known now.
    fn look_at(&mut self, place: usize, here: &mut Here<'_>) {
        let Some(gate) = self.gate else { return };
        let flow = &mut self.flows[place];
        let size = flow.waiting.front().map_or(flow.full, |head| here.packets.get(*head).size);
        let Some(node) = here.node() else { return };
        let hops = match flow.way {
            (_, Some(path)) => node.hops_on(path),
            (exit, None) => node.hops_to(exit),
        };
        let flows = match (gate.flows, flow.key) {
            (Flows::Told(flows), _) => Some(flows),
            (Flows::Counted, FlowKey::Account(account)) => node.conversations_counted(account),
            (Flows::Oracle, FlowKey::Account(account)) => {
                let beside = node.conversations_beside(account);
                flow.goes_on = beside.is_some();
                if beside.is_none() {
                    return; // what is left of it goes as before
                }
                beside
            }
            (_, FlowKey::Ends(..)) => None,
        };
        let situation = hops.zip(flows).map(|(hops, flows)| Situation { hops, flows, full: flow.full });
        let rate = situation.and_then(|at| match flow.bound {
            Some((known, rate)) if known == at => rate,
            _ => {
                let rate = gate.bound.rate(&at);
                flow.bound = Some((at, rate));
                rate
            }
        });
        // Something is not known: no throttling (schemes.md 4, "Edge cases").
        flow.delay = rate.map(|rate| gate.bound.delay(rate, size));
    }

    fn look_at_all(&mut self, here: &mut Here<'_>) {
        self.now = here.now;
        for place in 0..self.flows.len() {
            self.look_at(place, here);
        }
    }

    /// When a flow's packet may go; `None`: not before the MAC is through with one.
    fn opens(&self, flow: &LocalFlow) -> Option<Instant> {
        let (Some(gate), Some(delay)) = (self.gate, flow.delay) else { return Some(self.now) };
        if gate.shared {
            self.shared.0.opens(self.shared_delay(), gate.kind)
        } else {
            flow.passage.opens(delay, gate.kind)
        }
    }

    /// The delay of a gate that all flows share: their rates together, silent ones' included, but not of those that are over.
    fn shared_delay(&self) -> Span {
        let counts = |flow: &&LocalFlow| flow.goes_on || !flow.waiting.is_empty();
        let delays = self.flows.iter().filter(counts).filter_map(|flow| flow.delay).map(Span::as_secs_f64);
        let rate: f64 = delays.filter(|delay| *delay > 0.0).map(f64::recip).sum();
        if rate > 0.0 { Span::from_secs_f64(rate.recip()) } else { Span::ZERO }
    }

    /// Whose turn it is: of those that may send, the next after the last one.
    fn turn(&self) -> Option<u64> {
        let open =
            |flow: &&LocalFlow| !flow.waiting.is_empty() && self.opens(flow).is_some_and(|at| at <= self.now);
        let flows = || self.flows.iter().filter(open);
        let acks = (!self.acks.is_empty()).then_some(ACKS);
        if self.gate.is_some_and(|gate| gate.shared) {
            // The flow that has had the least of its share goes first.
            return acks.or_else(|| flows().min_by_key(|flow| (flow.share, flow.id)).map(|flow| flow.id));
        }
        let forwarded = (self.gate.is_none() && !self.forwarded.is_empty()).then_some(FORWARDED);
        let candidates = || acks.into_iter().chain(forwarded).chain(flows().map(|flow| flow.id));
        candidates().find(|id| *id > self.last).or_else(|| candidates().next())
    }

    /// The head of a local flow's queue goes to the MAC.
    fn hand_over(&mut self, here: &mut Here<'_>, id: u64) -> Option<Handle> {
        let place = self.flows.iter().position(|flow| flow.id == id)?;
        let shared_delay = self.shared_delay();
        let flow = &mut self.flows[place];
        let head = flow.waiting.pop_front()?;
        if let Some(Gate { kind, shared, .. }) = self.gate {
            flow.passage.handed_over(here.now, kind);
            self.in_mac = Some((head, id));
            if shared {
                self.shared.0.handed_over(here.now, kind);
                // Start-time fair queueing (Goyal, Vin, Cheng 1997): a flow that was silent has no claim on what is past.
                let begins = flow.share.max(self.shared.1);
                flow.share = begins + flow.delay.unwrap_or(shared_delay);
                self.shared.1 = begins;
            }
        }
        self.look_at(place, here);
        Some(head)
    }
}

impl Relay for SourceQueues {
    fn asks(&self) -> Asks {
        let reports = self.gate.is_some_and(|gate| gate.kind == GateKind::Serial);
        let flows = self.gate.map(|gate| gate.flows);
        let (conversations, counted) = (flows == Some(Flows::Oracle), flows == Some(Flows::Counted));
        Asks { reports, conversations, counted, ..Asks::default() }
    }

    fn enqueue(&mut self, here: &mut Here<'_>, handle: Handle) {
        self.now = here.now;
        let packet = here.packets.get(handle);
        let (class, local) = (packet.class, Some(packet.entry) == self.node);
        self.source |= local && class == Class::Data;
        match class {
            _ if !self.source => self.forwarded.enqueue(here, handle),
            Class::Control | Class::Arp => {
                if class == Class::Control {
                    self.control.push_front(handle);
                } else {
                    self.control.push_back(handle);
                }
                if self.control.len() > self.room(here) {
                    let last = self.control.pop_back();
                    last.into_iter().for_each(|last| here.drop(last));
                }
            }
            Class::Data if local => self.enqueue_local(here, handle),
            Class::Ack if local && self.acks.len() < self.room(here) => self.acks.push_back(handle),
            Class::Ack if local => here.drop(handle),
            Class::Data | Class::Ack => self.forwarded.enqueue(here, handle),
        }
    }

    fn dequeue(&mut self, here: &mut Here<'_>) -> Option<Handle> {
        self.now = here.now;
        if let Some(first) = self.control.pop_front() {
            return Some(first);
        }
        // What came before data began here.
        let routing = |head: Handle| here.packets.get(head).class == Class::Control;
        if self.forwarded.head(here).is_some_and(routing) {
            return self.forwarded.dequeue(here);
        }
        self.look_at_all(here);
        let Some(turn) = self.turn() else { return self.forwarded.dequeue(here) };
        self.last = turn;
        match turn {
            ACKS => self.acks.pop_front(),
            FORWARDED => self.forwarded.dequeue(here),
            flow => self.hand_over(here, flow),
        }
    }

    /// Behind gates packets go one by one.
    fn head(&self, here: &Here<'_>) -> Option<Handle> {
        if self.gate.is_some() {
            return None;
        }
        let routing = |head: &Handle| here.packets.get(*head).class == Class::Control;
        let first = self.control.front().copied().or_else(|| self.forwarded.head(here).filter(routing));
        first.or_else(|| match self.turn() {
            Some(ACKS) => self.acks.front().copied(),
            Some(FORWARDED) | None => self.forwarded.head(here),
            Some(flow) => self.flows.iter().find(|it| it.id == flow)?.waiting.front().copied(),
        })
    }

    fn purge(&mut self, here: &mut Here<'_>, wanted: &mut dyn FnMut(&Packet) -> bool) {
        let flows = self.flows.iter_mut().map(|flow| &mut flow.waiting);
        for waiting in [&mut self.control, &mut self.acks].into_iter().chain(flows) {
            waiting.retain(|packet| {
                let keep = !wanted(here.packets.get(*packet));
                if !keep {
                    here.drop(*packet);
                }
                keep
            });
        }
        self.forwarded.purge(here, wanted);
        self.look_at_all(here);
    }

    fn len(&self) -> usize {
        let flows: usize = self.flows.iter().map(|flow| flow.waiting.len()).sum();
        self.control.len() + self.acks.len() + flows + self.forwarded.len()
    }

    fn reported(&mut self, here: &mut Here<'_>, report: &Report) {
        let (Report::Sent(exchange) | Report::GivenUp(exchange), Some(gate)) = (report, self.gate) else {
            return;
        };
        let Some((_, id)) = self.in_mac.take_if(|(packet, _)| *packet == exchange.packet) else { return };
        if let Some(flow) = self.flows.iter_mut().find(|flow| flow.id == id) {
            flow.passage.completed(here.now, gate.kind);
        }
        self.shared.0.completed(here.now, gate.kind);
        self.look_at_all(here);
    }

    fn poll_timeout(&self) -> Option<Instant> {
        let waiting = self.flows.iter().filter(|flow| !flow.waiting.is_empty());
        waiting.filter_map(|flow| self.opens(flow)).filter(|at| *at > self.now).min()
    }

    fn handle_timeout(&mut self, here: &mut Here<'_>) {
        self.look_at_all(here);
    }
}

fn key_of(packet: &Packet) -> FlowKey {
    let tcp = matches!(packet.body, Body::Tcp(_));
    packet
        .account
        .map_or_else(|| FlowKey::Ends(packet.source_end(), packet.destination_end(), tcp), FlowKey::Account)
}
