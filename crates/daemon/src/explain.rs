//! `meshpaced explain FLOW`: why this rate, with the formulas of schemes.md and their numbers.

use crate::Failure;
use crate::control::protocol::{
    Detail, Flow, Flows, Forecast, Forecasts, Law, Line, OtherLaw, Reply, Request, Standing, Step,
};
use crate::control::{Client, Filter, SocketArgs, SortKey, unexpected};
use crate::text::{bit_rate, count, digits, or_unknown, size, time};
use std::fmt::Write;
use std::process::ExitCode;

/// Samples listed, latest last.
const LISTED: usize = 10;

/// Arguments of `meshpaced explain`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The flow: its name, mesh end first (10.1.2.3:5001-93.184.216.34:443), or any part that no other flow's name
    /// has. An address, a prefix or a port (:443) that several flows have lists them.
    flow: String,
    /// Print the daemon's answer as JSON, with units in the keys.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    socket: SocketArgs,
}

/// Explains a flow's rate.
///
/// # Errors
/// A name that fits no flow or several, or what is wrong with reaching the daemon.
pub fn run(args: &Args) -> Result<ExitCode, Failure> {
    let mut client = Client::connect(&args.socket.socket)?;
    let line = match several(&mut client, &args.flow)? {
        Some(list) => list,
        None => client.ask(&Request::Flow { flow: args.flow.clone() })?,
    };
    if args.json {
        crate::text::print_json(&line)?;
        return Ok(ExitCode::SUCCESS);
    }
    match &line.answer {
        Reply::Flow(detail) => crate::text::print(&render(detail))?,
        Reply::Flows(flows) => crate::text::print(&choice(flows))?,
        other => return Err(unexpected(other)),
    }
    Ok(ExitCode::SUCCESS)
}

/// The list of flows that `name` means, if it is what flows are filtered by and several fit.
fn several(client: &mut Client, name: &str) -> Result<Option<Line>, Failure> {
    if Filter::parse(name).is_err() {
        return Ok(None);
    }
    let (filter, sort) = (Some(name.to_owned()), SortKey::default());
    let line = client.ask(&Request::Flows { filter, sort, reverse: false, limit: None })?;
    Ok(matches!(&line.answer, Reply::Flows(flows) if flows.matching > 1).then_some(line))
}

fn choice(flows: &Flows) -> String {
    let list = crate::flows::render(flows);
    format!("{list}\n{} flows fit: explain one of them by its name.\n", flows.matching)
}

/// The explanation as text.
#[must_use]
pub fn render(detail: &Detail) -> String {
    let mut out = String::new();
    head(&mut out, detail);
    rate(&mut out, detail);
    // No law has a say in a flow whose packets wait for its host's turn.
    if detail.flow.treatment == "shape" {
        return out;
    }
    if let Some(law) = &detail.law {
        law_in_numbers(&mut out, law);
    }
    if let Some(OtherLaw { name, figures, .. }) =
        detail.other_law.as_ref().filter(|law| !law.figures.is_empty())
    {
        let figures: Vec<String> =
            figures.iter().map(|(name, value)| format!("{name} {}", digits(*value))).collect();
        writeln!(out, "\nThe law {name}: {}", figures.join("; ")).expect("a String takes all");
    }
    if let Some(standing) = &detail.goodput_control {
        goodput_control(&mut out, &detail.flow, standing);
    }
    out
}

macro_rules! say {
    ($out:expr, $($text:tt)*) => { writeln!($out, $($text)*).expect("a String takes all") };
}

fn head(out: &mut String, Detail { flow, policy, .. }: &Detail) {
    say!(out, "{}", flow.flow);
    let data = match flow.direction.as_str() {
        "down" => "to the mesh",
        "up" => "to the Internet",
        "both" => "both ways",
        _ => "none yet",
    };
    say!(out, "  data      {data}; goodput {}", or_unknown(flow.goodput_bps, |bps| bit_rate(bps as f64)));
    let group = match (policy.mode.as_str(), policy.paced_share) {
        ("pace", share) if share < 1.0 => format!(
            ", of whose flows {:.0} % are paced: this one drew {:.3}, so it is in the {} group",
            100.0 * share,
            policy.draw,
            if policy.draw < share { "paced" } else { "watched" }
        ),
        _ => String::new(),
    };
    say!(out, "  policy    mode {}{group}; treated as {}", policy.mode, flow.treatment);
    say!(
        out,
        "  path      {} ({}), links {}",
        match flow.hops {
            Some(1) => "1 wireless hop".to_owned(),
            Some(hops) => format!("{hops} wireless hops"),
            None => "wireless hops unknown, taken as 1".to_owned(),
        },
        flow.hop_source,
        bit_rate(flow.link_rate_bps as f64)
    );
    say!(
        out,
        "  RTT       wireless {} (smoothed), wired {} (latest); {} samples taken, {} refused",
        or_unknown(flow.wireless_rtt_s, time),
        or_unknown(flow.wired_rtt_s, time),
        count(flow.samples),
        count(flow.samples_rejected)
    );
    if flow.wait_s.is_some() || flow.drops > 0 || flow.local_retransmissions > 0 {
        queue(out, flow);
    }
}

/// Packets of the flow that wait, and what became of those that waited; empty figures are left out.
fn queue(out: &mut String, flow: &Flow) {
    let mut parts = vec![format!(
        "  queue     {} wait, for {} (smoothed)",
        count(flow.queued as u64),
        or_unknown(flow.wait_s, time)
    )];
    parts.extend(
        flow.window_bytes.map(|window| format!("the sender may have {} under way", size(window as f64))),
    );
    let became = [
        (flow.aqm_drops, "dropped after too long"),
        (flow.aqm_marks, "marked after too long"),
        (flow.drops, "dropped at a full buffer"),
        (flow.duplicates, "copies dropped"),
        (flow.local_retransmissions, "sent again here"),
    ];
    parts.extend(
        became.iter().filter(|(many, _)| *many > 0).map(|(many, what)| format!("{} {what}", count(*many))),
    );
    say!(out, "{}", parts.join("; "));
}

/// The spacing in force, what set it, and whether it is applied.
fn rate(
    out: &mut String,
    Detail { flow, segment_bytes, law, other_law, goodput_control, forecast, forecasts, .. }: &Detail,
) {
    out.push('\n');
    if matches!(flow.direction.as_str(), "up" | "both") {
        upward(out, flow);
    }
    if flow.direction == "up" || (law.is_none() && other_law.is_none()) {
        return;
    }
    if flow.treatment == "shape" {
        say!(
            out,
            "Rate to the mesh: its part of its host's share. It has no pace of its own; its packets take turns with its host's, and \
             its host with others (`meshpaced status` lists them)."
        );
        if let Some(forecast) = forecast {
            foretell(out, flow, forecast, forecasts.as_ref());
        }
        return;
    }
    let Some(interval) = flow.interval_s else {
        say!(
            out,
            "Rate to the mesh: not limited. No round trip was measured yet, and nothing is held before the first."
        );
        return;
    };
    if let Some(forecast) = forecast.as_ref().filter(|_| flow.treatment != "pace") {
        say!(out, "Rate to the mesh: not limited, as the flow is only watched.");
        foretell(out, flow, forecast, forecasts.as_ref());
        return;
    }
    let verb = match (flow.treatment.as_str(), flow.paced) {
        ("pace", true) => "one packet",
        ("pace", false) => "unlimited, as the buffer was full when the flow began; otherwise one packet",
        _ => "not limited, as the flow is only watched; by its own samples it would be one packet",
    };
    say!(
        out,
        "Rate to the mesh: {verb} each {}, that is {} packet/s or {} in segments of {} bytes.",
        time(interval),
        digits(1.0 / interval),
        or_unknown(flow.rate_bps, |bps| bit_rate(bps as f64)),
        count(*segment_bytes)
    );
    let cap = goodput_control.as_ref().and_then(|standing| standing.cap_interval_s);
    let (own, name) = match other_law {
        Some(other) => (other.interval_s, format!("law {}", other.name)),
        None => (law.as_ref().and_then(|law| law.interval_s), "rate law".to_owned()),
    };
    match (cap, own) {
        (Some(cap), Some(own)) if cap > own => {
            say!(out, "Set by goodput control's cap; the {name} alone would allow one each {}.", time(own));
        }
        (Some(cap), _) => {
            say!(out, "Set by the {name}; goodput control's cap of one each {} is above it.", time(cap));
        }
        (None, _) => say!(out, "Set by the {name}."),
    }
}

/// What pacing would make of a flow that is only watched. Its own samples are those of the queue that it has made, and are not
/// what it would be paced by.
fn foretell(out: &mut String, flow: &Flow, forecast: &Forecast, earlier: Option<&Forecasts>) {
    let (Some(interval), Some(base)) = (forecast.interval_s, forecast.base_rtt_s) else {
        let why = match forecast.unknown.as_deref() {
            Some("too-young") => "Too few round trips were measured.",
            Some("other-law") => "Only of TCP-GAP's law it is known what it makes of an empty path.",
            Some("never-alone") => {
                "Every round trip was that of a path which the flow itself had filled. A pause, or another connection to the host, \
                 would tell."
            }
            _ => {
                "This data path does not tell what was on its way. Under datapath = \"nfqueue\" it can be told."
            }
        };
        say!(out, "Paced, it would get: that cannot be told. {why}");
        return;
    };
    say!(
        out,
        "Paced, it would get about {}, one packet each {}: the rate law with the least round trip, {}, and no variation{}.",
        or_unknown(forecast.rate_bps, |bps| bit_rate(bps as f64)),
        time(interval),
        time(base),
        match forecast.sharing {
            Some(flows) if flows > 1 => format!(", shared by the {flows} flows to this host"),
            _ => String::new(),
        }
    );
    if let Some(earlier) = earlier {
        say!(out, "Held against what came: {}.", earlier.in_words());
    }
    if let (Some(told), Some(has)) = (forecast.rate_bps, flow.goodput_down_bps)
        && has < told
    {
        say!(
            out,
            "It gets less now. If its sender has no more to send, or its receiver takes no more, it keeps that."
        );
    }
}

fn upward(out: &mut String, flow: &Flow) {
    let told = count(flow.options_written);
    if flow.treatment == "pace" {
        say!(
            out,
            "Rate to the Internet: set by the host in the mesh (meshpaced host). The gateway tells it the wired part of the \
             round trip: {told} options written so far.",
        );
    } else {
        say!(
            out,
            "Rate to the Internet: set by the host in the mesh. The flow has no pace here, so the gateway tells it nothing.",
        );
    }
}

fn law_in_numbers(out: &mut String, law: &Law) {
    let Some(step) = &law.last else { return };
    say!(out, "\nRate law (numbers of schemes.md 1.4 and 2), latest sample:");
    path(out, law, step);
    queueing(out, step);
    k_hop_delay(out, step);
    let smoothed = law.smoothed_s.unwrap_or(step.k_hop_delay_s);
    match step.smoothed_before_s {
        Some(before) => say!(
            out,
            "  (2.2)  FHD_hat = {} * {} + {} * {} = {}",
            digits(law.alpha),
            time(before),
            digits(1.0 - law.alpha),
            time(step.k_hop_delay_s),
            time(smoothed)
        ),
        None => say!(out, "  (2.2)  FHD_hat = {}, the first sample", time(smoothed)),
    }
    variation(out, law);
    if let Some(interval) = law.interval_s {
        let name = if law.variation_measure == "none" { "0" } else { &law.variation_measure };
        say!(
            out,
            "  (2.4)  R = 1 / (FHD_hat * (1 + 2 * {name})) = 1 / ({} * {:.3}) = {} packet/s, one each {}",
            time(smoothed),
            1.0 + 2.0 * law.variation,
            digits(1.0 / interval),
            time(interval)
        );
    }
}

fn path(out: &mut String, law: &Law, step: &Step) {
    let rates = match step.link_rates_bps[..] {
        [rate] => format!("b = {}", bit_rate(rate as f64)),
        ref rates => {
            let rates: Vec<String> = rates.iter().map(|&rate| bit_rate(rate as f64)).collect();
            format!("b_i = {}", rates.join(", "))
        }
    };
    let known = if step.hops_known { "" } else { " (unknown, taken as 1)" };
    say!(out, "         RTT = {}, h = {}{known}, {rates},", time(step.rtt_s), step.hops);
    say!(
        out,
        "         s_data = {} bit, s_ack = {} bit, n = {}, k = {}",
        count(step.data_bits),
        count(step.ack_bits),
        law.n,
        step.k
    );
}

fn queueing(out: &mut String, step: &Step) {
    let hops = f64::from(step.hops);
    let (data, ack) = (step.data_bits as f64, step.ack_bits as f64);
    let air: f64 = match step.link_rates_bps[..] {
        [rate] => hops * (data + ack) / rate as f64,
        ref rates => rates.iter().map(|&rate| (data + ack) / rate as f64).sum(),
    };
    let measured = (step.rtt_s - air) / (2.0 * hops);
    let clamped = if measured < 0.0 && step.queueing_s == 0.0 {
        " < 0: the round trip is shorter than the air time, so 0"
    } else {
        ""
    };
    let result = if measured < 0.0 { format!("-{}", time(-measured)) } else { time(measured) };
    say!(
        out,
        "  (1.2)  t_q = (RTT - air time) / 2h = ({} - {}) / {} = {result}{clamped}",
        time(step.rtt_s),
        time(air),
        2 * step.hops
    );
}

fn k_hop_delay(out: &mut String, step: &Step) {
    let k = f64::from(step.k);
    let air = step.k_hop_delay_s - k * step.queueing_s;
    let formula =
        if step.link_rates_bps.len() == 1 { "k * (t_q + s_data/b)" } else { "k * t_q + slowest k links" };
    say!(
        out,
        "  (2.1)  FHD = {formula} = {} * {} + {} = {}",
        step.k,
        time(step.queueing_s),
        time(air),
        time(step.k_hop_delay_s)
    );
}

fn variation(out: &mut String, law: &Law) {
    if law.variation_measure == "none" {
        say!(out, "  (2.3)  no variation counts");
        return;
    }
    let what = if law.sampled == "round-trip" { "round trips" } else { "k-hop delays" };
    let name = &law.variation_measure;
    let (held, max) = (law.history_s.len(), law.history_max);
    match law.mean_s {
        Some(mean) if held > 1 => say!(
            out,
            "  (2.3)  {name} = deviation / mean of the last {held} {what} (at most {max}) = {} / {} = {:.3}",
            time(law.variation * mean),
            time(mean),
            law.variation
        ),
        _ => say!(out, "  (2.3)  {name} = 0, as there is one sample only"),
    }
    let latest = &law.history_s[held.saturating_sub(LISTED)..];
    let latest: Vec<String> = latest.iter().map(|&sample| digits(1e3 * sample)).collect();
    say!(out, "         latest {what}: {} ms", latest.join(" "));
    if law.unreliable > 0 {
        say!(out, "         {} samples had to take an unknown hop count as 1", count(law.unreliable));
    }
}

fn goodput_control(out: &mut String, flow: &Flow, standing: &Standing) {
    say!(out, "\nGoodput control (schemes.md 3.5), latest run, every {}:", time(standing.interval_s));
    match (standing.goodput_bps, standing.mean_bps) {
        (Some(own), Some(mean)) if mean > 0.0 => {
            let deviation = own / mean;
            let verdict = if deviation > standing.threshold { "above" } else { "not above" };
            say!(
                out,
                "  goodput {} over the mean {} of {} flows compared = {deviation:.2}, {verdict} the threshold {}",
                bit_rate(own),
                bit_rate(mean),
                standing.active,
                digits(standing.threshold)
            );
        }
        (Some(_), _) => say!(out, "  no flow compared got anything through"),
        (None, _) => say!(out, "  the flow was not compared: it carried no data, or it gets what it wants"),
    }
    match (standing.cap_interval_s, standing.capped_runs) {
        (Some(cap), Some(0)) => {
            say!(
                out,
                "  capped at {} packet/s in that run: whether it helps the slow flows shows in the next",
                digits(1.0 / cap)
            );
        }
        (Some(cap), runs) => {
            let runs = or_unknown(runs, |runs| runs.to_string());
            say!(
                out,
                "  capped at {} packet/s; set {runs} runs before, kept because it helped the slow flows, and raised a little \
                 each run",
                digits(1.0 / cap)
            );
        }
        (None, _) if flow.direction == "up" => {
            say!(out, "  not capped: only flows to the mesh are, as only they are paced here");
        }
        (None, _) => say!(out, "  not capped"),
    }
    if let Some(runs) = standing.left_alone_runs {
        say!(out, "  left alone for {runs} more runs, because an earlier cap did not help the slow flows");
    }
}

#[cfg(test)]
mod tests;
