//! Who watches the network: packet captures and the like hang in here, and cost nothing where there are none.

use meshpace_packet::Packet;
use meshpace_radio::{Frame, Outcome};
use meshpace_units::{Instant, NodeId};

/// Looks on. Nothing that a watcher does can change a run.
pub trait Watch {
    /// A frame goes on the air; `packet` is what a data frame carries.
    fn frame(&mut self, _now: Instant, _frame: &Frame, _packet: Option<&Packet>) {}

    /// The last bit of a frame that was meant for `at` (a broadcast is meant for all in range) arrived there, and it
    /// was lost to the overlap with others, to noise or to the node's own transmission.
    fn lost(&mut self, _now: Instant, _at: NodeId, _frame: &Frame, _outcome: Outcome) {}

    /// Packets that wait in a mesh node's interface queue, whenever [`crate::Network::show_queues`] is called.
    fn queue(&mut self, _now: Instant, _node: usize, _waiting: usize) {}

    /// True if `queue` is wanted.
    fn wants_queues(&self) -> bool {
        false
    }
}

/// Watches nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoWatch;

impl Watch for NoWatch {}
