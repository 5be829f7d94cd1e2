//! What a network has to know of any IP packet to carry it: read once, where it enters.

use crate::ip::{IPV4_HEADER, IPV6_HEADER, Ip, array, protocol};
use crate::not_tcp::{Malformed, NotTcp};
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use meshpace_units::{Bytes, Dscp, Ecn};

/// An IP packet, whatever it carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outline {
    /// Source address.
    pub source: IpAddr,
    /// Destination address.
    pub destination: IpAddr,
    /// Protocol above IP and its extension headers; of a fragment what its IP header says.
    pub protocol: u8,
    /// Source and destination port of TCP or UDP; zeros in other protocols, and in fragments.
    pub ports: (u16, u16),
    /// Congestion notification.
    pub ecn: Ecn,
    /// The service class that it asks for.
    pub dscp: Dscp,
    /// Length with IP header.
    pub length: Bytes,
}

/// Reads an IPv4 or IPv6 packet, all of which is in `bytes`; there may be more behind it.
///
/// # Errors
/// What is wrong with its headers.
pub fn outline(bytes: &[u8]) -> Result<Outline, NotTcp> {
    let found = match Ip::walk(bytes) {
        Ok(ip) => {
            let has_ports = matches!(ip.protocol, protocol::TCP | protocol::UDP);
            let behind = bytes.get(ip.transport..ip.length).ok_or(NotTcp::Truncated)?;
            let port = |at| u16::from_be_bytes(array(behind, at));
            let ports = if has_ports && behind.len() >= 4 { (port(0), port(2)) } else { (0, 0) };
            let (source, destination) = ip.addresses(bytes);
            let class = ip.traffic_class(bytes);
            Outline {
                source,
                destination,
                protocol: ip.protocol,
                ports,
                ecn: Ecn::from_bits(class),
                dscp: Dscp::from_bits(class),
                length: Bytes(ip.length as u64),
            }
        }
        Err(NotTcp::Fragment) => fragment(bytes)?,
        Err(error) => return Err(error),
    };
    if found.length.0 > bytes.len() as u64 { Err(NotTcp::Truncated) } else { Ok(found) }
}

/// A fragment's IP header is there: it was read to find that this is one.
fn fragment(bytes: &[u8]) -> Result<Outline, NotTcp> {
    let length = |at| u64::from(u16::from_be_bytes(array(bytes, at)));
    let outline = |source, destination, protocol, traffic_class, length| Outline {
        source,
        destination,
        protocol,
        ports: (0, 0),
        ecn: Ecn::from_bits(traffic_class),
        dscp: Dscp::from_bits(traffic_class),
        length: Bytes(length),
    };
    if let Some(header) = bytes.first_chunk::<IPV4_HEADER>().filter(|header| header[0] >> 4 == 4) {
        let address = |at| IpAddr::V4(Ipv4Addr::from(array::<4>(bytes, at)));
        return Ok(outline(address(12), address(16), header[9], header[1], length(2)));
    }
    let header = bytes.first_chunk::<IPV6_HEADER>().ok_or(NotTcp::Malformed(Malformed::IpHeader))?;
    let address = |at| IpAddr::V6(Ipv6Addr::from(array::<16>(bytes, at)));
    let class = header[0] << 4 | header[1] >> 4;
    Ok(outline(address(8), address(24), header[6], class, length(4) + IPV6_HEADER as u64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    fn v4(protocol: u8, fragment: u16, behind: &[u8]) -> Vec<u8> {
        let [high, low] = fragment.to_be_bytes();
        let length = 20 + behind.len() as u8;
        let header = [0x45, 2, 0, length, 0, 0, high, low, 64, protocol, 0, 0, 10, 77, 0, 2, 10, 77, 0, 3];
        [&header[..], behind].concat()
    }

    #[test]
    fn a_datagram_has_ports_and_a_fragment_has_none() {
        let udp = [0x13, 0x88, 0, 53, 0, 8, 0, 0];
        let whole = outline(&v4(17, 0, &udp)).expect("a packet");
        assert_eq!((whole.protocol, whole.ports, whole.ecn), (17, (5000, 53), Ecn::Ect0));
        assert_eq!(
            (whole.length, whole.source, whole.destination),
            (Bytes(28), IpAddr::from([10, 77, 0, 2]), IpAddr::from([10, 77, 0, 3]))
        );
        let first = outline(&v4(17, 0x2000, &udp)).expect("a packet");
        assert_eq!(first, Outline { ports: (0, 0), ..whole });
        assert_eq!(outline(&v4(1, 0, &udp)).expect("a packet").ports, (0, 0));
    }

    #[test]
    fn ipv6_with_and_without_a_fragment_header() {
        let address = |last| [&[0xfd, 0x77][..], &[0; 13], &[last]].concat();
        let packet = |next: u8, behind: &[u8]| {
            let header = [0x60, 0x30, 0, 0, 0, behind.len() as u8, next, 64];
            [&header[..], &address(2), &address(3), behind].concat()
        };
        let tcp = [&[0, 80, 0, 81][..], &[0; 16]].concat();
        let whole = outline(&packet(6, &tcp)).expect("a packet");
        assert_eq!((whole.protocol, whole.ports, whole.ecn, whole.length), (6, (80, 81), Ecn::Ce, Bytes(60)));
        let fragment =
            outline(&packet(44, &[&[6, 0, 0, 1, 0, 0, 0, 1][..], &tcp].concat())).expect("a packet");
        assert_eq!((fragment.protocol, fragment.ports, fragment.length), (44, (0, 0), Bytes(68)));
        assert_eq!((fragment.source, fragment.destination), (whole.source, whole.destination));
    }

    #[test]
    fn what_is_cut_off_is_no_packet() {
        let packet = v4(17, 0, &[0; 8]);
        for length in 0..packet.len() {
            assert!(outline(&packet[..length]).is_err(), "{length} bytes");
        }
        assert_eq!(outline(&[0x55; 40]), Err(NotTcp::Malformed(Malformed::Version)));
        let longer = [&packet[..], &[0; 9]].concat();
        assert_eq!(outline(&longer).expect("a packet").length, Bytes(28), "what is behind it does not count");
    }
}
