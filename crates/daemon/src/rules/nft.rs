//! The rules as a table of nftables of their own.

use super::plan::{Match, Plan};
use super::{TAG, nothing_unless_forbidden};
use crate::tool::{ToolError, run, run_with};
use ipnet::IpNet;
use std::fmt::Write;

/// After the mangle chains of others (priority mangle is -150), so that what they change is what is measured.
const PRIORITY: &str = "mangle + 1";

/// Replaces the table, or makes it; true if there was one.
pub(super) fn install(plan: &Plan) -> Result<bool, String> {
    let found = exists()?;
    load(&script(plan, &queue(plan)))?;
    Ok(found)
}

/// Removes the table.
pub(super) fn remove() -> Result<Vec<String>, String> {
    match exists() {
        Ok(true) => {
            load(&format!("delete table inet {TAG}\n"))?;
            Ok(vec![format!("nft: table inet {TAG}")])
        }
        Ok(false) => Ok(Vec::new()),
        Err(why) => nothing_unless_forbidden(why),
    }
}

/// `Ok` if the table has the plan's rules.
pub(super) fn verify(plan: &Plan) -> Result<(), String> {
    let listed = run("nft", &["-n", "list", "table", "inet", TAG]).map_err(in_words)?;
    let number = plan.queue().to_string();
    let queues = listed.lines().filter(|line| {
        let mut words = line.split_whitespace().skip_while(|word| *word != "queue");
        words.next().is_some() && words.any(|word| word == number)
    });
    let (found, wanted) = (queues.count(), plan.matches().count());
    if found == wanted { Ok(()) } else { Err(format!("nft: {found} of {wanted} rules in table inet {TAG}")) }
}

/// Whether the kernel takes nft's queue statement: it is shown one, without putting it in force. `None` if it cannot be
/// asked: no nft, no rights.
#[must_use]
pub fn nft_can_queue() -> Option<bool> {
    let chain = |statement: &str| {
        let script = format!(
            "table inet {TAG}_probe {{\n\tchain forward {{\n\t\ttype filter hook forward priority 0;\n\t\t{statement}\n\t}}\n}}\n"
        );
        run_with("nft", &["--check", "-f", "-"], &script, None)
    };
    chain("counter").ok()?;
    Some(chain("queue num 0 bypass").is_ok())
}

fn exists() -> Result<bool, String> {
    let tables = run("nft", &["list", "tables"]).map_err(in_words)?;
    Ok(tables.lines().any(|line| line.trim() == format!("table inet {TAG}")))
}

/// One transaction: all or nothing, and nobody sees the table missing.
fn load(script: &str) -> Result<(), String> {
    run_with("nft", &["-f", "-"], script, None).map(|_| ()).map_err(in_words)
}

fn queue(plan: &Plan) -> String {
    format!("queue num {} bypass", plan.queue())
}

/// The script that replaces the table, with `statement` as what is done to the packets.
pub(super) fn script(plan: &Plan, statement: &str) -> String {
    // Making the table first lets the deletion succeed whether there was one or not.
    let mut out =
        format!("add table inet {TAG}\ndelete table inet {TAG}\ntable inet {TAG} {{\n\tchain forward {{\n");
    writeln!(out, "\t\ttype filter hook forward priority {PRIORITY}; policy accept;")
        .expect("a String takes all");
    for rule in plan.matches() {
        let condition = match rule {
            Match::From(name) => format!("iifname \"{name}\""),
            Match::To(name) => format!("oifname \"{name}\""),
            Match::Source(prefix) => format!("{} saddr {prefix}", family(*prefix)),
            Match::Destination(prefix) => format!("{} daddr {prefix}", family(*prefix)),
        };
        writeln!(out, "\t\t{condition} meta l4proto tcp {statement} comment \"{TAG}\"")
            .expect("a String takes all");
    }
    out.push_str("\t}\n}\n");
    out
}

const fn family(prefix: IpNet) -> &'static str {
    match prefix {
        IpNet::V4(_) => "ip",
        IpNet::V6(_) => "ip6",
    }
}

/// nft repeats the offending line of the script; the first message is enough.
fn in_words(error: ToolError) -> String {
    match error {
        ToolError::Refused { message, .. } => {
            let first = message.split("; ").next().unwrap_or_default();
            first.rsplit("Error: ").next().unwrap_or(first).to_owned()
        }
        other => other.to_string(),
    }
}
