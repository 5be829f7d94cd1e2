//! Reading a packet.

use crate::checksum::Sum;
use crate::ip::{Ip, protocol};
use crate::not_tcp::{Malformed, NotTcp};
use crate::options::{self, Read};
use crate::tcp;
use core::net::IpAddr;
use meshpace_tcp::Segment;
use meshpace_units::{Bytes, Ecn};

/// A TCP packet without its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    /// Source address.
    pub source: IpAddr,
    /// Destination address, which is that of the next stop if the packet has a source route.
    pub destination: IpAddr,
    /// Time to live (IPv4) or hop limit (IPv6).
    pub ttl: u8,
    /// Differentiated services code point (upper six bits, RFC 2474) and congestion notification (RFC 3168).
    pub traffic_class: u8,
    /// The TCP header; the length of the payload is the one that the IP header tells.
    pub segment: Segment,
    /// It carries TCP's MD5 signature (RFC 2385) or its authentication option (RFC 5925): a change of its header or
    /// payload would be noticed.
    pub signed: bool,
    /// True if the header says more than the segment holds: urgent data, a reserved flag (AccECN's among them, RFC 9768), an option
    /// that is neither time stamps nor TCP-GAP's, or a malformed one.
    pub says_more: bool,
    /// Where the TCP header begins.
    pub tcp_offset: usize,
    /// Bytes of the TCP header with its options.
    pub header_length: u32,
    /// Bytes of the IP packet by its header, which may be more or fewer than were handed in.
    pub wire_len: Bytes,
}

impl Packet {
    /// Congestion notification of the IP header (RFC 3168, section 5).
    #[must_use]
    pub const fn ecn(&self) -> Ecn {
        Ecn::from_bits(self.traffic_class)
    }

    /// The payload, given the bytes that were parsed; `None` if they end before it.
    #[must_use]
    pub fn payload<'a>(&self, bytes: &'a [u8]) -> Option<&'a [u8]> {
        let start = self.tcp_offset + self.header_length as usize;
        bytes.get(start..start + self.segment.payload as usize)
    }
}

/// Where things are in a TCP packet.
#[derive(Clone, Copy)]
pub struct Layout {
    pub ip: Ip,
    /// Bytes of the TCP header.
    pub header: usize,
}

impl Layout {
    /// Finds the TCP header; all of it is in `bytes`.
    #[inline]
    pub fn of(bytes: &[u8]) -> Result<(Self, &[u8; tcp::HEADER], &[u8]), NotTcp> {
        let ip = Ip::walk(bytes)?;
        if ip.protocol != protocol::TCP {
            return Err(NotTcp::OtherProtocol(ip.protocol));
        }
        let room = ip.length - ip.transport;
        if room < tcp::HEADER {
            return Err(NotTcp::Malformed(Malformed::IpLength));
        }
        let Some((fixed, rest)) = bytes[ip.transport..].split_first_chunk() else {
            return Err(NotTcp::Truncated);
        };
        let header = tcp::header_length(fixed);
        if header < tcp::HEADER || header > room {
            return Err(NotTcp::Malformed(Malformed::DataOffset));
        }
        let options = rest.get(..header - tcp::HEADER).ok_or(NotTcp::Truncated)?;
        Ok((Self { ip, header }, fixed, options))
    }
}

/// Reads an IPv4 or IPv6 packet with a TCP segment. `bytes` may be longer than the packet, or shorter if all headers
/// are there. Checksums are not looked at.
///
/// # Errors
/// [`NotTcp`]: the packet has no TCP header, or none that can be relied on.
#[inline]
pub fn parse(bytes: &[u8]) -> Result<Packet, NotTcp> {
    let (Layout { ip, header }, fixed, options) = Layout::of(bytes)?;
    let (source, destination) = ip.addresses(bytes);
    let payload = (ip.length - ip.transport - header) as u32;
    let Read { options, signed, others } = options::read(options);
    Ok(Packet {
        source,
        destination,
        ttl: ip.ttl(bytes),
        traffic_class: ip.traffic_class(bytes),
        segment: tcp::segment(fixed, options, payload),
        signed,
        says_more: others || tcp::has_other_flags(fixed),
        tcp_offset: ip.transport,
        header_length: header as u32,
        wire_len: Bytes(ip.length as u64),
    })
}

/// Completes the TCP checksum that a host left to its interface: there stands the sum over the pseudo header alone
/// (`CHECKSUM_PARTIAL`, include/linux/skbuff.h of Linux). One that is right or wrong stays. True if it was completed.
pub fn complete_checksum(bytes: &mut [u8]) -> bool {
    let Ok((Layout { ip, .. }, ..)) = Layout::of(bytes) else { return false };
    let Some(transport) = ip.whole_transport(bytes) else { return false };
    let (source, destination) = ip.addresses(bytes);
    let pseudo = Sum::default().pseudo_header(source, destination, protocol::TCP, transport.len() as u16);
    let found: [u8; 2] = crate::ip::array(transport, tcp::CHECKSUM);
    let right = pseudo.bytes(transport).checksum() == 0;
    if right || u16::from_be_bytes(found) != pseudo.fold() {
        return false;
    }
    // What stands there is the pseudo header's part of the sum.
    let checksum = Sum::default().bytes(transport).checksum();
    bytes[ip.transport + tcp::CHECKSUM..][..2].copy_from_slice(&checksum.to_be_bytes());
    true
}

/// True for a whole TCP packet with right checksums, as its destination sees it (a source route has come to its end).
#[must_use]
pub fn checksum_ok(bytes: &[u8]) -> bool {
    let Ok((Layout { ip, .. }, ..)) = Layout::of(bytes) else { return false };
    let Some(transport) = ip.whole_transport(bytes) else { return false };
    let (source, destination) = ip.addresses(bytes);
    let sum = Sum::default().pseudo_header(source, destination, protocol::TCP, transport.len() as u16);
    let header = ip.v6 || Sum::default().bytes(&bytes[..ip.transport]).checksum() == 0;
    header && sum.bytes(transport).checksum() == 0
}
