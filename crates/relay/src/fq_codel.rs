//! FQ-CoDel (RFC 8290): a queue a flow, served in turn by bytes, each kept short by CoDel; a flow that has just begun, or
//! that sends little, goes first.
//!
//! Routing packets are no flow: they wait apart and go before all others, as they do in drop-tail. The limit of the queue
//! is the node's, in packets; where it is reached, the longest queue loses its first packet (RFC 8290, section 4.1).

use crate::flow_queues::FlowQueues;
use crate::here::Here;
use crate::packet::{Class, Handle, Packet};
use crate::relay::Relay;
use crate::{QueueConfig, RelayPart};
use meshpace_codel::Config as CodelConfig;
use meshpace_keys::{Key, Values};
use meshpace_radio::Peer;
use meshpace_units::{Bytes, Span};
use std::collections::VecDeque;

/// What it says of itself.
pub static PART: RelayPart = RelayPart::new(
    "fq-codel",
    "A queue a flow, served in turn, each kept short by CoDel, which marks where the transport allows it.",
    "RFC 8290; RFC 8289",
    |values, queue| Box::new(FqCodel::new(FqCodelConfig::from_values(values), queue)),
)
.keys(&[&KEYS]);

static KEYS: [Key; 4] = [
    Key::count(
        "fq_flows",
        (1, 65_536),
        FqCodelConfig::RFC.flows as u64,
        "Queues that flows are hashed into (RFC 8290, section 4.1.1).",
    ),
    Key::count(
        "fq_quantum",
        (64, 65_535),
        FqCodelConfig::RFC.quantum as u64,
        "Bytes a queue may send in its turn: the largest packet (RFC 8290, section 5.2.3).",
    ),
    Key::time(
        "fq_target",
        Span::from_secs(10),
        FqCodelConfig::RFC.target,
        "Standing delay of a queue that is acceptable (RFC 8289, section 4.4).",
    ),
    Key::time(
        "fq_interval",
        Span::from_secs(100),
        FqCodelConfig::RFC.interval,
        "How long it may stand: about the longest round trip (RFC 8289, section 4.3).",
    ),
];

/// The parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FqCodelConfig {
    /// Queues that flows are hashed into.
    pub flows: u32,
    /// Bytes a queue may send in its turn.
    pub quantum: u32,
    /// Standing delay that is acceptable.
    pub target: Span,
    /// How long it may stand.
    pub interval: Span,
}

impl FqCodelConfig {
    /// The RFC's defaults; packets of 1,500 bytes have no link header here.
    pub const RFC: Self =
        Self { flows: 1024, quantum: 1500, target: Span::from_millis(5), interval: Span::from_millis(100) };

    fn from_values(values: &Values) -> Self {
        Self {
            flows: values.count("fq_flows"),
            quantum: values.count("fq_quantum"),
            target: values.span("fq_target"),
            interval: values.span("fq_interval"),
        }
    }
}

/// All queues of one transmitter.
#[derive(Clone, Debug)]
pub struct FqCodel {
    limit: usize,
    routing: VecDeque<Handle>,
    /// Taken out of the queues, and then found not to go into a frame with others.
    next: Option<Handle>,
    flows: FlowQueues,
}

impl FqCodel {
    /// Empty queues.
    #[must_use]
    pub fn new(config: FqCodelConfig, queue: &QueueConfig) -> Self {
        let FqCodelConfig { target, interval, quantum, flows } = config;
        let codel = CodelConfig { target, interval, spared: Bytes(quantum.into()) };
        Self {
            limit: queue.limit.max(1),
            routing: VecDeque::new(),
            next: None,
            flows: FlowQueues::new(flows, quantum, codel, queue),
        }
    }
}

impl Relay for FqCodel {
    fn enqueue(&mut self, here: &mut Here<'_>, packet: Handle) {
        if here.packets.get(packet).class == Class::Control {
            self.routing.push_front(packet);
        } else {
            self.flows.push(here, packet);
        }
        let limit = if here.is_free() { self.limit.max(2) } else { self.limit };
        if self.len() >= limit {
            // The first packet of the longest queue goes, or the last routing packet where there are no others.
            let victim = self.flows.cut_longest(|_| 1).pop().or_else(|| self.routing.pop_back());
            victim.into_iter().for_each(|victim| here.drop(victim));
        }
    }

    fn dequeue(&mut self, here: &mut Here<'_>) -> Option<Handle> {
        self.routing.pop_front().or_else(|| self.next.take()).or_else(|| self.flows.pop(here))
    }

    /// Whose turn it is only taking out tells: CoDel may drop what is before it.
    fn dequeue_to(&mut self, here: &mut Here<'_>, to: Peer, room: Bytes) -> Option<Handle> {
        if self.routing.is_empty() && self.next.is_none() {
            self.next = self.flows.pop(here);
        }
        let head = here.packets.get(self.head(here)?);
        if head.next_hop == Some(to.node) && head.size <= room { self.dequeue(here) } else { None }
    }

    /// Known of routing packets, and of what has been taken out.
    fn head(&self, _here: &Here<'_>) -> Option<Handle> {
        self.routing.front().copied().or(self.next)
    }

    fn purge(&mut self, here: &mut Here<'_>, wanted: &mut dyn FnMut(&Packet) -> bool) {
        let mut keep = |packet: &Handle| {
            let keep = !wanted(here.packets.get(*packet));
            if !keep {
                here.drop(*packet);
            }
            keep
        };
        self.routing.retain(&mut keep);
        self.next = self.next.filter(&mut keep);
        self.flows.purge(here, wanted);
    }

    fn len(&self) -> usize {
        self.routing.len() + usize::from(self.next.is_some()) + self.flows.len()
    }
}
