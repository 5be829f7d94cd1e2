//! What is said of calm.

use super::*;
use crate::doctor::facts::CalmChoice;

#[test]
fn calm_is_possible_by_kernel_and_rights_and_says_whom_it_is_chosen_for() {
    let subject = "meshpaced congestion";
    let possible =
        if cfg!(feature = "ebpf") { "and is not" } else { "missing: a meshpaced that was built with eBPF" };
    let (severity, text) = worst(MESH, &good(), subject).expect("it says something");
    assert_eq!(severity, if cfg!(feature = "ebpf") { Good } else { Note });
    assert!(text.contains(possible), "{text}");
    for (part, option) in [
        (Part::Bpf, "CONFIG_BPF_SYSCALL"),
        (Part::BpfJit, "CONFIG_BPF_JIT"),
        (Part::Btf, "CONFIG_DEBUG_INFO_BTF"),
    ] {
        expect(MESH, |f| f.kernel.parts.extend([(part, Presence::Absent)]), subject, Note, option);
    }
    expect(MESH, |f| f.kernel.release = "5.15.0-91-generic".to_owned(), subject, Note, "Linux 6.0");
    if cfg!(feature = "ebpf") {
        expect(MESH, |f| f.rights.sys_admin = false, subject, Note, "has no CAP_SYS_ADMIN");
        expect(MESH, |f| f.rights.perfmon = false, subject, Note, "has no CAP_PERFMON");
    }
    let loaded = |choice: Option<CalmChoice>| {
        move |facts: &mut Facts| facts.calm = Calm { loaded: true, default: false, choice: choice.clone() }
    };
    let by_name = CalmChoice { unit: 1, ..CalmChoice::default() };
    let words = "loaded, packet by packet, for sockets and routes that name it";
    expect(MESH, loaded(Some(by_name.clone())), subject, Good, words);
    let default = |facts: &mut Facts| {
        loaded(Some(by_name.clone()))(facts);
        facts.calm.default = true;
    };
    expect(MESH, default, subject, Good, "for all new sockets");
    let subnets = vec!["10.0.0.0/8".to_owned(), "fd00::/8".to_owned()];
    let group = |exists| CalmChoice {
        unit: 16,
        cgroup: Some(("/sys/fs/cgroup".into(), exists)),
        subnets: subnets.clone(),
    };
    expect(MESH, loaded(Some(group(true))), subject, Good, "for 10.0.0.0/8, fd00::/8 of /sys/fs/cgroup");
    expect(MESH, loaded(Some(group(true))), subject, Good, "in trains of 16 segments");
    expect(MESH, loaded(Some(group(false))), subject, Warning, "/sys/fs/cgroup is gone");
    expect(MESH, loaded(None), subject, Note, "of destinations only root is told");
}
