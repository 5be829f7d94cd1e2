//! What routers say of packets that are too big for the next link.

use crate::checksum::Sum;
use crate::ip::{Ip, array, protocol};
use core::net::IpAddr;
use meshpace_units::{Bytes, Seq};

/// "Destination unreachable", "fragmentation needed and DF set" (RFC 792; RFC 1191, section 4).
const UNREACHABLE: u8 = 3;
const FRAGMENTATION_NEEDED: u8 = 4;
/// "Packet too big" (RFC 4443, section 3.2).
const TOO_BIG: u8 = 2;
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
