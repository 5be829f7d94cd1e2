//! Against values worked by hand from the kernel's formulas, and in loops with links whose modes arrive as often as said.

use super::choice::Neighbour;
use super::groups::Rate;
use super::statistics::{ALL, FrameLength, Statistics};
use super::*;
use crate::category::{Peer, Priority};
use crate::rate_control::usable;
use crate::standard::Standard;
use meshpace_keys::{Setting, Values};
use meshpace_units::Bytes;
use meshpace_units::random::Stream;

fn standard(guard: &str, streams: u64) -> Standard {
    let part = crate::standard::STANDARDS.iter().find(|part| part.about.word == "802.11n").expect("a row");
    let defaults = part.about.defaults();
    let said = [("guard_interval", Setting::Text(guard.into())), ("streams", Setting::Whole(streams))];
    let kept = defaults.iter().filter(|(key, _)| *key != "guard_interval");
    let values = kept.map(|(key, value)| (key, value.clone())).chain(said);
    (part.build)(&Values::new(values.collect::<Vec<_>>())).expect("it stands")
}

fn control(guard: &str, streams: u64) -> MinstrelHt {
    let standard = standard(guard, streams);
    let modes = usable(&standard, standard.default_mode);
    MinstrelHt::new(Site { values: &Values::default(), modes, tries: 7, stream: Stream::new(3, "rates", 0) })
}

const fn rate(group: u8, index: u8) -> Rate {
    Rate { group, index }
}

/// 5,908 symbols of 26 bits have 16 packets of 1,200 bytes; 4 us each they take 1,477,000 ns a packet, which in 16 bits is kept by 32 ns.
#[test]
fn durations_are_those_of_the_kernels_table() {
    let of = |guard, group, index| control(guard, 2).common.groups.duration(rate(group, index));
    assert_eq!(of("800ns", 0, 0), 1_476_992);
    // 591 symbols of 260 bits: 147,750.
    assert_eq!(of("800ns", 0, 7), 147_744);
    // 3.6 us each: 133,025.
    assert_eq!(of("400ns", 0, 7), 133_024);
    // 2,954 symbols of 52 bits: 738,500, 20 bits long, which leave 4.
    assert_eq!(of("800ns", 1, 0), 738_496);
}

/// 3,072 = 3/4. Then 1/4: (1173 x 1024 + 5273 x 3072 - 2350 x 3072) / 4096 = 2485.5; then nothing, which counts as 1:
/// (1173 + 5273 x 2485 - 2350 x 3072) / 4096 = 1436.9.
#[test]
fn probabilities_are_filtered() {
    let mut statistics = Statistics::default();
    let mut interval = |attempts, successes| {
        (statistics.attempts, statistics.successes) = (attempts, successes);
        statistics.fold();
        statistics.probability
    };
    assert_eq!(interval(8, 6), 3_072);
    assert_eq!(interval(8, 2), 2_485);
    assert_eq!(interval(0, 0), 2_485, "nothing was sent, nothing is learnt");
    assert_eq!(interval(8, 0), 1_436);
    assert!((0..40).all(|_| (1..=ALL).contains(&interval(1, 1))));
    assert_eq!(interval(1, 1), ALL);
}

/// From 1: 10 MPDUs in two frames are 5 each: 1 + (5 - 1) / 4 = 2, then 2 + (10 - 2) / 4 = 4.
#[test]
fn frame_lengths_are_averaged() {
    let mut length = FrameLength::ONE;
    [4, 6].into_iter().for_each(|mpdus| length.note(mpdus));
    length.fold();
    assert_eq!(length.whole(), 2);
    length.note(10);
    length.fold();
    length.fold();
    assert_eq!(length.whole(), 4);
}

/// What a link of a loop does: which share of the MPDUs in each mode arrives. MPDUs arrive evenly.
struct Link {
    control: MinstrelHt,
    now: Instant,
    arrives: Vec<(f64, f64)>,
}

const TO: Peer = Peer { node: NodeId(1), priority: Priority::BEST_EFFORT };

impl Link {
    fn new(streams: u64, arrives: &[f64]) -> Self {
        let arrives = arrives.iter().map(|share| (*share, 0.0)).collect();
        Self { control: control("800ns", streams), now: Instant::ZERO, arrives }
    }

    /// So many frames, 2 ms each, of so many MPDUs; the modes that were tried.
    fn frames(&mut self, frames: u32, mpdus: u16) -> Vec<u8> {
        let mut tried = Vec::new();
        for _ in 0..frames {
            let ask = Ask { to: TO.node, mpdu: Bytes(1_536), ratio: &|| None };
            let series = self.control.series(self.now, &ask);
            let mode = series.mode(0);
            let index = mode.mcs.expect("HT").index;
            let sent = if series.is_alone() { 1 } else { mpdus };
            if series.is_alone() {
                tried.push(index);
            }
            let (share, kept) = &mut self.arrives[usize::from(index)];
            *kept += *share * f64::from(sent);
            let acknowledged = kept.floor() as u16;
            *kept -= f64::from(acknowledged);
            self.now += Span::from_millis(2);
            self.control.ended(self.now, &Exchange { to: TO, mode, sent, acknowledged });
        }
        tried
    }

    fn neighbour(&self) -> &Neighbour {
        &self.control.neighbours[0].1
    }

    fn chosen(&self) -> (Vec<u8>, u8) {
        let (best, most_probable) = self.neighbour().chosen();
        let index = |rate: Rate| rate.group * 8 + rate.index;
        (best.map(index).to_vec(), index(most_probable))
    }
}

/// Before anything is known frames go in MCS 0, two attempts a stage; the first one tries MCS 1, the first that is faster, alone.
#[test]
fn it_begins_with_the_most_robust_mode() {
    let mut link = Link::new(1, &[1.0; 8]);
    assert_eq!(link.frames(1, 8), [1]);
    assert_eq!(link.chosen(), (vec![0; 4], 0));
    let ask = Ask { to: TO.node, mpdu: Bytes(1_536), ratio: &|| None };
    let series = link.control.series(link.now, &ask);
    assert!(!series.is_alone(), "the next try comes 20 ms later");
    assert!((0..9).all(|failed| series.mode(failed).mcs.map(|mcs| mcs.index) == Some(0)));
}

/// At MCS 7 with one MPDU a frame all arrives: 108 us and 147,744 ns a packet, 90 % of 4,096 being 3,686, are
/// 3,686,000,000 / 255,744 = 14,412, and 1,441,200 / 4,096 = 351. Five attempts fit into 6 ms: 206 + 2 x 255, then 283, 571, 1,147 and 2,299 of
/// contention and 255 each, are 716, 1,254, 2,080, 3,482, 6,036 us; with RTS and CTS 375 each are 956, 1,614, 2,560, 4,082, 6,756.
#[test]
fn throughput_and_attempts_are_the_kernels() {
    let mut link = Link::new(1, &[1.0; 8]);
    link.frames(500, 1);
    let (neighbour, common) = (link.neighbour(), &link.control.common);
    assert_eq!(link.chosen(), (vec![7, 6, 5, 4], 7));
    assert_eq!(neighbour.throughput(rate(0, 7), ALL, common), 351);
    assert_eq!(neighbour.throughput(rate(0, 7), 408, common), 0, "less than a tenth is nothing");
    assert_eq!(neighbour.of(rate(0, 7)).tries, Some([5, 5]));
    // MCS 4, the last of them, has 246,240 ns: 206 + 2 x 354 are 914, with RTS and CTS 1,154; 1,551, 2,476, 3,977 and 6,630 follow, and
    // 1,911, 2,956, 4,577.
    assert_eq!(neighbour.of(rate(0, 5)).tries.map(|tries| tries[1]), Some(5));
}

/// Modes up to MCS 4 arrive, and nothing faster.
#[test]
fn it_finds_the_fastest_mode_that_arrives() {
    let shares = [1.0, 1.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0];
    let mut link = Link::new(1, &shares);
    link.frames(500, 8);
    assert_eq!(link.chosen(), (vec![4, 3, 2, 1], 4));
    // What is faster goes on being tried, one MPDU every 20 ms at the most.
    let tried = link.frames(500, 8);
    assert!(tried.len() <= 50 && tried.iter().all(|index| *index > 4), "{tried:?}");
    assert!(tried.contains(&5) && tried.contains(&7));
    link.arrives[5].0 = 1.0;
    link.frames(300, 8);
    assert_eq!(link.chosen().0[0], 5, "a mode that comes to arrive is found");
}

/// 85 % of the MPDUs in MCS 7 are worth more than all in MCS 5, which counts as 90 %; half of them are not: 16 a frame take 154 and 191 us each.
#[test]
fn it_weighs_rate_and_loss() {
    for (share, best) in [(0.85, 7), (0.5, 5)] {
        let mut link = Link::new(1, &[1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.0, share]);
        link.frames(1_000, 16);
        let (chosen, probable) = link.chosen();
        assert_eq!((chosen[0], probable), (best, best), "{share}");
    }
}

/// Two streams cease to arrive as an interval begins: after 30 MPDUs of which none arrives the fastest mode has one stream, well before 50 ms are over. The most
/// probable mode had one all along.
#[test]
fn it_flees_from_streams_that_die() {
    let mut link = Link::new(2, &[1.0; 16]);
    link.frames(1_000, 16);
    assert_eq!(link.chosen().0[0], 15);
    assert!(link.chosen().1 < 8);
    while link.neighbour().of(rate(1, 7)).attempts > 0 {
        link.frames(1, 16);
    }
    link.arrives[8..].iter_mut().for_each(|(share, _)| *share = 0.0);
    link.frames(4, 16);
    assert!(link.chosen().0[0] < 8, "{:?}", link.chosen());
}

#[test]
fn what_the_kernel_has_no_groups_for_is_refused() {
    for (word, suits) in [("802.11n", true), ("802.11a", false), ("802.11b", false), ("802.11g", false)] {
        let standard = Standard::named(word).expect("a row");
        let there = crate::rate_control::Surroundings { standard: &standard, curve: false };
        let refused = (PART.build.suits)(&there).err().map(|refused| refused.key);
        assert_eq!(refused, (!suits).then_some("rate_control"), "{word}");
    }
}
