//! `meshpaced flows`: the flows as a table.

use crate::Failure;
use crate::control::protocol::{Flow, Flows, Reply, Request};
use crate::control::{Client, SocketArgs, SortKey, unexpected};
use crate::text::{Column, bit_rate, count, or_unknown, size, table, time};
use std::process::ExitCode;

/// Arguments of `meshpaced flows`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Only flows with an end of this address (10.1.2.3), prefix (10.1.2.0/24) or port (:443).
    filter: Option<String>,
    /// What to sort by; numbers largest first.
    #[arg(long, value_enum, default_value_t)]
    sort: SortKey,
    /// The other way round.
    #[arg(long)]
    reverse: bool,
    /// At most so many flows.
    #[arg(long, value_name = "N", default_value_t = 50)]
    limit: usize,
    /// All flows.
    #[arg(long, conflicts_with = "limit")]
    all: bool,
    /// Print the daemon's answer as JSON, with units in the keys.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    socket: SocketArgs,
}

/// Prints the flows.
///
/// # Errors
/// A filter that is none, or what is wrong with reaching the daemon.
pub fn run(args: &Args) -> Result<ExitCode, Failure> {
    let request = Request::Flows {
        filter: args.filter.clone(),
        sort: args.sort,
        reverse: args.reverse,
        limit: (!args.all).then_some(args.limit),
    };
    let line = Client::ask_once(&args.socket, &request)?;
    if args.json {
        crate::text::print_json(&line)?;
        return Ok(ExitCode::SUCCESS);
    }
    match &line.answer {
        Reply::Flows(flows) => crate::text::print(&render(flows))?,
        other => return Err(unexpected(other)),
    }
    Ok(ExitCode::SUCCESS)
}

const COLUMNS: [Column; 10] = [
    Column { head: "flow", right: false },
    Column { head: "data", right: false },
    Column { head: "hops", right: true },
    Column { head: "RTT wireless", right: true },
    Column { head: "wired", right: true },
    Column { head: "goodput", right: true },
    Column { head: "rate", right: true },
    Column { head: "queue", right: true },
    Column { head: "wait", right: true },
    Column { head: "treatment", right: false },
];

/// The flows as a table, and how many are not in it.
pub(crate) fn render(flows: &Flows) -> String {
    let rows: Vec<_> = flows.list.iter().map(row).collect();
    let mut out = if rows.is_empty() { String::new() } else { table(&COLUMNS, &rows) };
    let known = count(flows.known as u64);
    if flows.list.len() < flows.matching {
        let rest = count((flows.matching - flows.list.len()) as u64);
        out.push_str(&format!("and {rest} more; {known} flows known (--all, --limit)\n"));
    } else if flows.matching < flows.known || rows.is_empty() {
        out.push_str(&format!("{} of {known} flows\n", count(flows.matching as u64)));
    }
    if flows.list.iter().any(is_by_own_samples) {
        out.push_str("a rate in parentheses is by the queue that unpaced flows make; `meshpaced explain FLOW` foretells what pacing would give\n");
    }
    out
}

fn row(flow: &Flow) -> Vec<String> {
    vec![
        flow.flow.clone(),
        flow.direction.clone(),
        or_unknown(flow.hops, |hops| hops.to_string()),
        or_unknown(flow.wireless_rtt_s, time),
        or_unknown(flow.wired_rtt_s, time),
        goodput(flow),
        rate(flow, |bps| bit_rate(bps as f64)),
        if flow.queued == 0 {
            "0".to_owned()
        } else {
            format!("{} ({})", flow.queued, size(flow.buffered_bytes as f64))
        },
        or_unknown(flow.wait_s, time),
        treatment(flow),
    ]
}

/// What it gets, and how wrong that may be where not all packets are seen.
fn goodput(flow: &Flow) -> String {
    let goodput = or_unknown(flow.goodput_bps, |bps| bit_rate(bps as f64));
    match flow.goodput_error {
        Some(error) => format!("{goodput} ±{:.0} %", (100.0 * error).ceil()),
        None => goodput,
    }
}

/// The law's rate as payload, bit/s, in that form; in parentheses what it is by its own samples, no forecast, where the flow is only
/// watched. A flow whose packets wait for its host's turn has none.
pub(crate) fn rate(flow: &Flow, form: fn(u64) -> String) -> String {
    let rate = or_unknown(flow.rate_bps.filter(|_| flow.treatment != "shape"), form);
    if is_by_own_samples(flow) { format!("({rate})") } else { rate }
}

fn is_by_own_samples(flow: &Flow) -> bool {
    flow.treatment != "shape" && !flow.paced && flow.rate_bps.is_some()
}

/// What happens to the flow, in a word or two.
pub(crate) fn treatment(flow: &Flow) -> String {
    let mut text = flow.treatment.clone();
    if flow.cap_pps.is_some() {
        text.push_str(", capped");
    }
    if flow.treatment == "pace" && !flow.paced && matches!(flow.direction.as_str(), "down" | "both") {
        text.push_str(", bypassing");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::tests::example;

    #[test]
    fn a_flow_is_a_row_and_the_rest_is_counted() {
        let watched =
            Flow { treatment: "observe".into(), paced: false, hops: None, queued: 0, ..example::flow() };
        let list = vec![example::flow(), watched];
        let text = render(&Flows { matching: 5, known: 1_200, list: list.clone() });
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 5, "{text}");
        assert_eq!(
            lines[1].split_whitespace().collect::<Vec<_>>().join(" "),
            "10.1.2.3:5001-93.184.216.34:443 down 4 40 ms - 262 kbit/s 265 kbit/s 3 (4.5 kB) 21 ms pace"
        );
        let sampled = Flow { goodput_error: Some(0.121), ..example::flow() };
        assert_eq!(goodput(&sampled), "262 kbit/s ±13 %");
        assert!(lines[2].contains("(265 kbit/s)") && lines[2].ends_with("observe"), "{text}");
        assert_eq!(lines[3], "and 3 more; 1,200 flows known (--all, --limit)");
        let all = render(&Flows { matching: 2, known: 2, list });
        assert_eq!(all.lines().count(), 4, "nothing is left to say of others: {all}");
        assert!(all.lines().last().is_some_and(|said| said.contains("foretells")), "{all}");
        let shaped = Flow { treatment: "shape".into(), paced: false, ..example::flow() };
        assert_eq!(rate(&shaped, |_| String::from("a rate")), "-");
        let shaped = render(&Flows { matching: 1, known: 1, list: vec![shaped] });
        assert_eq!(shaped.lines().count(), 2, "no law has a say: {shaped}");
        let paced = render(&Flows { matching: 1, known: 1, list: vec![example::flow()] });
        assert_eq!(paced.lines().count(), 2, "no rate stands in parentheses: {paced}");
        assert_eq!(render(&Flows { matching: 0, known: 0, list: Vec::new() }), "0 of 0 flows\n");
    }

    #[test]
    fn a_bypassing_or_capped_flow_says_so() {
        let flow = Flow { paced: false, cap_pps: Some(20.0), ..example::flow() };
        assert_eq!(treatment(&flow), "pace, capped, bypassing");
        let up = Flow { paced: false, direction: "up".into(), ..example::flow() };
        assert_eq!(treatment(&up), "pace", "its sender paces it");
    }
}
