//! A network for tests: nodes joined by links that lose nothing unless told to, and a record of what happened.

use crate::metric::{METRICS, metric};
use crate::{
    Action, Babel, Control, Cost, DropReason, Handle, Ns2Aodv, PacketInfo, Recipient, Rerr, Rfc3561Aodv,
    RoutingProtocol, Rrep, Rreq, ShortestPaths, Site,
};
use meshpace_keys::{Setting, Values};
use meshpace_units::random::Stream;
use meshpace_units::{Instant, NodeId, Span};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A hop takes a millisecond.
pub(crate) const HOP: Span = Span::from_millis(1);

pub(crate) fn ms(ms: u64) -> Instant {
    Instant::ZERO + Span::from_millis(ms)
}

pub(crate) fn n(index: u32) -> NodeId {
    NodeId(index)
}

/// The routing of a node.
pub(crate) type Node = Box<dyn RoutingProtocol<Handle>>;

pub(crate) fn jitter(node: NodeId) -> Stream {
    Stream::new(1, "routing", u64::from(node.0))
}

/// Babel, its times at their defaults.
pub(crate) fn babel(me: NodeId, paths: &Arc<ShortestPaths>, wired: bool) -> Node {
    let kind = if wired { "wired" } else { "wireless" };
    let text = |word: &str| Setting::Text(word.to_owned());
    let values = Values::new([
        ("babel_type", text(kind)),
        ("babel_hello", Setting::Real(4.0)),
        ("babel_update", Setting::Real(16.0)),
    ]);
    let stream = |name| Stream::new(1, name, u64::from(me.0));
    let metric = metric(METRICS[0].about.word);
    Box::new(Babel::new(&Site { me, values: &values, paths, metric, stream: &stream }))
}

/// Nodes 0..=hops in a line.
pub(crate) fn chain(hops: u32) -> Vec<(u32, u32)> {
    (0..hops).map(|i| (i, i + 1)).collect()
}

/// What happened at a node.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum What {
    Control { message: Control, to: Recipient, ttl: u8, delay: Span },
    Sent { packet: Handle, to: NodeId },
    Delivered { packet: Handle },
    Dropped { packet: Handle, reason: DropReason },
    Purged { next_hop: NodeId },
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Record {
    pub(crate) at: Instant,
    pub(crate) node: NodeId,
    pub(crate) what: What,
}

enum Event {
    Depart { from: NodeId, to: NodeId, packet: Handle },
    Arrive { at: NodeId, packet: Handle },
    Hear { from: NodeId, at: NodeId, ttl: u8, message: Control },
}

pub(crate) struct Network {
    pub(crate) now: Instant,
    nodes: Vec<Node>,
    neighbours: Vec<Vec<NodeId>>,
    events: BTreeMap<(Instant, u64), Event>,
    scheduled: u64,
    packets: Vec<PacketInfo>,
    failing: Vec<(NodeId, NodeId, usize)>,
    /// The share of routing packets that is lost on the way from one to another.
    losing: BTreeMap<(NodeId, NodeId), f64>,
    dice: Stream,
    pub(crate) log: Vec<Record>,
}

impl Network {
    pub(crate) fn new(links: &[(u32, u32)], node: impl Fn(NodeId, &Arc<ShortestPaths>) -> Node) -> Self {
        let count = links.iter().map(|&(a, b)| a.max(b) as usize + 1).max().expect("a network has links");
        Self::with_nodes(count, links, node)
    }

    pub(crate) fn with_nodes(
        count: usize,
        links: &[(u32, u32)],
        node: impl Fn(NodeId, &Arc<ShortestPaths>) -> Node,
    ) -> Self {
        let mut neighbours = vec![Vec::new(); count];
        for &(a, b) in links {
            neighbours[a as usize].push(n(b));
            neighbours[b as usize].push(n(a));
        }
        let paths = Arc::new(ShortestPaths::new(&neighbours, |_, _| Cost::ONE));
        let nodes = (0..count).map(|i| node(NodeId::from_index(i), &paths)).collect();
        Self {
            now: Instant::ZERO,
            nodes,
            neighbours,
            events: BTreeMap::new(),
            scheduled: 0,
            packets: Vec::new(),
            failing: Vec::new(),
            losing: BTreeMap::new(),
            dice: Stream::new(1, "losses", 0),
            log: Vec::new(),
        }
    }

    pub(crate) fn ns2(links: &[(u32, u32)]) -> Self {
        Self::new(links, |me, _| Box::new(Ns2Aodv::new(me, jitter(me))))
    }

    pub(crate) fn rfc3561(links: &[(u32, u32)]) -> Self {
        Self::new(links, |me, _| Box::new(Rfc3561Aodv::new(me, jitter(me))))
    }

    pub(crate) fn node(&self, index: u32) -> &dyn RoutingProtocol<Handle> {
        self.nodes[index as usize].as_ref()
    }

    /// The MAC of `from` will give up the next `count` data packets for `to`, although the link is fine.
    pub(crate) fn fail(&mut self, from: u32, to: u32, count: usize) {
        self.failing.push((n(from), n(to), count));
    }

    /// From now on the link loses this share of routing packets, on the way there.
    pub(crate) fn lose(&mut self, from: u32, to: u32, share: f64) {
        self.losing.insert((n(from), n(to)), share);
    }

    /// The link is gone: data fails for good, routing packets are lost.
    pub(crate) fn cut(&mut self, a: u32, b: u32) {
        for (from, to) in [(a, b), (b, a)] {
            self.neighbours[from as usize].retain(|&node| node != n(to));
        }
    }

    /// The link is back.
    pub(crate) fn join(&mut self, a: u32, b: u32) {
        for (from, to) in [(a, b), (b, a)] {
            self.neighbours[from as usize].push(n(to));
        }
    }

    /// A new packet at `from`; returns its number.
    pub(crate) fn send(&mut self, from: u32, to: u32) -> Handle {
        let packet = self.packets.len() as Handle;
        let ttl = self.node(from).data_ttl();
        self.packets.push(PacketInfo { source: n(from), destination: n(to), travelled: 0, ttl });
        self.call(n(from), |node, now, out, packets| node.route(now, packet, &packets[packet as usize], out));
        packet
    }

    /// Packets from `from` to `to` every `gap`, for `span` from now.
    pub(crate) fn stream(&mut self, from: u32, to: u32, gap: Span, span: Span) -> Vec<Handle> {
        let end = self.now + span;
        let mut sent = Vec::new();
        while self.now < end {
            sent.push(self.send(from, to));
            self.run(self.now + gap);
        }
        sent
    }

    /// Runs to `end`.
    pub(crate) fn run(&mut self, end: Instant) {
        loop {
            let event = self.events.first_key_value().map(|(&(at, _), _)| at);
            let timer = (0..self.nodes.len()).filter_map(|i| Some((self.nodes[i].poll_timeout()?, i))).min();
            match (event, timer) {
                (_, Some((at, node))) if at <= end && event.is_none_or(|event| at <= event) => {
                    assert!(at >= self.now, "{node} asks for {at:?}, now {:?}", self.now);
                    self.now = at;
                    self.call(NodeId::from_index(node), |node, now, out, _| node.handle_timeout(now, out));
                    let again = self.nodes[node].poll_timeout();
                    assert!(again.is_none_or(|again| again > at), "node {node} is not done at {at:?}");
                }
                (Some(at), _) if at <= end => {
                    self.now = at;
                    let (_, event) = self.events.pop_first().expect("just seen");
                    self.handle(event);
                }
                _ => break,
            }
        }
        self.now = end;
    }

    fn handle(&mut self, event: Event) {
        match event {
            Event::Depart { from, to, packet } => {
                self.record(from, What::Sent { packet, to });
                let failing =
                    self.failing.iter_mut().find(|(a, b, count)| (*a, *b) == (from, to) && *count > 0);
                let gone = !self.neighbours[from.index()].contains(&to);
                if failing.is_some() || gone {
                    if let Some((.., count)) = failing {
                        *count -= 1;
                    }
                    self.call(from, |node, now, out, packets| {
                        node.on_link_failure(now, to, packet, &packets[packet as usize], out);
                    });
                } else {
                    self.schedule(self.now + HOP, Event::Arrive { at: to, packet });
                }
            }
            Event::Arrive { at, packet } => {
                let info = &mut self.packets[packet as usize];
                info.travelled += 1;
                if info.destination == at {
                    self.record(at, What::Delivered { packet });
                } else {
                    info.ttl -= 1;
                    self.call(at, |node, now, out, packets| {
                        node.route(now, packet, &packets[packet as usize], out);
                    });
                }
            }
            Event::Hear { from, at, ttl, message } => {
                let lost = self.losing.get(&(from, at)).is_some_and(|share| self.dice.unit() < *share);
                if !lost && self.neighbours[from.index()].contains(&at) {
                    self.call(at, |node, now, out, _| node.on_control(now, from, ttl, &message, out));
                }
            }
        }
    }

    fn call(
        &mut self,
        at: NodeId,
        act: impl FnOnce(&mut dyn RoutingProtocol<Handle>, Instant, &mut Vec<Action<Handle>>, &[PacketInfo]),
    ) {
        let mut out = Vec::new();
        act(self.nodes[at.index()].as_mut(), self.now, &mut out, &self.packets);
        for action in out {
            match action {
                Action::SendData { packet, next_hop, delay } => {
                    self.schedule(self.now + delay, Event::Depart { from: at, to: next_hop, packet });
                }
                Action::SendControl { message, to, ttl, delay } => {
                    let receivers = match to {
                        Recipient::Broadcast => self.neighbours[at.index()].clone(),
                        Recipient::Unicast(next_hop) => vec![next_hop],
                    };
                    for receiver in receivers {
                        let message = message.clone();
                        let hear = Event::Hear { from: at, at: receiver, ttl, message };
                        self.schedule(self.now + delay + HOP, hear);
                    }
                    self.record(at, What::Control { message, to, ttl, delay });
                }
                Action::PurgeQueue { next_hop, .. } => self.record(at, What::Purged { next_hop }),
                Action::Drop { packet, reason } => self.record(at, What::Dropped { packet, reason }),
            }
        }
    }

    fn schedule(&mut self, at: Instant, event: Event) {
        self.events.insert((at, self.scheduled), event);
        self.scheduled += 1;
    }

    fn record(&mut self, node: NodeId, what: What) {
        self.log.push(Record { at: self.now, node, what });
    }

    /// The nodes that sent `packet`, in order.
    pub(crate) fn path(&self, packet: Handle) -> Vec<u32> {
        let sent = |r: &&Record| matches!(r.what, What::Sent { packet: p, .. } if p == packet);
        self.log.iter().filter(sent).map(|r| r.node.0).collect()
    }

    /// When `packet` was delivered.
    pub(crate) fn delivery(&self, packet: Handle) -> Option<Instant> {
        self.log.iter().find(|r| r.what == What::Delivered { packet }).map(|r| r.at)
    }

    /// Why `packet` was dropped.
    pub(crate) fn drop_of(&self, packet: Handle) -> Option<DropReason> {
        self.log.iter().find_map(|r| match r.what {
            What::Dropped { packet: p, reason } if p == packet => Some(reason),
            _ => None,
        })
    }

    /// Times, nodes and times to live of the routing packets of one kind sent from `since` on.
    pub(crate) fn controls(
        &self,
        since: Instant,
        kind: impl Fn(&Control) -> bool,
    ) -> Vec<(Instant, u32, u8)> {
        let of_kind = |r: &Record| match &r.what {
            What::Control { message, ttl, .. } if kind(message) && r.at >= since => {
                Some((r.at, r.node.0, *ttl))
            }
            _ => None,
        };
        self.log.iter().filter_map(of_kind).collect()
    }

    /// The longest time within [from, to] without a delivery at `node`.
    pub(crate) fn longest_silence(&self, node: u32, from: Instant, to: Instant) -> Span {
        let delivered = |r: &&Record| r.node == n(node) && matches!(r.what, What::Delivered { .. });
        let times = self.log.iter().filter(delivered).map(|r| r.at).filter(|at| (from..=to).contains(at));
        let (mut last, mut longest) = (from, Span::ZERO);
        for at in times.chain([to]) {
            longest = longest.max(at - last);
            last = at;
        }
        longest
    }
}

pub(crate) fn is_rreq(message: &Control) -> bool {
    message.is::<Rreq>()
}

pub(crate) fn is_rrep(message: &Control) -> bool {
    message.is::<Rrep>()
}

pub(crate) fn is_rerr(message: &Control) -> bool {
    message.is::<Rerr>()
}
