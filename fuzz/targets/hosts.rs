//! The daemon's shaper of hosts behind its gateway, on the bytes of packets: hosts that send, acknowledge, spin and answer echoes as they like.

#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use meshpace_fuzz::streams::{Streams, whole};
use meshpace_tcp::Segment;
use meshpace_units::{Instant, Span};
use meshpace_wire::outline;
use meshpaced::config::Config;
use meshpaced::gateway::{Arrival, Decision, Output, ShapedEngine};
use meshpaced::hops::Directory;
use std::collections::BTreeSet;
use std::net::IpAddr;
use std::sync::{Arc, LazyLock};

#[derive(Arbitrary, Debug)]
struct Input {
    config: u8,
    steps: Vec<Step>,
}

#[derive(Arbitrary, Debug)]
enum Step {
    /// The first two packets of one of 8 connections.
    Open {
        flow: u8,
        wired: bool,
    },
    /// Data of one of them, in sequence, so many times.
    Data {
        flow: u8,
        wired: bool,
        quarters: u8,
        times: u8,
    },
    /// A part of what is outstanding is acknowledged.
    Acknowledge {
        flow: u8,
        wired: bool,
        part: u8,
    },
    /// Datagrams to or from a mesh host; from port 443 they are QUIC's.
    Datagrams {
        host: u8,
        from_mesh: bool,
        quic: bool,
        first: u8,
        length: u8,
        times: u8,
    },
    /// Any bytes.
    Bytes {
        from_mesh: bool,
        to_mesh: bool,
        unfinished: bool,
        bytes: Vec<u8>,
    },
    /// An answer to an echo request: to one that was asked, or of any number.
    Answer {
        latest: bool,
        number: u32,
        host: u8,
    },
    /// Milliseconds, then whatever is due by the end of them.
    Wait(u16),
    /// Another configuration.
    Reload(u8),
    /// The driver can hold so many packets from now on.
    HeldMax(u8),
    LetGo,
}

const HELD_MAX: usize = 60;
/// Requests a second, of all configurations below.
const PROBES: u64 = 10;

static CONFIGS: LazyLock<Vec<Arc<Config>>> = LazyLock::new(|| {
    let hosts = [
        "rate = \"1Mbps\"\n",
        "rate = \"auto\"\n",
        "rate = \"auto\"\nflows = \"free\"\nstands = \"90ms\"\n",
        "rate = \"2Mbps\"\nby = \"airtime\"\nflows = \"free\"\n",
        "rate = \"1Gbps\"\nflows = \"free\"\n",
        "rate = \"off\"\n",
    ];
    let parse = |hosts: &str| {
        let text = format!(
            "mode = \"pace\"\n[mesh]\nsubnets = [\"10.77.0.0/16\", \"fd77::/16\"]\nrate = \"2Mbps\"\n\
             [hops]\nsources = [\"static\"]\n[hops.static]\n\"10.77.0.1/32\" = 4\n[hosts]\n{hosts}\
             [[subnet]]\nprefix = \"10.77.0.0/30\"\nmode = \"pace\"\nweight = 2\ncap = \"300kbps\"\n\
             [[subnet]]\nprefix = \"fd77::/112\"\nmode = \"observe\"\ntogether = true\n"
        );
        Arc::new(Config::parse("fuzz.toml", text.as_bytes()).unwrap_or_else(|error| panic!("{error}")))
    };
    hosts.into_iter().map(parse).collect()
});

fn config(choice: u8) -> Arc<Config> {
    CONFIGS[usize::from(choice) % CONFIGS.len()].clone()
}

struct World {
    engine: ShapedEngine,
    now: Instant,
    streams: Streams,
    next: u64,
    inside: BTreeSet<u64>,
    /// Hosts asked for an echo, with the numbers of the requests.
    asked: Vec<(IpAddr, u32)>,
}

impl World {
    fn step(&mut self, step: &Step) {
        match *step {
            Step::Open { flow, wired } => {
                let segments = self.streams.open(flow, wired);
                for (segment, wired) in segments.iter().zip([wired, !wired]) {
                    self.segment(flow, wired, segment);
                }
            }
            Step::Data { flow, wired, quarters, times } => {
                for _ in 0..times % 32 {
                    let segment = self.streams.data(flow, wired, quarters % 5);
                    self.segment(flow, wired, &segment);
                }
            }
            Step::Acknowledge { flow, wired, part } => {
                let segment = self.streams.acknowledgement(flow, wired, part);
                self.segment(flow, wired, &segment);
            }
            Step::Datagrams { host, from_mesh, quic, first, length, times } => {
                let bytes = datagram(host, from_mesh, quic, first, length);
                (0..times % 32).for_each(|_| self.hand_in(false, false, false, bytes.clone()));
            }
            Step::Bytes { from_mesh, to_mesh, unfinished, ref bytes } => {
                self.hand_in(from_mesh, to_mesh, unfinished, bytes.clone());
            }
            Step::Answer { latest, number, host } => {
                let any = (IpAddr::from([10, 77, 0, host]), number);
                let (from, number) = self.asked.last().copied().filter(|_| latest).unwrap_or(any);
                self.engine.on_echo(self.now, from, number);
                self.drain();
            }
            Step::Wait(ms) => self.wait_until(self.now + Span::from_millis(ms.into())),
            Step::Reload(choice) => {
                self.engine.reload(self.now, config(choice));
                self.drain();
            }
            Step::HeldMax(held_max) => {
                self.engine.set_held_max(self.now, HELD_MAX.min(held_max.into()));
                self.drain();
            }
            Step::LetGo => {
                self.engine.let_go(self.now);
                self.drain();
                assert!(self.inside.is_empty(), "held after all was let go: {:?}", self.inside);
            }
        }
        assert!(self.engine.shaping() <= HELD_MAX, "{} packets wait", self.engine.shaping());
        // A second's requests may come at once, as many again in each second after.
        let seconds = self.now.as_secs_f64() as u64 + 2;
        assert!(self.asked.len() as u64 <= PROBES * seconds, "{} in {seconds} s", self.asked.len());
    }

    fn segment(&mut self, flow: u8, wired: bool, segment: &Segment) {
        self.hand_in(false, false, false, whole(flow, wired, 60, segment));
    }

    fn hand_in(&mut self, from_mesh: bool, to_mesh: bool, unfinished: bool, mut bytes: Vec<u8>) {
        let id = self.next;
        self.next += 1;
        let arrival = Arrival { id, from_mesh, to_mesh, unfinished, bytes: &mut bytes };
        if matches!(self.engine.handle(self.now, arrival), Decision::Hold) {
            self.inside.insert(id);
        }
        self.drain();
    }

    fn drain(&mut self) {
        let mut repairs = 0;
        while let Some(output) = self.engine.poll(self.now) {
            match output {
                Output::Release { id, bytes, due } => {
                    assert!(due <= self.now, "packet {id} is due at {due:?}, it is {:?}", self.now);
                    assert!(self.inside.remove(&id), "packet {id} is not inside");
                    bytes.iter().for_each(|bytes| assert!(outline(bytes).is_ok(), "{bytes:02x?}"));
                }
                Output::Drop { id } => assert!(self.inside.remove(&id), "packet {id} is not inside"),
                Output::Send(_) => {
                    repairs += 1;
                    assert!(repairs < 10_000, "no end of repairs");
                }
            }
        }
        self.asked.extend(self.engine.requests().map(|request| (request.to, request.number)));
    }

    fn wait_until(&mut self, end: Instant) {
        while let Some(at) = self.engine.poll_timeout().filter(|&at| at <= end) {
            self.now = self.now.max(at);
            self.engine.handle_timeout(self.now);
            self.drain();
            let next = self.engine.poll_timeout();
            assert!(next.is_none_or(|next| next > self.now), "{next:?} is due at {:?}", self.now);
        }
        self.now = end;
    }
}

/// A datagram between a mesh host and 192.0.2.1.
fn datagram(host: u8, from_mesh: bool, quic: bool, first: u8, length: u8) -> Vec<u8> {
    let payload = [&[first][..], &vec![0; usize::from(length) * 5]].concat();
    let (mesh, wired) = ([10, 77, 0, host], [192, 0, 2, 1]);
    let (source, destination) = if from_mesh { (mesh, wired) } else { (wired, mesh) };
    let port: u16 = if quic { 443 } else { 5_000 };
    let ports = if from_mesh { [1_000, port] } else { [port, 1_000] };
    let udp = 8 + payload.len() as u16;
    let [high, low] = (20 + udp).to_be_bytes();
    let header = [0x45, 2, high, low, 0, 0, 0, 0, 60, 17, 0, 0];
    let words = [ports[0], ports[1], udp, 0].map(u16::to_be_bytes);
    [&header[..], &source, &destination, words.as_flattened(), &payload].concat()
}

fuzz_target!(|input: Input| {
    let config = config(input.config);
    let mut world = World {
        engine: ShapedEngine::new(config.clone(), HELD_MAX, Directory::fixed(config)),
        now: Instant::ZERO,
        streams: Streams::default(),
        next: 0,
        inside: BTreeSet::new(),
        asked: Vec::new(),
    };
    for step in &input.steps {
        world.step(step);
    }
    // All silent: whatever is held leaves at its pace.
    world.wait_until(world.now + Span::from_secs(100_000));
    assert!(world.inside.is_empty(), "kept for ever: {:?}", world.inside);
});
