use super::*;
use meshpace_tcp::{Flags, Segment};
use meshpace_units::{Seq, Span};
use std::net::{IpAddr, Ipv4Addr};

const CONFIG: &str = "mode = \"pace\"\n[mesh]\nsubnets = [\"10.77.0.0/16\"]\nrate = \"2Mbps\"\n\
    [hops]\nsources = []\ndefault = 4\n[gateway]\ngap_window = \"receiver\"\n";
const MESH: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 77, 0, 1));
const INTERNET: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1));

#[derive(Debug, PartialEq, Eq)]
enum Verdict {
    Accept(u32),
    Rewrite(u32),
    Drop(u32),
}
use Verdict::{Accept, Drop, Rewrite};

#[derive(Default)]
struct Recorder(Vec<Verdict>);

impl Outlet for Recorder {
    fn accept(&mut self, id: PacketId) {
        self.0.push(Accept(id.0));
    }

    fn accept_with(&mut self, id: PacketId, _: &[u8]) {
        self.0.push(Rewrite(id.0));
    }

    fn drop(&mut self, id: PacketId) {
        self.0.push(Drop(id.0));
    }
}

struct World {
    dispatcher: Dispatcher,
    verdicts: Recorder,
}

impl World {
    fn new() -> Self {
        let config = Arc::new(Config::parse("test.toml", CONFIG.as_bytes()).expect("a right file"));
        Self {
            dispatcher: Dispatcher::new(config.clone(), Directory::fixed(config)),
            verdicts: Recorder::default(),
        }
    }

    fn packet(down: bool, seq: u32, ack: u32, payload: u32) -> Vec<u8> {
        let flags = Flags { ack: true, ..Flags::NONE };
        Self::with_flags(down, seq, ack, payload, flags)
    }

    fn syn(down: bool) -> Vec<u8> {
        let flags = Flags { syn: true, ack: down, ..Flags::NONE };
        Self::with_flags(down, 0, 1, 0, flags)
    }

    fn with_flags(down: bool, seq: u32, ack: u32, payload: u32, flags: Flags) -> Vec<u8> {
        let (ends, ports) =
            if down { ((INTERNET, MESH), (80, 5000)) } else { ((MESH, INTERNET), (5000, 80)) };
        let segment = Segment {
            ack: Seq(ack),
            flags,
            window: 60_000,
            payload,
            ..Segment::new(ports.0, ports.1, Seq(seq))
        };
        meshpace_wire::build(ends.0, ends.1, 62, &segment, &vec![7; payload as usize])
    }

    fn decide(&mut self, now: Instant, id: u32, mut bytes: Vec<u8>) -> Vec<Verdict> {
        let length = bytes.len() as u32;
        let packet = Queued {
            id: PacketId(id),
            indev: None,
            outdev: None,
            length,
            unfinished: false,
            payload: &mut bytes,
        };
        self.dispatcher.decide(now, packet, &mut self.verdicts);
        std::mem::take(&mut self.verdicts.0)
    }

    fn on_time(&mut self, now: Instant) -> Vec<Verdict> {
        self.dispatcher.on_time(now, &mut self.verdicts);
        std::mem::take(&mut self.verdicts.0)
    }

    /// A flow with a pace of about 30 ms, whose packets `first + 2` and `first + 3` are held since 40 ms.
    fn holding(&mut self, first: u32) {
        assert_eq!(self.decide(ms(0), first - 1, Self::packet(true, 1, 1, 1000)), [Accept(first - 1)]);
        assert_eq!(self.decide(ms(40), first, Self::packet(false, 1, 1001, 0)), [Accept(first)]);
        let data = |i: u32| Self::packet(true, 1 + i * 1000, 1, 1000);
        assert_eq!(self.decide(ms(40), first.wrapping_add(1), data(1)), [Accept(first.wrapping_add(1))]);
        assert_eq!(self.decide(ms(40), first.wrapping_add(2), data(2)), []);
        assert_eq!(self.decide(ms(40), first.wrapping_add(3), data(3)), []);
    }
}

fn ms(n: u64) -> Instant {
    Instant::ZERO + Span::from_millis(n)
}

#[test]
fn held_packets_leave_under_the_kernels_numbers_across_their_wrap() {
    let mut w = World::new();
    w.holding(u32::MAX - 2);
    assert_eq!(w.on_time(ms(41)), [], "not yet");
    assert_eq!(w.on_time(ms(72)), [Accept(u32::MAX)]);
    assert_eq!(w.on_time(ms(120)), [Accept(0)]);
    w.dispatcher.sent(ms(120), ms(121), 2);
    assert_eq!((w.dispatcher.counters().lateness.count(), w.dispatcher.counters().verdict_batches), (2, 1));
    assert_eq!(w.dispatcher.engine().held(), 0);
}

#[test]
fn a_failure_lets_everything_go_on_in_order_and_is_got_over() {
    let mut w = World::new();
    for (id, down) in [(7, false), (8, true)] {
        assert_eq!(w.decide(ms(0), id, World::syn(down)), [Accept(id)]);
    }
    w.holding(10);
    // A duplicate ACK at the end of time: the guard of its repair lies behind that, which panics in this build.
    let end = Instant::from_nanos(u64::MAX - 1);
    let verdicts = w.decide(end, 14, World::packet(false, 1, 1001, 0));
    assert_eq!(w.dispatcher.counters().failed, 1, "{verdicts:?}");
    assert_eq!(verdicts, [Accept(12), Accept(13), Accept(14)]);
    assert_eq!((w.dispatcher.engine().flow_count(), w.dispatcher.engine().held()), (0, 0));
    w.holding(20);
    assert_eq!(w.on_time(ms(72)), [Accept(22)]);
}

#[test]
fn at_the_end_everything_passes() {
    let mut w = World::new();
    w.holding(10);
    w.dispatcher.let_pass(ms(41), &mut w.verdicts);
    assert_eq!(std::mem::take(&mut w.verdicts.0), [Accept(12), Accept(13)]);
    for id in 14..20 {
        assert_eq!(w.decide(ms(41), id, World::packet(true, id * 1000, 1, 1000)), [Accept(id)]);
    }
    assert_eq!((w.on_time(ms(1_000)), w.dispatcher.wake_at()), (vec![], None));
}
