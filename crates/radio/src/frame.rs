//! What is on the air.

use crate::burst::{Bitmap, Burst, Mpdu};
use crate::standard::Mode;
use meshpace_units::{Bytes, NodeId, Span};

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
    /// Acknowledgement of a frame of several packets.
    BlockAck,
}

impl FrameKind {
    /// True of what answers a frame of somebody else.
    #[must_use]
    pub const fn is_answer(self) -> bool {
        matches!(self, Self::Cts | Self::Ack | Self::BlockAck)
    }
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
    /// Mode of the link's data; broadcasts go in the basic one.
    pub mode: &'static Mode,
}

/// Which packets of a frame of several arrived (IEEE 802.11-2016, 9.3.1.9).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockAck {
    /// Sequence number of the frame's first packet.
    pub start: u16,
    /// By sequence number from `start` on.
    pub arrived: Bitmap,
}

/// A frame on the air.
#[derive(Clone, Debug, PartialEq, Eq)]
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
    /// How it is sent.
    pub mode: &'static Mode,
    /// MPDU size; of a frame of several packets all of it.
    pub size: Bytes,
    /// Mode of the exchange's data, from which the answering frames derive theirs.
    pub data_mode: &'static Mode,
    /// True for an attempt after the first.
    pub retry: bool,
    /// True if the data frame was announced by RTS/CTS.
    pub protected: bool,
    /// The packets inside a data frame; empty in others.
    pub burst: Burst,
    /// What a block acknowledgement says.
    pub block_ack: Option<Box<BlockAck>>,
}

impl Frame {
    /// The packets inside, in the order in which they are sent.
    #[must_use]
    #[inline]
    pub fn packets(&self) -> &[Mpdu] {
        self.burst.as_slice()
    }
}
