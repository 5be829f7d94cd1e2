//! What the programs read of a packet's headers, and what they leave alone.

use super::*;

/// A paced connection's data after an earlier one, with `extensions` between the IPv6 header and TCP, the first of them
/// being a header `first`.
fn extended(bench: &Bench, n: u32, first: u8, extensions: &[u8]) -> Vec<u8> {
    let mut packet = bench.build(true, &segment(START + n * 1000, 1, 1000));
    packet[6] = first;
    let length = u16::from_be_bytes([packet[4], packet[5]]) + extensions.len() as u16;
    packet[4..6].copy_from_slice(&length.to_be_bytes());
    packet.splice(40..40, extensions.iter().copied());
    packet
}

#[test]
fn extension_headers_are_walked_through_as_in_user_space() {
    let Some(mut bench) = bench() else { return };
    bench.v6 = true;
    bench.order(Some(INTERVAL), 100, Treatment::Pace);
    bench.down(&segment(START, 1, 1000));
    let header = |next: u8, units: u8| {
        let mut header = vec![1; 8 + 8 * usize::from(units)];
        header[..2].copy_from_slice(&[next, units]);
        header
    };
    const HOP_BY_HOP: u8 = 0;
    const TCP: u8 = 6;
    const ROUTING: u8 = 43;
    const FRAGMENT: u8 = 44;
    const AUTHENTICATION: u8 = 51;
    const DESTINATION: u8 = 60;
    let chains = [
        (HOP_BY_HOP, header(TCP, 0)),
        (DESTINATION, header(TCP, 3)),
        (
            HOP_BY_HOP,
            [header(DESTINATION, 1), header(ROUTING, 2), header(DESTINATION, 0), header(TCP, 0)].concat(),
        ),
        (HOP_BY_HOP, header(FRAGMENT, 0)),
        (HOP_BY_HOP, header(AUTHENTICATION, 0)),
        (AUTHENTICATION, header(TCP, 0)),
        (HOP_BY_HOP, header(17, 0)),
        (DESTINATION, [header(TCP, 255)].concat()[..8].to_vec()),
    ];
    let mut read = 0;
    for (n, (first, extensions)) in (1..).zip(&chains) {
        let packet = extended(&bench, n, *first, extensions);
        let ran = bench.run_bytes("meshpace_down", &packet);
        assert_eq!((ran.verdict, &ran.packet), (NEXT, &packet));
        read += u64::from(ran.departure.is_some());
        assert_eq!(ran.departure.is_some(), meshpace_wire::parse(&packet).is_ok(), "{first} {extensions:?}");
    }
    let seen = bench.counters();
    assert_eq!((read, seen.fragments, seen.other_protocol, seen.malformed), (3, 1, 3, 1));
}

#[test]
fn the_option_is_written_behind_extension_headers() {
    let Some(mut bench) = bench() else { return };
    bench.v6 = true;
    bench.down(&segment(START, 1, 1));
    bench.up(&segment(1, START + 1, 1000));
    std::thread::sleep(std::time::Duration::from_millis(2));
    let mut packet = bench.build(true, &segment(START + 1, 1001, 0));
    packet[6] = 60;
    packet[5] += 8;
    packet.splice(40..40, [6, 0, 1, 4, 0, 0, 0, 0]);
    let written = bench.run_bytes("meshpace_down", &packet).packet;
    let rtt = meshpace_wire::parse(&written).expect("TCP").segment.options.rtt_wired.expect("an option");
    meshpace_wire::set_rtt(&mut packet, rtt).expect("room");
    assert_eq!(written, packet);
    assert!(meshpace_wire::checksum_ok(&written));
}

#[test]
fn vlan_tags_in_the_frame_are_walked_through() {
    const C_TAG: u16 = 0x8100;
    const S_TAG: u16 = 0x88a8;
    for (tags, read) in
        [(&[C_TAG][..], true), (&[S_TAG, C_TAG], true), (&[S_TAG, S_TAG, C_TAG], false), (&[0x9100], false)]
    {
        for v6 in [false, true] {
            let Some(mut bench) = bench() else { return };
            bench.tags = tags;
            bench.v6 = v6;
            bench.order(Some(INTERVAL), 100, Treatment::Pace);
            bench.down(&segment(START, 1, 1000));
            let ran = bench.down(&segment(START + 1000, 1, 1000));
            assert_eq!(ran.departure.is_some(), read, "{tags:x?}");
            assert_eq!(ran.packet, bench.build(true, &segment(START + 1000, 1, 1000)));
            assert_eq!(bench.counters().other_protocol, if read { 0 } else { 2 });
            bench.up(&segment(1, START + 1000, 0));
            assert_eq!(bench.told().len(), if read { 2 } else { 0 }, "opened, and a round trip");
        }
    }
}

#[test]
fn signed_packets_go_on_untouched() {
    // TCP-MD5 (RFC 2385) and TCP-AO (RFC 5925), with a foreign RTT option that would be removed otherwise.
    for (kind, length) in [(19, 18), (29, 16)] {
        for down in [true, false] {
            let Some(mut bench) = bench() else { return };
            bench.order(Some(INTERVAL), 100, Treatment::Pace);
            let data = Segment { flags: ACK, ..segment(START, 1, 0) };
            let mut packet = bench.build(down, &data);
            let mut options = vec![0xa5; length];
            options[..2].copy_from_slice(&[kind, length as u8]);
            options.extend([253, 6, 0x4d, 0x50, 0, 9]);
            options.resize(options.len().next_multiple_of(4), 1);
            packet[32] += (options.len() as u8 / 4) << 4;
            packet.extend(&options);
            packet.extend([0x5a; 100]);
            packet[3] += options.len() as u8 + 100;
            for _ in 0..2 {
                let ran = bench.run_bytes(if down { "meshpace_down" } else { "meshpace_up" }, &packet);
                assert_eq!((ran.verdict, ran.departure, &ran.packet), (NEXT, None, &packet));
            }
            assert_eq!((bench.counters().signed, bench.flow(), bench.told().len()), (2, None, 0));
        }
    }
}
