//! A hook in front of the engine, on real bytes.

use super::*;
use meshpace_hook::{HookMaker, HookPart, Orders, PacketHook, Ticket, Verdict};
use meshpace_tcp::{Flags, Segment};
use meshpace_units::{Seq, Span};
use meshpace_wire::{build, checksum_ok, parse};
use std::net::Ipv4Addr;

const MESH: Ipv4Addr = Ipv4Addr::new(10, 77, 0, 1);
const INTERNET: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 1);
const MSS: u32 = 1000;

/// Holds what has no payload for 5 ms, unless one behind it sends it on; drops what goes to port 9; and announces a window of 4,000 to the mesh.
#[derive(Debug, Default)]
struct Picky {
    held: Option<Ticket>,
}

impl PacketHook for Picky {
    fn on_packet(
        &mut self,
        direction: Direction,
        ticket: Ticket,
        packet: &Passing<'_>,
        now: Instant,
        orders: &mut Orders,
    ) -> Verdict {
        let segment = packet.segment.expect("TCP");
        if segment.destination_port == 9 {
            return Verdict::Drop;
        }
        match direction {
            Direction::Down => Verdict::Rewrite(Rewrite { window: Some(4_000), mark: false }),
            _ if segment.payload > 0 => {
                self.held.take().into_iter().for_each(|held| orders.pass(held));
                Verdict::Pass
            }
            _ => {
                self.held = Some(ticket);
                Verdict::HoldUntil(now + Span::from_millis(5))
            }
        }
    }
}

static PICKY: HookPart =
    HookPart::new("picky", "For tests.", "nowhere", |_| Some(Box::new(Picky::default())));

const PACE: &str = "mode = \"pace\"\n[mesh]\nsubnets = [\"10.77.0.0/16\"]\nrate = \"2Mbps\"\n\
    [hops]\nsources = [\"static\"]\n[hops.static]\n\"10.77.0.0/16\" = 4\n\
    [gateway]\ngap_window = \"receiver\"\n";

fn config(hooks: bool) -> Arc<Config> {
    configured(PACE, hooks)
}

fn configured(text: &str, hooks: bool) -> Arc<Config> {
    let config = Config::parse("test.toml", text.as_bytes()).unwrap_or_else(|error| panic!("{error}"));
    let hook = hooks.then(|| HookMaker::new(&PICKY, meshpace_keys::Values::default()));
    Arc::new(Config { hook, ..config })
}

fn ms(n: u64) -> Instant {
    Instant::ZERO + Span::from_millis(n)
}

struct World {
    engine: HookedEngine,
    next: u64,
}

#[derive(Debug, PartialEq, Eq)]
enum Out {
    Accept,
    Rewrite(Vec<u8>),
    Hold,
    Drop,
}

impl World {
    fn new() -> Self {
        Self::of(config(true))
    }

    fn of(config: Arc<Config>) -> Self {
        Self { engine: HookedEngine::new(config.clone(), 100, Directory::fixed(config)), next: 0 }
    }

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
}

fn packet(side: Side, port: u16, seq: u32, ack: u32, payload: u32) -> Vec<u8> {
    let (ends, ports) = match side {
        Side::Wired => ((INTERNET, MESH), (80, port)),
        Side::Wireless => ((MESH, INTERNET), (port, 80)),
    };
    let flags = Flags { ack: true, ..Flags::NONE };
    let segment =
        Segment { ack: Seq(ack), flags, window: 60_000, payload, ..Segment::new(ports.0, ports.1, Seq(seq)) };
    build(ends.0.into(), ends.1.into(), 62, &segment, &vec![7; payload as usize])
}

#[test]
fn what_waits_at_the_hook_goes_on_in_its_time_or_before_what_follows() {
    let mut w = World::new();
    w.hand_in(ms(0), &packet(Side::Wireless, 5000, 1, 1, MSS));
    assert_eq!(w.hand_in(ms(1), &packet(Side::Wireless, 5000, 1001, 1, 0)), Out::Hold);
    assert_eq!((w.outputs(ms(1)), w.engine.poll_timeout()), (vec![], Some(ms(6))));
    w.engine.handle_timeout(ms(6));
    assert_eq!(w.outputs(ms(6)), [Output::Release { id: 2, bytes: None, due: ms(6) }]);
    assert_eq!(w.hand_in(ms(7), &packet(Side::Wireless, 5000, 1001, 1, 0)), Out::Hold);
    assert_eq!(w.hand_in(ms(8), &packet(Side::Wireless, 5000, 1001, 1, MSS)), Out::Hold, "behind it");
    let release = |id| Output::Release { id, bytes: None, due: ms(8) };
    assert_eq!(w.outputs(ms(8)), [release(3), release(4)]);
}

#[test]
fn a_rewritten_packet_stays_so_while_the_gateway_holds_it() {
    let mut w = World::new();
    let data = |seq| packet(Side::Wired, 5000, seq, 1, MSS);
    let Out::Rewrite(first) = w.hand_in(ms(0), &data(1)) else { panic!("rewritten") };
    assert_eq!((parse(&first).unwrap().segment.window, checksum_ok(&first)), (4_000, true));
    // Its acknowledgement gives the flow a pace; it waits at the hook before it goes to the Internet.
    assert_eq!(w.hand_in(ms(40), &packet(Side::Wireless, 5000, 1, 1001, 0)), Out::Hold);
    let interval = w.engine.engine().flows()[0].stats.interval.expect("one sample");
    assert!(matches!(w.hand_in(ms(41), &data(1001)), Out::Rewrite(_)));
    assert_eq!(w.hand_in(ms(41), &data(2001)), Out::Hold);
    let due = ms(41) + interval;
    w.engine.handle_timeout(due);
    let left = w.outputs(due);
    let Some(Output::Release { id: 4, bytes: Some(bytes), .. }) = left.last() else { panic!("{left:?}") };
    assert_eq!((parse(bytes).unwrap().segment.window, checksum_ok(bytes)), (4_000, true));
    assert!(w.engine.changed.is_empty());
}

#[test]
fn what_the_hook_drops_never_comes_to_the_gateway() {
    let mut w = World::new();
    assert_eq!(w.hand_in(ms(0), &packet(Side::Wired, 9, 1, 1, MSS)), Out::Drop);
    assert_eq!(w.engine.engine().flow_count(), 0);
}

/// A flow that its host's mode leaves to the shaper of hosts is one that the mode acts on; one that is only watched is not.
#[test]
fn the_hook_sees_flows_that_are_left_to_the_shaper() {
    let shaped = format!("{PACE}[hosts]\nrate = \"1Mbps\"\n");
    let data = packet(Side::Wired, 9, 1, 1, MSS);
    assert_eq!(World::of(configured(&shaped, true)).hand_in(ms(0), &data), Out::Drop);
    let watched = shaped.replace("mode = \"pace\"", "mode = \"observe\"");
    assert_eq!(World::of(configured(&watched, true)).hand_in(ms(0), &data), Out::Accept);
}

#[test]
fn a_hook_that_is_in_force_no_longer_lets_go() {
    let mut w = World::new();
    w.hand_in(ms(0), &packet(Side::Wireless, 5000, 1, 1, MSS));
    assert_eq!(w.hand_in(ms(1), &packet(Side::Wireless, 5000, 1001, 1, 0)), Out::Hold);
    w.engine.reload(ms(2), config(false));
    assert_eq!(w.outputs(ms(2)), [Output::Release { id: 2, bytes: None, due: ms(2) }]);
    assert_eq!(w.hand_in(ms(3), &packet(Side::Wireless, 5000, 1001, 1, 0)), Out::Accept);
}
