//! Queues that flows are hashed into, served in turn by bytes, each kept short by CoDel (RFC 8290): what queue disciplines of this
//! kind have in common.

use crate::QueueConfig;
use crate::codel::Codel;
use crate::here::Here;
use meshpace_codel::Config as CodelConfig;
use meshpace_packet::{Body, Handle, Packet};
use meshpace_units::Bytes;
use std::collections::VecDeque;
use std::net::IpAddr;

/// The queue of one hash value.
#[derive(Clone, Debug, Default)]
struct Flow {
    queue: Codel,
    /// Bytes that it may still send in its turn; below zero by less than a packet.
    credit: i64,
    /// True while it is on one of the lists.
    listed: bool,
}

/// The queues, and whose turn it is: a flow that has just begun, or that sends little, goes first.
#[derive(Clone, Debug)]
pub(crate) struct FlowQueues {
    /// Queues that flows are hashed into.
    hashes: u32,
    /// Bytes a queue may send in its turn.
    quantum: u32,
    codel: CodelConfig,
    /// Perturbs the hash, so that not the same flows share a queue at every node (RFC 8290, section 4.1.1).
    salt: u64,
    /// The queues that have been used, sorted by hash value.
    flows: Vec<(u32, Flow)>,
    /// Hash values of the queues that have just begun, and of the others that have something to send.
    new: VecDeque<u32>,
    old: VecDeque<u32>,
    len: usize,
}

impl FlowQueues {
    /// Empty queues, as many as there are hash values.
    pub(crate) fn new(hashes: u32, quantum: u32, codel: CodelConfig, queue: &QueueConfig) -> Self {
        let salt = fnv(fnv(FNV_OFFSET, &queue.seed.to_le_bytes()), format!("{:?}", queue.place).as_bytes());
        let (flows, new, old) = (Vec::new(), VecDeque::new(), VecDeque::new());
        Self { hashes, quantum, codel, salt, flows, new, old, len: 0 }
    }

    /// Packets that wait.
    pub(crate) fn len(&self) -> usize {
        self.len
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
        ((u128::from(hash) * u128::from(self.hashes)) >> 64) as u32
    }

    /// A packet is to wait.
    pub(crate) fn push(&mut self, here: &Here<'_>, packet: Handle) {
        let (hash, quantum) = (self.hash(here.packets.get(packet)), i64::from(self.quantum));
        let flow = self.flow(hash);
        flow.queue.push(here, packet);
        if !flow.listed {
            (flow.listed, flow.credit) = (true, quantum);
            self.new.push_back(hash);
        }
        self.len += 1;
    }

    /// The packet whose turn it is. Drops or marks others before it.
    pub(crate) fn pop(&mut self, here: &mut Here<'_>) -> Option<Handle> {
        loop {
            let is_new = !self.new.is_empty();
            let list = if is_new { &self.new } else { &self.old };
            let hash = *list.front()?;
            let (quantum, codel) = (i64::from(self.quantum), self.codel);
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

    /// The first queue of a list leaves it.
    fn unlist(&mut self, is_new: bool) {
        let list = if is_new { &mut self.new } else { &mut self.old };
        list.pop_front();
    }

    /// The queue with the most bytes, of several the one with the lowest hash value.
    fn longest(&mut self) -> Option<&mut Codel> {
        let waiting = self.flows.iter_mut().map(|entry| &mut entry.1.queue).filter(|queue| !queue.is_empty());
        waiting.rev().max_by_key(|queue| queue.bytes())
    }

    /// Bytes in the longest queue.
    pub(crate) fn most_bytes(&self) -> Bytes {
        self.flows.iter().map(|(_, flow)| flow.queue.bytes()).max().unwrap_or_default()
    }

    /// Takes packets out of the longest queue, those that came first: as many as `share` says of how many wait there.
    pub(crate) fn cut_longest(&mut self, share: impl FnOnce(usize) -> usize) -> Vec<Handle> {
        let cut: Vec<_> = self.longest().map_or_else(Vec::new, |queue| {
            let count = share(queue.len());
            (0..count).map_while(|_| queue.pop_head()).collect()
        });
        self.len -= cut.len();
        cut
    }

    /// Drops the packets that are wanted.
    pub(crate) fn purge(&mut self, here: &mut Here<'_>, wanted: &mut dyn FnMut(&Packet) -> bool) {
        for (_, flow) in &mut self.flows {
            flow.queue.purge(here, wanted);
        }
        self.len = self.flows.iter().map(|(_, flow)| flow.queue.len()).sum();
    }
}

/// IANA's protocol number.
fn protocol(packet: &Packet) -> u8 {
    match &packet.body {
        Body::Tcp(_) => 6,
        Body::Udp(_) => 17,
        Body::Opaque(opaque) => opaque.protocol,
        Body::Ethernet(frame) => frame.protocol,
        // AODV and DSDV run over UDP.
        Body::Control(_) => 17,
        // None: a queue of its own for each pair of nodes.
        Body::Arp(_) => 0,
    }
}

const FNV_OFFSET: u64 = 0xcbf2_9ce4_8422_2325;

/// FNV-1a, continued.
fn fnv(hash: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(hash, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3))
}
