//! Random networks and random peers.

use super::script::ms;
use crate::control::{
    Ack, Agent, Asks, Cubic, Fixed, Khd, Paced, Reaction, Recovered, Reno, Rules, WirelessKhd, cubic,
    newreno,
    recovery::{GoBack, Rack, Selective, With},
    sack_reno, tahoe,
};
use crate::{
    AckPolicy, Arrival, Config, Connection, Control, Delayed, DynamicDelayed, Event, Every, Flags, Ns2Stamp,
    Options, Ports, SackOffer, Segment, State, Timestamps, Transmit,
};
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use meshpace_pacing::{AdaptiveConfig, HopSource, Route};
use meshpace_units::{Ecn, Instant, Rate, Seq, Span};
use proptest::prelude::*;
use proptest::sample::select;

/// The fate of one segment on the way: lost, or arriving once or twice after so many milliseconds.
#[derive(Clone, Copy, Debug)]
struct Fate {
    lost: bool,
    delay: u64,
    copy: Option<u64>,
    /// Some queue marks it if it may.
    marked: bool,
}

fn fate() -> impl Strategy<Value = Fate> {
    (0u32..100, 1u64..60, 0u32..100, 1u64..200, 0u32..100).prop_map(|(loss, delay, duplicate, copy, mark)| {
        Fate { lost: loss < 15, delay, copy: (duplicate < 5).then_some(copy), marked: mark < 10 }
    })
}

fn control() -> impl Strategy<Value = Box<dyn Control>> {
    let windows: [Box<dyn Control>; 11] = [
        Box::new(tahoe(Rules::NS2)),
        Box::new(tahoe(Rules::RFC)),
        Box::new(newreno(Rules::NS2)),
        Box::new(newreno(Rules::RFC)),
        Box::new(sack_reno(Rules::NS2)),
        Box::new(sack_reno(Rules::RFC)),
        Box::new(cubic(Rules::RFC)),
        Box::new(Recovered::new(Box::new(Cubic::new(Rules::RFC)), Box::new(Selective::new(&Rules::RFC)))),
        Box::new(Recovered::new(
            Box::new(Reno::new(Rules::RFC)),
            Box::new(Rack::new(&Rules::RFC, With::ALL)),
        )),
        Box::new(Recovered::new(
            Box::new(Cubic::new(Rules::NS2)),
            Box::new(Rack::new(&Rules::NS2, With::ALL)),
        )),
        Box::new(Recovered::new(Box::new(Reno::new(Rules::RFC)), Box::new(GoBack::new(&Rules::RFC)))),
    ];
    let pacings: [Option<Box<dyn Control>>; 6] = [
        None,
        Some(Box::new(Fixed::new(Span::from_millis(7)))),
        Some(Box::new(Khd::new(AdaptiveConfig::PAPER))),
        Some(Box::new(Agent::new(AdaptiveConfig::NS2_2005))),
        Some(Box::new(WirelessKhd::new(AdaptiveConfig::PAPER, HopSource::Ack))),
        Some(Box::new(Judge::default())),
    ];
    let (windows, pacings) = (select(windows.to_vec()), select(pacings.to_vec()));
    (windows, pacings).prop_map(|(window, pacing)| match pacing {
        Some(pacing) => Box::new(Paced::new(window, pacing)),
        None => window,
    })
}

/// Lets everything pass, and judges the samples of the delivery rate.
#[derive(Clone, Debug, Default)]
struct Judge {
    delivered: u64,
}

impl Control for Judge {
    fn asks(&self) -> Asks {
        Asks { delivery_rate: true, ..Asks::default() }
    }

    fn on_ack(&mut self, ack: &Ack<'_>) -> Reaction {
        if let Some(sample) = ack.rate {
            self.delivered += sample.acked.0;
            assert!(sample.acked.0 > 0 && sample.acked <= sample.delivered, "{sample:?}");
            assert_eq!(sample.prior_delivered.0 + sample.delivered.0, self.delivered, "{sample:?}");
            assert!(self.delivered < ack.out.max, "{sample:?} of {:?}", ack.out);
        }
        Reaction::Continue
    }
}

fn policy(policy: impl AckPolicy + 'static) -> Box<dyn AckPolicy> {
    Box::new(policy)
}

fn config() -> impl Strategy<Value = Config> {
    let linux = Config {
        rto: crate::RtoConfig::Linux(crate::SmoothedConfig::LINUX),
        window_grows: true,
        ..Config::linux()
    };
    let base = prop_oneof![Just(Config::ns2()), Just(Config::rfc()), Just(Config::linux()), Just(linux)];
    let acknowledgements =
        prop_oneof![Just(policy(Every)), Just(policy(Delayed::SECOND)), Just(policy(DynamicDelayed::PAPER))];
    let control = prop::option::weighted(0.8, control());
    (base, control, acknowledgements, 100u32..1500, 2_000u32..200_000, any::<[bool; 4]>()).prop_map(
        |(
            base,
            control,
            acknowledgements,
            mss,
            receive_buffer,
            [rto_backoff, sack, report_duplicates, ecn],
        )| Config {
            control: control.unwrap_or_else(|| base.control.clone()),
            acknowledgements,
            mss,
            receive_buffer: receive_buffer.max(2 * mss),
            rto_backoff,
            sack: if sack { SackOffer::Always } else { SackOffer::IfAsked },
            report_duplicates,
            ecn,
            retries: None,
            syn_retries: None,
            ..base
        },
    )
}

/// Links of the wireless way.
fn over(hops: u32) -> Arrival {
    let route = Some(Route::uniform(Some(hops), Rate::bits_per_sec(2_000_000)));
    Arrival { route, ..Arrival::default() }
}

/// One end with the bytes of its streams: byte `n` of either stream is `n mod 251`.
struct End {
    tcp: Connection,
    to_write: u64,
    received: Vec<u8>,
    delivered: u64,
    finished: bool,
    closed: bool,
}

struct Network {
    ends: [End; 2],
    now: Instant,
    /// In flight: by arrival and order of departure, the end it goes to.
    air: BTreeMap<(Instant, u64), (usize, Transmit)>,
    fates: Vec<Fate>,
    departures: u64,
}

impl Network {
    fn drain(&mut self, end: usize) {
        while let Some(mut transmit) = self.ends[end].tcp.poll_transmit(self.now) {
            assert!(transmit.ecn == Ecn::NotEct || transmit.first_transmission, "{transmit:?}");
            let fate = self.fates[(self.departures as usize) % self.fates.len()];
            self.departures += 1;
            // Every third round all is well, so that every exchange ends.
            let calm = (self.departures as usize / self.fates.len()) % 3 == 2;
            if fate.marked {
                transmit.ecn = transmit.ecn.marked().unwrap_or_default();
            }
            if !fate.lost || calm {
                for delay in [Some(fate.delay), fate.copy].into_iter().flatten() {
                    let at = self.now + Span::from_millis(delay);
                    self.air.insert((at, self.departures + delay), (1 - end, transmit));
                }
            }
        }
        while let Some(event) = self.ends[end].tcp.poll_event() {
            self.ends[end].finished |= event == Event::PeerFinished;
        }
    }

    fn arrive(&mut self, end: usize, transmit: &Transmit) {
        let this = &mut self.ends[end];
        let arrival = Arrival { ecn: transmit.ecn, ..over(3) };
        let received = this.tcp.handle_segment(self.now, &transmit.segment, &arrival);
        if let Some(place) = received.payload {
            assert_eq!(place.offset, transmit.offset + u64::from(place.skip), "misplaced");
            assert!(place.skip + place.length <= transmit.segment.payload);
            let needed = (place.offset + u64::from(place.length)) as usize;
            this.received.resize(this.received.len().max(needed), 255);
            for n in place.offset..needed as u64 {
                this.received[n as usize] = (n % 251) as u8;
            }
        }
        let before = this.delivered as usize;
        this.delivered += received.delivered;
        assert_eq!(this.delivered, this.tcp.delivered());
        let fresh = before..this.delivered as usize;
        assert!(
            fresh.clone().all(|n| this.received[n] == (n % 251) as u8),
            "{fresh:?} delivered before it arrived"
        );
    }

    /// Runs until both ends are closed; panics if they are not after a simulated week.
    fn run(&mut self) {
        for step in 0u64.. {
            for end in 0..2 {
                let this = &mut self.ends[end];
                if step % 8 == 0 {
                    this.tcp.read(this.tcp.readable()); // so slowly that the window closes at times
                }
                let chunk = this.to_write.min(3_000);
                if chunk > 0 && this.tcp.write(chunk).is_ok() {
                    this.to_write -= chunk;
                }
                if this.to_write == 0 && !this.closed {
                    this.closed = true;
                    this.tcp.close();
                }
                self.drain(end);
            }
            let arrival = self.air.first_key_value().map(|(key, _)| key.0);
            let timers = [0, 1].map(|end| self.ends[end].tcp.poll_timeout());
            let Some(next) = [arrival, timers[0], timers[1]].into_iter().flatten().min() else { return };
            self.now = self.now.max(next);
            assert!(
                self.now < ms(7 * 86_400_000) && step < 400_000,
                "no end at {:?} after {step} steps: {:#?}",
                self.now,
                self.ends.each_ref().map(|end| (
                    end.tcp.state(),
                    end.tcp.poll_timeout(),
                    end.tcp.sender().clone()
                ))
            );
            for end in 0..2 {
                if self.ends[end].tcp.poll_timeout().is_some_and(|at| at <= self.now) {
                    self.ends[end].tcp.handle_timeout(self.now);
                    self.drain(end);
                }
            }
            while let Some(entry) = self.air.first_entry().filter(|entry| entry.key().0 <= self.now) {
                let (end, transmit) = entry.remove();
                self.arrive(end, &transmit);
                self.drain(end);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn everything_arrives_in_order(
        active in config(), passive in config(), iss: [u32; 2], bytes in [0u64..150_000, 0u64..150_000],
        fates in proptest::collection::vec(fate(), 50..200),
    ) {
        // Both sides must agree on the handshake, and the agent needs the other's stamps.
        let passive = Config { handshake: active.handshake, headers: active.headers, ..passive };
        let end = |tcp, to_write| End { tcp, to_write, received: Vec::new(), delivered: 0, finished: false, closed: false };
        let ports = Ports { local: 1, remote: 2 };
        // The passive side of the two-way handshake may write at once only when it is open.
        let ends = [
            end(Connection::connect(active, ports, Seq(iss[0]), Instant::ZERO), bytes[0]),
            end(Connection::listen(passive, 2, Seq(iss[1])), bytes[1]),
        ];
        let mut network = Network { ends, now: Instant::ZERO, air: BTreeMap::new(), fates, departures: 0 };
        // Let the handshake begin before anyone closes: a listener that is closed is gone.
        network.drain(0);
        while network.ends[1].tcp.state() == State::Listen {
            let next = network.air.first_key_value().map(|(key, _)| key.0);
            let timer = network.ends[0].tcp.poll_timeout();
            network.now = [next, timer].into_iter().flatten().min().unwrap();
            while let Some(entry) = network.air.first_entry().filter(|entry| entry.key().0 <= network.now) {
                let (end, transmit) = entry.remove();
                network.arrive(end, &transmit);
                network.drain(end);
            }
            network.ends[0].tcp.handle_timeout(network.now);
            network.drain(0);
        }
        network.run();
        for (end, expected) in network.ends.iter().zip([bytes[1], bytes[0]]) {
            prop_assert_eq!(end.tcp.state(), State::Closed);
            prop_assert!(end.finished);
            prop_assert_eq!(end.delivered, expected);
            let counters = end.tcp.counters();
            prop_assert_eq!(counters.data_segments, counters.distinct_segments + counters.retransmits);
        }
    }
}

/// Numbers that are near something half of the time.
fn near(base: u32) -> impl Strategy<Value = Seq> {
    prop_oneof![
        (-3i32..6_000).prop_map(move |distance| Seq(base.wrapping_add_signed(distance))),
        any::<u32>().prop_map(Seq),
    ]
}

const OUR_ISS: u32 = u32::MAX - 700;
const PEER: u32 = u32::MAX - 90;

fn any_segment() -> impl Strategy<Value = Segment> {
    let options =
        (any::<Option<u16>>(), any::<Option<u8>>(), any::<Option<(u32, u32)>>(), any::<Option<u16>>());
    let flags = prop_oneof![Just([false, true, false, false, false, false]), any::<[bool; 6]>()];
    let stamp = any::<Option<(u32, Option<u32>)>>();
    (
        near(PEER),
        (near(OUR_ISS), [near(OUR_ISS), near(OUR_ISS), near(OUR_ISS), near(OUR_ISS)]),
        flags,
        any::<u16>(),
        prop_oneof![Just(0u32), 0u32..3_000, any::<u32>()],
        options,
        stamp,
    )
        .prop_map(
            |(
                seq,
                (ack, blocks),
                [syn, is_ack, fin, rst, ece, cwr],
                window,
                payload,
                (mss, scale, stamps, wired),
                ns2,
            )| {
                Segment {
                    ack,
                    flags: Flags { syn, ack: is_ack, fin, rst, ece, cwr, ..Flags::NONE },
                    window,
                    payload,
                    options: Options {
                        mss,
                        window_scale: scale,
                        sack_permitted: syn,
                        timestamps: stamps.map(|(value, echo)| Timestamps { value, echo }),
                        sack: [Some((blocks[0], blocks[1])), Some((blocks[2], blocks[3])), None, None],
                        rtt_wired: wired.map(|ms| Span::from_millis(u64::from(ms))),
                    },
                    ns2: ns2.map(|(sent, echo)| Ns2Stamp {
                        sent: Instant::from_nanos(u64::from(sent)),
                        echo: echo.map(|at| Instant::from_nanos(u64::from(at))),
                    }),
                    ..Segment::new(2, 1, seq)
                }
            },
        )
}

#[derive(Clone, Debug)]
enum Step {
    Segment(Segment, u8),
    Wait(u64),
    Write(u64),
    Read,
    Mss(u32),
    Close,
    Abort,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        12 => (any_segment(), any::<u8>()).prop_map(|(segment, bits)| Step::Segment(segment, bits)),
        4 => (0u64..3_000).prop_map(Step::Wait),
        2 => (0u64..20_000).prop_map(Step::Write),
        2 => Just(Step::Read),
        1 => (0u32..2_000).prop_map(Step::Mss),
        1 => prop_oneof![3 => Just(Step::Close), 1 => Just(Step::Abort)],
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_peer_makes_it_panic(config in config(), opens: bool, greeted: bool, steps in proptest::collection::vec(step(), 1..60)) {
        let ports = Ports { local: 1, remote: 2 };
        let mut now = Instant::ZERO;
        let mut tcp = if opens {
            Connection::connect(config, ports, Seq(OUR_ISS), now)
        } else {
            Connection::listen(config, 1, Seq(OUR_ISS))
        };
        let drain = |tcp: &mut Connection, now: Instant| {
            let mut count = 0;
            while let Some(transmit) = tcp.poll_transmit(now) {
                count += 1;
                assert!(count < 5_000, "no end: {transmit:?}");
                assert!(transmit.segment.payload <= tcp.config().mss);
            }
            while tcp.poll_event().is_some() {}
        };
        drain(&mut tcp, now);
        if greeted {
            let flags = Flags { syn: true, ack: opens, ..Flags::default() };
            let mut segment =
                Segment { ack: Seq(OUR_ISS) + 1, flags, window: 60_000, ..Segment::new(2, 1, Seq(PEER)) };
            let _ = tcp.handle_segment(now, &segment, &Arrival::default());
            drain(&mut tcp, now);
            (segment.seq, segment.flags) = (segment.seq + 1, Flags { ack: true, ..Flags::default() });
            let _ = tcp.handle_segment(now, &segment, &Arrival::default());
            drain(&mut tcp, now);
        }
        for step in steps {
            match step {
                Step::Segment(segment, bits) => {
                    let arrival = Arrival { ecn: Ecn::from_bits(bits), ..over(4) };
                    let received = tcp.handle_segment(now, &segment, &arrival);
                    if let Some(place) = received.payload {
                        prop_assert!(place.skip + place.length <= segment.payload);
                    }
                }
                Step::Wait(span) => now += Span::from_millis(span),
                Step::Write(bytes) => drop(tcp.write(bytes)),
                Step::Read => tcp.read(tcp.readable()),
                Step::Mss(mss) => tcp.set_mss(mss.min(tcp.config().mss)),
                Step::Close => tcp.close(),
                Step::Abort => tcp.abort(),
            }
            tcp.handle_timeout(now);
            drain(&mut tcp, now);
            prop_assert!(tcp.cwnd().is_none_or(|cwnd| cwnd >= 1.0) && tcp.ssthresh().is_none_or(|threshold| threshold >= 2.0));
            // Whatever is due has been done.
            prop_assert!(tcp.poll_timeout().is_none_or(|at| at > now), "{:?} at {now:?}", tcp.poll_timeout());
        }
    }
}

#[test]
fn a_connection_is_small() {
    assert!(size_of::<Connection>() < 2_048, "{} bytes", size_of::<Connection>());
}
