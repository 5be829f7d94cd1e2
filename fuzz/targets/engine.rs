//! The daemon's gateway on the bytes of packets, between two sides that send what they like.

#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use meshpace_fuzz::fields::Fields;
use meshpace_fuzz::streams::{Streams, whole};
use meshpace_gateway::Retransmissions;
use meshpace_tcp::Segment;
use meshpace_units::{Bytes, Ecn, Instant, Span};
use meshpace_wire::{Packet, checksum_ok, parse, strip_rtt};
use meshpaced::config::{Config, Mode};
use meshpaced::gateway::{Arrival, Decision, Engine, Output};
use meshpaced::hops::Directory;
use std::collections::{BTreeMap, VecDeque};
use std::net::IpAddr;
use std::sync::{Arc, LazyLock};

#[derive(Arbitrary, Debug)]
struct Input {
    config: u8,
    held_max: u8,
    steps: Vec<Step>,
}

#[derive(Arbitrary, Debug)]
enum Step {
    /// A packet of one of 8 connections.
    Segment {
        flow: u8,
        wired: bool,
        ttl: u8,
        damage: Damage,
        fields: Fields,
    },
    /// The first two packets of one of them.
    Open {
        flow: u8,
        wired: bool,
    },
    /// Data of one of them, in sequence.
    Data {
        flow: u8,
        wired: bool,
        quarters: u8,
    },
    /// A part of what is outstanding is acknowledged.
    Acknowledge {
        flow: u8,
        wired: bool,
        part: u8,
    },
    /// Both ends of one of them go on with other numbers.
    Renumber {
        flow: u8,
        by: u32,
    },
    /// Any bytes between any interfaces.
    Bytes {
        from_mesh: bool,
        to_mesh: bool,
        bytes: Vec<u8>,
    },
    /// Microseconds, then whatever is due by the end of them.
    Wait(u32),
    /// Until the next timer.
    Sleep,
    /// Another configuration.
    Reload(u8),
    /// The driver can hold so many packets from now on.
    HeldMax(u8),
    LetGo,
}

#[derive(Arbitrary, Clone, Copy, Debug)]
enum Damage {
    None,
    /// The driver has only so many bytes of it.
    Cut(u16),
    Byte(u8, u8),
}

/// Limits so small that short inputs reach them.
const LIMITS: &str = "gap_buffer_total = 30000\ngap_held_max = 12\ngap_flows_max = 4\ngap_segments_max = 10\n\
    gap_segments_total = 24\n";
const BUFFER_TOTAL: Bytes = Bytes(30_000);
const HELD_MAX: usize = 12;
const FLOWS_MAX: usize = 4;
const SEGMENTS_TOTAL: usize = 24;

/// The paper's queues: first in, first out.
const IN_TURN: &str = "gap_queue = \"fifo\"\ngap_retransmissions = \"in-turn\"\n";

static CONFIGS: LazyLock<Vec<Arc<Config>>> = LazyLock::new(|| {
    let modes = [
        ("mode = \"pace\"", ""),
        ("mode = \"pace\"", IN_TURN),
        ("mode = \"pace\"", "local_retransmission = \"off\"\ngoodput_control = false\n"),
        ("mode = \"observe\"", ""),
        ("mode = \"pace\"\npaced_share = 0.5", "gap_buffer_windows = 1\n"),
        ("mode = \"off\"", ""),
    ];
    let parse = |(mode, gateway): (&str, &str)| {
        let text = format!(
            "{mode}\n[mesh]\nsubnets = [\"10.77.0.0/16\", \"fd77::/16\"]\nrate = \"2Mbps\"\n\
             [hops]\nsources = [\"static\", \"ttl\"]\n[hops.static]\n\"10.77.0.1/32\" = 4\n\
             [gateway]\n{LIMITS}{gateway}"
        );
        Arc::new(Config::parse("fuzz.toml", text.as_bytes()).unwrap_or_else(|error| panic!("{error}")))
    };
    modes.into_iter().map(parse).collect()
});

fn config(choice: u8) -> Arc<Config> {
    CONFIGS[usize::from(choice) % CONFIGS.len()].clone()
}

/// A direction of a connection, by its addresses and ports.
type Way = (IpAddr, u16, IpAddr, u16);

struct Held {
    bytes: Vec<u8>,
    way: Option<Way>,
    /// It came when what is sent again waits its turn: it went to its queue's end, whatever a reload says later.
    in_turn: bool,
}

struct World {
    engine: Engine,
    mode: Mode,
    held_max: usize,
    now: Instant,
    streams: Streams,
    next: u64,
    inside: BTreeMap<u64, Held>,
    /// Data held, in order of arrival. Packets between named interfaces are not in here: the side that they come from
    /// is not that of their addresses.
    queues: BTreeMap<Way, VecDeque<u64>>,
    /// What came from the wired side and may be sent again, without foreign options.
    originals: Vec<Vec<u8>>,
}

impl World {
    fn step(&mut self, step: &Step) {
        let held = self.engine.held();
        match *step {
            Step::Segment { flow, wired, ttl, damage, ref fields } => {
                let bytes = self.packet(flow, wired, ttl, damage, fields);
                self.hand_in(false, false, bytes);
            }
            Step::Open { flow, wired } => {
                let segments = self.streams.open(flow, wired);
                for (segment, wired) in segments.iter().zip([wired, !wired]) {
                    self.hand_in_segment(flow, wired, segment);
                }
            }
            Step::Data { flow, wired, quarters } => {
                let segment = self.streams.data(flow, wired, quarters % 5);
                self.hand_in_segment(flow, wired, &segment);
            }
            Step::Acknowledge { flow, wired, part } => {
                let segment = self.streams.acknowledgement(flow, wired, part);
                self.hand_in_segment(flow, wired, &segment);
            }
            Step::Renumber { flow, by } => self.streams.renumber(flow, by),
            Step::Bytes { from_mesh, to_mesh, ref bytes } => self.hand_in(from_mesh, to_mesh, bytes.clone()),
            Step::Wait(us) => self.wait_until(self.now + Span::from_micros(u64::from(us))),
            Step::Sleep => self.wait_until(self.engine.poll_timeout().unwrap_or(self.now).max(self.now)),
            Step::Reload(choice) => {
                let config = config(choice);
                self.mode = config.mode;
                self.engine.reload(self.now, config);
                self.drain();
            }
            Step::HeldMax(held_max) => {
                self.held_max = HELD_MAX.min(held_max.into());
                self.engine.set_held_max(self.now, self.held_max);
                self.drain();
            }
            Step::LetGo => {
                self.engine.let_go(self.now);
                self.drain();
                assert!(self.inside.is_empty(), "held after all was let go");
            }
        }
        self.check(held);
    }

    fn packet(&mut self, flow: u8, wired: bool, ttl: u8, damage: Damage, fields: &Fields) -> Vec<u8> {
        let mut segment = self.streams.segment(flow, wired, fields);
        segment.ns2 = None;
        segment.payload %= 3_000;
        if segment.options_length() > 40 {
            segment.options.sack = Default::default();
        }
        let mut bytes = whole(flow, wired, ttl, &segment);
        match damage {
            Damage::None => {}
            Damage::Cut(length) => bytes.truncate(length.into()),
            Damage::Byte(at, byte) => {
                let length = bytes.len();
                bytes[usize::from(at) % length] = byte;
            }
        }
        bytes
    }

    fn hand_in_segment(&mut self, flow: u8, wired: bool, segment: &Segment) {
        self.hand_in(false, false, whole(flow, wired, 60, segment));
    }

    fn hand_in(&mut self, from_mesh: bool, to_mesh: bool, bytes: Vec<u8>) {
        let id = self.next;
        self.next += 1;
        let packet = parse(&bytes).ok().filter(|packet| packet.wire_len.0 as usize <= bytes.len());
        let named = from_mesh || to_mesh;
        let data = packet.filter(|packet| {
            !named
                && packet.segment.sequence_length() > 0
                && !packet.segment.flags.syn
                && !packet.segment.flags.rst
        });
        let way = data.map(|p| (p.source, p.segment.source_port, p.destination, p.segment.destination_port));
        if packet.is_some() {
            let mut original = bytes.clone();
            strip_rtt(&mut original);
            self.originals.push(original);
        }
        let mut buffer = bytes.clone();
        let arrival = Arrival { id, from_mesh, to_mesh, unfinished: false, bytes: &mut buffer };
        let upward = packet.is_some_and(|packet| {
            let acknowledges = packet.segment.flags.ack && !packet.segment.flags.syn && !packet.signed;
            acknowledges && self.engine.config().mesh.contains(packet.source)
        });
        let implausible = self.engine.totals().0.implausible;
        let outcome = match self.engine.handle(self.now, arrival) {
            Decision::Accept => Some(bytes.clone()),
            Decision::Rewrite(after) => {
                assert_ne!(self.mode, Mode::Observe, "rewritten while it is watched");
                let packet = packet.expect("what is rewritten can be read");
                rewritten(&packet, &bytes, after, upward);
                Some(after.to_vec())
            }
            Decision::Hold => {
                let queue = way.map(|way| self.queues.entry(way).or_default());
                queue.into_iter().for_each(|queue| queue.push_back(id));
                let in_turn = self.engine.config().gateway.retransmissions == Retransmissions::InTurn;
                self.inside.insert(id, Held { bytes, way, in_turn });
                None
            }
            Decision::Drop => {
                assert_eq!(self.mode, Mode::Pace, "dropped while it is watched");
                None
            }
        };
        if let Some(after) = outcome {
            let waiting = way.and_then(|way| self.queues.get(&way)).is_some_and(|queue| !queue.is_empty());
            let of_it = self.engine.totals().0.implausible == implausible;
            assert!(!waiting || !of_it, "packet {id} overtakes its flow");
            self.without_foreign_option(packet, named, &after);
        }
        self.drain();
    }

    /// Where all flows are paced, no option of others goes through: only ACKs up to the mesh have one, and it is ours. Signed
    /// segments (RFC 2385, RFC 5925) pass as they are.
    fn without_foreign_option(&self, before: Option<Packet>, named: bool, after: &[u8]) {
        let (Some(before), Ok(after)) = (before, parse(after)) else { return };
        let mesh = |address| self.engine.config().mesh.contains(address);
        let crosses = !named && mesh(before.source) != mesh(before.destination);
        let paced = self.mode == Mode::Pace && self.engine.config().paced_share >= 1.0;
        if crosses && paced && !before.signed && after.segment.options.rtt_wired.is_some() {
            assert!(after.segment.is_pure_ack() && mesh(after.destination), "{before:?}");
        }
    }

    fn drain(&mut self) {
        let mut repairs = 0;
        while let Some(output) = self.engine.poll(self.now) {
            match output {
                Output::Release { id, bytes, due } => {
                    assert!(due <= self.now, "packet {id} is due at {due:?}, it is {:?}", self.now);
                    let held = self.leave(id);
                    if let Some(after) = bytes {
                        let packet = parse(&held.bytes).expect("what is rewritten can be read");
                        rewritten(&packet, &held.bytes, &after, false);
                    }
                }
                Output::Drop { id } => {
                    self.leave(id);
                }
                Output::Send(bytes) => {
                    repairs += 1;
                    assert!(repairs <= SEGMENTS_TOTAL, "no end of repairs");
                    assert!(self.originals.iter().any(|original| original[..] == bytes[..]), "{bytes:02x?}");
                }
            }
        }
    }

    fn leave(&mut self, id: u64) -> Held {
        let held = self.inside.remove(&id).unwrap_or_else(|| panic!("packet {id} is not inside"));
        if let Some(way) = held.way {
            let queue = self.queues.get_mut(&way).expect("it was held");
            let place = queue.iter().position(|held| *held == id).expect("it was held");
            assert!(place == 0 || !held.in_turn, "out of order");
            queue.remove(place);
        }
        held
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

    /// `before`: packets held before this step. They stay when fewer can be held.
    fn check(&self, before: usize) {
        let engine = &self.engine;
        assert_eq!(engine.held(), self.inside.len(), "by the engine's count and by the driver's");
        assert!(engine.held() <= self.held_max.max(before), "{} packets held", engine.held());
        assert!(engine.buffered() <= BUFFER_TOTAL, "{:?} buffered", engine.buffered());
        assert!(engine.flows().len() <= FLOWS_MAX, "{} flows", engine.flows().len());
        if self.mode != Mode::Pace {
            assert_eq!((engine.held(), engine.buffered()), (0, Bytes::ZERO), "kept while it is watched");
        }
    }
}

/// A packet that goes on changed has another RTT option or none, and is otherwise what it was; one that acknowledges upward may
/// announce less.
fn rewritten(before: &Packet, bytes: &[u8], after: &[u8], upward: bool) {
    let packet = parse(after).unwrap_or_else(|error| panic!("{error}: {after:02x?}"));
    let mut expected = *before;
    expected.segment.options.rtt_wired = packet.segment.options.rtt_wired;
    (expected.header_length, expected.wire_len) = (packet.header_length, packet.wire_len);
    if upward && packet.segment.window < before.segment.window {
        expected.segment.window = packet.segment.window;
    }
    if before.ecn().is_capable() && packet.ecn() == Ecn::Ce {
        expected.traffic_class = packet.traffic_class;
        assert_eq!(before.traffic_class | Ecn::Ce.bits(), packet.traffic_class);
    }
    assert_eq!(packet, expected);
    assert_eq!(packet.payload(after), before.payload(bytes));
    assert_eq!(checksum_ok(after), checksum_ok(bytes));
}

fuzz_target!(|input: Input| {
    let config = config(input.config);
    let held_max = HELD_MAX.min(input.held_max.into());
    let mut world = World {
        mode: config.mode,
        engine: Engine::new(config.clone(), held_max, Directory::fixed(config)),
        held_max,
        now: Instant::ZERO,
        streams: Streams::default(),
        next: 0,
        inside: BTreeMap::new(),
        queues: BTreeMap::new(),
        originals: Vec::new(),
    };
    for step in &input.steps {
        world.step(step);
    }
    // All silent: the held packets leave at their pace, then everything is forgotten.
    world.wait_until(world.now + Span::from_secs(100_000));
    world.check(0);
    let kept = (world.engine.held(), world.engine.flows().len(), world.engine.buffered());
    assert_eq!(kept, (0, 0, Bytes::ZERO), "kept for ever");
});
