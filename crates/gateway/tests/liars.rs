//! Greedy senders and receivers that lie, against the law of rate by delay: two downloads over one mesh, which is a queue that serves a
//! packet each 10 ms. One is honest; what the other does gains nothing over an honest one, and what it takes is bounded.

use crate::common::*;
use meshpace_gateway::{Action, Config, Side, Treatment, Verdict};
use meshpace_keys::Values;
use meshpace_pacing::{FLOW_LAWS, LawMaker};
use meshpace_units::{Instant, Span};
use std::collections::{BTreeMap, BTreeSet};

const HONEST: u8 = 1;
const OTHER: u8 = 2;
/// Of a packet in the mesh, and from there to the receiver; an acknowledgement takes as long back.
const SERVICE: Span = Span::from_millis(10);
const AWAY: Span = Span::from_millis(15);
/// Packets that wait in the mesh at the most.
const QUEUE: u64 = 5_000;
const WINDOW_SEGMENTS: u32 = 20;
/// When a sender repeats what nobody acknowledged.
const TIMEOUT: Span = Span::from_secs(60);

/// What the other one does.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Lie {
    None,
    /// Its receiver acknowledges each segment in so many parts.
    Split(u32),
    /// It repeats each acknowledgement so often.
    Repeats(u32),
    /// It acknowledges what has not passed the gateway yet, besides.
    NeverPassed,
    /// It acknowledges as soon as a segment is on its way.
    Early,
    /// Its sender has ten times the window.
    Greedy,
}

#[derive(Debug)]
enum Event {
    Arrives(u8, u32),
    Acks(u8, u32),
    Repeats(u8, u32),
}

#[derive(Debug, Default)]
struct Flow {
    sent: u32,
    acked: u32,
    /// In order at the receiver.
    got: u32,
    early: BTreeSet<u32>,
}

struct World {
    s: Script,
    lie: Lie,
    /// The other one goes unpaced.
    unpaced: bool,
    events: BTreeMap<(Instant, u64), Event>,
    scheduled: u64,
    /// Whose packets are which segments.
    names: BTreeMap<Packet, (u8, u32)>,
    flows: [Flow; 2],
    /// Until when the mesh is busy.
    busy: Instant,
}

impl World {
    fn new(lie: Lie, unpaced: bool, config: Config) -> Self {
        let part = FLOW_LAWS.iter().find(|part| part.about.word == "delay-rate").expect("a row");
        let law = LawMaker::of(part, Values::defaults(part.about.keys()));
        let mut s = Script::by(law, config);
        for flow in [HONEST, OTHER] {
            s.flow = flow;
            s.handshake();
        }
        let (events, names, flows) = (BTreeMap::new(), BTreeMap::new(), Default::default());
        Self { s, lie, unpaced, events, scheduled: 0, names, flows, busy: Instant::ZERO }
    }

    fn lies(&self, flow: u8) -> Lie {
        if flow == OTHER { self.lie } else { Lie::None }
    }

    fn flow(&mut self, flow: u8) -> &mut Flow {
        &mut self.flows[usize::from(flow) - 1]
    }

    fn at(&mut self, when: Instant, event: Event) {
        self.scheduled += 1;
        self.events.insert((when, self.scheduled), event);
    }

    /// A packet goes into the mesh, if that has room.
    fn enters_mesh(&mut self, flow: u8, n: u32) {
        let now = self.s.now;
        if self.busy.saturating_since(now) >= SERVICE * QUEUE {
            return;
        }
        self.busy = self.busy.max(now) + SERVICE;
        self.at(self.busy + AWAY, Event::Arrives(flow, n));
        if self.lies(flow) == Lie::Early {
            self.at(now + AWAY * 2 + SERVICE, Event::Acks(flow, (n + 1) * MSS));
        }
    }

    fn drain(&mut self) {
        while let Some(departure) = self.s.gateway.poll_transmit(self.s.now) {
            let (flow, n) = self.names[&departure.packet];
            if !matches!(departure.action, Action::Discard(_)) {
                self.enters_mesh(flow, n);
            }
        }
    }

    fn send(&mut self, flow: u8, n: u32) {
        self.s.flow = flow;
        self.s.treatment = if flow == OTHER && self.unpaced { Treatment::Observe } else { Treatment::Pace };
        let data = self.s.down(n * MSS, MSS, 0);
        let (packet, verdict) = self.s.hand_in(Side::Wired, &data);
        self.names.insert(packet, (flow, n));
        if matches!(verdict, Verdict::Forward(..)) {
            self.enters_mesh(flow, n);
        }
        let when = self.s.now + TIMEOUT;
        self.at(when, Event::Repeats(flow, n));
        self.drain();
    }

    fn acknowledge(&mut self, flow: u8, bytes: u32) {
        self.s.flow = flow;
        let ack = self.s.ack(bytes);
        self.s.hand_in(Side::Wireless, &ack);
        self.drain();
        let window = if self.lies(flow) == Lie::Greedy { 10 * WINDOW_SEGMENTS } else { WINDOW_SEGMENTS };
        // A sender ignores what it has not sent.
        let it = self.flow(flow);
        it.acked = it.acked.max(bytes / MSS).min(it.sent);
        while self.flow(flow).sent < self.flow(flow).acked + window {
            let n = self.flow(flow).sent;
            self.flow(flow).sent += 1;
            self.send(flow, n);
        }
    }

    fn handle(&mut self, event: &Event) {
        let back = self.s.now + AWAY;
        match *event {
            Event::Repeats(flow, n) => {
                if n >= self.flow(flow).acked {
                    self.send(flow, n);
                }
            }
            Event::Acks(flow, bytes) => self.acknowledge(flow, bytes),
            Event::Arrives(flow, n) => {
                let lie = self.lies(flow);
                let it = self.flow(flow);
                it.early.insert(n);
                while it.early.remove(&it.got) {
                    it.got += 1;
                }
                let bytes = it.got * MSS;
                match lie {
                    Lie::Split(parts) => (1..=parts)
                        .for_each(|part| self.at(back, Event::Acks(flow, bytes - MSS + part * MSS / parts))),
                    Lie::Repeats(times) => (0..times).for_each(|_| self.at(back, Event::Acks(flow, bytes))),
                    Lie::NeverPassed => {
                        self.at(back, Event::Acks(flow, bytes));
                        self.at(back, Event::Acks(flow, bytes + 500 * MSS));
                        self.at(back, Event::Acks(flow, bytes));
                    }
                    _ => self.at(back, Event::Acks(flow, bytes)),
                }
            }
        }
    }

    /// Segments that each one's receiver got in order between the tenth and the fortieth second.
    fn run(mut self) -> [u32; 2] {
        for flow in [HONEST, OTHER] {
            self.acknowledge(flow, 0);
        }
        let mut began = [0; 2];
        for second in [10, 40] {
            let end = Instant::ZERO + Span::from_secs(second);
            loop {
                let event = self.events.first_key_value().map(|(&(at, _), _)| at);
                let next = [event, self.s.gateway.poll_timeout()].into_iter().flatten().min();
                let Some(next) = next.filter(|next| *next <= end) else { break };
                self.s.now = self.s.now.max(next);
                self.s.gateway.handle_timeout(self.s.now);
                self.drain();
                while let Some(entry) = self.events.first_entry().filter(|entry| entry.key().0 <= self.s.now)
                {
                    let event = entry.remove();
                    self.handle(&event);
                }
            }
            self.s.now = end;
            let got = [self.flows[0].got, self.flows[1].got];
            began = [got[0] - began[0], got[1] - began[1]];
        }
        began
    }
}

/// As a live gateway: no flow goes unpaced before its first round trip.
fn settings() -> Config {
    Config { initial_interval: Some(Span::from_millis(50)), ..config() }
}

fn outcome(lie: Lie) -> [u32; 2] {
    World::new(lie, false, settings()).run()
}

#[test]
fn two_honest_ones_share_the_mesh() {
    let [one, other] = outcome(Lie::None);
    assert!(one + other > 2_900 && one.min(other) > 1_200, "{one} and {other} of 3,000");
}

/// Parts of acknowledgements, repeated ones (which make the gateway send copies, and hide every round trip), ones of what never passed,
/// and a window ten times as large.
#[test]
fn what_a_receiver_says_too_often_and_what_a_sender_sends_too_much_gains_nothing() {
    let [fair, same] = outcome(Lie::None);
    assert_eq!(outcome(Lie::Split(4)), [fair, same], "parts of acknowledgements are none");
    for lie in [Lie::Repeats(3), Lie::Repeats(9), Lie::NeverPassed, Lie::Greedy] {
        let [honest, its] = outcome(lie);
        assert!(
            its <= same && honest >= fair,
            "{lie:?}: {its} instead of {same}, and the honest one {honest} instead of {fair}"
        );
    }
}

/// It takes the mesh, as it does without a gateway: nobody there can tell what has arrived.
#[test]
fn who_acknowledges_what_is_on_its_way_does_no_more_harm_than_without_a_pace() {
    let [honest, its] = outcome(Lie::Early);
    let [without, its_own] = World::new(Lie::Early, true, settings()).run();
    // To within 10 of 3,000 segments.
    assert!(
        honest + 10 >= without && its <= its_own + 10,
        "{honest} and {its}, without {without} and {its_own}"
    );
}
