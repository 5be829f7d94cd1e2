//! What the tests run the program with.

use crate::ebpf::loading::ETHERNET_HEADER;
pub(super) use crate::ebpf::trying::NEXT;
use crate::ebpf::trying::{self, Context, MARK, MESH, with_rights};
use crate::edge::exchange::{EventKind, SENT_MARK};
use crate::edge::kernel::*;
use meshpace_linux::monotonic_now;
use meshpace_tcp::{Flags, Segment};
use meshpace_units::{Bytes, Instant, Seq, Span};
use std::net::IpAddr;

/// `TC_ACT_REDIRECT`: to an interface that nobody has.
pub(super) const KEPT: u32 = 7;
pub(super) const MSS: u32 = 1460;
/// Nothing is due by itself while a busy machine lets a test wait.
pub(super) const LONG: Span = Span::from_secs(10);

pub(super) struct Bench {
    pub(super) kernel: Kernel,
    pub(super) flows: HashMap<MapData, [u8; Ends::SIZE], [u8; c::ThinFlow::SIZE]>,
    pub(super) v6: bool,
    /// VLAN tags in front of the packet, by their types.
    pub(super) tags: &'static [u16],
    /// Of the end that acknowledges.
    pub(super) port: u16,
}

/// The program, acting. `None` (and a word about it) without root's rights.
pub(super) fn bench(held: u32) -> Option<Bench> {
    let mut kernel = with_rights(Kernel::load(Sizes { flows: 8192, held }))?;
    kernel.programs.headers.insert(MESH, ETHERNET_HEADER, 0).expect("a place in the map");
    let flows = kernel.programs.map("flows").expect("a map");
    let mut bench = Bench { kernel, flows, v6: false, tags: &[], port: 5_000 };
    bench.act(LONG, LONG, LONG * 6);
    Some(bench)
}

pub(super) fn bytes_at(segments: u32) -> Seq {
    Seq(u32::MAX - 20_000) + segments * MSS
}

/// A pure acknowledgement of so many segments, counted across the wrap of sequence numbers.
pub(super) fn ack(segments: u32) -> Segment {
    let flags = Flags { ack: true, ..Flags::NONE };
    Segment { ack: bytes_at(segments), flags, window: 1_000, ..Segment::new(0, 80, Seq(7)) }
}

impl Bench {
    pub(super) fn act(&mut self, wait: Span, tail: Span, alive: Span) {
        let thinning = Thinning {
            alive_until: monotonic_now() + alive,
            bytes: Bytes(u64::from(16 * MSS)),
            wait,
            tail,
            share: 8,
        };
        self.kernel.set(thinning).expect("bpf");
    }

    pub(super) fn ends(&self) -> [IpAddr; 2] {
        [1u8, 2].map(|n| match self.v6 {
            true => IpAddr::from([0xfd00, 0, 0, 0, 0, 0, 0, u16::from(n)]),
            false => [10, 0, 0, n].into(),
        })
    }

    /// What acknowledges.
    pub(super) fn named(&self) -> Ends {
        let [source, destination] = self.ends().map(Into::into);
        Ends { source, destination, source_port: self.port.into(), destination_port: 80.into() }
    }

    /// The key of the maps for it.
    pub(super) fn key(&self) -> [u8; Ends::SIZE] {
        self.named().to_bytes()
    }

    pub(super) fn build(&self, segment: &Segment) -> Vec<u8> {
        let [from, to] = self.ends();
        let segment = Segment { source_port: self.port, ..*segment };
        meshpace_wire::build(from, to, 60, &segment, &vec![0xab; segment.payload as usize])
    }

    pub(super) fn framed(&self, ip: &[u8]) -> Vec<u8> {
        trying::framed(ip, self.v6, self.tags)
    }

    /// The verdict on a frame, and what became of its bytes.
    pub(super) fn run_frame(&mut self, frame: &[u8], mark: u32) -> u32 {
        let ran = trying::run(&mut self.kernel.programs, PROGRAM, frame, &Context::new().with(MARK, mark));
        assert_eq!(ran.packet, frame, "nothing changes");
        ran.verdict
    }

    pub(super) fn run_bytes(&mut self, ip: &[u8]) -> u32 {
        let frame = self.framed(ip);
        self.run_frame(&frame, 0)
    }

    pub(super) fn run(&mut self, segment: &Segment) -> u32 {
        let packet = self.build(segment);
        self.run_bytes(&packet)
    }

    /// What user space does: the frame that waits comes by again.
    pub(super) fn send(&mut self) -> u32 {
        let held = self.held().expect("something waits");
        self.run_frame(&held.frame, SENT_MARK)
    }

    /// A connection that has acknowledged so much that sixteen segments wait.
    pub(super) fn under_way(&mut self) {
        for n in 0..=16 {
            assert_eq!(self.run(&ack(16 * n)), NEXT);
        }
    }

    pub(super) fn held(&self) -> Option<Held> {
        self.kernel.held(&self.named())
    }

    /// Half of the sender's window, if it was found small.
    pub(super) fn half(&self) -> u32 {
        let flow = c::ThinFlow::of_bytes(self.flows.get(&self.key(), 0).expect("it is known"));
        flow.half
    }

    pub(super) fn told(&mut self) -> Vec<EventKind> {
        std::iter::from_fn(|| self.kernel.next_event()).map(|event| event.told).collect()
    }

    /// By `enum edge_counter`.
    pub(super) fn counter(&self, index: usize) -> u64 {
        self.kernel.counters().expect("bpf")[index]
    }

    pub(super) fn now(&self) -> Instant {
        monotonic_now()
    }
}
