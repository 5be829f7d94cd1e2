//! The law of a flow: what its driver tells it, and what it answers.
//!
//! | driver | where | tells | carries out |
//! |---|---|---|---|
//! | `meshpace_gateway::Gateway` | the simulator's gateways; the daemon's on NFQUEUE | all | all |
//! | `daemon::ebpf::Engine` | the daemon's gateway on eBPF | round trips; what is acknowledged, at each look at the kernel's table | the spacing |
//! | `daemon::host::Flows` | a sending host | round trips of the wireless part | the spacing, as a rate |
//!
//! A law is a file like `khd.rs` and a row of [`FLOW_LAWS`]; all drivers then run it. What the kernel's programs do carries out orders:
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

/// A round trip over the part of the path that the law is for: of the latest segment that an acknowledgement covers, if that was
/// sent once (schemes.md 1.3, rules 2 and 3).
#[derive(Clone, Copy, Debug)]
pub struct RoundTrip<'a> {
    /// When the acknowledgement came.
    pub now: Instant,
    /// From the segment's departure at the driver, so without its wait there.
    pub rtt: Span,
    /// The largest payload that the flow has shown, or its MSS where the driver knows that.
    pub segment: Bytes,
    /// The way.
    pub route: &'a Route,
    /// Flows that share this law and have data on their way, this one included: 1, unless the law is kept for a host
    /// (`gap_state = "host"`).
    pub sharing: u32,
    /// How long it takes until what the law answers shows in what comes: the round trip to the sender and on to the receiver, without
    /// the wait at the driver. `None` where the sender itself is paced, which answers at once.
    pub answered: Option<Span>,
}

/// What became of a flow's packets since the law's latest call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// When the driver learnt of it.
    pub now: Instant,
    /// Payload newly acknowledged.
    pub acked: Bytes,
    /// Segments that were sent again, by their sender or by the driver.
    pub again: u64,
    /// The receiver says that a packet was marked (RFC 3168, section 6.1.3).
    pub marked: bool,
}

/// How a flow's packets are to leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowPace {
    /// Time between two packets in the mean; `None`: nothing is held back.
    pub spacing: Option<Span>,
    /// So many packets leave together, and then none for as many spacings.
    pub burst: NonZeroU32,
    /// What the sender may have on its way at most; `None`: what it likes.
    pub window: Option<Bytes>,
    /// Packets that have waited for longer leave with the mark of congestion, if their transport knows that; `None`: no mark.
    pub mark_after: Option<Span>,
}

impl FlowPace {
    /// Nothing is held back.
    pub const UNPACED: Self = Self { spacing: None, burst: NonZeroU32::MIN, window: None, mark_after: None };

    /// One packet in this time.
    #[must_use]
    pub const fn every(spacing: Span) -> Self {
        Self { spacing: Some(spacing), ..Self::UNPACED }
    }

    /// So many packets together, at that spacing in the mean.
    #[must_use]
    pub const fn trains(spacing: Span, packets: NonZeroU32) -> Self {
        Self { burst: packets, ..Self::every(spacing) }
    }
}

/// The law of one flow, or of one host's flows.
///
/// It does not know where it runs: equal calls must give equal answers. Queue, repair and goodput control are the driver's; of the
/// law's spacing and goodput control's cap the slower holds (schemes.md 3.4). An answer holds until the next; before the first one the
/// driver's initial interval does (`gap_initial_interval`, `initial_interval`).
pub trait FlowLaw: Any + fmt::Debug + Send + Sync {
    /// A round trip was measured. `None`: the pace stays as it is.
    fn on_round_trip(&mut self, trip: &RoundTrip<'_>) -> Option<FlowPace>;

    /// Data arrived, were sent again, or were marked. `None`: the pace stays as it is.
    fn on_progress(&mut self, _progress: &Progress) -> Option<FlowPace> {
        None
    }

    /// One access to the medium carries so many packets, as that of a radio which aggregates: they leave together from now on. `None`: by this
    /// law they do not.
    fn on_unit(&mut self, _now: Instant, _packets: NonZeroU32) -> Option<FlowPace> {
        None
    }

    /// Goes by the parameters of `fresh`, which knows no flow yet, from now on; false if that is another law.
    #[must_use = "another law takes its place"]
    fn take_parameters(&mut self, fresh: &dyn FlowLaw) -> bool;

    /// A copy of the law with its state; a copy of a law without history is the law of a new flow.
    fn boxed(&self) -> Box<dyn FlowLaw>;

    /// The law's figures at present, by name, which explain why a flow has its pace.
    fn figures(&self) -> Vec<(&'static str, f64)> {
        Vec::new()
    }
}

impl dyn FlowLaw {
    /// TCP-GAP's law, if it is that: its steps can be written down.
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
    /// The laws of flows. The first is TCP-GAP's, which a gateway has as `pacing`; each other one is a gateway's part by its own word, and
    /// by that with `+goodput-control`, and a live daemon's `flow_law`.
    pub static FLOW_LAWS: FlowLawPart = [khd, delay_rate];
}
