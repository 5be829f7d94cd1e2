//! Hosts shaped in the kernel (`bpf/shaper.bpf.c`): what user space agrees with it about them, and what it reads out of its table.
//!
//! In the kernel, departure times alone decide what each host gets. The terms, the price of a byte and the parameters are those of
//! [`meshpace_gateway::Shaper`], and its reports are filled with the kernel's counters. If the rate has to be found, it is found
//! here.

pub(crate) mod exchange;
mod finding;
mod kernel;

pub use kernel::{Kernel, Sizes, remove_leftovers};

use crate::config::Config;
use crate::data_thread::Request as EchoRequest;
use crate::ebpf::exchange::Event;
use crate::hops::{Directory, WirelessPath};
use crate::state::HostsReport;
use exchange::{Agreed, KernelHost, Measurement, Shaping};
use finding::Finding;
use meshpace_gateway::{HostStats, ShaperConfig, ShaperCounters, ShareBy, Terms};
use meshpace_units::{Bytes, Instant, Rate, Span};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::net::IpAddr;

/// The facts about hosts are looked up again after so long.
const LOOK: Span = Span::from_secs(1);
/// For a round trip the program's sums are read no more often than this.
const COUNTED: Span = Span::from_millis(10);
/// Hosts told at the most.
const TOLD: usize = 64;
/// Packets that may wait however long they take, as at the shaper of NFQUEUE.
const FEWEST: u64 = 16;
/// The largest packet of an Ethernet.
const MTU: Bytes = Bytes(1_500);
/// sch_fq drops what is ordered for later than its horizon, 10 s; twice the longest wait is ordered at the most.
const LONGEST: Span = Span::from_secs(4);
/// The program gets a new rate if it differs by such a part.
const TOLD_PART: u64 = 128;
/// Slots of time are no shorter than 2.1 ms; the program keeps 512 of them.
const SHORTEST_SLOT: u32 = 21;
const SLOTS: u64 = 512;

/// What was counted of a host at the latest look.
#[derive(Clone, Copy, Debug)]
struct Looked {
    at: Instant,
    bytes: Bytes,
    rate: Rate,
}

/// See the module's description.
pub struct Hosts {
    kernel: Kernel,
    /// Where the rate comes from, unless it is given.
    finding: Option<Finding>,
    /// What the program was told last.
    told: Option<Shaping>,
    /// Caps of hosts whose own paths carry no more, as the program has them.
    caps: BTreeMap<IpAddr, Rate>,
    /// Hosts that the program reported on since.
    heard: BTreeSet<IpAddr>,
    looked: BTreeMap<IpAddr, Looked>,
    next: Instant,
    /// When the program's sums were read last for the finder.
    counted: Instant,
}

impl Hosts {
    /// The hosts of a program that is loaded.
    pub fn new(now: Instant, kernel: Kernel) -> Self {
        let (caps, looked) = (BTreeMap::new(), BTreeMap::new());
        Self {
            kernel,
            finding: None,
            told: None,
            caps,
            heard: BTreeSet::new(),
            looked,
            next: now,
            counted: now,
        }
    }

    /// The program and its interfaces.
    pub const fn kernel(&mut self) -> &mut Kernel {
        &mut self.kernel
    }

    /// Renews the program's leave to act until then; without a shaper in force it has none.
    ///
    /// # Errors
    /// What bpf(2) answers.
    pub fn give_sign(&mut self, config: &Config, alive_until: Instant) -> io::Result<()> {
        let alive_until = if config.shaper().is_some() { alive_until } else { Instant::ZERO };
        let Some(shaper) = self.with_found(config.hosts.shaper) else { return Ok(()) };
        self.set(parameters(&shaper, config, alive_until))
    }

    fn set(&mut self, shaping: Shaping) -> io::Result<()> {
        let Shaping { finds, shift, .. } = shaping;
        // To the program, slots of another length are empty ones: who is busy has to be seen anew. A rate that is found moves all the time.
        let kept = self.told.map(|told| told.shift).filter(|kept| finds && kept.abs_diff(shift) <= 1);
        let shaping = Shaping { shift: kept.unwrap_or(shift), ..shaping };
        self.told = Some(shaping);
        self.kernel.set(&shaping)
    }

    /// The shaper's parameters with the rate that was found.
    fn with_found(&self, shaper: Option<ShaperConfig>) -> Option<ShaperConfig> {
        let shaper = shaper?;
        Some(ShaperConfig { rate: self.finding.as_ref().map_or(shaper.rate, Finding::rate), ..shaper })
    }

    /// Takes the programs' reports, at most `most` of them.
    pub fn hear(&mut self, most: usize, hops: &Directory) {
        for _ in 0..most {
            let Some(told) = self.kernel.told() else { return };
            let Some(finding) = &mut self.finding else { continue };
            finding.on_told(&told, |host| hops.table().way(host, None).hops);
            if let Measurement::Left { host, .. } = told {
                self.heard.insert(host);
            }
        }
    }

    /// Takes what the gateway's programs measured of a connection. What left before that counts first: the program reports on that only
    /// when a further packet comes, and without it a round trip behind a burst would meet a rate that nothing seems to use.
    pub fn on_event(&mut self, event: &Event, config: &Config) {
        if let Some(finding) = &mut self.finding {
            if event.at.saturating_since(self.counted) >= COUNTED
                && let Ok(all) = self.kernel.all(event.at)
            {
                finding.count(event.at, all.sums);
                self.counted = event.at;
            }
            finding.on_event(event, config.counts_as(event.key.wireless.address));
        }
    }

    /// A host has answered a request for an echo.
    pub fn on_echo(&mut self, now: Instant, from: IpAddr, number: u32, config: &Config) {
        if let Some(finding) = &mut self.finding {
            finding.on_echo(now, config.counts_as(from), number);
        }
    }

    /// Hosts to ask for an echo now.
    pub fn requests(&mut self) -> impl Iterator<Item = EchoRequest> {
        self.finding.iter_mut().flat_map(Finding::requests)
    }

    /// Has the program go by what was found since.
    ///
    /// # Errors
    /// What bpf(2) answers.
    pub fn follow_found(&mut self, now: Instant, config: &Config) -> io::Result<()> {
        let (Some(shaper), Some(told)) = (self.with_found(config.shaper()), self.told) else { return Ok(()) };
        if self.finding.is_none() {
            return Ok(());
        }
        if is_other(told.rate, shaper.rate) {
            self.set(parameters(&shaper, config, told.alive_until))?;
        }
        for host in std::mem::take(&mut self.heard) {
            self.cap(now, host, config);
        }
        Ok(())
    }

    /// Has a host have what its own path carries, if that is what was found.
    fn cap(&mut self, now: Instant, host: IpAddr, config: &Config) {
        let found = self.finding.as_ref().and_then(|finding| finding.cap(now, host));
        match (found, self.caps.get(&host)) {
            (None, None) => {}
            (None, Some(_)) => {
                self.caps.remove(&host);
                self.kernel.disagree(host);
            }
            (Some(found), Some(told)) if !is_other(*told, found) => {}
            (Some(found), _) => {
                let policy = config.policy(host);
                let cap = policy.cap.into_iter().chain([found]).min();
                self.kernel.agree(host, &Agreed { cap, weight: policy.weight, price: 1.0, together: None });
                self.caps.insert(host, found);
            }
        }
    }

    /// Tells the program what the configuration agrees about hosts.
    ///
    /// # Errors
    /// What bpf(2) answers.
    pub fn agree(&mut self, now: Instant, config: &Config) -> io::Result<()> {
        let Some(shaper) = config.hosts.shaper else { return Ok(()) };
        match (shaper.find, &mut self.finding) {
            (Some(find), Some(finding)) => finding.set_find(find),
            (find, finding) => {
                *finding = find.map(|find| Finding::new(find, shaper.rate, shaper.hosts_max));
            }
        }
        // What was agreed about single hosts is agreed anew at the next look.
        self.caps.clear();
        self.looked.keys().for_each(|host| self.kernel.disagree(*host));
        let prefixes: Vec<_> = config
            .shares()
            .map(|(prefix, share)| {
                let price = otherwise(&shaper, config).price;
                (prefix, Agreed { cap: share.cap, weight: share.weight, price, together: share.together })
            })
            .collect();
        self.next = now;
        self.kernel.agree_on_prefixes(&prefixes)
    }

    /// When [`Self::look`] is next of use.
    pub const fn poll_timeout(&self) -> Instant {
        self.next
    }

    /// Looks who there is: how far away they are, and how fast they get what they get.
    pub fn look(&mut self, now: Instant, config: &Config, hops: &Directory) {
        let Some(shaper) = config.shaper() else {
            self.next = now + LOOK;
            return;
        };
        let known: BTreeMap<IpAddr, KernelHost> = self.kernel.hosts(now).collect();
        for (host, known) in &known {
            let new = Looked { at: now, bytes: known.shaped.bytes, rate: Rate::bits_per_sec(0) };
            let looked = self.looked.entry(*host).or_insert(new);
            looked.rate = rate(*looked, now, known.shaped.bytes);
            (looked.at, looked.bytes) = (now, known.shaped.bytes);
            if shaper.by == ShareBy::Airtime {
                let terms = terms(config, hops, *host);
                let price = shaper.price(&terms);
                self.kernel
                    .agree(*host, &Agreed { cap: terms.cap, weight: terms.weight, price, together: None });
            }
        }
        let gone: Vec<IpAddr> =
            self.looked.keys().filter(|host| !known.contains_key(host)).copied().collect();
        for host in gone {
            self.looked.remove(&host);
            self.caps.remove(&host);
            self.kernel.disagree(host);
        }
        if let Some(finding) = &mut self.finding {
            finding.retain(|host| known.contains_key(&host));
        }
        self.next = now + LOOK;
    }

    /// The hosts that have got most lately, and all together; `None` where they are not shaped.
    ///
    /// # Errors
    /// What bpf(2) answers.
    pub fn report(&self, now: Instant, config: &Config, hops: &Directory) -> io::Result<Option<HostsReport>> {
        let Some(shaper) = self.with_found(config.shaper()) else { return Ok(None) };
        let all = self.kernel.all(now)?;
        let stats = |(host, known)| self.stats(now, &shaper, terms(config, hops, host), host, &known);
        let mut hosts: Vec<HostStats> = self.kernel.hosts(now).map(stats).collect();
        let known = hosts.len();
        hosts.sort_by_key(|host| std::cmp::Reverse((host.rate, host.queued, host.seen)));
        hosts.truncate(TOLD);
        let counters = ShaperCounters {
            packets: all.shaped.packets,
            bytes: all.shaped.bytes,
            dropped: all.shaped.dropped,
            crowded: all.shaped.crowded,
            marked: all.shaped.marked,
        };
        let queued = usize::try_from(all.waiting).unwrap_or(usize::MAX);
        let found = self.finding.as_ref().map(Finding::found);
        Ok(Some(HostsReport { config: shaper, counters, found, queued, known, hosts }))
    }

    fn stats(
        &self,
        now: Instant,
        shaper: &ShaperConfig,
        terms: Terms,
        host: IpAddr,
        known: &KernelHost,
    ) -> HostStats {
        let rate = self.looked.get(&host).map_or(Rate::bits_per_sec(0), |looked| looked.rate);
        // What will have left by then, as fast as lately.
        let ahead = known.work.saturating_since(now).as_secs_f64();
        let queued_bytes = Bytes((rate.as_bits_per_sec() as f64 / 8.0 * ahead) as u64);
        HostStats {
            host,
            terms,
            price: shaper.price(&terms),
            rate,
            queued: queued_bytes.0.div_ceil(MTU.0) as usize,
            queued_bytes,
            flows: if known.work > now { known.flows } else { 0 },
            wait: known.wait,
            packets: known.shaped.packets,
            bytes: known.shaped.bytes,
            dropped: known.shaped.dropped,
            marked: known.shaped.marked,
            seen: known.seen,
            found: self.finding.as_ref().and_then(|finding| finding.cap(now, host)),
            queue: self.finding.as_ref().and_then(|finding| finding.queue(now, host)),
            may_send: None,
        }
    }
}

/// True if a rate differs so much from the rate in force that the program has to learn it.
fn is_other(told: Rate, rate: Rate) -> bool {
    told.as_bits_per_sec().abs_diff(rate.as_bits_per_sec()) > told.as_bits_per_sec() / TOLD_PART
}

/// The rate since the latest look; if no time has passed, the rate of that look.
fn rate(looked: Looked, now: Instant, bytes: Bytes) -> Rate {
    let passed = u128::from(now.saturating_since(looked.at).as_nanos());
    // The kernel counts anew if it forgot the host in between.
    let since = u128::from(bytes.0.checked_sub(looked.bytes.0).unwrap_or(bytes.0));
    match (since * 8_000_000_000).checked_div(passed) {
        Some(rate) => Rate::bits_per_sec(u64::try_from(rate).unwrap_or(u64::MAX)),
        None => looked.rate,
    }
}

/// The configured terms of a host, and the known facts about the way to it.
fn terms(config: &Config, hops: &Directory, host: IpAddr) -> Terms {
    let WirelessPath { hops, rate, .. } = hops.table().way(host, None);
    let policy = config.policy(host);
    Terms { weight: policy.weight, cap: policy.cap, hops, link: rate }
}

/// Of hosts of which nothing is agreed, and whose hops are not known yet.
fn otherwise(shaper: &ShaperConfig, config: &Config) -> Agreed {
    let terms = Terms { weight: 1, cap: None, hops: config.hops.default, link: config.mesh.rate };
    Agreed { cap: None, weight: 1, price: shaper.price(&terms), together: None }
}

/// The shaper's parameters as the program takes them.
fn parameters(shaper: &ShaperConfig, config: &Config, alive_until: Instant) -> Shaping {
    let longest = shaper.longest.min(LONGEST);
    Shaping {
        alive_until,
        rate: shaper.rate,
        longest,
        fewest: MTU * FEWEST,
        target: shaper.target.min(LONGEST),
        interval: shaper.interval,
        overhead: shaper.overhead,
        places: u32::try_from(shaper.packets_max).unwrap_or(u32::MAX),
        shift: shift(shaper.rate, longest),
        finds: shaper.find.is_some(),
        otherwise: otherwise(shaper, config),
    }
}

/// Slots of time about as long as a packet takes; all of them last longer than two and a half of the longest wait.
fn shift(rate: Rate, longest: Span) -> u32 {
    let packet = rate.time_to_send(MTU).unwrap_or(LONGEST).min(LONGEST).as_nanos();
    let least = (longest.as_nanos() * 5 / 2).div_ceil(SLOTS);
    SHORTEST_SLOT.max(packet.max(1).ilog2()).max(least.max(1).next_power_of_two().ilog2())
}

#[cfg(test)]
mod tests;
