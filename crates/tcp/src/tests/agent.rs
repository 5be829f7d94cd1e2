//! TCP-AP as its authors' agent does it: replayed from a log of the agent itself, and its rules for losses.

use crate::pace::Gate;
use crate::script::{ISS, MSS, Script, segment};
use crate::{Config, Flags, Ns2Stamp, Pacing, PacingLaw};
use alloc::vec::Vec;
use meshpace_pacing::{AdaptiveConfig, LinkRates};
use meshpace_units::{Instant, Rate, Span};

const LOG: &str = include_str!("../../testdata/ns2_2005_h8.csv");

fn config() -> Config {
    let rates = LinkRates::Uniform(Rate::bits_per_sec(2_000_000));
    let pacing = Pacing::Ns2Agent(PacingLaw { law: AdaptiveConfig::NS2_2005, rates });
    Config { pacing, rto_backoff: false, ..Config::ns2() }
}

fn queued(s: &Script) -> usize {
    let Gate::Agent(agent) = &s.tcp.sender().gate else { panic!("not the agent") };
    agent.len()
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
            assert!((s.tcp.cwnd() - cwnd).abs() < 1e-4, "{row:?}: cwnd {}", s.tcp.cwnd());
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
