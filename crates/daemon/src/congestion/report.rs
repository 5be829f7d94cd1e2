//! `meshpaced congestion status` and `explain`: what the kernel says of calm and its connections.

use super::exchange::Flow;
use super::object::{Maps, Programs};
use super::{Choice, choice_of, instead, is_loaded};
use crate::Failure;
use crate::text::{self, Column, bit_rate, count, digits, or_unknown, time};
use serde::Serialize;
use std::fmt::Write;

/// Version of the answer; changes only when a key's meaning does.
const SCHEMA: u32 = 1;
/// `1 / dr_delta` packets of each flow wait (schemes.md 23.1).
const DELTA: f64 = 0.7;
/// The same of trains (`dr_delta_trains`).
const DELTA_TRAINS: f64 = 1.2;
/// From so many packets on that an empty path holds it is long.
const LONG: f64 = 256.0;
/// No queue is shorter than what clocks tell apart, seconds.
const SHORTEST_QUEUE: f64 = 1e-5;

/// The status. Quantities carry their unit in the key.
#[derive(Debug, Serialize)]
struct Status {
    schema: u32,
    version: &'static str,
    loaded: bool,
    unit_segments: Option<u32>,
    cgroup: Option<String>,
    subnets: Vec<String>,
    flows: Vec<FlowStatus>,
}

#[derive(Debug, Serialize)]
struct FlowStatus {
    local: String,
    remote: String,
    rate_pps: f64,
    pace_bps: u64,
    window_segments: u32,
    in_flight_segments: u32,
    segment_bytes: u32,
    base_s: Option<f64>,
    queue_s: Option<f64>,
    floor_pps: Option<f64>,
    burst_segments: u32,
    starting: bool,
    in_use: bool,
    trains: u16,
    delivered_segments: u32,
    sent_again_segments: u32,
}

impl From<&Flow> for FlowStatus {
    fn from(flow: &Flow) -> Self {
        Self {
            local: flow.local.to_string(),
            remote: flow.remote.to_string(),
            rate_pps: flow.rate,
            pace_bps: flow.pace.saturating_mul(8),
            window_segments: flow.window,
            in_flight_segments: flow.in_flight,
            segment_bytes: flow.segment,
            base_s: flow.base,
            queue_s: flow.queue,
            floor_pps: flow.floor,
            burst_segments: flow.burst,
            starting: flow.starting,
            in_use: flow.in_use,
            trains: flow.trains,
            delivered_segments: flow.delivered,
            sent_again_segments: flow.sent_again,
        }
    }
}

/// The maps and the programs of what is loaded, if it is.
fn loaded() -> Result<Option<(Maps, Programs)>, Failure> {
    if !is_loaded()? {
        return Ok(None);
    }
    let Some(maps) = Maps::find()? else { return Ok(None) };
    let programs = Programs::with(&maps)?;
    Ok(Some((maps, programs)))
}

/// Connections of this network namespace, by their ends.
fn flows(programs: &Programs) -> Result<Vec<Flow>, Failure> {
    let mut flows: Vec<Flow> = Flow::read(&programs.iterate("calm_list")?).collect();
    flows.sort_by_key(|flow| (flow.remote, flow.local));
    Ok(flows)
}

/// Prints the status.
pub fn status(json: bool) -> Result<(), Failure> {
    let mut status = Status {
        schema: SCHEMA,
        version: env!("CARGO_PKG_VERSION"),
        loaded: is_loaded()?,
        unit_segments: None,
        cgroup: None,
        subnets: Vec::new(),
        flows: Vec::new(),
    };
    if let Some((maps, programs)) = loaded()? {
        let Choice { unit, cgroup, subnets } = choice_of(&maps)?;
        status.unit_segments = Some(unit);
        status.cgroup = cgroup.map(|path| path.display().to_string());
        status.subnets = subnets;
        status.flows = flows(&programs)?.iter().map(FlowStatus::from).collect();
    }
    if json { text::print_json(&status) } else { text::print(&render(&status, &instead()?)) }
}

const COLUMNS: [Column; 8] = [
    Column { head: "local", right: false },
    Column { head: "remote", right: false },
    Column { head: "rate", right: true },
    Column { head: "window", right: true },
    Column { head: "in flight", right: true },
    Column { head: "empty path", right: true },
    Column { head: "waits", right: true },
    Column { head: "sent again", right: true },
];

fn render(status: &Status, default: &str) -> String {
    if !status.loaded {
        return "calm is not loaded: `meshpaced congestion load`\n".to_owned();
    }
    let mut out = String::new();
    let mut line = |head: &str, text: String| writeln!(out, "{head:<10} {text}").expect("a String takes all");
    let unit = match status.unit_segments {
        Some(unit) if unit > 1 => format!("loaded, in trains of {unit} segments"),
        _ => "loaded, packet by packet".to_owned(),
    };
    line("calm", unit);
    line("chosen by", "sockets (TCP_CONGESTION), routes (congctl calm)".to_owned());
    if let Some(group) = &status.cgroup {
        line("chosen for", format!("{} of {group}", status.subnets.join(", ")));
    }
    line("others", format!("have {default}"));
    line("flows", format!("{} of this network namespace", status.flows.len()));
    let rows: Vec<Vec<String>> = status.flows.iter().map(row).collect();
    if !rows.is_empty() {
        out.push('\n');
        out.push_str(&text::table(&COLUMNS, &rows));
    }
    out
}

fn row(flow: &FlowStatus) -> Vec<String> {
    vec![
        flow.local.clone(),
        flow.remote.clone(),
        bit_rate(flow.pace_bps as f64),
        count(u64::from(flow.window_segments)),
        count(u64::from(flow.in_flight_segments)),
        or_unknown(flow.base_s, time),
        or_unknown(flow.queue_s, time),
        count(u64::from(flow.sent_again_segments)),
    ]
}

/// Prints why the connections with this end have their rates.
pub fn explain(end: &str) -> Result<(), Failure> {
    let Some((maps, programs)) = loaded()? else {
        return Err(Failure::Operational("calm is not loaded: `meshpaced congestion load`".to_owned()));
    };
    let unit = maps.settings()?.unit;
    let flows = flows(&programs)?;
    let fits = |flow: &&Flow| {
        [flow.remote, flow.local].iter().any(|one| one.to_string() == end || one.ip().to_string() == end)
    };
    let texts: Vec<String> = flows.iter().filter(fits).map(|flow| explained(flow, unit)).collect();
    if texts.is_empty() {
        let what = format!(
            "no connection by calm has the end {end} in this network namespace; {} have others",
            flows.len()
        );
        return Err(Failure::User(what));
    }
    text::print(&texts.join("\n"))
}

/// Why a connection has its rate, in the words of schemes.md 23.1.
fn explained(flow: &Flow, unit: u32) -> String {
    let mut out = String::new();
    let mut line =
        |head: &str, text: String| writeln!(out, "  {head:<9} {text}").expect("a String takes all");
    line(
        "rate",
        format!(
            "{} packets/s of {} bytes: {}",
            digits(flow.rate),
            flow.segment,
            bit_rate(8.0 * flow.pace as f64)
        ),
    );
    match flow.base {
        Some(base) => line("path", format!("{} when empty, the least round trip of 30 s", time(base))),
        None => line("path", "no round trip yet: 50 packets/s".to_owned()),
    }
    if let Some((queue, base)) = flow.queue.zip(flow.base) {
        let unit = f64::from(unit);
        let packets = flow.rate * base;
        let holds = packets / unit;
        let scale = if packets > LONG { (packets / LONG).sqrt() } else { 1.0 };
        let burst = f64::from(flow.burst);
        let delta = if unit > 1.0 { DELTA_TRAINS } else { DELTA };
        let bursts = if burst > unit { burst - 1.0 + burst / delta } else { 0.0 };
        let waits = (unit.max(flow.rate * SHORTEST_QUEUE) / delta).max(bursts) * scale;
        line(
            "waits",
            format!(
                "{} in the latest step; {} packets may wait, so it asks for {} packets/s",
                time(queue),
                digits(waits),
                digits(waits / queue)
            ),
        );
        if holds > LONG || flow.wire > 0 {
            let what = if holds > LONG { "long" } else { "a wire" };
            line("by", format!("what arrives: the path is {what}"));
        }
    }
    if flow.starting {
        line("start", "no queue has shown itself yet: it doubles a round trip".to_owned());
    }
    if !flow.in_use {
        line("use", "less than 0.4 of the rate arrived: it does not rise".to_owned());
    }
    if let Some(floor) = flow.floor {
        line("floor", format!("{} packets/s: its losses tell of flows that fill queues", digits(floor)));
    }
    line("window", format!("{} segments, {} of them in flight", flow.window, flow.in_flight));
    line(
        "so far",
        format!(
            "{} segments arrived, {} were sent again",
            count(u64::from(flow.delivered)),
            count(u64::from(flow.sent_again))
        ),
    );
    format!("{} to {}\n{out}", flow.local, flow.remote)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flow() -> Flow {
        Flow {
            local: "10.0.0.1:5000".parse().unwrap(),
            remote: "10.0.0.2:443".parse().unwrap(),
            segment: 1448,
            pace: 144_800,
            window: 22,
            in_flight: 4,
            delivered: 12_345,
            sent_again: 6,
            base: Some(0.03),
            floor: None,
            burst: 1,
            rate: 100.0,
            queue: Some(0.0142),
            wire: 0,
            trains: 1,
            losses: 2,
            starting: false,
            in_use: true,
        }
    }

    #[test]
    fn a_rate_is_explained_by_what_waits() {
        let text = explained(&flow(), 1);
        assert!(text.starts_with("10.0.0.1:5000 to 10.0.0.2:443\n"), "{text}");
        assert!(text.contains("100 packets/s of 1448 bytes: 1.16 Mbit/s"), "{text}");
        assert!(
            text.contains("14.2 ms in the latest step; 1.43 packets may wait, so it asks for 101 packets/s"),
            "{text}"
        );
        assert!(
            !text.contains("start") && !text.contains("floor") && !text.contains("arrives: the path"),
            "{text}"
        );
        let trains = explained(&flow(), 16);
        assert!(trains.contains("13.3 packets may wait, so it asks for 939 packets/s"), "{trains}");
    }

    #[test]
    fn starts_floors_wires_and_idle_rates_are_told() {
        let flow = Flow { starting: true, in_use: false, floor: Some(12.0), wire: 3, ..flow() };
        let text = explained(&flow, 1);
        for what in
            ["doubles a round trip", "does not rise", "12 packets/s: its losses", "the path is a wire"]
        {
            assert!(text.contains(what), "{what}: {text}");
        }
        let new = explained(&Flow { base: None, queue: None, ..flow }, 1);
        assert!(new.contains("no round trip yet"), "{new}");
    }

    #[test]
    fn a_status_says_what_is_loaded_and_for_whom() {
        let mut status = Status {
            schema: SCHEMA,
            version: "0",
            loaded: false,
            unit_segments: Some(1),
            cgroup: None,
            subnets: vec!["10.0.0.0/8".to_owned()],
            flows: vec![FlowStatus::from(&flow())],
        };
        assert!(render(&status, "cubic").contains("not loaded"));
        status.loaded = true;
        let text = render(&status, "cubic");
        assert!(
            text.contains("packet by packet") && text.contains("have cubic") && !text.contains("10.0.0.0/8"),
            "{text}"
        );
        assert!(text.contains("10.0.0.2:443  1.16 Mbit/s      22"), "{text}");
        status.cgroup = Some("/sys/fs/cgroup".to_owned());
        assert!(render(&status, "cubic").contains("10.0.0.0/8 of /sys/fs/cgroup"));
    }
}
