//! Failed attempts: when the next one comes, from which window it is drawn, and which counter it moves.

use super::{ACK, CTS, DIFS, EIFS, RTS, SIFS, TIMEOUT};
use crate::air::{Air, Draws, Setup, What, What::*, at, line};
use meshpace_units::Bytes;

/// How the peer, a puppet, meets an attempt.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Reply {
    /// Not at all.
    Silence,
    /// With a CTS, and no ACK.
    CtsOnly,
    /// With everything.
    Ack,
    /// With a CTS, after which a frame of somebody else 400 m away (304 us) fills the medium, 5 us into the SIFS.
    CtsThenNoise,
}

/// What becomes of the packet by that.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fate {
    Again,
    Sent,
    Dropped,
}

use Fate::{Again, Dropped};
use Reply::{CtsOnly, CtsThenNoise, Silence};

/// Station 0 with these packets in its queue, and what happens attempt by attempt: the window that its backoff is drawn
/// from, the peer's reply, the packet's fate. Everything is foretold to the nanosecond; nothing else may happen.
#[track_caller]
fn play(setup: &Setup, sizes: &[u64], attempts: &[(u32, Reply, Fate)]) {
    // 0 is in the range of both; the peer is 1. 2 is only sensed.
    let mut air = Air::new(setup, &line(&[0.0, -200.0, 400.0])).puppets(&[1, 2]);
    for size in sizes {
        air.offer(at(0.0), 0, setup.packet(Some(1), *size));
    }
    let mut draws = Draws::of(setup, 0);
    let mut sizes = sizes.iter();
    let mut size = *sizes.next().expect("a packet");
    let (mut idle, mut script): (f64, Vec<(f64, u32, What)>) = (0.0, Vec::new());
    for (cw, reply, fate) in attempts {
        let start = idle + DIFS + draws.backoff(*cw);
        let airtime = setup.data_airtime(size).as_nanos() as f64 / 1e3;
        let rts = setup.phy.needs_rts(Bytes(size));
        script.push((start, 0, if rts { Rts } else { Data }));
        let data_end = if rts {
            let cts = start + RTS + SIFS;
            let data = cts + CTS + SIFS;
            if *reply != Silence {
                air.say(at(cts), setup.cts(1, 0, size));
            }
            match reply {
                CtsOnly | Reply::Ack => {
                    script.push((data, 0, Data));
                    Some(data + airtime)
                }
                CtsThenNoise => {
                    air.say(at(cts + CTS + 5.0), setup.ack(2, 1));
                    idle = cts + CTS + 5.0 + ACK + EIFS;
                    continue;
                }
                Silence => None,
            }
        } else {
            Some(start + airtime)
        };
        let ends = match data_end {
            Some(data_end) if *reply == Reply::Ack => {
                air.say(at(data_end + SIFS), setup.ack(1, 0));
                data_end + SIFS + ACK
            }
            Some(data_end) => data_end + TIMEOUT,
            None => start + RTS + TIMEOUT,
        };
        match fate {
            Again => {}
            Fate::Sent => script.push((ends, 0, Sent)),
            Dropped => script.push((ends, 0, GaveUp)),
        }
        if *fate != Again {
            size = sizes.next().copied().unwrap_or(0);
        }
        idle = ends;
    }
    assert_eq!(size, 0, "packets are left over");
    air.expect(idle + 100_000.0, &script);
}

const WINDOWS: [u32; 7] = [31, 63, 127, 255, 511, 1023, 1023];

/// `n` failures from windows that double, the last of which is the end of the packet.
fn failures(n: usize, reply: Reply) -> Vec<(u32, Reply, Fate)> {
    (0..n).map(|i| (WINDOWS[i], reply, if i + 1 == n { Dropped } else { Again })).collect()
}

const SENT: (u32, Reply, Fate) = (31, Reply::Ack, Fate::Sent);

/// ```text
/// 0 RTS     |timeout 318|DIFS 50| 20 k |RTS ...
/// 1    (silence)
/// ```
#[test]
fn an_rts_goes_out_7_times() {
    let setup = Setup::dsss(11.0, true);
    play(&setup, &[1500], &failures(7, Silence));
}

/// The next packet is taken at once, with the smallest window.
#[test]
fn a_drop_brings_the_smallest_window_back() {
    for setup in [Setup::dsss(11.0, true), Setup::dsss(11.0, false)] {
        let mut attempts = failures(7, Silence);
        attempts.extend(failures(7, Silence));
        attempts.push(SENT);
        play(&setup, &[1500, 1500, 1500], &attempts);
    }
}

#[test]
fn the_standard_range_includes_the_window_itself() {
    for rts in [true, false] {
        let mut setup = Setup::dsss(11.0, rts);
        setup.phy.backoff_range = meshpace_radio::BackoffRange::Standard;
        play(&setup, &[1500, 40], &[failures(7, Silence), vec![SENT]].concat());
    }
}

#[test]
fn data_without_rts_goes_out_7_times() {
    play(&Setup::dsss(11.0, false), &[1500], &failures(7, Silence));
}

/// ```text
/// 0 RTS     DATA         |timeout|DIFS|bo|RTS     DATA  ...
/// 1     CTS    (silence)                     CTS
/// ```
#[test]
fn data_after_rts_goes_out_4_times() {
    play(&Setup::dsss(11.0, true), &[1500], &failures(4, CtsOnly));
}

/// schemes.md 17.3: BYU's stations make one attempt.
#[test]
fn a_retry_limit_of_one_attempt_means_one() {
    let mut setup = Setup::dsss(11.0, false);
    (setup.phy.retry_short, setup.phy.retry_long) = (1, 1);
    play(&setup, &[1500, 1500], &[(31, Silence, Dropped), SENT]);
    setup.phy.rts_threshold = Some(Bytes(0));
    play(&setup, &[1500, 1500], &[(31, CtsOnly, Dropped), SENT]);
}

#[test]
fn the_window_stops_growing_at_1023() {
    let mut setup = Setup::dsss(11.0, false);
    setup.phy.retry_short = 9;
    let mut attempts: Vec<_> = WINDOWS.map(|cw| (cw, Silence, Again)).to_vec();
    attempts.extend([(1023, Silence, Again), (1023, Silence, Dropped)]);
    play(&setup, &[1500], &attempts);
}

#[test]
fn an_ack_brings_the_smallest_window_back() {
    let setup = Setup::dsss(11.0, false);
    let until_sent = [(31, Silence, Again), (63, Silence, Again), (127, Reply::Ack, Fate::Sent)];
    // The short counter too: seven more attempts.
    play(&setup, &[1500, 1500, 1500], &[&until_sent[..], &failures(7, Silence), &[SENT]].concat());
}

/// A CTS clears the short counter but leaves the window where it is: 6 + 6 failed RTS are no drop, the 7th after
/// the CTS is.
#[test]
fn a_cts_clears_the_short_counter_and_not_the_window() {
    let mut attempts: Vec<_> = WINDOWS[..6].iter().map(|cw| (*cw, Silence, Again)).collect();
    attempts.push((1023, CtsOnly, Again));
    attempts.extend([(1023, Silence, Again); 6]);
    attempts.push((1023, Silence, Dropped));
    play(&Setup::dsss(11.0, true), &[1500], &attempts);
}

/// ns2-behaviour 3.7: the next packet starts with what the data failures of the last one have left.
#[test]
fn the_long_counter_survives_an_rts_drop() {
    let mut attempts = vec![(31, CtsOnly, Again), (63, CtsOnly, Again)];
    attempts.extend([127, 255, 511, 1023, 1023, 1023].map(|cw| (cw, Silence, Again)));
    attempts.push((1023, Silence, Dropped));
    // Two of four data attempts are used up.
    attempts.extend([(31, CtsOnly, Again), (63, CtsOnly, Dropped)]);
    // That drop cleared it.
    attempts.extend(failures(4, CtsOnly));
    play(&Setup::dsss(11.0, true), &[1500, 1500, 1500], &attempts);
}

#[test]
fn an_ack_clears_the_long_counter() {
    let mut attempts = vec![(31, CtsOnly, Again), (63, CtsOnly, Again), (127, CtsOnly, Again)];
    attempts.push((255, Reply::Ack, Fate::Sent));
    attempts.extend(failures(4, CtsOnly));
    play(&Setup::dsss(11.0, true), &[1500, 1500], &attempts);
}

/// A data drop leaves the short counter, which the CTS before it has cleared anyway; small frames below the RTS
/// threshold count in the short counter, and share it with the RTS of big ones.
#[test]
fn frames_below_the_threshold_share_the_short_counter_with_rts() {
    let mut setup = Setup::dsss(11.0, true);
    setup.phy.rts_threshold = Some(Bytes(1000));
    // Five failures of a small packet, then its ACK: short counter 0. The big one's long failures do not count there.
    let small: Vec<_> = WINDOWS[..5].iter().map(|cw| (*cw, Silence, Again)).collect();
    let mut attempts = [&small[..], &[(1023, Reply::Ack, Fate::Sent)]].concat();
    attempts.extend(failures(4, CtsOnly));
    attempts.extend(failures(7, Silence));
    play(&setup, &[40, 1500, 40], &attempts);
}

/// ```text
/// 0 RTS     |SIFS: busy, no DATA         |EIFS|DIFS|bo(63)|RTS
/// 1     CTS
/// 2 (400 m)    ACK to somebody else
/// ```
///
/// A new RTS from a larger window; no retry is counted, so that it can happen more often than either limit
/// (ns2-behaviour 3.4).
#[test]
fn data_refused_after_a_cts_costs_the_window_but_no_retry() {
    let mut attempts: Vec<_> = WINDOWS.map(|cw| (cw, CtsThenNoise, Again)).to_vec();
    attempts.extend([(1023, CtsThenNoise, Again); 2]);
    attempts.extend([(1023, CtsOnly, Again); 3]);
    attempts.push((1023, CtsThenNoise, Again));
    attempts.push((1023, CtsOnly, Dropped));
    play(&Setup::dsss(11.0, true), &[1500], &attempts);
}

/// The first retry comes 368 us after the end of the RTS at the earliest, then in steps of 20 us.
#[test]
fn the_earliest_retry_comes_368_us_after_the_end() {
    let mut earliest = f64::INFINITY;
    for seed in 0..600 {
        let setup = Setup::dsss(11.0, true).seed(seed);
        let mut air = Air::new(&setup, &line(&[0.0, 200.0])).puppets(&[1]);
        air.offer(at(0.0), 0, setup.packet(Some(1), 1500));
        air.run_until(at(20_000.0));
        let rts = air.times(0, meshpace_radio::FrameKind::Rts);
        let gap = crate::air::us_between(rts[0], rts[1]) - RTS;
        assert!(((gap - 368.0) / 20.0).fract().abs() < 1e-6 && gap <= 368.0 + 62.0 * 20.0, "{gap}");
        earliest = earliest.min(gap);
    }
    assert_eq!(earliest, 368.0);
}
