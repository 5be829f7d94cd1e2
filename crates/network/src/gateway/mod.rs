//! Gateways: nodes between mesh and wired part, and the scheme's machine in them.

mod crossing;
mod given_out;
mod nearest;

pub(crate) use nearest::nearest_gateways;

use crate::event::Alarm;
use meshpace_gateway::{Counters, Gateway};
use meshpace_packet::Packet;
use meshpace_units::{NodeId, Quantiles};

/// A gateway.
pub struct GatewayNode {
    /// The mesh node that it is.
    pub node: NodeId,
    /// What of real hosts crosses it is [given out](crate::Network::give_out).
    pub given_out: bool,
    /// What the scheme does here; `None`: nothing, packets are passed on.
    pub machine: Option<Gateway<Packet>>,
    /// When the machine wants to be called.
    pub alarm: Alarm,
    /// The machine's counters when the measured interval began.
    pub before: Counters,
    /// How long packets with data waited in the machine's queues on their way into the mesh since then; 0 for those
    /// that it let through at once.
    pub waits: Quantiles,
    /// The most packets that were in these queues.
    pub queue_max: usize,
}
