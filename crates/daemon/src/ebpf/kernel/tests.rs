//! The programs in the running kernel (BPF_PROG_TEST_RUN): packets in, packets and departure times out.
#![allow(clippy::disallowed_methods, reason = "the kernel's clock has to advance")]

mod bench;
mod holes;
mod plausible;
mod reading;
mod waits;

use super::*;
use crate::ebpf::exchange::{EventKind, Handling, Pace};
use crate::ebpf::trying::make_plausible;
use bench::*;
use meshpace_gateway::Treatment;
use meshpace_linux::monotonic_now;
use meshpace_tcp::{Flags, Options, Segment, Timestamps};
use meshpace_units::{Bytes, Instant, Seq, Span};
use proptest::prelude::*;
use std::cell::RefCell;

/// Longer than a busy machine lets a test wait between two packets, so that the second one always finds the first ahead.
const INTERVAL: Span = Span::from_secs(2);
/// Just below the wrap of sequence numbers.
const START: Seq = Seq(u32::MAX - 1_500);

#[test]
fn departures_are_an_interval_apart_and_what_would_wait_too_long_is_dropped() {
    let Some(mut bench) = bench() else { return };
    bench.order(Some(INTERVAL), 3, Treatment::Pace);
    let before = monotonic_now();
    let ran: Vec<Ran> = (0..6).map(|n| bench.down(&segment(START + n * 1000, 1, 1000))).collect();
    assert_eq!(ran[0].departure, None, "after idling at once");
    let stamps: Vec<Instant> = ran[1..4].iter().map(|ran| ran.departure.expect("a departure")).collect();
    assert!(stamps[0] >= before + INTERVAL && stamps[0] <= monotonic_now() + INTERVAL);
    assert_eq!([stamps[1] - stamps[0], stamps[2] - stamps[1]], [INTERVAL; 2]);
    let verdicts: Vec<u32> = ran.iter().map(|ran| ran.verdict).collect();
    assert_eq!(verdicts, [NEXT, NEXT, NEXT, NEXT, SHOT, SHOT]);
    assert_eq!(bench.told(), [EventKind::Opened]);
    let flow = bench.flow().expect("known");
    assert_eq!((flow.delayed, flow.drops, flow.segment), (3, 2, Bytes(1000)));
    assert_eq!((bench.counters().delayed, bench.counters().dropped), (3, 2));
    // A pure ACK of the same connection does not wait.
    assert_eq!(bench.down(&segment(START + 6000, 1, 0)).departure, None);
    // A FIN waits behind the data.
    bench.order(Some(INTERVAL), 100, Treatment::Pace);
    let fin = Segment { flags: Flags { fin: true, ..ACK }, ..segment(START + 6000, 1, 0) };
    assert_eq!(bench.down(&fin).departure, Some(stamps[2] + INTERVAL));
    // Another interval counts from the latest departure.
    bench.order(Some(INTERVAL * 2), 100, Treatment::Pace);
    assert_eq!(bench.down(&segment(START + 6001, 1, 1000)).departure, Some(stamps[2] + INTERVAL * 3));
    // Watched from now on: it keeps its place behind what waits, and nothing is added.
    bench.order(Some(INTERVAL * 2), 100, Treatment::Observe);
    assert_eq!(bench.down(&segment(START + 7001, 1, 1000)).departure, Some(stamps[2] + INTERVAL * 3));
}

#[test]
fn what_is_sent_again_tells_how_long_it_has_been_gone() {
    let Some(mut bench) = bench() else { return };
    bench.finds = true;
    bench.act(Handling::Treat(Treatment::Observe));
    let mut sent = monotonic_now();
    let send = |bench: &mut Bench, n: u32| bench.down(&segment(START + n * 1000, 1, 1000));
    (0..4).for_each(|n| drop(send(&mut bench, n)));
    assert_eq!(bench.told(), [EventKind::Opened]);
    let wait = std::time::Duration::from_millis(3);
    std::thread::sleep(wait);
    // The second is lost. A segment that left behind it, before it is sent again, may have waited for it.
    for (n, tells) in [(1, true), (2, false), (2, true), (4, false), (4, true)] {
        send(&mut bench, n);
        let passed = monotonic_now() - sent;
        match bench.told()[..] {
            [EventKind::Again(gone)] if tells => assert!(gone <= passed && gone > Span::ZERO, "{gone:?}"),
            [] if !tells => {}
            ref other => panic!("{n}: {other:?}"),
        }
        if n == 1 {
            sent = monotonic_now();
        }
    }
    bench.finds = false;
    bench.act(Handling::Treat(Treatment::Observe));
    send(&mut bench, 4);
    assert_eq!(bench.told(), []);
}

#[test]
fn of_what_no_law_paces_a_hosts_round_trips_are_told_so_far_apart() {
    let Some(mut bench) = bench() else { return };
    bench.apart = Span::from_secs(3_600);
    bench.act(Handling::Treat(Treatment::Observe));
    let samples = |bench: &mut Bench, port| {
        bench.port = port;
        (0..3).for_each(|n| drop(bench.down(&segment(START + n * 1000, 1, 1000))));
        (1..4).for_each(|n| drop(bench.up(&segment(1, START + n * 1000, 0))));
        bench.told().iter().filter(|told| matches!(told, EventKind::Sample(_))).count()
    };
    // Another connection belongs to the same host; a law gets all reports.
    assert_eq!([5_000, 5_001].map(|port| samples(&mut bench, port)), [1, 0]);
    bench.port = 5_002;
    bench.order(None, 10, Treatment::Pace);
    assert_eq!(samples(&mut bench, 5_002), 3);
}

#[test]
fn acknowledgements_tell_round_trips_and_retransmissions_none() {
    let Some(mut bench) = bench() else { return };
    let sent = monotonic_now();
    for n in 0..3 {
        bench.down(&segment(START + n * 1000, 1, 1000));
    }
    assert_eq!(bench.told(), [EventKind::Opened]);
    std::thread::sleep(std::time::Duration::from_millis(3));
    // Two segments with one ACK, across the wrap: one sample, of the newest.
    bench.up(&segment(1, START + 2000, 0));
    let passed = monotonic_now() - sent;
    match bench.told()[..] {
        [EventKind::Sample(rtt)] => {
            assert!(rtt >= Span::from_millis(3) && rtt <= passed, "{rtt:?} of {passed:?}");
        }
        ref other => panic!("{other:?}"),
    }
    bench.up(&segment(1, START + 2000, 0));
    bench.up(&segment(1, START + 9000, 0));
    assert_eq!(bench.told(), [], "a duplicate, and one of what never passed");
    // The third passes again (RFC 6298, section 3), a fourth once: the ACK of both is ambiguous.
    bench.down(&segment(START + 2000, 1, 1000));
    bench.down(&segment(START + 3000, 1, 1000));
    bench.up(&segment(1, START + 4000, 0));
    assert_eq!(bench.told(), []);
    bench.down(&segment(START + 4000, 1, 1000));
    bench.up(&segment(1, START + 5000, 0));
    assert!(matches!(bench.told()[..], [EventKind::Sample(_)]), "and after it all is well");
    assert_eq!(bench.flow().map(|flow| flow.down.acked), Some(Bytes(5000)));
    // It still waits for its departure: an acknowledgement of it is made up.
    bench.order(Some(INTERVAL * 100), 100, Treatment::Pace);
    bench.down(&segment(START + 5000, 1, 1000));
    bench.up(&segment(1, START + 6000, 0));
    assert_eq!((bench.told(), bench.flow().map(|flow| flow.down.acked)), (vec![], Some(Bytes(5000))));
}

#[test]
fn late_bytes_are_forgotten_once_acknowledged() {
    let Some(mut bench) = bench() else { return };
    // The largest window: the next segment may lie far ahead, and half of all numbers are soon behind.
    let ack = |upto: Seq| Segment { window: u16::MAX, ..segment(1, upto, 0) };
    let mut at = START;
    bench.down(&segment(at, 1, 1000));
    bench.down(&segment(at, 1, 1000));
    for _ in 0..3 {
        bench.up(&ack(at + 1000));
        at += 0x3000_0000;
        bench.down(&segment(at, 1, 1000));
    }
    bench.up(&ack(at + 1000));
    bench.told();
    // Late ones again, which are acknowledged; from then on it measures.
    bench.down(&segment(at + 1000, 1, 1000));
    bench.down(&segment(at + 1000, 1, 1000));
    bench.up(&ack(at + 2000));
    assert_eq!(bench.told(), []);
    bench.down(&segment(at + 2000, 1, 1000));
    bench.up(&ack(at + 3000));
    assert!(matches!(bench.told()[..], [EventKind::Sample(_)]));
}

#[test]
fn where_all_places_are_taken_others_go_on_unpaced() {
    let Some(mut bench) = bench() else { return };
    bench.places = 3;
    bench.act(Handling::Treat(Treatment::Pace));
    bench.order(Some(INTERVAL), 100, Treatment::Pace);
    let verdicts = |bench: &mut Bench, n: u32| -> Vec<(u32, bool)> {
        let ran = (0..n).map(|n| bench.down(&segment(START + n * 1000, 1, 1000)));
        ran.map(|ran| (ran.verdict, ran.departure.is_some())).collect()
    };
    let (at_once, later, dropped) = ((NEXT, false), (NEXT, true), (SHOT, false));
    assert_eq!(verdicts(&mut bench, 5), [at_once, later, later, later, dropped]);
    // Another connection.
    bench.v6 = true;
    bench.order(Some(INTERVAL), 100, Treatment::Pace);
    assert_eq!(verdicts(&mut bench, 4), [at_once; 4]);
    let seen = bench.counters();
    assert_eq!((seen.delayed, seen.dropped, seen.overflowed), (3, 1, 3));
    bench.places = 5;
    bench.act(Handling::Treat(Treatment::Pace));
    assert_eq!(verdicts(&mut bench, 4), [later, later, dropped, dropped], "as places are there again");
}

/// The rewritten ACK of `ack` after up data `1..=1000` passed 2 ms before, or longer on a busy machine: at most as long as
/// the time that is given with it.
fn acked_after_2_ms(bench: &mut Bench, ack: &Segment) -> (Ran, Span) {
    bench.down(&segment(START, 1, 1));
    let before = monotonic_now();
    bench.up(&segment(1, START + 1, 1000));
    std::thread::sleep(std::time::Duration::from_millis(2));
    let ran = bench.down(ack);
    (ran, monotonic_now() - before)
}

#[test]
fn the_wired_round_trip_is_written_where_there_is_room() {
    for v6 in [false, true] {
        let Some(mut bench) = bench() else { return };
        bench.v6 = v6;
        let stamps = Some(Timestamps { value: 7, echo: 8 });
        let ack = Segment {
            options: Options { timestamps: stamps, ..Options::default() },
            ..segment(START + 1, 1001, 0)
        };
        let plain = bench.build(true, &ack);
        let (ran, passed) = acked_after_2_ms(&mut bench, &ack);
        let written =
            meshpace_wire::parse(&ran.packet).expect("TCP").segment.options.rtt_wired.expect("an option");
        // Whole milliseconds, rounded.
        let most = passed + Span::from_millis(1);
        assert!(written >= Span::from_millis(2) && written <= most, "{written:?} of {passed:?}");
        // Byte for byte what the user-space rewriter makes of it.
        let mut expected = plain.clone();
        meshpace_wire::set_rtt(&mut expected, written).expect("room");
        assert_eq!(ran.packet, expected);
        assert!(meshpace_wire::checksum_ok(&ran.packet));
        assert!(
            bench
                .told()
                .iter()
                .any(|told| matches!(told, EventKind::WiredSample(rtt) if *rtt >= Span::from_millis(2)))
        );
        assert_eq!(bench.flow().map(|flow| flow.options), Some(1));
        // The same once more is a duplicate: untouched.
        assert_eq!(bench.down(&ack).packet, plain);
    }
}

#[test]
fn an_acknowledgement_without_room_or_with_data_or_watched_goes_on_as_it_is() {
    let sack = |blocks: usize| {
        let mut options =
            Options { timestamps: Some(Timestamps { value: 7, echo: 8 }), ..Options::default() };
        for (n, block) in (0..).zip(&mut options.sack[..blocks]) {
            *block = Some((Seq(5000 + n * 10), Seq(5005 + n * 10)));
        }
        options
    };
    for (blocks, payload, treatment, written) in [
        (2, 0, Treatment::Pace, 1),
        (3, 0, Treatment::Pace, 0),
        (0, 10, Treatment::Pace, 0),
        (0, 0, Treatment::Observe, 0),
    ] {
        let Some(mut bench) = bench() else { return };
        bench.order(None, 10, treatment);
        let ack = Segment { options: sack(blocks), ..segment(START + 1, 1001, payload) };
        let (ran, _) = acked_after_2_ms(&mut bench, &ack);
        let parsed = meshpace_wire::parse(&ran.packet).expect("TCP");
        let counted = bench.flow().map(|flow| flow.options);
        assert_eq!(counted, Some(written), "{blocks} blocks, {payload} bytes, {treatment:?}");
        assert_eq!(parsed.segment.options.rtt_wired.is_some(), written > 0);
        assert_eq!(ran.packet == bench.build(true, &ack), written == 0);
        assert!(meshpace_wire::checksum_ok(&ran.packet));
        assert!(bench.flow().is_some_and(|flow| flow.wired_rtt.is_some()), "measured all the same");
    }
}

#[test]
fn nothing_is_touched_without_orders_or_a_crossing() {
    let Some(mut bench) = bench() else { return };
    bench.order(Some(INTERVAL), 100, Treatment::Pace);
    let mut data = segment(START, 1, 1000);
    data.options.rtt_wired = Some(Span::from_millis(9));
    let packet = bench.build(true, &data);
    let untouched = |bench: &mut Bench| {
        for _ in 0..2 {
            let ran = bench.run_bytes("meshpace_down", &packet);
            assert_eq!((ran.verdict, ran.departure, &ran.packet), (NEXT, None, &packet));
        }
    };
    bench.wired_ifindex = MESH;
    untouched(&mut bench);
    bench.wired_ifindex = 0;
    untouched(&mut bench);
    assert_eq!((bench.counters().not_crossing, bench.flow()), (4, None));
    bench.wired_ifindex = WIRED;
    // Nobody renews the settings: the daemon is gone.
    let stale = Settings {
        alive_until: monotonic_now(),
        horizon: Span::from_secs(9),
        handling: Handling::Treat(Treatment::Pace),
        places: 1_000,
        apart: Span::ZERO,
        finds: false,
    };
    bench.kernel.set(stale).expect("bpf");
    untouched(&mut bench);
    assert_eq!((bench.counters().packets, bench.flow()), (4, None));
    bench.act(Handling::Treat(Treatment::Pace));
    let key = bench.key();
    let ignore = Pace {
        interval: Some(INTERVAL),
        packets: 100,
        handling: Handling::Ignore,
        codel: None,
        window: None,
    };
    bench.kernel.obey(&Order::Pace(key, ignore)).expect("bpf");
    untouched(&mut bench);
    assert_eq!((bench.counters().off, bench.flow()), (2, None));
}

#[test]
fn a_connection_ends_with_its_fins_or_a_plausible_reset() {
    let Some(mut bench) = bench() else { return };
    bench.down(&segment(START, 1, 1000));
    let rst = |seq: u32| Segment { flags: Flags { rst: true, ..Flags::default() }, ..segment(seq, 0, 0) };
    bench.up(&segment(1, START + 1000, 0));
    assert!(matches!(bench.told()[..], [EventKind::Opened, EventKind::Sample(_)]));
    for blind in [40_000, u32::MAX - 40_000] {
        bench.up(&rst(blind));
    }
    assert_eq!((bench.told(), bench.flow().is_some()), (vec![], true), "a blind RST ends nothing");
    bench.up(&rst(1));
    assert_eq!((bench.told(), bench.flow()), (vec![EventKind::Closed], None));
    let fin = |segment: Segment| Segment { flags: Flags { fin: true, ..ACK }, ..segment };
    bench.down(&fin(segment(START, 1, 1000)));
    bench.up(&fin(segment(1, START + 1001, 0)));
    assert!(matches!(bench.told()[..], [EventKind::Opened, EventKind::Sample(_)]));
    bench.down(&segment(START + 1001, 2, 0));
    assert_eq!((bench.told(), bench.flow()), (vec![EventKind::Closed], None));
}

#[test]
fn a_new_syn_begins_a_new_connection_with_its_own_window_scale() {
    let Some(mut bench) = bench() else { return };
    for (n, offered, scale, window) in
        [(0, Some(2), Some(5), 32_000), (1, None, Some(5), 1_000), (2, Some(9), None, 1_000)]
    {
        // The second and the third begin between the same ports before the one before is over.
        let (client, server) = (Seq(n * 10_000_000), START + n * 1_000_000_000);
        let syn = |segment: Segment, ack, window_scale| Segment {
            flags: Flags { syn: true, ack, ..Flags::default() },
            options: Options { window_scale, ..Options::default() },
            ..segment
        };
        bench.up(&syn(segment(client, 0, 0), false, scale));
        assert_eq!(bench.flow().is_some(), n > 0, "nobody has answered yet");
        bench.down(&syn(segment(server, client + 1, 0), true, offered));
        assert_eq!(bench.flow(), None);
        bench.down(&segment(server + 1, client + 1, 1000));
        bench.up(&segment(client + 1, server + 1001, 0));
        assert_eq!(bench.flow().map(|flow| flow.window), Some(Some(Bytes(window))), "{offered:?} {scale:?}");
    }
    // The handshake was not seen: 7 (schemes.md 3.6).
    let Some(mut unseen) = self::bench() else { return };
    unseen.down(&segment(START, 1, 1000));
    unseen.up(&segment(1, START + 1000, 0));
    assert_eq!(unseen.flow().map(|flow| flow.window), Some(Some(Bytes(128_000))));
}

#[test]
fn an_unsegmented_packet_is_timed_by_segments_and_charged_for_all_of_them() {
    let Some(mut bench) = bench() else { return };
    bench.order(Some(INTERVAL), 100, Treatment::Pace);
    bench.gso = Some((4, 300));
    let before = monotonic_now();
    assert_eq!(bench.down(&segment(START, 1, 1000)).departure, None);
    bench.gso = None;
    std::thread::sleep(std::time::Duration::from_millis(1));
    bench.up(&segment(1, START + 600, 0));
    bench.up(&segment(1, START + 1000, 0));
    assert!(matches!(bench.told()[..], [EventKind::Opened, EventKind::Sample(_), EventKind::Sample(_)]));
    assert_eq!(bench.flow().map(|flow| flow.segment), Some(Bytes(300)));
    let next = bench.down(&segment(START + 1000, 1, 1000)).departure.expect("a departure");
    assert!(next >= before + INTERVAL * 4 && next <= monotonic_now() + INTERVAL * 4);
}

#[test]
fn fragments_other_protocols_and_damaged_headers_pass() {
    let Some(mut bench) = bench() else { return };
    bench.order(Some(INTERVAL), 100, Treatment::Pace);
    let whole = bench.build(true, &segment(START, 1, 1000));
    let with = |changes: &[(usize, u8)]| {
        let mut packet = whole.clone();
        changes.iter().for_each(|(at, byte)| packet[*at] = *byte);
        packet
    };
    let packets = [
        with(&[(6, 0x20)]),       // more fragments
        with(&[(7, 9)]),          // the end of a fragmented packet
        with(&[(9, 17)]),         // UDP
        with(&[(0, 0x44)]),       // a header shorter than itself
        with(&[(2, 0xff)]),       // longer than what came
        with(&[(32, 0x40)]),      // a TCP header shorter than itself
        with(&[(2, 0), (3, 39)]), // a TCP header longer than the packet
        whole[..30].to_vec(),
    ];
    for packet in &packets {
        let ran = bench.run_bytes("meshpace_down", packet);
        assert_eq!((ran.verdict, ran.departure, &ran.packet), (NEXT, None, packet));
    }
    let seen = bench.counters();
    assert_eq!((seen.fragments, seen.other_protocol, seen.truncated, seen.malformed), (2, 1, 2, 3));
    assert_eq!(bench.flow(), None);
}

#[test]
fn foreign_options_become_nops_as_in_user_space() {
    let Some(bench) = bench() else { return };
    let bench = RefCell::new(bench);
    let pieces: [&[u8]; 7] = [
        &[1],
        &[253, 6, 0x4d, 0x50, 0, 9],
        &[8, 10, 0, 0, 0, 1, 0, 0, 0, 2],
        &[0],
        &[253, 6, 1, 2, 3, 4],
        &[5, 1],
        &[3, 3, 7],
    ];
    // Whatever stands in the options, everything else stays, a wrong checksum too. (Data from the mesh would ask the
    // routing table whether they cross.)
    let strategy = (prop::collection::vec(0..pieces.len(), 0..12), any::<[bool; 3]>(), 0..3usize);
    proptest!(ProptestConfig::with_cases(500), |((parts, [v6, down, damage], payload) in strategy)| {
        let payload = if down { payload } else { 0 };
        let mut bench = bench.borrow_mut();
        bench.v6 = v6;
        let key = bench.key();
        bench.kernel.obey(&Order::Evict(key)).expect("bpf");
        let mut options: Vec<u8> = parts.iter().flat_map(|&part| pieces[part]).copied().collect();
        options.truncate(40);
        options.resize(options.len().next_multiple_of(4), 1);
        let mut packet = bench.build(down, &segment(START, 1, 0));
        let tcp = packet.len() - 20;
        packet.extend(&options);
        packet.extend(&vec![0x5a; payload]);
        packet[tcp + 12] += (options.len() as u8 / 4) << 4;
        let at = if v6 { 4 } else { 2 };
        let length = u16::from_be_bytes([packet[at], packet[at + 1]]) + (options.len() + payload) as u16;
        packet[at..at + 2].copy_from_slice(&length.to_be_bytes());
        if damage {
            packet[tcp + 16] ^= 0x40;
        }
        let mut expected = packet.clone();
        meshpace_wire::strip_rtt(&mut expected);
        let program = if down { "meshpace_down" } else { "meshpace_up" };
        prop_assert_eq!(bench.run_bytes(program, &packet).packet, expected);
    });
}

#[test]
fn no_bytes_upset_the_programs() {
    let Some(bench) = bench() else { return };
    let bench = RefCell::new(bench);
    let strategy = (prop::collection::vec(any::<u8>(), 40..120), any::<[bool; 3]>());
    proptest!(ProptestConfig::with_cases(1_000), |((mut bytes, [v6, down, plausible]) in strategy)| {
        let mut bench = bench.borrow_mut();
        bench.v6 = v6;
        if plausible {
            make_plausible(&mut bytes, v6);
        }
        let ran = bench.run_bytes(if down { "meshpace_down" } else { "meshpace_up" }, &bytes);
        prop_assert_eq!(ran.verdict, NEXT);
        if meshpace_wire::parse(&bytes).is_err() {
            prop_assert_eq!(ran.packet, bytes);
        }
    });
}
