//! What the program reads of a packet's headers, and what it leaves alone.

use super::*;
use crate::ebpf::trying::make_plausible;
use proptest::prelude::*;
use std::cell::RefCell;

#[test]
fn vlan_tags_in_the_frame_are_walked_through_and_kept() {
    const C_TAG: u16 = 0x8100;
    const S_TAG: u16 = 0x88a8;
    for (tags, read) in
        [(&[C_TAG][..], true), (&[S_TAG, C_TAG], true), (&[S_TAG, S_TAG, C_TAG], false), (&[0x9100], false)]
    {
        for v6 in [false, true] {
            let Some(mut bench) = bench(16) else { return };
            bench.tags = tags;
            bench.v6 = v6;
            bench.under_way();
            assert_eq!(bench.run(&ack(257)), if read { KEPT } else { NEXT }, "{tags:x?}");
            let Some(held) = bench.held() else {
                assert!(!read);
                continue;
            };
            assert_eq!((held.frame, held.ip), (bench.framed(&bench.build(&ack(257))), 14 + 4 * tags.len()));
            assert_eq!(bench.send(), NEXT);
        }
    }
}

#[test]
fn options_that_are_known_are_thinned_and_others_pass() {
    let stamps = [1, 1, 8, 10, 0, 0, 0, 1, 0, 0, 0, 2];
    let gap = [253, 6, 0x4d, 0x50, 0, 9, 1, 1];
    let cases: [(&[u8], u32); 10] = [
        (&[], KEPT),
        (&stamps, KEPT),
        (&gap, KEPT),
        (&[1, 1, 0, 5], KEPT),
        (&[1, 1, 5, 10, 0, 0, 0, 1, 0, 0, 0, 2], NEXT),   // SACK
        (&[1, 172, 11, 0, 0, 0, 0, 0, 0, 0, 0, 0], NEXT), // AccECN
        (&[1, 253, 4, 0x4d, 0x50, 0, 0, 0], NEXT),        // TCP-GAP's, too short
        (&[1, 1, 8, 9], NEXT),                            // ends behind the header
        (&[1, 1, 1, 8], NEXT),                            // has no length
        (&[30, 4, 0, 0], NEXT),                           // multipath TCP
    ];
    for (options, verdict) in cases {
        let Some(mut bench) = bench(16) else { return };
        bench.under_way();
        let mut packet = bench.build(&ack(257));
        packet.extend(options);
        packet[3] += options.len() as u8;
        packet[32] += (options.len() as u8 / 4) << 4;
        assert_eq!(
            meshpace_wire::parse(&packet).map(|read| read.says_more),
            Ok(verdict == NEXT),
            "{options:?}"
        );
        assert_eq!(bench.run_bytes(&packet), verdict, "{options:?}");
        assert_eq!(bench.counter(NEWS), u64::from(verdict == NEXT));
    }
}

#[test]
fn urgent_data_and_reserved_flags_pass() {
    // URG; AccECN's flag (RFC 9768, section 3.1) and the three others that are reserved.
    for (at, bit) in [(33, 0x20), (32, 1), (32, 2), (32, 4), (32, 8)] {
        let Some(mut bench) = bench(16) else { return };
        bench.under_way();
        let mut packet = bench.build(&ack(257));
        packet[at] |= bit;
        assert_eq!(bench.run_bytes(&packet), NEXT, "{at} {bit}");
    }
}

#[test]
fn fragments_other_protocols_and_damaged_headers_pass() {
    let Some(mut bench) = bench(16) else { return };
    bench.under_way();
    let whole = bench.build(&ack(257));
    let with = |changes: &[(usize, u8)]| {
        let mut packet = whole.clone();
        changes.iter().for_each(|(at, byte)| packet[*at] = *byte);
        packet
    };
    let packets = [
        with(&[(6, 0x20)]),       // more fragments
        with(&[(7, 9)]),          // the end of a fragmented packet
        with(&[(9, 17)]),         // UDP, as QUIC has it
        with(&[(9, 4)]),          // IP in IP
        with(&[(0, 0x44)]),       // a header shorter than itself
        with(&[(2, 0xff)]),       // longer than what came
        with(&[(32, 0x40)]),      // a TCP header shorter than itself
        with(&[(2, 0), (3, 39)]), // a TCP header longer than the packet
        whole[..30].to_vec(),
    ];
    for packet in &packets {
        assert_eq!(bench.run_bytes(packet), NEXT);
    }
    assert_eq!([2, 3, 4, 5].map(|n| bench.counter(n)), [2, 2, 2, 3]);
    assert_eq!(bench.held(), None);
    // Of another interface.
    let packet = bench.framed(&whole);
    bench.kernel.programs.headers.remove(&1).expect("it was there");
    assert_eq!(bench.run_frame(&packet, 0), NEXT);
}

#[test]
fn time_stamps_are_the_newest_ones() {
    let Some(mut bench) = bench(16) else { return };
    bench.under_way();
    for n in 257..260 {
        let stamps = Some(Timestamps { value: n, echo: n + 1_000 });
        bench.run(&Segment { options: Options { timestamps: stamps, ..Options::NONE }, ..ack(n) });
    }
    let held = bench.held().expect("it waits");
    let read = meshpace_wire::parse(&held.frame[held.ip..]).expect("TCP");
    assert_eq!(read.segment.options.timestamps, Some(Timestamps { value: 259, echo: 1_259 }));
}

#[test]
fn no_bytes_upset_the_program() {
    let Some(bench) = bench(16) else { return };
    let bench = RefCell::new(bench);
    let strategy = (prop::collection::vec(any::<u8>(), 40..120), any::<[bool; 2]>(), any::<bool>());
    proptest!(ProptestConfig::with_cases(1_000), |((mut bytes, [v6, plausible], marked) in strategy)| {
        let mut bench = bench.borrow_mut();
        bench.v6 = v6;
        if plausible {
            make_plausible(&mut bytes, v6);
        }
        let frame = bench.framed(&bytes);
        let verdict = bench.run_frame(&frame, if marked { SENT_MARK } else { 0 });
        let pure = meshpace_wire::parse(&bytes).is_ok_and(|read| read.segment.is_pure_ack());
        prop_assert!(verdict == NEXT || (verdict == KEPT && pure), "{verdict}");
    });
}
