//! How much of what left for each host counts as being in the mesh, and until when.

use crate::FlowKey;
use alloc::collections::{BTreeMap, BTreeSet};
use core::net::IpAddr;
use meshpace_units::Instant;

/// What counts of a connection.
#[derive(Debug)]
struct Counted {
    host: IpAddr,
    bytes: u64,
    until: Instant,
}

/// See the module's description.
#[derive(Debug)]
pub(super) struct InMesh {
    of_flows: BTreeMap<FlowKey, Counted>,
    of_hosts: BTreeMap<IpAddr, u64>,
    /// When what a connection has there counts no longer.
    ends: BTreeSet<(Instant, FlowKey)>,
}

impl InMesh {
    pub const fn new() -> Self {
        Self { of_flows: BTreeMap::new(), of_hosts: BTreeMap::new(), ends: BTreeSet::new() }
    }

    /// Of a connection of `host` so many bytes count until then, in place of what did.
    pub fn count(&mut self, key: FlowKey, host: IpAddr, counts: Option<(u64, Instant)>) {
        self.discount(&key);
        if let Some((bytes, until)) = counts {
            *self.of_hosts.entry(host).or_default() += bytes;
            self.ends.insert((until, key));
            self.of_flows.insert(key, Counted { host, bytes, until });
        }
    }

    /// What a connection has there counts no longer.
    pub fn discount(&mut self, key: &FlowKey) {
        let Some(Counted { host, bytes, until }) = self.of_flows.remove(key) else { return };
        self.ends.remove(&(until, *key));
        if let Some(all) = self.of_hosts.get_mut(&host) {
            *all -= bytes;
            if *all == 0 {
                self.of_hosts.remove(&host);
            }
        }
    }

    /// Bytes that a host's connections have there.
    pub fn of(&mut self, now: Instant, host: IpAddr) -> u64 {
        while let Some(&(_, key)) = self.ends.first().filter(|(end, _)| *end <= now) {
            self.discount(&key);
        }
        self.of_hosts.get(&host).copied().unwrap_or(0)
    }

    /// When less counts, if nothing is acknowledged before.
    pub fn ends(&self) -> Option<Instant> {
        self.ends.first().map(|(end, _)| *end)
    }
}
