//! The packets that go into the gateway and come out of it.

use core::net::IpAddr;
use meshpace_tcp::Segment;
use meshpace_units::{Bytes, Ecn, Instant, Span};

/// Where a packet comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The Internet.
    Wired,
    /// The mesh.
    Wireless,
}

impl Side {
    pub(crate) const fn index(self) -> usize {
        match self {
            Self::Wired => 0,
            Self::Wireless => 1,
        }
    }

    pub(crate) const fn other(self) -> Self {
        match self {
            Self::Wired => Self::Wireless,
            Self::Wireless => Self::Wired,
        }
    }
}

/// What the gateway reads of a TCP packet.
#[derive(Clone, Copy, Debug)]
pub struct TcpView<'a> {
    /// Source address.
    pub source: IpAddr,
    /// Destination address.
    pub destination: IpAddr,
    /// The TCP header and the length of the payload.
    pub segment: &'a Segment,
    /// Bytes of the TCP header as it is on the wire, options included.
    pub header_length: u32,
    /// Length of the whole IP packet.
    pub wire_len: Bytes,
    /// Whether the packet may be marked in place of being dropped; [`Ecn::NotEct`] also where the driver cannot mark it.
    pub ecn: Ecn,
    /// Whether the driver has all of its bytes, so that it can change more than the options.
    pub whole: bool,
}

/// One end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Endpoint {
    /// Address.
    pub address: IpAddr,
    /// Port.
    pub port: u16,
}

/// A connection, named by its ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FlowKey {
    /// The end in the mesh.
    pub wireless: Endpoint,
    /// The end in the Internet.
    pub wired: Endpoint,
}

impl FlowKey {
    /// The connection of a packet that came from `side`.
    #[must_use]
    pub fn new(side: Side, view: &TcpView<'_>) -> Self {
        let source = Endpoint { address: view.source, port: view.segment.source_port };
        let destination = Endpoint { address: view.destination, port: view.segment.destination_port };
        match side {
            Side::Wired => Self { wireless: destination, wired: source },
            Side::Wireless => Self { wireless: source, wired: destination },
        }
    }
}

/// What to do with TCP-GAP's RTT option in a packet that leaves (schemes.md 3.2). Only the gateway writes it, so
/// one that arrives from either side is removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RttOption {
    /// Leave the packet as it is; it carries none.
    Keep,
    /// Remove the one it carries.
    Strip,
    /// Write this wired round-trip time (whole milliseconds, at most 65,535) in place of any it carries.
    Set(Span),
}

/// What to change in a packet that goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rewrite {
    /// TCP-GAP's RTT option.
    pub option: RttOption,
    /// The window field, as it is to be on the wire; `None` leaves the receiver's.
    pub window: Option<u16>,
}

impl Rewrite {
    /// The packet goes on as it came.
    pub const NOTHING: Self = Self { option: RttOption::Keep, window: None };
}

impl From<RttOption> for Rewrite {
    fn from(option: RttOption) -> Self {
        Self { option, window: None }
    }
}

/// What the gateway may do with a flow. It can change at any packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Treatment {
    /// All of TCP-GAP.
    Pace,
    /// Measure both round trips and run the law, and change nothing: every packet passes at once and as it came,
    /// nothing is kept of it, and goodput control neither counts nor caps the flow. What a flow that was paced before
    /// has held leaves at once, in order.
    Observe,
}

/// What becomes of a packet handed in.
#[derive(Debug, PartialEq, Eq)]
pub enum Verdict<P> {
    /// Pass it on now, so changed.
    Forward(P, Rewrite),
    /// It waits in its flow's pacing queue and comes back through [`crate::Gateway::poll_transmit`].
    Held,
    /// It has done its work: a duplicate ACK that the gateway answers itself. Do not pass it on.
    Consumed(P),
    /// Its flow's buffer is full. Do not pass it on.
    Dropped(P),
    /// A copy of data that waits already or was acknowledged a moment ago. Do not pass it on.
    Duplicate(P),
}

/// What to do with a packet that comes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Pass on the packet that was held, first removing the RTT option if `strip` and marking it if `mark`.
    Release {
        /// Whether it carries an RTT option, to be removed.
        strip: bool,
        /// Whether it waited too long and is to tell so: congestion experienced (RFC 3168, section 5). Only packets whose
        /// [`TcpView::ecn`] allows it are marked.
        mark: bool,
    },
    /// Send this copy of an earlier packet again, towards the mesh.
    Retransmit,
    /// Drop the packet that was held.
    Discard(DiscardReason),
}

/// Why a packet that was held is dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiscardReason {
    /// Its connection is over.
    Closed,
    /// Packets of its flow waited too long (CoDel), and it may not be marked.
    Waited,
    /// A copy of data that was acknowledged while it waited.
    Duplicate,
}

/// A packet that leaves the gateway's care.
#[derive(Debug, PartialEq, Eq)]
pub struct Departure<P> {
    /// The packet.
    pub packet: P,
    /// What to do with it.
    pub action: Action,
    /// When its flow's pacer allowed it; the driver's lateness is now minus this.
    pub due: Instant,
    /// When it joined its flow's queue; `None`: it was in none, a copy that is sent again.
    pub held_since: Option<Instant>,
}
