//! The packets of AODV, in the formats of RFC 3561, section 5.

use crate::message::{Format, Message};
use meshpace_units::{Bytes, Instant, NodeId, Span};
use std::net::Ipv4Addr;

/// UDP's port 654 (RFC 3561, section 5).
const FORMAT: Format = Format { port: 654, name: "the format of RFC 3561", size: Some("the size in ns-2") };

const RREQ: u8 = 1;
const RREP: u8 = 2;
const RERR: u8 = 3;
const RREQ_GRATUITOUS: u8 = 0x20;
const RREQ_UNKNOWN_SEQNO: u8 = 0x08;
const RERR_NO_DELETE: u8 = 0x80;

/// Size at IP as ns-2.35 counts it (schemes.md 18, item 1).
///
/// The profile `rfc3561` uses the same sizes: the RFC's own, with UDP, are 4 bytes (RREQ, RREP) and 8 bytes (RERR) more,
/// and equal sizes keep the two profiles comparable.
const fn size_in_ns2(above_ip: u64) -> Bytes {
    const IP_HEADER: u64 = 20;
    Bytes(IP_HEADER + above_ip)
}

/// AODV route request, flooded (RFC 3561, section 5.1).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rreq {
    /// Identifies the request together with `originator`.
    pub id: u32,
    /// The node that searches.
    pub originator: NodeId,
    /// The searcher's own sequence number.
    pub originator_seqno: u32,
    /// The node that is searched.
    pub destination: NodeId,
    /// A reply must be at least this new; `None` if the searcher has never known a number (flag U of the RFC).
    pub destination_seqno: Option<u32>,
    /// Hops from the originator to the receiver of this copy. ns-2 sends 1 first; the RFC counts 0 on sending and
    /// adds one on reception: the same number, counted here by the sender in both profiles.
    pub hops: u8,
    /// When the originator sent it: ns-2 measures the latency of a discovery with it, at no cost on the air.
    pub sent: Instant,
    /// Flag G of the RFC: a relay that answers also tells the destination the way to the originator.
    pub gratuitous: bool,
}

/// AODV route reply, unicast back to the originator of the request (RFC 3561, section 5.2).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rrep {
    /// Where the reply goes: the originator of the request.
    pub originator: NodeId,
    /// The node it shows the way to.
    pub destination: NodeId,
    /// How new the route is.
    pub destination_seqno: u32,
    /// Hops from the receiver of this copy to `destination`.
    pub hops: u8,
    /// How long the route is good for, from reception.
    pub lifetime: Span,
    /// `sent` of the request.
    pub request_sent: Instant,
}

/// AODV route error, one hop (RFC 3561, section 5.3).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rerr {
    /// Destinations that the sender no longer reaches, with their sequence numbers.
    pub unreachable: Vec<(NodeId, u32)>,
    /// Flag N of the RFC: the sender has repaired the route, do not delete it.
    pub no_delete: bool,
}

impl Message for Rreq {
    const FORMAT: Format = FORMAT;

    fn wire_length(&self) -> Bytes {
        size_in_ns2(28)
    }

    fn write(&self, out: &mut Vec<u8>, address: &dyn Fn(NodeId) -> Ipv4Addr) {
        let gratuitous = if self.gratuitous { RREQ_GRATUITOUS } else { 0 };
        let unknown = if self.destination_seqno.is_none() { RREQ_UNKNOWN_SEQNO } else { 0 };
        out.extend([RREQ, gratuitous | unknown, 0, as_sent(self.hops)]);
        out.extend(self.id.to_be_bytes());
        out.extend(address(self.destination).octets());
        out.extend(self.destination_seqno.unwrap_or(0).to_be_bytes());
        out.extend(address(self.originator).octets());
        out.extend(self.originator_seqno.to_be_bytes());
    }
}

impl Message for Rrep {
    const FORMAT: Format = FORMAT;

    fn wire_length(&self) -> Bytes {
        size_in_ns2(24)
    }

    fn write(&self, out: &mut Vec<u8>, address: &dyn Fn(NodeId) -> Ipv4Addr) {
        out.extend([RREP, 0, 0, as_sent(self.hops)]);
        out.extend(address(self.destination).octets());
        out.extend(self.destination_seqno.to_be_bytes());
        out.extend(address(self.originator).octets());
        let lifetime = u32::try_from(self.lifetime.as_nanos() / 1_000_000).unwrap_or(u32::MAX);
        out.extend(lifetime.to_be_bytes());
    }
}

impl Message for Rerr {
    const FORMAT: Format = FORMAT;

    fn wire_length(&self) -> Bytes {
        size_in_ns2(4 + 8 * self.unreachable.len() as u64)
    }

    /// The format has one byte for the number of destinations: a longer list loses its tail here.
    fn write(&self, out: &mut Vec<u8>, address: &dyn Fn(NodeId) -> Ipv4Addr) {
        let no_delete = if self.no_delete { RERR_NO_DELETE } else { 0 };
        let count = u8::try_from(self.unreachable.len()).unwrap_or(u8::MAX);
        out.extend([RERR, no_delete, 0, count]);
        for (destination, seqno) in self.unreachable.iter().take(usize::from(count)) {
            out.extend(address(*destination).octets());
            out.extend(seqno.to_be_bytes());
        }
    }

    /// ns-2 queues it under next hop 0 (ns2-behaviour 4.5).
    fn goes_with_purges(&self) -> bool {
        true
    }
}

/// The RFC lets the receiver add its hop to the count; [`Rreq::hops`] and [`Rrep::hops`] have it already.
fn as_sent(hops: u8) -> u8 {
    hops.saturating_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_those_of_ns2() {
        let rreq = Rreq {
            id: 1,
            originator: NodeId(0),
            originator_seqno: 4,
            destination: NodeId(1),
            destination_seqno: None,
            hops: 1,
            sent: Instant::ZERO,
            gratuitous: false,
        };
        let rrep = Rrep {
            originator: NodeId(0),
            destination: NodeId(1),
            destination_seqno: 4,
            hops: 1,
            lifetime: Span::from_secs(10),
            request_sent: Instant::ZERO,
        };
        let rerr = |n: usize| Rerr { unreachable: vec![(NodeId(1), 5); n], no_delete: false };
        assert_eq!((rreq.wire_length(), rrep.wire_length()), (Bytes(48), Bytes(44)));
        assert_eq!((rerr(1).wire_length(), rerr(3).wire_length()), (Bytes(32), Bytes(48)));
    }
}
