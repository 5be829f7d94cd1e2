//! Thin acknowledgements: whether they are possible here, and how an edge that runs gets on.

use crate::config::{Config, EdgeDatapath};
use crate::doctor::facts::{Facts, Part, Presence};
use crate::doctor::finding::Finding;
use crate::edge::Counters;

const SUBJECT: &str = "meshpaced edge";

/// By which way, if none runs.
pub(super) fn possible(config: &Config, facts: &Facts) -> Vec<Finding> {
    if facts.edge.is_some() {
        return Vec::new();
    }
    let may = |part| facts.part(part) != Presence::Absent;
    let (by_kernel, by_queue) = (may(Part::Bpf) && cfg!(feature = "ebpf"), may(Part::Nfqueue));
    let finding = match (by_kernel, by_queue, config.edge.datapath) {
        (false, _, EdgeDatapath::Ebpf) => Finding::note(
            SUBJECT,
            "not possible here by edge.datapath = \"ebpf\": no CONFIG_BPF_SYSCALL, or built without eBPF",
        ),
        (_, false, EdgeDatapath::Nfqueue) | (false, false, _) => {
            Finding::note(SUBJECT, "not possible here: the kernel has no nfnetlink_queue for edge.datapath")
        }
        (true, _, EdgeDatapath::Auto | EdgeDatapath::Ebpf) => Finding::good(SUBJECT, "possible, by eBPF"),
        (_, true, _) => Finding::good(SUBJECT, "possible, by NFQUEUE"),
    };
    vec![finding]
}

/// What its counters say.
pub(super) fn running(_: &Config, facts: &Facts) -> Vec<Finding> {
    let Some(edge) = &facts.edge else { return Vec::new() };
    let Counters { no_place, lost_events, failed, late, .. } = edge.counters;
    let mut found = Vec::new();
    for name in &edge.interfaces {
        if facts.interfaces.is_some() && facts.interface(name).is_none() {
            let what = format!("{name}, which it thins towards, does not exist");
            found.push(Finding::warning(
                SUBJECT,
                what,
                "make it: the edge puts its program there when it comes",
            ));
        }
    }
    if late > 0 {
        let what = format!("the program found {late} times that nobody sends what it keeps: then all pass");
        found.push(Finding::warning(
            SUBJECT,
            what,
            "the daemon was held up for a second or more: is the machine overloaded?",
        ));
    }
    if failed > 0 {
        let what =
            format!("{failed} acknowledgements could not be sent at their deadline: their senders ask again");
        found.push(Finding::warning(SUBJECT, what, "is the interface down, or its queue full (ip -s link)?"));
    }
    if no_place > 0 {
        let what = format!("{no_place} acknowledgements passed because there was no room to keep them");
        found.push(Finding::warning(
            SUBJECT,
            what,
            "raise edge.held, or find who sends so many (docs/edge.md)",
        ));
    }
    if lost_events > 0 {
        let what =
            format!("{lost_events} acknowledgements passed because the daemon could not be told of them");
        found.push(Finding::note(SUBJECT, what));
    }
    if found.is_empty() {
        let share =
            edge.thinned_share.map_or_else(String::new, |share| format!(", {:.0} % thinned", share * 100.0));
        let way = if edge.datapath == "ebpf" { "eBPF" } else { "NFQUEUE" };
        found.push(Finding::good(SUBJECT, format!("by {way} on {}{share}", edge.interfaces.join(", "))));
    }
    found
}
