//! A shaper of hosts: everything that goes into the mesh waits by mesh host, hosts share by deficit round robin, and inside a
//! host flows wait in fair queues under CoDel.
//!
//! Its driver calls
//!
//! 1. [`Shaper::handle`] for each packet on its way into the mesh, then [`Shaper::poll`] until `None`;
//! 2. [`Shaper::poll`] until `None` when [`Shaper::poll_timeout`] says so.
//!
//! Every packet comes out once. With [`ShaperConfig::find`] the rate is found by the mesh's own delay. For that the driver hands in packets
//! from the mesh ([`Shaper::hears`]), and sends echo requests if it can ([`Shaper::asks`]). The simulator's gateways hand in packets; the
//! daemon hands in NFQUEUE's names of packets. Where there is the gateway's other machine ([`crate::Gateway`]), it comes before this one.
//!
//! Sources: deficit round robin, Shreedhar and Varghese 1995; sparse ones first, RFC 8290; hosts before flows, Hoiland-Jorgensen
//! et al., "Piece of CAKE", LANMAN 2018; air time instead of bytes, Hoiland-Jorgensen et al., "Ending the Anomaly", USENIX ATC 2017.

mod aggregate;
mod calls;
mod config;
mod finder;
mod from_mesh;
mod meter;
mod pace;
mod parcel;
mod recent;
mod uploads;

pub use aggregate::HostStats;
pub use calls::{CALLS, CallRule};
pub use config::{ShaperConfig, ShareBy, Terms, Uploading};
pub use finder::{By, Echo, Find, Finder, Found, Sign};
pub use parcel::{Parcel, Shaped};
pub use uploads::{Coming, Passage};

use aggregate::Aggregate;
use alloc::boxed::Box;
use alloc::collections::btree_map::Entry;
use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::vec::Vec;
use core::net::IpAddr;
use meshpace_codel::Turns;
use meshpace_units::{Bytes, Instant, Rate, Span};
use meter::Meter;
use parcel::{Held, Judged};
use uploads::Uploads;

/// The terms of a host are asked for again after so long.
const FRESH: Span = Span::from_secs(1);
/// Packets that may wait however long they take: a sender begins with ten (RFC 6928), and an answer or two may come between.
const FEWEST: usize = 16;

/// Where there are no more hosts than these, it is remembered which flow was served last while nothing of its host waits.
const REMEMBERED: usize = 256;
/// Where no rate is given, the rate at which packets left lately says how long the waiting ones will take. This applies once packets have
/// waited for this span without a pause. Only this part of the rate is counted on, because newcomers go before waiting packets.
const CARRIED: (Span, u64, u64) = (Span::from_secs(3), 7, 10);

/// What the shaper counted since it began.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct ShaperCounters {
    /// Packets that went on.
    pub packets: u64,
    /// Their lengths together.
    pub bytes: Bytes,
    /// Packets dropped: as they waited too long (CoDel), or as too many waited.
    pub dropped: u64,
    /// Dropped packets among these for which there was no room.
    pub crowded: u64,
    /// Packets marked because they waited too long.
    pub marked: u64,
}

/// See the module's description.
#[derive(Debug)]
pub struct Shaper<P> {
    config: ShaperConfig,
    meter: Meter,
    /// Where the rate comes from, unless it is given.
    finder: Option<Box<Finder>>,
    uploads: Uploads,
    hosts: BTreeMap<IpAddr, Aggregate<P>>,
    turns: Turns<IpAddr>,
    /// Hosts whose cap keeps them from their turn, by when it no longer does.
    capped: BTreeSet<(Instant, IpAddr)>,
    /// Hosts with packets, by [`Aggregate::load`]; of several the one whose latest packet came last.
    loads: BTreeSet<(u64, Instant, IpAddr)>,
    /// Hosts without packets, least recently seen first.
    idle: BTreeSet<(Instant, IpAddr)>,
    leaving: VecDeque<Shaped<P>>,
    len: usize,
    /// Since when packets wait without a pause.
    busy: Instant,
    /// What the packets that wait cost.
    cost: u64,
    /// Weights of the hosts whose packets wait.
    weights: u64,
    counters: ShaperCounters,
}

impl<P> Shaper<P> {
    /// A shaper at which nothing waits.
    #[must_use]
    pub fn new(config: ShaperConfig) -> Self {
        Self {
            config,
            meter: Meter::default(),
            finder: config.find.map(|find| Box::new(Finder::new(find, config.rate, config.hosts_max))),
            uploads: Uploads::new(config.hosts_max),
            hosts: BTreeMap::new(),
            turns: Turns::default(),
            capped: BTreeSet::new(),
            loads: BTreeSet::new(),
            idle: BTreeSet::new(),
            leaving: VecDeque::new(),
            len: 0,
            busy: Instant::ZERO,
            cost: 0,
            weights: 0,
            counters: ShaperCounters::default(),
        }
    }

    /// A packet comes. `terms` tells what is agreed about its host; it is asked now and then.
    pub fn handle(&mut self, now: Instant, parcel: Parcel<P>, terms: impl FnOnce() -> Terms) {
        let Parcel { host, flow, size, ecn, sign, packet } = parcel;
        let known = self.hosts.entry(host);
        let is_new = matches!(known, Entry::Vacant(_));
        let seen = known.or_insert_with(|| Aggregate::new(now, &self.config)).seen;
        self.idle.remove(&(seen, host));
        if self.len == 0 {
            self.busy = now;
        }
        let (flow, free_at) = (flow.mixed(), self.meter.free_at());
        let passing = self.change(host, |aggregate, config, _| {
            if is_new || now.saturating_since(aggregate.asked) >= FRESH {
                (aggregate.terms, aggregate.asked) = (terms(), now);
            }
            aggregate.seen = now;
            let held = Held { packet, ecn, mark: false, since: now, sign };
            if !calls::passes(aggregate, config, free_at, now, flow, size) {
                aggregate.push(now, flow, size, held);
                return None;
            }
            let mut packets = aggregate.queues.take_of(flow);
            packets.push((held, size));
            Some(packets)
        });
        if let Some(packets) = passing {
            return self.pass(now, host, packets);
        }
        let aggregate = of(&mut self.hosts, host);
        self.turns.join(host, &mut aggregate.turn, self.config.turn(&aggregate.terms));
        self.let_on(now, host);
        self.make_room(now);
        self.forget_idle();
    }

    /// The next packet that leaves at `now`; call until `None`.
    #[must_use = "the packet has left the shaper"]
    pub fn poll(&mut self, now: Instant) -> Option<Shaped<P>> {
        if let Some(leaving) = self.leaving.pop_front() {
            return Some(leaving);
        }
        while let Some(&(due, host)) = self.capped.first().filter(|(due, _)| *due <= now) {
            self.rejoin(due, host);
        }
        if !self.meter.is_ready(now) {
            return None;
        }
        let mut passed_over = 0;
        loop {
            let host = self.turns.first()?;
            let aggregate = of(&mut self.hosts, host);
            if !self.turns.may_send(&mut aggregate.turn, self.config.turn(&aggregate.terms)) {
                passed_over += 1;
                if passed_over >= self.turns.len() {
                    self.skip_turns();
                    passed_over = 0;
                }
                continue;
            }
            passed_over = 0;
            if let Some(due) = aggregate.held_by_cap(now) {
                self.turns.set_aside();
                self.capped.insert((due, host));
                continue;
            }
            if let Some(due) = held_by_mesh(&mut self.finder, &self.config, now, host, aggregate) {
                aggregate.held = Some(due);
                self.turns.set_aside();
                self.capped.insert((due, host));
                continue;
            }
            if let Some(passes) = self.take(now, host) {
                return Some(passes);
            }
            if let Some(dropped) = self.leaving.pop_front() {
                return Some(dropped);
            }
        }
    }

    /// A host that was set aside has its turn again.
    fn rejoin(&mut self, due: Instant, host: IpAddr) {
        self.capped.remove(&(due, host));
        of(&mut self.hosts, host).held = None;
        self.turns.rejoin(host);
    }

    /// Takes a packet of the host whose turn it is; `None`: it has none left.
    fn take(&mut self, now: Instant, host: IpAddr) -> Option<Shaped<P>> {
        let (hosts, free_at) = (self.turns.len() + self.capped.len(), self.meter.free_at());
        let mut is_new = false;
        let (next, judged) = self.change(host, |aggregate, config, leaving| {
            let flows = aggregate.queues.sharing();
            let codel = config.codel(hosts, flows, &aggregate.terms, aggregate.found);
            let mut judged = Judged { leaving, dropped: 0, marked: 0 };
            is_new = aggregate.queues.newcomer().is_some();
            let next = aggregate.queues.pop(now, &codel, &mut judged);
            let signals = (judged.dropped, judged.marked);
            aggregate.count_signals(signals);
            (next, signals)
        });
        self.counters.dropped += judged.0;
        self.counters.marked += judged.1;
        let known = self.hosts.len();
        let aggregate = of(&mut self.hosts, host);
        let Some(next) = next else {
            self.turns.has_none(&mut aggregate.turn);
            if !aggregate.turn.is_listed() {
                if known > REMEMBERED {
                    aggregate.rest(&self.config);
                }
                self.idle.insert((aggregate.seen, host));
            }
            return None;
        };
        let due = free_at.max(next.0.since).max(aggregate.free_at()).min(now);
        Some(self.leaves(now, host, next, due, is_new))
    }

    /// A packet leaves that might have left at `due`. `is_new`: it has waited for no turn.
    fn leaves(
        &mut self,
        now: Instant,
        host: IpAddr,
        (held, size): (Held<P>, Bytes),
        due: Instant,
        is_new: bool,
    ) -> Shaped<P> {
        let aggregate = of(&mut self.hosts, host);
        let cost = self.config.cost(size, &aggregate.terms);
        self.meter.charge(now, self.config.rate, cost, self.config.burst);
        if let Some(finder) = &mut self.finder {
            let price = self.config.price(&aggregate.terms);
            finder.carries(now, size, cost);
            finder.goes(now, host, size, Some(aggregate.terms.hops));
            match held.sign {
                Some(sign) => finder.begins(now, host, price, sign),
                None => finder.goes_untold(now, size, !is_new),
            }
            self.config.rate = finder.rate();
            aggregate.found = finder.cap(now, host);
        }
        aggregate.sent(now, size, cost, held.since, self.config.longest);
        self.counters.packets += 1;
        self.counters.bytes += size;
        Shaped::Passes { packet: held.packet, mark: held.mark, since: held.since, due }
    }

    /// Does something to a host's packets, and counts anew what waits.
    fn change<R>(
        &mut self,
        host: IpAddr,
        work: impl FnOnce(&mut Aggregate<P>, &ShaperConfig, &mut VecDeque<Shaped<P>>) -> R,
    ) -> R {
        let aggregate = of(&mut self.hosts, host);
        self.loads.remove(&(aggregate.load(), aggregate.seen, host));
        let (len, cost, weight) = (aggregate.len(), aggregate.cost, aggregate.weight());
        let done = work(aggregate, &self.config, &mut self.leaving);
        aggregate.weigh(&self.config);
        self.len = self.len + aggregate.len() - len;
        self.cost = self.cost + aggregate.cost - cost;
        self.weights = self.weights + aggregate.weight() - weight;
        if aggregate.len() > 0 {
            self.loads.insert((aggregate.load(), aggregate.seen, host));
        }
        done
    }

    /// No host may send before so many turns: they pass at once.
    fn skip_turns(&mut self) {
        let (hosts, config) = (&mut self.hosts, &self.config);
        let mut away = |host| {
            let aggregate = of(hosts, host);
            aggregate.turn.turns_away(config.turn(&aggregate.terms))
        };
        let turns = self.turns.iter().map(&mut away).min().unwrap_or(0).saturating_sub(1);
        for host in self.turns.iter().filter(|_| turns > 0) {
            let aggregate = of(hosts, host);
            aggregate.turn.pass(turns, config.turn(&aggregate.terms));
        }
    }

    /// Too much waits: the host with the most loses the first packet of its longest queue (RFC 8290, section 4.1).
    fn make_room(&mut self, now: Instant) {
        let most = self.config.most_cost(self.pace(now));
        loop {
            let loses = if self.len > self.config.packets_max {
                self.loads.last().map(|(.., host)| *host)
            } else if self.len > FEWEST && self.cost > most {
                self.most_loaded(now)
            } else {
                return;
            };
            let Some(host) = loses else { return };
            let cut = self.change(host, |aggregate, _, _| {
                aggregate.count_signals((1, 0));
                aggregate.queues.cut_latest_served()
            });
            self.counters.dropped += 1;
            self.counters.crowded += 1;
            self.leaving.extend(cut.map(|held| Shaped::Dropped(held.packet)));
        }
    }

    /// The host that loses a packet for want of time, if one does: none loses its only one, or one of a few flows that starve.
    fn most_loaded(&self, now: Instant) -> Option<IpAddr> {
        let mut loaded = self.loads.iter().rev().take_while(|(load, ..)| *load > 0);
        // Which flows were served is remembered of no more hosts.
        let remembers = self.hosts.len() <= REMEMBERED;
        let starves =
            |host| remembers && self.hosts.get(host).is_some_and(|aggregate| aggregate.starves(now));
        loaded.find(|(.., host)| !starves(host)).map(|(.., host)| *host)
    }

    /// The rate at which what waits will leave.
    fn pace(&self, now: Instant) -> Rate {
        let (long, part, of) = CARRIED;
        let carried = self.finder.as_ref().filter(|_| now.saturating_since(self.busy) >= long);
        let carried = carried.map(|finder| finder.carried(now).as_bits_per_sec() / of * part);
        carried.map_or(self.config.rate, |carried| self.config.rate.min(Rate::bits_per_sec(carried)))
    }

    /// Forgets hosts without packets that are too many.
    fn forget_idle(&mut self) {
        while self.hosts.len() > self.config.hosts_max {
            let Some((_, host)) = self.idle.pop_first() else { return };
            self.hosts.remove(&host);
        }
    }

    /// When [`Shaper::poll`] has something next.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Instant> {
        let capped = self.capped.first().map(|(due, _)| *due);
        let next = if self.turns.is_empty() { capped } else { Some(Instant::ZERO) };
        next.map(|next| next.max(self.meter.free_at()))
    }

    /// Until when a driver may put off what [`Shaper::poll_timeout`] tells, so that more leaves at once: what is not used meanwhile is made up
    /// for.
    #[must_use]
    pub fn poll_latest(&self) -> Option<Instant> {
        let next = self.poll_timeout()?;
        Some(if self.leaving.is_empty() { next + self.config.patience() } else { next })
    }

    /// Other parameters; what waits stays.
    pub fn set_config(&mut self, config: ShaperConfig) {
        if config.uploads != self.config.uploads || config.find.is_none() {
            self.uploads = Uploads::new(config.hosts_max);
        }
        self.config = config;
        match (config.find, &mut self.finder) {
            (Some(find), Some(finder)) => {
                finder.set_find(find);
                self.config.rate = finder.rate();
            }
            (find, finder) => {
                *finder = find.map(|find| Box::new(Finder::new(find, config.rate, config.hosts_max)));
            }
        }
        for aggregate in self.hosts.values_mut() {
            aggregate.found = None;
            // Asked with the next packet.
            aggregate.asked = Instant::ZERO;
        }
    }

    /// All that waits leaves, in the order in which it came.
    pub fn let_go(&mut self, now: Instant) -> Vec<Shaped<P>> {
        let hosts = core::mem::take(&mut self.hosts);
        let mut held: Vec<_> = hosts.into_values().flat_map(|mut host| host.queues.take(|_| true)).collect();
        held.sort_by_key(|held| held.since);
        *self = Self {
            leaving: core::mem::take(&mut self.leaving),
            counters: self.counters,
            ..Self::new(self.config)
        };
        let passes = |held: Held<P>| Shaped::Passes {
            packet: held.packet,
            mark: held.mark,
            since: held.since,
            due: now,
        };
        self.leaving.drain(..).chain(held.into_iter().map(passes)).collect()
    }

    /// The parameters.
    #[must_use]
    pub const fn config(&self) -> &ShaperConfig {
        &self.config
    }

    /// Packets that wait.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.len
    }

    /// True if none waits.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// What was counted since the beginning.
    #[must_use]
    pub const fn counters(&self) -> &ShaperCounters {
        &self.counters
    }

    /// The hosts that are known, by address.
    pub fn hosts(&self, now: Instant) -> impl Iterator<Item = HostStats> {
        self.hosts.iter().map(move |(host, aggregate)| HostStats {
            queue: self.finder.as_ref().and_then(|finder| finder.queue(now, *host)),
            may_send: self.uploads.may_send(*host),
            ..aggregate.stats(now, *host, &self.config)
        })
    }

    /// How many hosts are known.
    #[must_use]
    pub fn host_count(&self) -> usize {
        self.hosts.len()
    }
}

/// Until when enough of a host's packets wait in the mesh. A host that sends little, and tells nothing of its packets in the
/// mesh, goes on.
fn held_by_mesh<P>(
    finder: &mut Option<Box<Finder>>,
    config: &ShaperConfig,
    now: Instant,
    host: IpAddr,
    aggregate: &Aggregate<P>,
) -> Option<Instant> {
    let finder = finder.as_mut()?;
    if aggregate.queues.newcomer().is_some_and(|held| held.sign.is_none()) {
        return None;
    }
    finder.holds(now, host, config.price(&aggregate.terms))
}

/// A host that is known: it waits for a turn, or has packets.
fn of<P>(hosts: &mut BTreeMap<IpAddr, Aggregate<P>>, host: IpAddr) -> &mut Aggregate<P> {
    hosts.get_mut(&host).unwrap_or_else(|| panic!("{host} has a turn or packets and is not known"))
}
