//! What the tests run the programs with.

use super::INTERVAL;
use crate::ebpf::engine::Order;
use crate::ebpf::exchange::{EventKind, Handling, KernelFlow, Pace, Settings};
use crate::ebpf::kernel::*;
use crate::ebpf::loading::ETHERNET_HEADER;
use crate::ebpf::trying::{self, Context, GSO_SEGS, GSO_SIZE, INGRESS_IFINDEX, framed, with_rights};
pub(super) use crate::ebpf::trying::{MESH, NEXT, Ran};
use meshpace_gateway::{Endpoint, FlowKey, Treatment};
use meshpace_linux::monotonic_now;
use meshpace_tcp::{Flags, Segment};
use meshpace_units::{Instant, Seq, Span};
use std::net::IpAddr;

pub(super) const SHOT: u32 = 2;
pub(super) const WIRED: u32 = 77;

pub(super) struct Bench {
    pub(super) kernel: Kernel,
    pub(super) v6: bool,
    pub(super) wired_ifindex: u32,
    pub(super) gso: Option<(u32, u32)>,
    /// VLAN tags in front of the packet, by their types.
    pub(super) tags: &'static [u16],
    pub(super) places: u32,
    /// Of the mesh's end.
    pub(super) port: u16,
    /// The departure that packets come with.
    pub(super) shaped: Option<Instant>,
    /// As [`Settings`] have it.
    pub(super) apart: Span,
    /// See `apart`.
    pub(super) finds: bool,
}

/// The programs, acting and pacing by default. `None` (and a word about it) without root's rights.
pub(super) fn bench() -> Option<Bench> {
    let mut kernel = with_rights(Kernel::load(Sizes { flows: 64, departures: 1024 }))?;
    kernel.programs.headers.insert(MESH, ETHERNET_HEADER, 0).expect("a place in the map");
    let mut bench = Bench {
        kernel,
        v6: false,
        wired_ifindex: WIRED,
        gso: None,
        tags: &[],
        places: 1_000,
        port: 5_000,
        shaped: None,
        apart: Span::ZERO,
        finds: false,
    };
    bench.act(Handling::Treat(Treatment::Pace));
    Some(bench)
}

impl Bench {
    pub(super) fn act(&mut self, handling: Handling) {
        let settings = Settings {
            alive_until: monotonic_now() + Span::from_secs(60),
            horizon: INTERVAL * 1_000,
            handling,
            places: self.places,
            apart: self.apart,
            finds: self.finds,
        };
        self.kernel.set(settings).expect("bpf");
    }

    pub(super) fn key(&self) -> FlowKey {
        let end = |n: u8, port| Endpoint {
            address: if self.v6 {
                IpAddr::from([0xfd00, 0, 0, 0, 0, 0, 0, u16::from(n)])
            } else {
                [10, 0, 0, n].into()
            },
            port,
        };
        FlowKey { wireless: end(1, self.port), wired: end(2, 80) }
    }

    pub(super) fn order(&mut self, interval: Option<Span>, packets: u32, treatment: Treatment) {
        let pace =
            Pace { interval, packets, handling: Handling::Treat(treatment), codel: None, window: None };
        let key = self.key();
        self.kernel.obey(&Order::Pace(key, pace)).expect("bpf");
    }

    pub(super) fn run_bytes(&mut self, program_name: &str, ip: &[u8]) -> Ran {
        let frame = framed(ip, self.v6, self.tags);
        let header = frame.len() - ip.len();
        let mut context = Context::new().with(INGRESS_IFINDEX, self.wired_ifindex);
        if let Some((segments, size)) = self.gso {
            context = context.with(GSO_SEGS, segments).with(GSO_SIZE, size);
        }
        if let Some(at) = self.shaped {
            context = context.departs(at);
        }
        let ran = trying::run(&mut self.kernel.programs, program_name, &frame, &context);
        Ran { packet: ran.packet[header..].to_vec(), ..ran }
    }

    pub(super) fn build(&self, down: bool, segment: &Segment) -> Vec<u8> {
        let FlowKey { wireless, wired } = self.key();
        let (from, to) = if down { (wired, wireless) } else { (wireless, wired) };
        let segment = Segment { source_port: from.port, destination_port: to.port, ..*segment };
        meshpace_wire::build(from.address, to.address, 60, &segment, &vec![0xab; segment.payload as usize])
    }

    /// From the wired side towards the mesh.
    pub(super) fn down(&mut self, segment: &Segment) -> Ran {
        let packet = self.build(true, segment);
        self.run_bytes("meshpace_down", &packet)
    }

    /// From the mesh.
    pub(super) fn up(&mut self, segment: &Segment) -> Ran {
        let packet = self.build(false, segment);
        self.run_bytes("meshpace_up", &packet)
    }

    pub(super) fn told(&mut self) -> Vec<EventKind> {
        std::iter::from_fn(|| self.kernel.next_event()).map(|event| event.told).collect()
    }

    pub(super) fn flow(&self) -> Option<KernelFlow> {
        self.kernel.flows().find(|(key, _)| *key == self.key()).map(|(_, flow)| flow)
    }

    pub(super) fn counters(&self) -> KernelCounters {
        self.kernel.counters().expect("bpf")
    }
}

pub(super) const ACK: Flags = Flags { ack: true, ..Flags::NONE };

/// A sequence number, as one or as a plain number.
pub(super) struct At(Seq);

impl From<Seq> for At {
    fn from(seq: Seq) -> Self {
        Self(seq)
    }
}

impl From<u32> for At {
    fn from(seq: u32) -> Self {
        Self(Seq(seq))
    }
}

pub(super) fn segment(seq: impl Into<At>, ack: impl Into<At>, payload: u32) -> Segment {
    Segment { ack: ack.into().0, flags: ACK, window: 1000, payload, ..Segment::new(0, 0, seq.into().0) }
}
