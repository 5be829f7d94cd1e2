//! A rate that is found by the delay of a mesh: here a queue before a link of one rate, and a time that an empty way takes.

use super::*;
use meshpace_gateway::{Coming, Echo, Endpoint, Find, FlowKey, Sign};
use meshpace_units::Seq;
use proptest::prelude::*;
use std::collections::{BTreeSet, VecDeque};

const SIZE: u64 = 1_500;
/// The number and the size of a packet of a call.
const CALL: u32 = u32::MAX;
const CALLS: u64 = 200;
pub(super) const FIND: Find = Find {
    least: Rate::bits_per_sec(200_000),
    most: Rate::bits_per_sec(100_000_000),
    stands: Span::from_millis(20),
    probes: 10,
};

fn key(host: u8) -> FlowKey {
    let end = |address, port| Endpoint { address, port };
    FlowKey { wireless: end(address(host), 1), wired: end(address(250), 443) }
}

fn end_of(number: u32) -> Seq {
    Seq(0) + (SIZE as u32 * (number + 1))
}

/// The first that is due, taken out.
fn due(of: &mut BTreeSet<(Instant, u8, u32)>, now: Instant) -> Option<(Instant, u8, u32)> {
    let first = *of.first()?;
    (first.0 <= now).then(|| of.take(&first))?
}

/// What the receiver of a host does with its acknowledgements.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Says {
    Truth,
    /// They come so much later, but one in a hundred.
    Late(Span),
    /// They come at once, whatever is still on its way.
    AtOnce,
    /// None come; it answers requests for echoes, so much later than they come, but for one in a hundred.
    Echoes(Span),
    Nothing,
}

/// Hosts that always want more, and the mesh behind the shaper.
pub(super) struct Mesh {
    pub now: Instant,
    pub shaper: Shaper<(u8, u32)>,
    hosts: Vec<(u8, Says)>,
    pub rate: Rate,
    /// The round trip of a way that is empty.
    empty: Span,
    /// When the link has sent all that is in its queue.
    pub busy: Instant,
    /// Acknowledgements under way.
    acks: BTreeSet<(Instant, u8, u32)>,
    /// Echoes under way, and how many were asked for.
    echoes: BTreeSet<(Instant, u8, u32)>,
    pub asked: u64,
    sent: BTreeMap<u8, u32>,
    arrived: BTreeMap<u8, u32>,
    /// How long packets waited, and those of a call.
    pub waits: Vec<Span>,
    calls: Vec<Span>,
    /// When the packets of a call came that have not left.
    came: VecDeque<Instant>,
}

impl Mesh {
    pub fn new(rate: u64, hosts: &[Says]) -> Self {
        let config = ShaperConfig { find: Some(FIND), ..patient() };
        Self {
            now: ms(1_000),
            shaper: Shaper::new(config),
            hosts: (1..).zip(hosts.iter().copied()).collect(),
            rate: Rate::bits_per_sec(rate),
            empty: Span::from_millis(20),
            busy: Instant::ZERO,
            acks: BTreeSet::new(),
            echoes: BTreeSet::new(),
            asked: 0,
            sent: BTreeMap::new(),
            arrived: BTreeMap::new(),
            waits: Vec::new(),
            calls: Vec::new(),
            came: VecDeque::new(),
        }
    }

    /// A packet of a call with a host.
    fn call(&mut self, host: u8) {
        let (host_of, flow) = (address(host), flow(host, 2));
        let packet = (host, CALL);
        let parcel = Parcel { host: host_of, flow, size: Bytes(CALLS), ecn: Ecn::NotEct, sign: None, packet };
        self.shaper.handle(self.now, parcel, || NEAR);
        self.came.push_back(self.now);
    }

    fn says(&self, host: u8) -> Says {
        self.hosts[usize::from(host) - 1].1
    }

    fn offer(&mut self) {
        for (host, _) in self.hosts.clone() {
            let known = self.shaper.hosts(self.now).find(|stats| stats.host == address(host));
            for _ in known.map_or(0, |stats| stats.queued)..10 {
                let says = self.says(host);
                let number = self.sent.entry(host).or_default();
                let sign = Sign::Segment(key(host), Seq(0) + SIZE as u32 * *number, end_of(*number));
                let sign = (!matches!(says, Says::Echoes(_))).then_some(sign);
                let parcel = Parcel {
                    host: address(host),
                    flow: flow(host, 1),
                    size: Bytes(SIZE),
                    ecn: Ecn::NotEct,
                    sign,
                    packet: (host, *number),
                };
                *number += 1;
                self.shaper.handle(self.now, parcel, || NEAR);
            }
        }
    }

    fn step(&mut self) {
        self.offer();
        while let Some(leaves) = self.shaper.poll(self.now) {
            let Shaped::Passes { packet: (host, number), .. } = leaves else { continue };
            if number == CALL {
                self.busy = self.busy.max(self.now) + self.rate.time_to_send(Bytes(CALLS)).expect("a rate");
                let came = self.came.pop_front().expect("one came");
                self.calls.push(self.busy.saturating_since(came));
                continue;
            }
            let takes = self.rate.time_to_send(Bytes(SIZE)).expect("a rate");
            self.busy = self.busy.max(self.now) + takes;
            self.waits.push(self.busy.saturating_since(self.now) - takes);
            *self.arrived.entry(host).or_default() += 1;
            let back = self.busy + self.empty;
            if let Some(number) = self.shaper.asks(self.now, address(host)) {
                self.asked += 1;
                if let Says::Echoes(late) = self.says(host) {
                    let late = if number % 100 == 0 { Span::ZERO } else { late };
                    self.echoes.insert((back + late, host, number));
                }
            }
            let at = match self.says(host) {
                Says::Truth => back,
                Says::Late(by) => back + if number % 100 < 3 { Span::ZERO } else { by },
                Says::AtOnce => self.now + Span::from_millis(1),
                Says::Echoes(_) | Says::Nothing => continue,
            };
            self.acks.insert((at, host, number));
        }
        self.now += Span::from_millis(1);
        while let Some((at, host, number)) = due(&mut self.acks, self.now) {
            self.shaper.hears(at, Echo::Ack(key(host), end_of(number)));
        }
        while let Some((at, host, number)) = due(&mut self.echoes, self.now) {
            self.shaper.hears(at, Echo::Probe(address(host), number));
        }
    }

    fn run(&mut self, seconds: u64) {
        self.run_with(seconds, |_, _| {});
    }

    /// The same with something done every millisecond, told how many have passed.
    pub fn run_with(&mut self, seconds: u64, mut each: impl FnMut(u64, &mut Self)) {
        for _ in 0..seconds * 1_000 {
            self.step();
            each(self.now.as_nanos() / 1_000_000, self);
        }
    }

    /// The rate that was found, of the link's.
    fn share(&self) -> f64 {
        self.shaper.config().rate.as_bits_per_sec() as f64 / self.rate.as_bits_per_sec() as f64
    }

    /// What arrives in so many seconds, of what the link carries, by host; and the packets that wait in the middle.
    fn measure(&mut self, seconds: u64) -> (Vec<f64>, f64) {
        self.arrived.clear();
        self.waits.clear();
        self.run(seconds);
        let all = seconds as f64 * self.rate.as_bits_per_sec() as f64 / (8 * SIZE) as f64;
        let shares =
            self.hosts.iter().map(|(host, _)| f64::from(self.arrived.get(host).copied().unwrap_or(0)) / all);
        let shares = shares.collect();
        self.waits.sort_unstable();
        let middle = self.waits[self.waits.len() / 2].as_secs_f64();
        (shares, middle * self.rate.as_bits_per_sec() as f64 / (8 * SIZE) as f64)
    }
}

#[test]
fn the_rate_is_found_within_seconds_and_a_few_packets_wait() {
    for rate in [1_000_000, 2_500_000, 8_000_000] {
        let mut mesh = Mesh::new(rate, &[Says::Truth]);
        mesh.run(8);
        // It swings by a fifth around what the link carries.
        assert!((0.7..1.3).contains(&mesh.share()), "{rate}: {}", mesh.share());
        let (shares, waiting) = mesh.measure(10);
        assert!(shares[0] > 0.95, "{rate}: {shares:?}");
        // It is alone over one hop: fourteen, or what comes in 120 ms, four at least, or what comes in 20 ms.
        let a_second = rate as f64 / 12_000.0;
        let wanted = (0.12 * a_second).clamp(4.0, 14.0).max(0.02 * a_second);
        assert!((0.3 * wanted..3.0 * wanted).contains(&waiting), "{rate}: {waiting} of {wanted}");
    }
}

/// At the rate that it begins with, round trips of such a way are a tenth as long as the time between two of them.
#[test]
fn a_fast_way_is_found_within_seconds() {
    for hosts in [&[Says::Truth][..], &[Says::Truth; 2]] {
        let mut mesh = Mesh::new(60_000_000, hosts);
        mesh.empty = Span::from_millis(1);
        mesh.run(8);
        let (shares, _) = mesh.measure(4);
        assert!(shares.iter().sum::<f64>() > 0.9, "{shares:?}");
        // Beside a call, too.
        let mut mesh = Mesh::new(60_000_000, hosts);
        mesh.empty = Span::from_millis(1);
        mesh.run_with(8, |ms, mesh| {
            if ms.is_multiple_of(20) {
                mesh.call(1);
            }
        });
        assert!(mesh.share() > 0.5, "{}", mesh.share());
    }
}

#[test]
fn however_many_hosts_there_are_no_more_waits() {
    let mut mesh = Mesh::new(2_000_000, &[Says::Truth; 12]);
    mesh.run(10);
    let (shares, waiting) = mesh.measure(10);
    assert!(shares.iter().sum::<f64>() > 0.9, "{shares:?}");
    assert!(shares.iter().all(|share| (0.85..1.15).contains(&(share * 12.0))), "{shares:?}");
    assert!(waiting < 16.0, "{waiting}");
}

#[test]
fn a_link_whose_rate_halves_and_comes_back_is_followed() {
    let mut mesh = Mesh::new(2_000_000, &[Says::Truth, Says::Truth]);
    mesh.run(6);
    for rate in [1_000_000, 2_000_000] {
        mesh.rate = Rate::bits_per_sec(rate);
        mesh.run(5);
        assert!((0.8..1.25).contains(&mesh.share()), "{rate}: {}", mesh.share());
        let (shares, waiting) = mesh.measure(3);
        assert!(shares.iter().sum::<f64>() > 0.93, "{rate}: {shares:?}");
        assert!(waiting < 12.0, "{rate}: {waiting}");
    }
}

/// UDP, or TCP whose acknowledgements go another way: nobody knows what waits.
#[test]
fn a_rate_that_nothing_is_measured_at_falls_to_its_least() {
    let mut mesh = Mesh::new(2_000_000, &[Says::Truth]);
    mesh.run(6);
    let before = mesh.share();
    mesh.hosts[0].1 = Says::Nothing;
    mesh.run(2);
    assert!(mesh.share() > 0.8 * before, "not at once");
    mesh.run(8);
    assert_eq!(mesh.shaper.config().rate, FIND.least);
    assert!(mesh.shaper.found().expect("it is found").is_blind);
    mesh.hosts[0].1 = Says::Truth;
    mesh.run(10);
    assert!(mesh.share() > 0.8, "{}", mesh.share());
    assert!(!mesh.shaper.found().expect("it is found").is_blind);
}

/// What hosts send without windows is held by little: beside twice as much of it as goes in, whatever goes in, four times as many packets may wait.
#[test]
fn beside_uploads_more_packets_wait() {
    let waiting = [0, 2].map(|times| {
        let mut mesh = Mesh::new(2_000_000, &[Says::Truth; 2]);
        let uploads = |_, mesh: &mut Mesh| {
            let coming =
                Coming { host: address(9), size: Bytes(250 * times), ecn: Ecn::NotEct, segment: None };
            let _ = mesh.shaper.comes(mesh.now, &coming);
        };
        mesh.run_with(8, uploads);
        mesh.waits.clear();
        mesh.run_with(10, uploads);
        mesh.waits.sort_unstable();
        mesh.waits[mesh.waits.len() / 2].as_secs_f64()
    });
    assert!((2.0..8.0).contains(&(waiting[1] / waiting[0])), "{waiting:?}");
}

/// Fifty packets a second of 200 bytes, of another host than the one that always wants more, and of the same: 99 of 100 wait for less than 50 ms
/// here and in the mesh, where without them as many packets of the other as ever wait.
#[test]
fn a_call_waits_for_little() {
    for host in [1, 2] {
        let mut mesh = Mesh::new(1_200_000, &[Says::Truth]);
        let calls = |ms: u64, mesh: &mut Mesh| {
            if ms.is_multiple_of(20) {
                mesh.call(host);
            }
        };
        mesh.run_with(10, calls);
        (mesh.calls, mesh.waits) = (Vec::new(), Vec::new());
        mesh.run_with(20, calls);
        mesh.calls.sort_unstable();
        let late = mesh.calls[mesh.calls.len() * 99 / 100];
        assert!(late < Span::from_millis(50), "{host}: {late:?}");
        let bulk = mesh.waits.len() as f64 / (20.0 * (1_200_000.0 - 80_000.0) / 12_000.0);
        assert!(bulk > 0.85, "{host}: {bulk}");
    }
}

/// UDP alone, to hosts that answer an echo: ten a second, whatever the rate.
#[test]
fn a_rate_is_found_by_echoes_where_nothing_else_tells_one() {
    for hosts in [1, 6] {
        let mut mesh = Mesh::new(2_000_000, &vec![Says::Echoes(Span::ZERO); hosts]);
        mesh.run(15);
        mesh.asked = 0;
        let (shares, waiting) = mesh.measure(10);
        assert!(shares.iter().sum::<f64>() > 0.9, "{hosts}: {shares:?}");
        assert!(waiting < 16.0, "{hosts}: {waiting}");
        assert!((40..=100).contains(&mesh.asked), "{hosts}: {}", mesh.asked);
        let found = mesh.shaper.found().expect("it is found");
        assert!(!found.is_blind && found.tcp == 0 && found.probes > 60, "{hosts}: {found:?}");
        // The mesh halves.
        mesh.rate = Rate::bits_per_sec(1_000_000);
        mesh.run(11);
        let (shares, waiting) = mesh.measure(5);
        assert!(shares.iter().sum::<f64>() > 0.85 && waiting < 16.0, "{hosts}: {shares:?} {waiting}");
    }
}

/// A host that acknowledges need not be asked, and a host whose echoes come alone has its share.
#[test]
fn echoes_are_asked_only_of_those_that_tell_nothing_else() {
    let mut mesh = Mesh::new(2_000_000, &[Says::Truth, Says::Truth]);
    mesh.run(10);
    assert!(mesh.asked < 5, "{}, before the first acknowledgement", mesh.asked);
    mesh.hosts[0].1 = Says::Echoes(Span::ZERO);
    mesh.run(10);
    assert!((40..60).contains(&mesh.asked), "{}", mesh.asked);
    let (shares, waiting) = mesh.measure(10);
    assert!(shares.iter().all(|share| *share > 0.45) && waiting < 12.0, "{shares:?} {waiting}");
}

/// A host that pretends a queue, and is believed for some seconds; and one that hides it.
#[test]
fn a_host_that_lies_harms_nobody_for_long() {
    let late = Span::from_millis(200);
    for lie in [Says::Late(late), Says::AtOnce, Says::Echoes(late)] {
        let mut mesh = Mesh::new(2_000_000, &[Says::Truth, Says::Truth]);
        mesh.run(8);
        mesh.hosts[0].1 = lie;
        mesh.run(20);
        let (shares, waiting) = mesh.measure(40);
        assert!(shares[1] > 0.8 / 2.0, "{shares:?}");
        assert!(waiting < 12.0, "{waiting}");
    }
}

proptest! {
    /// Whatever comes from the mesh: the rate stays within its bounds, and hosts whose round trips are remembered do.
    #[test]
    fn the_rate_stays_within_its_bounds(echoes in prop::collection::vec((1u8..6, 0u32..40, 0u64..400), 1..400)) {
        let config = ShaperConfig { find: Some(FIND), hosts_max: 3, ..patient() };
        let mut bench = Bench::new(config);
        for (host, number, wait) in echoes {
            let sign = Sign::Segment(key(host), Seq(0) + SIZE as u32 * number, end_of(number));
            let packet = (host, 1, number);
            let parcel = Parcel { host: address(host), flow: flow(host, 1), size: Bytes(SIZE), ecn: Ecn::NotEct, sign: Some(sign), packet };
            bench.shaper.handle(bench.now, parcel, || NEAR);
            bench.run_until(bench.now + Span::from_millis(wait));
            bench.shaper.hears(bench.now, Echo::Ack(key(host), end_of(number / 2)));
            let rate = bench.shaper.config().rate;
            prop_assert!(FIND.least <= rate && rate <= FIND.most, "{rate:?}");
            prop_assert_eq!(bench.shaper.found().map(|found| found.find), Some(FIND));
        }
    }
}
