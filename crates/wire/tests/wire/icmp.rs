//! "Fragmentation needed" and "packet too big".

use crate::reference::words;
use core::net::IpAddr;
use meshpace_tcp::{Flags, Segment};
use meshpace_units::{Bytes, Dscp, Ecn, Seq};
use meshpace_wire::{IpHeader, TooBig, build, parse_too_big, protocol};

/// What an endpoint sent and a router could not pass on.
fn sent(v6: bool) -> Vec<u8> {
    let segment = Segment {
        ack: Seq(1),
        flags: Flags { ack: true, ..Flags::default() },
        window: 1,
        payload: 1_000,
        ..Segment::new(40_000, 80, Seq(0xfeed_beef))
    };
    let [here, there] = ends(v6);
    build(here, there, 60, &segment, &[7; 1_000])
}

fn ends(v6: bool) -> [IpAddr; 2] {
    if v6 {
        ["fd77::1", "2001:db8::1"].map(|address| address.parse().expect("an address"))
    } else {
        [[10, 77, 0, 2].into(), [192, 0, 2, 1].into()]
    }
}

/// A router's message about the first bytes of a packet.
fn message(v6: bool, kind: u8, code: u8, mtu: u32, about: &[u8]) -> Vec<u8> {
    let [here, _] = ends(v6);
    let router: IpAddr = if v6 { "fd77::99".parse().expect("an address") } else { [10, 77, 0, 9].into() };
    let protocol = if v6 { protocol::ICMPV6 } else { protocol::ICMP };
    let header = IpHeader {
        source: router,
        destination: here,
        protocol,
        ttl: 64,
        ecn: Ecn::NotEct,
        dscp: Dscp::DEFAULT,
        identification: 0,
    };
    let mut message = [&[kind, code, 0, 0][..], &mtu.to_be_bytes(), about].concat();
    let mut packet = Vec::new();
    header.write(&mut packet, message.len());
    let pseudo = if v6 { words(&packet[8..40]) + message.len() as u64 + 58 } else { 0 };
    let checksum = !(((words(&message) + pseudo) % 65_535) as u16);
    message[2..4].copy_from_slice(&checksum.to_be_bytes());
    packet.extend(message);
    packet
}

fn expected(v6: bool, mtu: Option<u64>) -> TooBig {
    let [source, destination] = ends(v6);
    let mtu = mtu.map(Bytes);
    TooBig { source, destination, source_port: 40_000, destination_port: 80, seq: Seq(0xfeed_beef), mtu }
}

#[test]
fn routers_tell_the_size_that_they_can_pass_on() {
    let [v4, v6] = [false, true].map(sent);
    // Eight bytes above IP, and all of the packet.
    for length in [28, v4.len()] {
        assert_eq!(
            parse_too_big(&message(false, 3, 4, 1_400, &v4[..length])),
            Some(expected(false, Some(1_400)))
        );
    }
    for length in [48, v6.len()] {
        assert_eq!(
            parse_too_big(&message(true, 2, 0, 1_280, &v6[..length])),
            Some(expected(true, Some(1_280)))
        );
    }
    // An IPv4 router older than RFC 1191; bytes in front of the MTU are unused, or tell a length (RFC 4884, section 4.1).
    assert_eq!(parse_too_big(&message(false, 3, 4, 0, &v4)), Some(expected(false, None)));
    assert_eq!(parse_too_big(&message(false, 3, 4, 0x0011_0578, &v4)), Some(expected(false, Some(0x578))));
    // ICMPv6 has 32 bits for it, and its code is to be ignored (RFC 4443, section 3.2).
    assert_eq!(parse_too_big(&message(true, 2, 1, 70_000, &v6)), Some(expected(true, Some(70_000))));
}

#[test]
fn an_extension_header_is_walked() {
    let v6 = sent(true);
    let mut about = v6[..40].to_vec();
    about[6] = 60;
    about.extend([6, 0, 1, 4, 0, 0, 0, 0]);
    about.extend(&v6[40..48]);
    assert_eq!(parse_too_big(&message(true, 2, 0, 1_300, &about)), Some(expected(true, Some(1_300))));
}

#[test]
fn nothing_else_is_believed() {
    let [v4, v6] = [false, true].map(sent);
    let udp = {
        let mut udp = v4.clone();
        udp[9] = 17;
        udp
    };
    for packet in [
        message(false, 3, 1, 0, &v4),     // host unreachable
        message(false, 11, 0, 0, &v4),    // time exceeded
        message(true, 1, 0, 0, &v6),      // no route
        message(false, 2, 0, 1_300, &v4), // the other version's number
        message(true, 3, 4, 1_300, &v6),
        message(false, 3, 4, 1_300, &v6), // about a packet of the other version
        message(true, 2, 0, 1_300, &v4),
        message(false, 3, 4, 1_300, &udp),
        message(false, 3, 4, 1_300, &v4[..27]), // too short to tell whose it was
        message(true, 2, 0, 1_300, &v6[..47]),
        message(false, 3, 4, 1_300, &[]),
        v4.clone(),
        v6.clone(),
    ] {
        assert_eq!(parse_too_big(&packet), None, "{packet:02x?}");
    }
    // Every bit of the message is covered by a checksum, in IPv6 the addresses too.
    for (v6, packet) in [(false, message(false, 3, 4, 1_400, &v4)), (true, message(true, 2, 0, 1_280, &v6))] {
        assert!(parse_too_big(&packet).is_some());
        for at in if v6 { 8 } else { 0 }..packet.len() {
            let mut damaged = packet.clone();
            damaged[at] ^= 0x10;
            assert_eq!(parse_too_big(&damaged), None, "byte {at}");
        }
        assert_eq!(parse_too_big(&packet[..packet.len() - 1]), None);
    }
}
