//! The rules as a chain of a table of iptables, old or on nftables: `FORWARD` jumps to the chain `meshpaced`. The table is
//! `security`, which stands behind the filter, or `mangle`. An edge's are behind a gateway's, since no other rule of the same chain
//! sees what a gateway has queued: `POSTROUTING` of `mangle`, through which goes what is forwarded and what is this host's own.
//!
//! iptables-restore puts a whole set of changes in force at once, which is what makes replacing seamless. A queued packet
//! that the daemon accepts goes on behind the whole chain `FORWARD` (nf_reinject in net/netfilter/nfnetlink_queue.c), so the
//! jump is kept last: rules of others there, such as MSS clamping, come first.

use super::plan::{ACK_MAX, Match, Owner, Plan, SAMPLE_BURST, limit};
use super::{Form, Hook, REPAIR_MARK, Trouble, nothing_unless_forbidden};
use crate::lease::{LEASE, Ports};
use crate::tool::{is_installed, run_with};
use ipnet::IpNet;
use std::ffi::OsStr;
use std::fmt::Write;
use std::fs::{self, OpenOptions};
use std::path::{Path, PathBuf};

/// The lock of the old iptables (xtables.h of iptables: XT_LOCK_NAME).
const LOCK: &str = "/run/xtables.lock";
const LOCK_VARIABLE: &str = "XTABLES_LOCKFILE";

/// An IP version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Family {
    V4,
    V6,
}

/// One of the iptables.
#[derive(Clone, Debug)]
pub(super) struct Xtables {
    /// `-nft`, `-legacy` or nothing.
    variant: &'static str,
    /// The lock file to use instead of the usual one.
    lock: Option<PathBuf>,
}

impl Family {
    /// The IP versions that this kernel has.
    pub(super) fn present() -> impl Iterator<Item = Self> {
        let v6 = Path::new("/proc/net/if_inet6").exists();
        std::iter::once(Self::V4).chain(v6.then_some(Self::V6))
    }

    const fn word(self) -> &'static str {
        match self {
            Self::V4 => "ip",
            Self::V6 => "ip6",
        }
    }

    /// The loopback interface's address as a mask of nothing, and as iptables-save prints it; `None` if it has none of this
    /// version, as where IPv6 is switched off: nothing is forwarded then either.
    fn loopback(self) -> Option<(&'static str, &'static str)> {
        let disabled = "/proc/sys/net/ipv6/conf/lo/disable_ipv6";
        match self {
            Self::V4 => Some(("127.0.0.1/32", "0.0.0.0")),
            Self::V6 if fs::read_to_string(disabled).is_ok_and(|text| text.trim() != "0") => None,
            Self::V6 => Some(("::1/128", "::")),
        }
    }

    const fn is_of(self, prefix: IpNet) -> bool {
        matches!((self, prefix), (Self::V4, IpNet::V4(_)) | (Self::V6, IpNet::V6(_)))
    }
}

impl Xtables {
    /// `lock` is used where the usual lock file cannot be written, unless the user says another.
    pub(super) fn new(variant: &'static str, lock: &Path) -> Self {
        let writable = || OpenOptions::new().append(true).create(true).open(LOCK).is_ok();
        let needed = variant != "-nft" && std::env::var_os(LOCK_VARIABLE).is_none() && !writable();
        Self { variant, lock: needed.then(|| lock.to_owned()) }
    }

    /// With a lock file of the test's own.
    #[cfg(test)]
    pub(super) const fn locking(variant: &'static str, lock: PathBuf) -> Self {
        Self { variant, lock: Some(lock) }
    }

    /// Fills the chain and sees to it that FORWARD ends with a jump to it; true if something of ours was there.
    pub(super) fn install(&self, family: Family, plan: &Plan, form: Form) -> Result<bool, Trouble> {
        let tag = plan.owner().tag();
        let mut found = false;
        let mut script = String::new();
        for (table, wanted) in wanted(family, plan, form) {
            let saved = self.save(family, table)?;
            let stale = tagged_elsewhere(&saved, tag);
            found |= !stale.is_empty() || saved.lines().any(|line| is_chain(line, tag));
            writeln!(script, "*{table}").expect("a String takes all");
            if wanted.iter().any(|rule| is_in_chain(rule, tag)) {
                writeln!(script, ":{tag} - [0:0]").expect("a String takes all");
            }
            for rule in stale.into_iter().map(deletion).chain(wanted) {
                writeln!(script, "{rule}").expect("a String takes all");
            }
            script.push_str("COMMIT\n");
        }
        self.restore(family, &script)?;
        let tables: Vec<_> = wanted(family, plan, form).into_iter().map(|(table, _)| table).collect();
        for other in TABLES.into_iter().filter(|other| !tables.contains(other)) {
            found |= self.remove_from(plan.owner(), family, other)?.is_some();
        }
        Ok(found)
    }

    /// Removes chain and jump, and any other rule with our comment.
    pub(super) fn remove(&self, owner: Owner, family: Family) -> Result<Vec<String>, Trouble> {
        let removed = TABLES.map(|table| self.remove_from(owner, family, table).transpose());
        removed.into_iter().flatten().collect()
    }

    fn remove_from(&self, owner: Owner, family: Family, table: &str) -> Result<Option<String>, Trouble> {
        if self.nothing_there(family, table)
            || !is_installed(&format!("{}tables{}-save", family.word(), self.variant))
        {
            return Ok(None);
        }
        let saved = match self.save(family, table) {
            Ok(saved) => saved,
            Err(trouble) => return nothing_unless_forbidden(trouble).map(|_| None),
        };
        let tag = owner.tag();
        let stale = tagged_elsewhere(&saved, tag);
        let has_chain = saved.lines().any(|line| is_chain(line, tag));
        let rules = stale.len() + saved.lines().filter(|line| is_in_chain(line, tag)).count();
        if !has_chain && stale.is_empty() {
            return Ok(None);
        }
        let mut script = format!("*{table}\n");
        for rule in &stale {
            writeln!(script, "{}", deletion(rule)).expect("a String takes all");
        }
        if has_chain {
            write!(script, "-F {tag}\n-X {tag}\n").expect("a String takes all");
        }
        script.push_str("COMMIT\n");
        self.restore(family, &script)?;
        let rules = if rules == 1 { "1 rule".to_owned() } else { format!("{rules} rules") };
        Ok(Some(format!("{}tables{}: {rules} of table {table}", family.word(), self.variant)))
    }

    /// `Ok` if the rules are as planned.
    pub(super) fn verify(&self, family: Family, plan: &Plan, form: Form) -> Result<(), Trouble> {
        let name = format!("{}tables{}", family.word(), self.variant);
        let changed = |what: String| Err(Trouble::Lasting(format!("{name}: {what}")));
        let tag = plan.owner().tag();
        let anyhow = |line: &str| if plan.ports().is_some() { line.to_owned() } else { without_ports(line) };
        for (table, wanted) in wanted(family, plan, form) {
            if self.nothing_there(family, table) {
                return changed(format!("no table {table}"));
            }
            let saved = self.save(family, table)?;
            let in_chain: Vec<_> = saved.lines().filter(|line| is_in_chain(line, tag)).collect();
            let (chain, elsewhere): (Vec<_>, Vec<_>) = wanted.iter().partition(|rule| is_in_chain(rule, tag));
            if in_chain != chain {
                return changed(format!("chain {tag} of table {table} is not as it was made"));
            }
            let found = tagged_elsewhere(&saved, tag);
            let is_there = |rule: &&&String| found.iter().any(|line| anyhow(line) == anyhow(rule));
            if let Some(missing) = elsewhere.iter().find(|rule| !is_there(rule)) {
                return changed(format!("table {table} lacks {missing}"));
            }
            let hook = hook(plan.owner());
            let last = saved.lines().rfind(|line| line.starts_with(&format!("-A {hook} ")));
            if !chain.is_empty() && last != Some(&jump(plan)) {
                return changed(format!("table {table} {NOT_LAST}"));
            }
            if found.len() != elsewhere.len() {
                return changed(format!("table {table} has rules of an earlier daemon"));
            }
        }
        Ok(())
    }

    /// True if the old iptables does not have that table here; asking it would make one.
    fn nothing_there(&self, family: Family, table: &str) -> bool {
        let names = format!("/proc/thread-self/net/{}_tables_names", family.word());
        self.variant == "-legacy"
            && !fs::read_to_string(names).is_ok_and(|tables| tables.lines().any(|name| name == table))
    }

    fn save(&self, family: Family, table: &str) -> Result<String, Trouble> {
        self.call(family, "-save", &["-t", table], "")
    }

    fn restore(&self, family: Family, script: &str) -> Result<(), Trouble> {
        self.call(family, "-restore", &["--noflush", "--wait", "5"], script).map(|_| ())
    }

    fn call(&self, family: Family, command: &str, args: &[&str], input: &str) -> Result<String, Trouble> {
        let program = format!("{}tables{}{command}", family.word(), self.variant);
        let lock = self.lock.as_deref().map(|lock| (LOCK_VARIABLE, OsStr::new(lock)));
        run_with(&program, args, input, lock).map_err(|error| Trouble::of(error, str::to_owned))
    }
}

/// The tables that rules of ours may be in.
const TABLES: [&str; 3] = [SECURITY, MANGLE, RAW];
const SECURITY: &str = "security";
const MANGLE: &str = "mangle";
/// What is said if a rule was appended.
pub(super) const NOT_LAST: &str = "has rules behind the jump, which accepted packets do not see";
/// The table before the connection tracker.
const RAW: &str = "raw";

/// All rules, by table; those of our chain first.
fn wanted(family: Family, plan: &Plan, form: Form) -> Vec<(&'static str, Vec<String>)> {
    let queueing = chain(family, plan, form).into_iter().chain(elsewhere(family, plan, form)).collect();
    let tag = plan.owner().tag();
    let repairs = format!(
        "-A OUTPUT -p tcp -m mark --mark {REPAIR_MARK:#x} -m comment --comment {tag} -j CT --notrack"
    );
    let repairs = form.repairs_untracked.then(|| (RAW, vec![repairs]));
    std::iter::once((table(plan.owner(), form.hook), queueing)).chain(repairs).collect()
}

const fn table(owner: Owner, hook: Hook) -> &'static str {
    match (owner, hook) {
        (Owner::Gateway, Hook::AfterFilter) => SECURITY,
        (Owner::Gateway, Hook::BeforeFilter) | (Owner::Edge, _) => MANGLE,
    }
}

/// The chain that jumps to ours.
const fn hook(owner: Owner) -> &'static str {
    match owner {
        Owner::Gateway => "FORWARD",
        Owner::Edge => "POSTROUTING",
    }
}

/// The rules of the chain, in the words that iptables-save uses, so that they can be compared.
fn chain(family: Family, plan: &Plan, form: Form) -> Vec<String> {
    let tag = plan.owner().tag();
    let condition = |rule: &Match| match rule {
        Match::From(name) => format!("-i {name}"),
        Match::To(name) | Match::AcksTo(name) => format!("-o {name}"),
        Match::Source(prefix) => format!("-s {prefix}"),
        Match::Destination(prefix) => format!("-d {prefix}"),
    };
    let line = |rule: &Match| {
        let (condition, queue) = (condition(rule), plan.queue());
        let protocol = if plan.is_of_tcp(rule) { " -p tcp" } else { "" };
        let length = match rule {
            Match::AcksTo(_) => format!(" -m length --length 0:{ACK_MAX}"),
            _ => String::new(),
        };
        let queued = format!(
            "-A {tag} {condition}{protocol}{length} -m comment --comment {tag} -j NFQUEUE --queue-num {queue} --queue-bypass"
        );
        let beyond = plan.sample().filter(|_| form.samples).map(|most| {
            let name = limit(most);
            format!(
                "-A {tag} {condition} -p tcp -m tcp --tcp-flags FIN,SYN,RST NONE -m hashlimit --hashlimit-above {most}/sec --hashlimit-burst \
                 {SAMPLE_BURST} --hashlimit-name {name} -m comment --comment {tag} -j RETURN"
            )
        });
        beyond.into_iter().chain([queued])
    };
    let leased = signs(family, plan, form).map(|(_, mask)| {
        let seconds = LEASE.as_nanos() / 1_000_000_000;
        format!(
            "-A {tag} -m recent ! --rcheck --seconds {seconds} --name {tag} --mask {mask} --rsource -m comment --comment {tag} \
             -j RETURN"
        )
    });
    let spared = form
        .spares_invalid
        .then(|| format!("-A {tag} -m conntrack --ctstate INVALID -m comment --comment {tag} -j RETURN"));
    let of_family = plan.matches().filter(|rule| rule.prefix().is_none_or(|prefix| family.is_of(prefix)));
    leased.into_iter().chain(spared).chain(of_family.flat_map(line)).collect()
}

/// The rules in chains of others: the jump, and the note of a sign of life. The note's key is the packet's address under a mask
/// of nothing, so that it is found with any packet.
fn elsewhere(family: Family, plan: &Plan, form: Form) -> Vec<String> {
    let tag = plan.owner().tag();
    let port = |Ports { v4, v6 }| match family {
        Family::V4 => v4,
        Family::V6 => v6.unwrap_or(v4),
    };
    let note = signs(family, plan, form).map(|(address, mask)| {
        // A plan without ports is one to look for, and those are left out of the comparison.
        let port = plan.ports().map_or(0, port);
        format!(
            "-A OUTPUT -s {address} -d {address} -p udp -m udp --sport {port} --dport {port} -m recent --set --name {tag} \
             --mask {mask} --rsource -m comment --comment {tag}"
        )
    });
    note.into_iter().chain([jump(plan)]).collect()
}

/// Where signs of life of this IP version come from; `None` if none will, which a lease of two seconds would not outlive.
fn signs(family: Family, plan: &Plan, form: Form) -> Option<(&'static str, &'static str)> {
    let given = family == Family::V4 || plan.ports().is_none_or(|ports| ports.v6.is_some());
    family.loopback().filter(|_| form.leased && given)
}

/// The rule whatever its ports.
fn without_ports(rule: &str) -> String {
    let mut words: Vec<_> = rule.split_whitespace().collect();
    for at in 1..words.len() {
        if ["--sport", "--dport"].contains(&words[at - 1]) {
            words[at] = "";
        }
    }
    words.join(" ")
}

fn jump(plan: &Plan) -> String {
    let (tag, hook) = (plan.owner().tag(), hook(plan.owner()));
    let protocol = if plan.is_all_of_tcp() { " -p tcp" } else { "" };
    format!("-A {hook}{protocol} -m comment --comment {tag} -j {tag}")
}

/// `:meshpaced - [0:0]`.
fn is_chain(line: &str, tag: &str) -> bool {
    line.strip_prefix(':').and_then(|rest| rest.split_whitespace().next()) == Some(tag)
}

fn is_in_chain(line: &str, tag: &str) -> bool {
    line.strip_prefix("-A ").and_then(|rest| rest.split_whitespace().next()) == Some(tag)
}

/// Rules of other chains that bear our comment or jump to our chain.
fn tagged_elsewhere<'a>(saved: &'a str, tag: &str) -> Vec<&'a str> {
    let ours = |line: &&str| {
        let words: Vec<_> = line.split_whitespace().map(|word| word.trim_matches('"')).collect();
        let has = |name: &str| words.windows(2).any(|pair| pair == [name, tag]);
        line.starts_with("-A ") && !is_in_chain(line, tag) && (has("--comment") || has("-j"))
    };
    saved.lines().filter(ours).collect()
}

/// The rule as iptables-restore deletes it.
fn deletion(rule: &str) -> String {
    format!("-D{}", rule.strip_prefix("-A").unwrap_or_else(|| panic!("not a rule: {rule}")))
}
