//! One end of a TCP connection, and a peer and an application that do what they like.

#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use meshpace_fuzz::fields::Fields;
use meshpace_pacing::{AdaptiveConfig, HopSource, Route};
use meshpace_tcp::control::{
    Ack, Agent, Asks, Fixed, Khd, Paced, Reaction, Rules, WirelessKhd, newreno, sack_reno, tahoe,
};
use meshpace_tcp::{
    Arrival, Config, Connection, Control, Delayed, DynamicDelayed, Every, Flags, KeepAlive, Options, Ports,
    SackOffer, Segment, State,
};
use meshpace_units::{Ecn, Instant, Rate, Seq, Span};

/// Initial sequence numbers, ours and the peer's: both wrap soon.
const OURS: Seq = Seq(u32::MAX - 700);
const PEERS: Seq = Seq(u32::MAX - 90);
const PORTS: Ports = Ports { local: 1, remote: 2 };
/// Segments that one call may release. The congestion window grows by segments acknowledged, so it is far below.
const BURST: u32 = 20_000;
/// Payload of the smallest packet that a host must accept (RFC 791: 68 bytes) without headers of 40.
const SMALLEST_MSS: u32 = 28;

#[derive(Arbitrary, Debug)]
struct Input {
    profile: Profile,
    congestion: Congestion,
    acknowledgements: Acknowledgements,
    pacing: PacingKind,
    mss: u16,
    receive_buffer: u32,
    switches: [bool; 8],
    opens: bool,
    greeted: bool,
    steps: Vec<Step>,
}

#[derive(Arbitrary, Debug)]
enum Profile {
    Ns2,
    Rfc,
    Linux,
}

#[derive(Arbitrary, Debug)]
enum Congestion {
    Tahoe,
    NewReno,
    Sack,
}

#[derive(Arbitrary, Debug)]
enum Acknowledgements {
    Every,
    Delayed,
    DynamicDelayed,
}

#[derive(Arbitrary, Debug)]
enum PacingKind {
    None,
    Fixed(u16),
    Adaptive,
    Agent,
    Wireless,
    /// None, but it looks at delivery rates.
    Rates,
}

#[derive(Arbitrary, Debug)]
enum Step {
    /// Hops, and the congestion notification.
    Segment(Fields, Option<u8>, u8),
    /// Microseconds, then whatever is due.
    Wait(u32),
    /// Until the next timer.
    Sleep,
    Write(u16),
    WriteEndless,
    Read(u16),
    Mss(u16),
    Close,
    Abort,
}

impl Input {
    fn config(&self) -> Config {
        let (base, rules) = match self.profile {
            Profile::Ns2 => (Config::ns2(), Rules::NS2),
            Profile::Rfc => (Config::rfc(), Rules::RFC),
            Profile::Linux => (Config::linux(), Rules::LINUX),
        };
        let keep_alive = KeepAlive { idle: Span::from_secs(60), interval: Span::from_secs(5), probes: 3 };
        let [scaling, timestamps, nagle, keeps_alive, rto_backoff, gives_up, sack, ecn] = self.switches;
        let mss = u32::from(self.mss).max(SMALLEST_MSS);
        let window: Box<dyn Control> = match self.congestion {
            Congestion::Tahoe => Box::new(tahoe(rules)),
            Congestion::NewReno => Box::new(newreno(rules)),
            Congestion::Sack => Box::new(sack_reno(rules)),
        };
        let pacing: Option<Box<dyn Control>> = match self.pacing {
            PacingKind::None => None,
            PacingKind::Fixed(us) => Some(Box::new(Fixed::new(Span::from_micros(1 + u64::from(us))))),
            PacingKind::Adaptive => Some(Box::new(Khd::new(AdaptiveConfig::PAPER))),
            PacingKind::Agent => Some(Box::new(Agent::new(AdaptiveConfig::NS2_2005))),
            PacingKind::Wireless => Some(Box::new(WirelessKhd::new(AdaptiveConfig::PAPER, HopSource::Ack))),
            PacingKind::Rates => Some(Box::new(Rates::default())),
        };
        let control = match pacing {
            Some(pacing) => Box::new(Paced::new(window, pacing)),
            None => window,
        };
        Config {
            control,
            acknowledgements: match self.acknowledgements {
                Acknowledgements::Every => Box::new(Every),
                Acknowledgements::Delayed => Box::new(Delayed::SECOND),
                Acknowledgements::DynamicDelayed => Box::new(DynamicDelayed::PAPER),
            },
            mss,
            receive_buffer: (self.receive_buffer % (1 << 30)).max(2 * mss),
            window_scaling: scaling,
            timestamps: base.timestamps && timestamps,
            nagle,
            keep_alive: keeps_alive.then_some(keep_alive),
            rto_backoff,
            sack: if sack { SackOffer::Always } else { SackOffer::IfAsked },
            ecn,
            retries: base.retries.filter(|_| gives_up),
            ..base
        }
    }
}

/// Lets everything pass, and judges the samples of the delivery rate.
#[derive(Clone, Debug, Default)]
struct Rates {
    delivered: u64,
}

impl Control for Rates {
    fn asks(&self) -> Asks {
        Asks { delivery_rate: true, ..Asks::default() }
    }

    fn on_ack(&mut self, ack: &Ack<'_>) -> Reaction {
        if let Some(sample) = ack.rate {
            self.delivered += sample.acked.0;
            assert_eq!(sample.prior_delivered.0 + sample.delivered.0, self.delivered, "{sample:?}");
            assert!(0 < sample.acked.0 && self.delivered < ack.out.max, "{sample:?} of {:?}", ack.out);
        }
        Reaction::Continue
    }
}

/// The connection, the time, and what must be true of both.
struct World {
    tcp: Connection,
    now: Instant,
    written: u64,
    /// The end of what was ever sent of it.
    sent: u64,
    /// Accepted ranges of the peer's stream, joined and in order.
    accepted: Vec<(u64, u64)>,
    delivered: u64,
    acknowledged: u64,
}

impl World {
    fn step(&mut self, step: &Step) {
        match *step {
            Step::Segment(ref fields, hops, ecn) => {
                let seq = PEERS + (1 + self.tcp.delivered() as u32);
                let ack = OURS + (1 + self.tcp.acknowledged() as u32);
                self.arrive(&fields.segment(seq, ack, (PORTS.remote, PORTS.local)), hops, ecn);
            }
            Step::Wait(us) => self.now += Span::from_micros(u64::from(us)),
            Step::Sleep => self.now = self.now.max(self.tcp.poll_timeout().unwrap_or(self.now)),
            Step::Write(bytes) => {
                if self.tcp.write(bytes.into()).is_ok() {
                    self.written = self.written.saturating_add(bytes.into());
                }
            }
            Step::WriteEndless => {
                if self.tcp.write_endless().is_ok() {
                    self.written = u64::MAX;
                }
            }
            Step::Read(bytes) => self.tcp.read(self.tcp.readable().min(bytes.into())),
            Step::Mss(mss) => self.tcp.set_mss(u32::from(mss).clamp(SMALLEST_MSS, self.tcp.configured_mss())),
            Step::Close => self.tcp.close(),
            Step::Abort => self.tcp.abort(),
        }
        self.tcp.handle_timeout(self.now);
        self.drain();
        self.check();
    }

    fn arrive(&mut self, segment: &Segment, hops: Option<u8>, ecn: u8) {
        let rate = Rate::bits_per_sec(2_000_000);
        let route = hops.map(|hops| Route::uniform(Some(hops.into()), rate));
        let received = self.tcp.handle_segment(
            self.now,
            segment,
            &Arrival { route, ecn: Ecn::from_bits(ecn), ..Arrival::default() },
        );
        if let Some(place) = received.payload {
            assert!(place.skip + place.length <= segment.payload, "{place:?} of {segment:?}");
            self.accept(place.offset, place.offset + u64::from(place.length));
        }
        self.delivered += received.delivered;
        assert_eq!(self.delivered, self.tcp.delivered(), "delivered, by the segments' word and by the total");
        let whole = self.accepted.first().filter(|range| range.0 == 0).map_or(0, |range| range.1);
        assert!(self.delivered <= whole, "{} bytes delivered, {whole} accepted", self.delivered);
    }

    fn accept(&mut self, start: u64, end: u64) {
        self.accepted.push((start, end));
        self.accepted.sort_unstable();
        self.accepted.dedup_by(|next, range| {
            let joins = next.0 <= range.1;
            if joins {
                range.1 = range.1.max(next.1);
            }
            joins
        });
    }

    fn drain(&mut self) {
        let mut sent = 0;
        while let Some(transmit) = self.tcp.poll_transmit(self.now) {
            sent += 1;
            assert!(sent <= BURST, "no end: {transmit:?}");
            let payload = u64::from(transmit.segment.payload);
            assert!(payload <= u64::from(self.tcp.configured_mss()), "{transmit:?}");
            assert!(
                transmit.ecn == Ecn::NotEct || (transmit.ecn == Ecn::Ect0 && payload > 0),
                "{transmit:?}"
            );
            assert!(transmit.offset + payload <= self.written, "{transmit:?} of {} bytes", self.written);
            self.sent = self.sent.max(transmit.offset + payload);
        }
        let mut events = 0;
        while let Some(event) = self.tcp.poll_event() {
            events += 1;
            assert!(events < 100, "no end: {event:?}");
        }
    }

    fn check(&mut self) {
        let acknowledged = self.tcp.acknowledged();
        assert!(
            self.acknowledged <= acknowledged && acknowledged <= self.sent,
            "acknowledged {acknowledged}"
        );
        self.acknowledged = acknowledged;
        let cwnd = self.tcp.cwnd();
        assert!(cwnd.is_none_or(|cwnd| cwnd >= 1.0), "cwnd {cwnd:?}");
        assert!(self.tcp.ssthresh().is_none_or(|threshold| threshold >= 2.0), "{:?}", self.tcp.ssthresh());
        let next = self.tcp.poll_timeout();
        assert!(next.is_none_or(|at| at > self.now), "{next:?} is due at {:?}", self.now);
        assert!(self.tcp.state() != State::Closed || next.is_none(), "{next:?} of a closed connection");
    }
}

fuzz_target!(|input: Input| {
    let config = input.config();
    let tcp = if input.opens {
        Connection::connect(config, PORTS, OURS, Instant::ZERO)
    } else {
        Connection::listen(config, PORTS.local, OURS)
    };
    let mut world = World {
        tcp,
        now: Instant::ZERO,
        written: 0,
        sent: 0,
        accepted: Vec::new(),
        delivered: 0,
        acknowledged: 0,
    };
    world.drain();
    if input.greeted {
        // As it takes it: whether selective acknowledgements and ECN are used is up to the connection.
        let flags = Flags { syn: true, ack: input.opens, ece: true, cwr: !input.opens, ..Flags::NONE };
        let options =
            Options { mss: Some(1_460), window_scale: Some(7), sack_permitted: true, ..Options::NONE };
        let syn = Segment {
            ack: OURS + 1,
            flags,
            window: 60_000,
            options,
            ..Segment::new(PORTS.remote, PORTS.local, PEERS)
        };
        world.arrive(&syn, None, 0);
        world.drain();
        let flags = Flags { ack: true, ..Flags::default() };
        world.arrive(&Segment { seq: PEERS + 1, flags, options: Options::default(), ..syn }, None, 0);
        world.drain();
    }
    for step in &input.steps {
        world.step(step);
    }
});
