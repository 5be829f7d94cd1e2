//! Parameters of the gateway.

use crate::CodelConfig;
use meshpace_keys::words;
use meshpace_pacing::{Departures, GoodputControlConfig};
use meshpace_units::{Bytes, Span};

/// The receiver's window before any was seen: the largest without scaling.
const WINDOW_UNSEEN: Bytes = Bytes(65_535);

/// Of the bytes and places of all flows together, one flow has at most so large a part.
const FLOW_PART: u64 = 4;
/// And always so many places: the packets of a window without scaling.
const FLOW_HELD_MIN: usize = 128;

words! {
    /// What the gateway does with duplicate ACKs from the wireless side (`gap_dupack`). Source: schemes.md 3.3.
    pub enum DupAck {
        /// Repair the hole from the cache, at most twice, and keep the duplicates from the sender meanwhile.
        Snoop = "snoop",
        /// The paper's flow chart to the letter: resend at every duplicate, forward none.
        Literal = "literal",
        /// Forward every duplicate; nothing is cached.
        Off = "off",
    }
}

words! {
    /// Which packet of a flow's pacing queue leaves next, and which do not leave (`gap_queue`). Source: schemes.md 3.3.
    pub enum Discipline {
        /// The paper's: first in, first out, up to the limit of the buffer.
        Fifo = "fifo",
        /// First in, first out, kept short by CoDel (RFC 8289): packets that have waited too long for too long are marked
        /// where ECN was negotiated (RFC 3168) and else dropped, one at a time.
        Codel = "codel",
    }
}

words! {
    /// Which window the acknowledgements from the mesh announce to a wired sender (`gap_window`): ours, not the paper's.
    pub enum Announced {
        /// The receiver's, as it came.
        Receiver = "receiver",
        /// What the flow's pace can use, if that is less: the round trip without the wait here times the pace, at least two segments.
        Pipe = "pipe",
    }
}

words! {
    /// What becomes of data that the wired sender sends again while its flow's packets wait (`gap_retransmissions`). Source:
    /// schemes.md 3.3.
    pub enum Retransmissions {
        /// The paper's: they wait behind what came before, copies of what waits or has arrived too.
        InTurn = "in-turn",
        /// The queue is in the order of sequence numbers, so that data which the receiver misses go before data which it cannot
        /// use yet. Only data that SACK blocks made the sender send again keep their turn; otherwise its RACK (RFC 8985) would
        /// take the data that they overtake for lost. Copies of data that wait, or were acknowledged a moment ago, are dropped.
        First = "first",
    }
}

words! {
    /// Which packets wait in one line (`gap_queues`). Source: schemes.md 3.3; docs/experiments/gap.md, O15.
    pub enum Queues {
        /// Each flow's: a flow waits for its own pace alone.
        Flow = "flow",
        /// All flows' together, as the paper's Fig. 7 can be read: the first packet leaves when its own flow's pace allows, and
        /// nothing overtakes it.
        One = "one",
    }
}

words! {
    /// For whom round trips, and the pace that comes of them, are kept (`gap_state`). Source: schemes.md 3.1;
    /// docs/experiments/gap.md, O25.
    pub enum Kept {
        /// For a connection: each begins without a sample.
        Connection = "connection",
        /// For a mesh host: all connections to it have one history and one interval, which a new one begins with.
        Host = "host",
    }
}

/// Parameters of a [`crate::Gateway`], its law's aside.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// A flow's spacing before its law's first answer (`gap_initial_interval`; schemes.md 1.5, last row); `None` does not pace until then.
    pub initial_interval: Option<Span>,
    /// How packets that the pace holds back leave (`gap_pacer`).
    pub departures: Departures,
    /// Which packets wait in one line (`gap_queues`).
    pub queues: Queues,
    /// For whom the law's history is kept (`gap_state`).
    pub kept: Kept,
    /// By how many bytes the RTT option makes a simulated acknowledgement longer (`gap_option_length`; schemes.md 3.2).
    pub option_length: u32,
    /// Goodput control; `None` switches it off (schemes.md 3.5).
    pub goodput_control: Option<GoodputControlConfig>,
    /// Duplicate ACKs.
    pub dupack: DupAck,
    /// The pacing queues' discipline (`gap_queue`): CoDel with these parameters; `None`: the paper's FIFO.
    pub codel: Option<CodelConfig>,
    /// The window announced to a wired sender (`gap_window`).
    pub announced: Announced,
    /// What becomes of data that is sent again (`gap_retransmissions`).
    pub retransmissions: Retransmissions,
    /// Buffer a flow may fill, queue and cache together, in receiver windows (`gap_buffer_windows`).
    pub buffer_windows: u32,
    /// Most bytes in all queues and caches (`gap_buffer_total`).
    pub buffer_total: Bytes,
    /// Most packets waiting in all queues (`gap_held_max`): a kernel's verdict search can be linear in it.
    pub held_max: usize,
    /// Most connections known (`gap_flows_max`).
    pub flows_max: usize,
    /// Most segments a flow's sequence map holds (`gap_segments_max`).
    pub segments_max: usize,
    /// Most segments in all sequence maps (`gap_segments_total`).
    pub segments_total: usize,
    /// Silence after which a connection is forgotten (`gap_idle`).
    pub idle: Span,
    /// A departure at most this late is charged at the time it was due, so that timer errors do not add up
    /// (`gap_late_tolerance`; schemes.md 3.6, "departures by absolute deadline"). Never more than half an interval.
    pub late_tolerance: Span,
    /// Of a flow whose interval is shorter (`gap_burst_time`), all lateness up to this is made up for, so that what is due within it may
    /// leave together: a wake-up for each packet would cost more than the packet. Longer intervals are kept as `late_tolerance` says.
    pub burst_time: Span,
    /// Packets of a flow that leave together at the most (`gap_trains`), where the medium carries many an access; 1: they go one by one.
    pub trains: u32,
    /// Packets may pass without coming here, all but those that open and end connections: what is acknowledged has been sent, seen or not.
    /// For a gateway that only watches.
    pub sampled: bool,
}

/// Of an interval that no burst may have, so much may go to waking late: evenly spaced packets with a tenth of jitter keep what
/// spacing gains.
const JITTER_PART: u64 = 10;

impl Config {
    /// The paper's values and the decisions of schemes.md section 3; the limits suit a gateway of 10,000 flows.
    pub const PAPER: Self = Self {
        initial_interval: None,
        departures: Departures::Token,
        queues: Queues::Flow,
        kept: Kept::Connection,
        option_length: 8,
        goodput_control: Some(GoodputControlConfig::PAPER),
        dupack: DupAck::Snoop,
        codel: None,
        announced: Announced::Receiver,
        retransmissions: Retransmissions::InTurn,
        buffer_windows: 2,
        buffer_total: Bytes(256 << 20),
        held_max: 65_536,
        flows_max: 65_536,
        segments_max: 8_192,
        segments_total: 1 << 20,
        idle: Span::from_secs(180),
        late_tolerance: Span::from_millis(1),
        burst_time: Span::from_millis(1),
        trains: 1,
        sampled: false,
    };

    /// The most bytes of a flow that may wait and be kept, from the largest `window` that its receiver has announced; a
    /// receiver can announce a gibibyte and never read, so not more than a quarter of what there is for all.
    #[must_use]
    pub fn flow_limit(&self, window: Option<Bytes>) -> Bytes {
        let unscaled = WINDOW_UNSEEN * u64::from(self.buffer_windows);
        let most = Bytes(self.buffer_total.0 / FLOW_PART).max(unscaled);
        window.map_or(unscaled, |window| window * u64::from(self.buffer_windows)).min(most)
    }

    /// How late a departure of a flow with this interval may be for the next one to make up for it.
    #[must_use]
    pub fn tolerance(&self, interval: Span) -> Span {
        if interval < self.burst_time { self.burst_time } else { self.late_tolerance.min(interval / 2) }
    }

    /// How long after it is due a departure of a flow with this interval may be waited for on purpose, so that others leave with it. Half of
    /// a burst: the other half is left to timers.
    #[must_use]
    pub fn patience(&self, interval: Span) -> Span {
        let most = self.burst_time / 2;
        if interval < self.burst_time { most } else { most.min(interval / JITTER_PART) }
    }

    /// The most packets of a flow that may wait: a quarter of all, however small they are.
    pub(crate) fn flow_held_max(&self) -> usize {
        (self.held_max / FLOW_PART as usize).max(FLOW_HELD_MIN)
    }
}
