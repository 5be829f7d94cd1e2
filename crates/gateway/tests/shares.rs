//! Hosts share the gateway's memory: however much one host takes, the others keep their part.

use crate::common::*;
use meshpace_gateway::{Action, Config, Side, Verdict};
use meshpace_tcp::{Options, Segment};
use meshpace_units::{Bytes, Instant, Seq, Span};
use std::collections::{BTreeMap, BTreeSet};

/// The victim's flow; those of the attack follow it.
const VICTIM: u8 = 1;
const ROUND_TRIP: Span = Span::from_millis(40);
/// When a sender repeats what was lost.
const TIMEOUT: Span = Span::from_millis(300);
/// Segments that it has on their way.
const WINDOW_SEGMENTS: u32 = 20;
/// The limits of a router with 128 MiB.
const SMALL: Config = Config {
    goodput_control: None,
    buffer_total: Bytes(16 << 20),
    held_max: 4_096,
    flows_max: 4_096,
    segments_total: 65_536,
    ..Config::PAPER
};

enum Event {
    /// The segment of that number arrives in the mesh.
    Arrives(u32),
    /// It is sent, or sent again.
    Sends(u32),
}

/// A download beside an attack.
struct World {
    s: Script,
    events: BTreeMap<(Instant, u32), Event>,
    scheduled: u32,
    /// The victim's packets in the gateway.
    held: BTreeMap<Packet, u32>,
    arrived: BTreeSet<u32>,
    acked: u32,
    sent: u32,
    drops: u32,
}

impl World {
    /// A download with a pace, of which nothing is on its way.
    fn new(config: Config) -> Self {
        let mut s = Script::established(config);
        s.sample(0, 40);
        let (events, held, arrived) = (BTreeMap::new(), BTreeMap::new(), BTreeSet::new());
        Self { s, events, scheduled: 0, held, arrived, acked: 1, sent: 1, drops: 0 }
    }

    fn schedule(&mut self, after: Span, event: Event) {
        self.scheduled += 1;
        self.events.insert((self.s.now + after, self.scheduled), event);
    }

    fn drain(&mut self) {
        while let Some(departure) = self.s.gateway.poll_transmit(self.s.now) {
            match (self.held.remove(&departure.packet), departure.action) {
                (Some(n), Action::Release { .. }) => self.schedule(ROUND_TRIP, Event::Arrives(n)),
                (Some(_), action) => panic!("{action:?} of the victim's"),
                (None, _) => {}
            }
        }
    }

    fn send(&mut self, n: u32) {
        if n < self.acked {
            return;
        }
        self.s.flow = VICTIM;
        let data = self.s.down(n * MSS, MSS, 0);
        let (packet, verdict) = self.s.hand_in(Side::Wired, &data);
        match verdict {
            Verdict::Held => drop(self.held.insert(packet, n)),
            Verdict::Forward(..) => self.schedule(ROUND_TRIP, Event::Arrives(n)),
            Verdict::Dropped(_) => {
                self.drops += 1;
                self.schedule(TIMEOUT, Event::Sends(n));
            }
            verdict => panic!("{verdict:?}"),
        }
        self.drain();
    }

    fn handle(&mut self, event: &Event) {
        match *event {
            Event::Sends(n) => self.send(n),
            Event::Arrives(n) => {
                self.arrived.insert(n);
                while self.arrived.remove(&self.acked) {
                    self.acked += 1;
                }
                self.s.flow = VICTIM;
                let ack = self.s.ack(self.acked * MSS);
                self.s.hand_in(Side::Wireless, &ack);
                self.drain();
            }
        }
        while self.sent < self.acked + WINDOW_SEGMENTS {
            self.sent += 1;
            self.send(self.sent - 1);
        }
    }

    /// Lets time pass; the segments that the victim got.
    fn run(&mut self, span: Span) -> u32 {
        let (before, end) = (self.acked, self.s.now + span);
        if self.sent == self.acked {
            self.sent += 1;
            self.send(self.sent - 1);
        }
        loop {
            let event = self.events.first_key_value().map(|(&(at, _), _)| at);
            let timeout = self.s.gateway.poll_timeout();
            let Some(next) = [event, timeout].into_iter().flatten().min().filter(|&next| next <= end) else {
                break;
            };
            self.s.now = self.s.now.max(next);
            self.s.gateway.handle_timeout(self.s.now);
            self.drain();
            while let Some(entry) = self.events.first_entry().filter(|entry| entry.key().0 <= self.s.now) {
                let event = entry.remove();
                self.handle(&event);
            }
        }
        self.s.now = end;
        self.acked - before
    }

    /// A connection whose host in the mesh announces 8 MiB.
    fn open(&mut self, flow: u8, port: u16) {
        self.s.flow = flow;
        let options = Options { window_scale: Some(14), ..Options::default() };
        let syn = Segment { flags: SYN, seq: Seq(WIRELESS_ISN), options, ..self.s.up(0, 0, 0) };
        let answer = Segment { flags: SYN_ACK, seq: Seq(WIRED_ISN), options, ..self.s.down(0, 0, 0) };
        let ack = self.s.up(0, 0, 0);
        for (side, segment) in [(Side::Wireless, syn), (Side::Wired, answer), (Side::Wireless, ack)] {
            self.hand_in(side, port, segment);
        }
    }

    /// A packet of the attack.
    fn hand_in(&mut self, side: Side, port: u16, segment: Segment) {
        let segment = match side {
            Side::Wired => Segment { destination_port: port, ..segment },
            Side::Wireless => Segment { source_port: port, ..segment },
        };
        self.s.hand_in(side, &segment);
        self.drain();
    }
}

/// What an attack leaves the victim in the ten seconds after it.
#[derive(Debug)]
struct Left {
    /// Of its rate alone.
    rate: f64,
    /// Of its round trips measured alone.
    samples: f64,
    drops: u32,
    /// Packets that were not paced, for want of a place.
    unpaced: u64,
}

impl Left {
    fn of(attack: impl Fn(&mut World)) -> Self {
        let after = |attack: &dyn Fn(&mut World)| {
            let mut world = World::new(SMALL);
            world.run(Span::from_secs(2));
            attack(&mut world);
            world.s.flow = VICTIM;
            let before = world.s.stats().samples.0;
            let got = world.run(Span::from_secs(10));
            world.s.flow = VICTIM;
            let samples = (world.s.stats().samples.0 - before) as f64;
            (f64::from(got), samples, world.drops, world.s.gateway.counters().crowded)
        };
        let (alone, alone_samples, ..) = after(&|_| {});
        assert!(alone > 200.0 && alone_samples > 200.0, "{alone} segments, {alone_samples} samples");
        let (got, samples, drops, unpaced) = after(&attack);
        Self { rate: got / alone, samples: samples / alone_samples, drops, unpaced }
    }

    #[track_caller]
    fn is_enough(&self) {
        assert!(self.rate >= 0.8 && self.samples >= 0.8 && self.drops == 0 && self.unpaced == 0, "{self:?}");
    }
}

#[test]
fn small_packets_to_one_host_do_not_take_all_places() {
    for connections in [1, 10] {
        let left = Left::of(|world| {
            for port in 5_000..5_000 + connections {
                world.open(2, port);
                // One that is acknowledged sets a pace; the rest waits for minutes.
                let first = world.s.down(0, 1, 0);
                world.hand_in(Side::Wired, port, first);
                world.run(ROUND_TRIP);
                world.s.flow = 2;
                let ack = world.s.ack(1);
                world.hand_in(Side::Wireless, port, ack);
                for n in 1..17_000 / u32::from(connections) {
                    let data = world.s.down(n, 1, 0);
                    world.hand_in(Side::Wired, port, data);
                }
            }
            assert!(world.s.gateway.held() > 1_000, "{} wait", world.s.gateway.held());
        });
        left.is_enough();
    }
}

#[test]
fn flows_that_never_acknowledge_do_not_take_the_cache() {
    for one_host in [true, false] {
        let left = Left::of(|world| {
            for n in 0..24 {
                let (flow, port) = if one_host { (2, 5_000 + n) } else { (2 + n as u8, 5_000) };
                world.open(flow, port);
                for n in 0..600 {
                    let data = world.s.down(n * MSS, MSS, 0);
                    world.hand_in(Side::Wired, port, data);
                }
            }
            let buffered = world.s.gateway.buffered();
            assert!(buffered > Bytes(SMALL.buffer_total.0 * 7 / 10), "{buffered:?}");
            // One that begins now is paced.
            world.open(60, 5_000);
            let data = world.s.down(0, MSS, 0);
            world.hand_in(Side::Wired, 5_000, data);
            assert!(world.s.stats().paced, "{:?}", world.s.stats());
        });
        left.is_enough();
    }
}

#[test]
fn one_byte_segments_do_not_take_the_segment_map() {
    let left = Left::of(|world| {
        for port in 5_000..5_024 {
            world.open(2, port);
            for n in 0..9_000 {
                let data = world.s.down(n, 1, 0);
                world.hand_in(Side::Wired, port, data);
            }
        }
        assert!(world.s.gateway.segments() > SMALL.segments_total * 8 / 10, "{}", world.s.gateway.segments());
    });
    left.is_enough();
}

#[test]
fn what_nobody_acknowledges_is_forgotten_after_a_minute() {
    let mut s = Script::established(SMALL);
    for second in 0..200 {
        s.now = ms(1_000 * second);
        for n in 0..10 {
            let data = s.down(((second as u32 * 10) + n) * 10, 10, 0);
            s.forwards(Side::Wired, &data);
        }
        let kept = s.gateway.segments();
        assert!(kept <= 610, "{kept} segments at {second} s");
        assert_eq!(s.gateway.buffered(), Bytes(50 * kept as u64));
    }
    // What was forgotten passes again: it is timed by nothing (Karn's rule).
    let (again, ack) = (s.down(0, 10, 0), s.ack(10));
    s.forwards(Side::Wired, &again);
    s.now += Span::from_millis(40);
    s.forwards(Side::Wireless, &ack);
    assert_eq!(s.stats().samples, (0, 0));
}

#[test]
fn where_others_have_all_places_a_flow_goes_on_in_order() {
    // Four hosts have 24 of 25 places.
    let mut world = World::new(Config { held_max: 25, ..SMALL });
    let mut expected = Vec::new();
    for flow in 2..=5 {
        world.s.flow = flow;
        world.s.handshake();
        let base = world.s.sample(0, 40);
        let first = world.s.down(base, MSS, 0);
        world.s.forwards(Side::Wired, &first);
        for n in 1..=6 {
            let next = world.s.down(base + n * MSS, MSS, 0);
            world.s.holds(&next);
        }
    }
    world.s.flow = VICTIM;
    let (first, second) = (world.s.down(MSS, MSS, 0), world.s.down(2 * MSS, MSS, 0));
    world.s.forwards(Side::Wired, &first);
    expected.push(world.s.holds(&second));
    for n in 3..10 {
        let data = world.s.down(n * MSS, MSS, 0);
        let (packet, verdict) = world.s.hand_in(Side::Wired, &data);
        assert_eq!(verdict, Verdict::Held);
        expected.push(packet);
    }
    // One place is the victim's: each that comes sends the first of its queue on.
    let left: Vec<_> =
        world.s.departures().into_iter().map(|(packet, _)| packet).filter(|p| expected.contains(p)).collect();
    assert_eq!(left, expected[..7]);
    assert_eq!(world.s.gateway.counters().crowded, left.len() as u64);
    assert_eq!(world.s.stats().drops, 0);
}

#[test]
fn a_packet_that_offloads_made_long_takes_no_more_than_there_is() {
    // Another host has nearly all bytes; the victim's next packet is as long as many (generic receive offload).
    let total = Bytes(60_000);
    let mut world = World::new(Config { buffer_total: total, ..SMALL });
    world.s.flow = 2;
    world.s.handshake();
    let base = world.s.sample(0, 40);
    let first = world.s.down(base, MSS, 0);
    world.s.forwards(Side::Wired, &first);
    for n in 1..=33 {
        let data = world.s.down(base + n * MSS, MSS, 0);
        world.s.holds(&data);
    }
    world.s.flow = VICTIM;
    let first = world.s.down(MSS, MSS, 0);
    world.s.forwards(Side::Wired, &first);
    let mut expected = Vec::new();
    for (n, length) in [(2, MSS), (3, MSS), (4, MSS), (5, 40_000)] {
        let data = world.s.down(n * MSS, length, 0);
        expected.push(world.s.holds(&data));
    }
    let early = world.s.departures();
    let left: Vec<_> = early.into_iter().map(|(packet, _)| packet).filter(|p| expected.contains(p)).collect();
    assert_eq!(left, expected, "in order, and the long one with them");
    assert!(world.s.gateway.buffered() <= total, "{:?}", world.s.gateway.buffered());
    assert_eq!(world.s.gateway.counters().crowded, 4);
    assert_eq!(world.s.stats().drops, 0);
}
