//! Facts about the machine, gathered once and judged afterwards.

use crate::config::HopSource;
use crate::control::protocol::{Doubt, Forecasts};
use crate::edge;
use crate::hops::SourceReport;
use crate::rights::Rights;
use crate::rules::Found;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Everything the checks look at.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// The configuration's file, if there is none: what is judged are the defaults.
    pub missing_file: Option<PathBuf>,
    /// The kernel.
    pub kernel: Kernel,
    /// Capabilities of this process.
    pub rights: Rights,
    /// Programs by name, and whether they are installed.
    pub tools: BTreeMap<&'static str, bool>,
    /// Every network interface; `None` if they could not be listed.
    pub interfaces: Option<Vec<Interface>>,
    /// `net.ipv4.ip_forward`.
    pub forwards_v4: Option<bool>,
    /// `net.ipv6.conf.all.forwarding`; `None` without IPv6.
    pub forwards_v6: Option<bool>,
    /// Rules that take flows past the FORWARD hook.
    pub flow_offloads: Vec<FlowOffload>,
    /// Whether our rules are in force, and how; `None` if none of the ways to make them could be asked.
    pub rules: Option<Found>,
    /// Netlink port that has bound our queue.
    pub queue_owner: Option<u32>,
    /// How the sources of hop counts answered.
    pub hop_sources: Vec<SourceReport>,
    /// The running daemon, if one answers.
    pub daemon: Option<Daemon>,
    /// The running edge, if one answers.
    pub edge: Option<edge::Status>,
    /// Calm as a congestion control of the kernel.
    pub calm: Calm,
}

/// Calm as a congestion control of the kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Calm {
    /// It is one now.
    pub loaded: bool,
    /// It is the default of this network namespace.
    pub default: bool,
    /// Whom it is chosen for; `None` if it is not loaded, or if this process may not ask.
    pub choice: Option<CalmChoice>,
}

/// Whom calm is chosen for by their destination.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CalmChoice {
    /// Segments that travel together.
    pub unit: u32,
    /// The control group, if there is one, and whether it still exists.
    pub cgroup: Option<(PathBuf, bool)>,
    /// The destinations.
    pub subnets: Vec<String>,
}

/// Whether the kernel has a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Presence {
    /// It has.
    Present,
    /// It has not.
    Absent,
    /// Nothing tells.
    #[default]
    Unknown,
}

/// A part of the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// Queues of packets to user space.
    Nfqueue,
    /// The queue target of iptables.
    XtNfqueue,
    /// The old iptables' table behind its filter.
    SecurityTable,
    /// The queue expression of nftables.
    NftQueue,
    /// The queueing discipline that departs packets on time.
    SchFq,
    /// The bpf system call.
    Bpf,
    /// eBPF programs of control groups.
    CgroupBpf,
    /// The compiler of eBPF programs, which a congestion control takes.
    BpfJit,
    /// The description of its own types.
    Btf,
}

/// The kernel.
#[derive(Clone, Debug, Default)]
pub struct Kernel {
    /// As `uname -r` tells.
    pub release: String,
    /// Its parts.
    pub parts: BTreeMap<Part, Presence>,
    /// What the time is read from.
    pub clock_source: Option<String>,
    /// Where a control group hierarchy of version 2 is mounted.
    pub cgroup2: Option<String>,
}

/// A network interface.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Interface {
    /// Its name.
    pub name: String,
    /// The kind of a virtual interface: `wireguard`, `bridge`, `batadv`.
    pub kind: Option<String>,
    /// The interface that it is a part of: a bridge, batman-adv's.
    pub master: Option<String>,
    /// It is up.
    pub up: bool,
    /// Its MTU.
    pub mtu: u32,
    /// Its queueing discipline.
    pub qdisc: Option<String>,
    /// Most segments of a packet that is handed to it unsegmented.
    pub gso_max_segs: Option<u32>,
    /// Strict reverse path filtering (`rp_filter` 1, of all or of this one).
    pub strict_rp_filter: bool,
    /// Offloads of ethtool that are on, of those that matter here.
    pub offloads: Vec<&'static str>,
    /// The 802.11 type: `mesh point`, `managed`; `None` if it is not wireless, or nothing tells.
    pub wireless: Option<String>,
}

/// A flowtable or the like.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowOffload {
    /// The flow offload, as the rule set names it.
    pub what: String,
    /// It is done by hardware.
    pub hardware: bool,
}

/// A running daemon.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Daemon {
    /// Connections that it knows.
    pub flows: usize,
    /// Those of which a handful of packets went one way, and none the other.
    pub one_way: usize,
    /// Connections by the source of their hop count.
    pub hop_sources: BTreeMap<String, usize>,
    /// Figures that the daemon believes and that cannot be true, and traffic that it does not see.
    pub doubts: Vec<Doubt>,
    /// How far off its forecasts were.
    pub forecasts: Option<Forecasts>,
}

impl Facts {
    /// Whether the kernel has a part.
    #[must_use]
    pub fn part(&self, part: Part) -> Presence {
        self.kernel.parts.get(&part).copied().unwrap_or_default()
    }

    /// Whether a program is installed.
    #[must_use]
    pub fn has_tool(&self, name: &str) -> bool {
        self.tools.get(name).copied().unwrap_or_default()
    }

    /// The interface of that name.
    #[must_use]
    pub fn interface(&self, name: &str) -> Option<&Interface> {
        self.interfaces.iter().flatten().find(|interface| interface.name == name)
    }

    /// What a source answered.
    #[must_use]
    pub fn hop_source(&self, source: HopSource) -> Option<&SourceReport> {
        self.hop_sources.iter().find(|report| report.source == source)
    }
}

impl Interface {
    /// True if it is a part of another one of which that holds.
    #[must_use]
    pub fn master_is(&self, what: impl Fn(&str) -> bool) -> bool {
        self.master.as_deref().is_some_and(what)
    }
}

impl Kernel {
    /// Major and minor version.
    #[must_use]
    pub fn version(&self) -> Option<(u32, u32)> {
        let mut numbers = self.release.split(['.', '-', '+', '_']).map(str::parse);
        Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
    }
}
