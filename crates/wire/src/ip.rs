//! IP headers: where they end and what comes behind them.

use crate::not_tcp::{Malformed, NotTcp};
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Protocol numbers (IANA, "Assigned Internet Protocol Numbers").
pub mod protocol {
    /// IPv6 hop-by-hop options (RFC 8200, section 4.3).
    pub const HOP_BY_HOP: u8 = 0;
    /// ICMP for IPv4 (RFC 792).
    pub const ICMP: u8 = 1;
    /// TCP.
    pub const TCP: u8 = 6;
    /// UDP.
    pub const UDP: u8 = 17;
    /// IPv6 routing header (RFC 8200, section 4.4).
    pub const ROUTING: u8 = 43;
    /// IPv6 fragment header (RFC 8200, section 4.5).
    pub const FRAGMENT: u8 = 44;
    /// ICMP for IPv6 (RFC 4443).
    pub const ICMPV6: u8 = 58;
    /// Nothing follows (RFC 8200, section 4.7).
    pub const NO_NEXT_HEADER: u8 = 59;
    /// IPv6 destination options (RFC 8200, section 4.6).
    pub const DESTINATION: u8 = 60;
    /// For experiments (RFC 3692).
    pub const EXPERIMENTAL: u8 = 253;
}

/// Bytes of an IPv4 header without options, and of the fixed IPv6 header.
pub const IPV4_HEADER: usize = 20;
pub const IPV6_HEADER: usize = 40;

/// "More fragments", and the offset in units of 8 bytes (RFC 791, section 3.1).
const FRAGMENT_BITS: u16 = 0x3fff;

/// An IP packet that is no fragment.
#[derive(Clone, Copy)]
pub struct Ip {
    pub v6: bool,
    /// Bytes by the IP header; those behind are not part of the packet.
    pub length: usize,
    /// Where the packet above IP begins, at most `length`.
    pub transport: usize,
    /// Of the packet above IP.
    pub protocol: u8,
}

impl Ip {
    /// Walks the headers. Only they have to be in `bytes`.
    #[inline]
    pub fn walk(bytes: &[u8]) -> Result<Self, NotTcp> {
        match bytes.first().map(|byte| byte >> 4) {
            None => Err(NotTcp::Truncated),
            Some(4) => v4(bytes),
            Some(6) => v6(bytes),
            Some(_) => Err(NotTcp::Malformed(Malformed::Version)),
        }
    }

    /// Source and destination address of the packet that was walked.
    #[inline]
    pub fn addresses(&self, bytes: &[u8]) -> (IpAddr, IpAddr) {
        if self.v6 {
            let address = |at| IpAddr::V6(Ipv6Addr::from(array::<16>(bytes, at)));
            (address(8), address(24))
        } else {
            let address = |at| IpAddr::V4(Ipv4Addr::from(array::<4>(bytes, at)));
            (address(12), address(16))
        }
    }

    /// Time to live or hop limit.
    #[inline]
    pub fn ttl(&self, bytes: &[u8]) -> u8 {
        bytes[if self.v6 { 7 } else { 8 }]
    }

    /// Differentiated services code point and congestion notification, the byte that both versions have.
    #[inline]
    pub fn traffic_class(&self, bytes: &[u8]) -> u8 {
        if self.v6 { bytes[0] << 4 | bytes[1] >> 4 } else { bytes[1] }
    }

    /// The packet above IP, if all of it is in `bytes`.
    #[inline]
    pub fn whole_transport<'a>(&self, bytes: &'a [u8]) -> Option<&'a [u8]> {
        bytes.get(self.transport..self.length)
    }
}

#[inline]
fn v4(bytes: &[u8]) -> Result<Ip, NotTcp> {
    let Some(header) = bytes.first_chunk::<IPV4_HEADER>() else { return Err(NotTcp::Truncated) };
    let length = usize::from(u16::from_be_bytes([header[2], header[3]]));
    let transport = usize::from(header[0] & 0xf) * 4;
    if transport < IPV4_HEADER {
        return Err(NotTcp::Malformed(Malformed::IpHeader));
    }
    if length == 0 {
        return Err(NotTcp::Super);
    }
    if length < transport {
        return Err(NotTcp::Malformed(Malformed::IpLength));
    }
    let protocol = header[9];
    if u16::from_be_bytes([header[6], header[7]]) & FRAGMENT_BITS != 0 {
        return Err(NotTcp::Fragment);
    }
    if bytes.len() < transport {
        return Err(NotTcp::Truncated);
    }
    Ok(Ip { v6: false, length, transport, protocol })
}

/// Hop-by-hop options, routing and destination options are walked through, in any order. An authentication header
/// (RFC 4302) is not: what it covers must not be rewritten.
#[inline]
fn v6(bytes: &[u8]) -> Result<Ip, NotTcp> {
    let Some(header) = bytes.first_chunk::<IPV6_HEADER>() else { return Err(NotTcp::Truncated) };
    let payload = usize::from(u16::from_be_bytes([header[4], header[5]]));
    let mut next = header[6];
    if payload == 0 && next != protocol::NO_NEXT_HEADER {
        return Err(NotTcp::Super);
    }
    let length = IPV6_HEADER + payload;
    let mut at = IPV6_HEADER;
    while matches!(next, protocol::HOP_BY_HOP | protocol::ROUTING | protocol::DESTINATION) {
        // The length is that behind the first eight bytes, in units of eight.
        let Some(&[following, units]) = bytes.get(at..at + 2) else { return Err(NotTcp::Truncated) };
        next = following;
        at += (usize::from(units) + 1) * 8;
        if at > length {
            return Err(NotTcp::Malformed(Malformed::IpHeader));
        }
    }
    if next == protocol::FRAGMENT {
        return Err(NotTcp::Fragment);
    }
    if bytes.len() < at {
        return Err(NotTcp::Truncated);
    }
    Ok(Ip { v6: true, length, transport: at, protocol: next })
}

/// `N` bytes from `at`, which the caller knows to be there.
#[inline]
pub fn array<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    let mut array = [0; N];
    array.copy_from_slice(&bytes[at..at + N]);
    array
}
