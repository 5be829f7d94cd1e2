//! The rate of the hosts that the kernel shapes, found by the [`Finder`] of the shaper on NFQUEUE, sans I/O: fed by what the programs tell.
//!
//! The kernel reports the sum of the bytes that left, from time to time. It measures round trips of TCP, and reports each turn of QUIC's
//! spin bit. The driver sends ICMP echoes to hosts that have neither.

use super::exchange::{Measurement, Sums};
use crate::data_thread::Request as EchoRequest;
use crate::ebpf::exchange::{Event, EventKind};
use meshpace_gateway::{By, Echo, Find, Finder, Found, Sign};
use meshpace_units::{Bytes, Instant, Rate, Span};
use std::collections::BTreeMap;
use std::net::IpAddr;

/// What a byte costs: a rate is found only where hosts share bytes.
const PRICE: f64 = 1.0;

/// See the module's description.
#[derive(Debug)]
pub struct Finding {
    finder: Finder,
    /// What the kernel had counted at its latest report.
    counted: Option<Sums>,
    /// The bytes that had left by then, in costs.
    left: u64,
    /// Bytes that had come for each host.
    of_hosts: BTreeMap<IpAddr, u64>,
    /// Hops to hosts, as they were looked up since [`Self::retain`].
    far: BTreeMap<IpAddr, u32>,
    requests: Vec<EchoRequest>,
}

impl Finding {
    /// Begins at this rate; remembers so many hosts at the most.
    pub fn new(find: Find, begin: Rate, hosts_max: usize) -> Self {
        let finder = Finder::new(find, begin, hosts_max);
        let (of_hosts, far) = (BTreeMap::new(), BTreeMap::new());
        Self { finder, counted: None, left: 0, of_hosts, far, requests: Vec::new() }
    }

    /// Other bounds; what was found stays.
    pub fn set_find(&mut self, find: Find) {
        self.finder.set_find(find);
    }

    pub fn rate(&self) -> Rate {
        self.finder.rate()
    }

    pub fn cap(&self, now: Instant, host: IpAddr) -> Option<Rate> {
        self.finder.cap(now, host)
    }

    pub fn queue(&self, now: Instant, host: IpAddr) -> Option<Span> {
        self.finder.queue(now, host)
    }

    pub fn found(&self) -> Found {
        self.finder.found()
    }

    /// Takes what the shaper's programs tell, a thousand times a second at the most. `hops` tells how far away a host is, and is asked once a
    /// second.
    pub fn on_told(&mut self, told: &Measurement, hops: impl FnOnce(IpAddr) -> u32) {
        match *told {
            Measurement::Left { at, host, to, sums, of_host, alone } => {
                self.count(at, sums);
                let before = self.of_hosts.insert(host, of_host).unwrap_or(of_host);
                let far = *self.far.entry(host).or_insert_with(|| hops(host));
                self.finder.goes(at, host, Bytes(of_host.saturating_sub(before)), Some(far));
                self.finder.is_alone_since(alone);
                if let Some(number) = self.finder.asks(at, host) {
                    self.requests.push(EchoRequest { to, number });
                }
            }
            Measurement::SpinInto(at, host, key, bit) => {
                self.finder.begins(at, host, PRICE, Sign::Spin(key, bit));
            }
            Measurement::SpinOut(at, key, bit) => {
                self.finder.comes(at, Echo::Spin(key, bit), |_| Some(PRICE));
            }
        }
    }

    /// Takes what the gateway's programs measured of a connection of `host`.
    pub fn on_event(&mut self, event: &Event, host: IpAddr) {
        match event.told {
            EventKind::Sample(rtt) if event.is_single => self.finder.ends_single(event.at, host, rtt, PRICE),
            EventKind::Sample(rtt) => self.finder.ends(event.at, host, rtt, By::Tcp, PRICE),
            EventKind::Again(gone) => self.finder.is_again(event.at, host, gone, PRICE),
            EventKind::Opened | EventKind::Closed | EventKind::WiredSample(_) => {}
        }
    }

    /// A host has answered a request for an echo.
    pub fn on_echo(&mut self, now: Instant, host: IpAddr, number: u32) {
        self.finder.comes(now, Echo::Probe(host, number), |_| Some(PRICE));
    }

    /// Hosts to ask for an echo now.
    pub fn requests(&mut self) -> impl Iterator<Item = EchoRequest> {
        self.requests.drain(..)
    }

    /// Forgets what was counted of hosts that the kernel has forgotten, and how far away hosts were: once a second.
    pub fn retain(&mut self, is_known: impl Fn(IpAddr) -> bool) {
        self.of_hosts.retain(|host, _| is_known(*host));
        self.far.clear();
    }

    /// Tells the finder what has left since the last call. The kernel counts packets when they come; packets that wait have not left
    /// yet.
    pub fn count(&mut self, at: Instant, sums: Sums) {
        let rate = u128::from(self.finder.rate().as_bits_per_sec());
        let waits = u128::from(sums.work.saturating_since(at).as_nanos());
        let waiting = u64::try_from(rate * waits / 8_000_000_000).unwrap_or(u64::MAX);
        let left = sums.cost.saturating_sub(waiting);
        let Some(before) = self.counted.replace(sums) else {
            self.left = left;
            return;
        };
        // At another rate as many bytes take another time: what has left has left.
        let cost = left.saturating_sub(self.left);
        self.left = self.left.max(left);
        self.finder.on_uplink(at, Bytes(sums.uplink.saturating_sub(before.uplink)));
        self.finder.carries(at, Bytes(sums.bytes.saturating_sub(before.bytes)), cost);
        self.finder.talks(at, sums.calls.saturating_sub(before.calls));
    }
}

#[cfg(test)]
mod tests;
