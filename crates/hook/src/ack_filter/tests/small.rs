//! Windows of less than sixteen segments: a receiver's, by what it announces; a sender's, by what waits for its tail.

extern crate std;

use super::*;
use alloc::collections::VecDeque;
use std::println;

fn syn(window_scale: Option<u8>) -> Segment {
    let flags = Flags { syn: true, ..Flags::NONE };
    Segment { flags, window: u16::MAX, options: Options { window_scale, ..Options::NONE }, ..ack(0) }
}

/// The segments of an acknowledgement that passes, of those that come one by one after the 256th, in one instant.
fn first_that_passes(filter: &mut Filter, window: u16) -> u32 {
    let passes = |n: &u32| !filter.at(20, 256 + n, Segment { window, ..ack(256 + n) }).0.is_empty();
    (1..100).find(passes).expect("one passes")
}

#[test]
fn half_of_a_receivers_window_passes_where_its_scale_was_seen() {
    // 8 segments, by the scale that its SYN told, or without one.
    for (scale, window, segments) in [
        (Some(3), 1_460, 4),
        (Some(4), 730, 4),
        (None, 11_680, 4),
        (Some(0), 11_680, 4),
        (Some(7), 1_460, 16),
        // RFC 7323, section 2.3: more than 14 is 14.
        (Some(255), 1, 6),
        (None, 0, 1),
        (None, 2_920, 1),
        (None, 2_922, 2),
    ] {
        let mut filter = Filter::new();
        assert_eq!(filter.at(0, 1_000, syn(scale)), passes(&[1_000]));
        filter.opens(window);
        assert_eq!(first_that_passes(&mut filter, window), segments, "{scale:?} {window}");
    }
}

#[test]
fn window_fields_of_an_unknown_scale_say_nothing_of_its_size() {
    let mut filter = Filter::new();
    filter.opens(1_460);
    assert_eq!(first_that_passes(&mut filter, 1_460), 16);
    // Nor does the scale of the connection before between the same ports.
    let mut filter = Filter::new();
    filter.at(0, 1_000, syn(Some(3)));
    filter.at(0, 1_001, Segment { flags: Flags { rst: true, ..Flags::NONE }, ..ack(0) });
    filter.opens(1_460);
    assert_eq!(first_that_passes(&mut filter, 1_460), 16);
}

#[test]
fn the_window_that_counts_is_the_one_that_its_sender_knows() {
    let mut filter = Filter::new();
    filter.at(0, 1_000, syn(None));
    filter.opens(11_680);
    let later = |n: u32, window: u16| Segment { window, ..ack(256 + n) };
    assert_eq!(filter.at(20, 257, later(1, 20_000)), passes(&[]));
    assert_eq!(filter.at(21, 258, later(2, 20_000)), replaces(&[257]));
    assert_eq!(filter.at(22, 259, later(3, 20_000)), replaces(&[258]));
    assert_eq!(filter.at(23, 260, later(4, 20_000)), (Vec::from([260]), Vec::from([259])), "by 8 segments");
    for n in 5..=10 {
        assert!(filter.at(24, 256 + n, later(n, 20_000)).0.is_empty(), "{n}");
    }
    assert_eq!(filter.at(25, 267, later(11, 20_000)), (Vec::from([267]), Vec::from([266])), "by 13.7");
}

/// Twice in a row the newest waits for its tail, at 120 and at 301 ms: it brings 8 segments, then 6, the 271st the last.
fn found_small() -> Filter {
    let mut filter = Filter::under_way();
    filter.at(20, 264, ack(264));
    assert_eq!(filter.until(120), passes(&[264]));
    assert_eq!(filter.at(200, 265, ack(265)), passes(&[265]), "after such a silence");
    filter.at(201, 271, ack(271));
    assert_eq!(filter.until(301), passes(&[271]));
    filter
}

/// How many segments one has to bring a millisecond after `now`, where `from` has passed and nothing came for a tail and less than four.
fn counts(filter: &mut Filter, now: u64, from: u32) -> u32 {
    assert_eq!(filter.at(now, from + 1, ack(from + 1)), passes(&[from + 1]), "after such a silence");
    let passes = |n: &u32| !filter.at(now + 1, from + 1 + n, ack(from + 1 + n)).0.is_empty();
    (1..100).find(passes).expect("one passes")
}

#[test]
fn two_tails_in_a_row_find_a_senders_window_and_half_of_it_passes() {
    let mut filter = found_small();
    assert_eq!(counts(&mut filter, 350, 271), 4, "of 8 and 6");
    // It gets smaller as long as nothing passes by its count.
    filter.at(352, 277, ack(277));
    assert_eq!(filter.until(452), passes(&[277]));
    filter.at(480, 278, ack(278));
    filter.at(481, 280, ack(280));
    assert_eq!(filter.until(581), passes(&[280]));
    assert_eq!(counts(&mut filter, 700, 280), 1, "of 1 and 2");
}

/// Where `from` have passed, one more comes every 300 ms, and passes; the last more than a tail before `until`. How many have passed then.
fn now_and_then(filter: &mut Filter, began: u64, until: u64, from: u32) -> u32 {
    (began..until - 100).step_by(300).zip(from + 1..).fold(from, |_, (at, n)| {
        assert_eq!(filter.at(at, n, ack(n)), passes(&[n]), "after such a silence");
        n
    })
}

#[test]
fn a_window_that_was_found_small_is_tried_again_after_8_tails() {
    // Found by what came at 201 ms.
    for (now, segments) in [(999, 4), (1_000, 16)] {
        let mut filter = found_small();
        let from = now_and_then(&mut filter, 500, now, 271);
        assert_eq!(counts(&mut filter, now, from), segments, "{now}");
    }
}

#[test]
fn one_that_is_found_again_soon_counts_for_twice_as_long() {
    // At 1,101 ms, 900 after it was found first; it counts for 1,600. At 10,001 the first time is long ago.
    for (at, now, segments) in
        [(1_100, 2_699, 3), (1_100, 2_700, 16), (10_000, 10_799, 3), (10_000, 10_800, 16)]
    {
        let mut filter = found_small();
        let from = now_and_then(&mut filter, 500, at, 271);
        filter.at(at, from + 1, ack(from + 1));
        filter.at(at + 1, from + 7, ack(from + 7));
        assert_eq!(filter.until(at + 101), passes(&[from + 7]));
        let from = now_and_then(&mut filter, at + 300, now, from + 7);
        assert_eq!(counts(&mut filter, now, from), segments, "{now}");
    }
}

#[test]
fn tails_with_something_that_passed_between_them_find_nothing() {
    // By its count; 200 ms after the last, while others come.
    for between in [&[(200, 265), (201, 281)][..], &[(200, 265), (290, 266), (380, 267), (410, 268)]] {
        let mut filter = Filter::under_way();
        filter.at(20, 264, ack(264));
        assert_eq!(filter.until(120), passes(&[264]));
        for (at, n) in between {
            filter.at(*at, *n, ack(*n));
        }
        let (at, n) = between[between.len() - 1];
        assert_eq!(filter.at(at + 1, n + 4, ack(n + 4)), passes(&[]));
        assert_eq!(filter.until(at + 101), passes(&[n + 4]));
        assert_eq!(counts(&mut filter, at + 200, n + 4), 16);
    }
}

/// A sender with a window, a path of so many ms there and back, a receiver that acknowledges every second segment, and the filter at the
/// receiver. Segments that arrive one a millisecond, in 20 s; acknowledgements that pass.
fn transfer(window: u32, there_and_back: u64, filtered: bool) -> (u32, u32) {
    let mut filter = Filter::new();
    let (mut sent, mut known, mut arrived, mut passed) = (0, 0, 0, 0);
    let mut on_the_way: VecDeque<u64> = VecDeque::new();
    let mut back: VecDeque<(u64, u32)> = VecDeque::new();
    for now in 0..20_000 {
        while back.front().is_some_and(|(at, _)| *at <= now) {
            known = known.max(back.pop_front().expect("it is there").1);
        }
        while sent < known + window {
            sent += 1;
            let after = on_the_way.back().map_or(0, |last| last + 1);
            on_the_way.push_back((now + there_and_back / 2).max(after));
        }
        let mut passing = filter.until(now).0;
        if on_the_way.front().is_some_and(|at| *at <= now) {
            on_the_way.pop_front();
            arrived += 1;
            if arrived % 2 == 0 {
                let met = filter.at(now, arrived, ack(arrived)).0;
                passing.extend(if filtered { met } else { Vec::from([arrived]) });
            }
        }
        passed += passing.len() as u32;
        back.extend(passing.into_iter().map(|n| (now + there_and_back / 2, n)));
    }
    (arrived, passed)
}

#[test]
fn a_small_window_is_not_held_up_and_a_large_one_is_thinned() {
    for there_and_back in [10, 40, 90, 150, 300] {
        for window in [2, 4, 8, 10, 14] {
            let (free, _) = transfer(window, there_and_back, false);
            let (held, _) = transfer(window, there_and_back, true);
            println!("{window} segments over {there_and_back} ms: {held} of {free} arrive");
            assert!(2 * held > free, "{window} segments over {there_and_back} ms: {held} of {free}");
        }
        for window in [64, 512] {
            let (arrived, passed) = transfer(window, there_and_back, true);
            // One for sixteen segments, one at the end of what the window lets go, and those of the beginning.
            let flights = 20_000 / there_and_back as u32;
            assert!(
                passed < arrived / 16 + flights + 60,
                "{window} over {there_and_back} ms: {passed} of {arrived}"
            );
        }
    }
}
