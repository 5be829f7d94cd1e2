//! The kernel's side: loading the programs, attaching them to the mesh interfaces, reading and writing their maps.

use super::engine::Order;
use super::layout::{self, COUNTERS, Event, FLOW, FLOW_KEY, KernelFlow, PACE, SETTINGS, Settings};
use crate::Failure;
use aya::maps::{Array, HashMap, MapData, PerCpuArray, RingBuf};
use aya::programs::links::LinkOrder;
use aya::programs::tc::{
    NlOptions, SchedClassifierLinkId, TcAttachOptions, qdisc_add_clsact, qdisc_detach_program,
};
use aya::programs::{SchedClassifier, TcAttachType};
use aya::{Ebpf, EbpfLoader, include_bytes_aligned};
use meshpace_gateway::FlowKey;
use meshpace_linux::interface;
use std::io;
use std::os::fd::AsFd;

static OBJECT: &[u8] = include_bytes_aligned!(concat!(env!("OUT_DIR"), "/gateway.bpf.o"));

/// The programs and the side of an interface that each is for: what the interface sends goes down into the mesh.
const PROGRAMS: [(&str, TcAttachType); 2] =
    [("meshpace_down", TcAttachType::Egress), ("meshpace_up", TcAttachType::Ingress)];

/// Priority of the filters where they are clsact's: "MP", so that they can be told from others in `tc filter show`.
const PRIORITY: u16 = 0x4d50;

/// Link types (`linux/if_arp.h`) and what they put in front of an IP packet.
const ETHERNET: u16 = 1;
const ETHERNET_HEADER: u32 = 14;
/// PPP, tunnels without a link layer (`ARPHRD_PPP`, `ARPHRD_TUNNEL`, `ARPHRD_TUNNEL6`, `ARPHRD_SIT`, `ARPHRD_IPGRE`,
/// `ARPHRD_RAWIP`, `ARPHRD_NONE`).
const WITHOUT_HEADER: [u16; 7] = [512, 768, 769, 776, 778, 519, 0xfffe];

/// How much the kernel may keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// Connections.
    pub flows: u32,
    /// Departures of segments.
    pub departures: u32,
}

/// Counters and how they are read out of the kernel's array.
macro_rules! counters {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// What the programs counted, all processors together. In the order of `enum counter` in `bpf/include/gateway.h`.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
        pub struct KernelCounters {
            $($(#[$doc])* pub $name: u64,)*
        }

        impl KernelCounters {
            fn read([$($name),*]: [u64; COUNTERS]) -> Self {
                Self { $($name),* }
            }
        }
    };
}

counters! {
    /// Packets seen.
    packets,
    /// Their bytes without link-layer headers.
    bytes,
    /// Fragments.
    fragments,
    /// Other protocols than TCP.
    other_protocol,
    /// Packets that end before their headers do.
    truncated,
    /// Headers that contradict themselves.
    malformed,
    /// Packets from mesh to mesh, or with the gateway as an end.
    not_crossing,
    /// Packets of flows whose mode is off.
    off,
    /// Packets signed by TCP-MD5 or TCP-AO.
    signed,
    /// Packets that cannot be of their connection.
    unbelieved,
    /// Data of connections for which there was no place.
    untracked,
    /// Packets passed on at once.
    forwarded,
    /// Packets given a departure in the future.
    delayed,
    /// Packets dropped because too many would wait.
    dropped,
    /// Packets sent on unpaced, as all places were taken.
    overflowed,
    /// Events lost because the ring was full.
    lost_events,
}

/// An interface with the programs on it.
#[derive(Debug)]
struct Attached {
    name: String,
    index: u32,
    links: Vec<(&'static str, SchedClassifierLinkId)>,
    /// The clsact qdisc is ours to remove.
    clsact: bool,
}

/// The loaded programs and their maps. Dropping it detaches them.
pub struct Kernel {
    ebpf: Ebpf,
    interfaces: HashMap<MapData, u32, u32>,
    flows: HashMap<MapData, [u8; FLOW_KEY], [u8; FLOW]>,
    paces: HashMap<MapData, [u8; FLOW_KEY], [u8; PACE]>,
    settings: Array<MapData, [u8; SETTINGS]>,
    counters: PerCpuArray<MapData, u64>,
    events: RingBuf<MapData>,
    attached: Vec<Attached>,
}

impl Kernel {
    /// Loads the programs. They let everything pass until they are given [`Settings`].
    ///
    /// # Errors
    /// [`Failure::Operational`] where the kernel refuses: it lacks eBPF or the ring buffer (Linux 5.8), or the caller
    /// lacks CAP_BPF, CAP_NET_ADMIN and CAP_PERFMON.
    pub fn load(sizes: Sizes) -> Result<Self, Failure> {
        // Where it is refused and needed (before Linux 5.11), loading says so.
        let _ = meshpace_linux::lift_memory_lock_limit();
        let mut loader = EbpfLoader::new();
        // No kernel type information: nothing is relocated, and OpenWrt has none.
        loader.btf(None);
        for (map, size) in [("flows", sizes.flows), ("paces", sizes.flows), ("departures", sizes.departures)]
        {
            loader.map_max_entries(map, size.max(1));
        }
        let why = |error: &dyn std::error::Error| {
            let hint = "it takes Linux 5.8 with CONFIG_BPF_SYSCALL and the rights CAP_BPF, CAP_NET_ADMIN, CAP_PERFMON";
            Failure::Operational(format!("loading the eBPF programs: {} ({hint})", chain(error)))
        };
        let mut ebpf = loader.load(OBJECT).map_err(|error| why(&error))?;
        for (name, _) in PROGRAMS {
            program(&mut ebpf, name).load().map_err(|error| why(&error))?;
        }
        Ok(Self {
            interfaces: map(&mut ebpf, "interfaces")?,
            flows: map(&mut ebpf, "flows")?,
            paces: map(&mut ebpf, "paces")?,
            settings: map(&mut ebpf, "settings")?,
            counters: map(&mut ebpf, "counters")?,
            events: map(&mut ebpf, "events")?,
            ebpf,
            attached: Vec::new(),
        })
    }

    /// Puts the programs on a mesh interface. What an earlier process left there is removed first.
    ///
    /// # Errors
    /// [`Failure::Operational`] if there is no such interface, if its link layer is neither Ethernet nor nothing, or if
    /// the kernel refuses.
    pub fn attach(&mut self, name: &str) -> Result<(), Failure> {
        let index = interface::index(name).map_err(|error| Failure::Operational(error.to_string()))?;
        let header = header_length(name)?;
        remove_leftovers(name);
        self.interfaces
            .insert(index, header, 0)
            .map_err(|error| Failure::operational(format!("interface {name}"), chain(&error)))?;
        let mut attached = Attached { name: name.to_owned(), index, links: Vec::new(), clsact: false };
        for (program_name, side) in PROGRAMS {
            let program = program(&mut self.ebpf, program_name);
            let link = attach_one(program, name, side, &mut attached.clsact)?;
            attached.links.push((program_name, link));
        }
        self.attached.push(attached);
        Ok(())
    }

    /// Puts the programs on interfaces that were made anew since. Tells the names of those it attached to.
    ///
    /// # Errors
    /// As [`Self::attach`]; an interface that is gone is none.
    pub fn follow(&mut self) -> Result<Vec<String>, Failure> {
        let mut again = Vec::new();
        for position in (0..self.attached.len()).rev() {
            let Attached { name, index, .. } = &self.attached[position];
            if interface::index(name).is_ok_and(|now| now != *index) {
                let gone = self.attached.remove(position);
                // The links went with the interface, so that there is nothing to detach.
                let _ = self.interfaces.remove(&gone.index);
                self.attach(&gone.name)?;
                again.push(gone.name);
            }
        }
        Ok(again)
    }

    /// Takes the programs off all interfaces; the qdisc that carried them too if it was made for them and is empty.
    pub fn detach(&mut self) {
        for attached in std::mem::take(&mut self.attached) {
            let _ = self.interfaces.remove(&attached.index);
            for (name, link) in attached.links {
                // It may have gone with its interface.
                let _ = program(&mut self.ebpf, name).detach(link);
            }
            if attached.clsact {
                super::qdisc::remove_empty_clsact(&attached.name);
            }
        }
    }

    /// Readable when events wait.
    pub const fn events(&self) -> &impl AsFd {
        &self.events
    }

    /// Takes the next event.
    ///
    /// # Panics
    /// If the kernel's programs and this code disagree about events.
    pub fn next_event(&mut self) -> Option<Event> {
        let item = self.events.next()?;
        let event = Event::read(&item);
        Some(event.unwrap_or_else(|| panic!("not an event: {:?}", &*item)))
    }

    /// Tells the programs what holds for all packets.
    ///
    /// # Errors
    /// What bpf(2) answers.
    pub fn set(&mut self, settings: Settings) -> io::Result<()> {
        self.settings.set(0, settings.to_bytes(), 0).map_err(io::Error::other)
    }

    /// Carries an order out. One that comes too late (the flow is gone) changes nothing.
    ///
    /// # Errors
    /// What bpf(2) answers: `E2BIG` if there are orders for as many flows as the kernel was told to keep.
    pub fn obey(&mut self, order: &Order) -> io::Result<()> {
        match order {
            Order::Pace(key, pace) => {
                self.paces.insert(layout::key_bytes(key), pace.to_bytes(), 0).map_err(io::Error::other)
            }
            Order::Forget(key) => {
                let _ = self.paces.remove(&layout::key_bytes(key));
                Ok(())
            }
            Order::Evict(key) => {
                let _ = self.paces.remove(&layout::key_bytes(key));
                let _ = self.flows.remove(&layout::key_bytes(key));
                Ok(())
            }
        }
    }

    /// The kernel's table. Flows that come or go meanwhile may be missing.
    pub fn flows(&self) -> impl Iterator<Item = (FlowKey, KernelFlow)> {
        let entries = self.flows.iter().filter_map(Result::ok);
        entries.map(|(key, flow)| (layout::flow_key(&key), KernelFlow::read(&flow)))
    }

    /// One flow of the kernel's table.
    pub fn flow(&self, key: &FlowKey) -> Option<KernelFlow> {
        self.flows.get(&layout::key_bytes(key), 0).ok().map(|flow| KernelFlow::read(&flow))
    }

    /// The counters, summed over processors.
    ///
    /// # Errors
    /// What bpf(2) answers.
    pub fn counters(&self) -> io::Result<KernelCounters> {
        let mut sums = [0; COUNTERS];
        for (index, sum) in (0..).zip(&mut sums) {
            let values = self.counters.get(&index, 0).map_err(io::Error::other)?;
            *sum = values.iter().sum();
        }
        Ok(KernelCounters::read(sums))
    }
}

impl Drop for Kernel {
    fn drop(&mut self) {
        self.detach();
    }
}

/// Removes what an earlier process left on an interface: the filters (where they are clsact's they outlive the process).
/// True if there was something.
pub fn remove_leftovers(interface: &str) -> bool {
    // NotFound where there is nothing, other errors where there is no clsact.
    let removed = PROGRAMS.map(|(name, side)| qdisc_detach_program(interface, side, name).is_ok());
    removed.contains(&true)
}

/// Bytes in front of the IP header of packets on an interface.
fn header_length(name: &str) -> Result<u32, Failure> {
    match interface::link_type(name).map_err(|error| Failure::Operational(error.to_string()))? {
        ETHERNET => Ok(ETHERNET_HEADER),
        other if WITHOUT_HEADER.contains(&other) => Ok(0),
        other => Err(Failure::Operational(format!(
            "interface {name}: link type {other} (linux/if_arp.h); the eBPF data path knows Ethernet (1) and interfaces \
             without a link-layer header; use datapath = \"nfqueue\""
        ))),
    }
}

/// As a TCX link (Linux 6.6), which goes with the process; else as a filter of clsact.
fn attach_one(
    program: &mut SchedClassifier,
    interface: &str,
    side: TcAttachType,
    clsact: &mut bool,
) -> Result<SchedClassifierLinkId, Failure> {
    let order = TcAttachOptions::TcxOrder(LinkOrder::default());
    let tcx = match program.attach_with_options(interface, side, order) {
        Ok(link) => return Ok(link),
        Err(error) => error,
    };
    // It exists already if somebody else uses it; attaching says whether it really does.
    *clsact |= qdisc_add_clsact(interface).is_ok();
    let filter = TcAttachOptions::Netlink(NlOptions { priority: PRIORITY, handle: 1.into(), classid: None });
    program.attach_with_options(interface, side, filter).map_err(|error| {
        let (filter, tcx) = (chain(&error), chain(&tcx));
        Failure::Operational(format!(
            "interface {interface}: the kernel takes the programs neither as a TCX link ({tcx}) nor as a filter of \
             clsact ({filter}): it takes Linux 6.6 or CONFIG_NET_SCH_INGRESS and CONFIG_NET_CLS_BPF"
        ))
    })
}

fn program<'a>(ebpf: &'a mut Ebpf, name: &str) -> &'a mut SchedClassifier {
    let program = ebpf.program_mut(name).unwrap_or_else(|| panic!("no program {name} in the object"));
    program.try_into().unwrap_or_else(|error| panic!("program {name}: {error}"))
}

fn map<T: TryFrom<aya::maps::Map, Error = aya::maps::MapError>>(
    ebpf: &mut Ebpf,
    name: &str,
) -> Result<T, Failure> {
    let map = ebpf.take_map(name).unwrap_or_else(|| panic!("no map {name} in the object"));
    T::try_from(map).map_err(|error| Failure::operational(format!("eBPF map {name}"), chain(&error)))
}

/// An error with its causes, in one line; of a verifier's log the last lines.
fn chain(error: &dyn std::error::Error) -> String {
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

#[cfg(test)]
mod tests;
