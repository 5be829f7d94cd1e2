//! The gateway between two sides that send it what they like.

#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use meshpace_fuzz::fields::Fields;
use meshpace_fuzz::streams::{Streams, ends};
use meshpace_gateway::{
    Action, Announced, CodelConfig, Config, DupAck, FlowKey, Gateway, Retransmissions, Route, Side, TcpView,
    Treatment, Verdict,
};
use meshpace_pacing::{AdaptiveConfig, GoodputControlConfig, LawMaker, LinkRates, RateLaw};
use meshpace_tcp::Segment;
use meshpace_units::{Bytes, Ecn, Instant, Rate, Span};

/// RFC 8289's own parameters (section 4.3, section 4.4).
const RFC_8289: CodelConfig =
    CodelConfig { target: Some(Span::from_millis(5)), interval: Some(Span::from_millis(100)) };

#[derive(Arbitrary, Debug)]
struct Input {
    dupack: Duplicates,
    goodput_control: bool,
    paced_from_the_start: bool,
    buffer_windows: u8,
    late_tolerance_us: u16,
    queue: Queue,
    first: bool,
    pipe: bool,
    steps: Vec<Step>,
}

#[derive(Arbitrary, Debug)]
enum Duplicates {
    Snoop,
    Literal,
    Off,
}

#[derive(Arbitrary, Debug)]
enum Queue {
    Fifo,
    Given,
    ByRoundTrip,
}

#[derive(Arbitrary, Debug)]
enum Step {
    /// A segment of one of 8 connections.
    Segment { flow: u8, wired: bool, fields: Fields, hops: Option<u8>, rate_kbps: u16 },
    /// The first two packets of one of them.
    Open { flow: u8, wired: bool },
    /// Data of one of them, in sequence.
    Data { flow: u8, wired: bool, quarters: u8 },
    /// A part of what is outstanding is acknowledged.
    Acknowledge { flow: u8, wired: bool, part: u8 },
    /// Both ends of one of them go on with other numbers.
    Renumber { flow: u8, by: u32 },
    /// Microseconds, then whatever is due by the end of them.
    Wait(u32),
    /// Until the next timer.
    Sleep,
    /// A flow, or every one, is only watched from its next packet on, or paced again.
    Treat { flow: Option<u8>, observe: bool },
}

impl Input {
    /// Limits so small that short inputs reach them.
    fn config(&self) -> Config {
        let initial_interval = self.paced_from_the_start.then_some(Span::from_millis(20));
        Config {
            initial_interval,
            goodput_control: self.goodput_control.then_some(GoodputControlConfig::PAPER),
            dupack: match self.dupack {
                Duplicates::Snoop => DupAck::Snoop,
                Duplicates::Literal => DupAck::Literal,
                Duplicates::Off => DupAck::Off,
            },
            codel: match self.queue {
                Queue::Fifo => None,
                Queue::Given => Some(RFC_8289),
                Queue::ByRoundTrip => Some(CodelConfig::BY_ROUND_TRIP),
            },
            retransmissions: if self.first { Retransmissions::First } else { Retransmissions::InTurn },
            announced: if self.pipe { Announced::Pipe } else { Announced::Receiver },
            buffer_windows: self.buffer_windows.into(),
            buffer_total: Bytes(20 * 1500),
            held_max: 12,
            flows_max: 4,
            segments_max: 10,
            segments_total: 24,
            late_tolerance: Span::from_micros(self.late_tolerance_us.into()),
            ..Config::PAPER
        }
    }
}

struct World {
    config: Config,
    gateway: Gateway<u32>,
    treatments: [Treatment; 8],
    now: Instant,
    streams: Streams,
    /// By packet, whether it has come out.
    out: Vec<bool>,
}

impl World {
    fn step(&mut self, step: &Step) {
        match *step {
            Step::Segment { flow, wired, ref fields, hops, rate_kbps } => {
                let route = Route {
                    hops: hops.map(u32::from),
                    rates: LinkRates::Uniform(Rate::bits_per_sec(1_000 * (1 + u64::from(rate_kbps)))),
                };
                let segment = self.streams.segment(flow, wired, fields);
                self.hand_in(flow, wired, &segment, route);
            }
            Step::Open { flow, wired } => {
                let segments = self.streams.open(flow, wired);
                for (segment, wired) in segments.iter().zip([wired, !wired]) {
                    self.hand_in(flow, wired, segment, unknown_route());
                }
            }
            Step::Data { flow, wired, quarters } => {
                let segment = self.streams.data(flow, wired, quarters % 5);
                self.hand_in(flow, wired, &segment, unknown_route());
            }
            Step::Acknowledge { flow, wired, part } => {
                let segment = self.streams.acknowledgement(flow, wired, part);
                self.hand_in(flow, wired, &segment, unknown_route());
            }
            Step::Renumber { flow, by } => self.streams.renumber(flow, by),
            Step::Wait(us) => self.wait_until(self.now + Span::from_micros(u64::from(us))),
            Step::Treat { flow, observe } => {
                let treatment = if observe { Treatment::Observe } else { Treatment::Pace };
                let which = flow.map_or(0..8, |flow| usize::from(flow % 8)..usize::from(flow % 8) + 1);
                self.treatments[which].fill(treatment);
            }
            Step::Sleep => self.wait_until(self.gateway.poll_timeout().unwrap_or(self.now).max(self.now)),
        }
        self.check();
    }

    fn hand_in(&mut self, flow: u8, wired: bool, segment: &Segment, route: Route) {
        let side = if wired { Side::Wired } else { Side::Wireless };
        let [source, destination] = ends(flow, wired);
        let treatment = self.treatments[usize::from(flow % 8)];
        let packet = self.out.len() as u32;
        self.out.push(false);
        let view = TcpView {
            source,
            destination,
            segment,
            header_length: segment.header_length(),
            wire_len: Bytes(u64::from(20 + segment.header_length() + segment.payload)),
            ecn: Ecn::from_bits(flow),
            whole: flow < 200,
        };
        let key = FlowKey::new(side, &view);
        let (implausible, known) = (self.gateway.counters().implausible, self.gateway.flow(&key));
        let kept = (self.gateway.held(), self.gateway.buffered(), self.gateway.segments());
        let verdict = self.gateway.handle(self.now, side, &view, treatment, |_| route, packet);
        if self.gateway.counters().implausible > implausible {
            assert!(matches!(verdict, Verdict::Forward(..)), "{verdict:?} of {segment:?}");
            assert_eq!(self.gateway.flow(&key), known, "believed {segment:?}");
            assert_eq!((self.gateway.held(), self.gateway.buffered(), self.gateway.segments()), kept);
        }
        if let Verdict::Forward(_, changes) = &verdict {
            let watched = treatment == Treatment::Observe;
            let lowers = |window| !wired && !watched && view.whole && window < segment.window;
            assert!(changes.window.is_none_or(lowers), "{changes:?} of {segment:?}");
        }
        match verdict {
            Verdict::Forward(packet, _)
            | Verdict::Consumed(packet)
            | Verdict::Dropped(packet)
            | Verdict::Duplicate(packet) => self.leave(packet),
            Verdict::Held => {}
        }
        self.drain();
    }

    fn leave(&mut self, packet: u32) {
        let before = std::mem::replace(&mut self.out[packet as usize], true);
        assert!(!before, "packet {packet} came out twice");
    }

    fn drain(&mut self) {
        let mut repairs = 0;
        while let Some(departure) = self.gateway.poll_transmit(self.now) {
            assert!(departure.due <= self.now, "{departure:?} at {:?}", self.now);
            match departure.action {
                Action::Release { .. } | Action::Discard(_) => self.leave(departure.packet),
                Action::Retransmit => {
                    repairs += 1;
                    assert!(repairs <= self.config.segments_total, "no end: {departure:?}");
                }
            }
        }
    }

    fn wait_until(&mut self, end: Instant) {
        while let Some(at) = self.gateway.poll_timeout().filter(|&at| at <= end) {
            self.now = self.now.max(at);
            self.gateway.handle_timeout(self.now);
            self.drain();
            let next = self.gateway.poll_timeout();
            assert!(next.is_none_or(|next| next > self.now), "{next:?} is due at {:?}", self.now);
        }
        self.now = end;
    }

    fn check(&self) {
        let (gateway, config) = (&self.gateway, &self.config);
        assert!(gateway.held() <= config.held_max, "{} packets held", gateway.held());
        assert!(gateway.buffered() <= config.buffer_total, "{:?} buffered", gateway.buffered());
        assert!(gateway.segments() <= config.segments_total, "{} segments", gateway.segments());
        assert!(gateway.flow_count() <= config.flows_max, "{} flows", gateway.flow_count());
        let inside = self.out.iter().filter(|&&out| !out).count();
        assert_eq!(inside, gateway.held(), "packets inside, by the driver's count and by the gateway's");
    }
}

fn unknown_route() -> Route {
    Route { hops: None, rates: LinkRates::Uniform(Rate::bits_per_sec(2_000_000)) }
}

fuzz_target!(|input: Input| {
    let config = input.config();
    let gateway = Gateway::new(
        config,
        LawMaker::own(RateLaw::new(AdaptiveConfig { initial_interval: None, ..AdaptiveConfig::PAPER })),
    );
    let mut world = World {
        config,
        gateway,
        treatments: [Treatment::Pace; 8],
        now: Instant::ZERO,
        streams: Streams::default(),
        out: Vec::new(),
    };
    for step in &input.steps {
        world.step(step);
    }
    // All silent: the held packets leave at their pace, then everything is forgotten.
    world.wait_until(world.now + Span::from_secs(100_000));
    world.check();
    let kept = (world.gateway.held(), world.gateway.flow_count(), world.gateway.segments());
    assert_eq!((kept, world.gateway.buffered()), ((0, 0, 0), Bytes::ZERO), "kept for ever");
});
