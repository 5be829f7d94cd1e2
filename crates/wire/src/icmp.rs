//! What routers say of packets that are too big for the next link; requests for an echo, and what answers them.

use crate::checksum::Sum;
use crate::ip::{Ip, array, protocol};
use alloc::vec::Vec;
use core::net::IpAddr;
use meshpace_units::{Bytes, Seq};

/// "Destination unreachable", "fragmentation needed and DF set" (RFC 792; RFC 1191, section 4).
const UNREACHABLE: u8 = 3;
const FRAGMENTATION_NEEDED: u8 = 4;
/// "Packet too big" (RFC 4443, section 3.2).
const TOO_BIG: u8 = 2;
/// An echo's request and reply (RFC 792; RFC 4443, sections 4.1 and 4.2).
const ECHO_V4: (u8, u8) = (8, 0);
const ECHO_V6: (u8, u8) = (128, 129);
/// Bytes of either message before the packet that it is about.
const HEADER: usize = 8;

/// A router could not pass on a TCP packet because of its size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooBig {
    /// Source address of that packet.
    pub source: IpAddr,
    /// Its destination address.
    pub destination: IpAddr,
    /// Its source port.
    pub source_port: u16,
    /// Its destination port.
    pub destination_port: u16,
    /// Its sequence number: believe only those that are in flight (RFC 5927, section 4).
    pub seq: Seq,
    /// The largest IP packet for the next link; old IPv4 routers do not tell (RFC 1191, section 5).
    pub mtu: Option<Bytes>,
}

/// Reads an ICMP "fragmentation needed" or an ICMPv6 "packet too big" about a TCP packet; `None` for anything else,
/// and if a checksum is wrong.
#[must_use]
pub fn parse_too_big(bytes: &[u8]) -> Option<TooBig> {
    let ip = Ip::walk(bytes).ok()?;
    let message = ip.whole_transport(bytes)?;
    let (header, about) = message.split_first_chunk::<HEADER>()?;
    let (covered, mtu) = match (ip.v6, ip.protocol, header[0], header[1]) {
        (false, protocol::ICMP, UNREACHABLE, FRAGMENTATION_NEEDED) => {
            if Sum::default().bytes(&bytes[..ip.transport]).checksum() != 0 {
                return None;
            }
            (Sum::default(), u32::from(u16::from_be_bytes(array(header, 6))))
        }
        (true, protocol::ICMPV6, TOO_BIG, _) => {
            let (source, destination) = ip.addresses(bytes);
            let length = message.len() as u16;
            (
                Sum::default().pseudo_header(source, destination, protocol::ICMPV6, length),
                u32::from_be_bytes(array(header, 4)),
            )
        }
        _ => return None,
    };
    if covered.bytes(message).checksum() != 0 {
        return None;
    }
    // Only its beginning: eight bytes above IP are sure in IPv4 (RFC 792).
    let inner = Ip::walk(about).ok()?;
    if inner.v6 != ip.v6 || inner.protocol != protocol::TCP {
        return None;
    }
    let tcp: &[u8; 8] = about.get(inner.transport..)?.first_chunk()?;
    let (source, destination) = inner.addresses(about);
    Some(TooBig {
        source,
        destination,
        source_port: u16::from_be_bytes(array(tcp, 0)),
        destination_port: u16::from_be_bytes(array(tcp, 2)),
        seq: Seq(u32::from_be_bytes(array(tcp, 4))),
        mtu: (mtu > 0).then_some(Bytes(mtu.into())),
    })
}

/// An ICMP message that asks for an echo, or answers one, without its IP header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Echo<'a> {
    /// Which asker's.
    pub identifier: u16,
    /// Which of its requests it is.
    pub sequence: u16,
    /// What is to come back.
    pub data: &'a [u8],
}

impl<'a> Echo<'a> {
    /// The bytes of a request for it. The checksum of ICMPv6 covers addresses, too: the kernel writes it (RFC 3542, section 3.1).
    #[must_use]
    pub fn request(&self, v6: bool) -> Vec<u8> {
        let (request, _) = if v6 { ECHO_V6 } else { ECHO_V4 };
        let head = [[request, 0], [0, 0], self.identifier.to_be_bytes(), self.sequence.to_be_bytes()];
        let mut bytes = [head.as_flattened(), self.data].concat();
        if !v6 {
            let checksum = Sum::default().bytes(&bytes).checksum();
            bytes[2..4].copy_from_slice(&checksum.to_be_bytes());
        }
        bytes
    }

    /// Reads a reply, of which the kernel has looked at the checksum if it is ICMPv6; `None` of anything else.
    #[must_use]
    pub fn reply(bytes: &'a [u8], v6: bool) -> Option<Self> {
        let (header, data) = bytes.split_first_chunk::<HEADER>()?;
        let (_, reply) = if v6 { ECHO_V6 } else { ECHO_V4 };
        let is_whole = v6 || Sum::default().bytes(bytes).checksum() == 0;
        let word = |at| u16::from_be_bytes(array(header, at));
        (header[..2] == [reply, 0] && is_whole).then(|| Self { identifier: word(4), sequence: word(6), data })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ECHO: Echo<'_> = Echo { identifier: 0x1234, sequence: 7, data: b"abc" };

    #[test]
    fn a_request_is_that_of_the_rfcs_and_its_reply_is_read() {
        let mut request = ECHO.request(false);
        // By hand: 0800 + 1234 + 0007 + 6162 + 6300 = de9d.
        assert_eq!(request, [8, 0, 0x21, 0x62, 0x12, 0x34, 0, 7, b'a', b'b', b'c']);
        assert_eq!(Echo::reply(&request, false), None, "a request");
        // What a host does: the type is 0, which takes 0800 off the sum.
        (request[0], request[2]) = (0, 0x29);
        assert_eq!(Echo::reply(&request, false), Some(ECHO));
        assert_eq!(Echo::reply(&request, true), None, "another version");
        request[9] ^= 1;
        assert_eq!(Echo::reply(&request, false), None, "damaged");
        assert_eq!(ECHO.request(true), [128, 0, 0, 0, 0x12, 0x34, 0, 7, b'a', b'b', b'c']);
        assert_eq!(Echo::reply(&[129, 0, 9, 9, 0x12, 0x34, 0, 7, b'a', b'b', b'c'], true), Some(ECHO));
        assert_eq!(Echo::reply(&[129, 1, 9, 9, 0x12, 0x34, 0, 7], true), None, "another code");
    }

    #[test]
    fn what_is_cut_off_is_no_reply() {
        let reply = [0u8, 0, 0xed, 0xc4, 0x12, 0x34, 0, 7];
        assert_eq!(Echo::reply(&reply, false), Some(Echo { data: &[], ..ECHO }));
        assert!((0..8).all(|length| Echo::reply(&reply[..length], false).is_none()));
    }
}
