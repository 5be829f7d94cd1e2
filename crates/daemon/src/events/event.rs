//! What can happen.

use meshpace_linux::Peer;
use serde::Serialize;

/// The user of a client of the control socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct By {
    /// The user.
    pub uid: u32,
    /// The process.
    pub pid: u32,
}

impl From<Peer> for By {
    fn from(Peer { uid, pid }: Peer) -> Self {
        Self { uid, pid }
    }
}

/// Something worth a line in the log.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// The daemon forwards packets.
    Started {
        /// Its version.
        version: &'static str,
        /// What happens to flows that no subnet says otherwise about.
        mode: &'static str,
        /// How packets reach it.
        datapath: &'static str,
    },
    /// The daemon ends in good order.
    Stopped {
        /// How it was asked to.
        reason: &'static str,
        /// The client's user; `None` for a signal.
        #[serde(flatten)]
        by: Option<By>,
    },
    /// An operator changed the mode at run time.
    ModeChanged {
        /// The new mode.
        mode: &'static str,
        /// The subnet it is for; `None`: the whole file's.
        subnet: Option<String>,
        /// The client's user.
        #[serde(flatten)]
        by: By,
    },
    /// The configuration was read again and is in force.
    Reloaded {
        /// The file.
        file: String,
        /// The client's user; `None` for a signal.
        #[serde(flatten)]
        by: Option<By>,
    },
    /// The configuration was read again and cannot be used; the earlier one stays in force.
    ReloadRefused {
        /// Why.
        message: String,
        /// The client's user; `None` for a signal.
        #[serde(flatten)]
        by: Option<By>,
    },
    /// A user that may only look asked for a change.
    ChangeDenied {
        /// The command.
        command: &'static str,
        /// The client's user.
        #[serde(flatten)]
        by: By,
    },
    /// The rules that lead packets to the queue were made.
    RulesMade {
        /// By which way, in which form, and why not by a better one.
        message: String,
    },
    /// Another program changed them; they are made again.
    RulesChanged {
        /// What is missing or other.
        message: String,
    },
    /// They could not be made, removed or looked at; packets pass meanwhile as the rules that are there say.
    RulesFailed {
        /// Why, and when it is tried again.
        message: String,
    },
    /// A flow was seen for the first time.
    FlowOpened(FlowOpened),
    /// A flow ended or was forgotten.
    FlowClosed(FlowClosed),
    /// Goodput control caps a flow.
    FlowThrottled {
        /// Its name.
        flow: String,
        /// The cap, packets a second.
        cap_pps: f64,
        /// Its goodput, bit/s.
        goodput_bps: Option<u64>,
    },
    /// Goodput control let go of a flow.
    FlowReleased {
        /// Its name.
        flow: String,
    },
    /// Flows began and ended between two looks, a second apart; they have no lines of their own.
    ShortFlows {
        /// How many.
        count: u64,
    },
    /// The kernel's packet queue or its socket was full: packets passed unqueued (fail-open) or were lost.
    QueueOverflow {
        /// Because the queue was full.
        queue: u64,
        /// Because the socket's buffer was full.
        socket: u64,
    },
    /// The daemon itself had as many packets waiting as it may, and passed on the rest at once.
    HeldLimit {
        /// Packets passed on.
        packets: u64,
    },
    /// Flows' buffers were full and packets were dropped.
    BufferFull {
        /// Packets dropped.
        packets: u64,
    },
    /// More than 1 % of the departures since the last look were later than a millisecond.
    Late {
        /// Departures since then.
        departures: u64,
        /// Those later than a millisecond.
        late: u64,
    },
    /// The flow table was full: connections went through unwatched, or silent ones were forgotten for new ones.
    TableFull {
        /// Connections forgotten.
        evicted: u64,
        /// Packets of connections without a place.
        untracked: u64,
    },
    /// The guard of a mode that was switched on has compared.
    Guarded {
        /// It went back to what was before.
        went_back: bool,
        /// Pairs of blocks that counted.
        pairs: u32,
        /// Goodput with pacing over that without.
        ratio: Option<f64>,
        /// The same in words.
        message: String,
    },
    /// A forecast of a flow was compared with what the flow got.
    ForecastCompared {
        /// Its name.
        flow: String,
        /// Foretold while it was only watched, payload bit/s.
        foretold_bps: f64,
        /// The goodput that the flow got when it was paced.
        measured_bps: f64,
        /// The latter over the former, less 1.
        error: f64,
    },
    /// A figure that the daemon believes cannot be true, or traffic on the interfaces is not seen.
    Doubted {
        /// What.
        name: &'static str,
        /// What was found.
        message: String,
        /// What to do about it.
        remedy: String,
    },
    /// It speaks for itself no longer.
    DoubtOver {
        /// What.
        name: &'static str,
    },
    /// Lines that were left out, because there were too many.
    Suppressed {
        /// How many.
        lines: u64,
    },
}

/// The keys of `flow_opened`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FlowOpened {
    /// Its name: the end in the mesh, a dash, the end in the Internet.
    pub flow: String,
    /// `pace`, `shape` or `observe`.
    pub treatment: &'static str,
    /// Wireless hops, if known.
    pub hops: Option<u32>,
    /// The source of the hops.
    pub hop_source: &'static str,
}

/// The keys of `flow_closed`: the flow as it was seen last, at most a second before its end.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FlowClosed {
    /// Its name.
    pub flow: String,
    /// `pace`, `shape` or `observe`.
    pub treatment: &'static str,
    /// Seconds since it was opened.
    pub age_s: f64,
    /// IP bytes towards the mesh.
    pub down_bytes: u64,
    /// IP bytes towards the Internet.
    pub up_bytes: u64,
    /// Smoothed wireless round trip, seconds.
    pub wireless_rtt_s: Option<f64>,
    /// Latest wired round trip, seconds.
    pub wired_rtt_s: Option<f64>,
    /// Packets dropped at a full buffer.
    pub drops: u64,
    /// Packets sent again from the gateway's cache.
    pub local_retransmissions: u64,
}

impl Event {
    /// True for events that others can cause in any number: those about single flows, and denied requests.
    #[must_use]
    pub const fn is_limited(&self) -> bool {
        matches!(
            self,
            Self::FlowOpened(_)
                | Self::FlowClosed(_)
                | Self::FlowThrottled { .. }
                | Self::FlowReleased { .. }
                | Self::ForecastCompared { .. }
                | Self::ChangeDenied { .. }
        )
    }
}
