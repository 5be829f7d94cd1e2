//! What goes over the control socket: one JSON object a line each way.
//!
//! A request names its command: `{"command": "flows", "sort": "goodput", "limit": 10}`. The answer carries `"schema": 1`
//! and one more key, which is the kind of answer: `status`, `flows`, `flow`, `done` or `error`. Quantities carry their
//! unit in the key: `_s` seconds, `_bps` bit/s, `_pps` packets a second, `_bytes`. `null` is unknown.

mod doubts;
mod forecasts;
mod guard;
mod hosts;
mod law;

pub use doubts::Doubt;
pub use forecasts::{ComparedForecast, Forecast, Forecasts};
pub use guard::Guard;
pub use hosts::{FoundRate, HostShare, Hosts};
pub use law::{Law, OtherLaw, Standing, Step};

use super::sort::SortKey;
use crate::text::count;
use serde::{Deserialize, Serialize};

/// Version of the protocol; changes only when a key's meaning does. New keys may appear at any time.
pub const SCHEMA: u32 = 1;

/// What a client asks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "command", rename_all = "lowercase", deny_unknown_fields)]
pub enum Request {
    /// Asks for the state of the daemon as a whole.
    Status {},
    /// Asks for a list of flows.
    Flows {
        /// Only those of this address, prefix or port (`:443`).
        #[serde(default)]
        filter: Option<String>,
        /// The order.
        #[serde(default)]
        sort: SortKey,
        /// The other way round.
        #[serde(default)]
        reverse: bool,
        /// At most so many; `None`: all.
        #[serde(default)]
        limit: Option<usize>,
    },
    /// One flow, with everything that its rate follows from.
    Flow {
        /// Its name or a part that only it has.
        flow: String,
    },
    /// Read the configuration again; flows are kept.
    Reload {},
    /// Change the mode until the next reload.
    Mode {
        /// The new mode: `off`, `observe` or `pace`.
        mode: String,
        /// For the mesh hosts of this prefix; `None`: for all that no subnet says otherwise about.
        #[serde(default)]
        subnet: Option<ipnet::IpNet>,
        /// Pace although something that is believed cannot be.
        #[serde(default)]
        anyway: bool,
        /// Without a guard: the client compares by itself.
        #[serde(default)]
        unguarded: bool,
    },
    /// Release what is held and end.
    Stop {},
}

impl Request {
    /// The command's name if it changes something, which only root and the daemon's own user may; `None` if it only looks.
    #[must_use]
    pub const fn changes(&self) -> Option<&'static str> {
        match self {
            Self::Status {} | Self::Flows { .. } | Self::Flow { .. } => None,
            Self::Reload {} => Some("reload"),
            Self::Mode { .. } => Some("mode"),
            Self::Stop {} => Some("stop"),
        }
    }
}

/// A line from the daemon.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Line {
    /// Version of the protocol: [`SCHEMA`].
    pub schema: u32,
    /// The answer itself.
    #[serde(flatten)]
    pub answer: Reply,
}

/// What the daemon answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Reply {
    /// To `status`.
    Status(Box<Status>),
    /// To `flows`.
    Flows(Flows),
    /// To `flow`.
    Flow(Box<Detail>),
    /// To `reload`, `mode` and `stop`: what was done.
    Done(String),
    /// To anything that could not be done.
    Error(Refusal),
}

/// Why a request was not carried out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    /// True if the request, or the file it is about, is wrong and another would be accepted; false if the daemon cannot
    /// answer just now.
    pub mendable: bool,
    /// What is wrong.
    pub message: String,
}

/// The daemon as a whole.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Status {
    /// The daemon's version.
    pub version: String,
    /// The process id of the daemon.
    pub pid: u32,
    /// Seconds since the daemon began.
    pub uptime_s: f64,
    /// How packets reach the daemon: `nfqueue` or `ebpf`.
    pub datapath: String,
    /// The mode of all mesh hosts for which no subnet names another.
    pub mode: String,
    /// The subnets with a mode of their own.
    pub subnets: Vec<SubnetMode>,
    /// The network interfaces that lead to the mesh.
    pub mesh_interfaces: Vec<String>,
    /// How the active flows share the goodput.
    pub fairness: Fairness,
    /// How many flows there are, by treatment.
    pub flows: FlowCounts,
    /// Packets and bytes since the daemon began, and what is held now.
    pub traffic: Totals,
    /// How late paced packets left.
    pub lateness: Lateness,
    /// How long packets to the mesh waited at the gateway for their turn.
    pub wait: Wait,
    /// What goes into the mesh, by mesh host; `None` where hosts are not shaped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hosts: Option<Hosts>,
    /// Figures that the daemon believes and that cannot be true, and traffic that it does not see.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub doubts: Vec<Doubt>,
    /// How the guard judges the pacing that was switched on; `None` if nothing was switched on since the last start or
    /// change of mode.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guard: Option<Guard>,
    /// Where the daemon may see only some of the packets (`nfqueue.observed_max`): how many it sees.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sample: Option<Sample>,
    /// How far off forecasts were; `None` while no forecast was compared with what came.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forecasts: Option<Forecasts>,
}

/// How many of the packets the daemon sees, where `nfqueue.observed_max` bounds them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// The most packets a second that come to the daemon (`nfqueue.observed_max`).
    pub most_pps: u32,
    /// Packets that came to the daemon in the latest second.
    pub seen_pps: u64,
    /// True if other packets may have passed unseen.
    pub active: bool,
    /// Half of the active flows have a relative error of their goodput below this, 19 times of 20; `None` while the daemon sees
    /// all packets.
    pub goodput_error: Option<f64>,
}

/// What is in force for a subnet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SubnetMode {
    /// The subnet, as a prefix.
    pub prefix: String,
    /// The mode of its hosts: `off`, `observe` or `pace`.
    pub mode: String,
    /// The share of its flows that are paced where the mode is `pace`, from 0 to 1.
    pub paced_share: f64,
}

/// How the active flows share the goodput. A flow is active if it carried data within the last five seconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fairness {
    /// The number of active flows whose goodput is known.
    pub active: usize,
    /// Jain's index of the active flows' goodputs: 1 if all are equal, 1/n if one of n flows has everything; `None` below
    /// two flows.
    pub jain: Option<f64>,
    /// The mean goodput of the active flows, bit/s.
    pub mean_bps: Option<f64>,
    /// The flows with the smallest shares, the smallest first.
    pub smallest: Vec<Share>,
}

/// A flow's share.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Share {
    /// The name of the flow.
    pub flow: String,
    /// The goodput of the flow, bit/s.
    pub goodput_bps: u64,
    /// The goodput of the flow divided by the mean of all active flows.
    pub share: f64,
    /// The smoothed wireless round trip, seconds.
    pub wireless_rtt_s: Option<f64>,
    /// The number of wireless hops.
    pub hops: Option<u32>,
    /// `pace`, `shape` (no pace of its own; its packets wait for its host's turn) or `observe`.
    pub treatment: String,
    /// True if data of the flow wait or are on their way, as [`Flow::outstanding`].
    #[serde(default)]
    pub outstanding: bool,
}

/// How many flows there are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlowCounts {
    /// Flows in the table.
    pub known: usize,
    /// Flows that are paced.
    pub paced: usize,
    /// Flows without a pace of their own, whose packets wait for their host's turn.
    #[serde(default)]
    pub shaped: usize,
    /// Flows that are only watched.
    pub observed: usize,
    /// Flows under a cap of goodput control.
    pub capped: usize,
    /// Flows that should be paced and are not, because the buffer was full when they began.
    pub bypassing: usize,
    /// Flows entered into the table since the daemon began.
    pub opened: u64,
    /// Flows forgotten to make room for others, since the daemon began.
    pub evicted: u64,
}

impl FlowCounts {
    /// What is done with them: `3 paced, 0 observed`, or, where hosts are shaped and so no flow is only watched, `0 paced, 3 shaped`.
    pub(crate) fn in_words(&self) -> String {
        let (paced, shaped, observed) =
            (count(self.paced as u64), count(self.shaped as u64), count(self.observed as u64));
        match self.shaped {
            0 => format!("{paced} paced, {observed} observed"),
            _ => format!("{paced} paced, {shaped} shaped"),
        }
    }
}

/// Totals since the daemon began, and what is held now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Totals {
    /// Packets taken from the kernel.
    pub packets: u64,
    /// The length of these packets, in bytes with IP headers.
    pub bytes: u64,
    /// Packets passed on unread, by the reason.
    pub unread: std::collections::BTreeMap<String, u64>,
    /// Packets of connections for which the table had no room.
    pub untracked: u64,
    /// Packets whose sequence numbers cannot belong to their connection; they were passed on.
    #[serde(default)]
    pub implausible: u64,
    /// Packets that a pacing queue held, since the daemon began.
    pub held_total: u64,
    /// Packets that wait now.
    pub held: usize,
    /// Bytes in queues and caches now.
    pub buffered_bytes: u64,
    /// Packets dropped at full buffers.
    pub dropped: u64,
    /// Packets sent again from the cache.
    pub retransmitted: u64,
    /// Duplicate ACKs that the gateway kept, because it repaired the loss itself.
    pub duplicate_acks_kept: u64,
    /// Packets for which the kernel's queue had no room.
    pub queue_overflows: u64,
    /// Packets for which the buffer of the queue's socket had no room.
    pub socket_overflows: u64,
    /// Packets passed on at once because as many packets as allowed were held.
    pub held_limit: u64,
    /// Packets whose handling failed inside the daemon; they were passed on.
    pub failed: u64,
}

/// How late paced packets left.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Lateness {
    /// The number of paced packets that left.
    pub departures: u64,
    /// Half of the departures were at most this late, seconds.
    pub p50_s: Option<f64>,
    /// 99 % of the departures were at most this late, seconds.
    pub p99_s: Option<f64>,
    /// The latest departure, seconds after its due time.
    pub max_s: Option<f64>,
}

/// How long data packets of paced flows waited at the gateway for their turn, since the daemon began; those that left at once
/// waited for no time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Wait {
    /// The number of packets; `None` if the data path does not know how long they waited.
    pub packets: Option<u64>,
    /// Half of the packets waited at most this long, seconds.
    pub p50_s: Option<f64>,
    /// 95 % of the packets waited at most this long, seconds.
    pub p95_s: Option<f64>,
    /// The longest wait of a packet, seconds.
    pub max_s: Option<f64>,
    /// The longest of the flows' smoothed waits now, seconds.
    pub longest_now_s: Option<f64>,
    /// Packets dropped by CoDel because packets waited too long (RFC 8289).
    pub aqm_drops: u64,
    /// Packets marked by CoDel because packets waited too long (RFC 3168).
    pub aqm_marks: u64,
    /// Acknowledgements whose window was lowered to what the pace can use, so that fewer packets wait here.
    pub windows_lowered: u64,
}

/// A list of flows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Flows {
    /// The number of flows that fit the filter.
    pub matching: usize,
    /// The number of flows in the table.
    pub known: usize,
    /// The flows asked for, in the order asked for.
    pub list: Vec<Flow>,
}

/// One flow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Flow {
    /// The name of the flow: its mesh end, then its Internet end.
    pub flow: String,
    /// The address and port of the end in the mesh.
    pub wireless: String,
    /// The address and port of the end in the Internet.
    pub wired: String,
    /// Where the flow's data go: `down` (to the mesh, paced here), `up` (to the Internet, paced by the sender), `both` or
    /// `none`.
    pub direction: String,
    /// `pace`, `shape` (no pace of its own; its packets wait for its host's turn) or `observe`.
    pub treatment: String,
    /// True if packets of the flow wait for their turn: it is paced, and does not bypass a full buffer.
    pub paced: bool,
    /// True if data of the flow wait or are on their way, so that it could use a higher rate. Also true where the data
    /// path does not know.
    #[serde(default)]
    pub outstanding: bool,
    /// The number of wireless hops; `None` if unknown.
    pub hops: Option<u32>,
    /// The source of the number of hops, such as `ttl` or `802.11s`.
    pub hop_source: String,
    /// The MAC data rate of the flow's wireless links, bit/s.
    pub link_rate_bps: u64,
    /// The smoothed wireless round trip, seconds.
    pub wireless_rtt_s: Option<f64>,
    /// The latest wired round trip, seconds.
    pub wired_rtt_s: Option<f64>,
    /// Data acknowledged in the latest second or so, both directions together, bit/s.
    pub goodput_bps: Option<u64>,
    /// Data to the mesh acknowledged in the latest second or so, bit/s.
    pub goodput_down_bps: Option<u64>,
    /// Data to the Internet acknowledged in the latest second or so, bit/s.
    pub goodput_up_bps: Option<u64>,
    /// The relative error that 19 of 20 goodputs do not exceed, where not all packets are seen; `None` while all packets
    /// are seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub goodput_error: Option<f64>,
    /// Seconds between two packets by the law and the cap; of a flow that is only watched, what pacing would use.
    pub interval_s: Option<f64>,
    /// The same as a rate of payload: the flow's largest segment in each interval, bit/s.
    pub rate_bps: Option<u64>,
    /// The cap of goodput control, packets a second; `None` without a cap.
    pub cap_pps: Option<f64>,
    /// The variation of the flow's round trips, a ratio (schemes.md 2, "cov estimator").
    pub variation: f64,
    /// Packets of the flow that wait now.
    pub queued: usize,
    /// Bytes of the flow in queue and cache now.
    pub buffered_bytes: u64,
    /// How long the flow's packets wait here, smoothed, seconds: for their turn in the flow's queue, and behind it for their host's where
    /// hosts are shaped.
    pub wait_s: Option<f64>,
    /// The most bytes that the flow's wired sender may have on their way, where the gateway allows fewer than the
    /// receiver (`gap_window`).
    pub window_bytes: Option<u64>,
    /// Packets dropped because the flow's buffer was full.
    pub drops: u64,
    /// Copies dropped because their data waited here already or had been acknowledged.
    pub duplicates: u64,
    /// Packets dropped by CoDel because packets waited too long (RFC 8289).
    pub aqm_drops: u64,
    /// Packets marked by CoDel because packets waited too long (RFC 3168).
    pub aqm_marks: u64,
    /// Packets sent again from the cache.
    pub local_retransmissions: u64,
    /// RTT options written into ACKs to the flow's mesh end (schemes.md 3.2).
    pub options_written: u64,
    /// Round-trip samples that the law took.
    pub samples: u64,
    /// Round-trip samples that the law refused.
    pub samples_rejected: u64,
    /// Bytes to the mesh, with IP headers.
    pub down_bytes: u64,
    /// Bytes to the Internet, with IP headers.
    pub up_bytes: u64,
    /// Packets to the mesh.
    pub down_packets: u64,
    /// Packets to the Internet.
    pub up_packets: u64,
    /// Seconds since the flow's first packet.
    pub age_s: f64,
    /// Seconds since the flow's latest packet.
    pub idle_s: f64,
}

/// One flow and everything that its rate follows from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Detail {
    /// The flow.
    pub flow: Flow,
    /// The mode in force for the flow's mesh end.
    pub policy: Policy,
    /// The largest payload seen in a packet, bytes.
    pub segment_bytes: u64,
    /// The state of TCP-GAP's rate law; `None` while no data went to the mesh, and under another law.
    pub law: Option<Law>,
    /// The state of the law in force, where it is not TCP-GAP's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other_law: Option<OtherLaw>,
    /// What goodput control found of the flow; `None` if goodput control is off or does not count the flow.
    pub goodput_control: Option<Standing>,
    /// What pacing would give the flow; `None` if the flow is paced, sends nothing to the mesh, or is left to the shaper of hosts.
    #[serde(default)]
    pub forecast: Option<Forecast>,
    /// How far off such forecasts were on this mesh.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forecasts: Option<Forecasts>,
}

/// What is in force for a mesh host.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Policy {
    /// The mode: `off`, `observe` or `pace`.
    pub mode: String,
    /// The share of the host's flows that are paced where the mode is `pace`, from 0 to 1.
    pub paced_share: f64,
    /// The flow's place between 0 and 1, by a hash: the flow is paced if it lies below the share.
    pub draw: f64,
}
