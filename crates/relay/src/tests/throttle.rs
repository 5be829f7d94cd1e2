//! The gate, with a MAC that takes a fixed time.

use super::{Bench, TestNode, entering, packet, radio};
use crate::Report;
use crate::packet::{Account, Class, Handle, Packet};
use crate::report::ExchangeLog;
use meshpace_keys::Setting;
use meshpace_radio::{MacPacket, Priority, Standard};
use meshpace_units::{Bytes, Instant, NodeId, Span};
use std::num::NonZeroU32;

/// What the MAC takes for a packet.
const MAC: Span = Span::from_millis(5);

/// A packet of MSS 600 of a flow that begins here.
fn segment(flow: u16) -> Packet {
    let account = NonZeroU32::new(u32::from(flow)).map(Account);
    let mut segment = entering(3, Class::Data, packet(flow, 1, 640));
    segment.account = account;
    segment
}

/// Three hops, L_TCP_crit 1.2 Mbit/s (schemes.md 21, 5), and what else is said.
fn bench(said: &[(&'static str, Setting)]) -> Bench {
    let mut all = vec![
        ("ot_crit", Setting::Whole(1_200_000)),
        ("ot_alpha", Setting::Real(1.0)),
        ("ot_N", Setting::Whole(3)),
    ];
    all.retain(|(key, _)| said.iter().all(|(other, _)| other != key));
    all.extend_from_slice(said);
    let mut bench = Bench::with("throttle", &radio(50), &all);
    bench.node = TestNode { hops: Some(3), ..TestNode::default() };
    bench
}

fn word(key: &'static str, word: &str) -> (&'static str, Setting) {
    (key, Setting::Text(word.to_owned()))
}

impl Bench {
    /// The MAC is through with a packet.
    pub(super) fn through(&mut self, packet: Handle) {
        let mut log = ExchangeLog::new(Span::from_micros(10));
        let mode = Standard::named("802.11b").expect("a row").default_mode;
        log.offered(
            self.now,
            &MacPacket {
                handle: packet,
                to: Some(NodeId(1)),
                size: Bytes(640),
                mode,
                priority: Priority::BEST_EFFORT,
            },
        );
        let report: Report = log.ended(packet, true);
        if self.relay.asks().reports {
            self.call(|relay, here| relay.reported(here, &report));
        }
    }

    /// The MAC takes what it gets and is through after its time, until `end`; when it got each packet, and of which flow.
    fn serve(&mut self, end: Instant) -> Vec<(f64, u16)> {
        let mut handed = Vec::new();
        while self.now < end {
            match self.get() {
                Some(packet) => {
                    let flow = self.packets.get(packet).source_end().port();
                    handed.push((self.now.as_secs_f64() * 1e3, flow));
                    self.now += MAC;
                    self.through(packet);
                }
                None => match self.relay.poll_timeout() {
                    Some(wake) => {
                        self.now = wake;
                        self.call(|relay, here| relay.handle_timeout(here));
                    }
                    None => break,
                },
            }
        }
        handed
    }

    fn backlog(&mut self, flow: u16, packets: usize) {
        for _ in 0..packets {
            self.put(segment(flow));
        }
    }
}

fn end(ms: u64) -> Instant {
    Instant::ZERO + Span::from_millis(ms)
}

/// Mean of the times between hand-overs, ms.
fn spacing(handed: &[(f64, u16)]) -> f64 {
    let (first, last) = (handed[0].0, handed[handed.len() - 1].0);
    (last - first) / (handed.len() - 1) as f64
}

/// ```text
/// serial   |--- Delta 40.44 ---|MAC|--- Delta 40.44 ---|MAC|        45.44 ms apart
/// spacing  |MAC|--------------|MAC|--------------|MAC|              40.44 ms apart
/// ```
#[test]
fn macs_time_adds_to_the_delay_of_a_serial_gate_and_hides_in_that_of_spacing() {
    for (gate, first, apart) in [("serial", 40.44, 45.44), ("spacing", 0.0, 40.44)] {
        let mut bench = bench(&[word("ot_gate", gate)]);
        bench.backlog(1, 20);
        let handed = bench.serve(end(2000));
        assert_eq!(handed.len(), 20, "{gate}");
        assert!((handed[0].0 - first).abs() < 1e-3, "{gate}: {handed:?}");
        assert!((spacing(&handed) - apart).abs() < 1e-3, "{gate}: {}", spacing(&handed));
    }
}

/// Two flows of a source have a gate each: while one waits the other goes; together twice as many.
#[test]
fn every_flow_has_a_gate_of_its_own() {
    let mut bench = bench(&[word("ot_gate", "spacing")]);
    bench.backlog(1, 20);
    bench.backlog(2, 20);
    let handed = bench.serve(end(400));
    for flow in [1, 2] {
        let mine: Vec<_> = handed.iter().copied().filter(|(_, of)| *of == flow).collect();
        assert!((spacing(&mine) - 40.44).abs() < 1e-3, "flow {flow}: {mine:?}");
    }
}

/// A gate holds what begins here, and nothing else.
#[test]
fn acknowledgements_and_what_is_forwarded_pass_the_gate_by() {
    let mut bench = bench(&[]);
    bench.backlog(1, 2);
    let forwarded = bench.put(packet(9, 1, 640));
    let ack = bench.put(entering(3, Class::Ack, packet(7, 1, 40)));
    assert_eq!((bench.get(), bench.get(), bench.get()), (Some(ack), Some(forwarded), None));
    assert_eq!(bench.relay.len(), 2);
}

/// A silent flow's part: lost where each has its gate, used where all share one.
#[test]
fn flows_that_share_a_gate_use_the_part_of_a_silent_one() {
    for (shared, apart) in [(false, 40.44), (true, 20.22)] {
        let mut bench = bench(&[word("ot_gate", "spacing"), ("ot_shared", Setting::Flag(shared))]);
        bench.backlog(2, 1);
        bench.serve(end(200));
        bench.backlog(1, 30);
        let handed = bench.serve(end(700));
        assert!((spacing(&handed) - apart).abs() < 1e-3, "shared {shared}: {handed:?}");
    }
    // Both busy: the gate is as open as two are, and each has its part.
    let mut bench = bench(&[word("ot_gate", "spacing"), ("ot_shared", Setting::Flag(true))]);
    bench.backlog(1, 40);
    bench.backlog(2, 40);
    let handed = bench.serve(end(800));
    let first = handed.iter().filter(|(_, flow)| *flow == 1).count();
    assert!((spacing(&handed) - 20.22).abs() < 0.6, "{handed:?}");
    assert!(first.abs_diff(handed.len() - first) <= 1, "{handed:?}");
}

/// The caller tells when N changes: the delay of the packet at the head changes with it.
#[test]
fn a_change_of_n_acts_on_the_packet_that_waits() {
    let mut bench = bench(&[word("ot_N", "oracle")]);
    bench.node.conversations = Some(3);
    bench.backlog(1, 5);
    assert!(bench.relay.asks().conversations);
    assert_eq!((bench.get(), bench.relay.poll_timeout()), (None, Some(Instant::from_nanos(40_440_000))));
    bench.now = end(10);
    bench.node.conversations = Some(1);
    bench.call(|relay, here| relay.handle_timeout(here));
    assert_eq!(bench.relay.poll_timeout(), Some(Instant::from_nanos(13_480_000)));
    // What is left of a flow that is over goes as before.
    bench.node.conversations = None;
    bench.call(|relay, here| relay.handle_timeout(here));
    assert_eq!(bench.relay.poll_timeout(), Some(Instant::from_nanos(13_480_000)));
}

/// Counted along the way: not throttled before anything is known, then by what is.
#[test]
fn a_source_goes_by_what_its_way_has_counted() {
    let mut bench = bench(&[word("ot_N", "counted"), word("ot_gate", "spacing")]);
    assert!(bench.relay.asks().counted && !bench.relay.asks().conversations);
    bench.backlog(1, 20);
    assert_eq!(bench.serve(end(20)).len(), 4, "5 ms each");
    bench.node.counted = Some(3);
    assert!((spacing(&bench.serve(end(400))) - 40.44).abs() < 1e-3);
}

/// schemes.md 4, "Edge cases": N or h unknown, no throttling.
#[test]
fn what_nobody_knows_the_way_of_is_not_throttled() {
    let mut bench = bench(&[]);
    bench.node.hops = None;
    bench.backlog(1, 3);
    assert_eq!(bench.drain().len(), 3);
}
