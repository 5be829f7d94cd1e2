//! What of QUIC everybody on the way may read (RFC 9000, section 17.4; RFC 8999).

use crate::ip::{Ip, array, protocol};

/// QUIC's port, and HTTP/3's: nothing in a short header says that it is QUIC, so that only what is sent there, or from there, is read.
const PORT: u16 = 443;
/// Bytes of a UDP header.
const UDP_HEADER: usize = 8;
/// Header form (1: long) and fixed bit, and what they are in a packet with a short header (RFC 9000, section 17.3.1).
const FORM: u8 = 0xc0;
const SHORT: u8 = 0x40;
const SPIN: u8 = 0x20;

/// The latency spin bit of a packet of QUIC version 1 with a short header; of several in a datagram the first one's. `None` of all else.
#[must_use]
pub fn spin(bytes: &[u8]) -> Option<bool> {
    let ip = Ip::walk(bytes).ok().filter(|ip| ip.protocol == protocol::UDP)?;
    // What stands behind the packet is not of it.
    let datagram = bytes.get(ip.transport..ip.length.min(bytes.len()))?.get(..UDP_HEADER + 1)?;
    let port = |at| u16::from_be_bytes(array(datagram, at));
    let first = datagram[UDP_HEADER];
    let is_quic =
        (port(0) == PORT || port(2) == PORT) && first & FORM == SHORT && port(4) > UDP_HEADER as u16;
    is_quic.then_some(first & SPIN != 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    fn datagram(protocol: u8, port: u16, first: u8) -> Vec<u8> {
        let header = [0x45, 0, 0, 30, 0, 0, 0, 0, 64, protocol, 0, 0, 192, 0, 2, 1, 10, 77, 0, 2];
        let [high, low] = port.to_be_bytes();
        [&header[..], &[high, low, 0x13, 0x88, 0, 10, 0, 0, first, 7]].concat()
    }

    #[test]
    fn the_spin_bit_of_short_headers_is_read() {
        assert_eq!(spin(&datagram(17, 443, 0b0100_0001)), Some(false));
        assert_eq!(spin(&datagram(17, 443, 0b0110_0001)), Some(true));
    }

    #[test]
    fn all_else_has_none() {
        assert_eq!(spin(&datagram(17, 443, 0b1110_0001)), None, "a long header");
        assert_eq!(spin(&datagram(17, 443, 0b0010_0001)), None, "without the fixed bit");
        assert_eq!(spin(&datagram(17, 53, 0b0110_0001)), None, "another port");
        assert_eq!(spin(&datagram(6, 443, 0b0110_0001)), None, "no UDP");
        let whole = datagram(17, 443, 0b0110_0001);
        let mut shorter = whole.clone();
        shorter[3] = 28;
        assert_eq!(spin(&shorter), None, "what stands behind the packet is not of it");
        assert!((0..29).all(|length| spin(&whole[..length]).is_none()));
    }
}
