//! Packets and sums that others have printed.

use core::net::IpAddr;
use meshpace_tcp::{Flags, Options, Segment, Timestamps};
use meshpace_units::{Bytes, Dscp, Ecn, Seq, Span};
use meshpace_wire::{
    IpHeader, build, checksum_ok, clamp_mss, complete_checksum, mark, parse, protocol, set_rtt, strip_rtt,
};

fn bytes(hex: &str) -> Vec<u8> {
    hex.split_whitespace().map(|byte| u8::from_str_radix(byte, 16).expect("two digits")).collect()
}

/// RFC 9235, section 6.1.1: a SYN over IPv6, with TCP-AO as its last option.
const SYN_V6: &str = "
    6e 08 91 dc 00 38 06 40 fd 00 00 00 00 00 00 00 00 00 00 00 00 00 00 01 fd 00 00 00 00 00 00 00
    00 00 00 00 00 00 00 02 f7 e4 00 b3 17 6a 83 3f 00 00 00 00 e0 02 ff ff 47 21 00 00 02 04 05 a0
    01 03 03 08 04 02 08 0a 00 41 d0 87 00 00 00 00 1d 10 3d 54 90 33 ec 3d 73 34 b6 4c 5e dd 03 9f";

/// RFC 9235, section 4.1.3: data over IPv4. The TCP checksum that the RFC prints is not that of the packet.
const DATA_V4: &str = "
    45 e0 00 87 36 a1 40 00 ff 06 65 9f 0a 0b 0c 0d ac 1b 1c 1d e9 d7 00 b3 fb fb ab 5b 11 c1 42 62
    c0 18 01 04 a1 62 00 00 01 01 08 0a 00 15 5a c1 84 a5 0b eb 1d 10 3d 54 70 64 cf 99 8c c6 c3 15
    c2 c2 e2 bf ff ff ff ff ff ff ff ff ff ff ff ff ff ff ff ff 00 43 01 04 da bf 00 b4 0a 0b 0c 0d
    26 02 06 01 04 00 01 00 01 02 02 80 00 02 02 02 00 02 02 42 00 02 06 41 04 00 00 da bf 02 08 40
    06 00 64 00 01 01 00";

#[test]
fn a_syn_over_ipv6() {
    let syn = bytes(SYN_V6);
    assert!(checksum_ok(&syn));
    let packet = parse(&syn).expect("TCP");
    assert_eq!(packet.source, "fd00::1".parse::<IpAddr>().expect("an address"));
    assert_eq!(packet.destination, "fd00::2".parse::<IpAddr>().expect("an address"));
    assert_eq!((packet.ttl, packet.traffic_class, packet.tcp_offset), (64, 0xe0, 40));
    assert_eq!((packet.header_length, packet.wire_len), (56, Bytes(96)));
    let segment = packet.segment;
    assert_eq!((segment.source_port, segment.destination_port), (0xf7e4, 179));
    assert_eq!((segment.seq, segment.window, segment.payload), (Seq(0x176a_833f), 65_535, 0));
    assert_eq!(segment.flags, Flags { syn: true, ..Flags::default() });
    let expected = Options {
        mss: Some(1440),
        window_scale: Some(8),
        sack_permitted: true,
        timestamps: Some(Timestamps { value: 0x0041_d087, echo: 0 }),
        ..Options::default()
    };
    assert_eq!(segment.options, expected);
    let mut full = syn;
    assert!(set_rtt(&mut full, Span::ZERO).is_err(), "36 bytes of options leave no room");
}

#[test]
fn data_over_ipv4_with_a_wrong_tcp_checksum() {
    let data = bytes(DATA_V4);
    assert!(!checksum_ok(&data));
    let packet = parse(&data).expect("TCP");
    assert_eq!(packet.source, IpAddr::from([10, 11, 12, 13]));
    assert_eq!(packet.destination, IpAddr::from([172, 27, 28, 29]));
    assert_eq!((packet.ttl, packet.header_length, packet.wire_len), (255, 48, Bytes(135)));
    let segment = packet.segment;
    assert_eq!((segment.seq, segment.ack, segment.payload), (Seq(0xfbfb_ab5b), Seq(0x11c1_4262), 67));
    assert_eq!(segment.flags, Flags { ack: true, psh: true, ..Flags::default() });
    assert_eq!(segment.options.timestamps, Some(Timestamps { value: 0x0015_5ac1, echo: 0x84a5_0beb }));
    assert_eq!(packet.payload(&data).map(|payload| payload[..4].to_vec()), Some(vec![255; 4]));

    // The wrong sum stays exactly as wrong, and the header's right one right.
    let mut changed = data.clone();
    set_rtt(&mut changed, Span::from_millis(42)).expect("28 bytes of options leave room");
    assert_eq!(changed.len(), 135 + 8);
    assert_eq!(changed[68..76], [253, 6, 0x4d, 0x50, 0, 42, 1, 1]);
    assert_eq!(error(&changed), error(&data));
    assert_eq!(sum(&changed[..20]), 0xffff);
    assert!(strip_rtt(&mut changed));
    assert_eq!(changed[68..76], [1; 8]);
    assert_eq!(error(&changed), error(&data));
}

fn sum(bytes: &[u8]) -> u32 {
    let words = bytes.chunks(2).map(|pair| u32::from(pair[0]) << 8 | u32::from(*pair.get(1).unwrap_or(&0)));
    words.fold(0, |sum, word| (sum + word) % 0x1_0000 + (sum + word) / 0x1_0000)
}

/// The sum over an IPv4 packet's segment and pseudo-header; ffff if it is right.
fn error(packet: &[u8]) -> u32 {
    let length = [0, 6, 0, (packet.len() - 20) as u8];
    sum(&[&packet[12..20], &length, &packet[20..]].concat())
}

#[test]
fn the_option_as_it_is_specified() {
    // schemes.md 3.2; a value at each end, one in the middle, and rounding to the nearest.
    let of = |span| {
        let mut packet = bytes(DATA_V4);
        set_rtt(&mut packet, span).expect("room");
        packet[68..76].to_vec()
    };
    assert_eq!(of(Span::ZERO), [0xfd, 6, 0x4d, 0x50, 0, 0, 1, 1]);
    assert_eq!(of(Span::from_millis(0x1234)), [0xfd, 6, 0x4d, 0x50, 0x12, 0x34, 1, 1]);
    assert_eq!(of(Span::from_micros(1_499)), [0xfd, 6, 0x4d, 0x50, 0, 1, 1, 1]);
    assert_eq!(of(Span::from_micros(1_500)), [0xfd, 6, 0x4d, 0x50, 0, 2, 1, 1]);
    assert_eq!(of(Span::from_secs(70)), [0xfd, 6, 0x4d, 0x50, 0xff, 0xff, 1, 1]);
    assert_eq!(of(Span::MAX), [0xfd, 6, 0x4d, 0x50, 0xff, 0xff, 1, 1]);
}

/// An IPv4 or IPv6 ACK with these bytes of options and so much payload, its checksums zero.
fn packet(v6: bool, options: &[u8], payload: usize) -> Vec<u8> {
    let above = 20 + options.len() + payload;
    let mut packet =
        if v6 { vec![0x60, 0, 0, 0, 0, 0, 6, 64] } else { vec![0x45, 0, 0, 0, 0, 0, 0, 0, 64, 6] };
    packet.resize(if v6 { 40 } else { 20 }, 0);
    let (at, length) = if v6 { (4, above) } else { (2, above + 20) };
    let length = u16::try_from(length).expect("one packet");
    packet[at..at + 2].copy_from_slice(&length.to_be_bytes());
    packet.extend([0; 12]);
    packet.extend([(5 + options.len() as u8 / 4) << 4, 0x10, 0, 0, 0, 0, 0, 0]);
    packet.extend_from_slice(options);
    packet.resize(packet.len() + payload, 0);
    packet
}

#[test]
fn where_there_is_no_room_the_packet_stays() {
    let fits = |v6, options: &[u8], payload| {
        let before = packet(v6, options, payload);
        let mut after = before.clone();
        let fits = set_rtt(&mut after, Span::from_millis(9)).is_ok();
        assert_eq!(fits, after != before);
        fits
    };
    // Data offset: 32 bytes of options and 8 more are 60.
    assert!(fits(false, &[1; 32], 0) && !fits(false, &[1; 36], 0) && !fits(false, &[1; 40], 0));
    let mut full = [1; 40];
    full[33..39].copy_from_slice(&[253, 6, 0x4d, 0x50, 7, 7]);
    assert!(fits(false, &full, 0), "one that is there is replaced");
    // The IP length: 65,535 bytes with IPv4's header, without IPv6's.
    assert!(fits(false, &[], 65_535 - 48) && !fits(false, &[], 65_535 - 47));
    assert!(fits(true, &[], 65_535 - 28) && !fits(true, &[], 65_535 - 27));
    // Nobody would read it behind an option that cannot be.
    assert!(!fits(false, &[8, 0, 1, 1], 0) && !fits(false, &[1, 1, 1, 8], 0));
    // The packet's end is not there.
    let mut cut = packet(false, &[], 9);
    cut.pop();
    assert!(set_rtt(&mut cut, Span::ZERO).is_err());
}

#[test]
fn padding_behind_the_last_option_does_not_hide_the_new_one() {
    let mut packet = packet(false, &[2, 4, 5, 180, 0, 77, 253, 0], 3);
    set_rtt(&mut packet, Span::from_millis(9)).expect("room");
    assert_eq!(packet[40..56], [2, 4, 5, 180, 1, 1, 1, 1, 253, 6, 0x4d, 0x50, 0, 9, 1, 1]);
    assert_eq!(parse(&packet).expect("TCP").segment.options.rtt_wired, Some(Span::from_millis(9)));
}

#[test]
fn only_one_option_is_left_and_it_is_ours() {
    let forged = [253, 5, 0x4d, 0x50, 9, 253, 6, 0x4d, 0x50, 9, 9, 1, 253, 6, 0x4d, 0x50, 8, 8, 1, 1];
    let mut packet = packet(true, &forged, 0);
    set_rtt(&mut packet, Span::from_millis(0x0102)).expect("in place");
    assert_eq!(packet[60..80], [1, 1, 1, 1, 1, 253, 6, 0x4d, 0x50, 1, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1]);
}

#[test]
fn a_segment_size_is_lowered_in_syns_only() {
    let of = |flags, max| {
        let mut packet = packet(false, &[1, 2, 4, 5, 180, 2, 4, 3], 0);
        packet[33] = flags;
        let before = packet.clone();
        let lowered = clamp_mss(&mut packet, max);
        assert_eq!(lowered, packet != before);
        lowered.then(|| packet[43..45].to_vec())
    };
    const SYN: u8 = 2;
    assert_eq!(of(SYN, 1_452), Some(vec![5, 172]));
    assert_eq!(of(SYN | 16, 1_459), Some(vec![5, 179]));
    assert_eq!((of(SYN, 1_460), of(SYN, 9_000), of(16, 536)), (None, None, None));
}

#[test]
fn an_acknowledgement_number_without_its_flag_is_written_as_zero() {
    let address = IpAddr::from([192, 0, 2, 1]);
    let mut segment = parse(&packet(false, &[], 0)).expect("TCP").segment;
    segment.ack = Seq(9);
    let written = |segment| build(address, address, 1, &segment, &[])[28..32].to_vec();
    assert_eq!(written(segment), [0, 0, 0, 9]);
    segment.flags.ack = false;
    assert_eq!(written(segment), [0; 4]);
}

#[test]
fn only_udp_has_no_checksum_of_zero() {
    // Nothing but the protocol, both lengths and a port that makes all words add up to ffff.
    let any = IpAddr::from([0, 0, 0, 0]);
    let mut header = IpHeader {
        source: any,
        destination: any,
        protocol: protocol::UDP,
        ttl: 1,
        ecn: Ecn::NotEct,
        dscp: Dscp::DEFAULT,
        identification: 0,
    };
    let mut udp = vec![0; 8];
    udp[..2].copy_from_slice(&(0xffff_u16 - 17 - 8 - 8).to_be_bytes());
    udp[5] = 8;
    header.seal(&mut udp);
    assert_eq!(udp[6..8], [0xff, 0xff]);

    header.protocol = protocol::TCP;
    let mut tcp = vec![0; 20];
    tcp[..2].copy_from_slice(&(0xffff_u16 - 6 - 20).to_be_bytes());
    header.seal(&mut tcp);
    assert_eq!(tcp[16..18], [0, 0]);
}

#[test]
fn congestion_notification_is_in_the_second_byte_of_ipv4_and_before_the_flow_label_of_ipv6() {
    // RFC 3168, section 5, figure 1, and RFC 8200, section 3: the lower bits of the traffic class.
    let [v4, v6] = [IpAddr::from([10, 77, 0, 2]), "fd77::2".parse().expect("an address")];
    for (ecn, in_v4, in_v6) in
        [(Ecn::NotEct, 0, 0), (Ecn::Ect1, 1, 0x10), (Ecn::Ect0, 2, 0x20), (Ecn::Ce, 3, 0x30)]
    {
        let written = |address: IpAddr| {
            let protocol = protocol::TCP;
            let header = |ecn| IpHeader {
                source: address,
                destination: address,
                protocol,
                ttl: 9,
                ecn,
                dscp: Dscp::DEFAULT,
                identification: 0,
            };
            let (mut bytes, mut expected) = (Vec::new(), Vec::new());
            header(ecn).write(&mut bytes, 20);
            let start = bytes.len();
            bytes.extend([0; 12].into_iter().chain([0x50]).chain([0; 7]));
            header(ecn).seal(&mut bytes[start..]);
            assert!(checksum_ok(&bytes));
            assert_eq!(parse(&bytes).expect("TCP").ecn(), ecn);
            // The mark, and nothing else, is what would have been built with it.
            let mut marked = bytes.clone();
            assert_eq!(mark(&mut marked), ecn.is_capable());
            if mark(&mut marked) {
                header(Ecn::Ce).write(&mut expected, 20);
                expected.extend_from_slice(&bytes[start..]);
                assert_eq!(marked, expected);
            } else {
                assert_eq!(marked, bytes);
            }
            bytes
        };
        assert_eq!(written(v4)[..2], [0x45, in_v4]);
        assert_eq!(written(v6)[..4], [0x60, in_v6, 0, 0]);
    }
}

#[test]
fn a_checksum_that_was_left_to_the_interface_is_completed_and_no_other() {
    let flags = Flags { ack: true, ..Flags::NONE };
    let ack = Segment { flags, payload: 3, ..Segment::new(5000, 80, Seq(7)) };
    for (from, to) in [("10.0.0.1", "10.0.0.2"), ("fd00::1", "fd00::2")] {
        let ends = [from, to].map(|end| end.parse::<IpAddr>().expect("an address"));
        let whole = build(ends[0], ends[1], 60, &ack, b"odd");
        let (tcp, v4) = (whole.len() - 23, ends[0].is_ipv4());
        let with = |checksum: u16| {
            let mut packet = whole.clone();
            packet[tcp + 16..tcp + 18].copy_from_slice(&checksum.to_be_bytes());
            packet
        };
        // What the kernel writes before the interface adds the rest: the addresses' 16-bit words, protocol and length.
        let pseudo: u16 = if v4 { 0x1403 } else { 0xfa04 };
        let mut packet = with(pseudo + 6 + 23);
        assert!(complete_checksum(&mut packet));
        assert_eq!(packet, whole);
        assert!(!complete_checksum(&mut packet), "it is right");
        let mut wrong = with(0x1234);
        assert!(!complete_checksum(&mut wrong));
        assert_eq!(wrong, with(0x1234), "and a damaged one stays one");
        let mut short = whole[..whole.len() - 1].to_vec();
        assert!(!complete_checksum(&mut short));
    }
}

#[test]
fn what_a_segment_does_not_tell_is_noticed() {
    let ack = Segment { flags: Flags { ack: true, ..Flags::NONE }, ..Segment::new(5000, 80, Seq(7)) };
    let packet = |options: &[u8], changes: &[(usize, u8)]| {
        let mut bytes = build([10, 0, 0, 1].into(), [10, 0, 0, 2].into(), 60, &ack, b"");
        bytes.extend(options);
        bytes[3] += options.len() as u8;
        bytes[32] += (options.len() as u8 / 4) << 4;
        changes.iter().for_each(|(at, bits)| bytes[*at] |= bits);
        parse(&bytes).expect("TCP").says_more
    };
    let stamps = [1, 1, 8, 10, 0, 0, 0, 1, 0, 0, 0, 2];
    let gap = [253, 6, 0x4d, 0x50, 0, 9, 1, 1];
    for plain in [&[][..], &stamps, &gap, &[stamps.as_slice(), &gap].concat(), &[1, 1, 0, 5]] {
        assert!(!packet(plain, &[]), "{plain:?}");
    }
    let others: [&[u8]; 6] = [
        &[1, 1, 5, 10, 0, 0, 0, 1, 0, 0, 0, 2],   // SACK
        &[172, 11, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1], // AccECN (RFC 9768, section 3.2.3)
        &[1, 253, 4, 0x4d, 0x50, 0, 0, 0],        // TCP-GAP's, too short
        &[1, 1, 8, 9],                            // time stamps that end behind the header
        &[1, 1, 1, 8],                            // or that have no length
        &[1, 1, 30, 2],                           // another one
    ];
    for other in others {
        assert!(packet(other, &[]), "{other:?}");
    }
    // Urgent data; each of the reserved flags, AccECN's first.
    for (at, bit) in [(33, 0x20), (32, 1), (32, 2), (32, 4), (32, 8)] {
        assert!(packet(&stamps, &[(at, bit)]), "{at} {bit}");
    }
    assert!(!packet(&stamps, &[(33, 0xc8)]), "ECE, CWR and PSH are the segment's");
}
