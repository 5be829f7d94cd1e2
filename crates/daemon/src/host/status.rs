//! What `meshpaced host --status` shows: a Unix socket that answers every connection with one JSON line.

use super::exchange::Cookie;
use super::flows::{Connection, Flows};
use crate::text;
use meshpace_pacing::{RateLaw, WirelessPart};
use meshpace_units::{Histogram, Instant, Rate, Span};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Version of the answer; changes only when a key's meaning does.
const SCHEMA: u32 = 1;

/// Upper bounds of the buckets of the loop's delay.
const DELAYS: [Span; 12] = [
    Span::from_micros(20),
    Span::from_micros(50),
    Span::from_micros(100),
    Span::from_micros(200),
    Span::from_micros(500),
    Span::from_millis(1),
    Span::from_millis(2),
    Span::from_millis(5),
    Span::from_millis(10),
    Span::from_millis(50),
    Span::from_millis(200),
    Span::from_secs(1),
];

/// From the kernel's sample until the limit that follows from it lies in the kernel.
pub type Delay = Histogram<{ DELAYS.len() }>;

/// An empty histogram of the loop's delay.
pub const fn no_delays() -> Delay {
    Histogram::new(&DELAYS)
}

/// The answer. Quantities carry their unit in the key: `_s` seconds, `_bps` bit/s.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Status {
    /// Version of this layout.
    pub schema: u32,
    /// The daemon's version.
    pub version: String,
    /// The process id of the daemon.
    pub pid: u32,
    /// Seconds since the daemon began.
    pub uptime_s: f64,
    /// The control group whose sockets are paced.
    pub cgroup: PathBuf,
    /// How fast limits follow samples.
    pub delay: LoopDelay,
    /// What the program in the kernel counted, by name.
    pub counters: BTreeMap<String, u64>,
    /// Connections, oldest first.
    pub flows: Vec<FlowStatus>,
}

/// The time from the kernel's sample until the limit that follows from it lies in the kernel. The socket takes the limit
/// at its next acknowledgement.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LoopDelay {
    /// The number of limits.
    pub orders: u64,
    /// Half of the limits took at most this long, seconds.
    pub p50_s: Option<f64>,
    /// 99 % of the limits took at most this long, seconds.
    pub p99_s: Option<f64>,
    /// The longest time that a limit took, seconds.
    pub max_s: Option<f64>,
}

/// One connection.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FlowStatus {
    /// This host's end.
    pub local: String,
    /// The other end.
    pub remote: String,
    /// Whether a gateway tells the wired part of the round trip: `unknown`, `seen` or `absent`.
    pub gateway: String,
    /// True if the connection began before the program was attached.
    pub adopted: bool,
    /// The number of wireless hops to the gateway.
    pub hops: u32,
    /// The payload of a full segment, bytes.
    pub mss_bytes: u64,
    /// The latest round trip of the whole path, seconds.
    pub rtt_s: Option<f64>,
    /// The latest wired part that the gateway told, seconds.
    pub rtt_wired_s: Option<f64>,
    /// The latest wireless part, seconds.
    pub rtt_wireless_s: Option<f64>,
    /// The law's smoothed k-hop delay, seconds (2.2).
    pub k_hop_delay_s: Option<f64>,
    /// The variation of the samples, a ratio (2.3).
    pub variation: f64,
    /// Seconds between two segments that the law asks for; null if it asks for none.
    pub interval_s: Option<f64>,
    /// The same as a rate of payload, bit/s.
    pub limit_bps: Option<u64>,
    /// The limit that the socket has, bit/s.
    pub in_force_bps: Option<u64>,
    /// Samples that the law took.
    pub samples: u64,
    /// Samples that the law refused.
    pub samples_rejected: u64,
    /// Samples whose wireless part was zero or less.
    pub samples_discarded: u64,
    /// Seconds since the program follows the connection.
    pub age_s: f64,
    /// Seconds since the latest report of the connection.
    pub idle_s: f64,
}

/// What the loop hands to a status.
#[derive(Debug)]
pub struct Sources<'a> {
    pub now: Instant,
    pub started: Instant,
    pub cgroup: &'a Path,
    pub flows: &'a Flows,
    pub delay: &'a Delay,
    pub counters: Vec<(&'static str, u64)>,
}

impl Status {
    /// What is known now; `in_force` tells the limit that a connection's socket has.
    #[must_use]
    pub fn new(sources: &Sources<'_>, in_force: impl Fn(Cookie) -> Option<Rate>) -> Self {
        let flow = |(cookie, flow)| FlowStatus::new(flow, in_force(cookie), sources.now);
        let delay = sources.delay;
        Self {
            schema: SCHEMA,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            pid: std::process::id(),
            uptime_s: sources.now.saturating_since(sources.started).as_secs_f64(),
            cgroup: sources.cgroup.to_owned(),
            delay: LoopDelay {
                orders: delay.count(),
                p50_s: delay.quantile(0.5).map(Span::as_secs_f64),
                p99_s: delay.quantile(0.99).map(Span::as_secs_f64),
                max_s: (delay.count() > 0).then(|| delay.max().as_secs_f64()),
            },
            counters: sources.counters.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect(),
            flows: sources.flows.iter().map(flow).collect(),
        }
    }
}

impl FlowStatus {
    fn new(flow: &Connection, in_force: Option<Rate>, now: Instant) -> Self {
        let seconds = |span: Option<Span>| span.map(Span::as_secs_f64);
        let law = flow.law.rate_law();
        Self {
            local: flow.ends.local.to_string(),
            remote: flow.ends.remote.to_string(),
            gateway: match flow.part {
                WirelessPart::Unknown { .. } => "unknown",
                WirelessPart::Seen => "seen",
                WirelessPart::Absent => "absent",
            }
            .to_owned(),
            adopted: flow.adopted,
            hops: flow.hops,
            mss_bytes: flow.mss.0,
            rtt_s: seconds(flow.rtt),
            rtt_wired_s: seconds(flow.rtt_wired),
            rtt_wireless_s: seconds(flow.rtt_wireless),
            k_hop_delay_s: law.and_then(RateLaw::k_hop_delay),
            variation: law.map_or(0.0, RateLaw::variation),
            interval_s: seconds(flow.interval),
            limit_bps: flow.limit().map(Rate::as_bits_per_sec),
            in_force_bps: in_force.map(Rate::as_bits_per_sec),
            samples: law.map_or(0, RateLaw::samples),
            samples_rejected: law.map_or(0, RateLaw::rejected),
            samples_discarded: flow.discarded,
            age_s: now.saturating_since(flow.since).as_secs_f64(),
            idle_s: now.saturating_since(flow.active).as_secs_f64(),
        }
    }
}

/// In words.
pub fn for_people(status: &Status) -> String {
    let counter = |name: &str| text::count(status.counters.get(name).copied().unwrap_or(0));
    let mut out = format!(
        "meshpaced host {}, up {}, {}\n{} connections now, {} followed, {} without a place; {} options read, {} malformed; \
         {} limits set, {} lifted by the watchdog\nfrom sample to limit: {} at the median, {} at 99 %, {} at most\n\n",
        status.version,
        text::time(status.uptime_s),
        status.cgroup.display(),
        status.flows.len(),
        counter("connections"),
        counter("no_place"),
        counter("options"),
        counter("malformed"),
        counter("set"),
        counter("expired"),
        text::or_unknown(status.delay.p50_s, text::time),
        text::or_unknown(status.delay.p99_s, text::time),
        text::or_unknown(status.delay.max_s, text::time),
    );
    for flow in &status.flows {
        let gateway = match flow.gateway.as_str() {
            "absent" => "no gateway",
            "seen" => "gateway",
            _ => "gateway not known yet",
        };
        out.push_str(&format!(
            "{} -> {}  {}, {}  RTT {} = {} wired + {} wireless  variation {:.2}  limit {}, in force {}\n",
            flow.local,
            flow.remote,
            gateway,
            text::counted(flow.hops.into(), "hop"),
            text::or_unknown(flow.rtt_s, text::time),
            text::or_unknown(flow.rtt_wired_s, text::time),
            text::or_unknown(flow.rtt_wireless_s, text::time),
            flow.variation,
            flow.limit_bps.map_or_else(|| "none".to_owned(), |bps| text::bit_rate(bps as f64)),
            flow.in_force_bps.map_or_else(|| "none".to_owned(), |bps| text::bit_rate(bps as f64)),
        ));
    }
    out
}
