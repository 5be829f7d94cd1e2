use super::*;
use meshpace_tcp::{Flags, Options, Segment};
use meshpace_units::{Rate, Seq, Span};
use meshpace_wire::{build, checksum_ok, parse};
use std::net::{Ipv4Addr, Ipv6Addr};

mod rewriting;
mod whole;

const MSS: u32 = 1000;
const ACK: Flags = Flags { ack: true, ..Flags::NONE };
const SYN: Flags = Flags { syn: true, ..Flags::NONE };

/// The mesh is 10.77.0.0/16 and fd77::/16 and what is behind its interface; 4 hops by configuration.
const PACE: &str = "mode = \"pace\"\n[mesh]\nsubnets = [\"10.77.0.0/16\", \"fd77::/16\"]\nrate = \"2Mbps\"\n\
    [hops]\nsources = [\"static\", \"ttl\"]\n[hops.static]\n\"10.77.0.0/16\" = 4\n";

/// In the table `gateway`: windows stay as they are.
const RECEIVER: &str = "gap_window = \"receiver\"\n";

const NO_REPAIR: &str = "[gateway]\nlocal_retransmission = \"off\"\n";

fn config(text: &str) -> Arc<Config> {
    Arc::new(Config::parse("test.toml", text.as_bytes()).unwrap_or_else(|error| panic!("{error}")))
}

fn ms(n: u64) -> Instant {
    Instant::ZERO + Span::from_millis(n)
}

struct World {
    engine: Engine,
    next: u64,
    v6: bool,
    port: u16,
}

/// What came out, without its borrow.
#[derive(Debug, PartialEq, Eq)]
enum Out {
    Accept,
    Rewrite(Vec<u8>),
    Hold,
    Drop,
}

impl World {
    fn new(text: &str) -> Self {
        let config = config(text);
        let engine = Engine::new(config.clone(), 100, Directory::fixed(config));
        Self { engine, next: 0, v6: false, port: 5000 }
    }

    fn ends(&self) -> (IpAddr, IpAddr) {
        if self.v6 {
            (
                Ipv6Addr::new(0xfd77, 0, 0, 0, 0, 0, 0, 1).into(),
                Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1).into(),
            )
        } else {
            (Ipv4Addr::new(10, 77, 0, 1).into(), Ipv4Addr::new(192, 0, 2, 1).into())
        }
    }

    fn segment(&self, side: Side, seq: u32, ack: u32, payload: u32) -> Segment {
        let ports = match side {
            Side::Wired => (80, self.port),
            Side::Wireless => (self.port, 80),
        };
        Segment {
            ack: Seq(ack),
            flags: ACK,
            window: 60_000,
            payload,
            ..Segment::new(ports.0, ports.1, Seq(seq))
        }
    }

    fn packet(&self, side: Side, segment: &Segment) -> Vec<u8> {
        let (mesh, internet) = self.ends();
        let (source, destination) = match side {
            Side::Wired => (internet, mesh),
            Side::Wireless => (mesh, internet),
        };
        let payload: Vec<u8> = (0..segment.payload).map(|i| i as u8).collect();
        build(source, destination, 62, segment, &payload)
    }

    fn down(&self, seq: u32, payload: u32) -> Vec<u8> {
        self.packet(Side::Wired, &self.segment(Side::Wired, seq, 1, payload))
    }

    fn up(&self, seq: u32, ack: u32, payload: u32) -> Vec<u8> {
        self.packet(Side::Wireless, &self.segment(Side::Wireless, seq, ack, payload))
    }

    /// Hands bytes in; the driver knows no interface.
    fn hand_in(&mut self, now: Instant, bytes: &[u8]) -> Out {
        self.next += 1;
        let mut bytes = bytes.to_vec();
        let arrival =
            Arrival { id: self.next, from_mesh: false, to_mesh: false, unfinished: false, bytes: &mut bytes };
        match self.engine.handle(now, arrival) {
            Decision::Accept => Out::Accept,
            Decision::Rewrite(bytes) => Out::Rewrite(bytes.to_vec()),
            Decision::Hold => Out::Hold,
            Decision::Drop => Out::Drop,
        }
    }

    fn outputs(&mut self, now: Instant) -> Vec<Output> {
        std::iter::from_fn(|| self.engine.poll(now)).collect()
    }

    /// One segment down at 0 ms and its ACK at 40 ms: the law has a pace (31.68 ms less what 1000 bytes are shorter).
    fn sampled(&mut self) -> Span {
        let data = self.down(1, MSS);
        assert_eq!(self.hand_in(ms(0), &data), Out::Accept);
        let ack = self.up(1, 1 + MSS, 0);
        assert_eq!(self.hand_in(ms(40), &ack), Out::Accept);
        self.engine.flows()[0].stats.interval.expect("one sample")
    }
}

#[test]
fn data_down_is_held_and_released_unchanged() {
    for v6 in [false, true] {
        let mut w = World::new(&PACE.replace("10.77.0.0/16\" = 4", "10.77.0.0/16\" = 4\n\"fd77::/16\" = 4"));
        w.v6 = v6;
        let interval = w.sampled();
        assert_eq!(interval, Span::from_secs_f64(2.0 * (0.040 / 4.0 + f64::from(MSS) * 8.0 / 2e6)), "(2.1)");
        let (first, second) = (w.down(1001, MSS), w.down(2001, MSS));
        assert_eq!(w.hand_in(ms(40), &first), Out::Accept, "the token is back since {interval:?}");
        assert_eq!(w.hand_in(ms(41), &second), Out::Hold);
        assert_eq!(w.outputs(ms(41)), []);
        let due = ms(40) + interval;
        assert_eq!(w.engine.poll_timeout(), Some(due));
        assert_eq!(w.outputs(due), [Output::Release { id: 4, bytes: None, due }]);
    }
}

#[test]
fn observing_changes_nothing_and_says_what_pacing_would_do() {
    let mut w = World::new(&PACE.replace("\"pace\"", "\"observe\""));
    let interval = w.sampled();
    assert_eq!(interval, World::new(PACE).sampled());
    let forged = Options { rtt_wired: Some(Span::from_millis(1)), ..Options::default() };
    for i in 0..50 {
        let data = w.packet(
            Side::Wired,
            &Segment { options: forged, ..w.segment(Side::Wired, 1001 + i * MSS, 1, MSS) },
        );
        assert_eq!(w.hand_in(ms(41), &data), Out::Accept);
    }
    let up = w.up(1, 1, 500);
    assert_eq!(w.hand_in(ms(42), &up), Out::Accept);
    let ack = w.packet(Side::Wired, &w.segment(Side::Wired, 60_000, 501, 0));
    assert_eq!(w.hand_in(ms(50), &ack), Out::Accept);
    assert_eq!(w.engine.flows()[0].stats.wired_rtt, Some(Span::from_millis(8)));
    assert_eq!((w.outputs(ms(100_000)), w.engine.held(), w.engine.buffered()), (vec![], 0, Bytes::ZERO));
}

#[test]
fn a_hole_is_repaired_with_the_bytes_that_were_lost() {
    let mut w = World::new(PACE);
    for (seq, side) in [(0, Side::Wireless), (0, Side::Wired)] {
        let flags = Flags { ack: side == Side::Wired, ..SYN };
        let syn = w.packet(side, &Segment { flags, ..w.segment(side, seq, 1, 0) });
        assert_eq!(w.hand_in(ms(0), &syn), Out::Accept);
    }
    let lost = w.down(1, MSS);
    assert_eq!(w.hand_in(ms(0), &lost), Out::Accept);
    let next = w.down(1 + MSS, MSS);
    w.hand_in(ms(1), &next);
    let duplicate = w.up(1, 1, 0);
    w.hand_in(ms(40), &duplicate);
    assert_eq!(w.hand_in(ms(41), &duplicate), Out::Drop, "the gateway answers it");
    assert_eq!(w.outputs(ms(41)), [Output::Send(lost.into())]);
    let mut off = World::new(&format!("{PACE}{NO_REPAIR}"));
    for packet in [off.down(1, MSS), off.down(1 + MSS, MSS), off.up(1, 1, 0), off.up(1, 1, 0)] {
        assert_eq!(off.hand_in(ms(0), &packet), Out::Accept);
    }
    assert_eq!((off.outputs(ms(1)), off.engine.buffered()), (vec![], Bytes::ZERO));
}

#[test]
fn what_was_not_kept_is_left_to_the_sender() {
    // A packet that is cut off; one that was held while nothing was to be repaired.
    for cut in [true, false] {
        let keys = if cut { "[gateway]\n" } else { NO_REPAIR };
        let mut w = World::new(&format!("{PACE}{keys}{RECEIVER}"));
        for (seq, side) in [(0, Side::Wireless), (0, Side::Wired)] {
            let flags = Flags { ack: side == Side::Wired, ..SYN };
            let syn = w.packet(side, &Segment { flags, ..w.segment(side, seq, 1, 0) });
            assert_eq!(w.hand_in(ms(0), &syn), Out::Accept);
        }
        w.sampled();
        let (first, lost) = (w.down(1 + MSS, MSS), w.down(1 + 2 * MSS, MSS));
        assert_eq!(w.hand_in(ms(40), &first), Out::Accept);
        assert_eq!(w.hand_in(ms(40), if cut { &lost[..100] } else { &lost }), Out::Hold);
        w.engine.reload(ms(41), config(&format!("{PACE}[gateway]\n{RECEIVER}")));
        assert!(matches!(w.outputs(ms(500))[..], [Output::Release { .. }]));
        let ack = w.up(1, 1 + 2 * MSS, 0);
        let told: Vec<_> = [501, 502, 700, 900, 1_100, 1_300].map(|at| w.hand_in(ms(at), &ack)).into();
        assert_eq!(w.outputs(ms(1_300)), []);
        // The duplicate at 502 ms comes sooner than a round trip after the packet left, and tells of no loss.
        assert_eq!(told, [Out::Accept, Out::Accept, Out::Drop, Out::Drop, Out::Accept, Out::Accept]);
    }
}

#[test]
fn what_does_not_cross_or_cannot_be_read_passes_and_is_counted() {
    let mut w = World::new(PACE);
    let good = w.down(1, MSS);
    // Two Internet hosts; two mesh hosts by interface.
    let elsewhere = build(
        Ipv4Addr::new(192, 0, 2, 1).into(),
        Ipv4Addr::new(198, 51, 100, 1).into(),
        60,
        &w.segment(Side::Wired, 1, 1, 10),
        &[0; 10],
    );
    assert_eq!(w.hand_in(ms(0), &elsewhere), Out::Accept);
    let mut within = good.clone();
    let arrival = Arrival { id: 9, from_mesh: true, to_mesh: true, unfinished: false, bytes: &mut within };
    assert_eq!(w.engine.handle(ms(0), arrival), Decision::Accept);
    let mut udp = good.clone();
    udp[9] = 17;
    let mut fragment = good.clone();
    fragment[6] = 0x20;
    let mut malformed = good.clone();
    malformed[32] = 0x10;
    for bytes in [&udp[..], &fragment, &malformed, &good[..30], &[]] {
        assert_eq!(w.hand_in(ms(0), bytes), Out::Accept);
    }
    let unread = Unread {
        fragments: 1,
        other_protocol: 1,
        truncated: 2,
        malformed: 1,
        oversized: 0,
        not_crossing: 2,
        off: 0,
        signed: 0,
    };
    assert_eq!((w.engine.counted().unread, w.engine.counted().packets), (unread, 7));
    assert!(w.engine.flows().is_empty());
}

#[test]
fn pages_of_flows_follow_one_another() {
    let mut w = World::new(PACE);
    for port in [5004, 5001, 5003, 5000, 5002] {
        w.port = port;
        let data = w.down(1, MSS);
        w.hand_in(ms(0), &data);
    }
    let keys = |flows: &[FlowReport]| flows.iter().map(|flow| flow.stats.key).collect::<Vec<_>>();
    let (mut all, mut sizes) = (Vec::new(), Vec::new());
    loop {
        let (flows, complete) = w.engine.page(all.last(), 2);
        sizes.push(flows.len());
        all.extend(keys(&flows));
        if complete {
            break;
        }
    }
    assert_eq!((all, sizes), (keys(&w.engine.flows()), vec![2, 2, 1]));
    assert!(w.engine.page(None, 5).1, "these are all");
}

#[test]
fn modes_differ_by_subnet_and_flows_by_their_draw() {
    let text = format!(
        "{PACE}[[subnet]]\nprefix = \"10.77.1.0/24\"\nmode = \"off\"\n[[subnet]]\nprefix = \"10.77.0.0/24\"\npaced_share = 0.5\n"
    );
    let mut w = World::new(&text);
    for port in 1..=200 {
        w.port = port;
        let data = w.down(1, MSS);
        w.hand_in(ms(0), &data);
    }
    let flows = w.engine.flows();
    let paced: Vec<_> = flows.iter().filter(|flow| flow.treatment == Treatment::Pace).collect();
    assert!((70..=130).contains(&paced.len()), "{} of 200", paced.len());
    let seed = w.engine.config().ab_seed;
    assert!(paced.iter().all(|flow| crate::treatment::draw(seed, &flow.stats.key) < 0.5));
    let off = build(
        Ipv4Addr::new(192, 0, 2, 1).into(),
        Ipv4Addr::new(10, 77, 1, 9).into(),
        60,
        &w.segment(Side::Wired, 1, 1, 10),
        &[0; 10],
    );
    assert_eq!(w.hand_in(ms(0), &off), Out::Accept);
    assert_eq!((w.engine.counted().unread.off, w.engine.flows().len()), (1, 200));
}

#[test]
fn hops_come_from_the_ttl_of_the_packet_that_was_timed() {
    let mut w = World::new(&PACE.replace("[hops.static]\n\"10.77.0.0/16\" = 4\n", ""));
    w.sampled(); // TTL 62 at the FORWARD hook: 63 on arrival, so 64 two hops away
    let flow = &w.engine.flows()[0];
    assert_eq!((flow.hops, flow.hop_source), (Some(2), crate::config::HopSource::Ttl));
    assert_eq!(flow.link_rate, Rate::bits_per_sec(2_000_000));
    let detail = w.engine.flow(Instant::ZERO, &flow.stats.key).expect("known");
    assert_eq!(detail.explanation.law.and_then(|law| Some(law.rate_law()?.last()?.k)), Some(2));
}

#[test]
fn a_reload_keeps_flows_and_lets_go_what_is_no_longer_paced() {
    for (mode, flows) in [("observe", 1), ("off", 0)] {
        let mut w = World::new(PACE);
        w.sampled();
        for i in 1..4 {
            let data = w.down(1 + i * MSS, MSS);
            w.hand_in(ms(40), &data);
        }
        assert_eq!(w.engine.held(), 2);
        w.engine.reload(ms(41), config(PACE));
        assert_eq!((w.outputs(ms(41)), w.engine.held()), (vec![], 2), "nothing changed");
        w.engine.reload(ms(41), config(&PACE.replace("\"pace\"", &format!("{mode:?}"))));
        let ids: Vec<_> =
            w.outputs(ms(41)).iter().map(|out| matches!(out, Output::Release { id: 4 | 5, .. })).collect();
        assert_eq!((ids, w.engine.held(), w.engine.flows().len()), (vec![true, true], 0, flows));
    }
}

#[test]
fn no_more_is_held_than_the_driver_can_and_all_is_let_go_in_order() {
    let mut w = World::new(PACE);
    w.sampled();
    w.engine.set_held_max(ms(40), 3);
    let outcomes: Vec<_> = (1..8)
        .map(|i| {
            let data = w.down(1 + i * MSS, MSS);
            w.hand_in(ms(40), &data)
        })
        .collect();
    assert_eq!(outcomes, [Out::Accept, Out::Hold, Out::Hold, Out::Hold, Out::Drop, Out::Drop, Out::Drop]);
    w.engine.let_go(ms(41));
    let ids: Vec<_> = w
        .outputs(ms(41))
        .into_iter()
        .map(|out| match out {
            Output::Release { id, due, .. } => (id, due),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(ids, [(4, ms(41)), (5, ms(41)), (6, ms(41))]);
}

/// Packets of a queue that stands: marked on the wire where their transport reacts to that, with a right header, dropped else.
#[test]
fn a_queue_that_stands_is_told_by_marks_or_drops() {
    for (codepoint, repairs) in [(0b10_u8, true), (0b10, false), (0, true)] {
        let mut w = World::new(&format!("{PACE}{}", if repairs { "" } else { NO_REPAIR }));
        let spacing = w.sampled();
        for n in 0..40 {
            let mut data = w.down(1 + (n + 1) * MSS, MSS);
            if codepoint != 0 {
                assert!(!meshpace_wire::mark(&mut data), "not ECN-capable as built");
                meshpace_wire::set_hop(&mut data, 62, Ecn::from_bits(codepoint));
            }
            w.hand_in(ms(40), &data);
        }
        let outputs: Vec<Output> = (0..60).flat_map(|n| w.outputs(ms(40) + spacing * n)).collect();
        let dropped = outputs.iter().filter(|out| matches!(out, Output::Drop { .. })).count();
        let marked: Vec<_> = outputs
            .iter()
            .filter_map(|out| match out {
                Output::Release { bytes: Some(bytes), .. } => Some(bytes),
                _ => None,
            })
            .collect();
        assert_eq!((dropped == 0, marked.is_empty()), (codepoint != 0, codepoint == 0), "{outputs:?}");
        for bytes in marked {
            let packet = parse(bytes).expect("a packet");
            assert_eq!((packet.ecn(), packet.wire_len.0), (Ecn::Ce, bytes.len() as u64));
            assert!(checksum_ok(bytes));
        }
        let (counters, _, waits) = w.engine.totals();
        assert_eq!(counters.aqm_drops, dropped as u64);
        assert!(waits.0.max() > spacing * 5, "{waits:?}");
    }
}
