//! Babel's packet: TLVs, with the sizes of RFC 8966, section 4.6. It goes over IPv4, by which its nodes are known.

use crate::message::{Format, HEADERS, Message};
use meshpace_units::{Bytes, NodeId, Span};
use std::net::Ipv4Addr;

/// Of metrics and costs: there is no way (RFC 8966, section 3.5.1).
pub const INFINITE: u16 = u16::MAX;

/// A Babel packet (RFC 8966, section 4.2).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BabelPacket {
    /// What it says, in order.
    pub tlvs: Vec<BabelTlv>,
}

/// One thing that a packet says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BabelTlv {
    /// A multicast Hello: the sender is there, and says so again within the interval (section 4.6.5).
    Hello {
        /// One more each time.
        seqno: u16,
        /// Until the next.
        interval: Span,
    },
    /// I heard you (section 4.6.6).
    Ihu {
        /// The neighbour that was heard.
        neighbour: NodeId,
        /// What the link from there costs, as the sender receives it.
        rxcost: u16,
        /// Until the next.
        interval: Span,
    },
    /// The sender has a way there (section 4.6.9). Flag R: the router-id is that of the prefix, the node's only address.
    Update {
        /// The destination.
        destination: NodeId,
        /// The number that the destination gave.
        seqno: u16,
        /// What the way costs from the sender on; all ones: it has none.
        metric: u16,
        /// Until the next.
        interval: Span,
    },
    /// Asks for an update (section 4.6.10); `None`: for all of them.
    RouteRequest(Option<NodeId>),
    /// Asks for an update with this number, or a newer one (section 4.6.11).
    SeqnoRequest {
        /// The destination.
        destination: NodeId,
        /// The number.
        seqno: u16,
        /// So many more nodes may hand it on.
        hops: u8,
    },
}

/// Magic, version and length of the packet (section 4.2).
const HEADER: u64 = 4;
/// What an interface lets through in one piece.
const MTU: u64 = 1500;

impl BabelTlv {
    /// Bytes with type and length.
    pub(super) const fn size(&self) -> u64 {
        match self {
            Self::Hello { .. } | Self::RouteRequest(Some(_)) => 8,
            Self::Ihu { .. } => 12,
            Self::Update { .. } => 16,
            Self::RouteRequest(None) => 4,
            Self::SeqnoRequest { .. } => 20,
        }
    }

    fn write(&self, out: &mut Vec<u8>, address: &dyn Fn(NodeId) -> Ipv4Addr) {
        /// Encoding of IPv4 addresses, whole ones; of none.
        const IPV4: [u8; 2] = [1, 32];
        const WILDCARD: [u8; 2] = [0, 0];
        const ROUTER_ID_FLAG: u8 = 0x40;
        // Type and length, which counts neither of them.
        let mut begin = |kind| out.extend([kind, self.size() as u8 - 2]);
        match *self {
            Self::Hello { seqno, interval } => {
                begin(4);
                out.extend([0, 0]);
                out.extend(seqno.to_be_bytes());
                out.extend(centiseconds(interval).to_be_bytes());
            }
            Self::Ihu { neighbour, rxcost, interval } => {
                begin(5);
                out.extend([IPV4[0], 0]);
                out.extend(rxcost.to_be_bytes());
                out.extend(centiseconds(interval).to_be_bytes());
                out.extend(address(neighbour).octets());
            }
            Self::Update { destination, seqno, metric, interval } => {
                begin(8);
                out.extend([IPV4[0], ROUTER_ID_FLAG, IPV4[1], 0]);
                out.extend(centiseconds(interval).to_be_bytes());
                out.extend(seqno.to_be_bytes());
                out.extend(metric.to_be_bytes());
                out.extend(address(destination).octets());
            }
            Self::RouteRequest(destination) => {
                begin(9);
                out.extend(if destination.is_some() { IPV4 } else { WILDCARD });
                out.extend(destination.iter().flat_map(|node| address(*node).octets()));
            }
            Self::SeqnoRequest { destination, seqno, hops } => {
                begin(10);
                out.extend(IPV4);
                out.extend(seqno.to_be_bytes());
                out.extend([hops, 0]);
                // The router-id that flag R makes of an IPv4 address.
                out.extend([0; 4]);
                out.extend(address(destination).octets());
                out.extend(address(destination).octets());
            }
        }
    }
}

/// As packets have it (section 4.6); no interval has more than fits.
fn centiseconds(interval: Span) -> u16 {
    (interval.as_nanos() / 10_000_000).min(u64::from(u16::MAX)) as u16
}

impl BabelPacket {
    /// As few packets as hold all of these.
    pub(super) fn of(tlvs: Vec<BabelTlv>) -> Vec<Self> {
        let mut packets: Vec<Self> = Vec::new();
        let mut room = 0;
        for tlv in tlvs {
            match packets.last_mut().filter(|_| room >= tlv.size()) {
                Some(packet) => packet.tlvs.push(tlv),
                None => {
                    packets.push(Self { tlvs: vec![tlv] });
                    room = MTU - HEADERS.0 - HEADER;
                }
            }
            room -= tlv.size();
        }
        packets
    }
}

impl Message for BabelPacket {
    /// IANA's port.
    const FORMAT: Format = Format { port: 6696, name: "Babel", size: None };

    fn wire_length(&self) -> Bytes {
        HEADERS + Bytes(HEADER + self.tlvs.iter().map(BabelTlv::size).sum::<u64>())
    }

    fn write(&self, out: &mut Vec<u8>, address: &dyn Fn(NodeId) -> Ipv4Addr) {
        out.extend([42, 2]);
        out.extend((self.wire_length().0 - HEADERS.0 - HEADER).to_be_bytes()[6..].iter());
        self.tlvs.iter().for_each(|tlv| tlv.write(out, address));
    }
}
