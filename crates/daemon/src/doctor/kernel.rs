//! Facts about the kernel and the clock.

use super::facts::{Kernel, Part, Presence};
use crate::tool::run;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Each part with its configuration option and its module.
const PARTS: [(Part, &str, &str); 8] = [
    (Part::Nfqueue, "CONFIG_NETFILTER_NETLINK_QUEUE", "nfnetlink_queue"),
    (Part::XtNfqueue, "CONFIG_NETFILTER_XT_TARGET_NFQUEUE", "xt_NFQUEUE"),
    (Part::SecurityTable, "CONFIG_IP_NF_SECURITY", "iptable_security"),
    (Part::NftQueue, "CONFIG_NFT_QUEUE", "nft_queue"),
    (Part::SchFq, "CONFIG_NET_SCH_FQ", "sch_fq"),
    (Part::Bpf, "CONFIG_BPF_SYSCALL", ""),
    (Part::CgroupBpf, "CONFIG_CGROUP_BPF", ""),
    (Part::BpfJit, "CONFIG_BPF_JIT", ""),
];

pub(super) fn kernel() -> Kernel {
    let release = read("/proc/sys/kernel/osrelease").unwrap_or_default();
    let config = config(&release);
    let modules = modules(&release);
    let part = |(part, option, module): (Part, &str, &str)| {
        let loaded = !module.is_empty() && Path::new("/sys/module").join(module).exists();
        (part, presence(config.as_deref(), modules.as_deref(), loaded, option, module))
    };
    let mut parts: BTreeMap<_, _> = PARTS.into_iter().map(part).collect();
    // Files that a part makes prove it, whatever the configuration says.
    for (part, file) in [
        (Part::Nfqueue, "/proc/thread-self/net/netfilter/nfnetlink_queue"),
        (Part::Bpf, "/proc/sys/kernel/unprivileged_bpf_disabled"),
        (Part::BpfJit, "/proc/sys/net/core/bpf_jit_enable"),
    ] {
        if Path::new(file).exists() {
            parts.insert(part, Presence::Present);
        }
    }
    // It is this file that is read; what the kernel was built with does not help where it is hidden.
    let types = Path::new("/sys/kernel/btf/vmlinux").exists();
    parts.insert(Part::Btf, if types { Presence::Present } else { Presence::Absent });
    Kernel {
        release,
        parts,
        clock_source: read("/sys/devices/system/clocksource/clocksource0/current_clocksource"),
        cgroup2: fs::read_to_string("/proc/mounts").ok().and_then(|mounts| cgroup2(&mounts)),
    }
}

/// A file's text without the spaces around it.
pub(super) fn read(file: &str) -> Option<String> {
    fs::read_to_string(file).ok().map(|text| text.trim().to_owned())
}

/// The kernel's configuration, where it is kept.
fn config(release: &str) -> Option<String> {
    let packed = Path::new("/proc/config.gz");
    let unpacked = || packed.exists().then(|| run("zcat", &[packed]).ok())?;
    unpacked().or_else(|| fs::read_to_string(format!("/boot/config-{release}")).ok())
}

/// Names of the modules that are installed or built in, one file name a line.
fn modules(release: &str) -> Option<String> {
    let folder = format!("/lib/modules/{release}");
    let lists =
        ["modules.dep", "modules.builtin"].map(|list| fs::read_to_string(format!("{folder}/{list}")).ok());
    let text: String = lists.into_iter().flatten().collect();
    if !text.is_empty() {
        return Some(text);
    }
    // OpenWrt keeps the modules there without lists.
    let files = fs::read_dir(folder).ok()?.filter_map(Result::ok);
    Some(files.map(|file| format!("/{}:\n", file.file_name().to_string_lossy())).collect())
}

/// The evidence for a part in configuration, modules and /sys/module.
fn presence(
    config: Option<&str>,
    modules: Option<&str>,
    loaded: bool,
    option: &str,
    module: &str,
) -> Presence {
    let installed = modules.map(|list| {
        list.lines().any(|line| {
            let file = line.split(':').next().unwrap_or_default().rsplit('/').next().unwrap_or_default();
            !module.is_empty() && file.split(".ko").next() == Some(module)
        })
    });
    let configured = config.map(|config| {
        let value = |line: &str| Some(line.strip_prefix(option)?.strip_prefix('=')?.to_owned());
        config.lines().find_map(value)
    });
    match (configured.as_ref().map(Option::as_deref), installed) {
        _ if loaded => Presence::Present,
        (Some(Some("y")), _) | (Some(Some("m")), Some(true)) | (None, Some(true)) => Presence::Present,
        (Some(None), _) | (Some(Some("m")), Some(false)) => Presence::Absent,
        (None, Some(false)) if !module.is_empty() => Presence::Absent,
        _ => Presence::Unknown,
    }
}

fn cgroup2(mounts: &str) -> Option<String> {
    let mount = |line: &str| {
        let mut words = line.split_whitespace().skip(1);
        let folder = words.next()?;
        (words.next()? == "cgroup2").then(|| folder.to_owned())
    };
    mounts.lines().find_map(mount)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn configuration_and_modules_together_tell_what_there_is() {
        let config = "CONFIG_NFT_QUEUE=m\n# CONFIG_NET_SCH_FQ is not set\nCONFIG_NET_SCH_FQ_CODEL=y\nCONFIG_BPF_SYSCALL=y\n";
        let modules = "kernel/net/netfilter/nft_queue.ko.xz: kernel/net/netfilter/nf_tables.ko.xz\nkernel/net/sched/sch_fq_pie.ko:\n";
        let of = |config, modules, option, module| presence(config, modules, false, option, module);
        assert_eq!(of(Some(config), Some(modules), "CONFIG_NFT_QUEUE", "nft_queue"), Presence::Present);
        assert_eq!(of(Some(config), Some(""), "CONFIG_NFT_QUEUE", "nft_queue"), Presence::Absent);
        assert_eq!(of(Some(config), None, "CONFIG_NFT_QUEUE", "nft_queue"), Presence::Unknown);
        assert_eq!(of(Some(config), None, "CONFIG_NET_SCH_FQ", "sch_fq"), Presence::Absent);
        assert_eq!(of(None, Some(modules), "CONFIG_NET_SCH_FQ", "sch_fq"), Presence::Absent);
        assert_eq!(of(None, Some(modules), "CONFIG_NFT_QUEUE", "nft_queue"), Presence::Present);
        assert_eq!(of(None, None, "CONFIG_NFT_QUEUE", "nft_queue"), Presence::Unknown);
        assert_eq!(of(None, Some(modules), "CONFIG_BPF_SYSCALL", ""), Presence::Unknown);
        assert_eq!(presence(None, None, true, "CONFIG_NFT_QUEUE", "nft_queue"), Presence::Present);
    }

    #[test]
    fn mounts_and_versions() {
        let mounts = "proc /proc proc rw 0 0\ncgroup /sys/fs/cgroup/unified cgroup2 rw 0 0\n";
        assert_eq!(cgroup2(mounts).as_deref(), Some("/sys/fs/cgroup/unified"));
        assert_eq!(
            Kernel { release: "6.1.0-13-amd64".to_owned(), ..Kernel::default() }.version(),
            Some((6, 1))
        );
        assert_eq!(Kernel::default().version(), None);
    }
}
