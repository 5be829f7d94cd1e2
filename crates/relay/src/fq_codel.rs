//! FQ-CoDel (RFC 8290): a queue a flow, served in turn by bytes, each kept short by CoDel; a flow that has just begun, or
//! that sends little, goes first.
//!
//! Routing packets are no flow: they wait apart and go before all others, as they do in drop-tail. The limit of the queue
//! is the node's, in packets; where it is reached, the longest queue loses its first packet (RFC 8290, section 4.1).

use crate::codel::Codel;
use crate::here::Here;
use crate::relay::Relay;
use crate::{QueueConfig, RelayPart};
use meshpace_codel::Config as CodelConfig;
use meshpace_keys::{Key, Values};
use meshpace_packet::{Class, Handle, Packet};
use meshpace_units::{Bytes, Span};
use std::collections::VecDeque;
use std::net::IpAddr;

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

/// The queue of one hash value.
#[derive(Clone, Debug, Default)]
struct Flow {
    queue: Codel,
    /// Bytes that it may still send in its turn; below zero by less than a packet.
    credit: i64,
    /// True while it is on one of the lists.
    listed: bool,
}

/// All queues of one transmitter.
#[derive(Clone, Debug)]
pub struct FqCodel {
    config: FqCodelConfig,
    codel: CodelConfig,
    limit: usize,
    /// Perturbs the hash, so that not the same flows share a queue at every node (RFC 8290, section 4.1.1).
    salt: u64,
    routing: VecDeque<Handle>,
    /// The queues that have been used, sorted by hash value.
    flows: Vec<(u32, Flow)>,
    /// Hash values of the queues that have just begun, and of the others that have something to send.
    new: VecDeque<u32>,
    old: VecDeque<u32>,
    len: usize,
}

impl FqCodel {
    /// Empty queues.
    #[must_use]
    pub fn new(config: FqCodelConfig, queue: &QueueConfig) -> Self {
        let FqCodelConfig { target, interval, quantum, .. } = config;
        Self {
            config,
            codel: CodelConfig { target, interval, spared: Bytes(quantum.into()) },
            limit: queue.limit.max(1),
            salt: fnv(fnv(FNV_OFFSET, &queue.seed.to_le_bytes()), format!("{:?}", queue.place).as_bytes()),
            routing: VecDeque::new(),
            flows: Vec::new(),
            new: VecDeque::new(),
            old: VecDeque::new(),
            len: 0,
        }
    }

    fn flow(&mut self, hash: u32) -> &mut Flow {
        let index = match self.flows.binary_search_by_key(&hash, |entry| entry.0) {
            Ok(index) => index,
            Err(index) => {
                self.flows.insert(index, (hash, Flow::default()));
                index
            }
        };
        &mut self.flows[index].1
    }

    /// The flow's queue: a hash of addresses, ports and protocol.
    fn hash(&self, packet: &Packet) -> u32 {
        let mut hash = self.salt;
        for end in [packet.source_end(), packet.destination_end()] {
            hash = match end.ip() {
                IpAddr::V4(address) => fnv(hash, &address.octets()),
                IpAddr::V6(address) => fnv(hash, &address.octets()),
            };
            hash = fnv(hash, &end.port().to_be_bytes());
        }
        hash = fnv(hash, &[protocol(packet)]);
        // The high bits of a product: the low ones of FNV mix less.
        ((u128::from(hash) * u128::from(self.config.flows)) >> 64) as u32
    }

    /// Makes room where too many wait: the first packet of the longest queue goes, or the last routing packet where there
    /// are no others.
    fn drop_one(&mut self, here: &mut Here<'_>) {
        let longest = self.flows.iter_mut().map(|entry| &mut entry.1).filter(|flow| !flow.queue.is_empty());
        // Of several the one with the lowest hash value.
        let victim = match longest.rev().max_by_key(|flow| flow.queue.bytes()) {
            Some(flow) => flow.queue.pop_head(),
            None => self.routing.pop_back(),
        };
        if let Some(victim) = victim {
            self.len -= 1;
            here.drop(victim);
        }
    }
}

impl Relay for FqCodel {
    fn enqueue(&mut self, here: &mut Here<'_>, packet: Handle) {
        let waiting = here.packets.get(packet);
        if waiting.class == Class::Control {
            self.routing.push_front(packet);
        } else {
            let (hash, quantum) = (self.hash(waiting), i64::from(self.config.quantum));
            let flow = self.flow(hash);
            flow.queue.push(here, packet);
            if !flow.listed {
                (flow.listed, flow.credit) = (true, quantum);
                self.new.push_back(hash);
            }
        }
        self.len += 1;
        let limit = if here.is_free() { self.limit.max(2) } else { self.limit };
        if self.len >= limit {
            self.drop_one(here);
        }
    }

    fn dequeue(&mut self, here: &mut Here<'_>) -> Option<Handle> {
        if let Some(packet) = self.routing.pop_front() {
            self.len -= 1;
            return Some(packet);
        }
        loop {
            let is_new = !self.new.is_empty();
            let list = if is_new { &self.new } else { &self.old };
            let hash = *list.front()?;
            let (quantum, codel) = (i64::from(self.config.quantum), self.codel);
            let flow = self.flow(hash);
            if flow.credit <= 0 {
                flow.credit += quantum;
                self.unlist(is_new);
                self.old.push_back(hash);
                continue;
            }
            let before = flow.queue.len();
            let next = flow.queue.dequeue(here, &codel);
            let gone = before - flow.queue.len();
            match next {
                Some((_, size)) => flow.credit -= size.0 as i64,
                None => flow.listed = is_new,
            }
            self.len -= gone;
            match next {
                Some((packet, _)) => return Some(packet),
                None => {
                    self.unlist(is_new);
                    // A queue that has run empty waits once for its turn among the old ones, lest it be new at once again and
                    // starve them (RFC 8290, section 4.2).
                    if is_new {
                        self.old.push_back(hash);
                    }
                }
            }
        }
    }

    fn purge(&mut self, here: &mut Here<'_>, wanted: &mut dyn FnMut(&Packet) -> bool) {
        self.routing.retain(|packet| {
            let keep = !wanted(here.packets.get(*packet));
            if !keep {
                here.drop(*packet);
            }
            keep
        });
        for (_, flow) in &mut self.flows {
            flow.queue.purge(here, wanted);
        }
        self.len = self.routing.len() + self.flows.iter().map(|(_, flow)| flow.queue.len()).sum::<usize>();
    }

    fn len(&self) -> usize {
        self.len
    }
}

impl FqCodel {
    /// The first queue of a list leaves it.
    fn unlist(&mut self, is_new: bool) {
        let list = if is_new { &mut self.new } else { &mut self.old };
        list.pop_front();
    }
}

/// IANA's protocol number.
fn protocol(packet: &Packet) -> u8 {
    match &packet.body {
        meshpace_packet::Body::Tcp(_) => 6,
        meshpace_packet::Body::Udp(_) => 17,
        meshpace_packet::Body::Opaque(opaque) => opaque.protocol,
        // AODV and DSDV run over UDP.
        meshpace_packet::Body::Control(_) => 17,
        // None: a queue of its own for each pair of nodes.
        meshpace_packet::Body::Arp(_) => 0,
    }
}

const FNV_OFFSET: u64 = 0xcbf2_9ce4_8422_2325;

/// FNV-1a, continued.
fn fnv(hash: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(hash, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3))
}
