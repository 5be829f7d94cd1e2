//! The shaper that knows departure times alone (`bpf/include/shares.h`): who gets how much, and when. The C is compiled for this machine: it
//! is the text that clang makes eBPF of, with a clock that the test moves.

#[path = "../../../../bpf/compiled.rs"]
mod compiled;

use compiled::compiled;
use meshpace_codel::{Codel, Config, Queue};
use meshpace_units::{Bytes, Instant, Span};
use proptest::prelude::*;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::LazyLock;

const MTU: u64 = 1_500;
const SECOND: u64 = 1_000_000_000;
const MS: u64 = 1_000_000;
const LONGEST: u64 = 250 * MS;

static COMPILED: LazyLock<PathBuf> = LazyLock::new(|| {
    compiled(
        env!("CARGO_MANIFEST_DIR"),
        "tests/shaper/by_departure.c",
        Path::new(env!("CARGO_TARGET_TMPDIR")),
    )
});

/// What became of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Became {
    Leaves(u64),
    Marked(u64),
    Late,
    Crowd,
}

/// The program, asked a line at a time.
struct Shaper {
    child: Child,
    asks: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Shaper {
    /// With this rate, bit/s, and CoDel's usual parameters.
    fn new(rate: u64) -> Self {
        let mut child = Command::new(&*COMPILED)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("it was compiled");
        let (asks, answers) = (child.stdin.take().expect("piped"), child.stdout.take().expect("piped"));
        let mut shaper = Self { child, asks, answers: BufReader::new(answers) };
        let byte = per_byte(rate);
        shaper.ask('o', [0, 1 << 20, u64::from(((byte * MTU) >> 10).ilog2().max(21)), 0, 0]);
        shaper.ask('s', [byte, LONGEST, (16 * MTU * byte) >> 10, 5 * MS, 100 * MS]);
        shaper
    }

    fn agree(mut self, host: u64, cap: Option<u64>, weight: u64, price: u64) -> Self {
        self.ask('t', [host, cap.map_or(0, per_byte), weight, price * 256, 0]);
        self
    }

    fn ask(&mut self, what: char, numbers: [u64; 5]) -> Became {
        let [a, b, c, d, e] = numbers;
        writeln!(self.asks, "{what} {a} {b} {c} {d} {e}").expect("it reads");
        let mut answer = String::new();
        self.answers.read_line(&mut answer).expect("it answers");
        let (became, departure) = answer.trim().split_once(' ').expect("two numbers");
        let departure = departure.parse().expect("a number");
        match became {
            "0" => Became::Leaves(departure),
            "1" => Became::Marked(departure),
            "2" => Became::Late,
            _ => Became::Crowd,
        }
    }

    /// A packet comes.
    fn put(&mut self, now: u64, (host, flow): (u64, u64), size: u64) -> Became {
        self.ask('p', [host, flow, now, size, 0])
    }
}

impl Drop for Shaper {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn per_byte(rate: u64) -> u64 {
    (8_000_000_000 << 10) / rate
}

/// A sender, and its results.
#[derive(Debug)]
struct Flow {
    name: (u64, u64),
    size: u64,
    /// A packet each time after so long; otherwise a window that grows by one a round trip, and loses three tenths with a packet (RFC 9438).
    every: Option<u64>,
    window: f64,
    until: f64,
    out: u32,
    cut: u64,
    departures: Vec<u64>,
    waits: Vec<u64>,
}

impl Flow {
    fn of(host: u64, flow: u64) -> Self {
        let (departures, waits) = (Vec::new(), Vec::new());
        Self {
            name: (host, flow),
            size: MTU,
            every: None,
            window: 10.0,
            until: f64::INFINITY,
            out: 0,
            cut: 0,
            departures,
            waits,
        }
    }

    fn download(host: u64, flow: u64) -> Self {
        Self::of(host, flow)
    }

    fn at(host: u64, flow: u64, size: u64, rate: u64) -> Self {
        Self { size, every: Some(size * 8 * SECOND / rate), ..Self::of(host, flow) }
    }

    /// The rate that the flow got between two times, bit/s.
    fn rate(&self, from: u64, to: u64) -> u64 {
        let got = self.departures.iter().filter(|at| (from..to).contains(at)).count() as u64;
        got * self.size * 8 * SECOND / (to - from)
    }
}

const ROUND_TRIP: u64 = 40 * MS;

/// When something happens, in which order, to which flow, and whether a packet was acknowledged or lost; else it sends its next.
type Event = (u64, u64, usize, Option<bool>);

/// Lets them send until then: downloads beyond 40 ms of round trip besides what their packets wait.
fn run(shaper: &mut Shaper, flows: &mut [Flow], end: u64) {
    let mut events: BinaryHeap<Reverse<Event>> = BinaryHeap::new();
    let mut number = 0;
    let mut push = |events: &mut BinaryHeap<_>, at, flow, what| {
        number += 1;
        events.push(Reverse((at, number, flow, what)));
    };
    // They do not begin all at once.
    (0..flows.len()).for_each(|n| push(&mut events, n as u64 * 7 * MS, n, None));
    while let Some(Reverse((now, _, n, acked))) = events.pop() {
        if now >= end {
            return;
        }
        let flow = &mut flows[n];
        if let Some(acked) = acked {
            flow.out -= 1;
            if acked {
                flow.window += if flow.window < flow.until { 1.0 } else { 1.0 / flow.window };
            } else if now >= flow.cut {
                flow.until = (flow.window * 0.7).max(1.0);
                (flow.window, flow.cut) = (flow.until, now + ROUND_TRIP);
            }
        }
        while flow.every.is_some() || flow.out < flow.window as u32 {
            let became = shaper.put(now, flow.name, flow.size);
            flow.out += 1;
            let then = match became {
                Became::Leaves(at) | Became::Marked(at) => {
                    flow.departures.push(at);
                    flow.waits.push(at - now);
                    (at + ROUND_TRIP, true)
                }
                // What is behind a lost one tells of it; the last one is missed by a timer, not by all at the same time.
                Became::Late | Became::Crowd if flow.out > 3 => (now + ROUND_TRIP, false),
                Became::Late | Became::Crowd => {
                    (now + 800 * MS + (now * 7 + n as u64 * 13) % (400 * MS), false)
                }
            };
            match flow.every {
                None => push(&mut events, then.0, n, Some(then.1)),
                Some(every) => {
                    push(&mut events, now + every, n, None);
                    break;
                }
            }
        }
    }
}

const FROM: u64 = 3 * SECOND;
const END: u64 = 15 * SECOND;

/// What each host got in the rest of the time, in parts of the rate.
fn parts(rate: u64, mut shaper: Shaper, flows: &mut [Flow]) -> BTreeMap<u64, f64> {
    run(&mut shaper, flows, END);
    let mut parts = BTreeMap::new();
    for flow in flows {
        *parts.entry(flow.name.0).or_default() += flow.rate(FROM, END) as f64 / rate as f64;
    }
    parts
}

const RATES: [u64; 2] = [1_000_000, 20_000_000];

fn near(part: f64, wanted: f64, off: f64) -> bool {
    (part - wanted).abs() <= off * wanted
}

#[test]
fn one_download_gets_what_twenty_of_another_host_get() {
    for rate in RATES {
        let mut flows: Vec<_> = (0..20).map(|n| Flow::download(2, n)).collect();
        flows.push(Flow::download(1, 0));
        let parts = parts(rate, Shaper::new(rate), &mut flows);
        assert!(parts.values().all(|part| near(*part, 0.5, 0.1)), "{rate}: {parts:?}");
        assert!(near(parts.values().sum(), 1.0, 0.02), "{rate}: {parts:?}");
        // Nor has any of the twenty less than half of its part of that, or more than twice: two packets a second at the lower rate.
        let got: Vec<u64> = flows[..20].iter().map(|flow| flow.rate(FROM, END)).collect();
        let part = got.iter().sum::<u64>() / 20;
        assert!(got.iter().all(|got| (part / 2..=2 * part).contains(got)), "{rate}: {got:?}");
    }
}

#[test]
fn a_flood_takes_its_share_and_no_more() {
    for rate in RATES {
        let mut flows = [Flow::download(1, 0), Flow::at(2, 0, MTU, 3 * rate)];
        let parts = parts(rate, Shaper::new(rate), &mut flows);
        assert!(parts[&1] >= 0.9 * 0.5 && parts[&2] <= 1.1 * 0.5, "{rate}: {parts:?}");
    }
}

/// None of its flows waits for long behind its own packets.
#[test]
fn a_flood_of_many_flows_takes_no_more_either() {
    let rate = RATES[1];
    let mut flows: Vec<_> = (0..250).map(|n| Flow::at(2, n, MTU, 3 * rate / 250)).collect();
    flows.push(Flow::download(1, 0));
    let parts = parts(rate, Shaper::new(rate), &mut flows);
    assert!(parts[&1] >= 0.9 * 0.5 && parts[&2] <= 1.1 * 0.5, "{parts:?}");
}

#[test]
fn what_sends_little_does_not_wait() {
    for rate in RATES {
        for host in [1, 2] {
            let mut flows: Vec<_> = (0..4).map(|n| Flow::download(2, n)).collect();
            flows.push(Flow::at(host, 9, 200, 80_000));
            run(&mut Shaper::new(rate), &mut flows, END);
            // Fifty a second; not those beside the downloads' first windows.
            let mut waits = flows[4].waits.split_off(100);
            waits.sort_unstable();
            let late = waits[waits.len() * 99 / 100];
            assert!(late <= 5 * MS, "{rate}, of host {host}: {late} ns");
        }
    }
}

/// The rules of `calls.rs`, here by departures. At this rate a call sends more than a fifth of what its host has, with four downloads.
#[test]
fn a_call_does_not_wait_for_downloads_of_its_own_host_nor_of_another() {
    let rate = 350_000;
    for host in [1, 2] {
        let mut flows: Vec<_> = (0..4).map(|n| Flow::download(2, n)).collect();
        flows.push(Flow::at(host, 9, 200, 80_000));
        let parts = parts(rate, Shaper::new(rate), &mut flows);
        let late = flows[4].waits.iter().filter(|wait| **wait > 0).count();
        assert!(late * 100 < flows[4].waits.len(), "of host {host}: {late}");
        // What leaves ahead of the others is paid for: all together keep the rate.
        let sum: f64 = parts.values().sum();
        assert!(sum > 0.9 && sum < 1.02, "of host {host}: {parts:?}");
    }
}

/// It has three quarters of its own host at the most before its turn comes, and nothing of another.
#[test]
fn bulk_in_short_packets_takes_nothing_from_another_host() {
    for rate in RATES {
        let mut flows = [Flow::at(1, 0, 400, rate), Flow::download(1, 1), Flow::download(2, 0)];
        let parts = parts(rate, Shaper::new(rate), &mut flows);
        assert!(parts.values().all(|part| near(*part, 0.5, 0.1)), "{rate}: {parts:?}");
        let [short, long] = [0, 1].map(|n| flows[n].rate(FROM, END) as f64 / rate as f64);
        assert!(short < 0.45 && long > 0.05, "{rate}: {short} beside {long}");
    }
}

/// Forty hosts talk at once, for which there is no room: their packets wait.
#[test]
fn calls_do_not_exceed_the_rate() {
    let rate = RATES[0];
    let mut flows: Vec<_> = (0..40).map(|host| Flow::at(host, 0, 200, 80_000)).collect();
    let parts = parts(rate, Shaper::new(rate), &mut flows);
    assert!(near(parts.values().sum(), 1.0, 0.02), "{parts:?}");
}

/// Acknowledgements, and packets that are no longer short, wait as ever.
#[test]
fn other_lengths_take_turns() {
    for (size, waits) in [(60, true), (101, false), (400, false), (401, true)] {
        let mut shaper = Shaper::new(RATES[0]);
        for _ in 0..20 {
            shaper.put(SECOND, (1, 1), MTU);
        }
        let [_, second] = [(); 2].map(|()| shaper.put(SECOND, (1, 2), size));
        assert_eq!(second != Became::Leaves(SECOND), waits, "{size}");
    }
}

#[test]
fn weights_are_shares_caps_are_kept_and_what_costs_more_is_less() {
    for rate in RATES {
        let two = || [Flow::download(1, 0), Flow::download(2, 0)];
        let of = |shaper: Shaper| parts(rate, shaper, &mut two());
        let weighted = of(Shaper::new(rate).agree(2, None, 3, 1));
        assert!(near(weighted[&1], 0.25, 0.15) && near(weighted[&2], 0.75, 0.1), "{rate}: {weighted:?}");
        let capped = of(Shaper::new(rate).agree(2, Some(rate / 10), 1, 1));
        assert!(near(capped[&2], 0.1, 0.05) && capped[&1] > 0.75, "{rate}: {capped:?}");
        let dear = of(Shaper::new(rate).agree(2, None, 1, 4));
        assert!(near(dear[&1], 0.5, 0.1) && near(dear[&2], 0.125, 0.1), "{rate}: {dear:?}");
    }
}

#[test]
fn two_hundred_downloads_of_twenty_hosts_all_get_something_soon() {
    let rate = RATES[0];
    let mut flows: Vec<_> = (0..200).map(|n| Flow::download(n / 10, n % 10)).collect();
    let parts = parts(rate, Shaper::new(rate), &mut flows);
    assert!(near(parts.values().sum(), 1.0, 0.02), "{parts:?}");
    assert!(parts.values().all(|part| near(*part, 0.05, 0.3)), "{parts:?}");
    let mut waits: Vec<_> = flows.iter().flat_map(|flow| flow.waits.iter().copied()).collect();
    waits.sort_unstable();
    assert!(waits[waits.len() * 95 / 100] <= 300 * MS);
    for host in 0..20 {
        let mut at: Vec<_> =
            flows.iter().filter(|flow| flow.name.0 == host).flat_map(|flow| &flow.departures).collect();
        at.sort_unstable();
        let gap = at.windows(2).map(|pair| pair[1] - pair[0]).max();
        assert!(gap.is_some_and(|gap| gap < 5 * SECOND), "host {host}: {gap:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    /// For any senders: no more leaves than the rate allows in that time and twice the longest wait. Where several flows wait, no packet waits for
    /// longer than that. The packets of a flow stay in order.
    #[test]
    fn no_more_leaves_than_the_rate(
        packets in prop::collection::vec((0u64..4, 0u64..6, 40u64..1_501, 0u64..3 * MS), 100..600),
    ) {
        let rate = 4_000_000;
        let mut shaper = Shaper::new(rate);
        let (mut now, mut left, mut latest) = (SECOND, Vec::new(), BTreeMap::new());
        for (host, flow, size, gap) in packets {
            now += gap;
            if let Became::Leaves(at) | Became::Marked(at) = shaper.put(now, (host, flow), size) {
                prop_assert!(at >= now && at - now <= 2 * LONGEST);
                let before = latest.insert((host, flow), at).unwrap_or_default();
                prop_assert!(at >= before, "a flow's packets keep their order");
                left.push((at, size));
            }
        }
        left.sort_unstable();
        // Of every stretch of time: a bucket that never is fuller than twice the longest wait.
        let (mut full, mut since) = (0, left[0].0);
        for (at, size) in left {
            full = u64::saturating_sub(full, (at - since) * rate / 8 / SECOND) + size;
            since = at;
            prop_assert!(full <= rate / 8 * 2 * LONGEST / SECOND + 2 * MTU, "{full}");
        }
    }

    /// CoDel as packets come says of each what CoDel at the head of a queue says of it.
    #[test]
    fn what_is_dropped_as_it_comes_would_have_been_dropped_at_the_head(
        bursts in prop::collection::vec((1usize..150, 0u64..2_000, any::<bool>()), 1..12),
    ) {
        let (service, target, interval) = (MS, 5 * MS, 40 * MS);
        let (mut now, mut arrivals) = (SECOND, Vec::new());
        for (packets, gap, capable) in bursts {
            for n in 0..packets as u64 {
                now += gap * 1_000 + n % 7;
                arrivals.push((now, capable));
            }
        }
        let mut shaper = Shaper::new(MS);
        let mut free = 0;
        let as_they_come: Vec<_> = arrivals
            .iter()
            .map(|(at, capable)| {
                let leaves = free.max(*at);
                let became = shaper.ask('c', [leaves, leaves - at, target, interval, u64::from(*capable)]);
                if became != Became::Late {
                    free = leaves + service;
                }
                became
            })
            .collect();
        let config =
            Config { target: Span::from_nanos(target), interval: Span::from_nanos(interval), spared: Bytes::ZERO };
        let mut queue = Head { waiting: arrivals.iter().copied().enumerate().collect(), now: 0, became: BTreeMap::new() };
        let mut law = Codel::default();
        let mut free = 0;
        while let Some((_, (at, _))) = queue.waiting.front() {
            queue.now = free.max(*at);
            if law.dequeue(Instant::from_nanos(queue.now), &config, &mut queue).is_some() {
                free = queue.now + service;
            }
        }
        let at_the_head: Vec<_> =
            (0..arrivals.len()).map(|n| queue.became.get(&n).copied().unwrap_or(Became::Leaves(0))).collect();
        prop_assert_eq!(as_they_come, at_the_head);
    }
}

/// A queue with packets that have come, and others that will.
struct Head {
    waiting: VecDeque<(usize, (u64, bool))>,
    now: u64,
    became: BTreeMap<usize, Became>,
}

impl Queue for Head {
    type Packet = (usize, (u64, bool));

    fn pop(&mut self) -> Option<Self::Packet> {
        self.waiting.front().filter(|(_, (at, _))| *at <= self.now)?;
        self.waiting.pop_front()
    }

    fn since(packet: &Self::Packet) -> Instant {
        Instant::from_nanos(packet.1.0)
    }

    /// Whether others will have come by then is not known as a packet comes.
    fn backlog(&self) -> Bytes {
        Bytes(u64::MAX)
    }

    fn mark(&mut self, packet: &mut Self::Packet) -> bool {
        if packet.1.1 {
            self.became.insert(packet.0, Became::Marked(0));
        }
        packet.1.1
    }

    fn drop(&mut self, packet: Self::Packet) {
        self.became.insert(packet.0, Became::Late);
    }
}
