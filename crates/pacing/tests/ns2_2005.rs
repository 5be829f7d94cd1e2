//! The profile `ns2-2005` against the event logs of the TCP-AP authors' own ns-2 agent: smoothed delays, variation and
//! interval recomputed from each ACK's round-trip time and hops, departures recomputed from the intervals.
//!
//! The logs were recorded with the unmodified ns-2.35; 2 Mbit/s, 4 and 8 hops, 1460-byte segments, RTS/CTS off.

use meshpace_pacing::{AdaptiveConfig, FreeRunningTimer, RateLaw, Route};
use meshpace_units::{Bytes, Instant, Rate, Span};
use std::collections::BTreeMap;

const LOGS: [(&str, &str); 2] = [
    ("4 hops", include_str!("../../../validation/reference/tcp_ap_ack_logs/h4_2Mb_norts_seed1_start.csv")),
    ("8 hops", include_str!("../../../validation/reference/tcp_ap_ack_logs/h8_2Mb_norts_seed1_start.csv")),
];
/// The logs have nine decimals; the agent's own sums carry their rounding.
const TOLERANCE: f64 = 1e-8;

struct Row<'a>(BTreeMap<&'a str, &'a str>);

impl Row<'_> {
    fn number(&self, column: &str) -> f64 {
        self.0[column].parse().unwrap_or_else(|_| panic!("column {column}: {:?}", self.0[column]))
    }
    fn span(&self, column: &str) -> Span {
        Span::from_secs_f64(self.number(column))
    }
    fn at(&self) -> Instant {
        Instant::ZERO + self.span("t")
    }
    fn event(&self) -> &str {
        self.0["event"]
    }
}

fn rows(csv: &str) -> impl Iterator<Item = Row<'_>> {
    let mut lines = csv.lines();
    let names: Vec<&str> = lines.next().expect("a header line").split(',').collect();
    lines.map(move |line| Row(names.iter().copied().zip(line.split(',')).collect()))
}

fn path(hops: u32) -> meshpace_pacing::Path {
    AdaptiveConfig::NS2_2005
        .path(Bytes(1460), &Route::uniform(Some(hops), Rate::bits_per_sec(2_000_000)))
        .unwrap()
}

#[test]
fn estimates_agree_with_the_agent() {
    for (name, log) in LOGS {
        let mut law = RateLaw::new(AdaptiveConfig::NS2_2005);
        let (mut acks, mut sends) = (0, 0);
        for row in rows(log) {
            let close = |what: &str, ours: f64| {
                let theirs = row.number(what);
                assert!(
                    (ours - theirs).abs() < TOLERANCE,
                    "{name}, {:?}: {what} {ours} != {theirs}",
                    row.at()
                );
            };
            if row.event() == "ack" {
                let hops = row.number("hops") as u32;
                let rtt = row.span("rtt_s");
                let k = if hops >= 4 { 4 } else { 1 };
                let path = path(hops);
                close("khd_s", path.k_hop_delay(k, path.queueing_delay(rtt)));
                // The agent uses a sample only if its k-hop delay is below half a second; a rejected one leaves the
                // logged averages as they were, and so must ours.
                let _ = law.on_sample(rtt, &path);
                close("khd_avg_s", law.k_hop_delay().unwrap());
                close("tq_avg_s", law.queueing_delay());
                close("mad", law.variation());
                close("cov", law.cov());
                acks += 1;
            } else {
                close("interval_s", law.interval().unwrap().as_secs_f64());
                sends += 1;
            }
        }
        println!("{name}: {acks} ACKs and {sends} departures agree within {TOLERANCE} s");
        assert!(acks > 500 && sends > 500, "{name}: the log is short");
    }
}

#[test]
fn departures_agree_with_the_agent() {
    for (name, log) in LOGS {
        let mut timer = FreeRunningTimer::new(Span::from_millis(50));
        let mut law = RateLaw::new(AdaptiveConfig::NS2_2005);
        let mut compared = 0;
        // Asked anew after every row: at the ACK that queues a segment, at the departure that leaves one queued. The
        // `tick` rows, where the agent's timer found nothing to send, are left to the timer.
        let mut asked = None;
        for row in rows(log) {
            match row.event() {
                "ack" => {
                    if let Ok(interval) = law.on_sample(row.span("rtt_s"), &path(row.number("hops") as u32)) {
                        timer.set_interval(row.at(), interval);
                    }
                }
                "send" => {
                    if let Some(asked) = asked {
                        let due = timer.release_at(asked);
                        let late = row.at().as_secs_f64() - due.as_secs_f64();
                        assert!(late.abs() < TOLERANCE, "{name}: due {due:?}, left {:?}", row.at());
                        compared += 1;
                    }
                    timer.on_departure(row.at());
                }
                _ => continue,
            }
            asked = Some(row.at() + Span::NANOSECOND);
        }
        assert!(compared > 500, "{name}: only {compared} departures compared");
    }
}
