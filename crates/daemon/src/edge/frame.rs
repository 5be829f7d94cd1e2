//! The frame that leaves in place of one that the program kept.

use super::exchange::Held;

/// Two addresses of Ethernet; a VLAN tag stands behind them (IEEE 802.1Q, clause 9).
const ADDRESSES: usize = 12;
/// Ethernet types of IP.
const IPV4: u16 = 0x0800;
const IPV6: u16 = 0x86dd;

/// The frame as it would have left, and the protocol that its link layer names: with its VLAN tag, and with the checksum that
/// this host's own TCP leaves to the interface.
pub fn frame(held: &Held, link_header: usize) -> (Vec<u8>, u16) {
    let mut frame = held.frame.clone();
    let at = held.ip.min(frame.len());
    meshpace_wire::complete_checksum(&mut frame[at..]);
    if let Some((protocol, tag)) = held.vlan.filter(|_| link_header > ADDRESSES && frame.len() > ADDRESSES) {
        let tag = [protocol.to_be_bytes(), tag.to_be_bytes()].concat();
        frame.splice(ADDRESSES..ADDRESSES, tag);
    }
    let named = frame.get(ADDRESSES..ADDRESSES + 2).filter(|_| link_header > ADDRESSES);
    let protocol = match (named, held.frame.get(held.ip)) {
        (Some(bytes), _) => u16::from_be_bytes([bytes[0], bytes[1]]),
        (None, Some(version)) if version >> 4 == 6 => IPV6,
        (None, _) => IPV4,
    };
    (frame, protocol)
}

#[cfg(test)]
mod tests {
    use super::*;
    use meshpace_tcp::{Flags, Segment};
    use meshpace_units::{Instant, Seq};

    fn ack(ends: [&str; 2]) -> Vec<u8> {
        let segment = Segment { flags: Flags { ack: true, ..Flags::NONE }, ..Segment::new(5000, 80, Seq(7)) };
        let [from, to] = ends.map(|end| end.parse().unwrap());
        meshpace_wire::build(from, to, 60, &segment, b"")
    }

    fn held(link: &[u8], packet: &[u8], vlan: Option<(u16, u16)>) -> Held {
        let frame = [link, packet].concat();
        Held { at: Instant::ZERO, interface: 1, ack: 0, ip: link.len(), vlan, frame }
    }

    #[test]
    fn a_whole_frame_leaves_as_it_came() {
        let packet = ack(["fd00::1", "fd00::2"]);
        let link = [&[2; 12][..], &[0x86, 0xdd]].concat();
        assert_eq!(frame(&held(&link, &packet, None), 14), ([&*link, &packet].concat(), 0x86dd));
        assert_eq!(frame(&held(&[], &packet, None), 0), (packet.clone(), 0x86dd));
        let packet = ack(["10.0.0.1", "10.0.0.2"]);
        assert_eq!(frame(&held(&[], &packet, None), 0), (packet, 0x0800));
    }

    #[test]
    fn a_tag_that_the_kernel_kept_beside_it_goes_in() {
        let packet = ack(["10.0.0.1", "10.0.0.2"]);
        let link = [&[2; 12][..], &[8, 0]].concat();
        let expected = [&[2; 12][..], &[0x81, 0, 0x20, 5, 8, 0], &packet].concat();
        assert_eq!(frame(&held(&link, &packet, Some((0x8100, 0x2005))), 14), (expected, 0x8100));
    }

    #[test]
    fn a_checksum_that_was_left_to_the_interface_is_completed() {
        let packet = ack(["10.0.0.1", "10.0.0.2"]);
        let mut partial = packet.clone();
        // 0a00 + 0001 + 0a00 + 0002 + 6 + 20.
        partial[36..38].copy_from_slice(&0x141d_u16.to_be_bytes());
        assert_ne!(partial, packet);
        let link = [&[2; 12][..], &[8, 0]].concat();
        assert_eq!(frame(&held(&link, &partial, None), 14).0[14..], packet);
    }
}
