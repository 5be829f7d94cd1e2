//! The packets that wait for one host, and the host's counters.

use super::calls::Calls;
use super::finder::ACK;
use super::meter::Meter;
use super::pace::Pace;
use super::recent::Recent;
use super::{Held, ShaperConfig, Terms};
use core::net::IpAddr;
use meshpace_codel::{FairQueues, FlowHash, Turn};
use meshpace_units::{Bytes, Instant, Rate, Span};

/// Queues that the flows of a host are hashed into (RFC 8290, section 4.1.1, has 1,024): two of them that share one lose each other's
/// packets, of ten one in twenty times then.
const HASHES: u32 = 65_536;

/// A host that nothing came for in this time takes nothing from others.
const SHOWS: Span = Span::from_secs(5);

/// A flow that has been without anything for so long asks with a retransmission whose timer has doubled several times, and doubles once more
/// when that is lost: 8, 16 and 32 s (RFC 6298, section 5.5).
const STARVES: Span = Span::from_secs(8);
/// So many packets of such flows are spared a host.
const SPARED: usize = 3;

/// A host's packets, and its turn.
#[derive(Debug)]
pub(super) struct Aggregate<P> {
    pub queues: FairQueues<Held<P>>,
    pub turn: Turn,
    /// What is agreed, and when that was asked.
    pub terms: Terms,
    pub asked: Instant,
    /// When its latest packet came.
    pub seen: Instant,
    /// What its packets cost that wait.
    pub cost: u64,
    /// The most that its path carries, where it has been found.
    pub found: Option<Rate>,
    /// Until when it is set aside as enough of its packets wait in the mesh.
    pub held: Option<Instant>,
    cap: Meter,
    pub calls: Calls,
    lately: Recent,
    /// What it costs lately.
    pub pace: Pace,
    /// Smoothed wait of its packets, by an eighth of each.
    wait: Option<Span>,
    packets: u64,
    bytes: Bytes,
    dropped: u64,
    marked: u64,
}

/// A host as the shaper knows it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HostStats {
    /// Its address.
    pub host: IpAddr,
    /// What is agreed about it.
    pub terms: Terms,
    /// What a byte costs on the way to it.
    pub price: f64,
    /// What it got lately.
    pub rate: Rate,
    /// Packets that wait.
    pub queued: usize,
    /// Their lengths together.
    pub queued_bytes: Bytes,
    /// Flows that wait for a turn.
    pub flows: usize,
    /// How long its packets wait, smoothed; `None` before the first.
    pub wait: Option<Span>,
    /// Packets that went on.
    pub packets: u64,
    /// Their lengths together.
    pub bytes: Bytes,
    /// Packets dropped.
    pub dropped: u64,
    /// Packets marked.
    pub marked: u64,
    /// When its latest packet came.
    pub seen: Instant,
    /// The most that its path carries, where the rate is found and this host is not alone.
    pub found: Option<Rate>,
    /// How long its packets wait in the mesh, where that is measured.
    pub queue: Option<Span>,
    /// The most that it may send, while it is held back for others.
    pub may_send: Option<Rate>,
}

impl<P> Aggregate<P> {
    pub fn new(now: Instant, config: &ShaperConfig) -> Self {
        Self {
            queues: queues(config),
            turn: Turn::default(),
            terms: Terms { weight: 1, cap: None, hops: 1, link: config.reference },
            asked: now,
            seen: now,
            cost: 0,
            found: None,
            held: None,
            cap: Meter::default(),
            calls: Calls::default(),
            lately: Recent::new(now),
            pace: Pace::default(),
            wait: None,
            packets: 0,
            bytes: Bytes::ZERO,
            dropped: 0,
            marked: 0,
        }
    }

    pub fn push(&mut self, now: Instant, flow: FlowHash, size: Bytes, held: Held<P>) {
        self.queues.push(now, flow, size, held);
        self.queues.forget_idle();
    }

    /// Works out anew what its packets cost: by their bytes together, and by how many they are.
    pub fn weigh(&mut self, config: &ShaperConfig) {
        let bytes = self.queues.bytes() + config.overhead * self.queues.len() as u64;
        self.cost = config.cost_of(bytes.0, &self.terms);
    }

    /// The measure by which hosts are compared where too much waits: what its packets cost but for one, over its weight. A host with one packet
    /// has no more than it needs, however dear that packet is.
    pub fn load(&self) -> u64 {
        let packets = self.len() as u64;
        let more = u128::from(self.cost) * u128::from(packets.saturating_sub(1)) / u128::from(packets.max(1));
        u64::try_from(more).unwrap_or(u64::MAX) / self.shares()
    }

    /// Whether few packets wait, each of another flow that was not served for long.
    pub fn starves(&self, now: Instant) -> bool {
        let waits_long = |(len, served)| len == 1 && now.saturating_since(served) > STARVES;
        self.len() <= SPARED && self.queues.latest_served().is_some_and(waits_long)
    }

    /// Whether anything came for it lately.
    pub fn has_shown(&self, now: Instant) -> bool {
        now.saturating_since(self.seen) < SHOWS
    }

    /// Packets with data wait, and nothing of its own holds them.
    pub fn wants_more(&self) -> bool {
        self.found.is_none() && self.terms.cap.is_none() && self.queues.bytes() > ACK * self.len() as u64
    }

    /// Packets that wait.
    pub const fn len(&self) -> usize {
        self.queues.len()
    }

    /// Its shares of the rate beside other hosts.
    pub fn shares(&self) -> u64 {
        u64::from(self.terms.weight.max(1))
    }

    /// Those, while packets of it wait.
    pub fn weight(&self) -> u64 {
        if self.queues.is_empty() { 0 } else { self.shares() }
    }

    /// When its cap lets a packet leave.
    pub fn free_at(&self) -> Instant {
        self.cap.free_at()
    }

    /// The lower of what is agreed and what was found.
    fn cap_in_force(&self) -> Option<Rate> {
        self.terms.cap.into_iter().chain(self.found).min()
    }

    /// Until when its cap holds it.
    pub fn held_by_cap(&self, now: Instant) -> Option<Instant> {
        (self.cap_in_force().is_some() && !self.cap.is_ready(now)).then(|| self.cap.free_at())
    }

    /// A packet has left that came then. What a cap leaves unused while others have their turns is made up for as far as `burst` goes.
    pub fn sent(&mut self, now: Instant, size: Bytes, cost: u64, since: Instant, burst: Span) {
        self.turn.sent(cost);
        if let Some(cap) = self.cap_in_force() {
            self.cap.charge(now, cap, size.0, burst);
        }
        self.lately.note(now, size);
        let wait = now.saturating_since(since);
        self.wait = Some(self.wait.map_or(wait, |old| (old * 7 + wait) / 8));
        self.packets += 1;
        self.bytes += size;
        self.pace.on_packet(now, cost as f64);
    }

    pub const fn count_signals(&mut self, (dropped, marked): (u64, u64)) {
        self.dropped += dropped;
        self.marked += marked;
    }

    /// Nothing of it waits: the memory of its queues is given back.
    pub fn rest(&mut self, config: &ShaperConfig) {
        self.queues = queues(config);
    }

    pub fn stats(&self, now: Instant, host: IpAddr, config: &ShaperConfig) -> HostStats {
        HostStats {
            host,
            terms: self.terms,
            price: config.price(&self.terms),
            rate: self.lately.rate(now),
            queued: self.queues.len(),
            queued_bytes: self.queues.bytes(),
            flows: self.queues.sharing(),
            wait: self.wait,
            packets: self.packets,
            bytes: self.bytes,
            dropped: self.dropped,
            marked: self.marked,
            seen: self.seen,
            found: self.found,
            queue: None,
            may_send: None,
        }
    }
}

fn queues<P>(config: &ShaperConfig) -> FairQueues<P> {
    FairQueues::new(HASHES, config.quantum)
}
