//! The changes to packets, and the parts that never change.

use super::*;

#[test]
fn the_option_goes_into_acks_up_to_the_mesh_and_nowhere_else() {
    let mut w = World::new(PACE);
    let data = w.up(1, 1, MSS);
    assert_eq!(w.hand_in(ms(0), &data), Out::Accept);
    let ack = w.packet(Side::Wired, &w.segment(Side::Wired, 1, 1 + MSS, 0));
    let Out::Rewrite(told) = w.hand_in(ms(30), &ack) else { panic!("no option") };
    assert_eq!(parse(&told).unwrap().segment.options.rtt_wired, Some(Span::from_millis(30)));
    assert!(checksum_ok(&told));
    assert_eq!(told.len(), ack.len() + 8);
    // Forged options are taken out, whichever side they come from, held packets' included.
    let forged = Options { rtt_wired: Some(Span::from_millis(1)), ..Options::default() };
    for (side, seq) in [(Side::Wireless, 1 + MSS), (Side::Wired, 1)] {
        let segment = Segment { options: forged, ..w.segment(side, seq, 1, 10) };
        let packet = w.packet(side, &segment);
        let Out::Rewrite(clean) = w.hand_in(ms(31), &packet) else { panic!("{side:?}: not taken out") };
        assert_eq!((parse(&clean).unwrap().segment.options.rtt_wired, clean.len()), (None, packet.len()));
        assert!(checksum_ok(&clean));
    }
}

/// A download announces to its sender what the pace can use: on the wire, with right checksums, whatever else is changed.
#[test]
fn acknowledgements_announce_the_pipe() {
    for (v6, forged, keys) in
        [(false, false, ""), (true, false, ""), (false, true, ""), (false, false, RECEIVER)]
    {
        let mut w =
            World::new(&format!("{}[gateway]\n{keys}", PACE.replace("= 4\n", "= 4\n\"fd77::/16\" = 4\n")));
        w.v6 = v6;
        let scale = Options { window_scale: Some(2), ..Options::default() };
        for (side, seq, flags) in [(Side::Wireless, 0, SYN), (Side::Wired, 0, Flags { ack: true, ..SYN })] {
            let syn = Segment { flags, options: scale, ..w.segment(side, seq, 1, 0) };
            let packet = w.packet(side, &syn);
            assert_eq!(w.hand_in(ms(0), &packet), Out::Accept, "the window of a SYN stays");
        }
        let options = Options { rtt_wired: forged.then_some(Span::from_millis(1)), ..Options::default() };
        let mut announced = Vec::new();
        for n in 0..300 {
            let data = w.down(1 + n * MSS, MSS);
            w.hand_in(ms(u64::from(n) * 80), &data);
            let ack = Segment { options, ..w.segment(Side::Wireless, 1, 1 + (n + 1) * MSS, 0) };
            let packet = w.packet(Side::Wireless, &ack);
            match w.hand_in(ms(u64::from(n) * 80 + 40), &packet) {
                Out::Accept => announced.push(60_000 << 2),
                Out::Rewrite(bytes) => {
                    assert!(checksum_ok(&bytes) && bytes.len() == packet.len());
                    let told = parse(&bytes).unwrap().segment;
                    assert_eq!((told.ack, told.seq, told.options.rtt_wired), (ack.ack, ack.seq, None));
                    announced.push(u32::from(told.window) << 2);
                }
                other => panic!("{other:?}"),
            }
        }
        // 60,000 units of 4 bytes were announced in the beginning, and are used up by the 240th segment.
        let expected = if keys.is_empty() { 2 * MSS } else { 60_000 << 2 };
        assert_eq!(announced.last(), Some(&expected), "{v6} {forged} {keys}");
        assert!(announced.windows(2).all(|pair| pair[1] + MSS >= pair[0]), "{announced:?}");
    }
}

#[test]
fn a_held_packet_with_a_forged_option_leaves_without_it() {
    let mut w = World::new(PACE);
    let interval = w.sampled();
    let first = w.down(1001, MSS);
    w.hand_in(ms(40), &first);
    let forged = Options { rtt_wired: Some(Span::from_millis(1)), ..Options::default() };
    let packet = w.packet(Side::Wired, &Segment { options: forged, ..w.segment(Side::Wired, 2001, 1, MSS) });
    assert_eq!(w.hand_in(ms(40), &packet), Out::Hold);
    let outputs = w.outputs(ms(40) + interval);
    let [Output::Release { bytes: Some(bytes), .. }] = &outputs[..] else { panic!("{outputs:?}") };
    assert_eq!(parse(bytes).unwrap().segment.options.rtt_wired, None);
    assert!(checksum_ok(bytes));
}

/// A packet with an option in front of whatever options it has; its length is a multiple of four.
fn with_option(packet: &[u8], option: &[u8]) -> Vec<u8> {
    let tcp = parse(packet).unwrap().tcp_offset;
    let mut bytes = [&packet[..tcp + 20], option, &packet[tcp + 20..]].concat();
    let length = bytes.len();
    if bytes[0] >> 4 == 4 {
        bytes[2..4].copy_from_slice(&(length as u16).to_be_bytes());
    } else {
        bytes[4..6].copy_from_slice(&(length as u16 - 40).to_be_bytes());
    }
    bytes[tcp + 12] += (option.len() as u8 / 4) << 4;
    bytes
}

#[test]
fn signed_packets_pass_as_they_are() {
    let md5 = [&[1, 1, 19, 18][..], &[0xa5; 16]].concat();
    let authentication = [&[29, 16, 1, 2][..], &[0x5a; 12]].concat();
    for (option, v6) in [(&md5, false), (&md5, true), (&authentication, false), (&authentication, true)] {
        let mut w = World::new(PACE);
        w.v6 = v6;
        let forged = Options { rtt_wired: Some(Span::from_millis(1)), ..Options::default() };
        let ack = |side, seq, ack| Segment { options: forged, ..w.segment(side, seq, ack, 0) };
        let packets = [
            w.up(1, 1, MSS),
            w.packet(Side::Wired, &ack(Side::Wired, 1, 1 + MSS)),
            w.down(1, MSS),
            w.up(1 + MSS, 1 + MSS, 0),
            w.down(1 + MSS, MSS),
            w.down(1 + 2 * MSS, MSS),
            w.packet(Side::Wireless, &ack(Side::Wireless, 1 + MSS, 1 + MSS)),
            w.packet(Side::Wireless, &ack(Side::Wireless, 1 + MSS, 1 + MSS)),
        ];
        for (n, packet) in packets.iter().enumerate() {
            let now = ms(20 * n as u64);
            assert_eq!(w.hand_in(now, &with_option(packet, option)), Out::Accept, "packet {n}");
            assert_eq!(w.outputs(now), []);
        }
        assert_eq!((w.engine.flows().len(), w.engine.counted().unread.signed), (0, 8));
        // The same without it is read.
        let mut w = World::new(PACE);
        w.v6 = v6;
        assert!(packets.iter().any(|packet| w.hand_in(ms(0), packet) != Out::Accept));
    }
}

#[test]
fn a_packet_that_is_cut_off_is_measured_but_never_rewritten() {
    let mut w = World::new(PACE);
    let data = w.up(1, 1, MSS);
    assert_eq!(w.hand_in(ms(0), &data[..60]), Out::Accept);
    let ack = w.packet(Side::Wired, &w.segment(Side::Wired, 1, 1 + MSS, 0));
    assert!(matches!(w.hand_in(ms(30), &ack), Out::Rewrite(_)), "the ACK itself is whole");
    let forged = Options { rtt_wired: Some(Span::from_millis(1)), ..Options::default() };
    let packet =
        w.packet(Side::Wireless, &Segment { options: forged, ..w.segment(Side::Wireless, 1001, 1, 500) });
    assert_eq!(w.hand_in(ms(31), &packet[..100]), Out::Accept);
}
