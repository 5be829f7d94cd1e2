//! The parser against the slow reference, and built packets read back.

use crate::judge;
use crate::packets::{damaged, packet};
use crate::reference::dissect;
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use meshpace_tcp::{Flags, Options, Segment, Timestamps};
use meshpace_units::{Bytes, Ecn, Seq, Span};
use meshpace_wire::{Malformed, NotTcp, build, checksum_ok, parse, parse_too_big};
use proptest::collection::vec;
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn packets_are_read_as_the_reference_reads_them(packet in packet()) {
        prop_assert!(dissect(&packet).is_some());
        judge::reading(&packet);
    }

    #[test]
    fn damaged_packets_are_too(packet in damaged()) {
        judge::reading(&packet);
        let _ = parse_too_big(&packet);
    }

    #[test]
    fn any_bytes_are(bytes in vec(any::<u8>(), 0..200), version in 4..=6_u8, protocol in any::<bool>()) {
        let mut bytes = bytes;
        if let Some(first) = bytes.first_mut() {
            *first = version << 4 | *first & 15;
        }
        let at = if version == 4 { 9 } else { 6 };
        if let Some(field) = bytes.get_mut(at).filter(|_| protocol) {
            *field = 6;
        }
        judge::reading(&bytes);
        let _ = parse_too_big(&bytes);
    }

    #[test]
    fn what_is_built_is_read_back(
        v6 in any::<bool>(),
        addresses in any::<[u128; 2]>(),
        ttl in any::<u8>(),
        segment in segment(),
        bytes in vec(any::<u8>(), 0..3_000),
    ) {
        let [source, destination] = addresses.map(|address| match v6 {
            true => IpAddr::V6(Ipv6Addr::from(address)),
            false => IpAddr::V4(Ipv4Addr::from(address as u32)),
        });
        let segment = Segment { payload: bytes.len() as u32, ..segment };
        let packet = build(source, destination, ttl, &segment, &bytes);
        judge::reading(&packet);
        prop_assert!(checksum_ok(&packet));
        let read = parse(&packet).unwrap();
        prop_assert_eq!(read.segment, segment);
        prop_assert_eq!((read.source, read.destination, read.ttl, read.traffic_class), (source, destination, ttl, 0));
        prop_assert_eq!(read.wire_len, Bytes(packet.len() as u64));
        prop_assert_eq!(read.header_length, segment.header_length());
        prop_assert_eq!(read.payload(&packet), Some(&bytes[..]));
        let headers = read.tcp_offset + read.header_length as usize;
        prop_assert_eq!(parse(&packet[..headers - 1]), Err(NotTcp::Truncated));
        prop_assert_eq!(parse(&[&packet[..], &[0; 7]].concat()), Ok(read));
    }
}

/// Every combination of options that has room.
fn segment() -> impl Strategy<Value = Segment> {
    let stamps = any::<(u32, u32)>().prop_map(|(value, echo)| Timestamps { value, echo });
    let sack = vec(any::<(u32, u32)>(), 0..=4);
    let options = (
        prop::option::of(any::<u16>()),
        prop::option::of(any::<u8>()),
        any::<bool>(),
        prop::option::of(stamps),
        prop_oneof![2 => Just(Vec::new()), 1 => sack],
        prop::option::of(any::<u16>()),
    );
    (options, any::<(u16, u16, u32, u32, u16)>(), any::<[bool; 7]>())
        .prop_map(|(options, fields, [syn, ack, fin, rst, psh, ece, cwr])| {
            let (mss, window_scale, sack_permitted, timestamps, blocks, rtt) = options;
            let mut sack = [None; 4];
            for (place, (left, right)) in sack.iter_mut().zip(blocks) {
                *place = Some((Seq(left), Seq(right)));
            }
            let rtt_wired = rtt.map(|ms| Span::from_millis(ms.into()));
            let options = Options { mss, window_scale, sack_permitted, timestamps, sack, rtt_wired };
            let (source_port, destination_port, seq, number, window) = fields;
            let flags = Flags { syn, ack, fin, rst, psh, ece, cwr };
            // Without the flag the field is written as zero.
            let ack = Seq(if ack { number } else { 0 });
            let seq = Seq(seq);
            Segment { ack, flags, window, options, ..Segment::new(source_port, destination_port, seq) }
        })
        .prop_filter("40 bytes of options", |segment| segment.options_length() <= 40)
}

/// A SYN from 10.77.0.2:1024 to 192.0.2.1:80.
fn syn() -> Vec<u8> {
    let flags = Flags { syn: true, ..Flags::default() };
    let options = Options { mss: Some(1460), ..Options::default() };
    let segment = Segment { flags, window: 65_535, options, ..Segment::new(1024, 80, Seq(7)) };
    build([10, 77, 0, 2].into(), [192, 0, 2, 1].into(), 64, &segment, &[])
}

/// The packet with some bytes changed.
fn with(mut packet: Vec<u8>, changes: &[(usize, u8)]) -> Vec<u8> {
    for &(at, byte) in changes {
        packet[at] = byte;
    }
    packet
}

/// An IPv6 packet: next header, bytes behind the fixed header.
fn v6(next: u8, rest: &[u8]) -> Vec<u8> {
    let mut packet = vec![0x60, 0, 0, 0, 0, rest.len() as u8, next, 64];
    packet.extend([0; 32]);
    packet.extend_from_slice(rest);
    packet
}

#[test]
fn what_is_not_tcp_says_why() {
    let syn = syn();
    let tcp = &syn[20..];
    for (bytes, reason) in [
        (vec![], NotTcp::Truncated),
        (vec![0x45; 19], NotTcp::Truncated),
        (vec![0x60; 39], NotTcp::Truncated),
        (syn[..20].to_vec(), NotTcp::Truncated),
        (syn[..41].to_vec(), NotTcp::Truncated),
        (vec![0; 40], NotTcp::Malformed(Malformed::Version)),
        (vec![0x5f; 40], NotTcp::Malformed(Malformed::Version)),
        (with(syn.clone(), &[(0, 0x44)]), NotTcp::Malformed(Malformed::IpHeader)),
        (with(syn.clone(), &[(3, 19)]), NotTcp::Malformed(Malformed::IpLength)),
        (with(syn.clone(), &[(3, 39)]), NotTcp::Malformed(Malformed::IpLength)),
        (with(syn.clone(), &[(2, 0), (3, 0)]), NotTcp::Super),
        (with(syn.clone(), &[(6, 0x20)]), NotTcp::Fragment), // the first
        (with(syn.clone(), &[(7, 1)]), NotTcp::Fragment),    // the last
        (with(syn.clone(), &[(9, 17)]), NotTcp::OtherProtocol(17)),
        (with(syn.clone(), &[(3, 20), (9, 17)]), NotTcp::OtherProtocol(17)),
        (with(syn.clone(), &[(9, 17), (7, 1)]), NotTcp::Fragment),
        (with(syn.clone(), &[(32, 0x40)]), NotTcp::Malformed(Malformed::DataOffset)),
        (with(syn.clone(), &[(32, 0x70)]), NotTcp::Malformed(Malformed::DataOffset)),
        (v6(17, &[0; 8]), NotTcp::OtherProtocol(17)),
        (v6(6, &[]), NotTcp::Super),
        (v6(59, &[]), NotTcp::OtherProtocol(59)),
        (v6(0, &[59, 0, 1, 4, 0, 0, 0, 0]), NotTcp::OtherProtocol(59)),
        (v6(51, tcp), NotTcp::OtherProtocol(51)),
        (v6(44, &[6, 0, 0, 0, 0, 0, 0, 0]), NotTcp::Fragment),
        (v6(0, &[44, 0, 1, 4, 0, 0, 0, 0, 6, 0, 0, 0, 0, 0, 0, 0]), NotTcp::Fragment),
        (v6(0, &[60, 0, 1, 4, 0, 0, 0, 0, 6, 1, 0, 0, 0, 0, 0, 0]), NotTcp::Malformed(Malformed::IpHeader)),
        (v6(43, &[6, 255]), NotTcp::Malformed(Malformed::IpHeader)),
        (v6(0, &[6]), NotTcp::Truncated),
        (v6(6, &tcp[..19]), NotTcp::Malformed(Malformed::IpLength)),
    ] {
        assert_eq!(parse(&bytes), Err(reason), "{bytes:02x?}");
        assert!(!checksum_ok(&bytes));
        assert_eq!(meshpace_wire::set_rtt(&mut bytes.clone(), Span::ZERO), Err(meshpace_wire::NoRoom));
    }
    assert!(parse(&syn).is_ok() && parse(&v6(6, tcp)).is_ok());
}

#[test]
fn extension_headers_are_walked() {
    let headers = [0, 43, 60].map(|next| [next, 0, 1, 4, 0, 0, 0, 0]);
    let long = [&[6, 2][..], &[0; 22]].concat();
    let rest = [&headers[1][..], &headers[2], &long, &syn()[20..]].concat();
    let packet = parse(&v6(0, &rest)).expect("TCP");
    assert_eq!((packet.tcp_offset, packet.segment.source_port), (40 + 8 + 8 + 24, 1024));
    assert_eq!(packet.segment.options.mss, Some(1460));
}

#[test]
fn class_and_ttl_are_kept() {
    let v4 = parse(&with(syn(), &[(1, 0xb9), (8, 3)])).expect("TCP");
    assert_eq!((v4.traffic_class, v4.ecn(), v4.ttl), (0xb9, Ecn::Ect1, 3));
    let v6 = parse(&with(v6(6, &syn()[20..]), &[(0, 0x6b), (1, 0x9f), (7, 4)])).expect("TCP");
    assert_eq!((v6.traffic_class, v6.ecn(), v6.ttl), (0xb9, Ecn::Ect1, 4));
}

/// What a segment with these options says.
fn read(options: &[u8]) -> Options {
    let mut packet = syn();
    packet.truncate(40);
    packet.extend_from_slice(options);
    packet[3] = packet.len() as u8;
    packet[32] = (5 + options.len() as u8 / 4) << 4;
    parse(&packet).expect("TCP").segment.options
}

#[test]
fn reading_stops_where_linux_stops() {
    let none = Options::default();
    let rtt = Options { rtt_wired: Some(Span::from_millis(0x102)), ..none };
    for at in 0..4 {
        let mut options = [1; 12];
        options[at..at + 6].copy_from_slice(&[253, 6, 0x4d, 0x50, 1, 2]);
        assert_eq!(read(&options), rtt, "at {at}");
    }
    // Behind the end of options, behind an option of length 1, 0, too long, and with its length cut off.
    assert_eq!(read(&[0, 0, 253, 6, 0x4d, 0x50, 1, 2]), none);
    assert_eq!(read(&[9, 1, 253, 6, 0x4d, 0x50, 1, 2]), none);
    assert_eq!(read(&[9, 0, 253, 6, 0x4d, 0x50, 1, 2]), none);
    assert_eq!(read(&[9, 9, 253, 6, 0x4d, 0x50, 1, 2]), none);
    assert_eq!(read(&[253, 6, 0x4d, 0x50, 1, 2, 1, 253]), rtt);
    // Unknown ones are passed over; one of another length or ExID is unknown.
    assert_eq!(read(&[99, 2, 253, 6, 0x4d, 0x50, 1, 2]), rtt);
    assert_eq!(read(&[253, 5, 0x4d, 0x50, 1, 0, 0, 0]), none);
    assert_eq!(read(&[253, 8, 0x4d, 0x50, 1, 2, 3, 4]), none);
    assert_eq!(read(&[254, 6, 0x4d, 0x50, 1, 2, 1, 1]), none);
    assert_eq!(read(&[253, 6, 0x50, 0x4d, 1, 2, 1, 1]), none);
    // Of two, the kernel's helper finds the first.
    assert_eq!(read(&[253, 6, 0x4d, 0x50, 1, 2, 253, 6, 0x4d, 0x50, 3, 4]), rtt);
    // What comes before the mistake is known.
    assert_eq!(read(&[2, 4, 5, 180, 3, 0, 4, 2]), Options { mss: Some(1460), ..none });
    let sack = [Some((Seq(1), Seq(2))), None, None, None];
    assert_eq!(read(&[5, 10, 0, 0, 0, 1, 0, 0, 0, 2, 5, 2]), Options { sack, ..none });
    // A SACK option with half a block, or none, says nothing.
    assert_eq!(read(&[5, 6, 0, 0, 0, 1, 1, 1]), none);
    assert_eq!(read(&[5, 2, 1, 1]), none);
}
