//! The program in the running kernel (BPF_PROG_TEST_RUN): packets in, packets and departure times out.
#![allow(clippy::disallowed_methods, reason = "the kernel's clock has to advance")]

use super::*;
use crate::ebpf::loading::ETHERNET_HEADER;
use crate::ebpf::trying::{self, Context, INGRESS_IFINDEX, MESH, NEXT, Ran, framed, with_rights};
use meshpace_linux::monotonic_now;
use meshpace_tcp::{Flags, Segment};
use meshpace_units::{Bytes, Rate, Seq, Span};

const SHOT: u32 = 2;
const WIRED: u32 = 77;
/// A packet of a thousand bytes takes two seconds: longer than a busy machine lets a test wait between two of them.
const RATE: Rate = Rate::bits_per_sec(4_000);
const PACKET: Span = Span::from_secs(2);

const NOTHING: Agreed = Agreed { cap: None, weight: 1, price: 1.0, together: None };

struct Bench {
    kernel: Kernel,
    shaping: Shaping,
    from: u32,
}

/// The program, acting. `None` (and a word about it) without root's rights.
fn bench() -> Option<Bench> {
    let mut kernel = with_rights(Kernel::load(Sizes { hosts: 16, flows: 64 }))?;
    kernel.programs.headers.insert(MESH, ETHERNET_HEADER, 0).expect("a place in the map");
    let shaping = Shaping {
        alive_until: monotonic_now() + Span::from_secs(3_600),
        rate: RATE,
        longest: Span::from_secs(100),
        fewest: Bytes::ZERO,
        target: Span::from_secs(100),
        interval: Span::from_secs(100),
        overhead: Bytes::ZERO,
        places: 1_000,
        shift: 29,
        otherwise: NOTHING,
    };
    let mut bench = Bench { kernel, shaping, from: WIRED };
    bench.set(|_| ());
    Some(bench)
}

impl Bench {
    fn set(&mut self, change: impl FnOnce(&mut Shaping)) {
        change(&mut self.shaping);
        self.kernel.set(&self.shaping).expect("bpf");
    }

    fn run(&mut self, ip: &[u8], v6: bool) -> Ran {
        let frame = framed(ip, v6, &[]);
        let header = frame.len() - ip.len();
        let context = Context::new().with(INGRESS_IFINDEX, self.from);
        let ran = trying::run(&mut self.kernel.programs, "meshpace_shape", &frame, &context);
        Ran { packet: ran.packet[header..].to_vec(), ..ran }
    }

    /// A thousand bytes for a host's port.
    fn put(&mut self, host: IpAddr, port: u16) -> Ran {
        let packet = packet(host, port);
        self.run(&packet, host.is_ipv6())
    }

    /// Which packets of a host's port wait, and for how many packets' time, about.
    fn waits(&mut self, host: IpAddr, port: u16) -> Option<u64> {
        let now = monotonic_now();
        let departure = self.put(host, port).departure?;
        Some((departure.saturating_since(now).as_secs_f64() / PACKET.as_secs_f64()).ceil() as u64)
    }

    fn host(&self, host: IpAddr) -> Option<KernelHost> {
        self.kernel.hosts(monotonic_now()).find(|(known, _)| *known == host).map(|(_, host)| host)
    }
}

fn address(last: u8) -> IpAddr {
    [10, 0, 0, last].into()
}

/// A thousand bytes of TCP with an IP header.
fn packet(host: IpAddr, port: u16) -> Vec<u8> {
    let v6 = host.is_ipv6();
    let server: IpAddr = if v6 { [0xfd00, 1, 0, 0, 0, 0, 0, 9].into() } else { [192, 0, 2, 9].into() };
    let payload = 1_000 - if v6 { 60 } else { 40 };
    let flags = Flags { ack: true, ..Flags::NONE };
    let segment = Segment { flags, window: 1000, payload, ..Segment::new(80, port, Seq(1)) };
    meshpace_wire::build(server, host, 60, &segment, &vec![0xab; payload as usize])
}

#[test]
fn packets_leave_at_the_rate_and_hosts_and_flows_share_it() {
    let Some(mut bench) = bench() else { return };
    assert_eq!([(); 4].map(|()| bench.waits(address(1), 1)), [None, Some(1), Some(2), Some(3)]);
    // Another host, and a flow more of it: each at once first, then at half of the rate, and at a quarter; a little later, as what was
    // ordered before leaves beside it.
    let [first, second, third] = [(); 3].map(|()| bench.waits(address(2), 1));
    assert_eq!((first, second), (None, Some(2)));
    assert!(third.is_some_and(|third| (4..=5).contains(&third)), "{third:?}");
    let [first, second] = [(); 2].map(|()| bench.waits(address(2), 2));
    assert!(first.is_none() && second.is_some_and(|second| (4..=5).contains(&second)), "{second:?}");
    let host = bench.host(address(2)).expect("known");
    assert_eq!((host.shaped.packets, host.shaped.bytes, host.flows), (5, Bytes(5_000), 2));
    let all = bench.kernel.all(monotonic_now()).expect("bpf");
    assert_eq!((all.shaped.packets, all.shaped.cost, all.waiting), (9, 9_000, 6));
}

#[test]
fn whatever_goes_into_the_mesh_is_shaped_and_nothing_else() {
    let Some(mut bench) = bench() else { return };
    let v6: IpAddr = [0xfd00, 0, 0, 0, 0, 0, 0, 1].into();
    assert_eq!([(); 2].map(|()| bench.waits(v6, 1)), [None, Some(1)]);
    // Not TCP; not whole.
    for (at, byte) in [(9, 17), (9, 47), (6, 0x20)] {
        let mut other = packet(address(3), 1);
        other[at] = byte;
        bench.run(&other, false);
    }
    assert_eq!(bench.host(address(3)).map(|host| host.shaped.packets), Some(3));
    // Of the gateway itself, from mesh to mesh, and when nobody renews the settings.
    for from in [0, MESH] {
        bench.from = from;
        assert_eq!(bench.put(v6, 1).departure, None);
    }
    bench.from = WIRED;
    assert!(bench.put(v6, 1).departure.is_some());
    bench.set(|shaping| shaping.alive_until = monotonic_now());
    let ran = bench.put(v6, 1);
    assert_eq!((ran.verdict, ran.departure), (NEXT, None));
    assert_eq!(bench.host(v6).map(|host| host.shaped.packets), Some(3));
}

#[test]
fn what_the_configuration_and_the_daemon_agree_about_hosts_holds() {
    let Some(mut bench) = bench() else { return };
    let prefix = |text: &str| text.parse::<IpNet>().expect("a prefix");
    let (wide, together) = (prefix("10.0.0.0/24"), prefix("10.0.0.64/26"));
    let capped = Agreed { cap: Some(Rate::bits_per_sec(2_000)), ..NOTHING };
    let counted = Agreed { weight: 2, together: Some(together), ..NOTHING };
    bench.kernel.agree_on_prefixes(&[(wide, capped), (together, counted)]).expect("bpf");
    assert_eq!([(); 3].map(|()| bench.waits(address(1), 1)), [None, Some(2), Some(4)], "its cap");
    // Two thirds are theirs, who count as one.
    assert_eq!(bench.waits(address(65), 1), None);
    assert_eq!(bench.host(address(65)), None);
    assert_eq!(bench.host(address(64)).map(|host| host.shaped.packets), Some(1));
    assert_eq!(bench.waits(address(65), 1), Some(2));
    // What is told of a host goes before.
    bench.kernel.agree(address(2), &Agreed { price: 3.0, ..NOTHING });
    bench.kernel.agree_on_prefixes(&[]).expect("bpf");
    bench.put(address(2), 1);
    assert_eq!(bench.kernel.all(monotonic_now()).map(|all| all.shaped.cost).ok(), Some(8_000));
    assert_eq!(bench.waits(address(200), 1), None);
    bench.kernel.disagree(address(2));
    bench.put(address(2), 2);
    assert_eq!(bench.kernel.all(monotonic_now()).map(|all| all.shaped.cost).ok(), Some(10_000));
}

#[test]
fn what_waits_too_long_is_marked_or_dropped() {
    let Some(mut bench) = bench() else { return };
    bench.set(|shaping| {
        (shaping.longest, shaping.target, shaping.interval) =
            (Span::from_secs(40), Span::from_secs(1), Span::from_secs(1));
    });
    let mut capable = packet(address(1), 1);
    capable[1] = 2; // ECT(0), and the header's checksum by RFC 1624
    let sum = u16::from_be_bytes([capable[10], capable[11]]) - 2;
    capable[10..12].copy_from_slice(&sum.to_be_bytes());
    // 0, 2, 4, 6 s late and so on. The target is one and a half of a round of 3 s, which is passed at 6 s, the interval two targets: 15 s.
    let ran = [(); 9].map(|()| bench.run(&capable, false));
    let marks: Vec<u8> = ran.iter().map(|ran| ran.packet[1] & 3).collect();
    assert_eq!(marks, [2, 2, 2, 2, 2, 2, 2, 2, 3]);
    assert!(meshpace_wire::checksum_ok(&ran[8].packet) && ran.iter().all(|ran| ran.verdict == NEXT));
    // What cannot be marked is dropped at 25 s, an interval later; and whatever would wait for longer than 40.
    let verdicts = [(); 16].map(|()| bench.put(address(1), 1).verdict);
    assert_eq!(
        (verdicts[..4].contains(&SHOT), verdicts[4..6].contains(&SHOT), verdicts[15]),
        (false, true, SHOT)
    );
    let all = bench.kernel.all(monotonic_now()).expect("bpf").shaped;
    assert_eq!((all.packets + all.dropped, all.marked), (25, 1));
    assert!(all.dropped > all.crowded && all.crowded > 0, "{all:?}");
    // Where all places are taken others go on, but wait for none.
    bench.set(|shaping| shaping.places = 0);
    assert_eq!([(); 2].map(|()| bench.put(address(2), 1).verdict), [NEXT, SHOT]);
}
