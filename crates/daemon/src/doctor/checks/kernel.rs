//! What the kernel and this process's rights allow.

use crate::config::{Config, Datapath};
use crate::doctor::facts::{Facts, Part, Presence};
use crate::doctor::finding::Finding;
use meshpace_gateway::DupAck;
use meshpace_pacing::Profile;

/// Linux whose search for a packet's verdict was measured to be slow (308 us with 20,000 held, on an emulated processor)
/// and quick (1.5-3.3 us with 50,000 held). What lies between was not measured.
const LINEAR_SEARCH: (u32, u32) = (6, 1);
const QUICK_SEARCH: (u32, u32) = (6, 18);
/// Packets that may be held without harm where the search is linear.
const HELD_LINEAR: usize = 1_000;
/// Clock sources that every read of leaves the processor for, or that only tick.
const SLOW_CLOCKS: [&str; 5] = ["hpet", "acpi_pm", "jiffies", "refined-jiffies", "pit"];

pub(super) fn rights(config: &Config, facts: &Facts) -> Vec<Finding> {
    let subject = "rights";
    let rights = facts.rights;
    if !rights.net_admin {
        let remedy = "run as root, or give the service CAP_NET_ADMIN and CAP_NET_RAW";
        return vec![Finding::serious(subject, "no CAP_NET_ADMIN: queues and rules cannot be made", remedy)];
    }
    let mut found = vec![Finding::good(subject, "CAP_NET_ADMIN")];
    if !rights.net_raw && config.gateway.dupack != DupAck::Off {
        let remedy = "give CAP_NET_RAW, or set gateway.local_retransmission = \"off\"";
        found.push(Finding::warning(
            subject,
            "no CAP_NET_RAW: lost packets cannot be sent again from the cache",
            remedy,
        ));
    }
    if config.nfqueue.realtime && !(rights.sys_nice && rights.ipc_lock) {
        let what =
            "no CAP_SYS_NICE or no CAP_IPC_LOCK: departures are late by up to 15 ms when the machine is busy";
        found.push(Finding::warning(
            subject,
            what,
            "give both, or set nfqueue.realtime = false to accept it",
        ));
    }
    if config.datapath == Datapath::Ebpf && !(rights.bpf && rights.perfmon) {
        let what = "no CAP_BPF or no CAP_PERFMON: eBPF programs cannot be loaded";
        found.push(Finding::serious(subject, what, "give both, or set datapath = \"nfqueue\""));
    }
    found
}

/// What goodput control does not see on this data path.
pub(super) fn goodput_control(config: &Config, _: &Facts) -> Vec<Finding> {
    let robust = config.gateway.goodput_control.is_some_and(|control| control.profile == Profile::Robust);
    if config.datapath == Datapath::Nfqueue || !robust {
        return Vec::new();
    }
    let what = "gateway.gc_profile = \"robust\" sees less with datapath = \"ebpf\": whether half of a download's packets were delayed, \
                and its round trips; no retransmissions (gc_backlog_losses acts on nothing), so that a download that backs off \
                is not waited for, and no senders in the mesh, so that nobody is held back for them";
    vec![Finding::note("goodput control", what)]
}

/// What this data path does not do about what hosts send.
pub(super) fn uploads(config: &Config, _: &Facts) -> Vec<Finding> {
    if config.datapath == Datapath::Nfqueue || config.hosts.shaper.is_none() {
        return Vec::new();
    }
    let what = "[hosts] with datapath = \"ebpf\" shares what hosts fetch, and not what they send: for that no window field is written, nothing is \
                marked or dropped, and a host that sends takes the air that it finds";
    vec![Finding::note("uploads", what)]
}

pub(super) fn queueing(config: &Config, facts: &Facts) -> Vec<Finding> {
    let subject = "packet queue";
    if config.datapath != Datapath::Nfqueue {
        return Vec::new();
    }
    if facts.part(Part::Nfqueue) == Presence::Absent {
        let remedy = "a kernel with CONFIG_NETFILTER_NETLINK_QUEUE (OpenWrt: kmod-nfnetlink-queue)";
        return vec![Finding::serious(
            subject,
            "the kernel has no nfnetlink_queue: packets cannot be queued",
            remedy,
        )];
    }
    let iptables = ["iptables-nft", "iptables-legacy", "iptables"].iter().any(|name| facts.has_tool(name));
    let may = |presence| presence != Presence::Absent;
    let by_nft = facts.has_tool("nft") && may(facts.part(Part::NftQueue));
    let by_iptables = iptables && may(facts.part(Part::XtNfqueue));
    let found = match (by_nft, by_iptables) {
        (true, _) => Finding::good(subject, "nfnetlink_queue, rules by nft"),
        (false, true)
            if !facts.has_tool("iptables-nft") && facts.part(Part::SecurityTable) == Presence::Absent =>
        {
            Finding::warning(
                subject,
                "the old iptables makes the rules, and has no table `security`: they stand before the firewall's filter, and \
                 what it drops takes places in the table of flows",
                "a kernel with CONFIG_IP_NF_SECURITY and CONFIG_IP6_NF_SECURITY, or iptables-nft",
            )
        }
        (false, true) => Finding::note(
            subject,
            "nft cannot queue here (no CONFIG_NFT_QUEUE, or no nft): iptables makes the rules",
        ),
        (false, false) => Finding::serious(
            subject,
            "neither nft's queue expression nor iptables' NFQUEUE target can be used: no rule can queue packets",
            "install nft and CONFIG_NFT_QUEUE (OpenWrt: kmod-nft-queue), or iptables and CONFIG_NETFILTER_XT_TARGET_NFQUEUE \
             (OpenWrt: iptables-mod-nfqueue)",
        ),
    };
    vec![found]
}

pub(super) fn ebpf(config: &Config, facts: &Facts) -> Vec<Finding> {
    let subject = "eBPF data path";
    let missing: Vec<_> = [
        (facts.part(Part::Bpf) == Presence::Absent, "CONFIG_BPF_SYSCALL"),
        (facts.part(Part::SchFq) == Presence::Absent, "CONFIG_NET_SCH_FQ (OpenWrt: kmod-sched)"),
        (!facts.has_tool("tc"), "the program tc"),
    ]
    .into_iter()
    .filter_map(|(is_missing, what)| is_missing.then_some(what))
    .collect();
    match (missing.is_empty(), config.datapath) {
        (true, Datapath::Ebpf) => {
            let repairs = config.gateway.dupack != DupAck::Off;
            let idle = repairs.then(|| {
                let found = "it keeps no packets, so that nothing is repaired here (gateway.local_retransmission has no effect); \
                             datapath = \"nfqueue\" repairs";
                Finding::note(subject, found)
            });
            [Finding::good(subject, "bpf, sch_fq, tc")].into_iter().chain(idle).collect()
        }
        (true, Datapath::Nfqueue) => Vec::new(),
        (false, Datapath::Ebpf) if config.is_pacing() && facts.part(Part::Bpf) != Presence::Absent => {
            let found = format!("missing: {}; packets go through NFQUEUE in place of it", missing.join(", "));
            vec![Finding::note(subject, found)]
        }
        (false, Datapath::Ebpf) => {
            let found = format!("missing: {}", missing.join(", "));
            vec![Finding::serious(subject, found, "set datapath = \"nfqueue\", or install what is missing")]
        }
        (false, Datapath::Nfqueue) => {
            vec![Finding::note(subject, format!("not possible here; missing: {}", missing.join(", ")))]
        }
    }
}

pub(super) fn verdict_search(config: &Config, facts: &Facts) -> Vec<Finding> {
    let subject = "verdict search";
    let held = config.gateway.held_max;
    let Some(version) = facts.kernel.version().filter(|_| config.datapath == Datapath::Nfqueue) else {
        return Vec::new();
    };
    if version >= QUICK_SEARCH {
        return vec![Finding::good(
            subject,
            format!("Linux {} finds held packets quickly", facts.kernel.release),
        )];
    }
    if held <= HELD_LINEAR {
        return vec![Finding::good(
            subject,
            format!("gap_held_max = {held} suits Linux {}", facts.kernel.release),
        )];
    }
    let known = if version <= LINEAR_SEARCH { "searches" } else { "may search" };
    let found = format!(
        "Linux {} {known} all held packets at every verdict: with thousands held each costs tens to hundreds of us",
        facts.kernel.release
    );
    vec![Finding::warning(subject, found, format!("set gateway.gap_held_max = {HELD_LINEAR}"))]
}

pub(super) fn queue_length(config: &Config, _: &Facts) -> Vec<Finding> {
    let (length, held) = (config.nfqueue.length as usize, config.gateway.held_max);
    if config.datapath != Datapath::Nfqueue || length >= held.saturating_add(held / 2) {
        return Vec::new();
    }
    let found = format!(
        "nfqueue.length = {length} leaves little room above gateway.gap_held_max = {held}: packets that pass a \
                         full queue overtake held ones"
    );
    vec![Finding::warning("queue length", found, format!("set nfqueue.length = {}", held.saturating_mul(2)))]
}

pub(super) fn clock(_: &Config, facts: &Facts) -> Vec<Finding> {
    let subject = "clock";
    match facts.kernel.clock_source.as_deref() {
        Some(source) if SLOW_CLOCKS.contains(&source) => {
            let found = format!("clock source {source}: slow to read, or too coarse to time packets");
            vec![Finding::warning(
                subject,
                found,
                "see /sys/devices/system/clocksource/clocksource0/available_clocksource",
            )]
        }
        Some(source) => vec![Finding::good(subject, format!("clock source {source}"))],
        None => Vec::new(),
    }
}

pub(super) fn cgroup(_: &Config, facts: &Facts) -> Vec<Finding> {
    let subject = "meshpaced host";
    if facts.part(Part::CgroupBpf) == Presence::Absent {
        return vec![Finding::note(subject, "not possible here: the kernel has no CONFIG_CGROUP_BPF")];
    }
    match &facts.kernel.cgroup2 {
        Some(folder) => vec![Finding::good(subject, format!("control groups version 2 at {folder}"))],
        None => vec![Finding::note(subject, "not possible here: no cgroup2 file system is mounted")],
    }
}
