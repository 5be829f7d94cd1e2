//! Writing packets.

use crate::checksum::Sum;
use crate::ip::{IPV4_HEADER, IPV6_HEADER, protocol};
use crate::options;
use crate::tcp::{CHECKSUM, HEADER, OFFSET_AND_FLAGS, OPTIONS_MAX, flag_bits};
use alloc::vec::Vec;
use core::net::IpAddr;
use meshpace_tcp::Segment;
use meshpace_units::{Dscp, Ecn};

const DO_NOT_FRAGMENT: u16 = 0x4000;
/// Where the checksum is in a UDP header.
const UDP_CHECKSUM: usize = 6;

/// What an IP header says besides lengths and checksum: no options, not to be fragmented.
#[derive(Clone, Copy, Debug)]
pub struct IpHeader {
    /// Source address.
    pub source: IpAddr,
    /// Destination address, of the same version.
    pub destination: IpAddr,
    /// Protocol of the packet above ([`protocol`]).
    pub protocol: u8,
    /// Time to live or hop limit.
    pub ttl: u8,
    /// Congestion notification (RFC 3168, section 5).
    pub ecn: Ecn,
    /// The service class that it asks for (RFC 2474, section 3).
    pub dscp: Dscp,
    /// Tells IPv4 packets apart. Those that may not be fragmented may have any (RFC 6864, section 4.1).
    pub identification: u16,
}

impl IpHeader {
    /// Appends the header of a packet with `length` bytes above IP (RFC 791, section 3.1; RFC 8200, section 3).
    ///
    /// # Panics
    /// If the addresses are of different versions, or `length` does not fit the field.
    pub fn write(&self, out: &mut Vec<u8>, length: usize) {
        let field = |length: usize| {
            u16::try_from(length).unwrap_or_else(|_| panic!("{length} bytes in one IP packet")).to_be_bytes()
        };
        let class = self.dscp.bits() | self.ecn.bits();
        match (self.source, self.destination) {
            (IpAddr::V4(source), IpAddr::V4(destination)) => {
                let start = out.len();
                out.extend([0x45, class]); // version 4, five words
                out.extend(field(IPV4_HEADER + length));
                out.extend(self.identification.to_be_bytes());
                out.extend(DO_NOT_FRAGMENT.to_be_bytes());
                out.extend([self.ttl, self.protocol, 0, 0]);
                out.extend(source.octets());
                out.extend(destination.octets());
                let checksum = Sum::default().bytes(&out[start..]).checksum();
                out[start + 10..start + 12].copy_from_slice(&checksum.to_be_bytes());
            }
            (IpAddr::V6(source), IpAddr::V6(destination)) => {
                out.extend([0x60 | class >> 4, class << 4, 0, 0]); // version 6, no flow label
                out.extend(field(length));
                out.extend([self.protocol, self.ttl]);
                out.extend(source.octets());
                out.extend(destination.octets());
            }
            (source, destination) => panic!("a packet from {source} to {destination}"),
        }
    }

    /// Fills in the checksum of the packet above IP, whose field is zero (TCP: RFC 9293, section 3.1; UDP: RFC 768).
    ///
    /// # Panics
    /// If the protocol is another one, or the packet longer than 65,535 bytes or shorter than its header.
    pub fn seal(&self, transport: &mut [u8]) {
        let at = match self.protocol {
            protocol::TCP => CHECKSUM,
            protocol::UDP => UDP_CHECKSUM,
            other => panic!("the checksum of IP protocol {other}"),
        };
        let length = u16::try_from(transport.len())
            .unwrap_or_else(|_| panic!("{} bytes in one IP packet", transport.len()));
        let sum = Sum::default().pseudo_header(self.source, self.destination, self.protocol, length);
        let checksum = match sum.bytes(transport).checksum() {
            0 if self.protocol == protocol::UDP => u16::MAX, // zero would mean that there is none
            checksum => checksum,
        };
        transport[at..at + 2].copy_from_slice(&checksum.to_be_bytes());
    }

    /// Bytes of the header.
    #[must_use]
    pub const fn length(&self) -> usize {
        if self.source.is_ipv6() { IPV6_HEADER } else { IPV4_HEADER }
    }
}

/// Appends a TCP header, its checksum zero (RFC 9293, section 3.1). Options are laid out as
/// [`Segment::options_length`] counts them.
///
/// # Panics
/// If the options are longer than 40 bytes.
pub fn write_tcp_header(out: &mut Vec<u8>, segment: &Segment) {
    let start = out.len();
    out.extend(segment.source_port.to_be_bytes());
    out.extend(segment.destination_port.to_be_bytes());
    out.extend(segment.seq.0.to_be_bytes());
    out.extend(if segment.flags.ack { segment.ack.0 } else { 0 }.to_be_bytes());
    out.extend([0, flag_bits(segment.flags)]);
    out.extend(segment.window.to_be_bytes());
    out.extend([0; 4]); // checksum, urgent pointer
    options::write(out, &segment.options);
    let length = out.len() - start;
    assert!(length <= HEADER + OPTIONS_MAX, "{length} bytes of TCP header: {segment:?}");
    out[start + OFFSET_AND_FLAGS] = (length as u8 / 4) << 4;
}

/// A whole packet with its checksums, not ECN-capable.
///
/// # Panics
/// If the addresses are of different versions, `payload` is not as long as the segment says, the options are longer
/// than 40 bytes or the packet longer than IP's length field can tell.
#[must_use]
pub fn build(source: IpAddr, destination: IpAddr, ttl: u8, segment: &Segment, payload: &[u8]) -> Vec<u8> {
    assert_eq!(payload.len(), segment.payload as usize, "{segment:?}");
    let header = IpHeader {
        source,
        destination,
        protocol: protocol::TCP,
        ttl,
        ecn: Ecn::NotEct,
        dscp: Dscp::DEFAULT,
        identification: 0,
    };
    let above = segment.header_length() as usize + payload.len();
    let mut packet = Vec::with_capacity(header.length() + above);
    header.write(&mut packet, above);
    let tcp = packet.len();
    write_tcp_header(&mut packet, segment);
    packet.extend_from_slice(payload);
    header.seal(&mut packet[tcp..]);
    packet
}
