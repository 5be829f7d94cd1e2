//! What the gateway tells about itself.

use crate::{
    FlowKey, Forecast, Goodput, Treatment, Unforeseen,
    connection::{Connection, Traffic},
};
use alloc::boxed::Box;
use meshpace_pacing::{FlowLaw, RateLaw, Standing};
use meshpace_units::{Bytes, Histogram, Instant, Rate, Span};

/// Totals since the gateway began.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Counters {
    /// Connections entered into the table.
    pub opened: u64,
    /// Connections forgotten to make room for others.
    pub evicted: u64,
    /// Packets of connections for which there was no room; they were forwarded unpaced.
    pub untracked: u64,
    /// Packets whose sequence numbers cannot belong to their connection; they were forwarded, and nothing in them was
    /// believed.
    pub implausible: u64,
    /// Packets held in a pacing queue.
    pub held: u64,
    /// Packets that left before their time, since others than their host had taken all places or bytes.
    pub crowded: u64,
    /// Packets forwarded at once.
    pub forwarded: u64,
    /// Duplicate ACKs kept, because the gateway repairs the loss itself (schemes.md 3.3).
    pub consumed: u64,
    /// Packets dropped at a full buffer.
    pub dropped: u64,
    /// Packets that left a queue for the mesh.
    pub released: u64,
    /// Packets dropped from a queue because their connection was over.
    pub discarded: u64,
    /// Packets sent again from a cache.
    pub retransmitted: u64,
    /// RTT options written (schemes.md 3.2).
    pub options_written: u64,
    /// Acknowledgements that announced less than the receiver's window (`gap_window = "pipe"`).
    pub windows_lowered: u64,
    /// Copies dropped because their data waited already or had been acknowledged.
    pub duplicates: u64,
    /// Packets that active management of a pacing queue dropped (CoDel): none while the queues are first in, first out.
    pub aqm_drops: u64,
    /// Packets that CoDel marked instead (RFC 3168).
    pub aqm_marks: u64,
}

/// Upper bounds of the buckets of [`RoundTrips`] and [`Waits`].
static TIME_BOUNDS: [Span; 14] = [
    Span::from_millis(1),
    Span::from_millis(2),
    Span::from_millis(5),
    Span::from_millis(10),
    Span::from_millis(20),
    Span::from_millis(30),
    Span::from_millis(50),
    Span::from_millis(75),
    Span::from_millis(100),
    Span::from_millis(200),
    Span::from_millis(500),
    Span::from_secs(1),
    Span::from_secs(2),
    Span::from_secs(5),
];

/// Round trips measured, of all connections together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RoundTrips {
    /// Gateway to mesh host and back, of wired-to-wireless data, pacing delay excluded.
    pub wireless: Histogram<14>,
    /// Gateway to Internet host and back, of wireless-to-wired data.
    pub wired: Histogram<14>,
}

impl Default for RoundTrips {
    fn default() -> Self {
        Self { wireless: Histogram::new(&TIME_BOUNDS), wired: Histogram::new(&TIME_BOUNDS) }
    }
}

/// How long packets waited in the pacing queues before they left for the mesh: all data packets of paced flows, those that left
/// at once included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waits(pub Histogram<14>);

impl Default for Waits {
    fn default() -> Self {
        Self(Histogram::new(&TIME_BOUNDS))
    }
}

/// Why a connection has its pace.
#[derive(Clone, Debug)]
pub struct Explanation {
    /// The flow law with its state; `None` while no data went to the mesh.
    pub law: Option<Box<dyn FlowLaw>>,
    /// The law's time between two packets.
    pub law_interval: Option<Span>,
    /// What goodput control found of the connection, if goodput control is on and counts the connection.
    pub standing: Option<Standing>,
    /// What pacing would give the connection; `None` if the connection is paced, or sends nothing to the mesh.
    pub forecast: Option<Result<Forecast, Unforeseen>>,
}

/// What came of one connection, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Activity {
    /// How its latest packet was treated.
    pub treatment: Treatment,
    /// First packet.
    pub opened: Instant,
    /// Latest packet.
    pub last_activity: Instant,
    /// From the wired side.
    pub down: Traffic,
    /// From the wireless side.
    pub up: Traffic,
    /// Largest payload from the wired side, in place of the MSS.
    pub segment: Bytes,
}

impl Activity {
    pub(crate) fn of<P: Clone>(connection: &Connection<P>) -> Self {
        let [down, up] = connection.traffic;
        Self {
            treatment: connection.treatment,
            opened: connection.opened,
            last_activity: connection.last_activity,
            down,
            up,
            segment: connection.down.as_ref().map_or(Bytes::ZERO, |down| down.segment),
        }
    }
}

/// One connection's present state.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlowStats {
    /// The connection's two ends.
    pub key: FlowKey,
    /// True if data to the wired side were seen.
    pub up: bool,
    /// True if data to the mesh were seen.
    pub down: bool,
    /// True if data of the connection wait here, or have passed and are not acknowledged.
    pub outstanding: bool,
    /// The time between two packets to the mesh; `None` before the first sample.
    pub interval: Option<Span>,
    /// The smoothed k-hop delay, seconds.
    pub k_hop_delay: Option<f64>,
    /// The variation of the wireless round trips, a ratio (schemes.md 2, "cov estimator").
    pub variation: f64,
    /// Goodput control's cap, as a time between two packets.
    pub cap: Option<Span>,
    /// False if the flow bypasses its queue: it is only watched, or the buffer was full when it began.
    pub paced: bool,
    /// Packets that wait now.
    pub queued: usize,
    /// Bytes in queue and cache.
    pub buffered: Bytes,
    /// Packets dropped at a full buffer.
    pub drops: u64,
    /// Copies dropped because their data waited already or had been acknowledged.
    pub duplicates: u64,
    /// Packets dropped from the queue because packets waited too long (CoDel).
    pub aqm_drops: u64,
    /// Packets marked for the same reason.
    pub aqm_marks: u64,
    /// How long packets wait for their turn, smoothed by an eighth of each (those that leave at once wait for no time); `None`
    /// while none was paced, or where the data path does not know.
    pub wait: Option<Span>,
    /// The most that the wired sender may have on its way (`gap_window = "pipe"`); `None` where only its receiver limits
    /// that.
    pub window: Option<Bytes>,
    /// Packets sent again from the cache.
    pub local_retransmissions: u64,
    /// Wireless round-trip samples: how many were accepted, and how many rejected.
    pub samples: (u64, u64),
    /// The smoothed wireless round trip.
    pub wireless_rtt: Option<Span>,
    /// The latest wired round trip.
    pub wired_rtt: Option<Span>,
    /// RTT options written into ACKs (schemes.md 3.2).
    pub options_written: u64,
    /// Goodput of data to the mesh, by acknowledgements.
    pub goodput_down: Option<Goodput>,
    /// Wireless-to-wired data acknowledged.
    pub goodput_up: Option<Goodput>,
}

impl FlowStats {
    pub(crate) fn of<P: Clone>(connection: &Connection<P>) -> Self {
        let (up, down) = (connection.up.as_ref(), connection.down.as_ref());
        let law = down.and_then(|down| down.wireless.law().rate_law());
        Self {
            key: connection.key,
            up: up.is_some(),
            down: down.is_some(),
            outstanding: down.is_some_and(|d| d.outstanding() || d.queue_len() > 0)
                || up.is_some_and(|u| u.outstanding()),
            interval: down.and_then(|d| d.interval()),
            k_hop_delay: law.and_then(RateLaw::k_hop_delay),
            variation: law.map_or(0.0, RateLaw::variation),
            cap: down.and_then(|d| d.cap),
            paced: down.is_some_and(|d| d.is_paced()),
            queued: down.map_or(0, |d| d.queue_len()),
            buffered: down.map_or(Bytes::ZERO, |d| d.buffered()),
            drops: down.map_or(0, |d| d.drops),
            duplicates: down.map_or(0, |d| d.duplicates),
            aqm_drops: down.map_or(0, |d| d.aqm_drops),
            aqm_marks: down.map_or(0, |d| d.aqm_marks),
            wait: down.and_then(|d| d.wait),
            window: connection.sender_window.limit,
            local_retransmissions: down.map_or(0, |d| d.repairs),
            samples: law.map_or((0, 0), |law| (law.samples(), law.rejected())),
            wireless_rtt: down.and_then(|d| d.wireless.smoothed),
            wired_rtt: up.and_then(|u| u.rtt),
            options_written: up.map_or(0, |u| u.options_written),
            goodput_down: down.map(|d| d.goodput),
            goodput_up: up.map(|u| u.goodput),
        }
    }

    /// Goodput of both directions together at `now`; `None` until a first period is over.
    #[must_use]
    pub fn goodput(&self, now: Instant) -> Option<Rate> {
        let rates = [self.goodput_down, self.goodput_up].into_iter().flatten().filter_map(|g| g.rate(now));
        rates.reduce(|a, b| Rate::bits_per_sec(a.as_bits_per_sec().saturating_add(b.as_bits_per_sec())))
    }
}
