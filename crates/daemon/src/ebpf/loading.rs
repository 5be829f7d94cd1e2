//! Loading programs, and putting one on an interface.

use crate::Failure;
use aya::maps::{MapData, PerCpuArray};
use aya::programs::links::LinkOrder;
use aya::programs::tc::{
    NlOptions, SchedClassifierLinkId, TcAttachOptions, qdisc_add_clsact, qdisc_detach_program,
};
use aya::programs::{SchedClassifier, TcAttachType};
use aya::{Ebpf, EbpfLoader};
use meshpace_linux::interface;
use std::io;

/// Link types (`linux/if_arp.h`) and what they put in front of an IP packet.
const ETHERNET: u16 = 1;
pub const ETHERNET_HEADER: u32 = 14;
/// PPP, tunnels without a link layer (`ARPHRD_PPP`, `ARPHRD_TUNNEL`, `ARPHRD_TUNNEL6`, `ARPHRD_SIT`, `ARPHRD_IPGRE`,
/// `ARPHRD_RAWIP`, `ARPHRD_NONE`).
const WITHOUT_HEADER: [u16; 7] = [512, 768, 769, 776, 778, 519, 0xfffe];

/// In the environment it makes programs go on interfaces as before Linux 6.6, so that newer kernels can try that.
const WITHOUT_TCX: &str = "MESHPACED_WITHOUT_TCX";

/// Loads an object whose maps get these sizes, and its programs.
///
/// # Errors
/// [`Failure::Operational`] where the kernel refuses: it lacks eBPF or the ring buffer (Linux 5.8), or the caller lacks CAP_BPF,
/// CAP_NET_ADMIN and CAP_PERFMON.
pub fn load(
    object: &[u8],
    sizes: &[(&str, u32)],
    programs: &[(&str, TcAttachType)],
) -> Result<Ebpf, Failure> {
    // Where it is refused and needed (before Linux 5.11), loading says so.
    let _ = meshpace_linux::lift_memory_lock_limit();
    let mut loader = EbpfLoader::new();
    // No kernel type information: nothing is relocated, and OpenWrt has none.
    loader.btf(None);
    for (map, size) in sizes {
        loader.map_max_entries(map, (*size).max(1));
    }
    let why = |error: &dyn std::error::Error| {
        let hint =
            "it takes Linux 5.8 with CONFIG_BPF_SYSCALL and the rights CAP_BPF, CAP_NET_ADMIN, CAP_PERFMON";
        Failure::Operational(format!("loading the eBPF programs: {} ({hint})", chain(error)))
    };
    let mut ebpf = loader.load(object).map_err(|error| why(&error))?;
    for (name, _) in programs {
        program(&mut ebpf, name).load().map_err(|error| why(&error))?;
    }
    Ok(ebpf)
}

/// Removes what an earlier process left on an interface: the filters (where they are clsact's they outlive the process).
/// True if there was something.
pub fn remove_leftovers(interface: &str, programs: &[(&str, TcAttachType)]) -> bool {
    // NotFound where there is nothing, other errors where there is no clsact.
    let removed = programs.iter().filter(|(name, side)| qdisc_detach_program(interface, *side, name).is_ok());
    removed.count() > 0
}

/// Bytes in front of the IP header of packets on an interface.
///
/// # Errors
/// [`Failure::Operational`] if there is no such interface, or none of a link layer that is known.
pub fn header_length(name: &str) -> Result<u32, Failure> {
    match interface::link_type(name).map_err(|error| Failure::Operational(error.to_string()))? {
        ETHERNET => Ok(ETHERNET_HEADER),
        other if WITHOUT_HEADER.contains(&other) => Ok(0),
        other => Err(Failure::Operational(format!(
            "interface {name}: link type {other} (linux/if_arp.h); eBPF programs here know Ethernet (1) and interfaces \
             without a link-layer header; use datapath = \"nfqueue\""
        ))),
    }
}

/// From here on priorities come in the order in which programs are put there; what has a lower one comes before them.
const ORDINARY: u16 = 0x4d50;

/// Puts a program on a side of an interface: as a TCX link (Linux 6.6), which goes with the process; else as a filter of clsact
/// of that priority. `clsact` is set if that was made for it.
///
/// # Errors
/// [`Failure::Operational`] if the kernel takes neither.
pub fn attach_one(
    program: &mut SchedClassifier,
    interface: &str,
    side: TcAttachType,
    priority: u16,
    clsact: &mut bool,
) -> Result<SchedClassifierLinkId, Failure> {
    let tcx = if std::env::var_os(WITHOUT_TCX).is_some() {
        format!("{WITHOUT_TCX} is set")
    } else {
        let order = if priority < ORDINARY { LinkOrder::first() } else { LinkOrder::default() };
        let order = TcAttachOptions::TcxOrder(order);
        match program.attach_with_options(interface, side, order) {
            Ok(link) => return Ok(link),
            Err(error) => chain(&error),
        }
    };
    // It exists already if somebody else uses it; attaching says whether it really does.
    *clsact |= qdisc_add_clsact(interface).is_ok();
    let filter = TcAttachOptions::Netlink(NlOptions { priority, handle: 1.into(), classid: None });
    program.attach_with_options(interface, side, filter).map_err(|error| {
        let filter = chain(&error);
        Failure::Operational(format!(
            "interface {interface}: the kernel takes the programs neither as a TCX link ({tcx}) nor as a filter of \
             clsact ({filter}): it takes Linux 6.6 or CONFIG_NET_SCH_INGRESS and CONFIG_NET_CLS_BPF"
        ))
    })
}

/// The program of that name.
///
/// # Panics
/// If the object has none.
pub fn program<'a>(ebpf: &'a mut Ebpf, name: &str) -> &'a mut SchedClassifier {
    let program = ebpf.program_mut(name).unwrap_or_else(|| panic!("no program {name} in the object"));
    program.try_into().unwrap_or_else(|error| panic!("program {name}: {error}"))
}

/// The map of that name.
///
/// # Errors
/// [`Failure::Operational`] if it cannot be used so.
pub fn map<T: TryFrom<aya::maps::Map, Error = aya::maps::MapError>>(
    ebpf: &mut Ebpf,
    name: &str,
) -> Result<T, Failure> {
    let map = ebpf.take_map(name).unwrap_or_else(|| panic!("no map {name} in the object"));
    T::try_from(map).map_err(|error| Failure::operational(format!("eBPF map {name}"), chain(&error)))
}

/// What an array of counters says, summed over processors.
///
/// # Errors
/// What bpf(2) answers.
pub fn sums<const N: usize>(counters: &PerCpuArray<MapData, u64>) -> io::Result<[u64; N]> {
    let mut sums = [0; N];
    for (index, sum) in (0..).zip(&mut sums) {
        let values = counters.get(&index, 0).map_err(io::Error::other)?;
        *sum = values.iter().sum();
    }
    Ok(sums)
}

/// An error with its causes, in one line; of a verifier's log the last lines.
pub fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let cause_text = cause.to_string();
        if !text.contains(&cause_text) {
            text = format!("{text}: {cause_text}");
        }
        source = cause.source();
    }
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    match lines.as_slice() {
        [first, .., before, last] if lines.len() > 4 => format!("{first} ... {before} {last}"),
        all => all.join(" "),
    }
}
