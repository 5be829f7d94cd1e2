//! What is on the air.

use meshpace_units::{Bytes, NodeId, Rate, Span};

/// The frames that the DCF uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameKind {
    /// Request to send.
    Rts,
    /// Clear to send.
    Cts,
    /// Data, unicast or broadcast.
    Data,
    /// Acknowledgement.
    Ack,
}

/// A network packet as the MAC sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MacPacket {
    /// Whatever the driver knows the packet by.
    pub handle: u32,
    /// The next hop; `None`: broadcast.
    pub to: Option<NodeId>,
    /// Size at the network layer.
    pub size: Bytes,
    /// Data rate of the link; broadcasts go at the basic rate.
    pub rate: Rate,
}

/// A frame on the air.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// What it is.
    pub kind: FrameKind,
    /// Transmitter.
    pub from: NodeId,
    /// Receiver; `None`: broadcast.
    pub to: Option<NodeId>,
    /// Time on the air.
    pub airtime: Span,
    /// Duration field: how long the exchange goes on after this frame.
    pub duration: Span,
    /// Rate of the frame.
    pub rate: Rate,
    /// MPDU size.
    pub size: Bytes,
    /// Data rate of the exchange, from which the answering frames derive theirs.
    pub data_rate: Rate,
    /// Sequence number of a data frame (12 bits on the air; 0 in other frames).
    pub seq: u16,
    /// True for an attempt after the first.
    pub retry: bool,
    /// True if the data frame was announced by RTS/CTS.
    pub protected: bool,
    /// The packet inside a data frame.
    pub packet: Option<MacPacket>,
}
