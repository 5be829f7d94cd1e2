//! Scripted acknowledgements, and any.

mod small;

use super::*;
use crate::{HookMaker, Hooked, Leaving, Met};
use alloc::vec::Vec;
use core::net::Ipv4Addr;
use meshpace_keys::Values;
use meshpace_tcp::{Flags, Options};
use meshpace_units::Seq;
use proptest::prelude::*;

const MSS: u32 = 1460;
const ENDS: [IpAddr; 2] = [IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1)), IpAddr::V4(Ipv4Addr::new(10, 0, 0, 2))];

fn ms(n: u64) -> Instant {
    Instant::ZERO + Span::from_millis(n)
}

/// A pure acknowledgement of so many segments, counted across the wrap of sequence numbers.
fn ack(segments: u32) -> Segment {
    let flags = Flags { ack: true, ..Flags::NONE };
    Segment { ack: Seq(u32::MAX - 20_000) + segments * MSS, flags, ..Segment::new(1, 2, Seq(7)) }
}

/// The filter with all that it holds, which names packets by number.
struct Filter(Hooked<u32>);

impl Filter {
    fn new() -> Self {
        let hook = HookMaker::new(&PART, Values::defaults(PART.about.keys())).hook().expect("a hook");
        Self(Hooked::new(hook, 1_000))
    }

    /// A connection that has acknowledged so much that sixteen segments wait.
    fn under_way() -> Self {
        let mut filter = Self::new();
        filter.opens(0);
        filter
    }

    /// Acknowledgements, all with this window field, until sixteen segments wait.
    fn opens(&mut self, window: u16) {
        for n in 0..=16 {
            self.at(n, 16 * n as u32, Segment { window, ..ack(16 * n as u32) });
        }
    }

    /// The packets that go on and those that are dropped once this packet has come.
    fn at(&mut self, at: u64, name: u32, segment: Segment) -> (Vec<u32>, Vec<u32>) {
        self.with_more(at, name, segment, false)
    }

    /// The same, of a packet whose header may say what a segment has no field for.
    fn with_more(&mut self, at: u64, name: u32, segment: Segment, says_more: bool) -> (Vec<u32>, Vec<u32>) {
        let passing = Passing {
            source: ENDS[0],
            destination: ENDS[1],
            segment: Some(&segment),
            says_more,
            length: Bytes(40),
        };
        let met = self.0.handle(ms(at), Direction::Along, &passing, name);
        let mut out = self.drain();
        match met {
            Met::Passes(name, _) => out.0.push(name),
            Met::Held => {}
            Met::Dropped(name) => out.1.push(name),
        }
        out
    }

    fn until(&mut self, at: u64) -> (Vec<u32>, Vec<u32>) {
        self.0.handle_timeout(ms(at));
        self.drain()
    }

    fn drain(&mut self) -> (Vec<u32>, Vec<u32>) {
        let (mut passed, mut dropped) = (Vec::new(), Vec::new());
        while let Some(leaving) = self.0.poll() {
            match leaving {
                Leaving::Passes(name, _) => passed.push(name),
                Leaving::Dropped(name) => dropped.push(name),
            }
        }
        (passed, dropped)
    }
}

/// Only these go on, and none is dropped.
fn passes(names: &[u32]) -> (Vec<u32>, Vec<u32>) {
    (names.to_vec(), Vec::new())
}

/// Nothing goes on, and this is dropped for one that waits in its place.
fn replaces(names: &[u32]) -> (Vec<u32>, Vec<u32>) {
    (Vec::new(), names.to_vec())
}

#[test]
fn one_passes_for_sixteen_segments() {
    let mut filter = Filter::under_way();
    assert_eq!(filter.at(20, 258, ack(258)), passes(&[]));
    for n in 1..7 {
        assert_eq!(
            filter.at(20 + n, 258 + 2 * n as u32, ack(258 + 2 * n as u32)),
            replaces(&[256 + 2 * n as u32])
        );
    }
    assert_eq!(filter.at(30, 272, ack(272)), (Vec::from([272]), Vec::from([270])));
    assert_eq!(filter.until(1_000), passes(&[]), "nothing is left behind");
}

#[test]
fn one_passes_200_ms_after_the_last() {
    let mut filter = Filter::under_way();
    assert_eq!(filter.at(115, 257, ack(257)), passes(&[]));
    assert_eq!(filter.at(214, 258, ack(258)), replaces(&[257]));
    assert_eq!(filter.at(216, 259, ack(259)), (Vec::from([259]), Vec::from([258])));
}

#[test]
fn the_newest_passes_after_a_tenth_of_a_second_of_silence() {
    let mut filter = Filter::under_way();
    filter.at(20, 257, ack(257));
    assert_eq!(filter.at(50, 258, ack(258)), replaces(&[257]));
    assert_eq!(filter.until(149), passes(&[]));
    assert_eq!(filter.until(150), passes(&[258]));
    // What comes so seldom does not wait: a second filter on the way adds nothing.
    assert_eq!(filter.at(150, 259, ack(259)), passes(&[259]));
    assert_eq!(filter.at(250, 260, ack(260)), passes(&[260]));
    assert_eq!(filter.at(349, 261, ack(261)), passes(&[]));
}

#[test]
fn at_first_and_after_a_pause_many_pass() {
    let mut filter = Filter::new();
    let passed = |filter: &mut Filter, at: u64, from: u32| -> Vec<u32> {
        (0..40).flat_map(|n| filter.at(at + u64::from(n), from + n, ack(from + n)).0).collect()
    };
    // An eighth of what was acknowledged after the first: more than a segment from the tenth on, then more and more.
    let first = passed(&mut filter, 0, 1);
    assert_eq!(first, [1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 13, 15, 17, 20, 23, 27, 31, 36]);
    filter.until(300);
    assert_eq!(passed(&mut filter, 1_000, 41)[..4], [41, 42, 43, 44]);
}

#[test]
fn what_says_more_passes_behind_what_waits() {
    let block = [Some((ack(300).ack, ack(301).ack)), None, None, None];
    let more: [(&str, Segment); 6] = [
        ("a duplicate", ack(257)),
        ("an older one", ack(250)),
        ("a gap", Segment { options: Options { sack: block, ..Options::NONE }, ..ack(258) }),
        ("a mark", Segment { flags: Flags { ece: true, ack: true, ..Flags::NONE }, ..ack(258) }),
        ("data", Segment { payload: 10, ..ack(258) }),
        ("the end", Segment { flags: Flags { fin: true, ack: true, ..Flags::NONE }, ..ack(258) }),
    ];
    for (what, segment) in more {
        let mut filter = Filter::under_way();
        filter.at(20, 257, ack(257));
        assert_eq!(filter.at(21, 1_000, segment), passes(&[257, 1_000]), "{what}");
        assert_eq!(filter.until(1_000), passes(&[]), "{what}");
    }
}

#[test]
fn what_a_segment_has_no_field_for_passes_behind_what_waits() {
    let mut filter = Filter::under_way();
    filter.at(20, 257, ack(257));
    assert_eq!(filter.with_more(21, 258, ack(258), true), passes(&[257, 258]));
    assert_eq!(filter.at(22, 259, ack(259)), passes(&[]), "and it is the newest that has passed");
}

#[test]
fn a_window_that_closes_or_opens_passes_in_place_of_what_waits() {
    let window = |segments: u32, window: u16| Segment { window, ..ack(segments) };
    let mut filter = Filter::new();
    filter.opens(1_000);
    // Half and twice are neither: a receiver that reads on offers a little more or less with each.
    assert_eq!(filter.at(20, 257, window(257, 500)), passes(&[]));
    assert_eq!(filter.at(21, 258, window(258, 2_000)), replaces(&[257]));
    assert_eq!(filter.at(22, 259, window(259, 499)), (Vec::from([259]), Vec::from([258])));
    assert_eq!(filter.at(23, 260, window(260, 0)), passes(&[260]));
    assert_eq!(filter.at(24, 261, window(261, 0)), passes(&[]));
    assert_eq!(filter.at(25, 262, window(262, 1)), (Vec::from([262]), Vec::from([261])));
    // Against the one that has passed, however little each says.
    assert_eq!(filter.at(26, 263, window(263, 2)), passes(&[]));
    assert_eq!(filter.at(27, 264, window(264, 3)), (Vec::from([264]), Vec::from([263])));
}

#[test]
fn a_connection_between_the_same_ports_begins_anew_with_its_syn() {
    let mut filter = Filter::under_way();
    filter.at(20, 257, ack(257));
    let syn = Segment { flags: Flags { syn: true, ..Flags::NONE }, ..ack(0) };
    assert_eq!(filter.at(21, 1_000, syn), passes(&[257, 1_000]));
    assert_eq!(filter.at(22, 258, ack(258)), passes(&[258]), "the first of its connection");
}

#[test]
fn each_way_of_each_connection_is_by_itself() {
    let mut filter = Filter::under_way();
    filter.at(20, 257, ack(257));
    let other = Segment { source_port: 9, ..ack(1) };
    assert_eq!(filter.at(21, 1, other), passes(&[1]), "the first of its connection");
    let segment = ack(258);
    let back = Passing {
        source: ENDS[1],
        destination: ENDS[0],
        segment: Some(&segment),
        says_more: false,
        length: Bytes(40),
    };
    assert_eq!(
        filter.0.handle(ms(22), Direction::Along, &back, 2),
        Met::Passes(2, crate::Rewrite::default())
    );
    assert_eq!(filter.until(120), passes(&[257]));
}

#[test]
fn what_goes_to_the_internet_passes() {
    let mut filter = Filter::under_way();
    let segment = ack(257);
    let passing = Passing {
        source: ENDS[0],
        destination: ENDS[1],
        segment: Some(&segment),
        says_more: false,
        length: Bytes(40),
    };
    for (direction, passes) in [(Direction::Down, false), (Direction::Up, true)] {
        let met = filter.0.handle(ms(20), direction, &passing, 257);
        assert_eq!(met != Met::Held, passes, "{direction:?}");
    }
}

proptest! {
    /// Every packet comes out once, in the end the newest acknowledgement has passed, and never later than the tail.
    #[test]
    fn nothing_that_is_said_is_lost(
        told in proptest::collection::vec((0u64..300, 0u32..40, proptest::bool::weighted(0.1)), 1..200)
    ) {
        let mut filter = Filter::new();
        let (mut now, mut segments, mut out) = (0, 0, (Vec::new(), Vec::new()));
        let mut came = Vec::new();
        for (name, (gap, more, repeated)) in (0..).zip(told) {
            now += gap;
            let (passed, dropped) = filter.until(now);
            out.0.extend(passed);
            out.1.extend(dropped);
            segments += if repeated { 0 } else { more };
            came.push(segments);
            let (passed, dropped) = filter.at(now, name, ack(segments));
            out.0.extend(passed);
            out.1.extend(dropped);
        }
        let (passed, dropped) = filter.until(now + 100);
        out.0.extend(passed);
        out.1.extend(dropped);
        let newest = out.0.iter().map(|name| came[*name as usize]).max();
        prop_assert_eq!(newest, came.iter().copied().max());
        prop_assert!(out.0.windows(2).all(|pair| pair[0] < pair[1]), "in order: {:?}", out.0);
        let mut all: Vec<u32> = out.0.into_iter().chain(out.1).collect();
        all.sort_unstable();
        prop_assert_eq!(all, Vec::from_iter(0..came.len() as u32));
    }

    /// A receiver that splits its acknowledgements gets no more of them through than one that does not: at most one for sixteen segments,
    /// one each 200 ms, and those of the beginning.
    #[test]
    fn parts_of_acknowledgements_are_thinned_like_whole_ones(
        parts in 1u32..100, segments in 200u32..600, gap in 1u64..40
    ) {
        let mut filter = Filter::under_way();
        let whole = |n: u32, part: u32| Segment { ack: ack(256 + n).ack + part * (MSS / parts), ..ack(0) };
        let mut passed = 0;
        for n in 0..segments {
            let now = 17 + u64::from(n) * gap;
            passed += filter.until(now).0.len();
            passed += (1..=parts).map(|part| filter.at(now, n, whole(n, part)).0.len()).sum::<usize>();
        }
        let span = u64::from(segments) * gap;
        let most = segments as usize / 16 + usize::try_from(span / 200).expect("few") + 2;
        prop_assert!(passed <= most, "{passed}, {most} at most");
    }
}
