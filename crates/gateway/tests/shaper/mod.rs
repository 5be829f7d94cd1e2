//! The shaper of hosts: what a driver sees of it.

mod autorate;
mod by_departure;
mod calls;
mod finds;
mod limits;
mod properties;
mod shares;
mod uploads;

use core::net::{IpAddr, Ipv4Addr, SocketAddr};
use meshpace_gateway::{FlowHash, Parcel, Shaped, Shaper, ShaperConfig, Terms};
use meshpace_units::{Bytes, Ecn, Instant, Rate, Span};
use std::collections::BTreeMap;

/// A packet's host, flow and number.
type Name = (u8, u16, u32);

const MEGABIT: Rate = Rate::bits_per_sec(1_000_000);
const LINK: Rate = Rate::bits_per_sec(11_000_000);
/// One hop away, over links of the reference, with one share and no cap.
const NEAR: Terms = Terms { weight: 1, cap: None, hops: 1, link: LINK };

fn ms(n: u64) -> Instant {
    Instant::ZERO + Span::from_millis(n)
}

fn address(host: u8) -> IpAddr {
    IpAddr::V4(Ipv4Addr::new(10, 0, 0, host))
}

/// A megabit a second, turns of one packet of the usual size, and nothing is dropped because of its wait.
fn patient() -> ShaperConfig {
    let long = Span::from_secs(1_000_000);
    ShaperConfig { quantum: 1_250, target: long, longest: long, ..ShaperConfig::at(MEGABIT) }
}

fn flow(host: u8, port: u16) -> FlowHash {
    let server = SocketAddr::new(IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1)), 443);
    FlowHash::new(0, server, SocketAddr::new(address(host), port), 6)
}

/// A shaper with a clock, and what has left it.
struct Bench {
    now: Instant,
    shaper: Shaper<Name>,
    terms: BTreeMap<u8, Terms>,
    next: u32,
    /// Packets that came, by host and port.
    put: BTreeMap<(u8, u16), usize>,
    /// Packets that went on, with the time and whether they were marked.
    passed: Vec<(Instant, Name, bool)>,
    dropped: Vec<Name>,
}

impl Bench {
    fn new(config: ShaperConfig) -> Self {
        let (terms, passed, dropped) = (BTreeMap::new(), Vec::new(), Vec::new());
        Self {
            now: Instant::ZERO,
            shaper: Shaper::new(config),
            terms,
            next: 0,
            put: BTreeMap::new(),
            passed,
            dropped,
        }
    }

    /// Other terms than [`NEAR`] for a host.
    fn agree(mut self, host: u8, terms: Terms) -> Self {
        self.terms.insert(host, terms);
        self
    }

    fn put_with(&mut self, host: u8, port: u16, size: u64, ecn: Ecn) {
        let packet = (host, port, self.next);
        self.next += 1;
        *self.put.entry((host, port)).or_default() += 1;
        let terms = self.terms.get(&host).copied().unwrap_or(NEAR);
        let parcel = Parcel {
            host: address(host),
            flow: flow(host, port),
            size: Bytes(size),
            ecn,
            sign: None,
            packet,
        };
        self.shaper.handle(self.now, parcel, || terms);
        self.drain();
    }

    fn put(&mut self, host: u8, port: u16, size: u64) {
        self.put_with(host, port, size, Ecn::NotEct);
    }

    fn put_count(&self, host: u8, port: u16) -> usize {
        self.put.get(&(host, port)).copied().unwrap_or(0)
    }

    fn fill(&mut self, packets: u32, host: u8, port: u16, size: u64) {
        (0..packets).for_each(|_| self.put(host, port, size));
    }

    fn drain(&mut self) {
        while let Some(leaves) = self.shaper.poll(self.now) {
            match leaves {
                Shaped::Passes { packet, mark, since, due } => {
                    assert!(since <= due && due <= self.now, "{since:?} {due:?} {:?}", self.now);
                    self.passed.push((self.now, packet, mark));
                }
                Shaped::Dropped(packet) => self.dropped.push(packet),
            }
        }
    }

    /// Lets time pass, with a look whenever the shaper asks for one.
    fn run_until(&mut self, end: Instant) {
        while let Some(due) = self.shaper.poll_timeout().filter(|due| *due <= end) {
            self.now = self.now.max(due);
            self.drain();
        }
        self.now = end;
    }

    /// Packets that went on, by host.
    fn by_host(&self) -> BTreeMap<u8, usize> {
        let mut counted = BTreeMap::new();
        self.passed.iter().for_each(|(_, (host, ..), _)| *counted.entry(*host).or_default() += 1);
        counted
    }

    fn hosts(&self) -> Vec<u8> {
        self.passed.iter().map(|(_, (host, ..), _)| *host).collect()
    }
}
