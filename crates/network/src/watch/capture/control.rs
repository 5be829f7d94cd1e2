//! Routing packets as UDP datagrams: AODV in the formats of RFC 3561, section 5; DSDV, which has no standard format,
//! in one of our own.

use super::addresses::Addresses;
use super::udp;
use meshpace_routing::{Control, DsdvUpdate, Rerr, Rrep, Rreq};
use meshpace_units::NodeId;

/// AODV's port (RFC 3561, section 5).
const AODV_PORT: u16 = 654;
/// A port out of the private range for DSDV updates.
const DSDV_PORT: u16 = 50_001;

const RREQ: u8 = 1;
const RREP: u8 = 2;
const RERR: u8 = 3;
const RREQ_GRATUITOUS: u8 = 0x20;
const RREQ_UNKNOWN_SEQNO: u8 = 0x08;
const RERR_NO_DELETE: u8 = 0x80;

/// Writes the datagram, its checksum zero.
pub fn datagram(out: &mut Vec<u8>, message: &Control, addresses: &Addresses) {
    let port = match message {
        Control::Rreq(_) | Control::Rrep(_) | Control::Rerr(_) => AODV_PORT,
        Control::DsdvUpdate(_) => DSDV_PORT,
    };
    udp::datagram(out, port, port, |out| {
        let mut body = Body { out, addresses };
        match message {
            Control::Rreq(rreq) => body.rreq(rreq),
            Control::Rrep(rrep) => body.rrep(rrep),
            Control::Rerr(rerr) => body.rerr(rerr),
            Control::DsdvUpdate(update) => body.dsdv(update),
        }
    });
}

struct Body<'a> {
    out: &'a mut Vec<u8>,
    addresses: &'a Addresses,
}

impl Body<'_> {
    fn rreq(&mut self, rreq: &Rreq) {
        let gratuitous = if rreq.gratuitous { RREQ_GRATUITOUS } else { 0 };
        let unknown = if rreq.destination_seqno.is_none() { RREQ_UNKNOWN_SEQNO } else { 0 };
        self.out.extend([RREQ, gratuitous | unknown, 0, as_sent(rreq.hops)]);
        self.number(rreq.id);
        self.address(rreq.destination);
        self.number(rreq.destination_seqno.unwrap_or(0));
        self.address(rreq.originator);
        self.number(rreq.originator_seqno);
    }

    fn rrep(&mut self, rrep: &Rrep) {
        self.out.extend([RREP, 0, 0, as_sent(rrep.hops)]);
        self.address(rrep.destination);
        self.number(rrep.destination_seqno);
        self.address(rrep.originator);
        self.number(u32::try_from(rrep.lifetime.as_nanos() / 1_000_000).unwrap_or(u32::MAX));
    }

    /// The format has one byte for the number of destinations: a longer list loses its tail here.
    fn rerr(&mut self, rerr: &Rerr) {
        let no_delete = if rerr.no_delete { RERR_NO_DELETE } else { 0 };
        let count = u8::try_from(rerr.unreachable.len()).unwrap_or(u8::MAX);
        self.out.extend([RERR, no_delete, 0, count]);
        for (destination, seqno) in rerr.unreachable.iter().take(usize::from(count)) {
            self.address(*destination);
            self.number(*seqno);
        }
    }

    /// Twelve bytes a row: destination, hops from the sender (all ones: not reachable), sequence number. What one
    /// datagram cannot hold is left out.
    fn dsdv(&mut self, update: &DsdvUpdate) {
        const ROWS: usize = (u16::MAX as usize - 28) / 12;
        for route in update.routes.iter().take(ROWS) {
            self.address(route.destination);
            self.number(route.hops.map_or(u32::MAX, u32::from));
            self.number(route.seqno);
        }
    }

    fn address(&mut self, node: NodeId) {
        self.out.extend(self.addresses.node(node).octets());
    }

    fn number(&mut self, number: u32) {
        self.out.extend(number.to_be_bytes());
    }
}

/// The RFC lets the receiver add its hop to the count; [`Rreq::hops`] and [`Rrep::hops`] have it already.
fn as_sent(hops: u8) -> u8 {
    hops.saturating_sub(1)
}
