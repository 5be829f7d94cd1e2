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
        Verdict::Forward(self.packet, option)
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
            packet: self.packet,
        }
    }
}

/// What an ACK's SACK blocks say about the hole at its acknowledgement number.
pub(crate) enum Sack {
    /// There are no blocks.
    None,
    /// Only data that was acknowledged before (D-SACK, RFC 2883): something arrived twice, nothing is missing.
    NothingNew,
    /// The hole ends here at the latest.
    Above(Seq),
}

pub(crate) fn lowest_sack(segment: &Segment) -> Sack {
    let mut blocks = segment.options.sack.iter().flatten().peekable();
    if blocks.peek().is_none() {
        return Sack::None;
    }
    let above = blocks.map(|&(left, _)| left).filter(|left| left.after(segment.ack));
    above.min_by_key(|left| left.since(segment.ack)).map_or(Sack::NothingNew, Sack::Above)
}
