//! The program in the running kernel (BPF_PROG_TEST_RUN): packets in, verdicts out.
#![allow(clippy::disallowed_methods, reason = "the kernel's clock has to advance")]

mod bench;
mod reading;
mod same;

use crate::edge::exchange::{EventKind, SENT_MARK};
use crate::shared::edge as c;
use bench::*;
use meshpace_tcp::{Flags, Options, Segment, Timestamps};
use meshpace_units::{Seq, Span};

/// `enum edge_counter`.
const ACKS: usize = 1;
const NEWS: usize = 6;
const WITHHELD: usize = 7;
const SENT: usize = 8;
const OVERTAKEN: usize = 9;
const NO_PLACE: usize = 10;
const LOST_EVENTS: usize = 11;
const LATE: usize = 12;

#[test]
fn one_passes_for_sixteen_segments_and_the_newest_waits() {
    for v6 in [false, true] {
        let Some(mut bench) = bench(16) else { return };
        bench.v6 = v6;
        bench.under_way();
        assert_eq!((bench.held(), bench.told()), (None, vec![]));
        let before = bench.now();
        for n in 257..272 {
            assert_eq!(bench.run(&ack(n)), KEPT, "{n}");
        }
        let held = bench.held().expect("it waits");
        assert_eq!((held.ack, held.ip, held.interface), (bytes_at(271).0, 14, 1));
        assert!(held.at >= before && held.at <= bench.now());
        assert_eq!(held.frame, bench.framed(&bench.build(&ack(271))));
        assert_eq!(bench.told(), [EventKind::Kept], "once");
        assert_eq!(bench.run(&ack(272)), NEXT);
        assert_eq!((bench.held(), bench.told()), (None, vec![]), "it stands for all of them");
        assert_eq!([ACKS, WITHHELD, SENT, NEWS].map(|n| bench.counter(n)), [32, 15, 0, 0]);
    }
}

#[test]
fn half_of_a_receivers_window_passes_where_its_scale_was_seen() {
    // 8 segments by their scale; of an unknown one.
    for (scale, window, segments) in [(Some(&[1, 3, 3, 3]), 1_460, 4), (None, 11_680, 4)] {
        for (seen, segments) in [(true, segments), (false, 16)] {
            let Some(mut bench) = bench(16) else { return };
            let flags = Flags { syn: true, ..Flags::NONE };
            let mut syn = bench.build(&Segment { flags, ..ack(0) });
            if let Some(option) = scale {
                syn.extend(option);
                syn[3] += 4;
                syn[32] += 1 << 4;
            }
            if seen {
                assert_eq!(bench.run_bytes(&syn), NEXT);
            }
            for n in 0..=16 {
                assert_eq!(bench.run(&Segment { window, ..ack(16 * n) }), NEXT);
            }
            let passes = |n: &u32| bench.run(&Segment { window, ..ack(256 + n) }) == NEXT;
            assert_eq!((1..100).find(passes), Some(segments), "{scale:?} {seen}");
        }
    }
}

#[test]
fn half_of_a_senders_window_passes_that_two_tails_have_found() {
    let Some(mut bench) = bench(16) else { return };
    bench.under_way();
    for (waits, half) in [(264, 0), (270, 4 * MSS)] {
        assert_eq!(bench.run(&ack(waits)), KEPT);
        assert_eq!(bench.send(), NEXT, "its tail is over");
        assert_eq!(bench.half(), half);
    }
    assert_eq!([271, 273, 274, 277, 278].map(|n| bench.run(&ack(n))), [KEPT, KEPT, NEXT, KEPT, NEXT]);
    // A repeat's companion was not sent for its tail.
    let Some(mut bench) = self::bench(16) else { return };
    bench.under_way();
    for waits in [264, 270] {
        assert_eq!([bench.run(&ack(waits)), bench.run(&ack(waits)), bench.send()], [KEPT, NEXT, NEXT]);
    }
    assert_eq!(bench.half(), 0);
}

#[test]
fn what_is_sent_passes_if_it_still_is_the_newest() {
    let Some(mut bench) = bench(16) else { return };
    bench.under_way();
    bench.run(&ack(257));
    let old = bench.held().expect("it waits");
    bench.run(&ack(258));
    assert_eq!(bench.run_frame(&old.frame, SENT_MARK), KEPT, "a newer one waits");
    assert_eq!(bench.held().map(|held| held.ack), Some(bytes_at(258).0));
    assert_eq!(bench.send(), NEXT);
    assert_eq!(bench.held(), None);
    assert_eq!(bench.run_frame(&old.frame, SENT_MARK), KEPT, "nothing waits");
    assert_eq!([SENT, OVERTAKEN].map(|n| bench.counter(n)), [1, 2]);
    // It counts as one that has passed: the next passes sixteen segments after it.
    assert_eq!(bench.run(&ack(273)), KEPT);
    assert_eq!(bench.run(&ack(274)), NEXT);
    // Data with the mark is nobody's but its sender's.
    let packet = bench.framed(&bench.build(&Segment { payload: 10, ..ack(275) }));
    assert_eq!(bench.run_frame(&packet, SENT_MARK), NEXT);
}

#[test]
fn what_says_more_passes_and_what_it_does_not_stand_for_follows() {
    let block = [Some((ack(300).ack, ack(301).ack)), None, None, None];
    let sack = |segments| Segment { options: Options { sack: block, ..Options::NONE }, ..ack(segments) };
    let flags = |flags: Flags, segments| Segment { flags, ..ack(segments) };
    const ACK: Flags = Flags { ack: true, ..Flags::NONE };
    let yields = [EventKind::Kept, EventKind::Yields(bytes_at(257).0)];
    let cases: [(&str, Segment, &[EventKind]); 11] = [
        ("a repeat", ack(257), &yields),
        ("an older one", ack(250), &yields),
        ("a gap behind it", sack(257), &yields),
        ("a gap further on", sack(258), &yields[..1]),
        ("a mark", flags(Flags { ece: true, ..ACK }, 258), &yields[..1]),
        ("an answer to it", flags(Flags { cwr: true, ..ACK }, 258), &yields[..1]),
        ("data", Segment { payload: 10, ..ack(257) }, &yields[..1]),
        ("older data", Segment { payload: 10, ..ack(256) }, &yields),
        ("the end", flags(Flags { fin: true, ..ACK }, 257), &yields[..1]),
        ("a reset", flags(Flags { rst: true, ..Flags::NONE }, 0), &yields[..1]),
        ("a new connection", flags(Flags { syn: true, ..Flags::NONE }, 0), &yields[..1]),
    ];
    for (what, segment, expected) in cases {
        let Some(mut bench) = bench(16) else { return };
        bench.under_way();
        bench.run(&ack(257));
        assert_eq!(bench.run(&segment), NEXT, "{what}");
        assert_eq!(bench.told(), expected, "{what}");
        if expected.len() > 1 {
            assert_eq!(bench.send(), NEXT, "{what}");
        }
        assert_eq!(bench.held(), None, "{what}");
        let ends = segment.flags.fin || segment.flags.rst;
        assert_eq!(bench.flows.get(&bench.key(), 0).is_err(), ends, "{what}");
        if ends || segment.flags.syn {
            assert_eq!(bench.run(&ack(258)), NEXT, "{what}: the first of its connection");
        }
    }
}

#[test]
fn what_yields_and_is_replaced_keeps_its_place() {
    let Some(mut bench) = bench(16) else { return };
    bench.under_way();
    bench.run(&ack(257));
    bench.run(&ack(257));
    // User space is not there yet, and a newer one comes.
    assert_eq!(bench.run(&ack(258)), KEPT);
    assert_eq!(bench.told(), [EventKind::Kept, EventKind::Yields(bytes_at(257).0)], "which is known to wait");
    assert_eq!(bench.held().map(|held| held.ack), Some(bytes_at(258).0));
}

#[test]
fn what_has_no_place_passes() {
    let Some(mut bench) = bench(2) else { return };
    let mut verdicts = Vec::new();
    for port in 1..=3 {
        bench.port = port;
        bench.under_way();
        verdicts.push(bench.run(&ack(257)));
    }
    assert_eq!(verdicts, [KEPT, KEPT, NEXT]);
    assert_eq!(bench.counter(NO_PLACE), 1);
    // It has passed: the next has to bring sixteen segments again.
    assert_eq!(bench.run(&ack(272)), NEXT, "no place for this one either");
    bench.port = 1;
    assert_eq!(bench.send(), NEXT);
    bench.port = 3;
    assert_eq!(bench.run(&ack(273)), KEPT, "there is a place again");
    // Longer than any place.
    bench.v6 = true;
    bench.under_way();
    let mut long = bench.build(&ack(257));
    long[6] = 60; // destination options
    long[5] += 64;
    long.splice(40..40, [&[6, 7][..], &[1; 62]].concat());
    assert!(
        meshpace_wire::parse(&long).is_ok_and(|read| read.segment == Segment { source_port: 3, ..ack(257) })
    );
    let before = bench.counter(NO_PLACE);
    assert_eq!((bench.run_bytes(&long), bench.counter(NO_PLACE)), (NEXT, before + 1));
}

#[test]
fn what_user_space_cannot_be_told_of_passes() {
    let Some(mut bench) = bench(8192) else { return };
    let mut kept = 0;
    // The ring has 128 KiB, an event 64 bytes with its head (kernel/bpf/ringbuf.c).
    for port in 1..=2_100 {
        bench.port = port;
        for n in [0, 16, 32, 48, 64, 80, 96, 112, 128] {
            bench.run(&ack(n));
        }
        kept += u64::from(bench.run(&ack(129)) == KEPT);
    }
    assert_eq!(bench.counter(LOST_EVENTS), 2_100 - kept);
    assert!((2_000..2_100).contains(&kept), "{kept}");
    assert_eq!(bench.held(), None, "the last one's");
    assert_eq!(bench.told().len() as u64, kept);
    assert_eq!(bench.run(&ack(146)), NEXT, "it brings sixteen segments since the one that passed");
    assert_eq!(bench.run(&ack(147)), KEPT);
}

#[test]
fn without_a_sign_of_life_everything_passes() {
    let Some(mut bench) = bench(16) else { return };
    bench.under_way();
    assert_eq!(bench.run(&ack(257)), KEPT);
    bench.act(LONG, LONG, Span::ZERO);
    let before = bench.counter(0);
    for n in 258..270 {
        assert_eq!(bench.run(&ack(n)), NEXT);
    }
    assert_eq!(bench.counter(0), before, "unread");
    bench.act(LONG, LONG, LONG);
    assert_eq!(bench.run(&ack(270)), KEPT, "and it goes on when there is one");
}

#[test]
fn what_waits_too_long_ends_the_trust_in_user_space() {
    let Some(mut bench) = bench(16) else { return };
    bench.under_way();
    bench.port = 9;
    bench.under_way();
    assert_eq!(bench.run(&ack(257)), KEPT);
    // It came two seconds before its deadline was over: nobody has sent it.
    let key = bench.key();
    let flow = c::ThinFlow::of_bytes(bench.flows.get(&key, 0).expect("known"));
    let at = bench.now().as_nanos() - LONG.as_nanos() - 2_000_000_000;
    bench.flows.insert(key, c::ThinFlow { at, ..flow }.to_bytes(), 0).expect("bpf");
    assert_eq!(bench.counter(LATE), 0);
    assert_eq!(bench.run(&ack(258)), NEXT);
    assert_eq!(bench.counter(LATE), 1);
    bench.port = 5_000;
    assert_eq!(bench.run(&ack(257)), NEXT, "nobody's acknowledgements are kept");
    bench.act(LONG, LONG, LONG);
    assert_eq!(bench.run(&ack(258)), KEPT, "until the next sign of life");
}

#[test]
fn a_connection_that_was_forgotten_begins_anew() {
    let Some(mut bench) = bench(16) else { return };
    bench.under_way();
    bench.run(&ack(257));
    let old = bench.held().expect("it waits");
    let key = bench.key();
    bench.flows.remove(&key).expect("it was known");
    assert_eq!(bench.run(&ack(260)), NEXT, "the first of its connection");
    assert_eq!(bench.held(), None, "and what waited is older");
    assert_eq!(bench.run_frame(&old.frame, SENT_MARK), KEPT);
    // The least recently seen goes first, and nothing is kept for it that nobody sends.
    bench.run(&ack(261));
    for port in 1..20_000 {
        bench.port = port;
        bench.run(&ack(0));
    }
    bench.port = 5_000;
    assert_eq!(bench.run(&ack(300)), NEXT);
}
