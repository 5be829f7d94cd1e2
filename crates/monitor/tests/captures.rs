//! Whole files, made byte by byte: both formats, what is missing from them, and what is no capture at all.

use crate::common::{close, pcap, pcapng, report, ten};
use meshpace_monitor::{Error, Options, measure};
use meshpace_units::{Bytes, Span};
use proptest::prelude::*;

#[test]
fn both_formats_say_the_same() {
    let (old, new) = (report(&pcap(&ten())), report(&pcapng(&ten())));
    assert_eq!(old, new);
    let [link] = old.links[..] else { panic!("{old:?}") };
    assert_eq!((link.link.from, link.link.to, link.samples), (0x0200_0000_0001, 0x0200_0000_0002, 10));
    close(link.capacity, 7.605e6); // the vector of schemes.md 9.2
    // 2.294 of every 10 ms, and of the last one all of it.
    let busy = 22.94 / 92.294;
    close(old.busy, busy);
    close(link.available, 7.605e6 * (1.0 - busy));
    assert_eq!((old.partial, old.counts.frames, old.counts.radio_clock), (None, 40, true));
    assert_eq!((old.series.len(), old.series[0].samples), (1, 10));
}

#[test]
fn what_is_missing_is_made_up_for_or_left_out() {
    let without = |which: usize| {
        report(&pcap(
            &ten()
                .into_iter()
                .enumerate()
                .filter(|(at, _)| at % 4 != which)
                .map(|(_, f)| f)
                .collect::<Vec<_>>(),
        ))
    };
    for which in [0, 1] {
        let [link] = without(which).links[..] else { panic!("without frame {which}") };
        close(link.capacity, 7.605e6);
    }
    // No data or no acknowledgement: no capacity, and the reservations still count.
    for which in [2, 3] {
        let report = without(which);
        assert!(report.links.is_empty());
        assert!(report.busy > 0.2, "{}", report.busy);
    }
}

#[test]
fn a_frame_that_fails_its_check_takes_time_and_says_nothing() {
    for by_flag in [true, false] {
        let mut frames = ten();
        for (_, bytes) in frames.iter_mut().skip(2).step_by(4).take(5) {
            let at = if by_flag { 16 } else { 100 };
            bytes[at] ^= 0x40; // "failed its check sequence"; a bit of the data
        }
        let report = report(&pcap(&frames));
        assert_eq!((report.counts.bad, report.links[0].samples), (5, 5), "{by_flag}");
        close(report.busy, 22.94 / 92.294);
    }
}

#[test]
fn windows_make_a_series_and_short_packets_do_not() {
    let options = Options { window: Span::from_millis(50), ..Options::default() };
    let series = measure(&pcap(&ten())[..], &options).unwrap().series;
    let rows: Vec<_> = series.iter().map(|row| (row.at.as_secs_f64(), row.samples)).collect();
    assert_eq!(rows, [(0.05, 5), (0.092_294, 5)]);
    let strict = Options { least_payload: Bytes(1501), ..Options::default() };
    assert!(measure(&pcap(&ten())[..], &strict).unwrap().links.is_empty());
}

#[test]
fn a_block_shorter_than_its_own_header_ends_the_file() {
    // Of a kind that nobody knows: pcap-parser reads those in a way of their own.
    for (length, order) in
        [(0_u32, u32::to_le_bytes as fn(u32) -> [u8; 4]), (8, u32::to_le_bytes), (11, u32::to_be_bytes)]
    {
        let mut file = pcapng(&ten());
        file.extend([&0x0bad_u32.to_le_bytes()[..], &order(length), &[0; 32]].concat());
        let report = report(&file);
        assert_eq!(report.counts.frames, 40);
        let why = report.partial.expect("it breaks off");
        assert!(why.contains("shorter than its own header") && why.ends_with("after 40 frames"), "{why}");
    }
}

#[test]
fn a_file_that_breaks_off_is_partial_and_what_is_none_is_an_error() {
    for whole in [pcap(&ten()), pcapng(&ten())] {
        let report = report(&whole[..whole.len() - 700]);
        assert_eq!(report.links[0].samples, 9);
        let why = report.partial.expect("it breaks off");
        assert!(why.starts_with("the file ends within a frame, after 3"), "{why}");
    }
    let wrong = |file: &[u8]| measure(file, &Options::default()).expect_err("no capture");
    assert_eq!(wrong(b"hello, this is a text and not a capture"), Error::NoCapture);
    assert_eq!(
        (wrong(b""), wrong(&pcap(&[])), wrong(&pcap(&ten())[..30])),
        (Error::Empty, Error::Empty, Error::Empty)
    );
    let mut ethernet = pcap(&ten());
    ethernet[20] = 1;
    assert_eq!(
        wrong(&ethernet).to_string(),
        "found link type 1; allowed: 127, radiotap (a capture in monitor mode)"
    );
}

proptest! {
    /// Whatever is in the file: an end, and numbers that are numbers.
    #[test]
    fn nothing_in_a_file_makes_it_panic(changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..40), new in any::<bool>()) {
        let mut file = if new { pcapng(&ten()) } else { pcap(&ten()) };
        for (at, byte) in changes {
            let at = at.index(file.len());
            file[at] = byte;
        }
        if let Ok(report) = measure(&file[..], &Options::default()) {
            prop_assert!((0.0..=1.0).contains(&report.busy));
            for link in report.links {
                prop_assert!(link.capacity.is_finite() && link.capacity > 0.0 && link.available <= link.capacity);
            }
        }
    }
}
