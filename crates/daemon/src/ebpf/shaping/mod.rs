//! Hosts shaped in the kernel (`bpf/shaper.bpf.c`): what user space agrees with it about them, and what it reads out of its table.
//!
//! Who gets how much follows in the kernel from departure times alone; the terms, what a byte costs and the parameters are those of
//! [`meshpace_gateway::Shaper`], and its reports are filled from what the kernel counted.

mod kernel;
mod layout;

pub use kernel::{Kernel, Sizes, remove_leftovers};

use crate::config::Config;
use crate::hops::{Directory, WirelessPath};
use crate::state::HostsReport;
use layout::{Agreed, KernelHost, Shaping};
use meshpace_gateway::{HostStats, ShaperConfig, ShaperCounters, ShareBy, Terms};
use meshpace_units::{Bytes, Instant, Rate, Span};
use std::collections::BTreeMap;
use std::io;
use std::net::IpAddr;

/// What is known of hosts is looked for again after so long.
const LOOK: Span = Span::from_secs(1);
/// Hosts told at the most.
const TOLD: usize = 64;
/// Packets that may wait however long they take, as at the shaper of NFQUEUE.
const FEWEST: u64 = 16;
/// The largest packet of an Ethernet.
const MTU: Bytes = Bytes(1_500);
/// sch_fq drops what is ordered for later than its horizon, 10 s; twice the longest wait is ordered at the most.
const LONGEST: Span = Span::from_secs(4);
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
    looked: BTreeMap<IpAddr, Looked>,
    next: Instant,
}

impl Hosts {
    /// The hosts of a program that is loaded.
    pub fn new(now: Instant, kernel: Kernel) -> Self {
        Self { kernel, looked: BTreeMap::new(), next: now }
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
        let Some(shaper) = config.hosts.shaper else { return Ok(()) };
        self.kernel.set(&parameters(&shaper, config, alive_until))
    }

    /// Tells the program what the configuration agrees about hosts.
    ///
    /// # Errors
    /// What bpf(2) answers.
    pub fn agree(&mut self, now: Instant, config: &Config) -> io::Result<()> {
        let Some(shaper) = config.hosts.shaper else { return Ok(()) };
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
            self.kernel.disagree(host);
        }
        self.next = now + LOOK;
    }

    /// The hosts that have got most lately, and all together; `None` where they are not shaped.
    ///
    /// # Errors
    /// What bpf(2) answers.
    pub fn report(&self, now: Instant, config: &Config, hops: &Directory) -> io::Result<Option<HostsReport>> {
        let Some(shaper) = config.shaper() else { return Ok(None) };
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
        Ok(Some(HostsReport { config: shaper, counters, found: None, queued, known, hosts }))
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
            found: None,
            queue: None,
        }
    }
}

/// What came since the latest look, by the time; of no time what it was.
fn rate(looked: Looked, now: Instant, bytes: Bytes) -> Rate {
    let passed = u128::from(now.saturating_since(looked.at).as_nanos());
    // The kernel counts anew if it forgot the host in between.
    let since = u128::from(bytes.0.checked_sub(looked.bytes.0).unwrap_or(bytes.0));
    match (since * 8_000_000_000).checked_div(passed) {
        Some(rate) => Rate::bits_per_sec(u64::try_from(rate).unwrap_or(u64::MAX)),
        None => looked.rate,
    }
}

/// What is agreed about a host, and what is known of the way to it.
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
