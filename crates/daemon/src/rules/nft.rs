//! The rules as a table of nftables of their own.

use super::plan::{ACK_MAX, Match, Owner, Plan, SAMPLE_BURST, limit};
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
/// The table's rules are made, or made anew; true if there was a table.
pub(super) fn install(plan: &Plan, form: Form) -> Result<bool, Trouble> {
    install_with(plan, form, &queue(plan))
}

/// The same with `statement` as what is done to the packets.
pub(super) fn install_with(plan: &Plan, form: Form, statement: &str) -> Result<bool, Trouble> {
    let found = exists(plan.owner())?;
    let listed = if found { list(plan.owner())? } else { String::new() };
    if found && chains(&listed) == wanted_chains(plan, form) {
        match load(&refilling(plan, form, statement, &listed)) {
            Err(Trouble::Lasting(_)) => {} // what else is in the table is an earlier daemon's
            done => return done.map(|()| true),
        }
    }
    load(&replacing(plan, form, statement))?;
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
    let listed = list(plan.owner())?;
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
    let limited =
        |name: &str| listed.lines().filter(|line| line.contains(&format!("limit name \"{name}"))).count();
    let sampled = match plan.sample() {
        Some(most) => limited(&format!("{}\"", limit(most))) == wanted,
        None => limited("") > 0,
    };
    let found = (spares, leased, untracked, sampled);
    if found != (form.spares_invalid, form.leased, form.repairs_untracked, form.samples)
        || chains(&listed) != wanted_chains(plan, form)
    {
        return lasting(format!("not {form}:"));
    }
    Ok(())
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

/// The table as nft prints it.
fn list(owner: Owner) -> Result<String, Trouble> {
    run("nft", &["-n", "list", "table", "inet", owner.tag()]).map_err(in_words)
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

/// The script that replaces the table, whatever is in it. What waits in a queue is lost (`super::install`).
pub(super) fn replacing(plan: &Plan, form: Form, statement: &str) -> String {
    let tag = plan.owner().tag();
    // Making the table first lets the deletion succeed whether there was one or not.
    format!("add table inet {tag}\ndelete table inet {tag}\n{}", script(plan, form, statement))
}

/// The script that replaces the rules of a table whose chains are those of the plan. The chains stay at their hooks, so that nothing is lost, and the
/// lease goes on.
fn refilling(plan: &Plan, form: Form, statement: &str, listed: &str) -> String {
    let tag = plan.owner().tag();
    let wanted = plan.sample().filter(|_| form.samples).map(limit);
    let names = listed.lines().filter_map(|line| line.trim().strip_prefix("limit ")?.strip_suffix(" {"));
    let stale = names.filter(|name| wanted.as_deref() != Some(name));
    let deletions: String = stale.map(|name| format!("delete limit inet {tag} {name}\n")).collect();
    format!("flush table inet {tag}\n{deletions}{}", script(plan, form, statement))
}

/// A chain at a hook: its name, the hook, and its priority.
type Chain = (String, String, i32);

/// The chains of a listed table that stand at hooks.
fn chains(listed: &str) -> Vec<Chain> {
    let mut lines = listed.lines().map(str::trim);
    let mut found = Vec::new();
    while let Some(line) = lines.next() {
        let Some(name) = line.strip_prefix("chain ").and_then(|rest| rest.strip_suffix(" {")) else {
            continue;
        };
        let standing = lines.next().and_then(|line| line.strip_prefix("type filter hook "));
        let Some((hook, rest)) = standing.and_then(|rest| rest.split_once(" priority ")) else { continue };
        if let Some(priority) = rest.split(';').next().and_then(number) {
            found.push((name.to_owned(), hook.to_owned(), priority));
        }
    }
    found.sort();
    found
}

/// A priority of ours, which nft prints in its own words, with -n as a number.
fn number(priority: &str) -> Option<i32> {
    match priority {
        PRIORITY => Some(51),
        "raw" => Some(-300),
        other => other.parse().ok(),
    }
}

/// The chains that [`script`] makes.
fn wanted_chains(plan: &Plan, form: Form) -> Vec<Chain> {
    let chain = |name: &str, hook: &str, priority| {
        (name.to_owned(), hook.to_owned(), number(priority).expect("a priority of ours"))
    };
    let beacon = (plan.ports().is_some() && form.leased).then(|| chain("beacon", "output", PRIORITY));
    let repairs = form.repairs_untracked.then(|| chain("repairs", "output", "raw"));
    let hooks =
        plan.owner().hooks().iter().map(|hook| chain(&hook.to_lowercase(), &hook.to_lowercase(), PRIORITY));
    let mut wanted: Vec<_> = beacon.into_iter().chain(repairs).chain(hooks).collect();
    wanted.sort();
    wanted
}

/// The table with all that belongs into it, with `statement` as what is done to the packets.
fn script(plan: &Plan, form: Form, statement: &str) -> String {
    let tag = plan.owner().tag();
    let mut out = format!("table inet {tag} {{\n");
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
        let name = limit(most);
        write!(out, "\tlimit {name} {{\n\t\trate over {most}/second burst {SAMPLE_BURST} packets\n\t}}\n")
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
        if let Some(most) = plan.sample().filter(|_| form.samples) {
            let name = limit(most);
            let goes_on = "tcp flags & (fin | syn | rst) == 0";
            line(&format!(
                "\t{condition} meta l4proto tcp {goes_on} limit name \"{name}\" accept comment \"{tag}\""
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
