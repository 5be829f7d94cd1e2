//! The rules as a table of nftables of their own.

use super::plan::{ACK_MAX, Match, Owner, Plan, SAMPLE_BURST};
use super::{Form, REPAIR_MARK, Trouble, nothing_unless_forbidden};
use crate::lease::{LEASE, Ports};
use crate::tool::{ToolError, run, run_with};
use ipnet::IpNet;
use std::fmt::Write;

/// Behind the firewall's filter (priority 0; firewalld's is 10): `security` is 50.
const PRIORITY: &str = "security + 1";

/// The set that holds the lease, as its only element: nothing of a packet, so that it is found with any. There is room for more,
/// since one that ran out takes its place until the kernel clears it away.
const LEASES: &str = "lease";
const NOTHING: &str = "meta mark and 0";
/// The limit of all rules together.
const SAMPLES: &str = "samples";

/// Replaces the table, or makes it; true if there was one.
pub(super) fn install(plan: &Plan, form: Form) -> Result<bool, Trouble> {
    let found = exists(plan.owner())?;
    load(&script(plan, form, &queue(plan)))?;
    Ok(found)
}

/// Removes the table.
pub(super) fn remove(owner: Owner) -> Result<Vec<String>, Trouble> {
    match exists(owner) {
        Ok(true) => {
            let tag = owner.tag();
            load(&format!("delete table inet {tag}\n"))?;
            Ok(vec![format!("nft: table inet {tag}")])
        }
        Ok(false) => Ok(Vec::new()),
        Err(why) => nothing_unless_forbidden(why),
    }
}

/// `Ok` if the table has the plan's rules in that form.
pub(super) fn verify(plan: &Plan, form: Form) -> Result<(), Trouble> {
    let tag = plan.owner().tag();
    let listed = run("nft", &["-n", "list", "table", "inet", tag]).map_err(in_words)?;
    let number = plan.queue().to_string();
    let queues = listed.lines().filter(|line| {
        let mut words = line.split_whitespace().skip_while(|word| *word != "queue");
        words.next().is_some() && words.any(|word| word == number)
    });
    let lasting = |what: String| Err(Trouble::Lasting(format!("nft: {what} table inet {tag}")));
    let hooks = plan.owner().hooks().len();
    let (found, wanted) = (queues.clone().count(), plan.matches().count() * hooks);
    // nft prints the protocol by its name, with -n as a number.
    let of_tcp = queues.filter(|line| line.contains("l4proto ")).count();
    let wanted_of_tcp = plan.matches().filter(|rule| plan.is_of_tcp(rule)).count() * hooks;
    if (found, of_tcp) != (wanted, wanted_of_tcp) {
        return lasting(format!("{found} of {wanted} rules in"));
    }
    // nft prints `ct state invalid`, with -n `ct state 0x1`, where the state is known by its bit.
    let spares = listed.lines().any(|line| line.trim_start().starts_with("ct state "));
    let beacon =
        plan.ports().map_or_else(String::new, |ports| format!("udp sport {0} udp dport {0} ", ports.v4));
    let leased =
        listed.contains(&format!("{beacon}update @{LEASES}")) && listed.contains(&format!("!= @{LEASES}"));
    let untracked = listed.lines().any(|line| line.contains(" notrack"));
    let limited = listed.lines().filter(|line| line.contains(&format!("limit name \"{SAMPLES}\""))).count();
    let sampled = match plan.sample() {
        Some(most) => limited == wanted && listed.contains(&format!("rate over {most}/second")),
        None => limited > 0,
    };
    let found = (spares, leased, untracked, sampled);
    if found != (form.spares_invalid, form.leased, form.repairs_untracked, form.samples)
        || !stands_at(&listed)
    {
        return lasting(format!("not {form}:"));
    }
    Ok(())
}

/// Whether the chain has our priority, which nft prints in its own words, with -n as a number.
fn stands_at(listed: &str) -> bool {
    listed.contains(&format!("priority {PRIORITY};")) || listed.contains("priority 51;")
}

/// Whether the kernel takes nft's queue statement: it is shown one, without putting it in force. `None` if it cannot be
/// asked: no nft, no rights.
#[must_use]
pub fn nft_can_queue() -> Option<bool> {
    let chain = |statement: &str| {
        let script = format!(
            "table inet meshpaced_probe {{\n\tchain forward {{\n\t\ttype filter hook forward priority 0;\n\t\t{statement}\n\t}}\n}}\n"
        );
        run_with("nft", &["--check", "-f", "-"], &script, None)
    };
    chain("counter").ok()?;
    Some(chain("queue num 0 bypass").is_ok())
}

fn exists(owner: Owner) -> Result<bool, Trouble> {
    let tag = owner.tag();
    let tables = run("nft", &["list", "tables"]).map_err(in_words)?;
    Ok(tables.lines().any(|line| line.trim() == format!("table inet {tag}")))
}

/// One transaction: all or nothing, and the table is never missing.
fn load(script: &str) -> Result<(), Trouble> {
    run_with("nft", &["-f", "-"], script, None).map(|_| ()).map_err(in_words)
}

fn queue(plan: &Plan) -> String {
    format!("queue num {} bypass", plan.queue())
}

/// The script that replaces the table, with `statement` as what is done to the packets.
pub(super) fn script(plan: &Plan, form: Form, statement: &str) -> String {
    let tag = plan.owner().tag();
    // Making the table first lets the deletion succeed whether there was one or not.
    let mut out = format!("add table inet {tag}\ndelete table inet {tag}\ntable inet {tag} {{\n");
    let ports = plan.ports().filter(|_| form.leased);
    if let Some(Ports { v4: port, .. }) = ports {
        let ms = LEASE.as_nanos() / 1_000_000;
        write!(
            out,
            "\tset {LEASES} {{\n\t\ttype mark; size 64; flags dynamic,timeout; timeout {ms}ms;\n\t}}\n\
             \tchain beacon {{\n\t\ttype filter hook output priority {PRIORITY}; policy accept;\n\
             \t\tip saddr 127.0.0.1 ip daddr 127.0.0.1 udp sport {port} udp dport {port} \
             update @{LEASES} {{ {NOTHING} timeout {ms}ms }} comment \"{tag}\"\n\t}}\n"
        )
        .expect("a String takes all");
    }
    if let Some(most) = plan.sample().filter(|_| form.samples) {
        write!(out, "\tlimit {SAMPLES} {{\n\t\trate over {most}/second burst {SAMPLE_BURST} packets\n\t}}\n")
            .expect("a String takes all");
    }
    if form.repairs_untracked {
        write!(
            out,
            "\tchain repairs {{\n\t\ttype filter hook output priority raw; policy accept;\n\
             \t\tmeta mark {REPAIR_MARK:#x} meta l4proto tcp notrack comment \"{tag}\"\n\t}}\n"
        )
        .expect("a String takes all");
    }
    for chain in plan.owner().hooks() {
        write_chain(&mut out, plan, form, &chain.to_lowercase(), statement);
    }
    out.push_str("}\n");
    out
}

/// The chain at one of the kernel's hooks.
fn write_chain(out: &mut String, plan: &Plan, form: Form, hook: &str, statement: &str) {
    let tag = plan.owner().tag();
    let mut line = |line: &str| writeln!(out, "\t{line}").expect("a String takes all");
    line(&format!("chain {hook} {{"));
    line(&format!("\ttype filter hook {hook} priority {PRIORITY}; policy accept;"));
    if form.leased && plan.ports().is_some() {
        line(&format!("\t{NOTHING} != @{LEASES} accept comment \"{tag}\""));
    }
    if form.spares_invalid {
        line(&format!("\tct state invalid accept comment \"{tag}\""));
    }
    for rule in plan.matches() {
        let condition = match rule {
            Match::From(name) => format!("iifname \"{name}\""),
            Match::To(name) => format!("oifname \"{name}\""),
            Match::Source(prefix) => format!("{} saddr {prefix}", family(*prefix)),
            Match::Destination(prefix) => format!("{} daddr {prefix}", family(*prefix)),
            Match::AcksTo(name) => format!("oifname \"{name}\" meta length <= {ACK_MAX}"),
        };
        let protocol = if plan.is_of_tcp(rule) { " meta l4proto tcp" } else { "" };
        if plan.sample().is_some() && form.samples {
            let goes_on = "tcp flags & (fin | syn | rst) == 0";
            line(&format!(
                "\t{condition} meta l4proto tcp {goes_on} limit name \"{SAMPLES}\" accept comment \"{tag}\""
            ));
        }
        line(&format!("\t{condition}{protocol} {statement} comment \"{tag}\""));
    }
    line("}");
}

const fn family(prefix: IpNet) -> &'static str {
    match prefix {
        IpNet::V4(_) => "ip",
        IpNet::V6(_) => "ip6",
    }
}

/// nft repeats the offending line of the script; the first message is enough.
fn in_words(error: ToolError) -> Trouble {
    Trouble::of(error, |message| {
        let first = message.split("; ").next().unwrap_or_default();
        first.rsplit("Error: ").next().unwrap_or(first).to_owned()
    })
}
