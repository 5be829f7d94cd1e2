//! What a control is told.

use crate::delivery::RateSample;
use crate::feedback::Feedback;
use meshpace_pacing::Route;
use meshpace_units::{Instant, Span};

/// What an acknowledgement says to the sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AckKind {
    /// It acknowledges something new.
    New,
    /// A duplicate (RFC 5681, section 2).
    Duplicate,
    /// Neither: an old one, or one that only tells the peer's window.
    Other,
}

/// What is outstanding. Positions count the stream's bytes in 64 bits: 0 is the SYN, 1 the first byte of data.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outstanding {
    /// Something that was let out waits in the queue of a paced sender.
    pub queued: bool,
    /// First unacknowledged position.
    pub una: u64,
    /// Next position to send; behind `max` while going back.
    pub nxt: u64,
    /// The position after the highest one ever sent.
    pub max: u64,
    /// Segments in flight: sent, not acknowledged, without those that limited transmit added (RFC 5681, section 3.2).
    pub flight: f64,
    /// The sender's own window limit in segments (ns-2's `window_`); infinite without one.
    pub limit: f64,
}

/// How long nothing was outstanding before data leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Idled {
    /// Payload of a full segment.
    pub mss: u32,
    /// Whole retransmission timeouts in it, at least 1.
    pub timeouts: u32,
}

/// Selectively acknowledged positions `[left, right)`, in the order of the segment (RFC 2018, section 4).
pub type SackRanges = [Option<(u64, u64)>; 4];

/// One acknowledgement and all that came with it.
#[derive(Clone, Copy, Debug)]
pub struct Ack<'a> {
    /// When it arrived.
    pub now: Instant,
    /// What it says.
    pub kind: AckKind,
    /// What is outstanding after it.
    pub out: Outstanding,
    /// Positions newly acknowledged: bytes, and one each for SYN and FIN.
    pub acked: u64,
    /// Payload of a full segment.
    pub mss: u32,
    /// Round trip of the oldest newly acknowledged data segment; `None` if it was sent twice (Karn), or if the control did
    /// not ask for round trips.
    pub oldest: Option<Span>,
    /// The same of the most recently sent one among them.
    pub newest: Option<Span>,
    /// The round trip to go by: `newest`, else by `timestamp`; by Linux's rules of the last segment that is selectively
    /// acknowledged for the first time, else of the last one that is acknowledged and was not reported before, unless something
    /// acknowledged with it was sent twice; else by `timestamp` (tcp_clean_rtx_queue's `ca_rtt_us`). There also on duplicates.
    pub sample: Option<Span>,
    /// Time since the departure that ns-2's timestamp echoes; where there is none, RFC 7323's. Also on duplicates.
    pub echoed: Option<Span>,
    /// Time since the departure that RFC 7323's timestamp echoes, whole milliseconds.
    pub timestamp: Option<Span>,
    /// The wireless way, as far as the driver knows it.
    pub route: Option<&'a Route>,
    /// TCP-GAP's option: the wired part of the round trip (schemes.md 3.2).
    pub rtt_wired: Option<Span>,
    /// What the receiver reports to hold above `out.una`; `None` if it does not report, or the control did not ask.
    pub sack: Option<&'a SackRanges>,
    /// The delivery rate, if the control asked for it and something was delivered.
    pub rate: Option<RateSample>,
    /// A packet was marked on its way to the receiver (RFC 3168, section 6.1.2): the window does not open.
    pub ecn_echo: bool,
    /// `ecn_echo` asks for an answer: in this window of data neither a loss nor another echo was answered. RFC 3168 wants
    /// that of a loss, with nothing sent again.
    pub ecn_signal: bool,
    /// What relays wrote into the packet for this control.
    pub feedback: Option<&'a Feedback>,
    /// What the receiver's acknowledgement policy reports to it.
    pub report: Option<&'a Feedback>,
}

impl Ack<'_> {
    /// Newly acknowledged full segments.
    #[must_use]
    pub fn segments(&self) -> f64 {
        self.acked as f64 / f64::from(self.mss)
    }

    /// True if it acknowledges something new.
    #[must_use]
    pub fn is_new(&self) -> bool {
        self.kind == AckKind::New
    }
}

/// A departure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Departure {
    /// When it leaves.
    pub now: Instant,
    /// When its permission counts as used: `now`, or the release that it waited for and a late driver missed, lest the
    /// lateness of drivers add up (schemes.md 3.6).
    pub token: Instant,
    /// What leaves.
    pub sent: Sent,
}

/// What leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sent {
    /// A SYN or SYN-ACK.
    Syn,
    /// Payload from position `start` on.
    Data {
        /// Its first position.
        start: u64,
        /// Its bytes.
        length: u32,
        /// Whether any of it leaves for the first time.
        first: bool,
    },
}
