//! What the data thread is asked, and what it tells. It copies; others format.

mod lateness;

pub use crate::config::{HopSource, Mode};
pub use lateness::{Lateness, no_lateness};
pub use meshpace_gateway::Traffic;

use crate::config::Config;
use meshpace_gateway::{
    Counters, Explanation, FlowKey, FlowStats, Found, HostStats, RoundTrips, ShaperConfig, ShaperCounters,
    Treatment, Waits,
};
use meshpace_units::{Bytes, Instant, Rate};
use std::sync::mpsc::Sender;

/// A question or an order to the data thread. After sending one, wake the thread.
#[derive(Debug)]
pub enum Request {
    /// Tell everything; of the flows perhaps only the first, or none.
    Snapshot(Sender<Snapshot>),
    /// Tell of the flows that follow this one, or of the first ones: as many as take no packet's time.
    Page(Option<FlowKey>, Sender<Page>),
    /// Tell one flow in detail; `None` if it is not known.
    Flow(FlowKey, Sender<Option<Box<FlowDetail>>>),
    /// Put another configuration in force; flows are kept. Answers what the operator should know about it, or why the
    /// earlier one stays in force.
    Reload(Box<Config>, Sender<Result<String, String>>),
    /// Give a sign of life now ([`crate::data_thread::Heartbeat`]), then answer.
    Sign(Sender<()>),
    /// Release what is held, in order, and end.
    Stop,
}

/// Packets that went on unread, by reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Unread {
    /// Fragments of IP packets.
    pub fragments: u64,
    /// Packets of protocols other than TCP.
    pub other_protocol: u64,
    /// Packets that end before their headers do.
    pub truncated: u64,
    /// Packets whose headers contradict themselves.
    pub malformed: u64,
    /// Packets longer than a wire carries (an unsegmented offload packet).
    pub oversized: u64,
    /// Packets of which neither end, or both ends, lie in the mesh.
    pub not_crossing: u64,
    /// Packets of a subnet whose mode is off.
    pub off: u64,
    /// Packets signed by TCP-MD5 (RFC 2385) or TCP-AO (RFC 5925).
    pub signed: u64,
}

/// What the driver of the data path counted since it began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DriverCounters {
    /// Packets taken from the kernel.
    pub packets: u64,
    /// Their IP lengths together.
    pub bytes: Bytes,
    /// Packets that went on unread.
    pub unread: Unread,
    /// System calls that carried verdicts.
    pub verdict_batches: u64,
    /// Packets that the kernel passed on unqueued or dropped because the queue was full.
    pub kernel_dropped: u64,
    /// Packets that the kernel passed on unqueued or dropped because the socket's buffer was full.
    pub socket_dropped: u64,
    /// Packets whose handling failed inside; they were passed on.
    pub failed: u64,
    /// Packets accepted at once because as many as allowed were held.
    pub overflowed: u64,
    /// How late departures were.
    pub lateness: Lateness,
}

impl Default for DriverCounters {
    fn default() -> Self {
        Self {
            packets: 0,
            bytes: Bytes::ZERO,
            unread: Unread::default(),
            verdict_batches: 0,
            kernel_dropped: 0,
            socket_dropped: 0,
            failed: 0,
            overflowed: 0,
            lateness: no_lateness(),
        }
    }
}

/// One flow, as the data thread knows it.
#[derive(Clone, Debug)]
pub struct FlowReport {
    /// The gateway's state of it.
    pub stats: FlowStats,
    /// Paced, or only watched.
    pub treatment: Treatment,
    /// Wireless hops of its mesh end, if known.
    pub hops: Option<u32>,
    /// The source of the hops.
    pub hop_source: HopSource,
    /// Rate of the wireless links on its way.
    pub link_rate: Rate,
    /// Towards the mesh.
    pub down: Traffic,
    /// Towards the Internet.
    pub up: Traffic,
    /// First packet seen.
    pub opened: Instant,
    /// Latest packet seen.
    pub last_activity: Instant,
    /// Largest payload seen, in place of the MSS.
    pub segment: Bytes,
}

/// One flow, and why it has its pace.
#[derive(Clone, Debug)]
pub struct FlowDetail {
    /// The flow.
    pub report: FlowReport,
    /// Its rate law and what goodput control thinks of it.
    pub explanation: Explanation,
}

/// What is shaped by host.
#[derive(Clone, Debug)]
pub struct HostsReport {
    /// By what.
    pub config: ShaperConfig,
    /// What the shaper counted since it began.
    pub counters: ShaperCounters,
    /// What was found of the rate; `None`: it is given.
    pub found: Option<Found>,
    /// Packets that wait there.
    pub queued: usize,
    /// Hosts known.
    pub known: usize,
    /// The hosts that have got most lately, most first; not more than a few dozen.
    pub hosts: Vec<HostStats>,
}

/// How many of the packets the daemon sees, where not all have to come to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// The most packets a second that come to the daemon.
    pub most: u32,
    /// Packets that came in the latest second.
    pub packets: u64,
    /// True if other packets may have passed unseen.
    pub active: bool,
}

/// Everything the data thread knows, at one moment.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// When it was taken.
    pub at: Instant,
    /// When the data thread began.
    pub started: Instant,
    /// The mode of flows that no subnet's policy names.
    pub mode: Mode,
    /// The gateway's totals.
    pub counters: Counters,
    /// The driver's totals.
    pub driver: DriverCounters,
    /// All round trips measured.
    pub round_trips: RoundTrips,
    /// How long packets have waited for their turn; `None` if the data path does not know.
    pub waits: Option<Waits>,
    /// What is shaped by host; `None` where nothing is.
    pub hosts: Option<HostsReport>,
    /// Whether it is told of a sample; `None` where all packets come.
    pub sample: Option<Sample>,
    /// Packets held now.
    pub held: usize,
    /// Bytes in queues and caches now.
    pub buffered: Bytes,
    /// How many flows were known then. Told page by page, `flows` may have some beside that came or went meanwhile.
    pub known: usize,
    /// The flows, in the order of their keys.
    pub flows: Vec<FlowReport>,
    /// No flow follows these; otherwise [`Request::Page`] tells of those that do.
    pub complete: bool,
}

impl Snapshot {
    /// True if a shaper of hosts is in force: all that goes into the mesh waits for its host's turn.
    #[must_use]
    pub const fn shapes(&self) -> bool {
        self.hosts.is_some()
    }

    /// True if packets may have passed unseen in the latest second.
    #[must_use]
    pub fn is_of_a_sample(&self) -> bool {
        self.sample.is_some_and(|sample| sample.active)
    }
}

/// Some flows that follow one another.
#[derive(Clone, Debug)]
pub struct Page {
    /// In the order of their keys.
    pub flows: Vec<FlowReport>,
    /// They are the last.
    pub complete: bool,
}
