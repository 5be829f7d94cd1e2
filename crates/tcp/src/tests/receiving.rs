//! The receiver: which segments are accepted, where their data belong, and the window on offer.

use super::script::{ISS, PEER_ISS, Script, ack, ms};
use crate::{Config, Event, Flags, Options, Placement, Reading, Received, SackOffer, Timestamps};
use alloc::boxed::Box;

fn config() -> Config {
    Config {
        timestamps: false,
        acknowledgements: Box::new(crate::Every),
        receive_buffer: 10_000,
        ..Config::rfc()
    }
}

fn placed(offset: u64, skip: u32, length: u32) -> Option<Placement> {
    Some(Placement { offset, skip, length })
}

#[test]
fn payload_is_placed() {
    let mut s = Script::established(config());
    let first = s.data(0, 0..1000, 0);
    assert_eq!(first, Received { payload: placed(0, 0, 1000), delivered: 1000 });
    // Early: kept, not delivered. It crosses the wrap of the peer's numbers.
    let early = s.data(1, 1500..2500, 0);
    assert_eq!(early, Received { payload: placed(1500, 0, 1000), delivered: 0 });
    let again = s.data(2, 1500..2500, 0);
    assert_eq!(again, Received { payload: placed(1500, 0, 1000), delivered: 0 });
    // Half old.
    let overlap = s.data(3, 900..1600, 0);
    assert_eq!(overlap, Received { payload: placed(1000, 100, 600), delivered: 1500 });
    assert_eq!(s.data(4, 0..1000, 0), Received::default());
    s.expect_until(4, &[(0, ack(1000)), (1, ack(1000)), (2, ack(1000)), (3, ack(2500)), (4, ack(2500))]);
    assert_eq!((s.tcp.delivered(), s.tcp.readable()), (2500, 2500));
}

/// No sender does so. An attacker that guesses the numbers of a connection can.
#[test]
fn payload_over_the_number_of_the_syn_is_cut() {
    let mut s = Script::established(config());
    let received = s.raw(0, |segment| {
        segment.seq = PEER_ISS;
        segment.payload = 101;
    });
    assert_eq!(received, Received { payload: placed(0, 1, 100), delivered: 100 });
    assert_eq!(s.data(1, 100..200, 0).delivered, 100);
}

#[test]
fn a_fin_before_data_that_arrived_is_ignored() {
    let mut s = Script::established(config());
    s.data(0, 500..1000, 0);
    let fin = |s: &mut Script, at, seq: u32| {
        s.raw(at, |segment| {
            segment.seq = PEER_ISS + 1 + seq;
            segment.flags.fin = true;
        })
    };
    fin(&mut s, 1, 700);
    assert_eq!(s.data(2, 0..500, 0).delivered, 1000);
    assert_eq!((s.tcp.delivered(), s.events.len()), (1000, 0));
    fin(&mut s, 3, 1000);
    assert_eq!((s.tcp.delivered(), &s.events[..]), (1000, &[Event::PeerFinished][..]));
}

#[test]
fn the_window_cuts() {
    let mut s = Script::established(config());
    s.data(0, 0..9_000, 0);
    // What does not fit is left out; beyond the window nothing is taken.
    let cut = s.data(1, 9_500..12_000, 0);
    assert_eq!(cut.payload, placed(9_500, 0, 500));
    assert_eq!(s.data(2, 10_000..10_100, 0), Received::default());
    s.expect_until(2, &[(0, ack(9_000)), (1, ack(9_000)), (2, ack(9_000))]);
    assert_eq!(s.tcp.counters().discarded, 1);
}

#[test]
fn a_full_buffer_closes_the_window_and_reading_opens_it() {
    let mut s = Script::established(config());
    s.data(0, 0..5_000, 0);
    s.data(1, 5_000..10_000, 0);
    let windows: alloc::vec::Vec<_> = s.out.drain(..).map(|(_, out)| out.segment.window).collect();
    assert_eq!(windows, [5_000, 0]);
    // A probe is answered; data into the closed window are not taken, the acknowledgement is.
    s.write(2, 100);
    s.out.clear();
    s.data(3, 10_000..10_001, 100);
    s.expect(3, &[ack(10_000)]);
    assert_eq!(s.tcp.acknowledged(), 100);
    // Not for every byte (RFC 9293, section 3.8.6.2.2).
    s.app(4, |tcp| tcp.read(1_000));
    s.expect(4, &[]);
    s.app(5, |tcp| tcp.read(2_000));
    assert_eq!(s.out.pop().unwrap().1.segment.window, 3_000);
    s.app(6, |tcp| tcp.read(7_000));
    assert_eq!((s.out.pop().unwrap().1.segment.window, s.tcp.readable()), (10_000, 0));
}

#[test]
fn after_the_fin_nobody_hears_of_room() {
    let mut s = Script::established(config());
    s.data(0, 0..8_000, 0);
    s.raw(1, |segment| segment.flags.fin = true);
    s.expect_until(1, &[(0, ack(8_000)), (1, ack(8_001))]);
    s.app(2, |tcp| tcp.read(8_000));
    s.expect(2, &[]);
}

/// A connection whose peer permits selective acknowledgements or not.
fn selective(permitted: bool, timestamps: bool) -> Script {
    let mut s = Script::connect(Config { sack: SackOffer::Always, timestamps, ..config() });
    assert!(s.out.pop().unwrap().1.segment.options.sack_permitted);
    s.options.timestamps = timestamps.then_some(Timestamps { value: 1, echo: 0 });
    s.options.sack_permitted = permitted;
    s.raw(0, |segment| segment.flags = Flags { syn: true, ack: true, ..Flags::default() });
    s.options.sack_permitted = false;
    s.peer = 1;
    s.out.clear();
    s
}

/// The blocks of the latest departure, in stream offsets.
fn blocks(s: &mut Script) -> alloc::vec::Vec<(u32, u32)> {
    let segment = s.out.pop().unwrap().1.segment;
    assert!(segment.options_length() <= 40);
    let offset = |seq: meshpace_units::Seq| seq.since(PEER_ISS + 1);
    segment.options.sack.iter().flatten().map(|&(left, right)| (offset(left), offset(right))).collect()
}

#[test]
fn selective_acknowledgements_tell_the_latest_first() {
    // RFC 2018, section 4. The numbers cross the wrap of the peer's.
    let mut s = selective(true, true);
    s.data(1, 0..1_000, 0);
    assert_eq!(blocks(&mut s), []);
    s.data(2, 2_000..2_500, 0);
    assert_eq!(blocks(&mut s), [(2_000, 2_500)]);
    s.data(3, 3_000..3_500, 0);
    assert_eq!(blocks(&mut s), [(3_000, 3_500), (2_000, 2_500)]);
    s.data(4, 1_500..2_000, 0); // grows the older block, which is now the latest
    assert_eq!(blocks(&mut s), [(1_500, 2_500), (3_000, 3_500)]);
    s.data(5, 4_000..4_500, 0);
    s.data(6, 5_000..5_500, 0); // room for three beside timestamps
    assert_eq!(blocks(&mut s), [(5_000, 5_500), (4_000, 4_500), (1_500, 2_500)]);
    s.data(7, 1_000..1_500, 0);
    assert_eq!(blocks(&mut s), [(5_000, 5_500), (4_000, 4_500), (3_000, 3_500)]);
    s.data(8, 2_500..3_000, 0);
    s.data(9, 3_500..5_000, 0);
    assert_eq!(blocks(&mut s), []);
    assert_eq!(s.tcp.delivered(), 5_500);
}

#[test]
fn selective_acknowledgements_need_a_peer_that_permits_them_and_leave_data_alone() {
    let mut s = selective(false, false);
    s.data(1, 2_000..2_500, 0);
    assert_eq!(blocks(&mut s), []);
    let mut s = selective(true, false);
    for n in 1..6 {
        s.data(n, 500 * 2 * n..500 * (2 * n + 1), 0);
    }
    assert_eq!(blocks(&mut s).len(), 4, "room for four without timestamps");
    s.write(10, 536);
    assert_eq!((s.out.last().unwrap().1.segment.payload, blocks(&mut s)), (536, [].to_vec()));
}

#[test]
fn reading_at_once_keeps_the_window_open() {
    let mut s = Script::established(Config { reading: Reading::AtOnce, ..config() });
    for n in 0..20 {
        s.data(n, n * 1_000..(n + 1) * 1_000, 0);
    }
    // Small steps are saved up until they are worth a segment.
    let windows: alloc::vec::Vec<_> = s.out.iter().map(|(_, out)| out.segment.window).collect();
    assert!(windows.iter().all(|&window| (8_540..=10_000).contains(&window)), "{windows:?}");
    assert_eq!((s.tcp.delivered(), s.tcp.readable()), (20_000, 0));
}

#[test]
fn a_scaled_window_holds_64_segments() {
    let mut s = Script::established(Config::ns2());
    s.data(0, 0..1460, 0);
    let segment = s.out.pop().unwrap().1.segment;
    assert_eq!(u32::from(segment.window) << 1, 64 * 1460);
}

#[test]
fn windows_of_segments() {
    let ns2 = Config::ns2().with_window(20);
    assert_eq!((ns2.window, ns2.receive_buffer), (Some(20), 29_200));
    let rfc = Config::rfc().with_window(20);
    assert_eq!((rfc.window, rfc.receive_buffer), (None, 29_200));
}

#[test]
#[should_panic(expected = "read 2 of 1 bytes")]
fn nobody_reads_what_is_not_there() {
    let mut s = Script::established(config());
    s.data(0, 0..1, 0);
    s.tcp.read(2);
}

fn stamped(s: &mut Script, at: u64, payload: core::ops::Range<u64>, value: u32) -> Received {
    s.options = Options { timestamps: Some(Timestamps { value, echo: 0 }), ..Options::default() };
    s.data(at, payload, 0)
}

#[test]
fn old_duplicates_are_told_by_their_timestamp() {
    // RFC 7323, section 5.3.
    let mut s = Script::established(Config { timestamps: true, ..config() });
    assert_eq!(stamped(&mut s, 0, 0..100, 1_000).delivered, 100);
    assert_eq!(stamped(&mut s, 1, 100..200, 999), Received::default());
    s.expect_until(1, &[(0, ack(100)), (1, ack(100))]);
    assert_eq!(stamped(&mut s, 2, 100..200, 1_000).delivered, 100);
    // A reset is not checked.
    s.options.timestamps = Some(Timestamps { value: 1, echo: 0 });
    s.peer = 201;
    s.raw(3, |segment| segment.flags.rst = true);
    assert_eq!(s.tcp.state(), crate::State::Closed);
    // After 24 days of silence the remembered value means nothing any more (section 5.5).
    let mut s = Script::established(Config { timestamps: true, ..config() });
    stamped(&mut s, 0, 0..100, 1_000);
    assert_eq!(stamped(&mut s, 25 * 86_400_000, 100..200, 900).delivered, 100);
}

#[test]
fn the_echo_is_of_the_segment_that_the_acknowledgement_ends_at() {
    // RFC 7323, section 4.3: with a hole, of the last segment before it.
    let mut s = Script::established(Config { timestamps: true, ..config() });
    for (at, payload, value) in [(1, 0..100, 10), (2, 200..300, 20), (3, 100..200, 30)] {
        stamped(&mut s, at, payload, value);
    }
    let echoes: alloc::vec::Vec<_> =
        s.out.drain(..).map(|(_, out)| out.segment.options.timestamps.unwrap().echo).collect();
    assert_eq!(echoes, [10, 10, 30]);
    assert_eq!(s.now, ms(3));
}

#[test]
fn both_directions_at_once() {
    let mut s = Script::established(config());
    s.write(0, 500);
    s.data(1, 0..300, 500);
    s.write(2, 200);
    s.data(3, 300..400, 700);
    let out: alloc::vec::Vec<_> =
        s.out.drain(..).map(|(_, out)| (out.offset, out.segment.payload, out.segment.ack)).collect();
    let acks = [PEER_ISS + 1, PEER_ISS + 301, PEER_ISS + 301, PEER_ISS + 401];
    assert_eq!(out, [(0, 500, acks[0]), (0, 0, acks[1]), (500, 200, acks[2]), (0, 0, acks[3])]);
    assert_eq!(s.tcp.send_offset(ISS + 701), Some(700));
}

#[test]
fn a_window_that_grows_begins_at_64_kib_and_has_room_for_what_a_round_trip_brings() {
    let base = Config { handshake: crate::Handshake::ThreeWay, ..Config::ns2() };
    let mut s = Script::established(Config { receive_buffer: 400_000, window_grows: true, ..base });
    let offered = |s: &mut Script| {
        let (_, last) = s.out.drain(..).next_back().expect("an acknowledgement");
        u64::from(last.segment.window) << 3
    };
    // 400,000 bytes need a shift of 3: whole units of 8. A segment of 65,536 is kept back; each that comes opens two.
    s.data(1, 0..1460, 0);
    assert_eq!(offered(&mut s), 64_080 + 2 * 1460);
    for n in 1..45 {
        s.data(1 + n, 1460 * n..1460 * (n + 1), 0);
    }
    assert_eq!(offered(&mut s), 131_072 * 162 / 256, "1,460 of 2,304 bytes are payload");
    // 65,700 bytes are a window's worth, so that a round trip has passed: where ten segments had been expected that is room for
    // more than there is. It opens by and by.
    for n in 45..47 {
        s.data(1 + n, 1460 * n..1460 * (n + 1), 0);
    }
    assert_eq!(offered(&mut s), 82_944 + 2 * 2 * 1460);
    for n in 47..200 {
        s.data(1 + n, 1460 * n..1460 * (n + 1), 0);
    }
    assert_eq!(offered(&mut s), 400_000);
}

#[test]
fn what_is_out_of_order_takes_room_and_makes_the_window_grow() {
    let base = Config { handshake: crate::Handshake::ThreeWay, ..Config::ns2() };
    let mut s = Script::established(Config { receive_buffer: 400_000, window_grows: true, ..base });
    let offered = |s: &mut Script| {
        let (_, last) = s.out.drain(..).next_back().expect("an acknowledgement");
        (last.segment.ack.since(PEER_ISS + 1), u64::from(last.segment.window) << 3)
    };
    // The first is lost; what follows it fills the window.
    for n in 1..43 {
        s.data(n, 1460 * n..1460 * (n + 1), 0);
    }
    assert_eq!(offered(&mut s), (0, 64_080), "what was offered stays so");
    assert_eq!(s.tcp.counters().discarded, 0);
    s.data(100, 0..1460, 0);
    assert_eq!(offered(&mut s), (43 * 1460, 64_080 + 2 * 1460));
}

#[test]
fn what_arrives_twice_is_reported_first_if_it_is_to_be() {
    // RFC 2883, sections 4.1 and 4.2.
    for reports in [false, true] {
        let config = Config { report_duplicates: reports, sack: SackOffer::Always, ..Config::rfc() };
        let mut s = Script::established(Config {
            timestamps: false,
            acknowledgements: Box::new(crate::Every),
            ..config
        });
        let blocks = |s: &mut Script| {
            let (_, last) = s.out.drain(..).next_back().expect("an acknowledgement");
            let place = |seq: meshpace_units::Seq| u64::from(seq.since(PEER_ISS + 1));
            last.segment
                .options
                .sack
                .iter()
                .flatten()
                .map(|(from, to)| (place(*from), place(*to)))
                .collect::<alloc::vec::Vec<_>>()
        };
        s.data(1, 0..1000, 0);
        s.data(2, 0..1000, 0);
        assert_eq!(blocks(&mut s), if reports { alloc::vec![(0, 1000)] } else { alloc::vec![] });
        s.data(3, 2000..4000, 0);
        s.data(4, 2000..3000, 0);
        let around = (2000, 4000);
        assert_eq!(
            blocks(&mut s),
            if reports { alloc::vec![(2000, 3000), around] } else { alloc::vec![around] }
        );
        s.data(5, 5000..6000, 0);
        assert_eq!(blocks(&mut s), [(5000, 6000), around], "once");
    }
}
