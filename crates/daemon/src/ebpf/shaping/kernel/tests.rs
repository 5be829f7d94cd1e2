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
        finds: false,
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
        self.run_by("meshpace_shape", ip, v6)
    }

    fn run_by(&mut self, name: &str, ip: &[u8], v6: bool) -> Ran {
        let frame = framed(ip, v6, &[]);
        let header = frame.len() - ip.len();
        let context = Context::new().with(INGRESS_IFINDEX, self.from);
        let ran = trying::run(&mut self.kernel.programs, name, &frame, &context);
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

    fn told(&mut self) -> Vec<Measurement> {
        std::iter::from_fn(|| self.kernel.told()).collect()
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
    // An agreement for a host goes before one for its prefix.
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

/// A QUIC packet between a server and a host, by its first byte.
fn quic(host: IpAddr, into: bool, first: u8) -> Vec<u8> {
    let mut bytes = packet(host, 5_000);
    let (addresses, ports, udp) = if host.is_ipv6() { (8..40, 40..44, 40) } else { (12..20, 20..24, 20) };
    bytes[if host.is_ipv6() { 6 } else { 9 }] = 17;
    bytes[ports.clone()].copy_from_slice(&[1, 187, 0x13, 0x88]);
    bytes[udp + 4..udp + 6].copy_from_slice(&500u16.to_be_bytes());
    bytes[udp + 8] = first;
    if !into {
        for range in [addresses, ports] {
            let middle = (range.end - range.start) / 2;
            bytes[range].rotate_left(middle);
        }
    }
    bytes
}

fn pause() {
    std::thread::sleep(std::time::Duration::from_millis(2));
}

#[test]
fn what_leaves_is_told_now_and_then_where_a_rate_is_found() {
    let Some(mut bench) = bench() else { return };
    let together = "10.0.0.64/26".parse().expect("a prefix");
    let counted = Agreed { together: Some(together), ..NOTHING };
    bench.kernel.agree_on_prefixes(&[(together, counted)]).expect("bpf");
    bench.put(address(65), 1);
    assert_eq!(bench.told(), [], "the rate is given");
    bench.set(|shaping| shaping.finds = true);
    // Out of the mesh; and from mesh to mesh, which comes out of it and goes in again.
    let up = packet(address(200), 1);
    (0..2).for_each(|_| drop(bench.run_by("meshpace_hear", &up, false)));
    bench.from = MESH;
    bench.run(&up, false);
    bench.from = WIRED;
    let before = monotonic_now();
    bench.put(address(65), 1);
    match bench.told()[..] {
        [Measurement::Left { at, host, to, sums, of_host, alone }] => {
            assert_eq!((host, to), (address(64), address(65)));
            assert!(alone.is_some_and(|since| since >= before), "{alone:?}");
            assert!(at >= before && sums.work >= at + PACKET, "{sums:?}");
            assert_eq!((sums.cost, sums.bytes, of_host, sums.uplink), (2_000, 2_000, 2_000, 1_000));
            assert_eq!(bench.kernel.all(monotonic_now()).map(|all| all.sums).ok(), Some(sums));
        }
        ref other => panic!("{other:?}"),
    }
    // Twenty milliseconds later again.
    let begun = monotonic_now();
    (0..200).for_each(|port| drop(bench.put(address(65), port)));
    let passed = monotonic_now() - begun;
    let told = bench.told().len() as u64;
    assert!(told <= passed.as_micros() / 1_000 / 20 + 1, "{told} in {passed:?}");
}

/// By connection, as the rate's finder has it of the shaper on NFQUEUE.
#[test]
fn company_is_told_and_packets_of_calls() {
    let Some(mut bench) = bench() else { return };
    bench.set(|shaping| shaping.finds = true);
    let datagram = |port: u16, bytes: u16| {
        let mut datagram = packet(address(3), port);
        datagram.truncate(usize::from(bytes));
        datagram[2..4].copy_from_slice(&bytes.to_be_bytes());
        datagram[9] = 17;
        datagram
    };
    // What is told after a packet.
    let mut tells = |packet: Vec<u8>| {
        std::thread::sleep(std::time::Duration::from_millis(21));
        bench.run(&packet, false);
        match bench.told()[..] {
            [Measurement::Left { alone, sums, .. }] => (alone, sums.calls),
            ref other => panic!("{other:?}"),
        }
    };
    let (first, _) = tells(packet(address(1), 1));
    assert!(first.is_some());
    assert_eq!(tells(packet(address(1), 1)).0, first, "the same connection");
    let (other, calls) = tells(packet(address(1), 2));
    assert!(other > first && calls == 0, "another one");
    assert_eq!(tells(datagram(7, 100)), (other, 0), "as short as an acknowledgement");
    // A call's packet waits for no turn, not even behind one.
    assert_eq!([101, 400].map(|bytes| tells(datagram(8, bytes))), [(None, 1), (None, 2)]);
    assert_eq!([(); 2].map(|()| tells(datagram(9, 401))), [(None, 3); 2], "the second waits for its turn");
    assert!(tells(packet(address(1), 2)).0 > other, "the only one again");
    let (spins, calls) = tells(quic(address(4), true, 0b0100_0001));
    assert!(spins > other && calls == 3, "QUIC is a connection");
}

#[test]
fn spin_bits_are_told_as_they_turn() {
    let Some(mut bench) = bench() else { return };
    bench.set(|shaping| shaping.finds = true);
    for host in [address(1), [0xfd00, 0, 0, 0, 0, 0, 0, 1].into()] {
        let v6 = host.is_ipv6();
        let mut seen = |into: bool, first: u8| {
            pause();
            let name = if into { "meshpace_shape" } else { "meshpace_hear" };
            bench.run_by(name, &quic(host, into, first), v6);
            let turns = bench.told().into_iter().find(|told| !matches!(told, Measurement::Left { .. }));
            turns.map(|told| match told {
                Measurement::SpinInto(_, of, key, bit) => {
                    assert_eq!((of, key.wireless.address, key.wireless.port), (host, host, 5_000));
                    (true, bit)
                }
                Measurement::SpinOut(_, key, bit) => {
                    assert_eq!((key.wireless.address, key.wired.port), (host, 443));
                    (false, bit)
                }
                Measurement::Left { .. } => unreachable!(),
            })
        };
        const LOW: u8 = 0b0100_0001;
        const HIGH: u8 = 0b0110_0001;
        assert_eq!(seen(false, LOW), None, "what answers nothing");
        assert_eq!(
            [LOW, LOW, HIGH, HIGH].map(|first| seen(true, first)),
            [None, None, Some((true, true)), None]
        );
        assert_eq!(
            [LOW, HIGH, LOW].map(|first| seen(false, first)),
            [None, Some((false, true)), Some((false, false))]
        );
        // A long header, and version 1's fixed bit unset.
        assert_eq!([0b1100_0000, 0b0010_0000].map(|first| seen(true, first)), [None, None]);
        assert_eq!(seen(true, LOW), Some((true, false)));
        // A packet that ends with its UDP header: what stands behind it is not of it.
        let mut padded = quic(host, true, HIGH);
        let (at, length) = if v6 { (4, 8u16) } else { (2, 28) };
        padded[at..at + 2].copy_from_slice(&length.to_be_bytes());
        pause();
        bench.run_by("meshpace_shape", &padded, v6);
        let turns = bench.told().iter().any(|told| !matches!(told, Measurement::Left { .. }));
        assert!(!turns, "{padded:02x?}");
    }
    // One that turns with every packet does not spin: a thousand turns a second are told at the most.
    let begun = monotonic_now();
    for first in [0b0100_0001, 0b0110_0001].repeat(200) {
        bench.run(&quic(address(2), true, first), false);
    }
    let passed = monotonic_now() - begun;
    let turns = bench.told().iter().filter(|told| matches!(told, Measurement::SpinInto(..))).count() as u64;
    assert!(turns <= passed.as_micros() / 1_000 + 1, "{turns} in {passed:?}");
}
