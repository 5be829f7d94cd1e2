//! `minstrel-ht` on links whose modes arrive as often as said, beside the kernel's on the same links (`make test-vm`).
//!
//! `minstrel cases COUNT` prints links, a line each: the share of frames that arrive in each of MCS 0 to 15 with the long guard interval, then with the
//! short one. `minstrel rates SEED <CASES` prints what our rate control gives frames in the end, one of 1,200 bytes every millisecond for
//! three seconds a link: four rates, each as MCS, guard interval and attempts. `minstrel judge RATES RATES` prints how many lines two such
//! files have, and in how many of them the first, second, third and fourth rate is the same.

use meshpace_keys::{Setting, Values};
use meshpace_radio::rate_control::{Ask, Exchange, RateControl, Series, Site, named, usable};
use meshpace_radio::standard::{Mode, STANDARDS};
use meshpace_radio::{Peer, Priority};
use meshpace_units::random::Stream;
use meshpace_units::{Bytes, Instant, NodeId, Span};
use std::collections::BTreeMap;
use std::io::stdin;
use std::process::exit;

const STREAMS: u8 = 2;
const GUARDS: [&str; 2] = ["800ns", "400ns"];
const TO: Peer = Peer { node: NodeId(1), priority: Priority::BEST_EFFORT };

/// Frames of a link, a millisecond each; of these the last.
const FRAMES: u32 = 3_000;
const LAST: u32 = 500;
/// Bytes of a frame: 1,200 and what is around them.
const FRAME: Bytes = Bytes(1_238);
/// What two streams lose against one, dB: half of the power each.
const A_STREAM: f64 = 3.0;
/// What a shorter guard interval loses, dB: echoes that outlast it.
const SHORT_GUARD: f64 = 0.5;

/// By so much the best rate of a link is to be worth more than every other: where two are worth the same, luck decides, here and there.
const LEAD: f64 = 1.05;
/// What a frame costs beside its payload, s, and what of it counts as arriving at the most (`minstrel_ht_get_tp_avg`).
const OVERHEAD: f64 = 108e-6;
const MOST: f64 = 0.9;

/// Links of 6 to 32 dB, whose frames are lost by their modes' error curves; of those that are drawn the ones with a best rate.
fn print_cases(count: usize) {
    let modes = modes();
    let mut draws = Stream::new(1, "minstrel cases", 0);
    let links = std::iter::from_fn(|| Some(shares(&modes, draws.uniform(6.0, 32.0))));
    for shares in links.filter(|shares| has_best(&modes, shares)).take(count) {
        println!("{}", shares.iter().map(|share| format!("{share:.4}")).collect::<Vec<_>>().join(" "));
    }
}

/// What arrives in each mode over a link.
fn shares(modes: &[&'static Mode], decibel: f64) -> Vec<f64> {
    let share = |(at, mode): (usize, &&'static Mode)| {
        let streams = A_STREAM * f64::from(mode.streams() - 1);
        let left = decibel - streams - SHORT_GUARD * (at / 16) as f64;
        let ln_success = mode.coding.ln_success(libm::pow(10.0, left / 10.0));
        libm::exp(ln_success * FRAME.0 as f64 * 8.0)
    };
    modes.iter().enumerate().map(share).collect()
}

/// True if one rate leads. Modes of one rate are one.
fn has_best(modes: &[&'static Mode], shares: &[f64]) -> bool {
    let worth = |at: &usize| {
        let rate = modes[*at].rate.as_bits_per_sec() as f64;
        shares[*at].min(MOST) / (OVERHEAD + 9_600.0 / rate)
    };
    let best = (0..modes.len()).max_by(|a, b| worth(a).total_cmp(&worth(b)));
    let Some(best) = best else { return false };
    let others = (0..modes.len()).filter(|at| modes[*at].rate != modes[best].rate);
    others.map(|at| worth(&at)).fold(0.0, f64::max) * LEAD < worth(&best)
}

/// Of two files of rates, line by line: in how many lines each of the four stages has the same rate.
fn judge(files: [&str; 2]) {
    let modes = modes();
    let read = |file: &str| -> Vec<Vec<u64>> {
        let text = std::fs::read_to_string(file).unwrap_or_else(|error| panic!("{file}: {error}"));
        text.lines().map(|line| line.split(' ').map(|stage| rate(&modes, stage)).collect()).collect()
    };
    let [ours, theirs] = files.map(read);
    let same = |stage: usize| {
        ours.iter()
            .zip(&theirs)
            .filter(|(a, b)| a.get(stage).is_some_and(|rate| b.get(stage) == Some(rate)))
            .count()
    };
    println!("{} {} {} {} {}", theirs.len(), same(0), same(1), same(2), same(3));
}

/// The bit/s of a stage as it is printed; 0: none of ours.
fn rate(modes: &[&'static Mode], stage: &str) -> u64 {
    let mut words = stage.split('/');
    let index = words.next().and_then(|word| word.parse::<usize>().ok());
    let short = usize::from(words.next() == Some("short"));
    index.and_then(|index| modes.get(16 * short + index)).map_or(0, |mode| mode.rate.as_bits_per_sec())
}

/// The modes of two streams with both guard intervals.
fn modes() -> Vec<&'static Mode> {
    let part = STANDARDS.iter().find(|part| part.about.word == "802.11n");
    let part = part.unwrap_or_else(|| panic!("no 802.11n"));
    let of = |guard: &&str| {
        let given =
            [("guard_interval", Setting::Text((*guard).into())), ("streams", Setting::Whole(STREAMS.into()))];
        let defaults = part.about.defaults();
        let kept = defaults.iter().filter(|(key, _)| *key != "guard_interval");
        let values: Vec<_> = kept.map(|(key, value)| (key, value.clone())).chain(given).collect();
        let standard = (part.build)(&Values::new(values)).unwrap_or_else(|refused| panic!("{refused:?}"));
        usable(&standard, standard.default_mode)
    };
    GUARDS.iter().flat_map(of).collect()
}

/// Which of a line's shares a mode has.
fn place(modes: &[&'static Mode], mode: &Mode) -> usize {
    // Modes of one number differ by their guard interval, and with it by their rate.
    let found = modes.iter().position(|other| *other == mode);
    found.unwrap_or_else(|| panic!("not among ours: {mode:?}"))
}

fn shown(modes: &[&'static Mode], series: &Series) -> String {
    let stage = |stage: &meshpace_radio::rate_control::Stage| {
        let place = place(modes, stage.mode);
        format!("{}/{}/{}", place % 16, if place < 16 { "long" } else { "short" }, stage.tries)
    };
    series.stages().iter().map(stage).collect::<Vec<_>>().join(" ")
}

fn print_rates(seed: u64) {
    let modes = modes();
    let stream = Stream::new(seed, "rates", 0);
    // mac80211_hwsim's `max_rate_tries`.
    let site = Site { values: &Values::default(), modes: modes.clone(), tries: 11, stream };
    let part = named("minstrel-ht").unwrap_or_else(|| panic!("no minstrel-ht"));
    let mut control = (part.build.make)(site).unwrap_or_else(|| panic!("it makes none"));
    let (mut now, mut draws) = (Instant::ZERO, Stream::new(seed, "losses", 0));
    for (number, line) in stdin().lines().enumerate() {
        let line = line.unwrap_or_else(|error| panic!("line {}: {error}", number + 1));
        let shares: Vec<f64> = line.split_whitespace().filter_map(|word| word.parse().ok()).collect();
        if shares.len() != modes.len() {
            eprintln!("line {}: {} shares instead of {}", number + 1, shares.len(), modes.len());
            exit(2);
        }
        // As the medium of the kernel's: what most of the last half second's frames were given.
        let mut given = BTreeMap::new();
        for number in 0..FRAMES {
            now += Span::from_millis(1);
            let series = frame(now, control.as_mut(), |mode| draws.unit() < shares[place(&modes, mode)]);
            if number >= FRAMES - LAST {
                *given.entry(shown(&modes, &series)).or_insert(0) += 1;
            }
        }
        let most = given.iter().max_by_key(|(_, count)| **count);
        println!("{}", most.map_or("", |(shown, _)| shown));
    }
}

/// One frame, down its stages until it arrives.
fn frame(now: Instant, control: &mut dyn RateControl, mut arrives: impl FnMut(&Mode) -> bool) -> Series {
    let series = control.series(now, &Ask { to: TO.node, mpdu: FRAME, ratio: &|| None });
    let tries: u32 = series.stages().iter().map(|stage| u32::from(stage.tries)).sum();
    for failed in 0..tries {
        let mode = series.mode(failed);
        let arrived = arrives(mode);
        control.ended(now, &Exchange { to: TO, mode, sent: 1, acknowledged: arrived.into() });
        if arrived {
            break;
        }
    }
    series
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["cases", count] if count.parse::<usize>().is_ok() => print_cases(count.parse().unwrap_or(0)),
        ["judge", ours, theirs] => judge([ours, theirs]),
        ["rates", seed] if seed.parse::<u64>().is_ok() => print_rates(seed.parse().unwrap_or(0)),
        _ => {
            eprintln!(
                "usage: minstrel cases COUNT | minstrel rates SEED <CASES | minstrel judge RATES RATES"
            );
            exit(2);
        }
    }
}
