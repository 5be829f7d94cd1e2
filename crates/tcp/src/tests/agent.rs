//! TCP-AP as its authors' agent does it: replayed from a log of the agent itself, and its rules for losses.

use super::script::{ISS, MSS, Out, Script, ms, segment};
use crate::control::Agent;
use crate::{Config, Ns2Stamp};
use alloc::vec::Vec;
use meshpace_pacing::AdaptiveConfig;
use meshpace_units::{Instant, Span};

const LOG: &str = include_str!("../../testdata/ns2_2005_h8.csv");

fn config() -> Config {
    Config { rto_backoff: false, ..Config::ns2() }.paced_by(Agent::new(AdaptiveConfig::NS2_2005))
}

fn queued(s: &Script) -> usize {
    s.tcp.sender().queue.len()
}

fn acknowledge(s: &mut Script, at: Instant, n: u64, rtt: Span) {
    s.peer = u64::from(n > 0);
    s.raw_at(at, |segment| {
        segment.flags.syn = n == 0;
        segment.options.mss = (n == 0).then_some(1460);
        segment.ack = ISS + 1 + (n * MSS) as u32;
        segment.ns2 = Some(Ns2Stamp { sent: at, echo: Some(at - rtt) });
    });
}

#[test]
fn the_agent_s_own_log() {
    let rows: Vec<Vec<&str>> = LOG.lines().skip(4).map(|line| line.split(',').collect()).collect();
    let seconds = |text: &str| Span::from_secs_f64(text.parse().unwrap());
    let start = Instant::ZERO + seconds(rows[0][1]);
    let mut s = Script::connect_at(config(), start);
    s.tcp.write_endless().unwrap();
    let (mut sent, mut acks) = (0, 0);
    for row in &rows {
        let at = Instant::ZERO + seconds(row[1]);
        let number: u64 = row[2].parse().unwrap();
        let cwnd: f64 = row[6].parse().unwrap();
        if row[0] == "ack" {
            s.hops = Some(row[4].parse().unwrap());
            acknowledge(&mut s, at, number, seconds(row[3]));
            assert!((s.cwnd() - cwnd).abs() < 1e-4, "{row:?}: cwnd {}", s.cwnd());
            assert_eq!(queued(&s), row[7].parse::<usize>().unwrap(), "{row:?}");
            acks += 1;
        } else {
            // The log's clock and ours round differently: a nanosecond or so a departure.
            s.advance(at + Span::from_micros(1));
            let (departed, transmit) = s.out[sent];
            let late = departed.saturating_since(at).max(at.saturating_since(departed));
            let position = if transmit.segment.flags.syn { 0 } else { transmit.offset / MSS + 1 };
            assert!(position == number && late < Span::from_micros(1), "{row:?}: {position} at {departed:?}");
            let interval = s.tcp.pacing().interval.unwrap().as_secs_f64();
            let logged: f64 = row[5].parse().unwrap();
            assert!((interval - logged).abs() < 2e-9, "{row:?}: interval {interval}");
            sent += 1;
        }
    }
    assert_eq!((sent, acks, s.out.len()), (rows.len() - acks, rows.len() - sent, sent));
    assert!(sent > 100 && acks > 100);
}

/// A round trip whose k-hop delay over 4 hops is 2 * (48.64 / 4 + 5.84) = 36 ms.
const RTT: Span = Span::from_micros(48_640);

fn stalling() -> Config {
    Config { rto_backoff: false, ..Config::ns2() }.paced_by(Agent::new(AdaptiveConfig::NS2_2005).stalling())
}

/// The SYN left at 0 and was acknowledged at 60 ms, with RTT as the echo has it: ticks at 50, 100, 136, ...
fn sampled() -> Script {
    sampled_with(config())
}

fn sampled_with(config: Config) -> Script {
    let mut s = Script::connect(config);
    s.hops = Some(4);
    s.write_endless(0);
    acknowledge(&mut s, ms(60), 0, RTT);
    s
}

fn acks(s: &mut Script, at: impl IntoIterator<Item = u64>, n: u64) {
    for at in at {
        acknowledge(s, ms(at), n, RTT);
    }
}

#[test]
fn the_syn_is_paced_and_an_ack_changes_the_next_arming_only() {
    let mut s = sampled();
    // The tick at 50 found the queue empty and armed the one at 100 with the initial interval.
    s.expect_until(171, &[(0, Out::syn()), (100, segment(1)), (136, segment(2))]);
    assert_eq!(s.tcp.pacing().interval, Some(Span::from_millis(36)));
    assert!(s.tcp.pacing().k_hop_delay.is_some_and(|delay| (delay - 0.036).abs() < 1e-12));
}

#[test]
fn three_duplicates_leave_pacing_mode() {
    let mut s = sampled();
    s.advance(ms(139));
    s.out.clear();
    acks(&mut s, [140], 1); // cwnd 3: queues 3 and 4
    acks(&mut s, [141, 142], 1); // limited transmit queues 5 and 6
    assert_eq!((queued(&s), s.tcp.pacing().samples), (4, 4), "duplicates are samples");
    acks(&mut s, [143], 1);
    // The queue is emptied, TCP believes that 3 to 6 left. cwnd 1.5 and dupwnd 3 allow nothing more.
    s.expect(143, &[segment(2)]);
    assert_eq!((queued(&s), s.cwnd(), s.tcp.ssthresh()), (0, 1.5, Some(2.0)));
    acks(&mut s, [190], 2);
    assert_eq!(s.cwnd(), 2.5);
    // Window 2 from 2 on is full of segments that never left: the timer has to find out, and begins with a window of 2.
    s.expect_until(389, &[]);
    s.expect(390, &[segment(3), segment(4)]);
}

#[test]
fn a_timeout_leaves_pacing_mode_without_back_off() {
    let mut s = sampled();
    s.advance(ms(140));
    s.out.clear();
    s.expect_until(740, &[(300, segment(1)), (500, segment(1)), (700, segment(1))]);
    acks(&mut s, [750], 1); // cwnd 2: pacing again, the first at once
    s.expect_until(790, &[(750, segment(2)), (786, segment(3))]);
}

#[test]
fn partial_acknowledgements_go_through_the_pacer() {
    let mut s = sampled();
    s.advance(ms(139));
    acks(&mut s, [140], 2); // cwnd 3: queues 3, 4, 5
    s.advance(ms(250)); // 172, 208, 244
    s.out.clear();
    acks(&mut s, [251, 252, 253], 2); // 6 and 7 queued and flushed again
    s.expect(253, &[segment(3)]);
    acks(&mut s, [260], 3); // partial; the pacer starts anew
    s.expect(260, &[segment(4)]);
    acks(&mut s, [261], 4); // partial
    assert_eq!(queued(&s), 2);
    s.expect_until(335, &[(296, segment(5)), (332, segment(8))]);
}

/// Three duplicates that find the queue empty, the third at 330.
fn three_duplicates_and_an_empty_queue(config: Config) -> Script {
    let mut s = sampled_with(config);
    s.advance(ms(139));
    acks(&mut s, [140], 2); // cwnd 3: queues 3, 4, 5
    s.advance(ms(250)); // 172, 208, 244
    s.out.clear();
    acks(&mut s, [251, 252], 2);
    s.expect_until(320, &[(280, segment(6)), (316, segment(7))]);
    assert_eq!(queued(&s), 0);
    acks(&mut s, [330], 2);
    s.expect(330, &[segment(3)]);
    s
}

#[test]
fn with_its_defect_it_waits_for_the_timeout() {
    let mut s = three_duplicates_and_an_empty_queue(stalling());
    acks(&mut s, 331..336, 2); // dupwnd 5 lets out 8, and one more each: they are queued, and no timer runs
    s.expect_until(529, &[]);
    assert!(queued(&s) >= 3);
    s.advance(ms(531)); // 200 ms after the fast retransmit
    s.expect(530, &[segment(3)]);
    assert_eq!((queued(&s), s.tcp.counters().timeouts), (0, 1));
}

#[test]
fn an_interval_of_one_s_own_stays_whatever_the_samples_say() {
    let interval = Span::from_millis(25);
    let agent = Agent::new(AdaptiveConfig::NS2_2005).every(interval);
    let mut s = sampled_with(Config { rto_backoff: false, ..Config::ns2() }.paced_by(agent));
    // Ticks at 25, 50, ...; the SYN was acknowledged at 60.
    s.expect_until(101, &[(0, Out::syn()), (75, segment(1)), (100, segment(2))]);
    assert_eq!(s.tcp.pacing().interval, Some(interval));
    assert!(s.tcp.pacing().k_hop_delay.is_some(), "its samples are told all the same");
}

#[test]
fn a_timeout_with_nothing_outstanding_neither_counts_nor_halves() {
    let mut s = sampled();
    s.advance(ms(139));
    s.out.clear();
    acks(&mut s, [140], 1); // cwnd 3: queues 3 and 4
    acks(&mut s, [141, 142, 143], 1); // queues 5 and 6, and empties the queue
    s.expect(143, &[segment(2)]);
    acks(&mut s, [190], 2); // all that had left
    let ssthresh = s.tcp.ssthresh();
    s.expect_until(389, &[]);
    s.expect(390, &[segment(3), segment(4)]);
    assert_eq!((s.tcp.counters().timeouts, s.tcp.ssthresh(), s.cwnd()), (0, ssthresh, 2.0));
}

#[test]
fn never_without_a_wake_up_while_data_wait() {
    let mut s = three_duplicates_and_an_empty_queue(config());
    acks(&mut s, 331..336, 2); // dupwnd 5 lets out 8, and one more each
    s.expect_until(405, &[(332, segment(8)), (368, segment(9)), (404, segment(10))]);
}
