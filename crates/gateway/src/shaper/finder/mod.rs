//! The rate of a shaper, found by the mesh's own delay (docs/hosts.md, "The rate by delay").
//!
//! One law, calm's ([`DelayRate`]), for all that goes into the mesh: one price for everybody, so that a certain number of packets waits in
//! the mesh however many hosts and flows there are. Its input is the time that packets wait in the mesh on the way to the host with the
//! longest wait: the least of the latest few round trips of that host, less the host's least round trip of half a minute. Hosts of which
//! neither TCP nor QUIC tells one are asked for an echo ([`Probes`]). So a near host yields where it takes the air of a far one. A host
//! whose packets wait as long whatever the rate has a slow path of its own, or lies: it has a law of its own from then on ([`Path`]), and
//! no say.

mod carried;
mod company;
mod damping;
mod flight;
mod found;
mod in_mesh;
mod nearing;
mod path;
mod probes;
mod resuming;
mod room;
mod segments;
mod spin;
mod trips;
mod uplink;

pub use found::{Find, Found};
pub use trips::{By, Echo, Sign};

use super::pace::Pace;
use alloc::collections::BTreeMap;
use carried::Carried;
use company::Company;
use core::net::IpAddr;
use libm::exp;
use meshpace_pacing::{DelayRate, DelayRateConfig};
use meshpace_units::{Bytes, Instant, Rate, Span};
use nearing::Nearing;
use path::Path;
use probes::Probes;
use resuming::Resuming;
use trips::{Trip, Trips};
use uplink::Uplink;

/// What the laws count in.
const PACKET: Bytes = Bytes(1_500);
/// Packets that may wait in the mesh, not calm's 1.4: here one law stands for all flows, and the wait that it gets is the least
/// of several.
const WAITING: f64 = 4.0;
/// A longer packet is no acknowledgement of TCP, whatever its options.
pub(super) const ACK: Bytes = Bytes(100);
/// The wait that counts is looked for no more often than this.
const LOOKS: Span = Span::from_millis(10);
/// Little waits, beside a call too, or much, where packets wait so many times as long as they should.
const SHORT: f64 = 0.5;
const TRIFLE: f64 = 0.02;
/// A way is fast for a rate if it holds less than this part of a packet while it is empty.
const FAST: f64 = 0.5;
const LONG: f64 = 1.5;
/// No wait is judged at more than this many times the traffic that went into the mesh.
const ABOVE: f64 = 1.1;
/// And it falls this many times faster than it rises at the most, unless somebody talks.
const FALLS: f64 = 4.0;
/// No wait counts for more: a packet that takes longer was lost, or its host is gone.
const LONGEST: Span = Span::from_millis(250);
/// An echo reports on the round trips since the one measured before, of at most this many, upwards and downwards.
const ROUNDS: (f64, f64) = (2.0, 4.0);
/// No wait counts as none: an empty queue of a mesh is not a wire's (docs/law.md, "Wired paths").
const SHORTEST: Span = Span::from_micros(20);
/// The time in which a rate that stays is the usual one.
const USUAL: Span = Span::from_secs(4);
/// Without a round trip for so long while packets leave, the rate may be far too high.
const BLIND: Span = Span::from_secs(2);
/// Then this share of it stays, each time after this time.
const BLINDLY: (f64, Span) = (0.9, Span::from_millis(250));

/// Finds the rate of a shaper by the delay of what goes into a mesh.
///
/// Its driver, a [`crate::Shaper`] or one that shapes elsewhere, tells what leaves ([`Finder::carries`], [`Finder::goes`]), which round
/// trips begin and end ([`Finder::begins`] and [`Finder::comes`], or [`Finder::ends`] of one that it has measured itself), and goes by
/// [`Finder::rate`] and [`Finder::cap`].
#[derive(Debug)]
pub struct Finder {
    find: Find,
    trips: Trips,
    probes: Probes,
    law: DelayRate,
    /// Packets a second that have been usual.
    usual: f64,
    counted: Instant,
    carried: Carried,
    /// The rate of packets into the mesh, in packets' costs.
    pace: Pace,
    /// Packets of calls.
    calls: Pace,
    nearing: Nearing,
    resuming: Resuming,
    company: Company,
    /// Hops to the host that packets wait longest for.
    hops: Option<u32>,
    uplink: Uplink,
    paths: BTreeMap<IpAddr, Path>,
    hosts_max: usize,
    /// The wait that counts, and when it was looked for.
    common: Option<Span>,
    looked: Instant,
    /// What is left of the law's rate ([`damping`]).
    share: f64,
    /// The longest of the least round trips of the hosts that are heard.
    base: Span,
    /// How long it took to tell the wait that counts.
    lag: Span,
    /// When a packet left last, and since when nothing has been heard while packets leave.
    left: Option<Instant>,
    silent: Instant,
    heard: Option<Instant>,
    measured: Measured,
}

/// Round trips by what they were measured by, and requests for echoes.
#[derive(Clone, Copy, Debug, Default)]
struct Measured {
    tcp: u64,
    spin: u64,
    probes: u64,
    asked: u64,
}

impl Finder {
    /// Begins at this rate; remembers so many hosts at the most.
    #[must_use]
    pub fn new(find: Find, begin: Rate, hosts_max: usize) -> Self {
        let begin = packets(begin.clamp(find.least, find.most));
        Self {
            find,
            trips: Trips::new(hosts_max),
            probes: Probes::new(hosts_max),
            law: law(begin),
            usual: begin,
            counted: Instant::ZERO,
            carried: Carried::default(),
            pace: Pace::default(),
            calls: Pace::default(),
            nearing: Nearing::default(),
            resuming: Resuming::default(),
            company: Company::default(),
            hops: None,
            uplink: Uplink::default(),
            paths: BTreeMap::new(),
            hosts_max,
            common: None,
            looked: Instant::ZERO,
            share: 1.0,
            base: Span::ZERO,
            lag: Span::ZERO,
            left: None,
            silent: Instant::ZERO,
            heard: None,
            measured: Measured::default(),
        }
    }

    /// Other bounds; what was found stays.
    pub fn set_find(&mut self, find: Find) {
        self.find = find;
        within(&mut self.law, find);
    }

    /// The rate into the mesh that was found, in costs.
    #[must_use]
    pub fn rate(&self) -> Rate {
        rate_of(self.law.rate() * self.share).max(self.find.least)
    }

    /// Whether the mesh keeps the rate where it is, and neither a bound nor silence does.
    #[must_use]
    pub fn is_led(&self) -> bool {
        self.rate() < self.find.most && !self.found().is_blind
    }

    /// The most that goes to a host, in bytes, while it has a law of its own.
    #[must_use]
    pub fn cap(&self, now: Instant, host: IpAddr) -> Option<Rate> {
        self.paths.get(&host)?.own_rate(now).map(rate_of)
    }

    /// How long a host's packets wait in the mesh; `None`: no round trip has told lately.
    #[must_use]
    pub fn queue(&self, now: Instant, host: IpAddr) -> Option<Span> {
        self.paths.get(&host).filter(|path| path.is_heard(now)).map(Path::queue)
    }

    /// What was found.
    #[must_use]
    pub fn found(&self) -> Found {
        let Measured { tcp, spin, probes, asked } = self.measured;
        let blind = |left: Instant| self.heard.is_none_or(|heard| left.saturating_since(heard) >= BLIND);
        let is_blind = self.left.is_some_and(blind);
        let (find, queue, heard) = (self.find, self.common, self.heard);
        Found { find, queue, tcp, spin, probes, asked, heard, is_blind }
    }

    /// A packet came from the mesh.
    pub fn on_uplink(&mut self, now: Instant, size: Bytes) {
        self.uplink.comes(now, in_packets(size.0));
    }

    /// So much goes into the mesh, of all hosts together.
    pub fn carries(&mut self, now: Instant, size: Bytes, cost: u64) {
        if self.left.is_none_or(|left| now.saturating_since(left) >= BLIND) {
            (self.silent, self.share) = (now, 1.0);
        }
        self.left = Some(now);
        let cost = in_packets(cost);
        self.law.on_arrived(cost);
        self.carried.on_packet(now, cost);
        self.pace.on_packet(now, cost);
        self.uplink.leaves(now, in_packets(size.0));
        if now.saturating_since(self.silent) >= BLIND {
            let (stays, time) = BLINDLY;
            self.law.bound(self.law.rate() * stays);
            within(&mut self.law, self.find);
            self.silent += time;
        }
    }

    /// So much of that goes to a host, over so many hops if that is known.
    pub fn goes(&mut self, now: Instant, host: IpAddr, size: Bytes, hops: Option<u32>) {
        if let Some(path) = self.paths.get_mut(&host) {
            path.leaves(now, in_packets(size.0));
            path.hops = hops;
        }
    }

    /// A packet leaves for a host which may begin a round trip.
    pub fn begins(&mut self, now: Instant, host: IpAddr, price: f64, sign: Sign) {
        self.company.leaves(now, sign);
        let lasts = self.lasts(host);
        if let Some(gone) = self.trips.leaves(now, host, sign, lasts) {
            self.is_again(now, host, gone, price);
        }
    }

    /// What went to a host is sent again, and has been gone so long.
    pub fn is_again(&mut self, now: Instant, host: IpAddr, gone: Span, price: f64) {
        if let Some(path) = self.paths.get_mut(&host) {
            path.on_lost(now);
            // Others that left since then were answered: it was lost, and waits nowhere.
            if path.has_answered_since(now, gone) {
                return;
            }
            path.on_again(now);
        }
        self.on_round_trip(now, host, gone, By::Tcp, price);
    }

    /// A packet leaves that begins no round trip. If it is no acknowledgement, others are there, and it is a call's if it waited for no turn.
    pub fn goes_untold(&mut self, now: Instant, size: Bytes, waited: bool) {
        if size > ACK {
            self.company.others();
            self.calls.on_packet(now, f64::from(u8::from(!waited)));
        }
    }

    /// So many packets of calls left, of a driver that shapes elsewhere.
    pub fn talks(&mut self, now: Instant, packets: u64) {
        self.calls.on_packet(now, packets as f64);
    }

    /// Since when no more than one connection sends into the mesh, of such a driver; `None`: something else does.
    pub const fn is_alone_since(&mut self, since: Option<Instant>) {
        self.company.told(since);
    }

    /// A packet has left for a host: the number of the request for an echo that is to follow it, if one is.
    #[must_use = "it is to be sent"]
    pub fn asks(&mut self, now: Instant, host: IpAddr) -> Option<u32> {
        let told = self.paths.get(&host).and_then(|path| path.told(now));
        let number = self.probes.ask(now, host, told, self.find.probes)?;
        self.measured.asked += 1;
        // A host that never answered may not answer at all.
        if let (Some(path), Some(gone)) = (self.paths.get_mut(&host), self.probes.gone(now, host)) {
            path.on_again(now);
            let price = path.price();
            self.on_round_trip(now, host, gone, By::Probe, price);
        }
        Some(number)
    }

    /// A packet came from the mesh. `price` tells what a byte to a host costs. The host of which less may be in the mesh now.
    pub fn comes(
        &mut self,
        now: Instant,
        echo: Echo,
        price: impl FnOnce(IpAddr) -> Option<f64>,
    ) -> Option<IpAddr> {
        let (of, trip) = match echo {
            Echo::Probe(host, number) => {
                let rtt = self.probes.comes(now, host, number);
                (None, rtt.map(|rtt| Trip { host, rtt, by: By::Probe, is_single: false }))
            }
            Echo::Ack(key, _) | Echo::Spin(key, _) => {
                let of = self.trips.host(&key);
                let lasts = of.map_or(Span::ZERO, |host| self.lasts(host));
                (of, self.trips.comes(now, echo, lasts))
            }
        };
        if let (Echo::Ack(..), Some(path)) = (echo, of.and_then(|host| self.paths.get_mut(&host))) {
            path.on_answer(now);
        }
        let Some(Trip { host, rtt, by, is_single }) = trip else { return of };
        if is_single && self.is_a_timers(now, host, rtt) {
            return of;
        }
        if let Some(price) = price(host) {
            self.ends(now, host, rtt, by, price);
        }
        of
    }

    /// A round trip of TCP ends, whose acknowledgement answers a single segment: its driver has measured it.
    pub fn ends_single(&mut self, now: Instant, host: IpAddr, rtt: Span, price: f64) {
        if !self.is_a_timers(now, host, rtt) {
            self.ends(now, host, rtt, By::Tcp, price);
        }
    }

    /// Whether that may have been the receiver's timer. Then something was heard, and tells nothing else.
    fn is_a_timers(&mut self, now: Instant, host: IpAddr, rtt: Span) -> bool {
        let is = self.may_be_a_timers(now, host, rtt);
        if is {
            (self.heard, self.silent) = (Some(now), now);
        }
        is
    }

    /// A round trip to a host ends: its driver has measured it, or what comes tells it.
    pub fn ends(&mut self, now: Instant, host: IpAddr, rtt: Span, by: By, price: f64) {
        match by {
            By::Tcp => self.measured.tcp += 1,
            By::Spin => self.measured.spin += 1,
            By::Probe => self.measured.probes += 1,
        }
        self.paths.get_mut(&host).into_iter().for_each(|path| path.on_answer(now));
        self.on_round_trip(now, host, rtt, by, price);
    }

    /// A round trip to a host was measured.
    fn on_round_trip(&mut self, now: Instant, host: IpAddr, rtt: Span, by: By, price: f64) {
        let before = self.heard.replace(now).unwrap_or(now);
        self.silent = now;
        if !self.paths.contains_key(&host) && self.paths.len() >= self.hosts_max {
            self.paths.retain(|_, path| path.is_known(now));
            if self.paths.len() >= self.hosts_max {
                return;
            }
        }
        let waits = self.waits(now);
        let path = self.paths.entry(host).or_insert_with(|| Path::new(now));
        path.on_round_trip(now, rtt, by, price.max(1.0), &for_so_many(waits, 1.0));
        path.keep_within(self.find);

        let wanted = waits / self.law.rate();
        if let Some(common) = self.common(now, wanted) {
            let times = common.as_secs_f64() / wanted;
            let trip = self.base + common.max(SHORTEST);
            let talks = self.is_beside_calls(now);
            let resumed = self.resuming.hears(now, talks, self.law.rate());
            resumed.into_iter().for_each(|rate| self.law.raise(rate));
            let config = for_so_many(waits, if talks { times } else { times.min(LONG * FALLS) });
            let slower = if talks { self.nearing.slower(self.law.rate()) } else { 1.0 };
            self.nearing.waits(self.law.rate(), times);
            let config = DelayRateConfig { rise: config.rise * slower, ..config };
            let config = match by {
                By::Tcp | By::Spin => config,
                By::Probe => {
                    let rounds = now.saturating_since(before).as_secs_f64() / trip.as_secs_f64();
                    let (up, down) = (rounds.clamp(1.0, ROUNDS.0), rounds.clamp(1.0, ROUNDS.1));
                    DelayRateConfig { samples: 1, rise: config.rise * up, fall: config.fall * down, ..config }
                }
            };
            // In the time that its host takes to tell what a step did it goes no further than two. A step takes a trip; or, where little waits, the
            // time until the next round trip, if that is longer, as it is over a fast way until the rate is found.
            let little = if talks { TRIFLE } else { SHORT };
            let little = self.base.as_secs_f64() * self.law.rate() < FAST
                && (times < little || !talks && self.company.is_alone(now));
            let step = if little { trip.max(now.saturating_since(before)) } else { trip };
            let steps = (self.lag.as_secs_f64() / (2.0 * step.as_secs_f64())).max(1.0);
            self.law.set_config(DelayRateConfig {
                rise: config.rise / steps,
                fall: config.fall / steps,
                ..config
            });
            // No step is shorter than the longest way takes to answer one.
            self.law.on_round_trip_over(now, self.base, trip);
            if let Some(above) = self.above(now, times) {
                // What is taken off the rate is not unused, but whoever talks waits no longer for it.
                let share = if talks { 1.0 } else { self.share };
                self.law.bound(above * self.carried.most() / share);
            }
            within(&mut self.law, self.find);
        }
        let passed = now.saturating_since(self.counted).as_secs_f64();
        self.counted = now;
        self.usual += (self.law.rate() - self.usual) * (1.0 - exp(-passed / USUAL.as_secs_f64()));
    }

    /// How long packets wait in the mesh, a hop, on the way to the host of those with a say that they wait longest for; `None`: nobody
    /// has a say, and the rate stays.
    fn common(&mut self, now: Instant, wanted: f64) -> Option<Span> {
        if now.saturating_since(self.looked) < LOOKS {
            return self.common;
        }
        self.looked = now;
        let rate = self.law.rate().min(ABOVE * self.carried.most());
        let heard = self.paths.values().filter(|path| path.is_heard(now));
        self.base = heard.map(Path::base).max().unwrap_or(Span::ZERO);
        let claimed = self.claimed(now, wanted);
        let (mut longest, mut others): (Option<&mut Path>, bool) = (None, false);
        // A byte costs so much to the nearest of them.
        let mut price = f64::INFINITY;
        for path in self.paths.values_mut().filter(|path| path.has_a_say(now)) {
            price = price.min(path.price());
            others |= longest.is_some();
            if longest.as_ref().is_none_or(|longest| path.queue() > longest.queue()) {
                longest = Some(path);
            }
        }
        self.share = 1.0;
        self.common = longest.map(|path| {
            // A host that is alone takes nothing from another.
            if others {
                path.judge(now, rate, wanted * price);
            }
            (self.hops, self.lag) = (path.hops, path.lag());
            let queue = path.queue().as_secs_f64() / price;
            self.share = damping::share(queue, wanted, self.base.as_secs_f64());
            Span::from_secs_f64(queue.max(claimed))
        });
        self.common
    }
}

/// A law that begins at so many packets a second: it looks for more only while these are used.
fn law(begin: f64) -> DelayRate {
    DelayRate::new(DelayRateConfig { start: begin, ..for_so_many(WAITING, 1.0) }).begun()
}

/// Calm with so many packets waiting. It falls as fast as it rises, and faster where packets wait so many times longer than they should. Four times as
/// fast will do where nobody talks: [`damping`] does the rest at once, and a law that falls far for a burst of newcomers takes long to come back.
fn for_so_many(packets: f64, times: f64) -> DelayRateConfig {
    let calm = DelayRateConfig::CALM;
    DelayRateConfig { delta: 1.0 / packets, first: 0.0, fall: calm.rise * (times / LONG).max(1.0), ..calm }
}

fn within(law: &mut DelayRate, find: Find) {
    law.bound(packets(find.most));
    law.raise(packets(find.least));
}

/// Bytes, or what is paid for them, in packets.
fn in_packets(bytes: u64) -> f64 {
    bytes as f64 / PACKET.0 as f64
}

fn packets(rate: Rate) -> f64 {
    rate.as_bits_per_sec() as f64 / PACKET.bits() as f64
}

fn rate_of(packets: f64) -> Rate {
    Rate::bits_per_sec((packets * PACKET.bits() as f64) as u64)
}

#[cfg(test)]
mod tests;
