//! IPv4 and UDP headers, and the checksum that they share with TCP.

use std::net::Ipv4Addr;

/// Protocol numbers (IANA).
pub const TCP: u8 = 6;
pub const UDP: u8 = 17;
/// "Use for experimentation and testing" (RFC 3692).
pub const EXPERIMENTAL: u8 = 253;

/// Length of a header without options.
pub const HEADER: u64 = 20;
/// Length of a UDP header.
pub const UDP_HEADER: u64 = 8;

const DO_NOT_FRAGMENT: u16 = 0x4000;

/// What an IP header says besides lengths and checksum.
pub struct Header {
    pub source: Ipv4Addr,
    pub destination: Ipv4Addr,
    pub protocol: u8,
    pub ttl: u8,
    /// Tells packets apart. Packets that may not be fragmented may have any (RFC 6864, section 4.1).
    pub identification: u16,
}

impl Header {
    /// Writes the packet that carries `transport` (RFC 791, section 3.1).
    pub fn write(&self, out: &mut Vec<u8>, transport: &[u8]) {
        let start = out.len();
        out.extend([0x45, 0]); // version 4, five words; no service class
        out.extend(((HEADER as usize + transport.len()) as u16).to_be_bytes());
        out.extend(self.identification.to_be_bytes());
        out.extend(DO_NOT_FRAGMENT.to_be_bytes());
        out.extend([self.ttl, self.protocol, 0, 0]);
        out.extend(self.source.octets());
        out.extend(self.destination.octets());
        let sum = checksum(&[&out[start..]]);
        out[start + 10..start + 12].copy_from_slice(&sum.to_be_bytes());
        out.extend_from_slice(transport);
    }

    /// Fills in the checksum of a TCP or UDP packet, whose field is at `offset` and zero, over the pseudo-header
    /// (RFC 9293, section 3.1; RFC 768).
    pub fn seal(&self, transport: &mut [u8], offset: usize) {
        let length = (transport.len() as u16).to_be_bytes();
        let (source, destination) = (self.source.octets(), self.destination.octets());
        let sum = checksum(&[&source, &destination, &[0, self.protocol], &length, transport]);
        // Zero means "no checksum" to UDP; its other form, all ones, is as right for TCP.
        let sum = if sum == 0 { u16::MAX } else { sum };
        transport[offset..offset + 2].copy_from_slice(&sum.to_be_bytes());
    }
}

/// A UDP packet, its checksum zero; `Header::seal` it at [`UDP_CHECKSUM`].
pub fn udp(out: &mut Vec<u8>, source_port: u16, destination_port: u16, payload: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    out.extend(source_port.to_be_bytes());
    out.extend(destination_port.to_be_bytes());
    out.extend([0; 4]);
    payload(out);
    let length = (out.len() - start) as u16;
    out[start + 4..start + 6].copy_from_slice(&length.to_be_bytes());
}

/// Where the checksum is in a UDP header.
pub const UDP_CHECKSUM: usize = 6;

/// The Internet checksum over parts that follow each other, each but the last of even length (RFC 1071).
fn checksum(parts: &[&[u8]]) -> u16 {
    let word = |pair: &[u8]| u64::from(pair[0]) << 8 | u64::from(pair.get(1).copied().unwrap_or(0));
    let mut sum: u64 = parts.iter().flat_map(|part| part.chunks(2).map(word)).sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sum_is_that_of_the_rfc() {
        // RFC 1071, section 3: the sum of these eight bytes is ddf2.
        assert_eq!(checksum(&[&[0x00, 0x01, 0xf2, 0x03], &[0xf4, 0xf5, 0xf6, 0xf7]]), !0xddf2);
        assert_eq!(checksum(&[&[0x12, 0x34, 0x56]]), checksum(&[&[0x12, 0x34, 0x56, 0x00]]));
    }

    #[test]
    fn a_udp_checksum_is_never_zero() {
        let any = Ipv4Addr::UNSPECIFIED;
        let header = Header { source: any, destination: any, protocol: UDP, ttl: 1, identification: 0 };
        // Chosen so that all words add up to ffff: 17 + 8 + 8 (both lengths) + port.
        let mut packet = Vec::new();
        udp(&mut packet, 0xffff - 17 - 8 - 8, 0, |_| ());
        header.seal(&mut packet, UDP_CHECKSUM);
        assert_eq!(packet[6..8], [0xff, 0xff]);
    }
}
