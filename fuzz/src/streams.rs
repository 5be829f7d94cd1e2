//! Connections between the mesh and the Internet whose segments are made of arbitrary numbers.

use crate::fields::Fields;
use meshpace_tcp::{Flags, Options, Segment};
use meshpace_units::Seq;
use meshpace_wire::build;
use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Where one side of a connection is: the numbers that its segments are near to.
#[derive(Clone, Copy)]
struct Stream {
    next: Seq,
    /// What it acknowledged last.
    acked: Seq,
}

/// Ports of the wired and the wireless side.
const PORTS: [u16; 2] = [80, 1_000];
/// First sequence numbers of the wired and the wireless side: both wrap soon.
const FIRST: [Seq; 2] = [Seq(u32::MAX - 2_000), Seq(u32::MAX - 100)];

/// Eight connections of two hosts of the mesh, half of them over IPv6.
#[derive(Default)]
pub struct Streams(BTreeMap<u8, [Stream; 2]>);

impl Streams {
    /// SYN and SYN-ACK of a connection that begins at either side. Those of [`Streams::segment`] follow them.
    pub fn open(&mut self, flow: u8, by_wired: bool) -> [Segment; 2] {
        let [first, second] = if by_wired { [0, 1] } else { [1, 0] };
        let next = FIRST.map(|first| first + 1);
        self.0.insert(flow % 8, [0, 1].map(|side| Stream { next: next[side], acked: next[1 - side] }));
        let segment = |side: usize, ack| Segment {
            ack: if ack { next[1 - side] } else { Seq(0) },
            flags: Flags { syn: true, ack, ..Flags::default() },
            window: 60_000,
            options: Options { mss: Some(1_460), window_scale: Some(2), ..Options::default() },
            ..Segment::new(PORTS[side], PORTS[1 - side], FIRST[side])
        };
        [segment(first, false), segment(second, true)]
    }

    /// The next bytes of a connection's data from its wired or its wireless side: as many quarters of a full segment.
    pub fn data(&mut self, flow: u8, wired: bool, quarters: u8) -> Segment {
        let [own, _] = self.of(flow, wired);
        let segment = Segment { payload: 365 * u32::from(quarters), ..bare(*own, wired) };
        own.next = segment.end();
        segment
    }

    /// An acknowledgement of so many 255ths of what the other side has sent since the latest: mostly of parts of segments.
    pub fn acknowledgement(&mut self, flow: u8, wired: bool, part: u8) -> Segment {
        let [own, other] = self.of(flow, wired);
        let outstanding = u64::from(other.next.since(own.acked));
        own.acked += (outstanding * u64::from(part) / 255) as u32;
        bare(*own, wired)
    }

    /// Both sides go on with other numbers, as another connection between the same ports does.
    pub fn renumber(&mut self, flow: u8, by: u32) {
        let [wired, wireless] = self.of(flow, true);
        *wired = Stream { next: wired.next + by, acked: wired.acked + by.rotate_left(16) };
        *wireless = Stream { next: wireless.next + by.rotate_left(16), acked: wireless.acked + by };
    }

    /// A connection's streams from one side: its own and the other's.
    fn of(&mut self, flow: u8, wired: bool) -> [&mut Stream; 2] {
        let start = [0, 1].map(|side| Stream { next: FIRST[side], acked: FIRST[1 - side] });
        let [first, second] = self.0.entry(flow % 8).or_insert(start);
        if wired { [first, second] } else { [second, first] }
    }

    /// The next segment of a connection from its wired or its wireless side.
    pub fn segment(&mut self, flow: u8, wired: bool, fields: &Fields) -> Segment {
        let [stream, _] = self.of(flow, wired);
        let side = usize::from(!wired);
        let segment = fields.segment(stream.next, stream.acked, (PORTS[side], PORTS[1 - side]));
        // Strays do not lead the stream away.
        let near = |a: Seq, b: Seq| a.since(b).min(b.since(a)) < 1 << 20;
        if near(segment.end(), stream.next) {
            stream.next = segment.end();
        }
        if near(segment.ack, stream.acked) {
            stream.acked = segment.ack;
        }
        segment
    }
}

/// An acknowledgement from where a stream is.
fn bare(stream: Stream, wired: bool) -> Segment {
    let side = usize::from(!wired);
    let flags = Flags { ack: true, ..Flags::default() };
    Segment {
        ack: stream.acked,
        flags,
        window: 60_000,
        ..Segment::new(PORTS[side], PORTS[1 - side], stream.next)
    }
}

/// The packet of a segment; its payload follows from the sequence numbers.
#[must_use]
pub fn whole(flow: u8, wired: bool, ttl: u8, segment: &Segment) -> Vec<u8> {
    let payload: Vec<u8> = (0..segment.payload).map(|at| (segment.seq + at).0 as u8).collect();
    let [source, destination] = ends(flow, wired);
    build(source, destination, ttl, segment, &payload)
}

/// Source and destination of a packet of a connection. The mesh is 10.77.0.0/16 and fd77::/16.
#[must_use]
pub fn ends(flow: u8, wired: bool) -> [IpAddr; 2] {
    let (host, server) = (1 + flow % 2, 1 + flow / 2 % 2);
    let (wireless, internet): (IpAddr, IpAddr) = if flow & 4 == 0 {
        (Ipv4Addr::new(10, 77, 0, host).into(), Ipv4Addr::new(192, 0, 2, server).into())
    } else {
        let of = |first, last: u8| Ipv6Addr::new(first, 0, 0, 0, 0, 0, 0, last.into());
        (of(0xfd77, host).into(), of(0x2001, server).into())
    };
    if wired { [internet, wireless] } else { [wireless, internet] }
}
