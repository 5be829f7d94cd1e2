//! `meshpaced status`: the daemon at a glance, and the flows that starve.

use crate::Failure;
use crate::config::Datapath;
use crate::control::protocol::{
    Forecasts, FoundRate, HostShare, Reply, Request, Sample, Share, Status, Wait,
};
use crate::control::{Client, SocketArgs, unexpected};
use crate::text::{Column, bit_rate, count, counted, or_unknown, size, table, time};
use std::fmt::Write;
use std::process::ExitCode;

/// The heads of a host's columns, in order.
pub(crate) const HOST_HEADS: [&str; 9] =
    ["host", "rate", "weight", "cap", "hops", "price", "flows", "waiting", "wait"];

/// Hosts listed at the most.
const HOSTS_SHOWN: usize = 10;

/// Below this part of the mean a flow that has data on their way is called starving: it gets less than half of an equal share.
const STARVING: f64 = 0.5;

/// Arguments of `meshpaced status`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Print the daemon's answer as JSON, with units in the keys.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    socket: SocketArgs,
}

/// Prints the daemon's state.
///
/// # Errors
/// What is wrong with reaching the daemon.
pub fn run(args: &Args) -> Result<ExitCode, Failure> {
    let line = Client::ask_once(&args.socket, &Request::Status {})?;
    if args.json {
        crate::text::print_json(&line)?;
        return Ok(ExitCode::SUCCESS);
    }
    match &line.answer {
        Reply::Status(status) => crate::text::print(&render(status))?,
        other => return Err(unexpected(other)),
    }
    Ok(ExitCode::SUCCESS)
}

fn render(status: &Status) -> String {
    let mut out = String::new();
    summary(&mut out, status);
    doubts(&mut out, status);
    forecasts(&mut out, status);
    hosts(&mut out, status);
    fairness(&mut out, status);
    troubles(&mut out, status);
    out
}

fn line(out: &mut String, head: &str, text: impl std::fmt::Display) {
    writeln!(out, "{head:<10} {text}").expect("a String takes all");
}

fn summary(out: &mut String, status: &Status) {
    let Status { flows, traffic, lateness, .. } = status;
    let uptime = time(status.uptime_s);
    line(out, "meshpaced", format!("{}, process {}, running for {uptime}", status.version, status.pid));
    let mesh = if status.mesh_interfaces.is_empty() {
        "known by its subnets".to_owned()
    } else {
        format!("behind {}", status.mesh_interfaces.join(", "))
    };
    line(out, "mode", format!("{}; data path {}; mesh {mesh}", status.mode, status.datapath));
    for subnet in &status.subnets {
        let share = if subnet.mode == "pace" && subnet.paced_share < 1.0 {
            format!(", {:.0} % of its flows", 100.0 * subnet.paced_share)
        } else {
            String::new()
        };
        line(out, "", format!("{}: {}{share}", subnet.prefix, subnet.mode));
    }
    line(
        out,
        "flows",
        format!(
            "{} known: {}, {} capped, {} bypassing; {} opened since the start",
            flows.known,
            flows.in_words(),
            flows.capped,
            flows.bypassing,
            count(flows.opened)
        ),
    );
    line(
        out,
        "traffic",
        format!(
            "{} packets, {}; {} waiting, {} in queues and caches",
            count(traffic.packets),
            size(traffic.bytes as f64),
            count(traffic.held as u64),
            size(traffic.buffered_bytes as f64)
        ),
    );
    if let Some(sample) = status.sample.as_ref().filter(|sample| sample.active) {
        line(out, "", of_a_sample(sample));
    }
    let late = match lateness.p99_s {
        None => "none yet".to_owned(),
        Some(p99) => format!(
            "{} since the start; late by at most {} (half of them), {} (99 %), {} (all)",
            count(lateness.departures),
            or_unknown(lateness.p50_s, time),
            time(p99),
            or_unknown(lateness.max_s, time)
        ),
    };
    line(out, "departures", late);
    line(out, "waits", waits(&status.wait));
}

/// How many of the packets the daemon sees, and how wrong that makes goodputs.
fn of_a_sample(sample: &Sample) -> String {
    let (most, seen) = (count(sample.most_pps.into()), count(sample.seen_pps));
    let error = or_unknown(sample.goodput_error, |error| format!("{:.1} %", 100.0 * error));
    format!(
        "a sample: {seen} packets in the latest second, where {most} are looked at (nfqueue.observed_max); goodputs are right to {error} \
         (of half of the flows, 19 times of 20), packets and bytes of flows too few"
    )
}

/// How long packets wait for their turn, and what that cost.
fn waits(wait: &Wait) -> String {
    let told = match (wait.packets, wait.p50_s, wait.longest_now_s) {
        (None, _, None) => "unknown: packets wait in the kernel".to_owned(),
        (None, _, Some(now)) => format!("of the flows now at most {}", time(now)),
        (_, None, _) => "none yet".to_owned(),
        (_, Some(p50), now) => format!(
            "since the start at most {} (half of the packets), {} (95 %), {} (all); of the flows now at most {}",
            time(p50),
            or_unknown(wait.p95_s, time),
            or_unknown(wait.max_s, time),
            or_unknown(now, time)
        ),
    };
    let mut told = told;
    if wait.windows_lowered > 0 {
        told.push_str(&format!("; {} windows lowered", count(wait.windows_lowered)));
    }
    match (wait.aqm_drops, wait.aqm_marks) {
        (0, 0) => told,
        (drops, marks) => format!("{told}; {} dropped, {} marked as too long", count(drops), count(marks)),
    }
}

/// The guard's state; what is believed and cannot be, and what to do about it.
fn doubts(out: &mut String, status: &Status) {
    if let Some(guard) = &status.guard {
        line(out, "guard", format!("for {}: {}", time(guard.for_s), guard.message));
    }
    for doubt in &status.doubts {
        line(out, "doubt", format!("{}, for {}: {}", doubt.name, time(doubt.for_s), doubt.found));
        line(out, "", format!("-> {}", doubt.remedy));
    }
}

/// How far off forecasts were.
fn forecasts(out: &mut String, status: &Status) {
    let Some(forecasts) = &status.forecasts else { return };
    let Forecasts { latest, .. } = forecasts;
    if let Some(latest) = latest {
        let [foretold, measured] = [latest.foretold_bps, latest.measured_bps].map(bit_rate);
        let told = format!(
            "{foretold}, measured {measured}: {} ({}, {} ago)",
            latest.off(),
            latest.flow,
            time(latest.ago_s)
        );
        line(out, "forecast", told);
    }
    line(out, if latest.is_some() { "" } else { "forecast" }, forecasts.in_words());
}

/// What goes into the mesh by host; nothing where hosts are not shaped.
fn hosts(out: &mut String, status: &Status) {
    let Some(hosts) = &status.hosts else { return };
    let jain = hosts
        .jain
        .map_or_else(String::new, |jain| format!(", Jain's index {jain:.3} of those that want more"));
    let summary = format!(
        "share {} by {}{jain}; {} known, {} packets waiting; {} dropped, {} marked",
        bit_rate(hosts.rate_bps as f64),
        hosts.by,
        hosts.known,
        count(hosts.queued as u64),
        count(hosts.dropped),
        count(hosts.marked)
    );
    line(out, "hosts", summary);
    hosts.found.iter().for_each(|found| line(out, "rate", found_rate(found)));
    if status.datapath == Datapath::Ebpf.name() {
        line(out, "uploads", "not shared: data path ebpf does nothing about what hosts send");
    }
    let held: Vec<_> = hosts.list.iter().filter_map(held_back).take(HOSTS_SHOWN).collect();
    if !held.is_empty() {
        line(out, "uploads", format!("beside hosts that want more, {}", held.join(", ")));
    }
    let (busy, shown) = (hosts.list.iter().filter(|host| host.rate_bps > 0), HOSTS_SHOWN);
    let rows: Vec<_> = busy.take(shown).map(host_row).collect();
    if !rows.is_empty() {
        let columns: Vec<_> =
            HOST_HEADS.iter().map(|&head| Column { head, right: head != HOST_HEADS[0] }).collect();
        out.push('\n');
        out.push_str(&table(&columns, &rows));
        out.push('\n');
    }
}

/// By what a rate was found.
fn found_rate(found: &FoundRate) -> String {
    let FoundRate { min_bps, max_bps, mesh_wait_s, tcp, spin, probes, asked, blind } = found;
    let wait = match (blind, mesh_wait_s) {
        (true, _) => "nothing tells how long packets wait in the mesh: it falls".into(),
        (false, None) => "no round trip yet".into(),
        (false, Some(wait)) => format!("packets wait {} a hop in the mesh", time(*wait)),
    };
    let [tcp, spin, probes, asked] = [tcp, spin, probes, asked].map(|n| count(*n));
    let (min, max) = (bit_rate(*min_bps as f64), bit_rate(*max_bps as f64));
    format!(
        "found by delay, between {min} and {max}: {wait}; {tcp} round trips by TCP, {spin} by QUIC, {probes} by echoes of {asked} \
         asked for"
    )
}

/// A host that sends no more than it may.
fn held_back(host: &HostShare) -> Option<String> {
    Some(format!("{} may send {}", host.host, bit_rate(host.may_send_bps? as f64)))
}

/// A host as a row of the table: its address, then what [`HOST_HEADS`] say.
pub(crate) fn host_row(host: &HostShare) -> Vec<String> {
    vec![
        host.host.clone(),
        bit_rate(host.rate_bps as f64),
        host.weight.to_string(),
        or_unknown(host.cap_bps.into_iter().chain(host.found_bps).min(), |cap| bit_rate(cap as f64)),
        host.hops.to_string(),
        format!("{:.2}", host.price),
        host.flows.to_string(),
        host.queued.to_string(),
        or_unknown(host.wait_s, time),
    ]
}

fn fairness(out: &mut String, status: &Status) {
    let fairness = &status.fairness;
    let Some(mean) = fairness.mean_bps else {
        line(out, "fairness", "no flow has got data through in the last five seconds");
        return;
    };
    let jain = or_unknown(fairness.jain, |jain| format!("{jain:.3}"));
    line(
        out,
        "fairness",
        format!(
            "Jain's index {jain} over {}, mean {}",
            counted(fairness.active as u64, "active flow"),
            bit_rate(mean)
        ),
    );
    if fairness.active < 2 {
        return;
    }
    let columns = [
        Column { head: "smallest shares", right: false },
        Column { head: "goodput", right: true },
        Column { head: "share", right: true },
        Column { head: "RTT wireless", right: true },
        Column { head: "hops", right: true },
        Column { head: "", right: false },
    ];
    let row = |share: &Share| {
        vec![
            share.flow.clone(),
            bit_rate(share.goodput_bps as f64),
            format!("{:.2}", share.share),
            or_unknown(share.wireless_rtt_s, time),
            or_unknown(share.hops, |hops| hops.to_string()),
            if share.share < STARVING && share.outstanding { "starving".into() } else { String::new() },
        ]
    };
    let rows: Vec<_> = fairness.smallest.iter().map(row).collect();
    out.push('\n');
    out.push_str(&table(&columns, &rows));
}

/// What should be zero and is not.
fn troubles(out: &mut String, status: &Status) {
    let traffic = &status.traffic;
    let unread = |reason: &str| traffic.unread.get(reason).copied().unwrap_or(0);
    let troubles = [
        (traffic.queue_overflows, "packets found the kernel's queue full (raise nfqueue.length)"),
        (traffic.socket_overflows, "packets found its socket's buffer full (raise nfqueue.socket_buffer)"),
        (traffic.held_limit, "packets left unpaced, as too many were waiting (gateway.gap_held_max)"),
        (traffic.dropped, "packets dropped at full buffers (gateway.gap_buffer_windows)"),
        (traffic.untracked, "packets of connections without a place in the table (gateway.gap_flows_max)"),
        (traffic.failed, "packets could not be handled and were passed on: please report this"),
        (unread("malformed") + unread("truncated"), "packets with broken headers passed on unread"),
        (unread("oversized"), "packets too long for a wire passed on unread (see meshpaced doctor)"),
    ];
    let mut first = true;
    for (n, what) in troubles.into_iter().filter(|&(n, _)| n > 0) {
        if std::mem::take(&mut first) {
            out.push('\n');
        }
        line(out, "note", format!("{} {what}", count(n)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::tests::example;

    fn status(flows: Vec<crate::state::FlowReport>) -> Status {
        let config = crate::config::Config::parse(
            "test",
            b"mode = \"pace\"\n[mesh]\ninterfaces = [\"mesh0\"]\n[[subnet]]\nprefix = \"10.1.2.0/24\"\npaced_share = 0.5",
        );
        crate::control::status_of(&example::snapshot(flows), &config.unwrap(), &[])
    }

    #[test]
    fn the_starving_flow_is_named() {
        let text = render(&status(vec![example::report(1, 900), example::report(2, 100)]));
        assert!(text.contains("mode       pace; data path nfqueue; mesh behind mesh0"), "{text}");
        assert!(text.contains("10.1.2.0/24: pace, 50 % of its flows"), "{text}");
        // (900 + 100)^2 / (2 * (900^2 + 100^2)).
        assert!(text.contains("Jain's index 0.610 over 2 active flows, mean 500 kbit/s"), "{text}");
        let starving: Vec<&str> = text.lines().filter(|line| line.ends_with("starving")).collect();
        assert_eq!(starving.len(), 1, "{text}");
        assert!(
            starving[0].starts_with("10.1.2.2:5001-192.0.2.1:443") && starving[0].contains("0.20"),
            "{text}"
        );
        assert!(!text.contains("note"), "nothing is wrong: {text}");
    }

    #[test]
    fn what_cannot_be_is_said_and_what_to_do_about_it() {
        let mut status = status(Vec::new());
        status.doubts = vec![crate::control::protocol::Doubt {
            name: "rate".into(),
            for_s: 75.0,
            found: "a gets 2 Mbit/s over links of 1 Mbit/s".into(),
            remedy: "set mesh.rate".into(),
            contradicts: true,
        }];
        let text = render(&status);
        let said = "doubt      rate, for 1 min 15 s: a gets 2 Mbit/s over links of 1 Mbit/s\n           -> set mesh.rate\n";
        assert!(text.contains(said), "{text}");
    }

    #[test]
    fn what_is_not_shared_in_the_kernel_is_said() {
        let mut status = status(Vec::new());
        status.hosts = Some(crate::control::protocol::Hosts {
            rate_bps: 2_000_000,
            found: None,
            by: "bytes".into(),
            known: 0,
            jain: None,
            queued: 0,
            packets: 0,
            dropped: 0,
            marked: 0,
            list: Vec::new(),
        });
        for datapath in ["nfqueue", "ebpf"] {
            status.datapath = datapath.into();
            let text = render(&status);
            assert_eq!(text.contains("uploads    not shared"), datapath == "ebpf", "{text}");
        }
    }

    #[test]
    fn a_sample_is_told_with_its_error() {
        let mut status = status(vec![example::report(1, 900)]);
        let sample =
            |active| Sample { most_pps: 50_000, seen_pps: 49_100, active, goodput_error: Some(0.012) };
        status.sample = Some(sample(false));
        assert!(!render(&status).contains("a sample"), "all packets are seen");
        status.sample = Some(sample(true));
        let text = render(&status);
        assert!(
            text.contains(
                "           a sample: 49,100 packets in the latest second, where 50,000 are looked at"
            ),
            "{text}"
        );
        assert!(text.contains("goodputs are right to 1.2 % (of half"), "{text}");
    }

    #[test]
    fn a_forecast_is_told_with_what_came_and_with_the_errors_of_all() {
        let mut status = status(Vec::new());
        let latest = crate::control::protocol::ComparedForecast {
            flow: "10.1.2.3:5001-192.0.2.1:443".into(),
            foretold_bps: 10.5e6,
            measured_bps: 4.9e6,
            error: 4.9 / 10.5 - 1.0,
            ago_s: 75.0,
        };
        let forecasts = Forecasts {
            compared: 12,
            mean_error: -0.31,
            mean_error_size: 0.35,
            undecided: 2,
            latest: Some(latest),
        };
        status.forecasts = Some(forecasts);
        let said = "forecast   10.5 Mbit/s, measured 4.9 Mbit/s: 53 % less (10.1.2.3:5001-192.0.2.1:443, 1 min 15 s ago)\n           \
                    of 12 forecasts so far what came was 31 % less on the mean, 35 % off either way\n";
        let text = render(&status);
        assert!(text.contains(said), "{text}");
        status.forecasts.as_mut().unwrap().latest = None;
        let text = render(&status);
        assert!(text.contains("\nforecast   of 12 forecasts"), "an earlier daemon's: {text}");
    }

    #[test]
    fn a_flow_that_says_little_does_not_starve() {
        let mut quiet = example::report(2, 100);
        quiet.stats.outstanding = false;
        let text = render(&status(vec![example::report(1, 900), quiet]));
        assert!(text.contains("0.20") && !text.contains("starving"), "{text}");
    }

    #[test]
    fn what_is_wrong_is_said_and_what_to_do() {
        let mut status = status(Vec::new());
        status.traffic.queue_overflows = 1_234;
        let text = render(&status);
        assert!(
            text.contains("note       1,234 packets found the kernel's queue full (raise nfqueue.length)"),
            "{text}"
        );
        assert!(text.contains("no flow has got data through"), "{text}");
    }
}
