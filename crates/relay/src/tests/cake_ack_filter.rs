//! Acknowledgements that wait, and newer ones.

use super::{Bench, entering, packet, radio};
use crate::packet::{Body, Class, Handle, Packet};
use meshpace_keys::Setting;
use meshpace_tcp::{Flags, Options, Segment, Timestamps};
use meshpace_units::Seq;

fn filter(aggressive: bool) -> Bench {
    Bench::with("cake-ack-filter", &radio(50), &[("cake_aggressive", Setting::Flag(aggressive))])
}

/// A pure acknowledgement of a connection, counted across the wrap of sequence numbers.
fn ack(of: u16, number: u32) -> Segment {
    let flags = Flags { ack: true, ..Flags::NONE };
    Segment { ack: Seq(u32::MAX - 3) + number, flags, ..Segment::new(of, 80, Seq(7)) }
}

fn tcp(segment: Segment) -> Packet {
    let mut carrier = entering(3, Class::Ack, packet(1, 1, 40));
    carrier.body = Body::Tcp(segment);
    carrier
}

impl Bench {
    fn tcp(&mut self, segment: Segment) -> Handle {
        self.put(tcp(segment))
    }
}

/// With blocks of what arrived.
fn sack(number: u32, blocks: &[(u32, u32)]) -> Segment {
    let mut segment = ack(1, number);
    for (place, (left, right)) in segment.options.sack.iter_mut().zip(blocks) {
        *place = Some((Seq(u32::MAX - 3) + *left, Seq(u32::MAX - 3) + *right));
    }
    segment
}

/// ```text
/// waits   1   1 2   2 3   3 4      one waits behind the newest at most
/// drops       -     1     2
/// ```
#[test]
fn the_first_of_two_that_wait_goes_when_a_third_comes() {
    let mut bench = filter(false);
    let all: Vec<_> = (1..=4).map(|number| bench.tcp(ack(1, number))).collect();
    assert_eq!(bench.dropped, all[..2]);
    assert_eq!(bench.drain(), all[2..]);
}

#[test]
fn aggressively_one_alone_goes_for_a_newer_one() {
    let mut bench = filter(true);
    let all: Vec<_> = (1..=4).map(|number| bench.tcp(ack(1, number))).collect();
    assert_eq!(bench.dropped, all[..3]);
    assert_eq!(bench.drain(), all[3..]);
}

#[test]
fn a_connection_s_own_alone_count_and_others_keep_their_places() {
    let mut bench = filter(false);
    let first = bench.tcp(ack(1, 1));
    let (data, other) = (bench.data(), bench.tcp(ack(2, 1)));
    let second = bench.tcp(ack(1, 2));
    assert_eq!(bench.dropped, []);
    let third = bench.tcp(ack(1, 3));
    assert_eq!(bench.dropped, [first]);
    let mut back = tcp(ack(80, 9));
    std::mem::swap(&mut back.source, &mut back.destination);
    let back = bench.put(back);
    assert_eq!(bench.drain(), [data, other, second, third, back]);
}

/// Each between two that could go: it stays, whatever comes.
#[test]
fn what_tells_more_stays() {
    let with = |change: fn(&mut Segment)| {
        let mut segment = ack(1, 2);
        change(&mut segment);
        segment
    };
    let kept = [
        with(|segment| segment.payload = 1),
        with(|segment| segment.flags.fin = true),
        with(|segment| segment.flags.psh = true),
        with(|segment| segment.options.mss = Some(1460)),
        with(|segment| segment.options.timestamps = Some(Timestamps { value: 6, echo: 1 })),
        with(|segment| segment.ack = ack(1, 200).ack),
    ];
    for segment in kept {
        let mut bench = filter(false);
        let stays = bench.tcp(segment);
        let stamped = |number| {
            let timestamps = Some(Timestamps { value: 5, echo: 1 });
            Segment { options: Options { timestamps, ..Options::NONE }, ..ack(1, number) }
        };
        (3..100).for_each(|number| {
            bench.tcp(stamped(number));
        });
        assert_eq!(bench.drain().len(), 3, "it, one that waits, and the newest: {segment:?}");
        assert!(!bench.dropped.contains(&stays), "{segment:?}");
    }
}

#[test]
fn repeated_ones_stay_and_blocks_go_only_where_the_newest_has_them_and_more() {
    let run = |segments: &[Segment]| {
        let mut bench = filter(false);
        let all: Vec<_> = segments.iter().map(|segment| bench.tcp(*segment)).collect();
        let dropped =
            bench.dropped.iter().map(|gone| all.iter().position(|one| one == gone).expect("of these"));
        dropped.collect::<Vec<_>>()
    };
    assert_eq!(run(&[ack(1, 5); 6]), [], "the sender counts them");
    let grows = [10, 20, 30, 40].map(|right| sack(5, &[(8, right)]));
    assert_eq!(run(&grows), [0, 1]);
    assert_eq!(
        run(&[sack(5, &[(8, 10)]), sack(5, &[(12, 14)]), sack(5, &[(16, 18)])]),
        [],
        "each tells of its own"
    );
    let again = sack(5, &[(2, 4)]);
    assert_eq!(run(&[again, again, sack(6, &[(2, 4), (8, 90)])]), [], "what came twice nobody else tells");
    assert_eq!(
        run(&[sack(5, &[(8, 10)]), ack(1, 6), ack(1, 20)]),
        [],
        "the newest has no blocks: the hole is filled, but who knows"
    );
}

#[test]
fn a_change_of_the_echo_of_marks_arrives() {
    let marked = |number| {
        let mut segment = ack(1, number);
        segment.flags.ece = true;
        segment
    };
    let mut bench = filter(false);
    let plain: Vec<_> = (1..=2).map(|number| bench.tcp(ack(1, number))).collect();
    let echoes: Vec<_> = (3..=6).map(|number| bench.tcp(marked(number))).collect();
    assert_eq!(
        bench.drain(),
        [&plain[1..], &echoes[2..]].concat(),
        "the last without, and the newest with it"
    );
}
