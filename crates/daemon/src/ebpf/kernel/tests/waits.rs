//! What is done about packets that wait: CoDel, the shaper's departures, and windows that keep them from coming.

use super::*;

#[test]
fn what_waits_too_long_by_codel_is_marked_or_dropped() {
    let Some(mut bench) = bench() else { return };
    // 2 s apart. Above the target of 3 s from the third on; the interval is over with the sixth, and once more with the ninth.
    let (key, codel) = (bench.key(), Some((Span::from_secs(3), Span::from_secs(6))));
    let handling = Handling::Treat(Treatment::Pace);
    bench
        .kernel
        .obey(&Order::Pace(
            key,
            Pace { interval: Some(INTERVAL), packets: 100, handling, codel, window: None },
        ))
        .expect("bpf");
    let mut capable = bench.build(true, &segment(START, 1, 1000));
    capable[1] = 1; // ECT(1), and the header's checksum by RFC 1624
    let sum = u16::from_be_bytes([capable[10], capable[11]]) - 1;
    capable[10..12].copy_from_slice(&sum.to_be_bytes());
    let marks = [(); 6].map(|()| bench.run_bytes("meshpace_down", &capable).packet[1] & 3);
    assert_eq!(marks, [1, 1, 1, 1, 1, 3]);
    let ran: Vec<Ran> = (1..6).map(|n| bench.down(&segment(START + n * 1000, 1, 1000))).collect();
    let verdicts: Vec<u32> = ran.iter().map(|ran| ran.verdict).collect();
    assert_eq!(verdicts, [NEXT, NEXT, SHOT, NEXT, NEXT]);
    // The next one has the departure of what was dropped.
    let departures: Vec<_> = ran.iter().filter_map(|ran| ran.departure).collect();
    assert!(departures.windows(2).all(|pair| pair[1] - pair[0] == INTERVAL), "{departures:?}");
    let flow = bench.flow().expect("known");
    assert_eq!((flow.aged, flow.drops, bench.counters().dropped), ((1, 1), 0, 1));
}

#[test]
fn what_the_shaper_gave_a_departure_leaves_no_earlier_and_is_timed_from_then_on() {
    let Some(mut bench) = bench() else { return };
    bench.order(None, 10, Treatment::Observe);
    bench.shaped = Some(monotonic_now() + Span::from_millis(30));
    assert_eq!(bench.down(&segment(START, 1, 1000)).departure, bench.shaped);
    bench.up(&segment(1, START + 1000, 0));
    assert_eq!(bench.told(), [EventKind::Opened], "it still waits");
    std::thread::sleep(std::time::Duration::from_millis(40));
    let since = monotonic_now() - bench.shaped.expect("given");
    bench.up(&segment(1, START + 1000, 0));
    assert!(
        matches!(bench.told()[..], [EventKind::Sample(rtt)] if rtt >= since && rtt < since + Span::from_secs(2))
    );
    // The law's departure lies further ahead, and then it holds.
    bench.order(Some(INTERVAL), 10, Treatment::Pace);
    bench.down(&segment(START + 1000, 1, 1000));
    bench.shaped = Some(monotonic_now() + Span::from_millis(30));
    assert!(bench.down(&segment(START + 2000, 1, 1000)).departure > bench.shaped);
}

#[test]
fn the_wired_sender_is_told_what_the_pace_has_room_for() {
    for v6 in [false, true] {
        let Some(mut bench) = bench() else { return };
        bench.v6 = v6;
        let syn = |segment: Segment, ack, scale| Segment {
            flags: Flags { syn: true, ack, ..Flags::default() },
            options: Options { window_scale: Some(scale), ..Options::default() },
            ..segment
        };
        bench.up(&syn(segment(0, 0, 0), false, 3));
        bench.down(&syn(segment(START, 1, 0), true, 7));
        let window = Some((Bytes(3_000), Bytes(1_000)));
        let handling = Handling::Treat(Treatment::Pace);
        let key = bench.key();
        bench
            .kernel
            .obey(&Order::Pace(key, Pace { interval: None, packets: 9, handling, codel: None, window }))
            .expect("bpf");
        bench.down(&segment(START + 1, 1, 1000));
        let mut acked = |end: u32, field: u16| {
            let ack = Segment { window: field, ..segment(1, START + end, 0) };
            let plain = bench.build(false, &ack);
            let ran = bench.up(&ack);
            assert!(meshpace_wire::checksum_ok(&ran.packet));
            let told = meshpace_wire::parse(&ran.packet).expect("TCP").segment.window;
            assert_eq!(ran.packet == plain, told == field, "nothing else is touched");
            (told, bench.flow().expect("known").limited)
        };
        // The earlier announcement is not known: the first acknowledgement passes as it is, and its edge is
        // not taken back.
        assert_eq!(acked(1, 500), (500, None));
        assert_eq!(acked(1_001, 8_000), (375, Some(Bytes(3_000))));
        // Two segments are left of three, then one, then none.
        for (n, used) in [(0, 0), (1, 1), (2, 2)] {
            bench.down(&segment(START + 1_001 + n * 1000, 1, 1000));
            assert_eq!(bench.flow().map(|flow| flow.used), Some(used));
        }
        let mut acked = |end: u32, field: u16| {
            let ran = bench.up(&Segment { window: field, ..segment(1, START + end, 0) });
            let told = meshpace_wire::parse(&ran.packet).expect("TCP").segment.window;
            (told, bench.flow().expect("known").limited)
        };
        assert_eq!(acked(1_001, 100), (100, None), "the receiver has less room");
        bench.order(None, 9, Treatment::Observe);
        bench.down(&segment(START + 1001, 1, 1000));
        let ack = Segment { window: 8_000, ..segment(1, START + 2_001, 0) };
        let plain = bench.build(false, &ack);
        assert_eq!(bench.up(&ack).packet, plain, "only watched");
    }
}
