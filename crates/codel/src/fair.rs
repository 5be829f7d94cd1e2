//! Queues that flows are hashed into, served in turn by bytes, each kept short by CoDel (RFC 8290): what queue disciplines of this
//! kind have in common, at nodes of the simulated network and at gateways.

use crate::{Config, Fate, Fifo, FlowHash, Turn, Turns};
use alloc::vec::Vec;
use meshpace_units::{Bytes, Instant};

/// Queues without packets that [`FairQueues::forget_idle`] leaves alone.
const IDLE_MAX: usize = 64;

/// The queue of one hash value.
#[derive(Clone, Debug)]
struct Flow<P> {
    queue: Fifo<P>,
    turn: Turn,
    /// When a packet of it left last, as far as it is remembered.
    served: Instant,
}

impl<P> Default for Flow<P> {
    fn default() -> Self {
        Self { queue: Fifo::default(), turn: Turn::default(), served: Instant::ZERO }
    }
}

impl<P> Flow<P> {
    /// Of several flows the one with the most loses a packet.
    fn to_be_cut(&self) -> (Bytes, Instant, Option<Instant>) {
        (self.queue.bytes(), self.served, self.queue.waits_since())
    }
}

/// The queues, and whose turn it is: a flow that has just begun, or that sends little, goes first.
#[derive(Clone, Debug)]
pub struct FairQueues<P> {
    /// Queues that flows are hashed into.
    hashes: u32,
    /// Bytes a queue may send in its turn.
    quantum: u32,
    /// The queues that have been used, sorted by hash value.
    flows: Vec<(u32, Flow<P>)>,
    turns: Turns<u32>,
    len: usize,
    bytes: Bytes,
}

impl<P> FairQueues<P> {
    /// Empty queues, as many as there are hash values; each may send so many bytes in its turn.
    #[must_use]
    pub fn new(hashes: u32, quantum: u32) -> Self {
        Self { hashes, quantum, flows: Vec::new(), turns: Turns::default(), len: 0, bytes: Bytes::ZERO }
    }

    /// Packets that wait.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.len
    }

    /// True if none waits.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Bytes that wait.
    #[must_use]
    pub const fn bytes(&self) -> Bytes {
        self.bytes
    }

    /// Flows that wait for a turn.
    #[must_use]
    pub fn sharing(&self) -> usize {
        self.turns.len()
    }

    /// The next packet, if it is of a flow that has just begun or sends little.
    #[must_use]
    pub fn newcomer(&self) -> Option<&P> {
        let index = self.index(self.turns.newcomer()?)?;
        self.flows[index].1.queue.first()
    }

    fn index(&self, hash: u32) -> Option<usize> {
        self.flows.binary_search_by_key(&hash, |entry| entry.0).ok()
    }

    /// The queue of a flow, if it has been used.
    #[must_use]
    pub fn of(&self, flow: FlowHash) -> Option<&Fifo<P>> {
        self.index(flow.queue(self.hashes)).map(|index| &self.flows[index].1.queue)
    }

    /// Takes out what waits in the queue of a flow, in order; its turn stays.
    pub fn take_of(&mut self, flow: FlowHash) -> Vec<(P, Bytes)> {
        let Some(index) = self.index(flow.queue(self.hashes)) else { return Vec::new() };
        let queue = &mut self.flows[index].1.queue;
        let taken: Vec<(P, Bytes)> = core::iter::from_fn(|| queue.pop_head()).collect();
        self.len -= taken.len();
        self.bytes = self.bytes - taken.iter().map(|(_, size)| *size).sum();
        taken
    }

    /// A packet of a flow is to wait.
    pub fn push(&mut self, now: Instant, flow: FlowHash, size: Bytes, packet: P) {
        let hash = flow.queue(self.hashes);
        let flow = of_hash(&mut self.flows, hash);
        flow.queue.push(now, size, packet);
        self.turns.join(hash, &mut flow.turn, u64::from(self.quantum));
        self.len += 1;
        self.bytes += size;
    }

    /// The packet whose turn it is, and its size. Drops or marks others before it.
    pub fn pop(&mut self, now: Instant, codel: &Config, fate: &mut impl Fate<P>) -> Option<(P, Bytes)> {
        loop {
            let flow = of_hash(&mut self.flows, self.turns.first()?);
            if !self.turns.may_send(&mut flow.turn, u64::from(self.quantum)) {
                continue;
            }
            let (len, bytes) = (flow.queue.len(), flow.queue.bytes());
            let next = flow.queue.dequeue(now, codel, fate);
            match &next {
                Some((_, size)) => {
                    flow.turn.sent(size.0);
                    flow.served = now;
                }
                None => self.turns.has_none(&mut flow.turn),
            }
            self.len -= len - flow.queue.len();
            self.bytes = self.bytes - (bytes - flow.queue.bytes());
            if next.is_some() {
                return next;
            }
        }
    }

    /// The queue with the most bytes, of several the one with the lowest hash value.
    fn longest(&mut self) -> Option<&mut Fifo<P>> {
        let waiting = self.flows.iter_mut().map(|entry| &mut entry.1.queue).filter(|queue| !queue.is_empty());
        waiting.rev().max_by_key(|queue| queue.bytes())
    }

    /// Bytes in the longest queue.
    #[must_use]
    pub fn most_bytes(&self) -> Bytes {
        self.flows.iter().map(|(_, flow)| flow.queue.bytes()).max().unwrap_or_default()
    }

    /// Takes packets out of the longest queue, those that came first: as many as `share` says of how many wait there.
    pub fn cut_longest(&mut self, share: impl FnOnce(usize) -> usize) -> Vec<P> {
        let cut: Vec<(P, Bytes)> = self.longest().map_or_else(Vec::new, |queue| {
            let count = share(queue.len());
            (0..count).map_while(|_| queue.pop_head()).collect()
        });
        self.len -= cut.len();
        self.bytes = self.bytes - cut.iter().map(|(_, size)| *size).sum();
        cut.into_iter().map(|(packet, _)| packet).collect()
    }

    /// Takes the first packet out of the longest queue. Of several queues as long, it takes the one that was served last, and then the
    /// one whose packet came last. So a flow that has got nothing yet, or asks again because its packet was lost, does not lose every
    /// packet.
    pub fn cut_latest_served(&mut self) -> Option<P> {
        let waiting = self.flows.iter_mut().map(|(_, flow)| flow).filter(|flow| !flow.queue.is_empty());
        let longest = waiting.max_by_key(|flow| flow.to_be_cut())?;
        let (packet, size) = longest.queue.pop_head()?;
        self.len -= 1;
        self.bytes = self.bytes - size;
        Some(packet)
    }

    /// Of the queue that [`FairQueues::cut_latest_served`] takes from: how many packets wait, and when one left last, as far as that is remembered.
    #[must_use]
    pub fn latest_served(&self) -> Option<(usize, Instant)> {
        let waiting = self.flows.iter().map(|(_, flow)| flow).filter(|flow| !flow.queue.is_empty());
        waiting.max_by_key(|flow| flow.to_be_cut()).map(|flow| (flow.queue.len(), flow.served))
    }

    /// Forgets the queues in which nothing waits and whose turn is over, where those are many beside the others.
    pub fn forget_idle(&mut self) {
        if self.flows.len() > IDLE_MAX + 2 * self.len {
            self.flows.retain(|(_, flow)| flow.turn.is_listed());
        }
    }

    /// Takes the packets out that are wanted, flow by flow, each flow's in order.
    pub fn take(&mut self, mut wanted: impl FnMut(&P) -> bool) -> Vec<P> {
        let taken: Vec<P> =
            self.flows.iter_mut().flat_map(|(_, flow)| flow.queue.take(&mut wanted)).collect();
        self.len = self.flows.iter().map(|(_, flow)| flow.queue.len()).sum();
        self.bytes = self.flows.iter().map(|(_, flow)| flow.queue.bytes()).sum();
        taken
    }
}

/// The queue of a hash value.
fn of_hash<P>(flows: &mut Vec<(u32, Flow<P>)>, hash: u32) -> &mut Flow<P> {
    let index = match flows.binary_search_by_key(&hash, |entry| entry.0) {
        Ok(index) => index,
        Err(index) => {
            flows.insert(index, (hash, Flow::default()));
            index
        }
    };
    &mut flows[index].1
}
