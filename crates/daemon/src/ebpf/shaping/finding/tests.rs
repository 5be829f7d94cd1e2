//! The very text of the shaper's program (`bpf/include/shares.h`, compiled for this machine) at the rate that is found, before a link of one
//! rate with a queue.

#[path = "../../../../../../bpf/compiled.rs"]
mod compiled;

use super::*;
use compiled::compiled;
use meshpace_gateway::{Endpoint, FlowKey};
use std::collections::{BTreeSet, VecDeque};
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::LazyLock;

const SIZE: u64 = 1_500;
const MS: u64 = 1_000_000;
/// Packets of a host that wait for their departure, if it wants more: what a queue under CoDel comes to.
const WANTED: usize = 4;
/// Of the way without its queue.
const ROUND_TRIP: u64 = 20 * MS;
const FIND: Find = Find {
    least: Rate::bits_per_sec(200_000),
    most: Rate::bits_per_sec(100_000_000),
    stands: Span::from_millis(20),
    probes: 10,
};

static PROGRAM: LazyLock<PathBuf> = LazyLock::new(|| {
    let source = "../gateway/tests/shaper/by_departure.c";
    compiled(env!("CARGO_MANIFEST_DIR"), source, &std::env::temp_dir())
});

/// The program, asked a line at a time.
struct Program {
    child: Child,
    asks: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Program {
    fn new() -> Self {
        let mut child =
            Command::new(&*PROGRAM).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("compiled");
        let (asks, answers) = (child.stdin.take().expect("piped"), child.stdout.take().expect("piped"));
        let mut program = Self { child, asks, answers: BufReader::new(answers) };
        program.ask('o', [0, 1 << 20, 22, 0, 0]);
        program
    }

    /// What became of it, and a time.
    fn ask(&mut self, what: char, [a, b, c, d, e]: [u64; 5]) -> (bool, u64) {
        writeln!(self.asks, "{what} {a} {b} {c} {d} {e}").expect("it reads");
        let mut answer = String::new();
        self.answers.read_line(&mut answer).expect("it answers");
        let (became, time) = answer.trim().split_once(' ').expect("two numbers");
        (became == "0" || became == "1", time.parse().expect("a number"))
    }

    fn go_by(&mut self, rate: Rate) {
        let byte = per_byte(rate);
        self.ask('s', [byte, 250 * MS, (16 * SIZE * byte) >> 10, 5 * MS, 100 * MS]);
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn per_byte(rate: Rate) -> u64 {
    (8_000_000_000 << 10) / rate.as_bits_per_sec()
}

/// What a host tells of its round trips.
#[derive(Clone, Copy, PartialEq)]
enum Says {
    Truth,
    /// All but three of a hundred are so much longer.
    Late(u64),
    /// Nothing but echoes.
    Echoes,
}

/// A host that always wants more.
struct Wants {
    says: Says,
    /// Departures that are ordered.
    ordered: VecDeque<u64>,
    told: u64,
    bytes: u64,
    arrived: u64,
    cap: Option<Rate>,
}

struct Mesh {
    now: u64,
    program: Program,
    finding: Finding,
    rate: Rate,
    hosts: Vec<Wants>,
    sums: Sums,
    /// When the link has sent all that is in its queue.
    busy: u64,
    waits: Vec<u64>,
    /// Round trips that end: when, of which host, when that left, or by which number of a request.
    ends: BTreeSet<(u64, usize, u64, Option<u32>)>,
    asked: u64,
    hops: u32,
    /// Since when one connection is alone, and packets of calls.
    alone: Option<Instant>,
    calls: u64,
}

fn at(ns: u64) -> Instant {
    Instant::from_nanos(ns)
}

fn address(host: usize) -> IpAddr {
    [10, 0, 0, host as u8 + 1].into()
}

/// A round trip to a host that has ended.
fn sample(host: usize, ended: u64, rtt: Span) -> Event {
    let ends = |of| Endpoint { address: address(of), port: 1 };
    Event {
        at: at(ended),
        key: FlowKey { wireless: ends(host), wired: ends(200) },
        segment: Bytes(1_448),
        window: None,
        ttl: None,
        told: EventKind::Sample(rtt),
        is_single: false,
    }
}

impl Mesh {
    fn new(rate: u64, hosts: &[Says]) -> Self {
        let begin = Rate::bits_per_sec(1_000_000);
        let mut program = Program::new();
        program.go_by(begin);
        let host = |says: &Says| Wants {
            says: *says,
            ordered: VecDeque::new(),
            told: 0,
            bytes: 0,
            arrived: 0,
            cap: None,
        };
        Self {
            now: 1_000 * MS,
            program,
            finding: Finding::new(FIND, begin, 64),
            rate: Rate::bits_per_sec(rate),
            hosts: hosts.iter().map(host).collect(),
            sums: Sums::default(),
            busy: 0,
            waits: Vec::new(),
            ends: BTreeSet::new(),
            asked: 0,
            hops: 1,
            alone: None,
            calls: 0,
        }
    }

    /// A few packets of each host wait at the gateway.
    fn offer(&mut self) {
        for n in 0..self.hosts.len() {
            while self.hosts[n].ordered.len() < WANTED {
                let (leaves, departure) = self.program.ask('p', [n as u64, 1, self.now, SIZE, 0]);
                if !leaves {
                    break;
                }
                let host = &mut self.hosts[n];
                host.ordered.push_back(departure);
                host.bytes += SIZE;
                self.sums.cost += SIZE;
                self.sums.bytes += SIZE;
                if self.now < host.told + 20 * MS {
                    continue;
                }
                host.told = self.now;
                let work = at(self.program.ask('w', [0; 5]).1);
                let (sums, of_host) = (Sums { work, calls: self.calls, ..self.sums }, host.bytes);
                let (at, host) = (at(self.now), address(n));
                let left = Measurement::Left { at, host, to: host, sums, of_host, alone: self.alone };
                self.finding.on_told(&left, |_| self.hops);
            }
        }
    }

    fn step(&mut self) {
        self.offer();
        let mut left: Vec<_> = Vec::new();
        for (n, host) in self.hosts.iter_mut().enumerate() {
            while let Some(at) = host.ordered.pop_front_if(|at| *at <= self.now) {
                left.push((at, n));
            }
        }
        left.sort_unstable();
        let takes = self.rate.time_to_send(Bytes(SIZE)).expect("a rate").as_nanos();
        for (at, n) in left {
            self.busy = self.busy.max(at) + takes;
            self.waits.push(self.busy - at - takes);
            self.hosts[n].arrived += 1;
            let late = match self.hosts[n].says {
                Says::Truth => 0,
                Says::Late(late) => late * u64::from(self.hosts[n].arrived % 100 >= 3),
                Says::Echoes => continue,
            };
            self.ends.insert((self.busy + ROUND_TRIP + late, n, at, None));
        }
        for request in self.finding.requests().collect::<Vec<_>>() {
            self.asked += 1;
            let n = (0..self.hosts.len()).find(|n| address(*n) == request.to).expect("a host");
            if self.hosts[n].says == Says::Echoes {
                let back = self.busy.max(self.now) + ROUND_TRIP;
                self.ends.insert((back, n, self.now, Some(request.number)));
            }
        }
        self.now += MS;
        while let Some(end) = self.ends.first().copied().filter(|end| end.0 <= self.now) {
            self.ends.remove(&end);
            let (end, n, left, number) = end;
            if let Some(number) = number {
                self.finding.on_echo(at(end), address(n), number);
                continue;
            }
            self.finding.on_event(&sample(n, end, Span::from_nanos(end - left)), address(n));
        }
        self.program.go_by(self.finding.rate());
        for (n, host) in self.hosts.iter_mut().enumerate() {
            let cap = self.finding.cap(at(self.now), address(n));
            if cap != host.cap {
                host.cap = cap;
                self.program.ask('t', [n as u64, cap.map_or(0, per_byte), 1, 256, 0]);
            }
        }
    }

    fn run(&mut self, seconds: u64) {
        (0..seconds * 1_000).for_each(|_| self.step());
    }

    /// What arrives in so many seconds, of what the link carries, by host; and the packets that wait in the middle.
    fn measure(&mut self, seconds: u64) -> (Vec<f64>, f64) {
        self.hosts.iter_mut().for_each(|host| host.arrived = 0);
        self.waits.clear();
        self.run(seconds);
        let packets = self.rate.as_bits_per_sec() as f64 / (8 * SIZE) as f64;
        let of_all = |host: &Wants| host.arrived as f64 / (packets * seconds as f64);
        self.waits.sort_unstable();
        let middle = self.waits[self.waits.len() / 2] as f64 / 1e9;
        (self.hosts.iter().map(of_all).collect(), middle * packets)
    }
}

#[test]
fn the_rate_that_departures_go_by_is_found_and_hosts_share_it() {
    for (rate, hosts) in [(1_000_000, 1), (2_000_000, 2), (8_000_000, 3)] {
        let mut mesh = Mesh::new(rate, &vec![Says::Truth; hosts]);
        mesh.run(8);
        let (shares, waiting) = mesh.measure(10);
        println!("{rate} bit/s: {shares:?}, {waiting} packets wait");
        assert!(shares.iter().sum::<f64>() > 0.9, "{rate}: {shares:?}");
        let even = 1.0 / hosts as f64;
        assert!(shares.iter().all(|share| (0.85..1.15).contains(&(share / even))), "{rate}: {shares:?}");
        let wanted = (0.02 * rate as f64 / 12_000.0).max(4.0);
        assert!(waiting < 1.5 * wanted, "{rate}: {waiting} of {wanted}");
    }
}

/// Packets that wait in the middle of ten seconds, of one connection so far away, beside so many packets of calls a second.
fn waiting(hops: u32, alone: bool, calls: u64) -> f64 {
    let mut mesh = Mesh::new(1_000_000, &[Says::Truth]);
    (mesh.hops, mesh.alone) = (hops, alone.then(|| at(mesh.now)));
    let run = |mesh: &mut Mesh, seconds: u64| {
        for ms in 0..seconds * 1_000 {
            mesh.calls += u64::from(calls > 0 && ms % (1_000 / calls) == 0);
            mesh.step();
        }
    };
    run(&mut mesh, 8);
    mesh.waits.clear();
    run(&mut mesh, 10);
    mesh.waits.sort_unstable();
    mesh.waits[mesh.waits.len() / 2] as f64 * 1e-9 * 1e6 / (8 * SIZE) as f64
}

/// docs/hosts.md, "What the rate follows".
#[test]
fn how_many_packets_may_wait_is_by_hops_company_and_calls() {
    let [near, far] = [3, 4].map(|hops| waiting(hops, true, 0));
    let (beside, talks) = (waiting(3, false, 0), waiting(3, false, 50));
    println!("{near}, {far}, {beside}, {talks} packets wait");
    assert!(
        near > 1.5 * beside && far < 0.8 * beside && talks < 0.8 * beside,
        "{near}, {far}, {beside}, {talks}"
    );
}

#[test]
fn a_link_whose_rate_halves_is_followed() {
    let mut mesh = Mesh::new(2_000_000, &[Says::Truth, Says::Truth]);
    mesh.run(6);
    mesh.rate = Rate::bits_per_sec(1_000_000);
    mesh.run(5);
    let (shares, waiting) = mesh.measure(4);
    println!("half of 2 Mbit/s: {shares:?}, {waiting} packets wait");
    assert!(shares.iter().sum::<f64>() > 0.93 && waiting < 6.0, "{shares:?} {waiting}");
}

#[test]
fn hosts_that_tell_nothing_are_asked_for_echoes() {
    let mut mesh = Mesh::new(2_000_000, &[Says::Echoes]);
    mesh.run(15);
    mesh.asked = 0;
    let (shares, waiting) = mesh.measure(10);
    assert!(shares[0] > 0.9 && waiting < 16.0, "{shares:?} {waiting}");
    assert!((40..=50).contains(&mesh.asked), "five a second: {}", mesh.asked);
    assert!(mesh.finding.found().probes > 60);
}

/// It is believed for some seconds; then it has what its own path seems to carry, and the other one what it leaves.
#[test]
fn a_host_that_lies_harms_nobody_else_for_long() {
    let mut mesh = Mesh::new(2_000_000, &[Says::Truth, Says::Truth]);
    mesh.run(8);
    mesh.hosts[0].says = Says::Late(200 * MS);
    mesh.run(20);
    assert!(mesh.hosts[0].cap.is_some(), "{:?}", mesh.finding.found());
    let (shares, waiting) = mesh.measure(40);
    assert!(shares[1] > 0.8 / 2.0, "{shares:?}");
    assert!(waiting < 12.0, "{waiting}");
}

/// After two seconds of a call six connections begin with ten packets each, and nothing more comes to report on that. Their round trips are
/// long; the rate they were sent at was used.
#[test]
fn a_burst_that_is_counted_leaves_the_rate_what_it_used() {
    let rate = |is_counted: bool| {
        let mut finding = Finding::new(FIND, Rate::bits_per_sec(1_000_000), 4);
        let trip = |finding: &mut Finding, ms: u64, rtt: u64| {
            finding.on_event(&sample(0, ms * MS, Span::from_millis(rtt)), address(0));
        };
        let mut sums = Sums::default();
        for n in 0..100 {
            (sums.cost, sums.bytes) = (sums.cost + 200, sums.bytes + 200);
            let (ms, host) = (1_000 + 20 * n, address(0));
            sums.work = at(ms * MS);
            let left =
                Measurement::Left { at: sums.work, host, to: host, sums, of_host: sums.bytes, alone: None };
            finding.on_told(&left, |_| 1);
            trip(&mut finding, ms, 20);
        }
        (sums.cost, sums.bytes, sums.work) = (sums.cost + 60 * SIZE, sums.bytes + 60 * SIZE, at(3_720 * MS));
        for ms in (3_200..3_280).step_by(20) {
            if is_counted {
                finding.count(at(ms * MS), sums);
            }
            trip(&mut finding, ms, 190);
        }
        finding.rate().as_bits_per_sec()
    };
    let (counted, untold) = (rate(true), rate(false));
    assert!(counted > 300_000 && untold == FIND.least.as_bits_per_sec(), "{counted} {untold}");
}

/// What waits has not left; what comes at a higher rate than leaves is not used.
#[test]
fn the_finder_is_told_what_has_left() {
    let mut finding = Finding::new(FIND, Rate::bits_per_sec(1_000_000), 4);
    let tell = |finding: &mut Finding, ms: u64, packets: u64, waits: u64| {
        let sums = Sums {
            cost: packets * SIZE,
            bytes: packets * SIZE,
            work: at((ms + waits) * MS),
            ..Sums::default()
        };
        let (at, host) = (at(ms * MS), address(0));
        finding.on_told(
            &Measurement::Left { at, host, to: host, sums, of_host: sums.bytes, alone: None },
            |_| 1,
        );
        finding.left / SIZE
    };
    // A packet takes 12 ms.
    assert_eq!(tell(&mut finding, 1_000, 10, 120), 0);
    assert_eq!(tell(&mut finding, 1_060, 10, 60), 5);
    assert_eq!(tell(&mut finding, 1_060, 20, 180), 5);
    assert_eq!(tell(&mut finding, 1_240, 20, 0), 20);
    // Read late, of another table: never less than before.
    assert_eq!(tell(&mut finding, 1_250, 20, 60), 20);
}

#[test]
fn how_far_away_a_host_is_is_looked_up_once_a_second() {
    let mut finding = Finding::new(FIND, Rate::bits_per_sec(1_000_000), 4);
    let mut looked = Vec::new();
    let mut tell = |finding: &mut Finding, n: usize| {
        let (host, sums) = (address(n), Sums::default());
        let left = Measurement::Left { at: at(MS), host, to: host, sums, of_host: 0, alone: None };
        finding.on_told(&left, |host| {
            looked.push(host);
            1
        });
    };
    [0, 0, 1, 0, 1].into_iter().for_each(|n| tell(&mut finding, n));
    finding.retain(|_| true);
    tell(&mut finding, 0);
    assert_eq!(looked, [0, 1, 0].map(address));
}
