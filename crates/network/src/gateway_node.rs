//! A node between mesh and wired part, and the scheme's machine in it.

use crate::event::Alarm;
use meshpace_gateway::{Counters, Gateway};
use meshpace_packet::Packet;
use meshpace_units::NodeId;

/// A gateway.
pub struct GatewayNode {
    /// The mesh node that it is.
    pub node: NodeId,
    /// What the scheme does here; `None`: nothing, packets are passed on.
    pub machine: Option<Gateway<Packet>>,
    /// When the machine wants to be called.
    pub alarm: Alarm,
    /// The machine's counters when the measured interval began.
    pub before: Counters,
}
