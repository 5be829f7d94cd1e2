//! Whatever arrives: every packet comes out once, in order, not early, and memory stays within its limits.

use crate::common::*;
use meshpace_gateway::{
    Action, Announced, CodelConfig, Config, DupAck, FlowKey, Kept, Queues, Retransmissions, Rewrite, Side,
    Treatment, Verdict,
};
use meshpace_pacing::GoodputControlConfig;
use meshpace_tcp::{Options, Segment};
use meshpace_units::{Bytes, Instant, Seq, Span};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// RFC 8289's own parameters (section 4.3, section 4.4).
const RFC_8289: CodelConfig =
    CodelConfig { target: Some(Span::from_millis(5)), interval: Some(Span::from_millis(100)) };

#[derive(Clone, Debug)]
enum Step {
    Wait(u64),
    /// Data down at a segment number counted from the flow's next one backwards; 0 is new data.
    Down(u8, u32),
    /// Data up, likewise.
    Up(u8, u32),
    /// The mesh acknowledges that many segments more than before; beyond what was sent it is a lie.
    AckUp(u8, u32),
    /// The mesh repeats its ACK, with a SACK block that many segments above it if not 0.
    Duplicate(u8, u32),
    AckDown(u8, u32),
    Syn(u8, Side),
    Fin(u8, Side),
    Reset(u8, Side, u32),
    /// All flows are treated so from now on.
    Treat(Treatment),
    /// A segment with fields from nowhere.
    Garbage(u8, Side, u32, u32, u16),
}

fn side() -> impl Strategy<Value = Side> {
    prop_oneof![Just(Side::Wired), Just(Side::Wireless)]
}

fn step() -> impl Strategy<Value = Step> {
    let flow = 1u8..5;
    prop_oneof![
        20 => (0u64..60_000).prop_map(Step::Wait),
        30 => (flow.clone(), 0u32..8).prop_map(|(f, back)| Step::Down(f, back.saturating_sub(5))),
        5 => (flow.clone(), 0u32..8).prop_map(|(f, back)| Step::Up(f, back.saturating_sub(5))),
        25 => (flow.clone(), 0u32..4).prop_map(|(f, n)| Step::AckUp(f, n)),
        10 => (flow.clone(), 0u32..4).prop_map(|(f, n)| Step::Duplicate(f, n)),
        5 => (flow.clone(), 0u32..4).prop_map(|(f, n)| Step::AckDown(f, n)),
        1 => (flow.clone(), side()).prop_map(|(f, s)| Step::Syn(f, s)),
        1 => (flow.clone(), side()).prop_map(|(f, s)| Step::Fin(f, s)),
        1 => (flow.clone(), side(), 0u32..100_000).prop_map(|(f, s, n)| Step::Reset(f, s, n)),
        1 => Just(Step::Treat(Treatment::Observe)),
        1 => Just(Step::Treat(Treatment::Pace)),
        2 => (flow, side(), any::<u32>(), any::<u32>(), any::<u16>())
            .prop_map(|(f, s, seq, ack, payload)| Step::Garbage(f, s, seq, ack, payload)),
    ]
}

fn limits() -> Config {
    Config {
        goodput_control: Some(GoodputControlConfig::PAPER),
        dupack: DupAck::Snoop,
        buffer_total: Bytes(20 * 1500),
        held_max: 12,
        flows_max: 3,
        segments_max: 10,
        segments_total: 24,
        late_tolerance: Span::ZERO,
        burst_time: Span::ZERO,
        ..Config::PAPER
    }
}

/// What became of the packets, and what each flow may expect.
#[derive(Default)]
struct Ledger {
    /// Down packets that still have to leave, by flow, in the order of arrival.
    waiting: BTreeMap<u8, Vec<Packet>>,
    gone: BTreeMap<Packet, &'static str>,
    /// When the flow's latest paced packet or repair left.
    last: BTreeMap<FlowKey, Instant>,
    handed_in: u32,
}

impl Ledger {
    fn out(&mut self, packet: Packet, how: &'static str) {
        if let Some(before) = self.gone.insert(packet, how) {
            panic!("packet {packet} is {how} after it was {before}");
        }
    }
}

struct World {
    s: Script,
    in_turn: bool,
    ledger: Ledger,
    next_down: BTreeMap<u8, u32>,
    next_up: BTreeMap<u8, u32>,
    acked: BTreeMap<u8, u32>,
    /// Flow of each held packet.
    flow_of: BTreeMap<Packet, u8>,
}

impl World {
    fn new(config: Config) -> Self {
        let in_turn = config.retransmissions == Retransmissions::InTurn;
        let s = Script::new(config);
        let none = BTreeMap::new;
        let ledger = Ledger::default();
        Self {
            s,
            in_turn,
            ledger,
            next_down: none(),
            next_up: none(),
            acked: none(),
            flow_of: BTreeMap::new(),
        }
    }

    /// The earliest time the flow's next packet may leave, by the plain rule.
    fn permitted(&self, flow: u8) -> Option<Instant> {
        let key = key_of(flow);
        let interval = self.s.gateway.flow(&key)?.interval?;
        Some(*self.ledger.last.get(&key)? + interval)
    }

    fn hand_in(&mut self, flow: u8, side: Side, segment: &Segment) {
        self.s.flow = flow;
        let key = self.s.key();
        let known = self.s.gateway.flow(&key);
        let paces = side == Side::Wired && segment.payload > 0 && !segment.flags.syn && !segment.flags.rst;
        let permitted = self.permitted(flow);
        let held_before = known.map_or(0, |flow| flow.queued);
        let (implausible, crowded) =
            (self.s.gateway.counters().implausible, self.s.gateway.counters().crowded);
        let (packet, verdict) = self.s.hand_in(side, segment);
        if self.s.gateway.counters().implausible > implausible {
            assert!(matches!(verdict, Verdict::Forward(..)), "{verdict:?}");
            assert_eq!(self.s.gateway.flow(&key), known, "believed {segment:?}");
            self.ledger.handed_in += 1;
            self.ledger.out(packet, "forwarded");
            return self.drain(None);
        }
        // Other hosts have left no place: a packet of the flow leaves before its time, the first of them.
        let early = (self.s.gateway.counters().crowded > crowded).then_some(flow);
        if self.s.treatment == Treatment::Observe {
            let changed = held_before > 0 && verdict == Verdict::Held;
            assert!(changed || verdict == Verdict::Forward(packet, Rewrite::NOTHING), "{verdict:?}");
            let waits = self.s.gateway.flow(&key).is_some_and(|f| f.queued > 0 || f.buffered > Bytes::ZERO);
            assert!(!waits || segment.flags.rst, "a watched flow keeps nothing");
        }
        self.ledger.handed_in += 1;
        self.flow_of.insert(packet, flow);
        let is_same = self.s.gateway.flow(&key).is_some_and(|f| f.down && known.is_some_and(|k| k.down));
        if !is_same {
            self.ledger.last.remove(&key);
        }
        match verdict {
            Verdict::Forward(p, _) => {
                assert_eq!(p, packet);
                self.ledger.out(packet, "forwarded");
                if paces && self.s.gateway.flow(&key).is_some_and(|f| f.paced) {
                    let waiting = self.ledger.waiting.get(&flow).is_some_and(|w| !w.is_empty());
                    assert!(!waiting, "packet {packet} overtook {:?}", self.ledger.waiting[&flow]);
                    if let Some(permitted) = permitted.filter(|_| is_same && early.is_none()) {
                        assert!(self.s.now >= permitted, "{packet} left before {permitted:?}");
                    }
                    self.ledger.last.insert(key, self.s.now);
                }
            }
            Verdict::Held => self.ledger.waiting.entry(flow).or_default().push(packet),
            Verdict::Consumed(p) => {
                assert_eq!((p, side), (packet, Side::Wireless));
                self.ledger.out(packet, "consumed");
            }
            Verdict::Dropped(p) => {
                assert_eq!((p, side), (packet, Side::Wired));
                self.ledger.out(packet, "dropped");
            }
            Verdict::Duplicate(p) => {
                assert_eq!((p, side, self.in_turn), (packet, Side::Wired, false));
                self.ledger.out(packet, "a duplicate");
            }
        }
        self.drain(early.filter(|_| !self.ledger.gone.contains_key(&packet)));
    }

    /// Takes what may leave now, and checks it; the first packet of `early` may leave before its time.
    fn drain(&mut self, mut early: Option<u8>) {
        loop {
            let permitted: BTreeMap<u8, Option<Instant>> = (1..5).map(|f| (f, self.permitted(f))).collect();
            let Some(departure) = self.s.gateway.poll_transmit(self.s.now) else {
                break;
            };
            let flow = self.flow_of[&departure.packet];
            self.s.flow = flow;
            let key = self.s.key();
            match departure.action {
                Action::Retransmit => {
                    self.ledger.last.insert(key, self.s.now);
                    continue;
                }
                Action::Release { .. } => {
                    self.ledger.out(departure.packet, "released");
                    let paced = self.s.gateway.flow(&key).is_some_and(|f| f.paced);
                    if let Some(permitted) = permitted[&flow].filter(|_| paced) {
                        let in_time =
                            early.take_if(|early| *early == flow).is_some() || self.s.now >= permitted;
                        assert!(in_time, "{} left before {permitted:?}", departure.packet);
                        self.ledger.last.insert(key, self.s.now);
                    }
                }
                Action::Discard(_) => self.ledger.out(departure.packet, "discarded"),
            }
            let waiting = self.ledger.waiting.get_mut(&flow).expect("it waited");
            let place = waiting.iter().position(|packet| *packet == departure.packet).expect("it waited");
            assert!(place == 0 || !self.in_turn, "first in, first out: {waiting:?}, {}", departure.packet);
            waiting.remove(place);
        }
        let limits = limits();
        let gateway = &self.s.gateway;
        assert!(gateway.buffered() <= limits.buffer_total, "{:?}", gateway.buffered());
        assert!(gateway.held() <= limits.held_max && gateway.segments() <= limits.segments_total);
        assert!(gateway.flow_count() <= limits.flows_max);
        let waiting: usize = self.ledger.waiting.values().map(Vec::len).sum();
        assert_eq!(
            (waiting, waiting + self.ledger.gone.len()),
            (gateway.held(), self.ledger.handed_in as usize)
        );
    }

    fn wait(&mut self, span: Span) {
        let end = self.s.now + span;
        while let Some(at) = self.s.gateway.poll_timeout().filter(|&at| at <= end) {
            self.s.now = self.s.now.max(at);
            self.s.gateway.handle_timeout(self.s.now);
            self.drain(None);
        }
        self.s.now = end;
    }

    fn step(&mut self, step: &Step) {
        let at = |map: &BTreeMap<u8, u32>, flow: u8| map.get(&flow).copied().unwrap_or(0);
        match *step {
            Step::Wait(us) => self.wait(Span::from_micros(us)),
            Step::Down(flow, back) => {
                let next = at(&self.next_down, flow);
                let number = next.saturating_sub(back);
                self.next_down.insert(flow, next.max(number + 1));
                let segment = self.s.down(number * MSS, MSS, 0);
                self.hand_in(flow, Side::Wired, &segment);
            }
            Step::Up(flow, back) => {
                let next = at(&self.next_up, flow);
                let number = next.saturating_sub(back);
                self.next_up.insert(flow, next.max(number + 1));
                let segment = self.s.up(number * 100, 100, at(&self.acked, flow) * MSS);
                self.hand_in(flow, Side::Wireless, &segment);
            }
            Step::AckUp(flow, more) => {
                let acked = at(&self.acked, flow) + more;
                let plausible = acked.min(at(&self.next_down, flow));
                self.acked.insert(flow, plausible);
                let segment = self.s.up(at(&self.next_up, flow) * 100, 0, acked * MSS);
                self.hand_in(flow, Side::Wireless, &segment);
            }
            Step::Duplicate(flow, above) => {
                let acked = at(&self.acked, flow);
                let mut segment = self.s.up(at(&self.next_up, flow) * 100, 0, acked * MSS);
                if above > 0 {
                    let left = segment.ack + above * MSS;
                    segment.options =
                        Options { sack: [Some((left, left + MSS)), None, None, None], ..Options::default() };
                }
                self.hand_in(flow, Side::Wireless, &segment);
            }
            Step::AckDown(flow, n) => {
                let acked = at(&self.next_up, flow).saturating_sub(n) * 100;
                let segment = self.s.down(at(&self.next_down, flow) * MSS, 0, acked);
                self.hand_in(flow, Side::Wired, &segment);
            }
            Step::Syn(flow, Side::Wireless) => {
                self.s.flow = flow;
                let options = Options { window_scale: Some(SCALE), ..Options::default() };
                let syn = Segment { flags: SYN, seq: Seq(WIRELESS_ISN), options, ..self.s.up(0, 0, 0) };
                self.hand_in(flow, Side::Wireless, &syn);
            }
            Step::Syn(flow, Side::Wired) => {
                let options = Options { window_scale: Some(SCALE), ..Options::default() };
                let syn = Segment { flags: SYN_ACK, seq: Seq(WIRED_ISN), options, ..self.s.down(0, 0, 0) };
                self.hand_in(flow, Side::Wired, &syn);
            }
            Step::Fin(flow, side) => {
                let segment = match side {
                    Side::Wired => self.s.down(at(&self.next_down, flow) * MSS, 0, 0),
                    Side::Wireless => {
                        self.s.up(at(&self.next_up, flow) * 100, 0, at(&self.acked, flow) * MSS)
                    }
                };
                self.hand_in(flow, side, &Segment { flags: FIN_ACK, ..segment });
            }
            Step::Reset(flow, side, off) => {
                let segment = match side {
                    Side::Wired => self.s.down(at(&self.next_down, flow) * MSS + off, 0, 0),
                    Side::Wireless => self.s.up(off, 0, 0),
                };
                self.hand_in(flow, side, &Segment { flags: RST, ..segment });
            }
            Step::Treat(treatment) => self.s.treatment = treatment,
            Step::Garbage(flow, side, seq, ack, payload) => {
                let payload = u32::from(payload % 1461);
                let segment = match side {
                    Side::Wired => self.s.down(0, payload, 0),
                    Side::Wireless => self.s.up(0, payload, 0),
                };
                self.hand_in(flow, side, &Segment { seq: Seq(seq), ack: Seq(ack), ..segment });
            }
        }
    }
}

fn run(config: Config, steps: &[Step]) {
    let mut world = World::new(config);
    for flow in 1..4 {
        world.step(&Step::Syn(flow, Side::Wireless));
        world.step(&Step::Syn(flow, Side::Wired));
    }
    for step in steps {
        world.step(step);
    }
    world.wait(Span::from_secs(400));
    assert_eq!((world.s.gateway.held(), world.s.gateway.flow_count()), (0, 0), "nothing is kept for ever");
    assert_eq!((world.s.gateway.buffered(), world.s.gateway.segments()), (Bytes::ZERO, 0));
    assert_eq!(world.ledger.gone.len(), world.ledger.handed_in as usize);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn packets_are_conserved_ordered_paced_and_bounded(steps in proptest::collection::vec(step(), 1..200)) {
        run(limits(), &steps);
    }

    #[test]
    fn so_they_are_in_a_live_gateways_queues(steps in proptest::collection::vec(step(), 1..200), repairs: bool) {
        let (codel, retransmissions) = (Some(RFC_8289), Retransmissions::First);
        let dupack = if repairs { DupAck::Snoop } else { DupAck::Off };
        run(Config { codel, retransmissions, dupack, announced: Announced::Pipe, ..limits() }, &steps);
    }

    #[test]
    fn so_they_are_with_a_pace_from_the_start(steps in proptest::collection::vec(step(), 1..200)) {
        let initial_interval = Some(Span::from_millis(20));
        run(Config { initial_interval, dupack: DupAck::Literal, ..limits() }, &steps);
    }

    #[test]
    fn so_they_are_in_one_queue_and_with_one_law_a_host(
        steps in proptest::collection::vec(step(), 1..200), one: bool, host: bool,
    ) {
        let queues = if one { Queues::One } else { Queues::Flow };
        let kept = if host { Kept::Host } else { Kept::Connection };
        run(Config { queues, kept, ..limits() }, &steps);
    }
}
