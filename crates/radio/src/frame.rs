//! What is on the air.

use crate::burst::{Bitmap, Burst, Mpdu};
use crate::category::Priority;
use crate::standard::Mode;
use meshpace_units::{Bytes, NodeId, Span};
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

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
    /// Request for one (IEEE 802.11-2020, 9.3.1.7): what came after all, and from which number on packets are to be awaited.
    BlockAckReq,
}

impl FrameKind {
    /// True of what answers another station's frame.
    #[must_use]
    pub const fn is_answer(self) -> bool {
        matches!(self, Self::Cts | Self::Ack | Self::BlockAck)
    }
}

/// Which packets of a frame of several arrived (IEEE 802.11-2020, 9.3.1.8).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockAck {
    /// Priority of the frame's packets: it says whose numbers these are.
    pub priority: Priority,
    /// Sequence number of the frame's first packet, or the one that was asked for.
    pub start: u16,
    /// By sequence number from `start` on.
    pub arrived: Bitmap,
}

/// What every frame has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
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
    /// MPDU size, without what it has [around it](Mode::alone) where it is alone; of a frame of several packets all of it.
    pub size: Bytes,
    /// Mode of the exchange's data, from which the answering frames derive theirs.
    pub data_mode: &'static Mode,
    /// True for an attempt after the first.
    pub retry: bool,
    /// True if the data frame was announced by RTS/CTS.
    pub protected: bool,
    /// The packet inside a data frame that carries one.
    pub packet: Option<Mpdu>,
}

impl Header {
    /// True if the frame carries two packets or more.
    #[must_use]
    #[inline]
    pub fn is_several(&self) -> bool {
        self.kind == FrameKind::Data && self.packet.is_none()
    }
}

/// What few frames have; copies of a frame share it.
#[derive(Clone, Debug, PartialEq, Eq)]
enum More {
    Packets(Arc<Vec<Mpdu>>),
    BlockAck(Arc<BlockAck>),
}

/// A frame on the air: a header, and what it carries.
///
/// Its header is copied as bytes, and nothing else of nearly all frames: every frame is copied and dropped a few times.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    header: Header,
    more: Option<More>,
}

impl Deref for Frame {
    type Target = Header;

    #[inline]
    fn deref(&self) -> &Header {
        &self.header
    }
}

impl DerefMut for Frame {
    #[inline]
    fn deref_mut(&mut self) -> &mut Header {
        &mut self.header
    }
}

impl Frame {
    /// A frame with nothing beside its header.
    #[must_use]
    #[inline]
    pub const fn new(header: Header) -> Self {
        Self { header, more: None }
    }

    /// A data frame with these packets.
    #[must_use]
    #[inline]
    pub fn data(header: Header, burst: &Burst) -> Self {
        let more = burst.shared().map(|packets| More::Packets(Arc::clone(packets)));
        Self { header: Header { packet: burst.only().copied(), ..header }, more }
    }

    /// A block acknowledgement, or a request for one. The request names its start and no arrived packet.
    #[must_use]
    pub fn block_acknowledgement(header: Header, told: BlockAck) -> Self {
        Self { header, more: Some(More::BlockAck(Arc::new(told))) }
    }

    /// The packets inside, in the order in which they are sent.
    #[must_use]
    #[inline]
    pub fn packets(&self) -> &[Mpdu] {
        match &self.more {
            Some(More::Packets(packets)) => packets,
            _ => self.header.packet.as_slice(),
        }
    }

    /// What a block acknowledgement says, or a request for one.
    #[must_use]
    pub fn block_ack(&self) -> Option<&BlockAck> {
        match &self.more {
            Some(More::BlockAck(told)) => Some(told),
            _ => None,
        }
    }

    /// Changes what the driver knows each packet by.
    pub fn rename(&mut self, mut copy: impl FnMut(u32) -> u32) {
        let mut each = |mpdu: &mut Mpdu| mpdu.packet.handle = copy(mpdu.packet.handle);
        match &mut self.more {
            Some(More::Packets(packets)) => Arc::make_mut(packets).iter_mut().for_each(each),
            _ => self.header.packet.iter_mut().for_each(&mut each),
        }
    }
}
