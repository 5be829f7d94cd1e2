//! The routing packets.

use meshpace_units::{Bytes, Instant, NodeId, Span};
use std::sync::Arc;

/// IP header without options (RFC 791, section 3.1).
const IP_HEADER: u64 = 20;

/// A routing packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Control {
    /// AODV route request.
    Rreq(Rreq),
    /// AODV route reply.
    Rrep(Rrep),
    /// AODV route error.
    Rerr(Rerr),
    /// DSDV full dump or triggered update.
    DsdvUpdate(DsdvUpdate),
}

/// AODV route request, flooded (RFC 3561, section 5.1).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rreq {
    /// Identifies the request together with `originator`.
    pub id: u32,
    /// Who searches.
    pub originator: NodeId,
    /// The searcher's own sequence number.
    pub originator_seqno: u32,
    /// Who is searched.
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

/// DSDV update, broadcast over one hop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DsdvUpdate {
    /// Full dump or what changed. Each of some dozen receivers gets it: they share it.
    pub routes: Arc<[DsdvRoute]>,
}

/// One row of a DSDV update.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DsdvRoute {
    /// The destination.
    pub destination: NodeId,
    /// Hops from the sender of the update; `None`: not reachable.
    pub hops: Option<u8>,
    /// Even from the destination itself, odd from whoever found the route broken.
    pub seqno: u32,
}

impl Control {
    /// Size at IP, header included, as ns-2.35 counts it (schemes.md 18, item 1; DSDV: 12 bytes a row).
    ///
    /// The profile `rfc3561` uses the same sizes: the RFC's own, with UDP, are 4 bytes (RREQ, RREP) and 8 bytes
    /// (RERR) more, and equal sizes keep the two profiles comparable.
    #[must_use]
    pub fn wire_length(&self) -> Bytes {
        Bytes(match self {
            Self::Rreq(_) => IP_HEADER + 28,
            Self::Rrep(_) => IP_HEADER + 24,
            Self::Rerr(rerr) => IP_HEADER + 4 + 8 * rerr.unreachable.len() as u64,
            Self::DsdvUpdate(update) => IP_HEADER + 12 * update.routes.len() as u64,
        })
    }
}

impl From<Rreq> for Control {
    fn from(rreq: Rreq) -> Self {
        Self::Rreq(rreq)
    }
}

impl From<Rrep> for Control {
    fn from(rrep: Rrep) -> Self {
        Self::Rrep(rrep)
    }
}

impl From<Rerr> for Control {
    fn from(rerr: Rerr) -> Self {
        Self::Rerr(rerr)
    }
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
        let row = DsdvRoute { destination: NodeId(1), hops: Some(1), seqno: 4 };
        assert_eq!(Control::from(rreq).wire_length(), Bytes(48));
        assert_eq!(Control::from(rrep).wire_length(), Bytes(44));
        assert_eq!(Control::from(rerr(1)).wire_length(), Bytes(32));
        assert_eq!(Control::from(rerr(3)).wire_length(), Bytes(48));
        assert_eq!(
            Control::DsdvUpdate(DsdvUpdate { routes: vec![row; 10].into() }).wire_length(),
            Bytes(140)
        );
    }
}
