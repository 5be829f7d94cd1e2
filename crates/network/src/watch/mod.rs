//! Observers of the network: packet captures and the like hang in here, and cost nothing where there are none.

mod capture;
mod several;

pub use capture::Capture;

use crate::air::AirId;
use meshpace_radio::{Aggregates, Frame, FrameEnd};
use meshpace_relay::packet::Packet;
use meshpace_units::{Instant, NodeId};

/// The state of a mesh node at a moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NodeState {
    /// Packets that wait in its interface queue, the one in the MAC included.
    pub waiting: usize,
    /// Link failures that took routes down or started a repair there, since time 0.
    pub route_failures: u64,
    /// What it has sent in frames of several packets since time 0; zeros where frames carry one.
    pub aggregates: Aggregates,
}

/// Looks on. Nothing that a watcher does can change a run.
pub trait Watch {
    /// False: [`Watch::frame`] does nothing, and frames of several packets need not be told.
    fn wants_frames(&self) -> bool {
        true
    }

    /// A frame goes on the air; `packets` are what a data frame carries, in its order.
    fn frame(&mut self, _now: Instant, _air: AirId, _frame: &Frame, _packets: &[&Packet]) {}

    /// The last bit of a frame that was meant for `at` (a broadcast is meant for all in range) arrived there, and it
    /// was lost, or some of its packets were, to the overlap with others, to noise or to the node's own transmission.
    fn lost(&mut self, _now: Instant, _air: AirId, _at: NodeId, _frame: &Frame, _end: &FrameEnd) {}

    /// A mesh node, whenever [`crate::Network::show_nodes`] is called.
    fn node(&mut self, _now: Instant, _node: usize, _state: NodeState) {}

    /// True if `node` is wanted.
    fn wants_nodes(&self) -> bool {
        false
    }
}

/// Watches nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoWatch;

impl Watch for NoWatch {
    fn wants_frames(&self) -> bool {
        false
    }
}
