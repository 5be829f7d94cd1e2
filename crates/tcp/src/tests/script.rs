//! Scripted exchanges with one endpoint: what is injected when, and exactly what comes out when.
//!
//! [`Script::expect`] asserts everything that came out since the last call, so silence is asserted, not assumed.
//! Times are milliseconds; data are stream offsets.

use crate::control::Feedback;
use crate::{
    Arrival, Config, Connection, Event, Flags, Ns2Stamp, Options, Ports, Received, Segment, Transmit,
};
use alloc::vec::Vec;
use core::fmt;
use core::ops::Range;
use meshpace_pacing::{LinkRates, Route};
use meshpace_units::{Ecn, Instant, Rate, Seq, Span};

/// Our initial sequence number: data wrap after 1,000 bytes.
pub(crate) const ISS: Seq = Seq(u32::MAX - 1000);
/// The peer's: its data wrap after 2,000 bytes.
pub(crate) const PEER_ISS: Seq = Seq(u32::MAX - 2000);
/// Payload of a full segment in the ns-2 profile.
pub(crate) const MSS: u64 = 1460;

pub(crate) fn ms(n: u64) -> Instant {
    Instant::ZERO + Span::from_millis(n)
}

/// A departure, as far as scripts look at it.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Out {
    flags: Flags,
    /// Stream offsets of the payload; for segments without payload where it would be (SYN: 0).
    payload: Range<u64>,
    /// Bytes of the peer's stream acknowledged; the FIN counts as one.
    ack: Option<u64>,
    /// Codepoint of its packet.
    ecn: Ecn,
}

impl fmt::Debug for Out {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let flag = |set, name| if set { name } else { "" };
        write!(
            f,
            "{}{}{}",
            flag(self.flags.syn, "SYN "),
            flag(self.flags.fin, "FIN "),
            flag(self.flags.rst, "RST ")
        )?;
        write!(f, "{:?}", self.payload)?;
        write!(f, "{}{}", flag(self.flags.ece, " ECE"), flag(self.flags.cwr, " CWR"))?;
        if self.ecn != Ecn::NotEct {
            write!(f, " {:?}", self.ecn)?;
        }
        self.ack.map_or(Ok(()), |ack| write!(f, " ack {ack}"))
    }
}

fn out(payload: Range<u64>) -> Out {
    Out { flags: Flags { ack: true, ..Flags::default() }, payload, ack: None, ecn: Ecn::NotEct }
}

/// Data of the stream.
pub(crate) fn data(payload: Range<u64>) -> Out {
    out(payload)
}

/// Full segment number `n` of the ns-2 profile; 0 would be the SYN.
pub(crate) fn segment(n: u64) -> Out {
    out((n - 1) * MSS..n * MSS)
}

/// Full segments in a row.
pub(crate) fn segments(range: core::ops::RangeInclusive<u64>) -> Vec<Out> {
    range.map(segment).collect()
}

/// A pure acknowledgement of so many bytes.
pub(crate) fn ack(bytes: u64) -> Out {
    Out { ack: Some(bytes), ..out(0..0) }
}

impl Out {
    /// The first SYN.
    pub(crate) fn syn() -> Self {
        Self { flags: Flags { syn: true, ..Flags::default() }, ..out(0..0) }
    }

    pub(crate) fn syn_ack() -> Self {
        Self { flags: Flags { syn: true, ack: true, ..Flags::default() }, ack: Some(0), ..out(0..0) }
    }

    pub(crate) fn fin(mut self) -> Self {
        self.flags.fin = true;
        self
    }

    /// In a packet that may be marked.
    pub(crate) fn ect(self) -> Self {
        Self { ecn: Ecn::Ect0, ..self }
    }

    /// With the echo of a mark; SYNs: with what answers a request for ECN.
    pub(crate) fn ece(mut self) -> Self {
        self.flags.ece = true;
        self
    }

    /// With the answer to an echo; SYNs, with the echo: with the request for ECN.
    pub(crate) fn cwr(mut self) -> Self {
        self.flags.cwr = true;
        self
    }

    pub(crate) fn acking(self, bytes: u64) -> Self {
        Self { ack: Some(bytes), ..self }
    }
}

/// One endpoint under test.
pub(crate) struct Script {
    pub(crate) tcp: Connection,
    pub(crate) out: Vec<(Instant, Transmit)>,
    pub(crate) now: Instant,
    /// Window field of injected segments.
    pub(crate) window: u16,
    /// Options of injected segments.
    pub(crate) options: Options,
    pub(crate) hops: Option<u32>,
    /// Of the links that its segments cross.
    pub(crate) rates: LinkRates,
    pub(crate) feedback: Option<Feedback>,
    /// What the peer's acknowledgement policy wrote into injected packets.
    pub(crate) report: Option<Feedback>,
    /// Codepoint of injected packets.
    pub(crate) ecn: Ecn,
    /// Next sequence position of the peer: what injected pure acknowledgements carry.
    pub(crate) peer: u64,
    pub(crate) events: Vec<Event>,
}

impl Script {
    /// The congestion window, of controls that have one.
    pub(crate) fn cwnd(&self) -> f64 {
        self.tcp.cwnd().expect("a congestion window")
    }

    pub(crate) fn new(tcp: Connection, now: Instant) -> Self {
        let mut script = Self {
            tcp,
            out: Vec::new(),
            now,
            window: u16::MAX,
            options: Options::default(),
            hops: None,
            rates: LinkRates::Uniform(Rate::bits_per_sec(2_000_000)),
            feedback: None,
            report: None,
            ecn: Ecn::NotEct,
            peer: 0,
            events: Vec::new(),
        };
        script.drain();
        script
    }

    pub(crate) fn connect(config: Config) -> Self {
        Self::connect_at(config, Instant::ZERO)
    }

    pub(crate) fn connect_at(config: Config, now: Instant) -> Self {
        Self::new(Connection::connect(config, Ports { local: 1, remote: 2 }, ISS, now), now)
    }

    pub(crate) fn listen(config: Config) -> Self {
        Self::new(Connection::listen(config, 1, ISS), Instant::ZERO)
    }

    /// A connection that opened at time 0 in no time; the window field has two bits of scaling where it scales.
    pub(crate) fn established(config: Config) -> Self {
        let mut script = Self::connect(config);
        let offered = script.out.pop().is_some_and(|(_, syn)| syn.segment.options.sack_permitted);
        script.out.clear();
        script.options = Options {
            mss: Some(1460),
            window_scale: Some(2),
            sack_permitted: offered,
            timestamps: script.tcp.config().timestamps.then_some(crate::Timestamps { value: 0, echo: 0 }),
            ..Options::default()
        };
        let ece = script.tcp.config().ecn;
        script.raw(0, |segment| segment.flags = Flags { syn: true, ack: true, ece, ..Flags::default() });
        script.options = Options::default();
        script.peer = 1;
        script.out.clear();
        script.events.clear();
        script
    }

    fn drain(&mut self) {
        while let Some(transmit) = self.tcp.poll_transmit(self.now) {
            assert!(self.out.len() < 10_000, "transmits without end: {:?}", self.out.last());
            self.out.push((self.now, transmit));
        }
        while let Some(event) = self.tcp.poll_event() {
            self.events.push(event);
        }
    }

    /// Lets time pass, timers included.
    pub(crate) fn advance(&mut self, to: Instant) {
        for _ in 0..100_000 {
            let Some(at) = self.tcp.poll_timeout().filter(|&at| at <= to) else {
                self.now = self.now.max(to);
                return;
            };
            self.now = self.now.max(at);
            self.tcp.handle_timeout(self.now);
            self.drain();
        }
        panic!("a timer that never rests at {:?}", self.now);
    }

    /// Something the application does at `at`.
    pub(crate) fn app<T>(&mut self, at: u64, act: impl FnOnce(&mut Connection) -> T) -> T {
        self.advance(ms(at));
        let result = act(&mut self.tcp);
        self.drain();
        result
    }

    pub(crate) fn write(&mut self, at: u64, bytes: u64) {
        self.app(at, |tcp| tcp.write(bytes)).unwrap();
    }

    pub(crate) fn write_endless(&mut self, at: u64) {
        self.app(at, Connection::write_endless).unwrap();
    }

    /// A segment from the peer at instant `at`; by default a pure acknowledgement of our SYN.
    pub(crate) fn raw_at(&mut self, at: Instant, shape: impl FnOnce(&mut Segment)) -> Received {
        self.advance(at);
        let mut segment = Segment {
            ack: ISS + 1,
            flags: Flags { ack: true, ..Flags::default() },
            window: self.window,
            options: self.options,
            ns2: Some(Ns2Stamp { sent: at, echo: None }),
            ..Segment::new(2, 1, PEER_ISS + self.peer as u32)
        };
        shape(&mut segment);
        let route = Some(Route { hops: self.hops, rates: self.rates.clone() });
        let received = self.tcp.handle_segment(
            at,
            &segment,
            &Arrival {
                route,
                feedback: self.feedback,
                report: self.report,
                ecn: self.ecn,
                ..Arrival::default()
            },
        );
        self.drain();
        received
    }

    pub(crate) fn raw(&mut self, at: u64, shape: impl FnOnce(&mut Segment)) -> Received {
        self.raw_at(ms(at), shape)
    }

    /// The peer acknowledges `bytes` of our stream.
    pub(crate) fn ack(&mut self, at: u64, bytes: u64) {
        self.raw(at, |segment| segment.ack = ISS + 1 + bytes as u32);
    }

    /// The peer acknowledges full segments up to number `n`, once each time in `at`.
    pub(crate) fn ack_segment(&mut self, at: impl IntoIterator<Item = u64>, n: u64) {
        for at in at {
            self.ack(at, n * MSS);
        }
    }

    /// The peer acknowledges full segments up to number `n` and reports those of `blocks`, first and last numbers.
    pub(crate) fn sack(&mut self, at: u64, n: u64, blocks: &[(u64, u64)]) {
        let edge = |segments: u64| ISS + 1 + (segments * MSS) as u32;
        let mut sack = crate::SackBlocks::default();
        for (place, (first, last)) in sack.iter_mut().zip(blocks) {
            *place = Some((edge(first - 1), edge(*last)));
        }
        self.raw(at, |segment| {
            segment.ack = edge(n);
            segment.options.sack = sack;
        });
    }

    /// The peer sends these bytes of its stream and acknowledges `acked` of ours.
    pub(crate) fn data(&mut self, at: u64, payload: Range<u64>, acked: u64) -> Received {
        self.peer = self.peer.max(1 + payload.end);
        self.raw(at, |segment| {
            segment.seq = PEER_ISS + 1 + payload.start as u32;
            segment.payload = (payload.end - payload.start) as u32;
            segment.ack = ISS + 1 + acked as u32;
        })
    }

    /// Asserts what came out since the last call: exactly `expected`, and all of it at `at`.
    pub(crate) fn expect(&mut self, at: u64, expected: &[Out]) {
        let timed: Vec<_> = expected.iter().cloned().map(|out| (at, out)).collect();
        self.expect_until(at, &timed);
    }

    /// Asserts what came out since the last call until `until`, with its times.
    pub(crate) fn expect_until(&mut self, until: u64, expected: &[(u64, Out)]) {
        self.advance(ms(until));
        let came: Vec<_> = self.out.drain(..).map(|(at, transmit)| (at, describe(&transmit))).collect();
        let matches = came.len() == expected.len()
            && came.iter().zip(expected).all(|((at, came), (due, wanted))| {
                // An expectation that names no acknowledgement does not care.
                let ack = wanted.ack.is_none() || wanted.ack == came.ack;
                let same =
                    (came.flags, &came.payload, came.ecn) == (wanted.flags, &wanted.payload, wanted.ecn);
                *at == ms(*due) && same && ack
            });
        assert!(matches, "at {until} ms\nexpected {expected:?}\ncame     {came:?}");
    }
}

fn describe(transmit: &Transmit) -> Out {
    let segment = &transmit.segment;
    let payload = transmit.offset..transmit.offset + u64::from(segment.payload);
    if segment.payload > 0 {
        assert_eq!(segment.seq, ISS + 1 + transmit.offset as u32, "sequence number of {payload:?}");
    }
    let flags = Flags { psh: false, ..segment.flags };
    let acked = segment.ack.since(PEER_ISS + 1);
    Out { flags, payload, ack: segment.flags.ack.then_some(u64::from(acked)), ecn: transmit.ecn }
}
