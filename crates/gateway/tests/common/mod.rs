//! A script of packets through a gateway: steps say what arrives, when, and what must come out. Packets are numbered as
//! they are handed in, from 1.

#![allow(dead_code, reason = "each test file uses its own part of the script")]

use core::net::{IpAddr, Ipv4Addr};
use meshpace_gateway::{
    Action, Config, Endpoint, FlowKey, FlowStats, Gateway, Route, RttOption, Side, TcpView, Treatment,
    Verdict,
};
use meshpace_pacing::{AdaptiveConfig, LawMaker, LinkRates, RateLaw};
use meshpace_tcp::{Flags, Options, Segment};
use meshpace_units::{Bytes, Ecn, Instant, Rate, Seq, Span};

/// Packets are their numbers.
pub type Packet = u32;

/// Initial sequence numbers: the wired side's data wraps after 5,000 bytes.
pub const WIRED_ISN: u32 = u32::MAX - 5_000;
pub const WIRELESS_ISN: u32 = 7_000;
pub const MSS: u32 = 1460;
/// Window field and scale of the wireless side: 512 << 7 = 65,536 bytes.
pub const WINDOW: u16 = 512;
pub const SCALE: u8 = 7;

pub fn ms(n: u64) -> Instant {
    Instant::ZERO + Span::from_millis(n)
}

pub fn us(n: u64) -> Instant {
    Instant::ZERO + Span::from_micros(n)
}

/// 4 hops at 2 Mbit/s.
pub fn route(_: IpAddr) -> Route {
    Route { hops: Some(4), rates: LinkRates::Uniform(Rate::bits_per_sec(2_000_000)) }
}

/// The paper's gateway without goodput control.
pub fn config() -> Config {
    Config { goodput_control: None, ..Config::PAPER }
}

pub struct Script {
    pub gateway: Gateway<Packet>,
    pub flow: u8,
    /// The mesh host's number, if not the flow's.
    pub host: Option<u8>,
    pub now: Instant,
    next: Packet,
    pub hops: u32,
    /// Rates of the links one by one, in place of the hops.
    pub rates: Option<LinkRates>,
    pub overhead: u32,
    pub treatment: Treatment,
    pub ecn: Ecn,
    pub whole: bool,
}

/// TCP-GAP's law with these parameters.
pub fn khd(config: AdaptiveConfig) -> LawMaker {
    LawMaker::own(RateLaw::new(AdaptiveConfig { initial_interval: None, ..config }))
}

/// The paper's.
pub fn paper() -> LawMaker {
    khd(AdaptiveConfig::PAPER)
}

/// The same, whose pace is that of the latest round trips, however they vary.
pub fn steady() -> LawMaker {
    khd(AdaptiveConfig { history: 1, ..AdaptiveConfig::PAPER })
}

impl Script {
    pub fn new(config: Config) -> Self {
        Self::by(paper(), config)
    }

    /// A gateway of that law.
    pub fn by(law: LawMaker, config: Config) -> Self {
        Self {
            gateway: Gateway::new(config, law),
            flow: 1,
            host: None,
            now: Instant::ZERO,
            next: 0,
            hops: 4,
            rates: None,
            overhead: 40,
            treatment: Treatment::Pace,
            ecn: Ecn::NotEct,
            whole: true,
        }
    }

    /// A gateway that saw the handshake of flow 1, opened from the mesh.
    pub fn established(config: Config) -> Self {
        Self::established_by(paper(), config)
    }

    /// The same with that law.
    pub fn established_by(law: LawMaker, config: Config) -> Self {
        let mut script = Self::by(law, config);
        script.handshake();
        script
    }

    /// The handshake of the current flow.
    pub fn handshake(&mut self) {
        self.handshake_over(Span::ZERO);
    }

    /// The same, with so long a round trip of the wired part.
    pub fn handshake_over(&mut self, wired: Span) {
        self.handshake_with(wired, Options { window_scale: Some(SCALE), ..Options::default() });
    }

    /// The same, both SYNs with these options.
    pub fn handshake_with(&mut self, wired: Span, options: Options) {
        let syn = Segment { flags: SYN, seq: Seq(WIRELESS_ISN), options, ..self.up(0, 0, 0) };
        let syn_ack = Segment {
            flags: SYN_ACK,
            seq: Seq(WIRED_ISN),
            window: u16::MAX, // a window is not scaled in a SYN
            options,
            ..self.down(0, 0, 0)
        };
        let ack = self.up(0, 0, 0);
        self.forwards(Side::Wireless, &syn);
        self.now += wired;
        self.forwards(Side::Wired, &syn_ack);
        self.forwards(Side::Wireless, &ack);
    }

    pub fn key(&self) -> FlowKey {
        let wireless = Endpoint { address: self.address(Side::Wireless), port: 5000 };
        FlowKey { wireless, ..key_of(self.flow) }
    }

    fn address(&self, side: Side) -> IpAddr {
        let of_host = self.host.filter(|_| side == Side::Wireless);
        address(side, of_host.unwrap_or(self.flow))
    }

    pub fn stats(&self) -> FlowStats {
        self.gateway.flow(&self.key()).expect("the flow is known")
    }

    /// A segment from the wired side: `payload` bytes at `offset` of its data, acknowledging `ack` bytes of the other's.
    pub fn down(&self, offset: u32, payload: u32, ack: u32) -> Segment {
        segment(80, 5000, Seq(WIRED_ISN) + 1 + offset, Seq(WIRELESS_ISN) + 1 + ack, payload)
    }

    /// A segment from the wireless side.
    pub fn up(&self, offset: u32, payload: u32, ack: u32) -> Segment {
        segment(5000, 80, Seq(WIRELESS_ISN) + 1 + offset, Seq(WIRED_ISN) + 1 + ack, payload)
    }

    /// A pure ACK from the wireless side for `ack` bytes of the wired side's data.
    pub fn ack(&self, ack: u32) -> Segment {
        self.up(0, 0, ack)
    }

    /// Hands a packet in; returns its number and the verdict.
    pub fn hand_in(&mut self, side: Side, segment: &Segment) -> (Packet, Verdict<Packet>) {
        self.next += 1;
        let packet = self.next;
        let (source, destination) = match side {
            Side::Wired => (Side::Wired, Side::Wireless),
            Side::Wireless => (Side::Wireless, Side::Wired),
        };
        let view = TcpView {
            source: self.address(source),
            destination: self.address(destination),
            segment,
            header_length: segment.header_length(),
            wire_len: Bytes(u64::from(segment.payload + self.overhead)),
            ecn: self.ecn,
            whole: self.whole,
        };
        let (hops, rates) = (self.hops, self.rates.clone());
        let route = |to| {
            let uniform = route(to);
            Route { hops: (hops > 0).then_some(hops), rates: rates.unwrap_or(uniform.rates) }
        };
        (packet, self.gateway.handle(self.now, side, &view, self.treatment, route, packet))
    }

    #[track_caller]
    pub fn forwards(&mut self, side: Side, segment: &Segment) -> Packet {
        self.forwards_with(side, segment, RttOption::Keep)
    }

    #[track_caller]
    pub fn forwards_with(&mut self, side: Side, segment: &Segment, option: RttOption) -> Packet {
        let (packet, verdict) = self.hand_in(side, segment);
        assert_eq!(verdict, Verdict::Forward(packet, option.into()), "at {:?}", self.now);
        packet
    }

    #[track_caller]
    pub fn holds(&mut self, segment: &Segment) -> Packet {
        let (packet, verdict) = self.hand_in(Side::Wired, segment);
        assert_eq!(verdict, Verdict::Held, "at {:?}", self.now);
        packet
    }

    #[track_caller]
    pub fn drops(&mut self, segment: &Segment) {
        let (packet, verdict) = self.hand_in(Side::Wired, segment);
        assert_eq!(verdict, Verdict::Dropped(packet), "at {:?}", self.now);
    }

    #[track_caller]
    pub fn consumes(&mut self, segment: &Segment) {
        let (packet, verdict) = self.hand_in(Side::Wireless, segment);
        assert_eq!(verdict, Verdict::Consumed(packet), "at {:?}", self.now);
    }

    /// Everything that may leave now.
    pub fn departures(&mut self) -> Vec<(Packet, Action)> {
        core::iter::from_fn(|| self.gateway.poll_transmit(self.now)).map(|d| (d.packet, d.action)).collect()
    }

    #[track_caller]
    pub fn releases(&mut self, packets: &[Packet]) {
        let expected: Vec<_> =
            packets.iter().map(|&p| (p, Action::Release { strip: false, mark: false })).collect();
        assert_eq!(self.departures(), expected, "at {:?}", self.now);
    }

    #[track_caller]
    pub fn retransmits(&mut self, packets: &[Packet]) {
        let expected: Vec<_> = packets.iter().map(|&p| (p, Action::Retransmit)).collect();
        assert_eq!(self.departures(), expected, "at {:?}", self.now);
    }

    /// Runs the gateway alone until `end`: departures with their times.
    pub fn run_until(&mut self, end: Instant) -> Vec<(Instant, Packet)> {
        let mut left = Vec::new();
        while let Some(at) = self.gateway.poll_timeout().filter(|&at| at <= end) {
            self.now = self.now.max(at);
            self.gateway.handle_timeout(self.now);
            while let Some(departure) = self.gateway.poll_transmit(self.now) {
                left.push((self.now, departure.packet));
            }
        }
        self.now = end;
        left
    }

    /// Data goes down and its ACK comes back after `rtt_ms`: the first round-trip sample, which sets the pace. With the
    /// default path 40 ms give 31.68 ms (schemes.md 1.4). Returns the bytes acknowledged.
    pub fn sample(&mut self, offset: u32, rtt_ms: u64) -> u32 {
        let data = self.down(offset, MSS, 0);
        self.forwards(Side::Wired, &data);
        self.now += Span::from_millis(rtt_ms);
        let ack = self.ack(offset + MSS);
        assert!(matches!(self.hand_in(Side::Wireless, &ack).1, Verdict::Forward(..)));
        offset + MSS
    }
}

pub const SYN: Flags = Flags { syn: true, ..Flags::NONE };
pub const SYN_ACK: Flags = Flags { syn: true, ack: true, ..Flags::NONE };
pub const ACK: Flags = Flags { ack: true, ..Flags::NONE };
pub const FIN_ACK: Flags = Flags { ack: true, fin: true, ..Flags::NONE };
pub const RST: Flags = Flags { rst: true, ..Flags::NONE };

/// The ends of flow number `flow`.
pub fn key_of(flow: u8) -> FlowKey {
    FlowKey {
        wireless: Endpoint { address: address(Side::Wireless, flow), port: 5000 },
        wired: Endpoint { address: address(Side::Wired, flow), port: 80 },
    }
}

fn address(side: Side, flow: u8) -> IpAddr {
    match side {
        Side::Wired => Ipv4Addr::new(192, 0, 2, flow).into(),
        Side::Wireless => Ipv4Addr::new(10, 77, 0, flow).into(),
    }
}

fn segment(source_port: u16, destination_port: u16, seq: Seq, ack: Seq, payload: u32) -> Segment {
    Segment { ack, flags: ACK, window: WINDOW, payload, ..Segment::new(source_port, destination_port, seq) }
}
