//! Hop counts, rules, and what a running daemon sees.

use crate::config::{Config, Datapath, HopSource};
use crate::control::protocol::{Doubt, Forecasts};
use crate::doctor::facts::Facts;
use crate::doctor::finding::Finding;
use crate::plausible::Name;
use crate::rules::{Form, Found, Hook};

pub(super) fn hop_sources(config: &Config, facts: &Facts) -> Vec<Finding> {
    let subject = "hop counts";
    let asked = |source: HopSource| config.hops.sources.contains(&source);
    let kind_of = |name: &String| facts.interface(name).and_then(|interface| interface.kind.clone());
    let batman = config.mesh.interfaces.iter().find(|name| kind_of(name).as_deref() == Some("batadv"));
    let fixed = !config.hops.fixed.is_empty() && asked(HopSource::Static)
        || config.subnets.iter().any(|subnet| subnet.hops.is_some());
    let mut found: Vec<_> = facts
        .hop_sources
        .iter()
        .filter(|report| report.entries > 0)
        .map(|report| {
            Finding::good(subject, format!("{} knows {} prefixes", report.source.name(), report.entries))
        })
        .collect();
    if fixed {
        found.push(Finding::good(subject, "[hops.static] or [[subnet]] knows some"));
    }
    let is_mesh_point = |name: &String| {
        facts.interface(name).and_then(|interface| interface.wireless.as_deref()) == Some("mesh point")
    };
    let problem = facts.hop_source(HopSource::Mpath).and_then(|report| report.problem.as_ref());
    if let Some(problem) = problem.filter(|_| config.mesh.interfaces.iter().any(is_mesh_point)) {
        found.push(Finding::warning(
            subject,
            format!("802.11s: {problem}"),
            "install a newer iw, or write [hops.static]",
        ));
    }
    if let Some(name) = batman.filter(|_| !fixed) {
        let what = format!(
            "{name} is batman-adv, which knows link qualities but no hop counts{}",
            if asked(HopSource::Ttl) { "; TTLs show one hop behind it" } else { "" }
        );
        found.push(Finding::warning(
            subject,
            what,
            "write [hops.static], and take \"ttl\" out of hops.sources",
        ));
    } else if found.is_empty() {
        let default = config.hops.default;
        found.push(if asked(HopSource::Ttl) {
            let what = format!(
                "no routing daemon and no 802.11s tell them: they are inferred from TTLs, else {default}"
            );
            Finding::note(subject, what)
        } else {
            let what = format!("no source: every mesh host is taken to be {default} hops away");
            Finding::warning(subject, what, "write [hops.static], or put a source into hops.sources")
        });
    }
    found
}

pub(super) fn queue_owner(config: &Config, facts: &Facts) -> Vec<Finding> {
    let queue = config.nfqueue.queue;
    match (facts.queue_owner, &facts.daemon) {
        (Some(port), None) if config.datapath == Datapath::Nfqueue => {
            let found =
                format!("queue {queue} is bound by netlink port {port}, and no daemon of ours answers");
            let remedy =
                "if a daemon hangs, end it; if another program uses the queue, choose another nfqueue.queue";
            vec![Finding::serious("queue", found, remedy)]
        }
        _ => Vec::new(),
    }
}

pub(super) fn rules(config: &Config, facts: &Facts) -> Vec<Finding> {
    let subject = "rules";
    if config.datapath != Datapath::Nfqueue {
        return Vec::new();
    }
    match (facts.rules, &facts.daemon) {
        (Some(Found::InForce(form)), Some(_)) => vec![of_form(form)],
        (Some(Found::Otherwise), Some(_)) if !config.is_off() => {
            let found =
                "a daemon runs, but the rules that queue packets for it are not as this file wants them";
            let remedy = "another program may have reloaded the firewall: the daemon makes them again within 10 s; if it does \
                          not, its events (rules_failed) say why";
            vec![Finding::serious(subject, found, remedy)]
        }
        (Some(Found::NotLast), Some(_)) => {
            let found = "in force, but somebody appended rules behind the jump to them: accepted packets do not see those";
            let remedy = "the daemon moves the jump to the end within 10 s; if it comes back, let the other program's rules be \
                          inserted, not appended, or be in another table";
            vec![Finding::warning(subject, found, remedy)]
        }
        (Some(Found::InForce(_)), None) => {
            vec![Finding::note(
                subject,
                "left by a daemon that is gone; packets pass them (`meshpaced undo` removes them)",
            )]
        }
        _ => Vec::new(),
    }
}

/// Where the rules stand is what they are worth against floods.
fn of_form(form: Form) -> Finding {
    let subject = "rules";
    let found = format!("in force, {form}");
    if form.hook == Hook::BeforeFilter {
        let found = format!("{found}: what the firewall drops takes places in the table of flows");
        let remedy = "nft or iptables-nft, or a kernel with CONFIG_IP_NF_SECURITY and CONFIG_IP6_NF_SECURITY; until then \
                      drop floods before: in the table raw, or mangle PREROUTING";
        return Finding::warning(subject, found, remedy);
    }
    if !form.leased {
        let found = format!(
            "{found}: should the daemon hang, nothing but the service manager's watchdog lets packets pass"
        );
        let remedy = "CONFIG_NETFILTER_XT_MATCH_RECENT (OpenWrt: iptables-mod-conntrack-extra), or nft; and the loopback interface up";
        return Finding::warning(subject, found, remedy);
    }
    if !form.repairs_untracked {
        let found = format!(
            "{found}: where addresses are translated, what the gateway sends again gets another port"
        );
        let remedy = "CONFIG_IP_NF_RAW, CONFIG_IP6_NF_RAW and CONFIG_NETFILTER_XT_TARGET_CT (OpenWrt: iptables-mod-conntrack-extra), or nft; \
                      or local_retransmission = \"off\" in [gateway]";
        return Finding::warning(subject, found, remedy);
    }
    if !form.spares_invalid {
        let remedy = "a kernel with connection tracking (CONFIG_NFT_CT, CONFIG_NETFILTER_XT_MATCH_CONNTRACK)";
        return Finding::warning(subject, found, remedy);
    }
    Finding::good(subject, found)
}

pub(super) fn asymmetric_routing(_: &Config, facts: &Facts) -> Vec<Finding> {
    let subject = "asymmetric routing";
    let Some(daemon) = &facts.daemon else {
        return vec![Finding::note(
            subject,
            "no daemon answers on the control socket: flows cannot be looked at",
        )];
    };
    let (one_way, flows) = (daemon.one_way, daemon.flows);
    let lately = daemon.doubts.iter().find(|doubt| doubt.name == Name::OneSided.word());
    if let (0, Some(doubt)) = (one_way, lately) {
        return vec![Finding::warning(subject, doubt.found.clone(), doubt.remedy.clone())];
    }
    if one_way == 0 {
        return vec![Finding::good(subject, format!("both directions of all {flows} flows pass here"))];
    }
    let found = format!(
        "{one_way} of {flows} flows pass here in one direction only: their round trips cannot be split, they are not paced"
    );
    let remedy =
        "lead both directions through this gateway: one gateway a mesh host, the same route out and back";
    // A few are hosts that changed their gateway; half of them are a rule.
    let finding = if one_way * 2 >= flows { Finding::serious } else { Finding::warning };
    vec![finding(subject, found, remedy.to_owned())]
}

/// The doubts of a running daemon, except connections in one direction, which stand beside their routing.
pub(super) fn doubts(_: &Config, facts: &Facts) -> Vec<Finding> {
    let doubts = facts.daemon.iter().flat_map(|daemon| &daemon.doubts);
    let told = doubts.filter(|doubt| doubt.name != Name::OneSided.word());
    let finding = |doubt: &Doubt| {
        let finding = if doubt.contradicts { Finding::serious } else { Finding::warning };
        finding("plausibility", doubt.found.clone(), doubt.remedy.clone())
    };
    told.map(finding).collect()
}

/// Forecasts of pacing that were off by more than this are not to be gone by: it is what they are off by over chains without a load of
/// others (docs/robustness.md).
const OFF: f64 = 0.5;
/// As many forecasts tell something of the next.
const ENOUGH: usize = 3;

/// How far off the running daemon's forecasts of pacing were.
pub(super) fn forecasts(_: &Config, facts: &Facts) -> Vec<Finding> {
    let told = facts.daemon.as_ref().and_then(|daemon| daemon.forecasts.as_ref());
    let finding = |forecasts: &Forecasts| {
        let (subject, found) = ("forecast", forecasts.in_words());
        if forecasts.compared < ENOUGH || forecasts.mean_error_size <= OFF {
            return Finding::good(subject, found);
        }
        let remedy = if forecasts.mean_error < 0.0 {
            "links or hops are believed better than they are, or other hosts share the channel: see mesh.rate and [hops]; go by a \
             trial (`meshpaced trial`), not by forecasts"
        } else {
            "links or hops are believed worse than they are: see mesh.rate and [hops]; go by a trial (`meshpaced trial`), not by \
             forecasts"
        };
        Finding::warning(subject, found, remedy)
    };
    told.map(finding).into_iter().collect()
}
