//! The shaper behind the engine, on real bytes.

use super::*;
use meshpace_tcp::{Flags, Options, Segment};
use meshpace_units::{Seq, Span};
use meshpace_wire::build;
use std::net::Ipv4Addr;

const INTERNET: [u8; 4] = [192, 0, 2, 1];
const UDP: u8 = 17;

/// Hosts of 10.77.1.0/24 are paced, all others watched; a megabit a second for all of them, by bytes.
const SHAPED: &str = "[mesh]\nsubnets = [\"10.77.0.0/16\"]\nrate = \"2Mbps\"\n[hops]\nsources = []\n\
    [[subnet]]\nprefix = \"10.77.1.0/24\"\nmode = \"pace\"\n\
    [hosts]\nrate = \"1Mbps\"\nby = \"bytes\"\nquantum = 1250\n";

fn config(text: &str) -> Arc<Config> {
    Arc::new(Config::parse("test.toml", text.as_bytes()).unwrap_or_else(|error| panic!("{error}")))
}

fn ms(n: u64) -> Instant {
    Instant::ZERO + Span::from_millis(n)
}

/// A UDP packet of so many bytes, to a host of the mesh or from it.
fn udp(from: [u8; 4], to: [u8; 4], length: u16, ecn: Ecn) -> Vec<u8> {
    let [high, low] = length.to_be_bytes();
    let mut packet = vec![0x45, ecn.bits(), high, low, 0, 0, 0, 0, 64, UDP, 0, 0];
    packet.extend([from, to].concat());
    packet.extend([0x13, 0x88, 0, 53]);
    packet.resize(length.into(), 0);
    packet
}

fn down(host: u8, subnet: u8) -> Vec<u8> {
    udp(INTERNET, [10, 77, subnet, host], 1_250, Ecn::NotEct)
}

struct World {
    engine: ShapedEngine,
    next: u64,
}

impl World {
    fn new(text: &str) -> Self {
        let config = config(text);
        Self { engine: ShapedEngine::new(config.clone(), 400, Directory::fixed(config)), next: 0 }
    }

    /// Hands bytes in; true if they wait.
    fn hand_in(&mut self, now: Instant, bytes: &[u8]) -> bool {
        self.next += 1;
        let mut bytes = bytes.to_vec();
        let arrival =
            Arrival { id: self.next, from_mesh: false, to_mesh: false, unfinished: false, bytes: &mut bytes };
        match self.engine.handle(now, arrival) {
            Decision::Accept | Decision::Rewrite(_) => false,
            Decision::Hold => true,
            Decision::Drop => panic!("nothing is dropped here"),
        }
    }

    /// Hands the same in so many times at 0: all wait.
    fn fill(&mut self, packets: u32, bytes: &[u8]) {
        (0..packets).for_each(|_| assert!(self.hand_in(ms(0), bytes)));
    }

    fn outputs(&mut self, now: Instant) -> Vec<Output> {
        std::iter::from_fn(|| self.engine.poll(now)).collect()
    }

    /// The names of what leaves until then, with the times.
    fn left_until(&mut self, end: Instant) -> Vec<(Instant, u64)> {
        let mut left = Vec::new();
        while let Some(due) = self.engine.poll_timeout().filter(|due| *due <= end) {
            self.engine.handle_timeout(due);
            left.extend(self.outputs(due).into_iter().map(|output| match output {
                Output::Release { id, bytes: None, due: allowed } => {
                    assert!(allowed <= due);
                    (due, id)
                }
                other => panic!("{other:?}"),
            }));
        }
        left
    }
}

/// ```text
/// in at 0: 1 2 3 (a watched host), 4 5 6 (a paced one); out: 1 4 2 5 3 6, 10 ms each
/// ```
#[test]
fn whatever_goes_into_the_mesh_waits_by_host_paced_or_watched() {
    let mut w = World::new(SHAPED);
    for host in [[2, 1], [1, 1]] {
        (0..3).for_each(|_| assert!(w.hand_in(ms(0), &down(host[1], host[0]))));
    }
    let times = [(0, 1), (10, 4), (20, 2), (30, 5), (40, 3), (50, 6)];
    let mut left = w.outputs(ms(0)).len();
    assert_eq!(left, 1);
    let rest = w.left_until(ms(100));
    left += rest.len();
    assert_eq!(left, 6);
    assert_eq!(rest, times[1..].iter().map(|(at, id)| (ms(*at), *id)).collect::<Vec<_>>());
    let told = w.engine.hosts(ms(100)).expect("hosts are shaped");
    assert_eq!((told.known, told.counters.packets, told.queued), (2, 6, 0));
}

#[test]
fn what_comes_from_the_mesh_or_does_not_cross_passes() {
    let mut w = World::new(SHAPED);
    assert!(!w.hand_in(ms(0), &udp([10, 77, 1, 1], INTERNET, 1_250, Ecn::NotEct)));
    assert!(!w.hand_in(ms(0), &udp([10, 77, 1, 1], [10, 77, 2, 1], 1_250, Ecn::NotEct)));
    assert!(!w.hand_in(ms(0), &udp(INTERNET, [192, 0, 2, 9], 1_250, Ecn::NotEct)));
    assert!(!w.hand_in(ms(0), &[0x55; 40]), "what nobody can read");
    assert!(w.hand_in(ms(0), &down(1, 1)));
}

#[test]
fn nothing_is_shaped_while_nothing_is_paced_or_no_rate_is_given() {
    for text in [SHAPED.replace("\"pace\"", "\"observe\""), SHAPED.replace("\"1Mbps\"", "\"off\"")] {
        let mut w = World::new(&text);
        assert!((0..20).all(|_| !w.hand_in(ms(0), &down(1, 1))));
        assert!(w.engine.hosts(ms(0)).is_none());
    }
}

#[test]
fn a_prefix_counts_as_one_host_and_has_one_cap() {
    let text = SHAPED.replace("mode = \"pace\"", "mode = \"pace\"\ntogether = true\ncap = \"250kbps\"");
    let mut w = World::new(&format!("{text}target = \"10s\"\nlongest = \"10s\"\n"));
    for host in 1..=4 {
        w.hand_in(ms(0), &down(host, 1));
    }
    w.fill(30, &down(1, 2));
    w.outputs(ms(0));
    let left = w.left_until(ms(199));
    // Of the prefix: at 0, and then every 40 ms; the other has the rest of the megabit.
    assert_eq!(left.iter().filter(|(_, id)| *id <= 4).count(), 3);
    assert_eq!(left.len(), 19);
    assert_eq!(w.engine.hosts(ms(199)).expect("hosts are shaped").known, 2);
}

#[test]
fn what_has_waited_too_long_is_marked_in_its_bytes_or_dropped() {
    for ecn in [Ecn::Ect0, Ecn::NotEct] {
        let mut w = World::new(SHAPED);
        let packet = udp(INTERNET, [10, 77, 1, 1], 1_250, ecn);
        w.fill(10, &packet);
        let (mut marked, mut dropped) = (0, 0);
        for n in 1..60 {
            for output in w.outputs(ms(10 * n)) {
                match output {
                    Output::Release { bytes: Some(bytes), .. } => {
                        assert_eq!(meshpace_wire::outline(&bytes).expect("a packet").ecn, Ecn::Ce);
                        marked += 1;
                    }
                    Output::Drop { .. } => dropped += 1,
                    _ => {}
                }
            }
            w.hand_in(ms(10 * n), &packet);
        }
        assert_eq!((marked > 1, dropped > 1), (ecn == Ecn::Ect0, ecn == Ecn::NotEct), "{ecn:?}");
    }
}

fn data(seq: u32) -> Vec<u8> {
    let flags = Flags { ack: true, ..Flags::NONE };
    let segment =
        Segment { ack: Seq(1), flags, window: 60_000, payload: 1_000, ..Segment::new(80, 5000, Seq(seq)) };
    build(Ipv4Addr::from(INTERNET).into(), Ipv4Addr::new(10, 77, 1, 1).into(), 62, &segment, &[7; 1_000])
}

fn ack(ack: u32) -> Vec<u8> {
    let flags = Flags { ack: true, ..Flags::NONE };
    let segment =
        Segment { ack: Seq(ack), flags, window: 60_000, payload: 0, ..Segment::new(5000, 80, Seq(1)) };
    build(Ipv4Addr::new(10, 77, 1, 1).into(), Ipv4Addr::from(INTERNET).into(), 62, &segment, &[])
}

/// A paced flow's packets wait for their law first, and then for their host's turn; each leaves once. With flows = "free" the law
/// has no say.
#[test]
fn a_flow_keeps_the_pace_of_its_law_unless_flows_are_free() {
    for (flows, pending) in [("paced", true), ("free", false)] {
        let text = format!("{SHAPED}flows = \"{flows}\"\n[gateway]\ngap_window = \"receiver\"\n");
        let mut w = World::new(&text.replace("rate = \"1Mbps\"", "rate = \"100Mbps\""));
        w.hand_in(ms(0), &data(1));
        w.outputs(ms(0));
        // A round trip of 400 ms over 4 hops: the law's interval is long.
        assert!(!w.hand_in(ms(400), &ack(1_001)));
        for n in 1..=4 {
            assert!(w.hand_in(ms(401), &data(1_000 * n + 1)));
        }
        let at_once = w.outputs(ms(402)).len();
        assert_eq!(at_once < 4, pending, "{flows}: {at_once}");
        let later = w.left_until(ms(5_000)).len();
        assert_eq!(at_once + later, 4, "{flows}");
    }
}

/// A packet of QUIC with a short header, to host 1 or from it.
fn quic(down: bool, bit: bool) -> Vec<u8> {
    let ends = ([10, 77, 1, 1], INTERNET);
    let (from, to) = if down { (ends.1, ends.0) } else { ends };
    let mut packet = udp(from, to, 1_250, Ecn::NotEct);
    let (source, destination) = if down { (443u16, 5000u16) } else { (5000, 443) };
    packet[20..22].copy_from_slice(&source.to_be_bytes());
    packet[22..24].copy_from_slice(&destination.to_be_bytes());
    packet[24..26].copy_from_slice(&1_230u16.to_be_bytes());
    packet[28] = 0x40 | u8::from(bit) << 5;
    packet
}

/// Nothing waits in the mesh: every 20 ms a segment and its acknowledgement, and a packet of QUIC whose bit turns each time.
#[test]
fn a_rate_is_found_by_segments_and_spin_bits() {
    let text = SHAPED.replace("rate = \"1Mbps\"", "rate = \"auto\"\nrate_max = \"3Mbps\"");
    let mut w = World::new(&format!("{text}flows = \"free\"\n"));
    for n in 0..200u32 {
        let at = ms(20 * u64::from(n));
        w.hand_in(at, &data(1_000 * n + 1));
        w.hand_in(at, &quic(true, n % 2 == 1));
        (0..15).for_each(|ms| drop(w.outputs(at + Span::from_millis(ms))));
        assert!(!w.hand_in(at + Span::from_millis(15), &ack(1_000 * n + 1_001)));
        assert!(!w.hand_in(at + Span::from_millis(15), &quic(false, n % 2 == 0)));
    }
    let report = w.engine.hosts(ms(4_000)).expect("hosts are shaped");
    let found = report.found.expect("the rate is found");
    assert!(found.tcp > 150 && found.spin > 150, "{found:?}");
    assert!(!found.is_blind);
    let rate = report.config.rate.as_bits_per_sec();
    assert!((1_000_001..=3_000_000).contains(&rate), "{rate}");
    // Another bound holds at once; what was found stays.
    w.engine.reload(ms(4_000), config(&text.replace("3Mbps", "900kbps")));
    let rate = w.engine.hosts(ms(4_000)).expect("hosts are shaped").config.rate;
    assert_eq!(rate.as_bits_per_sec(), 900_000);
}

/// A rate that is found begins at what downloads get, where they get more than it begins at; and where it was, once there was one.
#[test]
fn a_rate_that_is_found_begins_at_what_the_mesh_is_known_to_carry() {
    let paces = SHAPED.replace("rate = \"1Mbps\"", "rate = \"auto\"");
    let watches = paces.replace("mode = \"pace\"", "mode = \"observe\"");
    let mut w = World::new(&watches);
    let rate = |w: &World, at| w.engine.hosts(at).map(|report| report.config.rate.as_bits_per_sec());
    for n in 0..12_000u32 {
        let at = ms(u64::from(n));
        assert!(!w.hand_in(at, &data(1_000 * n + 1)));
        assert!(!w.hand_in(at + Span::from_micros(900), &ack(1_000 * n + 1_001)));
    }
    assert_eq!(rate(&w, ms(12_000)), None);
    w.engine.reload(ms(12_000), config(&paces));
    let begins = rate(&w, ms(12_000)).expect("hosts are shaped");
    assert!((7_000_000..9_000_000).contains(&begins), "8 Mbit/s were acknowledged: {begins}");
    w.engine.reload(ms(12_000), config(&watches));
    w.engine.reload(ms(60_000), config(&paces));
    assert_eq!(rate(&w, ms(60_000)), Some(begins), "as it was left");
    // Where nothing is known it is what the file's default says, and a given rate is that.
    assert_eq!(rate(&World::new(&paces), ms(0)), Some(1_000_000));
    w.engine.reload(ms(60_000), config(SHAPED));
    assert_eq!(rate(&w, ms(60_000)), Some(1_000_000));
}

/// Datagrams alone: the host that they go to is asked behind them, by its own address, and its answers are those of the prefix that it counts as.
#[test]
fn a_rate_is_found_by_echoes_where_only_datagrams_go() {
    let together = "[[subnet]]\nprefix = \"10.77.2.0/28\"\ntogether = true\n";
    let text = SHAPED.replace("rate = \"1Mbps\"", "rate = \"auto\"\nrate_max = \"3Mbps\"\nprobes = 10");
    let mut w = World::new(&format!("{text}flows = \"free\"\n{together}"));
    let (mut asked, to) = (0, IpAddr::from([10, 77, 2, 3]));
    for n in 0..300u64 {
        w.hand_in(ms(10 * n), &down(3, 2));
        for at in 10 * n..10 * n + 10 {
            w.outputs(ms(at));
            let requests: Vec<_> = w.engine.requests().collect();
            for Request { to: asked_of, number } in requests {
                assert_eq!(asked_of, to);
                w.engine.on_echo(ms(at + 2), IpAddr::from([10, 77, 3, 3]), number);
                w.engine.on_echo(ms(at + 2), to, number);
                asked += 1;
            }
        }
    }
    let found = w.engine.hosts(ms(3_000)).and_then(|report| report.found).expect("the rate is found");
    assert_eq!((found.probes, found.asked), (asked, asked));
    assert!((14..=15).contains(&asked), "five a second: {asked}");
    assert!(!found.is_blind);
    w.engine.reload(ms(3_000), config(&text.replace("probes = 10", "probes = 0")));
    w.hand_in(ms(3_500), &down(3, 2));
    w.outputs(ms(3_500));
    assert_eq!(w.engine.requests().count(), 0, "none is to be asked");
}

#[test]
fn a_reload_without_a_shaper_lets_go_what_waits_in_order() {
    let mut w = World::new(SHAPED);
    for n in 0..6 {
        w.hand_in(ms(u64::from(n)), &down(n % 3 + 1, 2));
    }
    assert_eq!(w.outputs(ms(5)).len(), 1);
    w.engine.reload(ms(6), config(&SHAPED.replace("\"1Mbps\"", "\"off\"")));
    let ids: Vec<u64> = w
        .outputs(ms(6))
        .into_iter()
        .map(|output| match output {
            Output::Release { id, bytes: None, .. } => id,
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(ids, [2, 3, 4, 5, 6]);
    assert!(!w.hand_in(ms(7), &down(1, 2)));
    // And back: what is there is shaped again.
    w.engine.reload(ms(8), config(SHAPED));
    assert!(w.hand_in(ms(8), &down(1, 2)));
}

#[test]
fn letting_go_empties_the_shaper() {
    let mut w = World::new(SHAPED);
    w.fill(9, &down(1, 1));
    w.engine.let_go(ms(0));
    assert_eq!(w.outputs(ms(0)).len(), 9);
    assert_eq!(w.engine.shaping(), 0);
}

/// A packet of ten segments that is not cut yet waits as one, and the round trips of all of them begin when it leaves.
#[test]
fn what_the_kernel_has_in_one_piece_waits_and_leaves_so() {
    let mut w = World::new(&SHAPED.replace("quantum", "flows = \"free\"\ntarget = \"1ms\"\nquantum"));
    assert!(w.hand_in(ms(0), &down(9, 1)), "the air is taken for 10 ms");
    let ends = (Ipv4Addr::from(INTERNET).into(), Ipv4Addr::new(10, 77, 1, 1).into());
    let segment = |ports: (u16, u16)| Segment {
        flags: Flags { ack: true, ..Flags::NONE },
        window: 60_000,
        ..Segment::new(ports.0, ports.1, Seq(1))
    };
    let data = Segment { payload: 14_600, ..segment((80, 5000)) };
    let mut bytes = build(ends.0, ends.1, 62, &data, &vec![0; 14_600]);
    bytes[1] |= Ecn::Ect0.bits();
    w.next += 1;
    let arrival = Arrival { id: 2, from_mesh: false, to_mesh: false, unfinished: true, bytes: &mut bytes };
    assert_eq!(w.engine.handle(ms(0), arrival), Decision::Hold);
    assert!(w.hand_in(ms(0), &down(9, 1)));
    assert_eq!(w.outputs(ms(0)).len(), 1);
    assert_eq!(w.left_until(ms(12)), [(ms(10), 2)]);
    for (i, at) in [(2, 12), (10, 15)] {
        let ack = Segment { ack: Seq(1 + i * 1_460), ..segment((5000, 80)) };
        assert!(!w.hand_in(ms(at), &build(ends.1, ends.0, 62, &ack, &[])));
    }
    let flow = w.engine.engine().flows().remove(0);
    assert_eq!((flow.stats.samples.0, flow.down.packets), (2, 10));
    assert!(flow.stats.wireless_rtt.is_some_and(|rtt| rtt <= Span::from_millis(5)), "{:?}", flow.stats);
    assert_eq!(w.left_until(ms(200)), [(ms(130), 3)], "ten packets of 1,500 bytes were before it");
}

/// A segment between host 2 of the watched subnet, which uploads, and the Internet.
fn of_upload(up: bool, segment: Segment, payload: usize) -> Vec<u8> {
    let (host, server) = (Ipv4Addr::new(10, 77, 2, 2).into(), Ipv4Addr::from(INTERNET).into());
    let ends = if up { (host, server) } else { (server, host) };
    let ports = if up { (6_000, 80) } else { (80, 6_000) };
    let segment = Segment { source_port: ports.0, destination_port: ports.1, ..segment };
    build(ends.0, ends.1, 62, &Segment { payload: payload as u32, ..segment }, &vec![7; payload])
}

/// The handshake of the upload: windows of the Internet's side count 128 bytes.
fn shake_hands(w: &mut World) {
    for up in [true, false] {
        let options = Options { mss: Some(1_000), window_scale: Some(7), ..Options::default() };
        let flags = Flags { syn: true, ack: !up, ..Flags::NONE };
        let ack = Seq(u32::from(!up));
        let syn = Segment { options, flags, ack, window: 60_000, ..Segment::new(0, 0, Seq(0)) };
        w.hand_in(ms(0), &of_upload(up, syn, 0));
        drop(w.outputs(ms(0)));
    }
}

/// Host 1 fetches as much as it gets, host 2 sends twice as much, for so long: how many acknowledgements to host 2 had a smaller window than they came
/// with, the last of them, and how many packets did not pass, among them datagrams of host 3, which sends as much.
fn beside_a_download(text: &str, shakes_hands: bool, datagrams: bool) -> (u32, Option<u16>, u32) {
    let mut w = World::new(text);
    if shakes_hands {
        shake_hands(&mut w);
    }
    let (mut next, mut ends) = (0, BTreeMap::new());
    let (mut lower, mut last, mut dropped) = (0, None, 0);
    for n in 0..400u32 {
        let at = ms(10 * u64::from(n));
        // Some wait, and none too long.
        while w.engine.shaping() < 12 {
            w.hand_in(at, &data(1_000 * next + 1));
            next += 1;
            ends.insert(w.next, 1_000 * next + 1);
        }
        for k in 0..3 {
            let flags = Flags { ack: true, ..Flags::NONE };
            let sent = Segment {
                ack: Seq(1),
                flags,
                window: 500,
                ..Segment::new(0, 0, Seq(1 + 1_000 * (3 * n + k)))
            };
            let datagram = udp([10, 77, 2, 3], INTERNET, 1_250, Ecn::NotEct);
            for mut bytes in
                [of_upload(true, sent, 1_000), datagram].into_iter().take(if datagrams { 2 } else { 1 })
            {
                w.next += 1;
                let (id, bytes) = (w.next, &mut bytes[..]);
                let arrival = Arrival { id, from_mesh: false, to_mesh: false, unfinished: false, bytes };
                dropped += u32::from(matches!(w.engine.handle(at, arrival), Decision::Drop));
            }
        }
        let flags = Flags { ack: true, ..Flags::NONE };
        let answer =
            Segment { ack: Seq(1 + 3_000 * (n + 1)), flags, window: 4_000, ..Segment::new(0, 0, Seq(1)) };
        let answer = of_upload(false, answer, 0);
        assert!(w.hand_in(at, &answer));
        let (name, mut acked) = (w.next, None);
        for output in (0..10).flat_map(|ms| w.outputs(at + Span::from_millis(ms))) {
            let Output::Release { id, bytes, .. } = output else { continue };
            if id == name {
                let Some(bytes) = bytes else { continue };
                let window = meshpace_wire::parse(&bytes).expect("it stays TCP").segment.window;
                assert!(meshpace_wire::checksum_ok(&bytes) && window < 4_000, "{window}");
                let old = meshpace_wire::parse(&answer).expect("it is").segment;
                assert_eq!(meshpace_wire::parse(&bytes).expect("it is").segment, Segment { window, ..old });
                (lower, last) = (lower + 1, Some(window));
            } else {
                acked = ends.remove(&id).or(acked);
            }
        }
        if let Some(end) = acked {
            w.hand_in(at + Span::from_millis(9), &ack(end));
        }
    }
    (lower, last, dropped)
}

/// Windows of the upload are written into what passes, checksums included, while the download wants more; not where uploads are free, a rate is
/// given or the SYNs were not seen. Datagrams that come beside that are dropped now and then.
#[test]
fn a_host_that_sends_too_much_is_told_so_in_the_acknowledgements_to_it() {
    let patient = "target = \"10s\"\nlongest = \"100s\"\n";
    let found = SHAPED.replace("rate = \"1Mbps\"", "rate = \"auto\"") + patient;
    let (lower, last, dropped) = beside_a_download(&found, true, false);
    assert!(lower > 50 && last.is_some_and(|last| last < 2_000), "{lower} {last:?}");
    assert_eq!(dropped, 0);
    assert_eq!(beside_a_download(&format!("{found}uploads = \"free\"\n"), true, true), (0, None, 0));
    assert_eq!(beside_a_download(&format!("{SHAPED}{patient}"), true, true), (0, None, 0));
    let (lower, _, dropped) = beside_a_download(&found, false, true);
    assert!(lower == 0 && (2..400).contains(&dropped), "{lower} {dropped}");
}
