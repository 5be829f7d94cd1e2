use super::*;
use crate::ebpf::exchange::Half;
use meshpace_gateway::{Endpoint, Gateway, Rewrite, Side, TcpView, Verdict};
use meshpace_pacing::{AdaptiveConfig, GoodputControlConfig, LinkRates};
use meshpace_tcp::{Flags, Segment};
use meshpace_units::{Ecn, Rate, Seq};
use proptest::prelude::*;
use std::net::IpAddr;

const MSS: u32 = 1448;

/// Paces everything over 4 hops of 11 Mbit/s unless told otherwise.
struct Everything(Handling);

impl Judge for Everything {
    fn handling(&self, _: &FlowKey) -> Handling {
        self.0
    }

    fn route(&mut self, _: &FlowKey, _: Option<u8>) -> Route {
        route()
    }
}

/// TCP-GAP's law with so many hops between packets.
fn khd(n: u32) -> LawMaker {
    let config = AdaptiveConfig { n, initial_interval: None, ..AdaptiveConfig::PAPER };
    LawMaker::own(RateLaw::new(config))
}

const PACE: Handling = Handling::Treat(Treatment::Pace);
const OBSERVE: Handling = Handling::Treat(Treatment::Observe);

fn route() -> Route {
    Route { hops: Some(4), rates: LinkRates::Uniform(Rate::bits_per_sec(11_000_000)) }
}

fn key(n: u16) -> FlowKey {
    FlowKey {
        wireless: Endpoint { address: IpAddr::from([10, 0, 0, 1]), port: n },
        wired: Endpoint { address: IpAddr::from([192, 0, 2, 1]), port: 80 },
    }
}

fn ms(n: u64) -> Instant {
    Instant::ZERO + Span::from_millis(n)
}

fn event(at: Instant, n: u16, told: EventKind) -> Event {
    Event { at, key: key(n), segment: Bytes(u64::from(MSS)), window: None, ttl: None, told, is_single: false }
}

fn known(at: Instant, down: u64, acked: u64) -> KernelFlow {
    KernelFlow {
        opened: at,
        active: at,
        departure: at,
        down: Half { payload: Bytes(down), acked: Bytes(acked), begun: true, ..Half::default() },
        up: Half::default(),
        wired_rtt: None,
        options: 0,
        delayed: 0,
        drops: 0,
        segment: Bytes(u64::from(MSS)),
        window: None,
        ignored: false,
        ttl: None,
        aged: (0, 0),
        limited: None,
        used: 0,
    }
}

fn orders(engine: &mut Engine) -> Vec<Order> {
    std::iter::from_fn(|| engine.poll_order()).collect()
}

fn without_control() -> Config {
    Config { goodput_control: None, ..Config::PAPER }
}

#[test]
fn a_flow_is_let_through_until_its_first_sample_and_paced_from_then_on() {
    let (mut engine, mut judge) = (Engine::new(ms(0), without_control(), khd(4)), Everything(PACE));
    engine.handle_event(&event(ms(1), 1, EventKind::Opened), &mut judge);
    // 65,535 bytes of window twice, in packets of 1,488 bytes.
    let unpaced = Pace { interval: None, packets: 88, handling: PACE, codel: None, window: None };
    assert_eq!(orders(&mut engine), [Order::Pace(key(1), unpaced)]);
    engine.handle_event(&event(ms(41), 1, EventKind::Sample(Span::from_millis(40))), &mut judge);
    // schemes.md (2.1): 2 * (40 ms / 4 + 8 * 1448 / 11 Mbit/s).
    let interval = Some(Span::from_nanos(22_106_182));
    assert_eq!(orders(&mut engine), [Order::Pace(key(1), Pace { interval, ..unpaced })]);
    assert_eq!(orders(&mut engine), [], "told once");
}

#[test]
fn several_samples_of_a_batch_are_one_order() {
    let (mut engine, mut judge) = (Engine::new(ms(0), without_control(), khd(4)), Everything(PACE));
    for n in 0..20 {
        engine.handle_event(&event(ms(n), 1, EventKind::Sample(Span::from_millis(40 + n))), &mut judge);
    }
    assert_eq!(orders(&mut engine).len(), 1);
    assert_eq!(engine.flow(&key(1)).map(|flow| flow.rate_law().map(RateLaw::samples)), Some(Some(20)));
}

#[test]
fn the_receivers_window_bounds_what_may_wait() {
    let (mut engine, mut judge) = (Engine::new(ms(0), without_control(), khd(4)), Everything(PACE));
    let mut opened = event(ms(0), 1, EventKind::Opened);
    // The last is a quarter of `gap_held_max`: a receiver that announces ever so much cannot take all places.
    for (window, packets) in [(100, 1), (14_880, 20), (1 << 30, 16_384)] {
        opened.window = Some(Bytes(window));
        engine.handle_event(&opened, &mut judge);
        let Some(Order::Pace(_, pace)) = engine.poll_order() else { panic!("an order") };
        assert_eq!(pace.packets, packets, "window {window}");
    }
}

#[test]
fn what_is_only_watched_is_measured_too() {
    let (mut engine, mut judge) = (Engine::new(ms(0), Config::PAPER, khd(4)), Everything(OBSERVE));
    engine.handle_event(&event(ms(0), 1, EventKind::Sample(Span::from_millis(40))), &mut judge);
    let Some(Order::Pace(_, pace)) = engine.poll_order() else { panic!("an order") };
    assert_eq!(pace.handling, OBSERVE);
    assert!(engine.flow(&key(1)).is_some_and(|flow| flow.interval().is_some()));
    assert_eq!(
        engine.explain(&key(1)).and_then(|why| why.standing),
        None,
        "goodput control counts paced flows only"
    );
    engine.reload(ms(1), Config::PAPER, khd(4), &Everything(PACE));
    let Some(Order::Pace(_, paced)) = engine.poll_order() else { panic!("an order") };
    assert_eq!((paced.handling, paced.interval), (PACE, pace.interval), "the history is kept");
    assert!(engine.explain(&key(1)).is_some_and(|why| why.standing.is_some()));
}

#[test]
fn other_parameters_of_law_and_control_keep_what_was_measured() {
    let (mut engine, mut judge) = (Engine::new(ms(0), Config::PAPER, khd(4)), Everything(PACE));
    for n in 0..2 {
        engine.handle_event(&event(ms(n), 1, EventKind::Sample(Span::from_millis(40))), &mut judge);
    }
    let Some(Order::Pace(_, pace)) = engine.poll_order() else { panic!("an order") };
    let control = GoodputControlConfig { interval: Span::from_secs(7), ..GoodputControlConfig::PAPER };
    let other = Config { goodput_control: Some(control), ..Config::PAPER };
    engine.reload(ms(2), other, khd(3), &Everything(PACE));
    assert_eq!(orders(&mut engine), [], "the pace stays until the next round trip");
    let why = engine.explain(&key(1)).expect("a flow");
    assert_eq!(why.law.and_then(|law| Some(law.rate_law()?.samples())), Some(2));
    assert!(why.standing.is_some(), "still under goodput control");
    engine.handle_event(&event(ms(3), 1, EventKind::Sample(Span::from_millis(40))), &mut judge);
    let Some(Order::Pace(_, faster)) = engine.poll_order() else { panic!("an order") };
    assert!(faster.interval < pace.interval, "{faster:?} {pace:?}");
}

#[test]
fn a_flow_ends_when_the_kernel_says_so_or_no_longer_has_it_or_it_is_silent() {
    let (mut engine, mut judge) = (Engine::new(ms(0), without_control(), khd(4)), Everything(PACE));
    for n in 1..=4 {
        engine.handle_event(&event(ms(0), n, EventKind::Opened), &mut judge);
    }
    orders(&mut engine);
    engine.handle_event(&event(ms(1), 1, EventKind::Closed), &mut judge);
    assert_eq!(orders(&mut engine), [Order::Forget(key(1))]);
    // All were heard of since the last look.
    engine.handle_timeout(ms(5_000));
    assert_eq!(engine.flow_count(), 3);
    let late = ms(180_000);
    engine.handle_flow(late, &key(2), &known(ms(0), 0, 0), &mut judge);
    engine.handle_flow(late, &key(3), &known(ms(179_000), 0, 0), &mut judge);
    engine.handle_timeout(late);
    assert_eq!(orders(&mut engine), [Order::Evict(key(2)), Order::Forget(key(4))]);
    assert!(engine.flow_count() == 1 && engine.flow(&key(3)).is_some());
}

#[test]
fn a_flood_takes_no_more_places_than_there_are_and_none_of_a_flow_that_is_measured() {
    let config = Config { flows_max: 100, ..Config::PAPER };
    let (mut engine, mut judge) = (Engine::new(ms(0), config, khd(4)), Everything(PACE));
    engine.handle_event(&event(ms(0), 1, EventKind::Sample(Span::from_millis(40))), &mut judge);
    engine.handle_event(&event(ms(0), 2, EventKind::WiredSample(Span::from_millis(40))), &mut judge);
    orders(&mut engine);
    for n in 10..5_010 {
        engine.handle_event(&event(ms(u64::from(n)), n, EventKind::Opened), &mut judge);
        orders(&mut engine);
    }
    assert_eq!((engine.flow_count(), engine.unmeasured.len()), (27, 25), "a quarter of the places");
    assert!(engine.flow(&key(1)).is_some() && engine.flow(&key(2)).is_some(), "both are measured");
    assert!(engine.flow(&key(4_985)).is_some() && engine.flow(&key(4_984)).is_none(), "the latest stay");
    assert_eq!(engine.untracked(), 0);
    // What the kernel's table has beside them waits for a round trip.
    engine.handle_flow(ms(5_010), &key(9), &known(ms(5_010), 1, 0), &mut judge);
    assert_eq!((engine.flow_count(), engine.untracked(), orders(&mut engine)), (27, 0, vec![]));
    engine.handle_event(&event(ms(5_011), 9, EventKind::Sample(Span::from_millis(40))), &mut judge);
    assert!(matches!(orders(&mut engine)[..], [Order::Forget(_), Order::Pace(_, _)]));
    assert_eq!((engine.flow_count(), engine.unmeasured.len()), (27, 24));
    // All places taken by measured ones: none is taken back.
    for n in 4_913..5_010 {
        engine.handle_event(&event(ms(6_000), n, EventKind::Sample(Span::from_millis(40))), &mut judge);
    }
    engine.handle_event(&event(ms(6_001), 6_000, EventKind::Opened), &mut judge);
    assert!(engine.flow_count() == 100 && engine.flow(&key(6_000)).is_none() && engine.untracked() == 1);
}

#[test]
fn what_does_not_cross_the_gateway_is_no_flow() {
    let (mut engine, mut judge) = (Engine::new(ms(0), without_control(), khd(4)), Everything(PACE));
    let here = KernelFlow { ignored: true, ..known(ms(0), 1, 1) };
    engine.handle_flow(ms(1), &key(1), &here, &mut judge);
    assert_eq!((engine.flow_count(), orders(&mut engine)), (0, vec![]));
}

#[test]
fn counters_that_start_anew_are_not_a_leap() {
    let (mut engine, mut judge) = (Engine::new(ms(0), Config::PAPER, khd(4)), Everything(PACE));
    engine.handle_flow(ms(0), &key(1), &known(ms(0), 5_000, 4_000), &mut judge);
    engine.handle_flow(ms(1), &key(1), &known(ms(1), 700, 600), &mut judge);
    let stats = engine.stats(ms(1), &key(1), &known(ms(1), 700, 600)).expect("known");
    assert_eq!(stats.goodput_down.map(|goodput| goodput.total()), Some(Bytes(4_600)));
}

/// The gateway of `crates/gateway`, given packets, beside the engine, given what the kernel's programs make of them.
struct Both {
    gateway: Gateway<()>,
    engine: Engine,
    now: Instant,
    sent: [u32; 2],
    acked: [u32; 2],
}

impl Both {
    fn new(config: Config) -> Self {
        let engine = Engine::new(ms(0), config, khd(4));
        Self { gateway: Gateway::new(config, khd(4)), engine, now: ms(0), sent: [0; 2], acked: [0; 2] }
    }

    /// Hands a packet to the gateway and waits until it has left.
    fn hand_in(&mut self, side: Side, segment: &Segment, flow: u16) {
        let FlowKey { wireless, wired } = key(flow);
        let (source, destination) = match side {
            Side::Wired => (wired, wireless),
            Side::Wireless => (wireless, wired),
        };
        let segment = &Segment { source_port: source.port, destination_port: destination.port, ..*segment };
        let view = TcpView {
            source: source.address,
            destination: destination.address,
            segment,
            header_length: 20,
            wire_len: Bytes(u64::from(segment.payload) + 40),
            ecn: Ecn::NotEct,
            whole: true,
        };
        let mut verdict = self.gateway.handle(self.now, side, &view, Treatment::Pace, |_| route(), ());
        // Only goodput control's caps are longer than the pauses between exchanges.
        while verdict == Verdict::Held {
            self.now = self.now.max(self.gateway.poll_timeout().expect("a departure is due"));
            self.run_timers();
            if self.gateway.poll_transmit(self.now).is_some() {
                verdict = Verdict::Forward((), Rewrite::NOTHING);
            }
        }
        assert_eq!(verdict, Verdict::Forward((), Rewrite::NOTHING), "at {:?}", self.now);
    }

    /// One data packet of a flow goes down, and its ACK comes back after `rtt`; then a pause longer than any interval.
    fn exchange(&mut self, flow: u16, rtt: Span) {
        let index = usize::from(flow);
        let bare = Segment {
            flags: Flags { ack: true, ..Flags::default() },
            window: 512,
            payload: MSS,
            ..Segment::new(0, 0, Seq(self.sent[index]))
        };
        let judge = &mut Everything(PACE);
        if self.sent[index] == 0 {
            self.engine.handle_event(&event(self.now, flow, EventKind::Opened), judge);
        }
        self.sent[index] += MSS;
        self.hand_in(Side::Wired, &bare, flow);
        self.now += rtt;
        let ack = Segment { seq: Seq(0), ack: Seq(self.sent[index]), payload: 0, ..bare };
        self.hand_in(Side::Wireless, &ack, flow);
        self.acked[index] += MSS;
        self.engine.handle_event(&event(self.now, flow, EventKind::Sample(rtt)), judge);
        self.now += Span::from_secs(2);
        self.run_timers();
    }

    fn run_timers(&mut self) {
        self.gateway.handle_timeout(self.now);
        if self.engine.poll_timeout() <= self.now {
            for flow in 0..2 {
                if self.sent[usize::from(flow)] > 0 {
                    let (sent, acked) = (self.sent[usize::from(flow)], self.acked[usize::from(flow)]);
                    let known = known(self.now, sent.into(), acked.into());
                    self.engine.handle_flow(self.now, &key(flow), &known, &mut Everything(PACE));
                }
            }
            self.engine.handle_timeout(self.now);
        }
        while self.engine.poll_order().is_some() {}
    }

    /// Interval, cap and what they were computed from.
    fn compare(&self, flow: u16) -> Result<(), TestCaseError> {
        let Some(theirs) = self.gateway.flow(&key(flow)) else {
            return Ok(());
        };
        let ours = self.engine.stats(self.now, &key(flow), &known(self.now, 1, 1)).expect("known");
        prop_assert_eq!(ours.interval, theirs.interval);
        prop_assert_eq!(ours.cap, theirs.cap);
        prop_assert_eq!(ours.k_hop_delay, theirs.k_hop_delay);
        prop_assert_eq!(ours.variation, theirs.variation);
        prop_assert_eq!(ours.samples, theirs.samples);
        prop_assert_eq!(ours.wireless_rtt, theirs.wireless_rtt);
        Ok(())
    }
}

proptest! {
    /// The same round trips give the same spacing, sample by sample, as the gateway of the simulator and of NFQUEUE.
    #[test]
    fn the_same_trace_gives_the_same_interval(trace in prop::collection::vec(0u64..1_500_000, 1..80)) {
        let mut both = Both::new(without_control());
        for micros in trace {
            both.exchange(0, Span::from_micros(micros));
            both.compare(0)?;
        }
    }

    /// And with goodput control, over two flows, the same caps.
    #[test]
    fn the_same_trace_gives_the_same_caps(
        trace in prop::collection::vec((prop::bool::weighted(0.8), 1u64..900_000), 10..120),
    ) {
        // Judged often, so that a short trace sees caps come, age and go.
        let control = GoodputControlConfig { interval: Span::from_secs(13), ..GoodputControlConfig::PAPER };
        let mut both = Both::new(Config { goodput_control: Some(control), ..Config::PAPER });
        for (first, micros) in trace {
            both.exchange(u16::from(!first), Span::from_micros(micros));
            both.compare(0)?;
            both.compare(1)?;
        }
    }
}
