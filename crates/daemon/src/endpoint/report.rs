//! What an endpoint tells at the end.

use super::options::Running;
use meshpace_endpoint::{Impaired, Info, StackCounters};
use meshpace_units::Span;
use serde_json::{Value, json};

/// One connection from its start to its end.
pub(super) struct Report<'a> {
    pub(super) command: &'static str,
    pub(super) running: &'a Running,
    pub(super) info: Info,
    /// Time from the first attempt to connect, or from the accepted connection, to the last byte.
    pub(super) took: Span,
    /// What went wrong, if anything did.
    pub(super) error: Option<String>,
}

impl Report<'_> {
    /// The report as JSON: times in seconds, rates in bit/s, sizes in bytes; null where something is unknown.
    pub(super) fn json(&self) -> Value {
        let Self { command, running, info, took, error } = self;
        let seconds = |span: Option<Span>| span.map(Span::as_secs_f64);
        let rate = |bytes: u64| (!took.is_zero()).then(|| bytes as f64 * 8.0 / took.as_secs_f64());
        let impairment = running.impaired.then(|| {
            let [towards, away] = running.endpoint.impaired();
            json!({ "in": impaired(&towards), "out": impaired(&away) })
        });
        json!({
            "schema": 1,
            "command": command,
            "scheme": running.scheme,
            "local": info.tuple.local.to_string(),
            "peer": info.tuple.remote.to_string(),
            "error": error,
            "duration_s": took.as_secs_f64(),
            "sent_bytes": info.acknowledged.0,
            "received_bytes": info.delivered.0,
            "sent_bps": rate(info.acknowledged.0),
            "received_bps": rate(info.delivered.0),
            "tcp": {
                "state": format!("{:?}", info.state),
                "closed": info.closed.map(|why| format!("{why:?}")),
                "segments_sent": info.counters.data_segments,
                "retransmits": info.counters.retransmits,
                "timeouts": info.counters.timeouts,
                "fast_retransmits": info.counters.fast_retransmits,
                "duplicate_acks": info.counters.duplicate_acks,
                "acks_sent": info.counters.pure_acks,
                "ecn_reductions": info.counters.ecn_reductions,
                "marks": info.counters.marks,
                "discarded": info.counters.discarded,
                "cwnd_segments": info.cwnd,
                "ssthresh_segments": info.ssthresh,
                "srtt_s": seconds(info.srtt),
                "rto_s": info.rto.as_secs_f64(),
                "mss_bytes": info.mss,
                "path_mtu_bytes": info.path_mtu,
            },
            "pacing": {
                "interval_s": seconds(info.pacing.interval),
                "k_hop_delay_s": info.pacing.k_hop_delay,
                "variation": info.pacing.variation,
                "samples": info.pacing.samples,
                "rejected": info.pacing.rejected,
            },
            "stack": stack(&running.endpoint.counters()),
            "impairment": impairment,
        })
    }

    /// The report as a line.
    pub(super) fn line(&self) -> String {
        let Self { info, took, .. } = self;
        let megabits = |bytes: u64| bytes as f64 * 8e-6 / took.as_secs_f64().max(1e-9);
        let mut parts = Vec::new();
        for (verb, bytes) in [("sent", info.acknowledged.0), ("received", info.delivered.0)] {
            if bytes > 0 {
                parts.push(format!("{verb} {bytes} bytes, {:.2} Mbit/s", megabits(bytes)));
            }
        }
        if parts.is_empty() {
            parts.push("no data".to_owned());
        }
        let counters = &info.counters;
        parts.push(format!("{:.3} s", took.as_secs_f64()));
        parts.push(format!("{} retransmissions, {} timeouts", counters.retransmits, counters.timeouts));
        if let Some(srtt) = info.srtt {
            parts.push(format!("round trip {:.3} ms", srtt.as_secs_f64() * 1e3));
        }
        if let Some(interval) = info.pacing.interval {
            parts.push(format!("a segment every {:.3} ms", interval.as_secs_f64() * 1e3));
        }
        format!("{}: {}", info.tuple.remote, parts.join("; "))
    }

    /// Prints the report: JSON or a line, on standard error if `data_on_stdout`.
    pub(super) fn print(&self, data_on_stdout: bool) {
        let text = if self.running.json { self.json().to_string() } else { self.line() };
        if data_on_stdout { eprintln!("{text}") } else { println!("{text}") }
    }
}

/// The stack's counters.
pub(super) fn stack(counters: &StackCounters) -> Value {
    json!({
        "packets_received": counters.packets_received,
        "packets_sent": counters.packets_sent,
        "not_tcp": counters.not_tcp,
        "not_ours": counters.not_ours,
        "damaged": counters.damaged,
        "resets_sent": counters.resets_sent,
        "accepted": counters.accepted,
        "syns_ignored": counters.syns_ignored,
        "half_open_dropped": counters.half_open_dropped,
        "path_mtu_lowered": counters.path_mtu_lowered,
        "too_big_ignored": counters.too_big_ignored,
    })
}

fn impaired(impaired: &Impaired) -> Value {
    json!({
        "packets": impaired.packets,
        "lost": impaired.lost,
        "duplicated": impaired.duplicated,
        "reordered": impaired.reordered,
        "corrupted": impaired.corrupted,
        "marked": impaired.marked,
    })
}
