//! Changes of IP headers outside the transport: what a simulated hop does to a packet.

use crate::checksum::Sum;
use crate::ip::IPV4_HEADER;
use alloc::vec::Vec;
use meshpace_units::Ecn;

/// Where the checksum is in an IPv4 header.
const CHECKSUM: usize = 10;

/// Puts options behind the IPv4 header that begins at `start` and has none yet (RFC 791, section 3.1).
///
/// # Panics
/// If the options are not up to ten whole words, or no IPv4 header without options is there.
pub fn insert_ipv4_options(packet: &mut Vec<u8>, start: usize, options: &[u8]) {
    assert!(options.len() % 4 == 0 && options.len() <= 40, "options of {} bytes", options.len());
    assert_eq!(packet[start], 0x45, "no IPv4 header without options");
    let end = start + IPV4_HEADER;
    packet.splice(end..end, options.iter().copied());
    let length = u16::from_be_bytes([packet[start + 2], packet[start + 3]]) + options.len() as u16;
    packet[start] += options.len() as u8 / 4;
    packet[start + 2..start + 4].copy_from_slice(&length.to_be_bytes());
    seal(&mut packet[start..end + options.len()]);
}

/// Sets time to live (or hop limit) and congestion notification of an IP packet. What is none stays as it is.
pub fn set_hop(packet: &mut [u8], ttl: u8, ecn: Ecn) {
    match packet.first().map(|byte| byte >> 4) {
        Some(4) => {
            let length = usize::from(packet[0] & 0xf) * 4;
            if let Some(header) = packet.get_mut(..length).filter(|header| header.len() >= IPV4_HEADER) {
                header[1] = header[1] & !3 | ecn.bits();
                header[8] = ttl;
                seal(header);
            }
        }
        Some(6) if packet.len() >= 8 => {
            packet[1] = packet[1] & !0x30 | ecn.bits() << 4;
            packet[7] = ttl;
        }
        _ => {}
    }
}

fn seal(header: &mut [u8]) {
    header[CHECKSUM..CHECKSUM + 2].copy_from_slice(&[0; 2]);
    let checksum = Sum::default().bytes(header).checksum();
    header[CHECKSUM..CHECKSUM + 2].copy_from_slice(&checksum.to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{checksum_ok, parse};
    use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

    /// A TCP acknowledgement, all numbers zero, behind an IP header.
    fn packet(mut header: Vec<u8>, address: IpAddr) -> Vec<u8> {
        let mut tcp = [0; 20];
        tcp[12..14].copy_from_slice(&[0x50, 0x10]);
        let checksum = Sum::default().pseudo_header(address, address, 6, 20).bytes(&tcp).checksum();
        tcp[16..18].copy_from_slice(&checksum.to_be_bytes());
        header.extend(tcp);
        header
    }

    fn v4() -> Vec<u8> {
        let address = Ipv4Addr::new(10, 0, 0, 1);
        let mut header =
            [[0x45, 0, 0, 40], [0, 0, 0x40, 0], [64, 6, 0, 0], address.octets(), address.octets()];
        seal(header.as_flattened_mut());
        packet(header.concat(), IpAddr::V4(address))
    }

    fn v6() -> Vec<u8> {
        let address = Ipv6Addr::LOCALHOST;
        let header = [&[0x60, 0, 0, 0, 0, 20, 6, 64][..], &address.octets(), &address.octets()];
        packet(header.concat(), IpAddr::V6(address))
    }

    #[test]
    fn options_stand_between_header_and_transport() {
        let mut changed = v4();
        insert_ipv4_options(&mut changed, 0, &[158, 4, 1, 2, 0, 0, 0, 0]);
        assert_eq!((changed[0], changed.len()), (0x47, 48));
        assert_eq!(changed[20..28], [158, 4, 1, 2, 0, 0, 0, 0]);
        assert_eq!(changed[28..], v4()[20..]);
        assert!(checksum_ok(&changed) && parse(&changed).is_ok(), "{changed:x?}");
    }

    #[test]
    fn a_hop_changes_its_two_fields() {
        for (mut changed, ttl_at) in [(v4(), 8), (v6(), 7)] {
            assert!(checksum_ok(&changed));
            let before = changed.clone();
            set_hop(&mut changed, 7, Ecn::Ce);
            assert_eq!(changed[ttl_at], 7);
            assert!(checksum_ok(&changed) && changed != before);
            set_hop(&mut changed, 64, Ecn::NotEct);
            assert_eq!(changed, before);
        }
        let mut none = [0x4f, 0, 0];
        set_hop(&mut none, 7, Ecn::Ce);
        assert_eq!(none, [0x4f, 0, 0]);
    }
}
