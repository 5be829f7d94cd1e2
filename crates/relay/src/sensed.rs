//! What a queue at a mesh node goes by instead of a capacity: rt-Winf's pairs of the links that it feeds, weighted by what goes
//! over them (schemes.md 11.3: "weighted link capacity").

use crate::here::Here;
use crate::relay::Asks;
use crate::sense::Sense;
use meshpace_explicit::winf::Pair;
use meshpace_units::{Bytes, NodeId};
use std::collections::BTreeMap;

/// A node's meter, and the traffic of the present interval by link.
#[derive(Clone, Debug)]
pub(crate) struct Sensed {
    pub(crate) sense: Sense,
    /// The spare bandwidth is the capacity without the node's own traffic, not what is available.
    subtracts: bool,
    traffic: BTreeMap<NodeId, u64>,
}

impl Sensed {
    /// What a relay that measures asks for.
    pub(crate) const ASKS: Asks = Asks {
        frames: true,
        data_frames: false,
        reports: true,
        categories: false,
        busy_time: false,
        conversations: false,
        counted: false,
        shares: None,
    };

    pub(crate) fn new(sense: Sense, subtracts: bool) -> Self {
        Self { sense, subtracts, traffic: BTreeMap::new() }
    }

    pub(crate) fn on_arrival(&mut self, next_hop: Option<NodeId>, size: Bytes) {
        if let Some(next_hop) = next_hop {
            *self.traffic.entry(next_hop).or_default() += size.0;
        }
    }

    /// Capacity and available bandwidth in byte/s; `nominal` where nothing went over a link.
    pub(crate) fn measured(&self, here: &mut Here<'_>, nominal: f64) -> Pair {
        let now = here.now;
        let total: u64 = self.traffic.values().sum();
        let Some(node) = here.node().filter(|_| total > 0) else {
            return Pair { capacity: nominal, available: nominal };
        };
        let mut sum = Pair { capacity: 0.0, available: 0.0 };
        for (to, bytes) in &self.traffic {
            let (pair, weight) = (self.sense.pair(now, node, *to), *bytes as f64 / total as f64 / 8.0);
            sum.capacity += weight * pair.capacity;
            sum.available += weight * pair.available;
        }
        sum
    }

    /// The spare bandwidth beside traffic of the node's own, byte/s (11.7).
    pub(crate) fn spare(&self, measured: Pair, input: f64) -> f64 {
        if self.subtracts { measured.capacity - input } else { measured.available }
    }

    pub(crate) fn begin_interval(&mut self) {
        self.traffic.clear();
    }
}
