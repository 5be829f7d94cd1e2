//! The user-space TCP on the bytes of packets: any, and those of connections that one end begins and the other answers.

#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use meshpace_endpoint::{ListenerId, Secret, SocketError, SocketId, SocketOptions, Stack, StackConfig};
use meshpace_fuzz::fields::Fields;
use meshpace_tcp::{Config, Options};
use meshpace_units::{Instant, Seq, Span};
use std::net::{IpAddr, SocketAddr};

#[derive(Arbitrary, Debug)]
struct Input {
    linux: bool,
    steps: Vec<Step>,
}

#[derive(Arbitrary, Debug)]
enum Step {
    /// Any bytes.
    Bytes(Vec<u8>),
    /// A segment from one of four ports, relative to what the stack sent last there.
    Segment {
        port: u8,
        listens: bool,
        v6: bool,
        fields: Fields,
    },
    /// One of the latest packets that the stack sent comes back to it, from its peer.
    Mirror(u8),
    Connect {
        port: u8,
        v6: bool,
    },
    Accept,
    Write {
        socket: u8,
        length: u16,
    },
    Read {
        socket: u8,
        length: u16,
    },
    Finish {
        socket: u8,
    },
    Abort {
        socket: u8,
    },
    Release {
        socket: u8,
    },
    /// Milliseconds, then whatever is due by the end of them.
    Wait(u16),
}

const CONNECTIONS: usize = 12;
const LISTENED: u16 = 80;
const MTU: usize = 1_500;

/// No more was written or read than there was, or nothing at all.
fn at_most(count: Result<usize, SocketError>, most: usize) -> bool {
    count.map_or(true, |count| count <= most)
}

struct World {
    stack: Stack,
    now: Instant,
    listener: ListenerId,
    options: SocketOptions,
    owned: Vec<SocketId>,
    /// The sequence number behind what the stack sent last, and what it acknowledged last.
    latest: (Seq, Seq),
    /// Packets that it sent, with the ends turned round.
    sent: Vec<Vec<u8>>,
}

fn addresses(v6: bool) -> [IpAddr; 2] {
    if v6 {
        [1u16, 2].map(|n| IpAddr::from([0xfd09, 0, 0, 0, 0, 0, 0, n]))
    } else {
        [1u8, 2].map(|n| IpAddr::from([10, 9, 0, n]))
    }
}

impl World {
    fn socket(&self, which: u8) -> Option<SocketId> {
        self.owned.get(usize::from(which) % self.owned.len().max(1)).copied()
    }

    fn step(&mut self, step: &Step) {
        match step {
            Step::Bytes(bytes) => self.stack.handle_packet(self.now, bytes),
            Step::Segment { port, listens, v6, fields } => {
                let [own, peer] = addresses(*v6);
                let at = u16::from(port % 4);
                let ports = (1_000 + at, if *listens { LISTENED } else { 2_000 + at });
                let mut segment = fields.segment(self.latest.1, self.latest.0, ports);
                segment.payload %= 1_461;
                // More options than a header has room for are no packet.
                if segment.header_length() > 60 {
                    segment.options = Options::NONE;
                }
                let payload = vec![0x5a; segment.payload as usize];
                self.stack.handle_packet(self.now, &meshpace_wire::build(peer, own, 64, &segment, &payload));
            }
            Step::Mirror(which) => {
                if let Some(packet) = self.sent.get(usize::from(*which) % self.sent.len().max(1)).cloned() {
                    self.stack.handle_packet(self.now, &packet);
                }
            }
            Step::Connect { port, v6 } => {
                let to = SocketAddr::new(addresses(*v6)[1], 1_000 + u16::from(port % 4));
                let local = Some(2_000 + u16::from(port % 4));
                self.owned.extend(self.stack.connect(self.now, to, local, &self.options));
            }
            Step::Accept => self.owned.extend(self.stack.accept(self.listener)),
            Step::Write { socket, length } => {
                if let Some(id) = self.socket(*socket) {
                    let data = vec![1; usize::from(*length)];
                    assert!(at_most(self.stack.write(id, &data), data.len()));
                }
            }
            Step::Read { socket, length } => {
                if let Some(id) = self.socket(*socket) {
                    let mut room = vec![0; usize::from(*length)];
                    let most = room.len();
                    assert!(at_most(self.stack.read(id, &mut room), most));
                }
            }
            Step::Finish { socket } => {
                self.socket(*socket).map(|id| self.stack.shutdown_write(id).ok());
            }
            Step::Abort { socket } => {
                if let Some(id) = self.socket(*socket) {
                    self.stack.abort(self.now, id);
                }
            }
            Step::Release { socket } => {
                if let Some(id) = self.socket(*socket) {
                    self.owned.retain(|other| *other != id);
                    self.stack.release(self.now, id);
                }
            }
            Step::Wait(ms) => {
                let end = self.now + Span::from_millis(u64::from(*ms));
                let mut woken = 0;
                while let Some(due) = self.stack.poll_timeout().filter(|due| *due <= end) {
                    self.now = self.now.max(due);
                    self.stack.handle_timeout(self.now);
                    self.drain();
                    woken += 1;
                    assert!(woken < 100_000, "time stands still at {due:?}");
                }
                self.now = end;
            }
        }
        self.drain();
        assert!(self.stack.len() <= CONNECTIONS, "{} connections", self.stack.len());
    }

    /// What it sends can be read by anybody, is its own, and ends.
    fn drain(&mut self) {
        let (mut packet, mut count) = (Vec::new(), 0);
        while self.stack.poll_transmit(self.now, &mut packet) {
            count += 1;
            assert!(count < 20_000, "a burst without end");
            assert!(packet.len() <= MTU, "{} bytes", packet.len());
            let read = meshpace_wire::parse(&packet).unwrap_or_else(|why| panic!("{why:?}: {packet:?}"));
            assert_eq!(read.source, addresses(read.source.is_ipv6())[0], "it speaks for itself alone");
            self.latest = (read.segment.seq + read.segment.payload, read.segment.ack);
            let mut back = read.segment;
            (back.source_port, back.destination_port) = (back.destination_port, back.source_port);
            let payload = vec![0x5a; back.payload as usize];
            self.sent.push(meshpace_wire::build(read.destination, read.source, 64, &back, &payload));
            if self.sent.len() > 16 {
                self.sent.remove(0);
            }
        }
        let mut changes = 0;
        while self.stack.poll_changed().is_some() {
            changes += 1;
            assert!(changes < 10_000, "changes without end");
        }
    }
}

fuzz_target!(|input: Input| {
    let own = [addresses(false)[0], addresses(true)[0]];
    let config = StackConfig {
        connections: CONNECTIONS,
        half_open: 4,
        ..StackConfig::new(own.to_vec(), Secret([7; 16]))
    };
    let tcp = if input.linux { Config::linux() } else { Config::rfc() };
    let options = SocketOptions { tcp, send_buffer: 20_000, route: None };
    let mut stack = Stack::new(config);
    let listener = stack.listen(None, LISTENED, 3, options.clone()).expect("the port is free");
    let mut world = World {
        stack,
        now: Instant::ZERO + Span::from_secs(1),
        listener,
        options,
        owned: Vec::new(),
        latest: (Seq(0), Seq(0)),
        sent: Vec::new(),
    };
    input.steps.iter().for_each(|step| world.step(step));
    world.stack.abort_all(world.now);
    world.drain();
    assert_eq!(world.stack.unfinished(), 0, "what was aborted is over");
});
