//! Calm as a congestion control: whether it can be loaded here, and whom it is chosen for if it is (docs/congestion.md).

use crate::config::Config;
use crate::doctor::facts::{CalmChoice, Facts, Part, Presence};
use crate::doctor::finding::Finding;

const SUBJECT: &str = "meshpaced congestion";
/// The first Linux whose eBPF programs may write a connection's pace ("bpf: Allow a TCP CC to write sk_pacing_rate and
/// sk_pacing_status").
const PACE: (u32, u32) = (6, 0);

/// What the kernel lacks for calm, while calm is not loaded.
pub(super) fn possible(_: &Config, facts: &Facts) -> Vec<Finding> {
    if facts.calm.loaded {
        return Vec::new();
    }
    let lacks = |part| facts.part(part) == Presence::Absent;
    let missing: Vec<&str> = [
        (!cfg!(feature = "ebpf"), "a meshpaced that was built with eBPF"),
        (!cfg!(target_pointer_width = "64"), "a 64-bit processor"),
        (facts.kernel.version().is_some_and(|version| version < PACE), "Linux 6.0"),
        (lacks(Part::Bpf), "CONFIG_BPF_SYSCALL"),
        (lacks(Part::BpfJit), "CONFIG_BPF_JIT"),
        (lacks(Part::Btf), "/sys/kernel/btf/vmlinux (CONFIG_DEBUG_INFO_BTF)"),
    ]
    .into_iter()
    .filter_map(|(is_missing, what)| is_missing.then_some(what))
    .collect();
    let rights = facts.rights;
    let refused: Vec<&str> = [
        (rights.sys_admin, "CAP_SYS_ADMIN"),
        (rights.bpf, "CAP_BPF"),
        (rights.net_admin, "CAP_NET_ADMIN"),
        (rights.perfmon, "CAP_PERFMON"),
    ]
    .into_iter()
    .filter_map(|(has, what)| (!has).then_some(what))
    .collect();
    let finding = if !missing.is_empty() {
        Finding::note(SUBJECT, format!("calm cannot be loaded here; missing: {}", missing.join(", ")))
    } else if !refused.is_empty() {
        let what = format!(
            "calm can be loaded here, by others than this process, which has no {}",
            refused.join(", ")
        );
        Finding::note(SUBJECT, what)
    } else {
        Finding::good(SUBJECT, "calm can be loaded, and is not")
    };
    vec![finding]
}

/// Whom it is chosen for, once it is.
pub(super) fn loaded(_: &Config, facts: &Facts) -> Vec<Finding> {
    let calm = &facts.calm;
    if !calm.loaded {
        return Vec::new();
    }
    let all = if calm.default { ", and for all new sockets of this network namespace" } else { "" };
    let Some(CalmChoice { unit, cgroup, subnets }) = &calm.choice else {
        let what = format!(
            "calm is loaded, for sockets and routes that name it{all}; of destinations only root is told"
        );
        return vec![Finding::note(SUBJECT, what)];
    };
    let unit =
        if *unit > 1 { format!("in trains of {unit} segments") } else { "packet by packet".to_owned() };
    let (group, exists) =
        cgroup.as_ref().map_or((String::new(), true), |(path, exists)| (path.display().to_string(), *exists));
    if !exists {
        let what = format!("the control group {group} is gone, and with it calm's choice by destination");
        return vec![Finding::warning(SUBJECT, what, "meshpaced congestion undo, then load it again")];
    }
    let destinations =
        if subnets.is_empty() { String::new() } else { format!(", for {} of {group}", subnets.join(", ")) };
    vec![Finding::good(
        SUBJECT,
        format!("calm is loaded, {unit}, for sockets and routes that name it{destinations}{all}"),
    )]
}
