//! Who watches a run: packet captures and time series hang in here, and cost nothing where there are none.

use meshpace_packet::Packet;
use meshpace_radio::{Frame, Outcome};
use meshpace_units::{Bytes, Instant, NodeId, Span};

/// The state of a flow at a moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlowSample {
    /// The flow's index.
    pub flow: usize,
    /// Payload delivered in order since the start of the run.
    pub delivered: Bytes,
    /// Congestion window in segments.
    pub cwnd: Option<f64>,
    /// Smoothed k-hop delay, s.
    pub khd: Option<f64>,
    /// Pacing interval.
    pub pacing_interval: Option<Span>,
    /// Latest round-trip sample.
    pub rtt: Option<Span>,
}

/// Looks on. Nothing that a probe does can change a run.
pub trait Probe {
    /// A frame goes on the air; `packet` is what a data frame carries.
    fn frame(&mut self, _now: Instant, _frame: &Frame, _packet: Option<&Packet>) {}

    /// The last bit of a frame that was meant for `at` (a broadcast is meant for all in range) arrived there, and it
    /// was lost to the overlap with others or to the node's own transmission.
    fn lost(&mut self, _now: Instant, _at: NodeId, _frame: &Frame, _outcome: Outcome) {}

    /// A flow, every 0.25 s.
    fn flow(&mut self, _now: Instant, _sample: &FlowSample) {}

    /// Packets that wait in a mesh node's interface queue, every 0.25 s.
    fn queue(&mut self, _now: Instant, _node: usize, _waiting: usize) {}

    /// True if `queue` is wanted.
    fn wants_queues(&self) -> bool {
        false
    }
}

/// Watches nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoProbe;

impl Probe for NoProbe {}
