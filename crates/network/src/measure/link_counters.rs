//! What happened to a node's packets for each neighbour.

use meshpace_relay::packet::Class;
use meshpace_units::NodeId;

/// Counters of one directed link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkCount {
    /// Packets with payload that the MAC gave up.
    pub data_drops: u64,
    /// Pure TCP acknowledgements that the MAC gave up.
    pub ack_drops: u64,
    /// All packets that the MAC gave up.
    pub retry_drops: u64,
    /// Packets for this neighbour that found the interface queue full.
    pub queue_drops: u64,
    /// Packets for this neighbour that waited for its address and gave way to a later one, or failed since the neighbour did not answer.
    pub arp_drops: u64,
    /// Packets that were acknowledged.
    pub carried: u64,
}

/// Counters by next hop, sorted.
#[derive(Clone, Debug, Default)]
pub struct LinkCounters {
    by_next_hop: Vec<(NodeId, LinkCount)>,
    /// Where the next hop stands that was asked for last: mostly it is asked for again.
    latest: usize,
}

impl LinkCounters {
    /// The counters toward `next_hop`.
    #[inline]
    pub fn toward(&mut self, next_hop: NodeId) -> &mut LinkCount {
        if self.by_next_hop.get(self.latest).is_none_or(|(latest, _)| *latest != next_hop) {
            self.find(next_hop);
        }
        &mut self.by_next_hop[self.latest].1
    }

    #[inline(never)]
    fn find(&mut self, next_hop: NodeId) {
        let found = self.by_next_hop.binary_search_by_key(&next_hop, |entry| entry.0);
        self.latest = found.unwrap_or_else(|place| {
            if self.by_next_hop.len() == self.by_next_hop.capacity() {
                // Every node has such a list, mostly short: doubling would leave half of it empty.
                self.by_next_hop.reserve_exact(2);
            }
            self.by_next_hop.insert(place, (next_hop, LinkCount::default()));
            place
        });
    }

    /// All counters, in order of next hop.
    pub fn iter(&self) -> impl Iterator<Item = (NodeId, LinkCount)> + '_ {
        self.by_next_hop.iter().copied()
    }

    /// Forgets everything counted.
    pub fn reset(&mut self) {
        self.by_next_hop.clear();
    }
}

impl LinkCount {
    /// Counts a packet that the MAC gave up.
    pub fn given_up(&mut self, class: Class) {
        self.retry_drops += 1;
        match class {
            Class::Data => self.data_drops += 1,
            Class::Ack => self.ack_drops += 1,
            Class::Control | Class::Arp => {}
        }
    }
}
