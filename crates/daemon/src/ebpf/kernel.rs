//! The kernel's side: loading the programs, attaching them to the mesh interfaces, reading and writing their maps.

use super::engine::Order;
use super::exchange::{Event, KernelFlow, Settings, flow_key, key_of};
use super::loading::{self, sums};
use super::programs::Programs;
use crate::Failure;
use crate::shared::gateway as c;
use aya::include_bytes_aligned;
use aya::maps::{Array, HashMap, MapData, PerCpuArray, RingBuf};
use aya::programs::TcAttachType;
use meshpace_gateway::FlowKey;
use std::io;
use std::os::fd::AsFd;

static OBJECT: &[u8] = include_bytes_aligned!(concat!(env!("OUT_DIR"), "/gateway.bpf.o"));

/// The programs and the side of an interface that each is for: what the interface sends goes down into the mesh.
const PROGRAMS: [(&str, TcAttachType); 2] =
    [("meshpace_down", TcAttachType::Egress), ("meshpace_up", TcAttachType::Ingress)];

/// Priority of the filters where they are clsact's: "MP", so that `tc filter show` shows which filters are ours.
const PRIORITY: u16 = 0x4d50;

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
            fn read([$($name),*]: [u64; c::COUNTERS]) -> Self {
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

/// The loaded programs and their maps. Dropping it detaches the programs.
pub struct Kernel {
    /// The programs, to put on interfaces.
    pub programs: Programs,
    flows: HashMap<MapData, [u8; c::FlowKey::SIZE], [u8; c::Flow::SIZE]>,
    paces: HashMap<MapData, [u8; c::FlowKey::SIZE], [u8; c::Pace::SIZE]>,
    settings: Array<MapData, [u8; c::Settings::SIZE]>,
    counters: PerCpuArray<MapData, u64>,
    events: RingBuf<MapData>,
}

impl Kernel {
    /// Loads the programs. They let everything pass until they are given [`Settings`].
    ///
    /// # Errors
    /// [`Failure::Operational`] where the kernel refuses: it lacks eBPF or the ring buffer (Linux 5.8), or the caller
    /// lacks CAP_BPF, CAP_NET_ADMIN and CAP_PERFMON.
    pub fn load(sizes: Sizes) -> Result<Self, Failure> {
        let sizes = [("flows", sizes.flows), ("paces", sizes.flows), ("departures", sizes.departures)];
        let mut programs = Programs::load(OBJECT, &sizes, &PROGRAMS, PRIORITY)?;
        Ok(Self {
            flows: programs.map("flows")?,
            paces: programs.map("paces")?,
            settings: programs.map("settings")?,
            counters: programs.map("counters")?,
            events: programs.map("events")?,
            programs,
        })
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
        self.settings.set(0, c::Settings::from(settings).to_bytes(), 0).map_err(io::Error::other)
    }

    /// Carries an order out. One that comes too late (the flow is gone) changes nothing.
    ///
    /// # Errors
    /// What bpf(2) answers: `E2BIG` if the kernel has orders for as many flows as it has room for.
    pub fn obey(&mut self, order: &Order) -> io::Result<()> {
        match order {
            Order::Pace(key, pace) => self
                .paces
                .insert(key_bytes(key), c::Pace::from(*pace).to_bytes(), 0)
                .map_err(io::Error::other),
            Order::Forget(key) => {
                let _ = self.paces.remove(&key_bytes(key));
                Ok(())
            }
            Order::Evict(key) => {
                let _ = self.paces.remove(&key_bytes(key));
                let _ = self.flows.remove(&key_bytes(key));
                Ok(())
            }
        }
    }

    /// The kernel's table. Flows that come or go meanwhile may be missing.
    pub fn flows(&self) -> impl Iterator<Item = (FlowKey, KernelFlow)> {
        let entries = self.flows.iter().filter_map(Result::ok);
        entries.map(|(key, flow)| (flow_key(c::FlowKey::of_bytes(key)), kernel_flow(flow)))
    }

    /// One flow of the kernel's table.
    pub fn flow(&self, key: &FlowKey) -> Option<KernelFlow> {
        self.flows.get(&key_bytes(key), 0).ok().map(kernel_flow)
    }

    /// The counters, summed over processors.
    ///
    /// # Errors
    /// What bpf(2) answers.
    pub fn counters(&self) -> io::Result<KernelCounters> {
        sums(&self.counters).map(KernelCounters::read)
    }
}

fn key_bytes(key: &FlowKey) -> [u8; c::FlowKey::SIZE] {
    key_of(key).to_bytes()
}

fn kernel_flow(flow: [u8; c::Flow::SIZE]) -> KernelFlow {
    let flow = c::Flow::of_bytes(flow);
    flow.into()
}

/// Removes what an earlier process left on an interface. True if there was something.
pub fn remove_leftovers(interface: &str) -> bool {
    loading::remove_leftovers(interface, &PROGRAMS)
}

#[cfg(test)]
mod tests;
