//! A packet handed in, and what it says.

use crate::pacing_queue::Outbound;
use crate::{RttOption, Side, TcpView, Treatment, Verdict};
use meshpace_tcp::Segment;
use meshpace_units::{Instant, Seq};

/// A packet handed in.
pub(crate) struct Incoming<'a, P> {
    pub side: Side,
    pub view: &'a TcpView<'a>,
    pub treatment: Treatment,
    /// Its number if it is held: how many were before it.
    pub ticket: u64,
    pub packet: P,
}

impl<P> Incoming<'_, P> {
    /// What becomes of an RTT option that it carries: a gateway's word is only taken from this gateway.
    pub fn arrived_option(&self) -> RttOption {
        let forged = self.view.segment.options.rtt_wired.is_some();
        if forged && self.treatment == Treatment::Pace { RttOption::Strip } else { RttOption::Keep }
    }

    pub fn forward(self) -> Verdict<P> {
        let option = self.arrived_option();
        Verdict::Forward(self.packet, option.into())
    }

    pub fn outbound(self, now: Instant) -> Outbound<P> {
        let segment = self.view.segment;
        Outbound {
            start: segment.seq,
            end: segment.end(),
            wire_len: self.view.wire_len,
            strip: self.arrived_option() == RttOption::Strip,
            ecn: self.view.ecn,
            mark: false,
            arrived: now,
            ticket: self.ticket,
            packet: self.packet,
        }
    }
}

/// What an ACK's SACK blocks say about the hole at its acknowledgement number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sack {
    /// There are no blocks.
    None,
    /// Only data that was acknowledged before (D-SACK, RFC 2883): something arrived twice, nothing is missing.
    NothingNew,
    Above {
        /// The hole ends here at the latest.
        hole_end: Seq,
        /// The end of the block that holds what arrived last, which is the first one (RFC 2018, section 4).
        arrived: Seq,
    },
}

impl Sack {
    pub fn of(segment: &Segment) -> Self {
        let mut blocks = segment.options.sack.iter().flatten().peekable();
        if blocks.peek().is_none() {
            return Self::None;
        }
        let above = blocks.filter(|(left, _)| left.after(segment.ack));
        let mut above = above.peekable();
        let Some(&&(_, arrived)) = above.peek() else { return Self::NothingNew };
        let lowest = above.map(|&(left, _)| left).min_by_key(|left| left.since(segment.ack));
        lowest.map_or(Self::NothingNew, |hole_end| Self::Above { hole_end, arrived })
    }
}
