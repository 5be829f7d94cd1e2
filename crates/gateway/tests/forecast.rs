//! The forecast for a watched flow, compared with the pace that pacing then gives it: senders with windows, over a chain of radios
//! on one channel.

use crate::common::*;
use meshpace_gateway::{Config, Forecast, Retransmissions, Side, Treatment, Unforeseen, Verdict};
use meshpace_pacing::LinkRates;
use meshpace_tcp::Segment;
use meshpace_units::{Instant, Rate, Span};
use std::collections::{BTreeMap, BTreeSet};

/// What a hop takes besides the bits: preambles, the exchange of RTS and CTS, the backoff (schemes.md 17.2).
const AIRTIME: Span = Span::from_micros(900);
const RATE: u64 = 11_000_000;
/// From the gateway to the Internet host and back.
const WIRED: Span = Span::from_millis(40);
/// Packets that wait for the channel at either end.
const QUEUE: usize = 50;
/// Hops after which the next packet may start (schemes.md 2).
const REUSE: u64 = 4;
const TIMEOUT: Span = Span::from_secs(1);

/// A download: its sender's window grows and halves as Reno's does, up to the most that its receiver takes.
struct Download {
    flow: u8,
    most: f64,
    window: f64,
    threshold: f64,
    next: u32,
    una: u32,
    highest: u32,
    recover: u32,
    duplicates: u32,
    heard: Instant,
    beyond: BTreeSet<u32>,
    awaited: u32,
    /// An application that writes a segment in this time, if not a bulk transfer.
    writes: Option<Span>,
    written: u32,
}

impl Download {
    fn new(flow: u8, most: f64) -> Self {
        Self {
            flow,
            most,
            window: 2.0,
            threshold: most,
            next: 0,
            una: 0,
            highest: 0,
            recover: 0,
            duplicates: 0,
            heard: Instant::ZERO,
            beyond: BTreeSet::new(),
            awaited: 0,
            writes: None,
            written: u32::MAX,
        }
    }

    fn send(&mut self, out: &mut Vec<u32>) {
        let most = self.una + self.window.min(self.most) as u32;
        while self.next < most.min(self.written) {
            out.push(self.next);
            self.next += 1;
            self.highest = self.highest.max(self.next);
        }
    }

    /// An acknowledgement of so many segments comes to the sender.
    fn hear(&mut self, now: Instant, acked: u32, out: &mut Vec<u32>) {
        if acked > self.una {
            (self.una, self.duplicates, self.heard) = (acked, 0, now);
            self.next = self.next.max(acked);
            self.window += if self.window < self.threshold { 1.0 } else { 1.0 / self.window };
            if acked < self.recover {
                out.push(acked); // a partial acknowledgement (RFC 6582)
            }
        } else if self.una < self.highest {
            self.duplicates += 1;
            if self.duplicates == 3 && acked >= self.recover {
                self.threshold = (self.window.min(self.most) / 2.0).max(2.0);
                (self.window, self.recover) = (self.threshold, self.highest);
                out.push(acked);
            }
        }
        self.send(out);
    }

    fn expire(&mut self, now: Instant, out: &mut Vec<u32>) {
        if self.una < self.highest && now.saturating_since(self.heard) >= TIMEOUT {
            self.threshold = (self.window.min(self.most) / 2.0).max(2.0);
            (self.window, self.next, self.heard, self.recover) = (1.0, self.una, now, self.una);
            self.send(out);
        }
    }
}

#[derive(Clone, Copy)]
enum Event {
    /// At the gateway, from the Internet.
    Arrives { flow: usize, segment: u32 },
    /// At the mesh host.
    Delivered { flow: usize, segment: u32 },
    /// At the gateway, from the mesh.
    Acknowledges { flow: usize, acked: u32 },
    /// At the sender.
    Heard { flow: usize, acked: u32 },
    /// Every tenth of a second.
    Tick,
}

struct World {
    s: Script,
    flows: Vec<Download>,
    events: BTreeMap<(Instant, u64), Event>,
    scheduled: u64,
    hops: u64,
    free_at: Instant,
    /// When those start that wait for the channel, by direction.
    waiting: [Vec<Instant>; 2],
    /// One packet in so many is lost in the mesh.
    loses: Option<u64>,
    crossed: u64,
    names: BTreeMap<Packet, (usize, u32)>,
}

impl World {
    fn new(hops: u32, flows: Vec<Download>) -> Self {
        let codel = Some(meshpace_gateway::CodelConfig::BY_ROUND_TRIP);
        let config = Config { codel, retransmissions: Retransmissions::First, ..config() };
        let mut s = Script::new(config);
        s.treatment = Treatment::Observe;
        s.host = Some(1);
        s.hops = hops;
        s.rates = Some(LinkRates::Uniform(Rate::bits_per_sec(RATE)));
        for download in &flows {
            s.flow = download.flow;
            s.handshake();
        }
        let mut world = Self {
            s,
            flows,
            events: BTreeMap::new(),
            scheduled: 0,
            hops: hops.into(),
            free_at: Instant::ZERO,
            waiting: [Vec::new(), Vec::new()],
            loses: None,
            crossed: 0,
            names: BTreeMap::new(),
        };
        world.schedule(Instant::ZERO, Event::Tick);
        world
    }

    fn schedule(&mut self, at: Instant, event: Event) {
        self.scheduled += 1;
        self.events.insert((at, self.scheduled), event);
    }

    /// When a packet of `bytes` is through the chain; `None` if it is lost.
    fn crosses(&mut self, direction: usize, bytes: u64) -> Option<Instant> {
        let now = self.s.now;
        let waiting = &mut self.waiting[direction];
        waiting.retain(|&start| start > now);
        if waiting.len() >= QUEUE {
            return None;
        }
        let start = now.max(self.free_at);
        let hop = AIRTIME + Span::from_secs_f64(bytes as f64 * 8.0 / RATE as f64);
        self.free_at = start + hop * self.hops.min(REUSE);
        waiting.push(start);
        self.crossed += 1;
        let lost = direction == 0 && self.loses.is_some_and(|one_in| self.crossed.is_multiple_of(one_in));
        (!lost).then_some(start + hop * self.hops)
    }

    fn transmit(&mut self, flow: usize, segment: u32) {
        if let Some(at) = self.crosses(0, 1_500) {
            self.schedule(at, Event::Delivered { flow, segment });
        }
    }

    fn departures(&mut self) {
        while let Some(departure) = self.s.gateway.poll_transmit(self.s.now) {
            let (flow, segment) = self.names[&departure.packet];
            if !matches!(departure.action, meshpace_gateway::Action::Discard(_)) {
                self.transmit(flow, segment);
            }
        }
    }

    fn sends(&mut self, flow: usize, segments: Vec<u32>) {
        for segment in segments {
            self.schedule(self.s.now + WIRED / 2, Event::Arrives { flow, segment });
        }
    }

    fn handle(&mut self, event: Event) {
        let now = self.s.now;
        let mut out = Vec::new();
        match event {
            Event::Arrives { flow, segment } => {
                self.s.flow = self.flows[flow].flow;
                let data = self.s.down(segment.wrapping_mul(MSS), MSS, 0);
                let (packet, verdict) = self.s.hand_in(Side::Wired, &data);
                self.names.insert(packet, (flow, segment));
                if let Verdict::Forward(..) = verdict {
                    self.transmit(flow, segment);
                }
            }
            Event::Delivered { flow, segment } => {
                let download = &mut self.flows[flow];
                if segment >= download.awaited {
                    download.beyond.insert(segment);
                }
                while download.beyond.remove(&download.awaited) {
                    download.awaited += 1;
                }
                let acked = download.awaited;
                if let Some(at) = self.crosses(1, 40) {
                    self.schedule(at, Event::Acknowledges { flow, acked });
                }
            }
            Event::Acknowledges { flow, acked } => {
                self.s.flow = self.flows[flow].flow;
                let ack: Segment = self.s.ack(acked.wrapping_mul(MSS));
                if let (_, Verdict::Forward(..)) = self.s.hand_in(Side::Wireless, &ack) {
                    self.schedule(now + WIRED / 2, Event::Heard { flow, acked });
                }
            }
            Event::Heard { flow, acked } => {
                self.flows[flow].hear(now, acked, &mut out);
                self.sends(flow, out);
            }
            Event::Tick => {
                for flow in 0..self.flows.len() {
                    let (mut out, download) = (Vec::new(), &mut self.flows[flow]);
                    if let Some(writes) = download.writes {
                        download.written = (now.as_nanos() / writes.as_nanos()) as u32;
                    }
                    download.expire(now, &mut out);
                    download.send(&mut out);
                    self.sends(flow, out);
                }
                self.schedule(now + Span::from_millis(100), Event::Tick);
            }
        }
    }

    fn run(&mut self, span: Span) {
        let end = self.s.now + span;
        loop {
            let event =
                self.events.first_key_value().map(|(&(at, _), _)| at).expect("there is always a tick");
            let at = self.s.gateway.poll_timeout().map_or(event, |due| due.min(event));
            if at > end {
                break;
            }
            self.s.now = self.s.now.max(at);
            self.s.gateway.handle_timeout(self.s.now);
            self.departures();
            if let Some(entry) = self.events.first_entry().filter(|entry| entry.key().0 <= self.s.now) {
                let event = entry.remove();
                self.handle(event);
                self.departures();
            }
        }
        self.s.now = end;
    }

    /// Segments a second that the first download gets.
    fn rate(&mut self, span: Span) -> f64 {
        let before = self.flows[0].awaited;
        self.run(span);
        f64::from(self.flows[0].awaited - before) / span.as_secs_f64()
    }

    fn forecast(&mut self) -> Result<Forecast, Unforeseen> {
        self.s.flow = self.flows[0].flow;
        let explanation = self.s.gateway.explain(self.s.now, &self.s.key()).expect("the flow is known");
        explanation.forecast.expect("it is only watched")
    }

    /// From now on all flows are paced: what the first then gets a second, when the law has forgotten what was before.
    fn paced(&mut self) -> f64 {
        self.s.treatment = Treatment::Pace;
        self.s.gateway.review(self.s.now, |_| Some(Treatment::Pace));
        self.run(Span::from_secs(60));
        self.rate(Span::from_secs(60))
    }
}

/// Three rates in segments a second: the promise of the law's own samples, the forecast, and the rate that
/// pacing gives.
fn told_and_given(mut world: World) -> (f64, Forecast, f64) {
    world.run(Span::from_secs(30));
    world.s.flow = world.flows[0].flow;
    let sampled = 1.0 / world.s.stats().interval.expect("samples").as_secs_f64();
    let forecast = world.forecast().expect("it can be told");
    let given = world.paced();
    let told = 1.0 / forecast.interval.as_secs_f64();
    println!("samples {sampled:.1}, foretold {told:.1}, given {given:.1} segments/s; {forecast:?}");
    (sampled, forecast, given)
}

/// Foretold over given.
fn off((_, forecast, given): (f64, Forecast, f64)) -> f64 {
    1.0 / forecast.interval.as_secs_f64() / given
}

#[test]
fn an_idle_path_and_one_flow() {
    // No more on its way than the path takes: nothing queues.
    let ratio = off(told_and_given(World::new(4, vec![Download::new(1, 6.0)])));
    assert!((0.6..1.6).contains(&ratio), "{ratio}");
}

#[test]
fn a_path_that_is_full_before_pacing() {
    let told = told_and_given(World::new(4, vec![Download::new(1, 44.0)]));
    assert!(told.0 < told.2 / 3.0, "its own samples are those of its queue: {told:?}");
    let ratio = off(told);
    assert!((0.6..1.6).contains(&ratio), "{ratio}");
}

#[test]
fn two_flows_to_one_host() {
    let told = told_and_given(World::new(4, vec![Download::new(1, 44.0), Download::new(2, 44.0)]));
    let ratio = off(told);
    assert!((0.6..1.6).contains(&ratio), "{ratio}");
}

#[test]
fn a_long_path_with_losses() {
    let mut world = World::new(8, vec![Download::new(1, 44.0)]);
    world.loses = Some(50);
    let ratio = off(told_and_given(world));
    assert!((0.6..1.6).contains(&ratio), "{ratio}");
}

#[test]
fn what_cannot_be_told() {
    // Too young.
    let mut world = World::new(4, vec![Download::new(1, 44.0)]);
    world.run(Span::from_millis(200));
    assert!(matches!(world.forecast(), Err(Unforeseen::TooYoung(n)) if n < 8), "{:?}", world.forecast());
    // First seen with a full window: the gateway began later than the flow.
    world.run(Span::from_secs(10));
    world.s.gateway = meshpace_gateway::Gateway::new(config(), paper());
    world.run(Span::from_secs(5));
    assert_eq!(world.forecast(), Err(Unforeseen::NeverAlone));
    // An application that writes a segment a second is never held back by what is foretold.
    let mut world = World::new(4, vec![Download::new(1, 44.0)]);
    world.flows[0].writes = Some(Span::from_secs(1));
    world.run(Span::from_secs(30));
    let forecast = world.forecast().expect("it can be told");
    assert!(forecast.interval < Span::from_millis(200), "{forecast:?}");
    let given = world.paced();
    assert!((0.9..1.1).contains(&given), "{given}");
}
