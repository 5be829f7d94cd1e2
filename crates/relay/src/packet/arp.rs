//! Address resolution: the MAC address of a neighbour.

use meshpace_units::{Bytes, NodeId};

/// A packet of address resolution (RFC 826). A node's addresses are its number here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arp {
    /// Question or answer.
    pub operation: ArpOperation,
    /// The node that sent it, whose MAC address it tells.
    pub sender: NodeId,
    /// The node whose MAC address is asked for, or that asked.
    pub target: NodeId,
}

/// What a packet of address resolution is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArpOperation {
    /// To everybody.
    Request,
    /// To the node that asked.
    Reply,
}

impl Arp {
    /// Length with MAC addresses of six bytes and IP addresses of four; there is no IP header.
    pub const WIRE_LENGTH: Bytes = Bytes(28);
}
