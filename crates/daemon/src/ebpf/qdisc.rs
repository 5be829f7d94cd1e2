//! The queueing discipline that honours departure times, sch_fq, through the `tc` command.
//!
//! Departure times only mean something to sch_fq (and sch_etf); every other discipline sends at once what it is given
//! (net/sched/sch_fq.c, `skb->tstamp`). So pacing needs it on the mesh interface. It is put there when nobody has chosen
//! another one, and carries a handle by which it is known again.

use crate::Failure;
use serde_json::Value;
use std::process::Command;

/// Handle of the discipline that this daemon installs: "MP".
const HANDLE: &str = "4d50:";

/// Queues of packets without a local socket, by hash of the flow: as many as there are buckets of a 16-bit mask, so that
/// flows seldom share one (a paced flow's next packet keeps back what shares its queue).
const ORPHANS: &str = "65535";

/// What stands at an interface's root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Root {
    /// What this daemon put there.
    Ours,
    /// sch_fq, which was there before.
    Fq,
    /// The kernel's default.
    Default,
    /// Another one that was chosen; its kind.
    Chosen(String),
}

/// What stands at the root of `interface`.
///
/// # Errors
/// [`Failure::Operational`] without the `tc` command or the interface.
pub fn root(interface: &str) -> Result<Root, Failure> {
    let shown = tc(&["-json", "qdisc", "show", "dev", interface])?;
    let listed: Value = serde_json::from_str(&shown)
        .map_err(|error| Failure::operational(format!("tc -json qdisc show dev {interface}"), error))?;
    Ok(root_of(&listed))
}

/// Puts sch_fq at the root of `interface`, unless it is there. `packets`: most that may wait.
///
/// # Errors
/// [`Failure::Operational`] if the kernel has no sch_fq, or if another discipline was chosen.
pub fn install(interface: &str, packets: u32) -> Result<(), Failure> {
    match root(interface)? {
        Root::Fq => return Ok(()),
        Root::Ours | Root::Default => {}
        Root::Chosen(kind) => {
            return Err(Failure::Operational(format!(
                "interface {interface} has the queueing discipline {kind}, which does not know departure times; \
                 remove it (tc qdisc del dev {interface} root) or replace it by fq"
            )));
        }
    }
    let packets = packets.to_string();
    let install = [
        "qdisc",
        "replace",
        "dev",
        interface,
        "root",
        "handle",
        HANDLE,
        "fq",
        "limit",
        &packets,
        "flow_limit",
        &packets,
        "orphan_mask",
        ORPHANS,
    ];
    tc(&install).map(drop).map_err(|failure| {
        Failure::Operational(format!(
            "it takes the queueing discipline fq, which cannot be put on interface {interface} \
             (CONFIG_NET_SCH_FQ, module sch_fq; OpenWrt: kmod-sched); {failure}"
        ))
    })
}

/// Takes the discipline away if this daemon put it there. True if it did.
///
/// # Errors
/// [`Failure::Operational`] without the `tc` command or the interface.
pub fn remove(interface: &str) -> Result<bool, Failure> {
    if root(interface)? != Root::Ours {
        return Ok(false);
    }
    tc(&["qdisc", "del", "dev", interface, "root"]).map(|_| true)
}

/// Whether nothing waits in the discipline at the root of `interface`.
///
/// # Errors
/// [`Failure::Operational`] without the `tc` command or the interface.
pub fn is_empty(interface: &str) -> Result<bool, Failure> {
    let shown = tc(&["-statistics", "-json", "qdisc", "show", "dev", interface])?;
    let listed: Value = serde_json::from_str(&shown)
        .map_err(|error| Failure::operational(format!("tc -s -json qdisc show dev {interface}"), error))?;
    Ok(waiting(&listed) == 0)
}

/// Takes clsact away if no filter is left in it. Without `tc` it stays, and does nothing.
pub fn remove_empty_clsact(interface: &str) {
    let empty =
        |side| tc(&["filter", "show", "dev", interface, side]).is_ok_and(|shown| shown.trim().is_empty());
    if empty("ingress") && empty("egress") {
        let _ = tc(&["qdisc", "del", "dev", interface, "clsact"]);
    }
}

/// Packets that wait at the root.
pub(crate) fn waiting(listed: &Value) -> u64 {
    let all: &[Value] = listed.as_array().map_or(&[], Vec::as_slice);
    let root = all.iter().find(|qdisc| qdisc["root"] == Value::Bool(true));
    root.and_then(|root| root["qlen"].as_u64()).unwrap_or(0)
}

/// `tc -json qdisc show dev X`: an array of disciplines with kind, handle, parent or root.
pub(crate) fn root_of(listed: &Value) -> Root {
    let all: &[Value] = listed.as_array().map_or(&[], Vec::as_slice);
    let text = |qdisc: &Value, key: &str| qdisc[key].as_str().unwrap_or_default().to_owned();
    let Some(root) = all.iter().find(|qdisc| qdisc["root"] == Value::Bool(true)) else {
        return Root::Default;
    };
    let (kind, handle) = (text(root, "kind"), text(root, "handle"));
    let children =
        || all.iter().filter(|qdisc| qdisc["parent"].is_string() && text(qdisc, "kind") != "clsact");
    match kind.as_str() {
        "fq" if handle == HANDLE => Root::Ours,
        "fq" => Root::Fq,
        // One discipline a hardware queue: fq everywhere does as well.
        "mq" if children().next().is_some() && children().all(|child| text(child, "kind") == "fq") => {
            Root::Fq
        }
        // The kernel gives its default no handle.
        _ if handle == "0:" => Root::Default,
        _ => Root::Chosen(kind),
    }
}

/// Runs `tc` and gives what it prints.
fn tc(arguments: &[&str]) -> Result<String, Failure> {
    let line = || format!("tc {}", arguments.join(" "));
    let output = Command::new("tc").args(arguments).output().map_err(|error| {
        Failure::Operational(format!("{}: {error} (Debian: iproute2, OpenWrt: tc-tiny)", line()))
    })?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(Failure::operational(line(), said.trim().replace('\n', "; ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_waits_is_told_of_the_root() {
        let fq =
            json!({"kind": "fq", "handle": HANDLE, "root": true, "backlog": 4_542, "qlen": 3, "packets": 9});
        let clsact = json!({"kind": "clsact", "handle": "ffff:", "parent": "ffff:fff1", "qlen": 0});
        assert_eq!(waiting(&json!([clsact, fq])), 3);
        assert_eq!(waiting(&json!([clsact])), 0);
    }

    #[test]
    fn only_what_nobody_chose_is_replaced() {
        let root = |qdiscs: Value| root_of(&qdiscs);
        assert_eq!(
            root(json!([{"kind": "noqueue", "handle": "0:", "root": true, "options": {}}])),
            Root::Default
        );
        assert_eq!(root(json!([])), Root::Default);
        assert_eq!(root(json!([{"kind": "fq", "handle": "8001:", "root": true}])), Root::Fq);
        assert_eq!(root(json!([{"kind": "fq", "handle": HANDLE, "root": true}])), Root::Ours);
        assert_eq!(
            root(json!([{"kind": "cake", "handle": "8001:", "root": true}])),
            Root::Chosen("cake".into())
        );
        // A clsact beside it says nothing about the root.
        let clsact = json!({"kind": "clsact", "handle": "ffff:", "parent": "ffff:fff1"});
        assert_eq!(root(json!([clsact])), Root::Default);
        // One discipline a hardware queue.
        let mq = |child: &str| {
            json!([{"kind": "mq", "handle": "0:", "root": true},
                   {"kind": child, "handle": "0:", "parent": ":2"}, {"kind": child, "handle": "0:", "parent": ":1"},
                   clsact])
        };
        assert_eq!(root(mq("fq")), Root::Fq);
        assert_eq!(root(mq("fq_codel")), Root::Default);
    }
}
