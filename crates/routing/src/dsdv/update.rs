//! DSDV's packet. It has no standard format; captures show one of our own.

use crate::message::{Format, Message};
use meshpace_units::{Bytes, NodeId};
use std::net::Ipv4Addr;

/// DSDV update, broadcast over one hop: a full dump, or what changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DsdvUpdate {
    /// What the sender can reach.
    pub routes: Vec<DsdvRoute>,
}

/// One row of a DSDV update.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DsdvRoute {
    /// The destination.
    pub destination: NodeId,
    /// Hops from the sender of the update; `None`: not reachable.
    pub hops: Option<u8>,
    /// Even from the destination itself, odd from the node that found the route broken.
    pub seqno: u32,
}

/// Bytes of a row, on the air (ns-2.35) as in captures.
const ROW: u64 = 12;

impl Message for DsdvUpdate {
    /// A port out of the private range.
    const FORMAT: Format =
        Format { port: 50_001, name: "with its UDP header", size: Some("the size in ns-2") };

    /// As ns-2.35 counts it: no UDP header.
    fn wire_length(&self) -> Bytes {
        const IP_HEADER: u64 = 20;
        Bytes(IP_HEADER + ROW * self.routes.len() as u64)
    }

    /// Rows of destination, hops from the sender (all ones: not reachable), sequence number. What one datagram cannot hold
    /// is left out.
    fn write(&self, out: &mut Vec<u8>, address: &dyn Fn(NodeId) -> Ipv4Addr) {
        const ROWS: usize = (u16::MAX as usize - 28) / ROW as usize;
        for route in self.routes.iter().take(ROWS) {
            out.extend(address(route.destination).octets());
            out.extend(route.hops.map_or(u32::MAX, u32::from).to_be_bytes());
            out.extend(route.seqno.to_be_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_has_twelve_bytes() {
        let row = DsdvRoute { destination: NodeId(1), hops: Some(1), seqno: 4 };
        assert_eq!(DsdvUpdate { routes: vec![row; 10] }.wire_length(), Bytes(140));
    }
}
