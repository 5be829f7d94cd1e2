//! The law of a flow: what its driver reports to it, and what it answers.
//!
//! | driver | where | tells | carries out |
//! |---|---|---|---|
//! | `meshpace_gateway::Gateway` | the simulator's gateways; the daemon's on NFQUEUE | all | all |
//! | `daemon::ebpf::Engine` | the daemon's gateway on eBPF | round trips; what is acknowledged, at each look at the kernel's table | the spacing |
//! | `daemon::host::Flows` | a sending host | round trips of the wireless part | the spacing, as a rate |
//!
//! A law is a file like `khd.rs` and a row of [`FLOW_LAWS`]; all drivers then run it. The kernel's programs only carry out orders:
//! there is no law in them.

mod maker;

pub use maker::LawMaker;

use crate::{RateLaw, Route};
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::any::Any;
use core::fmt;
use core::num::NonZeroU32;
use meshpace_keys::{Part, Values};
use meshpace_units::{Bytes, Instant, Span};

/// A round trip over the part of the path that the law is for. It is measured on the latest segment that an acknowledgement
/// covers, if that segment was sent once (schemes.md 1.3, rules 2 and 3).
#[derive(Clone, Copy, Debug)]
pub struct RoundTrip<'a> {
    /// The time at which the acknowledgement came.
    pub now: Instant,
    /// The round trip from the segment's departure at the driver; its wait there does not count.
    pub rtt: Span,
    /// The largest payload that the flow has shown, or its MSS where the driver knows the MSS; bytes.
    pub segment: Bytes,
    /// The way through the mesh: hops and link rates.
    pub route: &'a Route,
    /// The number of flows that share this law and have data on their way, this flow included. It is 1 unless the
    /// law is kept for a host (`gap_state = "host"`).
    pub sharing: u32,
    /// The time until an answer of the law shows in the data that arrive: the round trip to the sender and on to the receiver,
    /// without the wait at the driver. `None` where the sender itself is paced, which answers at once.
    pub answered: Option<Span>,
}

/// News of a flow's packets since the law's latest call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// The time at which the driver learnt the news.
    pub now: Instant,
    /// Payload newly acknowledged, bytes.
    pub acked: Bytes,
    /// Segments that were sent again, by their sender or by the driver.
    pub again: u64,
    /// The receiver says that a packet was marked (RFC 3168, section 6.1.3).
    pub marked: bool,
}

/// The pace at which a flow's packets leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowPace {
    /// The mean time between two packets; `None`: nothing is held back.
    pub spacing: Option<Span>,
    /// The number of packets that leave together; after them no packet leaves for as many spacings.
    pub burst: NonZeroU32,
    /// The most that the sender may have on its way; `None`: no limit.
    pub window: Option<Bytes>,
    /// A packet that has waited for longer leaves with the mark of congestion, if its transport supports that; `None`: no
    /// mark.
    pub mark_after: Option<Span>,
}

impl FlowPace {
    /// A pace that holds nothing back.
    pub const UNPACED: Self = Self { spacing: None, burst: NonZeroU32::MIN, window: None, mark_after: None };

    /// A pace of one packet in this time.
    #[must_use]
    pub const fn every(spacing: Span) -> Self {
        Self { spacing: Some(spacing), ..Self::UNPACED }
    }

    /// A pace of so many packets together, at that mean spacing.
    #[must_use]
    pub const fn trains(spacing: Span, packets: NonZeroU32) -> Self {
        Self { burst: packets, ..Self::every(spacing) }
    }
}

/// The law of one flow, or of one host's flows.
///
/// A law does not know where it runs: equal calls must give equal answers. Queue, repair and goodput control belong to the driver. Of
/// the law's spacing and goodput control's cap the slower one holds (schemes.md 3.4). An answer holds until the next answer; before
/// the first one the driver's initial interval holds (`gap_initial_interval`, `initial_interval`).
pub trait FlowLaw: Any + fmt::Debug + Send + Sync {
    /// A round trip was measured. `None`: the pace stays as it is.
    fn on_round_trip(&mut self, trip: &RoundTrip<'_>) -> Option<FlowPace>;

    /// Data arrived, were sent again, or were marked. `None`: the pace stays as it is.
    fn on_progress(&mut self, _progress: &Progress) -> Option<FlowPace> {
        None
    }

    /// One access to the medium carries so many packets, at a radio that aggregates, and they leave together from now on. `None`: this law
    /// sends no packets together.
    fn on_unit(&mut self, _now: Instant, _packets: NonZeroU32) -> Option<FlowPace> {
        None
    }

    /// Takes the parameters of `fresh` from now on; `fresh` has seen no flow yet. False if `fresh` is another
    /// law.
    #[must_use = "another law takes its place"]
    fn take_parameters(&mut self, fresh: &dyn FlowLaw) -> bool;

    /// A copy of the law with its state; a copy of a law without history is the law of a new flow.
    fn boxed(&self) -> Box<dyn FlowLaw>;

    /// The law's present figures by name: they explain the flow's pace.
    fn figures(&self) -> Vec<(&'static str, f64)> {
        Vec::new()
    }
}

impl dyn FlowLaw {
    /// TCP-GAP's law, if this law is TCP-GAP's: the steps of that law can be written down.
    #[must_use]
    pub fn rate_law(&self) -> Option<&RateLaw> {
        (self as &dyn Any).downcast_ref()
    }
}

impl Clone for Box<dyn FlowLaw> {
    fn clone(&self) -> Self {
        (**self).boxed()
    }
}

/// How a flow law is built from the values of its keys.
pub type FlowLawPart = Part<fn(&Values) -> Box<dyn FlowLaw>>;

meshpace_keys::parts! {
    /// The laws of flows. The first is TCP-GAP's, which a gateway has as `pacing`. Every other law is a part of a gateway under its own
    /// word and under that word with `+goodput-control`, and a value of a live daemon's `flow_law`.
    pub static FLOW_LAWS: FlowLawPart = [khd, delay_rate];
}
