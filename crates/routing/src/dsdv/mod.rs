//! DSDV by ns-2.35's rules, after Perkins and Bhagwat, "Highly dynamic destination-sequenced distance-vector routing",
//! SIGCOMM 1994 (schemes.md 18).
//!
//! By default tables are full at time 0, as after a long while; ns-2's are empty (`dsdv_start = "cold"`).
//! By default the MAC's reports are not used: a packet it gives up is dropped, and a neighbour is lost after three
//! silent periods. Where ns-2 would hang (packets queued for a broken route that an outdated update "releases" into
//! the same queue for ever), packets are released only by a route that can be used.

mod packed;
mod table;
mod times;
mod update;
mod updates;

#[cfg(test)]
mod tests;

pub use update::{DsdvRoute, DsdvUpdate};

use crate::action::refusal;
use crate::{Action, Control, DropReason, PacketInfo, Profile, ProtocolPart, RoutingProtocol, ShortestPaths};
use meshpace_keys::{Key, words};
use meshpace_units::random::Stream;
use meshpace_units::{Instant, NodeId, Span};
use std::collections::VecDeque;
use std::fmt::Debug;
use table::{Advertise, Entry, Table};

pub(super) static PART: ProtocolPart = ProtocolPart::new(
    "dsdv",
    "Destination-sequenced distance vector routing: every node tells its neighbours its table.",
    "ns-2.35, after Perkins and Bhagwat, SIGCOMM 1994 (schemes.md 18)",
    &[Profile::only("DSDV by ns-2's rules, tables full at the start", |site| {
        let config = DsdvConfig { use_mac: site.values.flag("dsdv_mac_reports"), ..DsdvConfig::default() };
        let jitter = (site.stream)("routing");
        Box::new(match site.values.word("dsdv_start") {
            Start::Converged => Dsdv::converged(site.me, config, site.paths, jitter),
            Start::Cold => Dsdv::new(site.me, config, jitter),
        })
    })],
)
.keys(&[&KEYS]);

static KEYS: [Key; 2] = [
    Key::word(
        "dsdv_start",
        Start::WORDS,
        Start::Converged.word(),
        "DSDV's tables at time 0: as after a long while, or empty.",
    ),
    Key::flag(
        "dsdv_mac_reports",
        false,
        "DSDV takes a neighbour for lost when the MAC gives a packet for it up, not only when it was silent for three periods \
         (ns-2's use_mac_).",
    ),
];

words! {
    /// What nodes know at time 0.
    enum Start {
        Converged = "converged",
        Cold = "cold",
    }
}

/// Packets kept for one destination without a route; the oldest is dropped (ns-2.35, MAX_QUEUE_LENGTH).
const QUEUE_LIMIT: usize = 5;
/// The first dump after a cold start follows within this time (ns-2.35, DSDV_STARTUP_JITTER, 2 s).
const STARTUP_JITTER_S: f64 = 2.0;
/// Dumps that a converged start supposes to have happened: those of the 150 s of ns-2's warm-up (reference/README.md,
/// "Timing"), a mean period of 0.875 * 15 s apart.
const DUMPS_BEFORE_START: u32 = 11;

/// What can be set of DSDV.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DsdvConfig {
    /// Take a packet that the MAC gave up for a lost neighbour (ns-2.35, `use_mac_`).
    pub use_mac: bool,
    /// Longest time between full dumps; each follows the last after 0.75 to 1 of it (`perup_`).
    pub period: Span,
    /// Settling time of a new destination's route (`wst0_`).
    pub settling: Span,
    /// A neighbour is lost after this many silent periods (`min_update_periods_`).
    pub missed_periods: u32,
}

impl Default for DsdvConfig {
    /// ns-2.35.
    fn default() -> Self {
        Self { use_mac: false, period: Span::from_secs(15), settling: Span::from_secs(6), missed_periods: 3 }
    }
}

/// DSDV on one node.
#[derive(Debug)]
pub struct Dsdv<P> {
    me: NodeId,
    config: DsdvConfig,
    /// Own sequence number, even.
    seqno: u32,
    table: Table,
    waiting: VecDeque<(NodeId, P)>,
    dump_at: Instant,
    /// When the last update of either kind was sent.
    last_update: Option<Instant>,
    /// Nothing is due before this time.
    wake: Instant,
    jitter: Stream,
    route_failures: u64,
}

enum Due {
    Dump,
    NeighbourLost(NodeId),
    Trigger(NodeId),
}

impl<P> Dsdv<P> {
    /// Node `me` at time 0, knowing nothing of others; `jitter` is its own stream.
    ///
    /// # Panics
    /// If the period is zero.
    #[must_use]
    pub fn new(me: NodeId, config: DsdvConfig, mut jitter: Stream) -> Self {
        assert!(!config.period.is_zero(), "dumps without a pause: {config:?}");
        let dump_at = Instant::ZERO + Span::from_secs_f64(jitter.uniform(0.0, STARTUP_JITTER_S));
        let mut node = Self {
            me,
            config,
            seqno: 2,
            table: Table::default(),
            waiting: VecDeque::new(),
            dump_at,
            last_update: None,
            wake: dump_at,
            jitter,
            route_failures: 0,
        };
        node.put_self(Instant::ZERO, 0, true);
        node
    }

    /// Node `me` at time 0 as after `DUMPS_BEFORE_START` dumps of all nodes over an unchanging graph: all routes
    /// are there, settling times have decayed, and the next dump comes somewhere within a period.
    ///
    /// # Panics
    /// If the period is zero.
    #[must_use]
    pub fn converged(me: NodeId, config: DsdvConfig, paths: &ShortestPaths, jitter: Stream) -> Self {
        let mut node = Self::new(me, config, jitter);
        node.table = Table::with_capacity(paths.nodes());
        let now = Instant::ZERO;
        node.seqno = 2 + 2 * DUMPS_BEFORE_START;
        let settling =
            (0..DUMPS_BEFORE_START).fold(config.settling, |span, _| updates::settle(span, Span::ZERO));
        for destination in (0..paths.nodes()).map(NodeId::from_index) {
            let Some(next_hop) = paths.next_hop(me, destination) else { continue };
            // More hops than a metric holds are no route for DSDV.
            let hops = paths.hops(me, destination).and_then(|hops| u8::try_from(hops - 1).ok());
            let hops = table::farther(hops);
            node.table.put(Entry {
                next_hop,
                hops,
                seqno: node.seqno,
                advertise: Advertise::Now,
                last_advertised: Some(hops),
                ..Entry::unknown(now, destination, settling)
            });
            if next_hop == destination {
                node.table.silences.set(destination, now + node.silence());
            }
        }
        node.put_self(now, node.seqno, false);
        let phase = node.jitter.unit();
        let interval = node.draw_period().checked_mul_f64(phase);
        node.dump_at = now + interval.expect("a fraction of a period is a span");
        node.wake = node.dump_at.min(now + node.silence());
        node
    }

    fn put_self(&mut self, now: Instant, seqno: u32, news: bool) {
        let entry = Entry::unknown(now, self.me, Span::ZERO);
        self.table.put(Entry {
            hops: Some(0),
            seqno,
            advertise: Advertise::Now,
            new_seqno: news,
            new_hops: news,
            ..entry
        });
    }

    /// The neighbour that is next on the way to `destination`.
    fn neighbour_to(&self, destination: NodeId) -> Option<NodeId> {
        self.table.route(destination).map(|(next_hop, _)| next_hop)
    }

    /// How long a neighbour may be silent.
    fn silence(&self) -> Span {
        self.config.period * u64::from(self.config.missed_periods)
    }

    fn draw_period(&mut self) -> Span {
        let fraction = self.jitter.uniform(0.75, 1.0);
        self.config.period.checked_mul_f64(fraction).expect("a fraction of a period is a span")
    }

    fn send_or_hold(&mut self, now: Instant, packet: P, destination: NodeId, out: &mut Vec<Action<P>>) {
        if let Some(next_hop) = self.neighbour_to(destination) {
            out.push(Action::SendData { packet, next_hop, delay: Span::ZERO });
            return;
        }
        if self.table.get(destination).is_none() {
            self.table.put(Entry::unknown(now, destination, self.config.settling));
        }
        self.waiting.push_back((destination, packet));
        let same = |&(d, _): &(NodeId, P)| d == destination;
        if self.waiting.iter().filter(|w| same(w)).count() > QUEUE_LIMIT {
            let oldest = self.waiting.iter().position(same).expect("some were just counted");
            if let Some((_, packet)) = self.waiting.remove(oldest) {
                out.push(Action::Drop { packet, reason: DropReason::SendBufferFull });
            }
        }
    }

    /// Sends what waits for `destination` if it can be reached.
    fn release(&mut self, destination: NodeId, out: &mut Vec<Action<P>>) {
        if self.waiting.is_empty() {
            return;
        }
        let Some(next_hop) = self.neighbour_to(destination) else { return };
        while let Some(at) = self.waiting.iter().position(|&(d, _)| d == destination) {
            if let Some((_, packet)) = self.waiting.remove(at) {
                out.push(Action::SendData { packet, next_hop, delay: Span::ZERO });
            }
        }
    }

    /// Marks every route through `neighbour` broken and has it told. True if there was one.
    fn lose(&mut self, now: Instant, neighbour: NodeId) -> bool {
        self.table.silences.remove(neighbour);
        let mut lost = Vec::new();
        let through = |entry: &Entry| entry.next_hop == neighbour && entry.hops.is_some();
        self.table.change(through, |entry| {
            entry.hops = None;
            entry.seqno = entry.seqno.wrapping_add(1);
            entry.advertise = Advertise::Now;
            entry.new_hops = true;
            entry.new_seqno = true;
            lost.push(entry.destination);
        });
        for destination in &lost {
            self.table.triggers.set(*destination, now);
        }
        if !lost.is_empty() {
            self.wake = self.wake.min(now);
        }
        !lost.is_empty()
    }

    /// The task that is due first. At one time a dump comes before all else, then tasks by destination; for one
    /// destination its silence comes first.
    fn earliest(&self) -> (Instant, Due) {
        let lost = self.table.silences.earliest();
        let trigger = self.table.triggers.earliest();
        let (at, due) = match (lost, trigger) {
            (Some(lost), trigger) if trigger.is_none_or(|trigger| lost <= trigger) => {
                (lost.0, Due::NeighbourLost(lost.1))
            }
            (_, Some(trigger)) => (trigger.0, Due::Trigger(trigger.1)),
            (_, None) => return (self.dump_at, Due::Dump),
        };
        if self.dump_at <= at { (self.dump_at, Due::Dump) } else { (at, due) }
    }
}

impl<P: Debug + Send> RoutingProtocol<P> for Dsdv<P> {
    /// As in ns-2.35.
    fn data_ttl(&self) -> u8 {
        32
    }

    fn route(&mut self, now: Instant, packet: P, info: &PacketInfo, out: &mut Vec<Action<P>>) {
        match refusal(self.me, info) {
            Some(reason) => out.push(Action::Drop { packet, reason }),
            None => self.send_or_hold(now, packet, info.destination, out),
        }
    }

    fn on_control(&mut self, now: Instant, from: NodeId, _: u8, message: &Control, out: &mut Vec<Action<P>>) {
        if let Some(update) = message.get() {
            self.on_update(now, from, update, out);
        }
    }

    fn on_link_failure(
        &mut self,
        now: Instant,
        next_hop: NodeId,
        packet: P,
        info: &PacketInfo,
        out: &mut Vec<Action<P>>,
    ) {
        if !self.config.use_mac || self.table.get(next_hop).is_none() {
            out.push(Action::Drop { packet, reason: DropReason::LinkFailure });
            return;
        }
        if self.lose(now, next_hop) {
            self.route_failures += 1;
        }
        self.send_or_hold(now, packet, info.destination, out);
    }

    fn poll_timeout(&self) -> Option<Instant> {
        Some(self.wake)
    }

    fn handle_timeout(&mut self, now: Instant, out: &mut Vec<Action<P>>) {
        if now < self.wake {
            return;
        }
        loop {
            let (at, due) = self.earliest();
            if at > now {
                self.wake = at;
                return;
            }
            match due {
                Due::Dump => self.dump(now, out),
                Due::NeighbourLost(neighbour) => {
                    self.lose(now, neighbour);
                }
                Due::Trigger(destination) => self.trigger(now, destination, out),
            }
        }
    }

    fn hops_to(&self, _: Instant, destination: NodeId) -> Option<u32> {
        self.table.route(destination).map(|(_, hops)| u32::from(hops))
    }

    fn next_hop(&self, _: Instant, destination: NodeId) -> Option<NodeId> {
        self.neighbour_to(destination)
    }

    fn route_failures(&self) -> u64 {
        self.route_failures
    }
}
