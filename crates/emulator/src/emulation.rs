//! The network with real hosts on it. `now` is an argument: simulated time, whoever keeps it.

use crate::entering;
use crate::traffic::{Traffic, TrafficResult};
use meshpace_mesh::probe::Probe;
use meshpace_mesh::{Live, RunResult};
use meshpace_packet::{Body, Host, Packet};
use meshpace_scenario::{Plan, Scenario, ScenarioError};
use meshpace_units::{Ecn, Instant};
use std::sync::Arc;

/// A scenario whose real hosts give and take packets.
pub struct Emulation<'a> {
    live: Live<'a>,
    hosts: Vec<Host>,
    traffic: Traffic,
}

/// A packet that has come to a real host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// When it came.
    pub at: Instant,
    /// The host, by its index.
    pub host: usize,
    /// The packet's bytes. They are those that went in, but for a mark of congestion and what that changes of the header's
    /// checksum: to the hosts the mesh is one link, so that no hop counts down the time to live.
    pub bytes: Arc<[u8]>,
}

impl<'a> Emulation<'a> {
    /// A scenario at time 0; `hosts` are the real ones, `probe` looks on.
    ///
    /// # Errors
    /// As [`meshpace_mesh::run`].
    pub fn new(
        scenario: &'a Scenario,
        hosts: Vec<Host>,
        probe: &'a mut dyn Probe,
    ) -> Result<Self, ScenarioError> {
        let begin = match scenario.measure.plan {
            Plan::Time { warmup, .. } => Instant::ZERO + warmup,
            Plan::Batches { .. } => Instant::ZERO,
        };
        Ok(Self { live: Live::new(scenario, probe)?, hosts, traffic: Traffic::new(begin) })
    }

    /// When it is over, at the latest.
    #[must_use]
    pub fn end(&self) -> Instant {
        self.live.end()
    }

    /// True once a measurement by packets has all that it wants.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.live.is_complete()
    }

    /// When something happens next unless a host sends before.
    #[must_use]
    pub fn next_at(&self) -> Option<Instant> {
        self.live.next_at()
    }

    /// Lets things happen up to `now` until a packet comes to a real host. `None`: it is `now`.
    pub fn advance(&mut self, now: Instant) -> Option<Delivery> {
        while let Some((at, host, packet)) = self.live.advance(now) {
            // Where no real host is, nobody takes it.
            if let Some(index) = self.hosts.iter().position(|known| *known == host) {
                self.traffic.delivered(at, &packet);
                return Some(Delivery { at, host: index, bytes: leaving(packet) });
            }
        }
        None
    }

    /// A packet of a host, by its index, sets out, at the time up to which things have [happened](Self::advance). What is no
    /// packet, or is for nobody here (a router's multicast), goes no further.
    pub fn send(&mut self, now: Instant, host: usize, bytes: &[u8]) {
        let Ok(packet) = entering::packet(bytes) else { return };
        let (from, size, class) = (self.hosts[host], packet.size, packet.class);
        let to = self.live.addresses().host(packet.destination);
        if let (Some(id), Some(to)) = (self.live.send(from, packet), to) {
            self.traffic.sent(now, id, [from, to], size, class);
        }
    }

    /// What came of it up to `stopped`, and what went from host to host.
    #[must_use]
    pub fn report(self, scenario: &Scenario, stopped: Instant) -> (RunResult, Vec<TrafficResult>) {
        (self.live.report(stopped), self.traffic.results(scenario))
    }
}

/// The bytes of a packet that leaves the network.
fn leaving(packet: Packet) -> Arc<[u8]> {
    let Body::Opaque(opaque) = packet.body else { unreachable!("{packet:?} has no bytes") };
    if packet.ecn != Ecn::Ce {
        return opaque.bytes;
    }
    let mut bytes = opaque.bytes.to_vec();
    meshpace_wire::mark(&mut bytes);
    bytes.into()
}

#[cfg(test)]
mod tests;
