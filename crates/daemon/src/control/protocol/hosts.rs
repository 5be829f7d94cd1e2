//! The traffic into the mesh by host, as the control socket reports it.

use serde::{Deserialize, Serialize};

/// The traffic into the mesh where hosts are shaped (docs/hosts.md).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Hosts {
    /// The rate that all hosts share, bit/s.
    pub rate_bps: u64,
    /// How the rate was found; `None` where the configuration gives it.
    pub found: Option<FoundRate>,
    /// What the hosts share: `airtime` or `bytes`.
    pub by: String,
    /// The number of hosts known.
    pub known: usize,
    /// Jain's index of what the hosts with waiting packets got lately, each divided by the host's weight; `None` below
    /// two such hosts.
    pub jain: Option<f64>,
    /// Packets of all hosts that wait now.
    pub queued: usize,
    /// Packets that went on into the mesh.
    pub packets: u64,
    /// Packets dropped because packets waited too long, or too many waited.
    pub dropped: u64,
    /// Packets marked because packets waited too long.
    pub marked: u64,
    /// The hosts, those that got most lately first.
    pub list: Vec<HostShare>,
}

/// A rate that the daemon finds by how long packets wait in the mesh (`hosts.rate = "auto"`).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FoundRate {
    /// The lowest rate allowed, bit/s (`hosts.rate_min`).
    pub min_bps: u64,
    /// The highest rate allowed, bit/s (`hosts.rate_max`).
    pub max_bps: u64,
    /// Seconds that packets wait in the mesh on each hop, on the way to the host for which they wait longest.
    pub mesh_wait_s: Option<f64>,
    /// Round trips measured by acknowledgements of TCP.
    pub tcp: u64,
    /// Round trips measured by QUIC's spin bit.
    pub spin: u64,
    /// Round trips measured by ICMP echoes.
    pub probes: u64,
    /// ICMP echo requests sent.
    pub asked: u64,
    /// True if no measurement tells how long packets wait, so that the rate falls.
    pub blind: bool,
}

/// What a mesh host gets of the shared rate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HostShare {
    /// The host's address, or the prefix whose hosts count as one.
    pub host: String,
    /// What the host got in the latest whole second, bit/s.
    pub rate_bps: u64,
    /// The number of shares that the host has.
    pub weight: u32,
    /// The most that the host may get, bit/s; `None` without a cap.
    pub cap_bps: Option<u64>,
    /// The most that the way to the host carries, bit/s, where that was found.
    pub found_bps: Option<u64>,
    /// The most that the host may send, bit/s, while it sends more than its share and others want more.
    #[serde(default)]
    pub may_send_bps: Option<u64>,
    /// Seconds that the host's packets wait in the mesh, where that is measured.
    pub mesh_wait_s: Option<f64>,
    /// The number of wireless hops to the host.
    pub hops: u32,
    /// The rate of the links to the host, bit/s.
    pub link_rate_bps: u64,
    /// What a byte to the host costs, where a byte over one hop at `mesh.rate` costs 1.
    pub price: f64,
    /// Flows of the host that wait for their turn.
    pub flows: usize,
    /// Packets of the host that wait now.
    pub queued: usize,
    /// How long the host's packets wait here, smoothed, seconds.
    pub wait_s: Option<f64>,
    /// Packets to the host that went on.
    pub packets: u64,
    /// The length of these packets, bytes.
    pub bytes: u64,
    /// Packets to the host that were dropped.
    pub dropped: u64,
    /// Packets to the host that were marked.
    pub marked: u64,
}
