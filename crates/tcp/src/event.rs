//! The inputs of a connection, and its outputs.

use crate::Segment;
use crate::feedback::Feedback;
use meshpace_pacing::Route;
use meshpace_units::Ecn;

/// What the network layer knows about an arriving segment.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Arrival {
    /// The wireless way between the ends: hops (schemes.md 1.2) and link rates; `None` where none is known.
    pub route: Option<Route>,
    /// What the peer's control asked of relays, with their answer: it is returned.
    pub request: Option<Feedback>,
    /// What a receiver or a relay wrote into the packet for the sender's control: a request of ours, returned.
    pub feedback: Option<Feedback>,
    /// What the receiver's acknowledgement policy wrote into the packet for the sender's control.
    pub report: Option<Feedback>,
    /// Congestion notification of its IP header.
    pub ecn: Ecn,
}

/// A segment to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transmit {
    /// The segment.
    pub segment: Segment,
    /// Stream offset of the first byte of payload: where a driver with real bytes reads them.
    pub offset: u64,
    /// Whether any of the payload leaves for the first time; false without payload.
    pub first_transmission: bool,
    /// Congestion notification that its IP header is to have.
    pub ecn: Ecn,
    /// What its sender's control asks of relays on the way: a header beside TCP's.
    pub request: Option<Feedback>,
    /// What relays answered to the peer's latest request, returned: another header.
    pub answer: Option<Feedback>,
    /// What the acknowledgement policy tells the peer's control: a third.
    pub report: Option<Feedback>,
}

/// Where the payload of an arrived segment belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placement {
    /// Stream offset of the first accepted byte.
    pub offset: u64,
    /// Bytes of the payload before it, already received.
    pub skip: u32,
    /// Accepted bytes. What the payload holds beyond them was outside the window.
    pub length: u32,
}

/// What an arrived segment brought.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Received {
    /// Accepted payload; `None` if none was.
    pub payload: Option<Placement>,
    /// Bytes that have become readable in order, the ones that had been waiting for a gap included.
    pub delivered: u64,
}

/// Something the application wants to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// The handshake is complete.
    Connected,
    /// Everything written so far is acknowledged.
    Drained,
    /// The peer will send no more; everything it sent has been delivered.
    PeerFinished,
    /// The connection is gone.
    Closed(Closing),
}

/// Why a connection ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Closing {
    /// Both sides finished.
    Finished,
    /// The peer refused to open it.
    Refused,
    /// The peer reset it.
    Reset,
    /// The peer did not answer.
    TimedOut,
    /// The application aborted it.
    Aborted,
}

/// Why data could not be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteError {
    /// The application has closed the connection, or it is gone.
    Closed,
}

impl core::fmt::Display for WriteError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Closed => f.write_str("the connection is closed for writing"),
        }
    }
}

impl core::error::Error for WriteError {}
