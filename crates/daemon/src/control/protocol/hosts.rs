//! What goes into the mesh by host, as clients are told of it.

use serde::{Deserialize, Serialize};

/// What goes into the mesh, shaped by host.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Hosts {
    /// What all together may have.
    pub rate_bps: u64,
    /// What was found of that; `None` where it is given.
    pub found: Option<FoundRate>,
    /// What they share: `airtime` or `bytes`.
    pub by: String,
    /// Hosts known.
    pub known: usize,
    /// Jain's index of what hosts that have packets waiting got lately, over their weights, by what they share; `None` below two.
    pub jain: Option<f64>,
    /// Packets that wait.
    pub queued: usize,
    /// Packets that went on.
    pub packets: u64,
    /// Packets dropped because they waited too long, or too many waited.
    pub dropped: u64,
    /// Packets marked because they waited too long.
    pub marked: u64,
    /// Those that got most lately, most first.
    pub list: Vec<HostShare>,
}

/// A rate that is found by how long packets wait in the mesh.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FoundRate {
    /// It is no lower.
    pub min_bps: u64,
    /// It is no higher.
    pub max_bps: u64,
    /// How long packets wait in the mesh a hop, on the way to the host that they wait longest for.
    pub mesh_wait_s: Option<f64>,
    /// Round trips measured by TCP's acknowledgements.
    pub tcp: u64,
    /// Round trips measured by QUIC's spin bit.
    pub spin: u64,
    /// Round trips measured by ICMP echoes.
    pub probes: u64,
    /// Requests for such echoes.
    pub asked: u64,
    /// Nothing tells how long packets wait, so that the rate falls.
    pub blind: bool,
}

/// What a mesh host has of that.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HostShare {
    /// Its address, or that of the prefix whose hosts count as one.
    pub host: String,
    /// What it got in the last whole second.
    pub rate_bps: u64,
    /// Its shares.
    pub weight: u32,
    /// The most that it may have.
    pub cap_bps: Option<u64>,
    /// The most that its way carries, where that was found.
    pub found_bps: Option<u64>,
    /// How long its packets wait in the mesh, where that is measured.
    pub mesh_wait_s: Option<f64>,
    /// Wireless hops.
    pub hops: u32,
    /// Rate of their links.
    pub link_rate_bps: u64,
    /// What a byte costs.
    pub price: f64,
    /// Flows that wait for a turn.
    pub flows: usize,
    /// Packets that wait.
    pub queued: usize,
    /// How long its packets wait, smoothed.
    pub wait_s: Option<f64>,
    /// Packets that went on.
    pub packets: u64,
    /// Their lengths together.
    pub bytes: u64,
    /// Packets dropped.
    pub dropped: u64,
    /// Packets marked.
    pub marked: u64,
}
