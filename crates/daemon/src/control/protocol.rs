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
use serde::{Deserialize, Serialize};

/// Version of the protocol; changes only when a key's meaning does. New keys may appear at any time.
pub const SCHEMA: u32 = 1;

/// What a client asks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "command", rename_all = "lowercase", deny_unknown_fields)]
pub enum Request {
    /// The daemon as a whole.
    Status {},
    /// A list of flows.
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
    /// [`SCHEMA`].
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
    /// Its process.
    pub pid: u32,
    /// Seconds since it began.
    pub uptime_s: f64,
    /// How packets reach it.
    pub datapath: String,
    /// The mode of mesh hosts that no subnet says otherwise about.
    pub mode: String,
    /// The subnets that say otherwise.
    pub subnets: Vec<SubnetMode>,
    /// Interfaces behind which the mesh is.
    pub mesh_interfaces: Vec<String>,
    /// How flows share.
    pub fairness: Fairness,
    /// Flow counts.
    pub flows: FlowCounts,
    /// What passed.
    pub traffic: Totals,
    /// Departures of paced packets.
    pub lateness: Lateness,
    /// How long packets to the mesh waited for their turn.
    pub wait: Wait,
    /// What goes into the mesh by host; `None` where hosts are not shaped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hosts: Option<Hosts>,
    /// What is believed and cannot be, or is not seen.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub doubts: Vec<Doubt>,
    /// The guard of what was switched on; `None` if nothing was since the last start or change of mode.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guard: Option<Guard>,
    /// Where not all packets have to come to the daemon: of how many what is told is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sample: Option<Sample>,
    /// How far off forecasts were; `None` while none was held against what came.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forecasts: Option<Forecasts>,
}

/// Of how many packets what is told is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// Packets a second that come to the daemon at the most (`nfqueue.observed_max`).
    pub most_pps: u32,
    /// Those that came in the latest second.
    pub seen_pps: u64,
    /// Others may have passed unseen.
    pub active: bool,
    /// Of the active flows, half have an error of their goodput below this, 19 times of 20; `None` while all are seen.
    pub goodput_error: Option<f64>,
}

/// What is in force for a subnet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SubnetMode {
    /// The subnet.
    pub prefix: String,
    /// Its mode.
    pub mode: String,
    /// Share of its flows that is paced where the mode is `pace`.
    pub paced_share: f64,
}

/// How the active flows share what they get together. Active: carried data within the last five seconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fairness {
    /// Active flows whose goodput is known.
    pub active: usize,
    /// Jain's index of their goodputs, 1 being equal and 1/n one flow alone; `None` below two flows.
    pub jain: Option<f64>,
    /// Their mean goodput, bit/s.
    pub mean_bps: Option<f64>,
    /// The flows with the smallest shares, smallest first.
    pub smallest: Vec<Share>,
}

/// A flow's share.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Share {
    /// Its name.
    pub flow: String,
    /// Its goodput, bit/s.
    pub goodput_bps: u64,
    /// Its goodput over the mean.
    pub share: f64,
    /// Smoothed wireless round trip.
    pub wireless_rtt_s: Option<f64>,
    /// Wireless hops.
    pub hops: Option<u32>,
    /// Paced or only watched.
    pub treatment: String,
    /// As [`Flow::outstanding`].
    #[serde(default)]
    pub outstanding: bool,
}

/// How many flows there are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlowCounts {
    /// In the table.
    pub known: usize,
    /// Paced.
    pub paced: usize,
    /// Only watched.
    pub observed: usize,
    /// Under a cap of goodput control.
    pub capped: usize,
    /// Unpaced though they should be, because the buffer was full when they began.
    pub bypassing: usize,
    /// Opened since the daemon began.
    pub opened: u64,
    /// Forgotten to make place for others.
    pub evicted: u64,
}

/// Totals since the daemon began, and what is held now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Totals {
    /// Packets taken from the kernel.
    pub packets: u64,
    /// Their IP bytes.
    pub bytes: u64,
    /// Packets passed on unread, by reason.
    pub unread: std::collections::BTreeMap<String, u64>,
    /// Packets of connections without a place in the table.
    pub untracked: u64,
    /// Packets whose sequence numbers cannot be of their connection; they were passed on.
    #[serde(default)]
    pub implausible: u64,
    /// Packets held in a pacing queue, all in all.
    pub held_total: u64,
    /// Packets waiting now.
    pub held: usize,
    /// Bytes in queues and caches now.
    pub buffered_bytes: u64,
    /// Packets dropped at full buffers.
    pub dropped: u64,
    /// Packets sent again from the cache.
    pub retransmitted: u64,
    /// Duplicate ACKs that the gateway answered itself.
    pub duplicate_acks_kept: u64,
    /// Packets that found the kernel's queue full.
    pub queue_overflows: u64,
    /// Packets that found its socket's buffer full.
    pub socket_overflows: u64,
    /// Packets passed on at once because as many as allowed were held.
    pub held_limit: u64,
    /// Packets whose handling failed inside; they were passed on.
    pub failed: u64,
}

/// How late paced packets left.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Lateness {
    /// Departures.
    pub departures: u64,
    /// Half of them were at most this late.
    pub p50_s: Option<f64>,
    /// 99 % of them were at most this late.
    pub p99_s: Option<f64>,
    /// The latest of all.
    pub max_s: Option<f64>,
}

/// How long data packets of paced flows waited at the gateway for their turn, since the daemon began; those that left at once
/// waited for no time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Wait {
    /// Packets; `None` if the data path does not know how long they waited.
    pub packets: Option<u64>,
    /// Half of them waited at most this long.
    pub p50_s: Option<f64>,
    /// 95 % of them waited at most this long.
    pub p95_s: Option<f64>,
    /// The longest of all.
    pub max_s: Option<f64>,
    /// The longest of the flows' smoothed waits now.
    pub longest_now_s: Option<f64>,
    /// Packets dropped because packets waited too long.
    pub aqm_drops: u64,
    /// Packets marked for the same reason.
    pub aqm_marks: u64,
    /// Acknowledgements whose window was lowered to what the pace can use, so that less waits here.
    pub windows_lowered: u64,
}

/// A list of flows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Flows {
    /// How many fit the filter.
    pub matching: usize,
    /// How many are known.
    pub known: usize,
    /// Those asked for, in the order asked for.
    pub list: Vec<Flow>,
}

/// One flow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Flow {
    /// Its name.
    pub flow: String,
    /// Its end in the mesh.
    pub wireless: String,
    /// Its end in the Internet.
    pub wired: String,
    /// Where its data goes: `down` (to the mesh, paced here), `up` (paced by its sender), `both` or `none`.
    pub direction: String,
    /// `pace` or `observe`.
    pub treatment: String,
    /// True if its packets do wait for their turn: paced, and not bypassing a full buffer.
    pub paced: bool,
    /// True if data of it wait, or are on their way: it could use more. Also where the data path does not know.
    #[serde(default)]
    pub outstanding: bool,
    /// Wireless hops.
    pub hops: Option<u32>,
    /// The source of the hops.
    pub hop_source: String,
    /// Rate of its wireless links.
    pub link_rate_bps: u64,
    /// Smoothed wireless round trip.
    pub wireless_rtt_s: Option<f64>,
    /// Latest wired round trip.
    pub wired_rtt_s: Option<f64>,
    /// Data acknowledged lately, both directions.
    pub goodput_bps: Option<u64>,
    /// The same, to the mesh only.
    pub goodput_down_bps: Option<u64>,
    /// The same, to the Internet only.
    pub goodput_up_bps: Option<u64>,
    /// By which part goodputs may be wrong, 19 times of 20, as not all packets are seen; `None` while they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub goodput_error: Option<f64>,
    /// Spacing by the law and the cap; where the treatment is `observe`, what it would be.
    pub interval_s: Option<f64>,
    /// The same as payload: its largest segment an interval.
    pub rate_bps: Option<u64>,
    /// Goodput control's cap.
    pub cap_pps: Option<f64>,
    /// Variation of its round trips.
    pub variation: f64,
    /// Packets waiting.
    pub queued: usize,
    /// Bytes in queue and cache.
    pub buffered_bytes: u64,
    /// How long its packets wait for their turn, smoothed.
    pub wait_s: Option<f64>,
    /// What its wired sender may have on its way, where the gateway allows it less than its receiver (`gap_window`).
    pub window_bytes: Option<u64>,
    /// Packets dropped at its full buffer.
    pub drops: u64,
    /// Copies dropped of data that waited already or had been acknowledged.
    pub duplicates: u64,
    /// Packets dropped because they waited too long (CoDel).
    pub aqm_drops: u64,
    /// Packets marked for the same reason.
    pub aqm_marks: u64,
    /// Packets sent again from the cache.
    pub local_retransmissions: u64,
    /// RTT options written into ACKs to its mesh end.
    pub options_written: u64,
    /// Round-trip samples taken.
    pub samples: u64,
    /// Round-trip samples refused.
    pub samples_rejected: u64,
    /// IP bytes to the mesh.
    pub down_bytes: u64,
    /// IP bytes to the Internet.
    pub up_bytes: u64,
    /// Packets to the mesh.
    pub down_packets: u64,
    /// Packets to the Internet.
    pub up_packets: u64,
    /// Seconds since its first packet.
    pub age_s: f64,
    /// Seconds since its latest packet.
    pub idle_s: f64,
}

/// One flow and everything that its rate follows from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Detail {
    /// The flow.
    pub flow: Flow,
    /// The policy of its mesh end.
    pub policy: Policy,
    /// Largest payload seen.
    pub segment_bytes: u64,
    /// TCP-GAP's rate law; `None` while no data went to the mesh, and under another law.
    pub law: Option<Law>,
    /// The law where it is another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other_law: Option<OtherLaw>,
    /// What goodput control thinks of it; `None` if that is off or does not count this flow.
    pub goodput_control: Option<Standing>,
    /// What it would get if it were paced; `None` if it is, or sends nothing to the mesh.
    #[serde(default)]
    pub forecast: Option<Forecast>,
    /// How far off such forecasts were here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forecasts: Option<Forecasts>,
}

/// What is in force for a mesh host.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Policy {
    /// Mode.
    pub mode: String,
    /// Share of its flows that are paced where the mode is `pace`.
    pub paced_share: f64,
    /// Where this flow falls between 0 and 1: paced if below the share.
    pub draw: f64,
}
