//! Fair queues of the simulated network under CoDel (RFC 8290); turns and law are `meshpace_codel`'s.

use crate::QueueConfig;
use crate::here::Here;
use crate::packet::{Handle, Packet};
use meshpace_codel::{Config as CodelConfig, FairQueues, Fate, FlowHash, salt};
use meshpace_units::Bytes;

/// At a node or a wired link packets are marked in the store, and dropped by its driver.
impl Fate<Handle> for Here<'_> {
    fn mark(&mut self, packet: &mut Handle) -> bool {
        Here::mark(self, *packet)
    }

    fn drop(&mut self, packet: Handle) {
        Here::drop(self, packet);
    }
}

/// The queues that flows are hashed into.
#[derive(Clone, Debug)]
pub(crate) struct FlowQueues {
    codel: CodelConfig,
    /// Perturbs the hash, so that not the same flows share a queue at every node (RFC 8290, section 4.1.1).
    salt: u64,
    queues: FairQueues<Handle>,
}

impl FlowQueues {
    /// Empty queues, as many as there are hash values; each may send so many bytes in its turn.
    pub(crate) fn new(hashes: u32, quantum: u32, codel: CodelConfig, queue: &QueueConfig) -> Self {
        let salt = salt(&[&queue.seed.to_le_bytes(), format!("{:?}", queue.place).as_bytes()]);
        Self { codel, salt, queues: FairQueues::new(hashes, quantum) }
    }

    /// Packets that wait.
    pub(crate) fn len(&self) -> usize {
        self.queues.len()
    }

    /// A packet is to wait.
    pub(crate) fn push(&mut self, here: &Here<'_>, handle: Handle) {
        let packet = here.packets.get(handle);
        let (source, destination) = (packet.source_end(), packet.destination_end());
        let flow = FlowHash::new(self.salt, source, destination, packet.body.protocol());
        self.queues.push(here.now, flow, packet.size, handle);
    }

    /// The packet whose turn it is. Drops or marks others before it.
    pub(crate) fn pop(&mut self, here: &mut Here<'_>) -> Option<Handle> {
        self.queues.pop(here.now, &self.codel, here).map(|(packet, _)| packet)
    }

    /// Bytes in the longest queue.
    pub(crate) fn most_bytes(&self) -> Bytes {
        self.queues.most_bytes()
    }

    /// Takes packets out of the longest queue, those that came first: as many as `share` says of how many wait there.
    pub(crate) fn cut_longest(&mut self, share: impl FnOnce(usize) -> usize) -> Vec<Handle> {
        self.queues.cut_longest(share)
    }

    /// Drops the packets that are wanted.
    pub(crate) fn purge(&mut self, here: &mut Here<'_>, wanted: &mut dyn FnMut(&Packet) -> bool) {
        let gone = self.queues.take(|handle| wanted(here.packets.get(*handle)));
        gone.into_iter().for_each(|handle| here.drop(handle));
    }
}
