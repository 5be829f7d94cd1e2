//! What all flows together may keep, and each mesh host of it.
//!
//! A host may take of each thing at most eight times of what is left (dynamic thresholds: Choudhury and Hahne, "Dynamic
//! queue length thresholds for shared-memory packet switches", IEEE/ACM Transactions on Networking 6(2), 1998). One host
//! alone gets eight ninths, n greedy ones come to 8/(8n + 1) each as packets leave. Caches, which can be done without, leave
//! a quarter of the bytes to queues.

use crate::Config;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::net::IpAddr;
use meshpace_units::Bytes;

/// How many times of what is left a host may take.
const SHARE: u64 = 8;

/// The part of the bytes that caches leave to queues.
const QUEUES_ALONE: u64 = 4;

/// A host's place in the books.
pub(crate) type HostSlot = u32;

/// What a thing costs.
#[derive(Clone, Copy, Debug)]
enum Kind {
    /// Bytes in queues and caches.
    Bytes,
    /// Packets in queues.
    Held,
    /// Entries of sequence maps.
    Segments,
}

/// Of one kind, all hosts together.
#[derive(Clone, Copy, Debug, Default)]
struct Pool {
    used: u64,
    /// Hosts that have taken something.
    takers: u64,
}

#[derive(Clone, Debug, Default)]
struct Host {
    /// Connections that are on its books.
    connections: u32,
    used: [u64; 3],
}

/// The gateway's memory in use, against the limits of its [`Config`].
#[derive(Clone, Debug, Default)]
pub(crate) struct Books {
    pools: [Pool; 3],
    hosts: Vec<Host>,
    free: Vec<HostSlot>,
    by_address: BTreeMap<IpAddr, HostSlot>,
}

impl Books {
    /// A connection of a host begins.
    pub fn open(&mut self, host: IpAddr) -> HostSlot {
        let Self { hosts, free, by_address, .. } = self;
        let slot = *by_address.entry(host).or_insert_with(|| {
            free.pop().unwrap_or_else(|| {
                hosts.push(Host::default());
                HostSlot::try_from(hosts.len() - 1).expect("fewer hosts than connections")
            })
        });
        hosts[slot as usize].connections += 1;
        slot
    }

    /// A connection of a host has ended, and has given everything back.
    pub fn close(&mut self, address: IpAddr, slot: HostSlot) {
        let host = &mut self.hosts[slot as usize];
        host.connections -= 1;
        if host.connections == 0 {
            assert_eq!(host.used, [0; 3], "{address} has given back what it took");
            self.by_address.remove(&address);
            self.free.push(slot);
        }
    }

    /// The page of a host.
    pub const fn of(&mut self, host: HostSlot) -> Budget<'_> {
        Budget { books: self, host }
    }

    pub const fn bytes(&self) -> Bytes {
        Bytes(self.pools[Kind::Bytes as usize].used)
    }

    pub const fn held(&self) -> usize {
        self.pools[Kind::Held as usize].used as usize
    }

    pub const fn segments(&self) -> usize {
        self.pools[Kind::Segments as usize].used as usize
    }
}

/// What a host's flows may keep.
#[derive(Debug)]
pub(crate) struct Budget<'a> {
    books: &'a mut Books,
    host: HostSlot,
}

impl Budget<'_> {
    fn own(&self, kind: Kind) -> u64 {
        self.books.hosts[self.host as usize].used[kind as usize]
    }

    /// Whether the host may take that much more of `total`.
    fn can_take(&self, kind: Kind, amount: u64, total: u64) -> bool {
        let left = total.saturating_sub(self.books.pools[kind as usize].used);
        amount <= left && self.own(kind) + amount <= left.saturating_mul(SHARE)
    }

    fn change(&mut self, kind: Kind, change: impl Fn(u64) -> u64) {
        let pool = &mut self.books.pools[kind as usize];
        let own = &mut self.books.hosts[self.host as usize].used[kind as usize];
        let before = *own;
        *own = change(before);
        pool.used = pool.used - before + *own;
        pool.takers = pool.takers + u64::from(*own > 0) - u64::from(before > 0);
    }

    /// `taken` more bytes are kept, and `freed` less.
    pub fn keep(&mut self, taken: Bytes, freed: Bytes) {
        self.change(Kind::Bytes, |own| own + taken.0 - freed.0);
    }

    /// A packet joins a queue.
    pub fn joins(&mut self, size: Bytes) {
        self.keep(size, Bytes::ZERO);
        self.change(Kind::Held, |own| own + 1);
    }

    /// A packet leaves a queue.
    pub fn leaves(&mut self, size: Bytes) {
        self.keep(Bytes::ZERO, size);
        self.change(Kind::Held, |own| own - 1);
    }

    /// One more segment is remembered.
    pub fn record(&mut self) {
        self.change(Kind::Segments, |own| own + 1);
    }

    /// So many segments are remembered no more.
    pub fn forget(&mut self, segments: usize) {
        self.change(Kind::Segments, |own| own - segments as u64);
    }

    pub fn can_cache(&self, config: &Config, bytes: Bytes) -> bool {
        let total = config.buffer_total.0;
        self.can_take(Kind::Bytes, bytes.0, total)
            && self.books.bytes().0 + bytes.0 <= total - total / QUEUES_ALONE
    }

    pub fn can_hold(&self, config: &Config, bytes: Bytes) -> bool {
        self.can_take(Kind::Held, 1, config.held_max as u64)
            && self.can_take(Kind::Bytes, bytes.0, config.buffer_total.0)
    }

    pub fn can_record(&self, config: &Config, of_flow: usize) -> bool {
        of_flow < config.segments_max && self.can_take(Kind::Segments, 1, config.segments_total as u64)
    }

    /// All places are taken, by whatever flows: pacing is off for flows that begin now (schemes.md 3.1).
    pub fn is_exhausted(&self, config: &Config) -> bool {
        // One more full-size packet would not fit.
        self.books.held() >= config.held_max || self.books.bytes() + Bytes(1500) > config.buffer_total
    }

    /// More is kept than all together may.
    pub fn is_overdrawn(&self, config: &Config) -> bool {
        self.books.held() > config.held_max || self.books.bytes() > config.buffer_total
    }

    /// Whether it is this host that leaves no room for another packet: it has at least an even part of what there is, one
    /// part being left over.
    pub fn is_greedy(&self, config: &Config) -> bool {
        let has_its_part = |kind: Kind, total: u64| {
            self.own(kind) > 0 && self.own(kind) >= total / (self.books.pools[kind as usize].takers + 1)
        };
        has_its_part(Kind::Held, config.held_max as u64) || has_its_part(Kind::Bytes, config.buffer_total.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::net::Ipv4Addr;

    fn address(n: u8) -> IpAddr {
        Ipv4Addr::new(10, 77, 0, n).into()
    }

    /// Takes places for a host until it may not; how many.
    fn fill(books: &mut Books, config: &Config, host: HostSlot) -> u64 {
        let mut budget = books.of(host);
        while budget.can_hold(config, Bytes(41)) {
            budget.joins(Bytes(41));
        }
        budget.own(Kind::Held)
    }

    #[test]
    fn each_host_gets_its_part_and_the_next_one_too() {
        let config = Config { held_max: 9_000, ..Config::PAPER };
        let mut books = Books::default();
        let first = books.open(address(1));
        assert_eq!(fill(&mut books, &config, first), 8_000);
        assert!(books.of(first).is_greedy(&config));
        let second = books.open(address(2));
        assert!(!books.of(second).is_greedy(&config), "it has nothing");
        // 8 * (1000 - n) = n
        assert_eq!(fill(&mut books, &config, second), 889);
        assert!(!books.of(second).is_greedy(&config), "far less than a third");
        assert_eq!(fill(&mut books, &config, first), 8_000, "nothing more");
        // As the first gives back, the second may take more.
        for _ in 0..3_000 {
            books.of(first).leaves(Bytes(41));
        }
        // 8 * (9000 - 5000 - n) = n
        assert_eq!(fill(&mut books, &config, second), 3_556);
        assert_eq!(fill(&mut books, &config, first), 5_000, "nothing more");
    }

    #[test]
    fn a_host_is_on_the_books_while_it_has_connections() {
        let mut books = Books::default();
        let host = books.open(address(1));
        assert_eq!(books.open(address(1)), host);
        books.close(address(1), host);
        books.of(host).record();
        books.of(host).forget(1);
        books.close(address(1), host);
        assert!(books.by_address.is_empty());
        assert_eq!(books.open(address(2)), host, "its place is used again");
        assert_eq!(books.pools.map(|pool| (pool.used, pool.takers)), [(0, 0); 3]);
    }
}
