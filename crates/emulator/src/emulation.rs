//! The network with real hosts on it. `now` is an argument: simulated time, whoever keeps it.

use crate::crossings::Crossings;
use crate::entering;
use crate::traffic::{Traffic, TrafficResult};
use meshpace_gateway::Side;
use meshpace_mesh::probe::Probe;
use meshpace_mesh::{Live, RunResult};
use meshpace_packet::{Body, Host, Packet, PacketId};
use meshpace_radio::Position;
use meshpace_scenario::{Plan, Scenario, ScenarioError};
use meshpace_units::{Ecn, Instant};
use std::sync::Arc;

/// A scenario whose real hosts give and take packets.
pub struct Emulation<'a> {
    live: Live<'a>,
    hosts: Vec<Host>,
    ports: Vec<Port>,
    crossings: Crossings,
    traffic: Traffic,
}

/// Where packets go into a real host, and come out of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Port {
    /// The host, by its index.
    pub host: usize,
    /// What lies behind it, of a gateway; `None`: the host is none, and this its only port.
    pub side: Option<Side>,
}

/// A packet that has come to a real host, or to a gateway that is one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// When it came.
    pub at: Instant,
    /// Into which port it goes, by its index.
    pub port: usize,
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
        let mut live = Live::new(scenario, probe)?;
        let mut ports: Vec<_> = (0..hosts.len()).map(|host| Port { host, side: None }).collect();
        for (index, host) in hosts.iter().enumerate() {
            if live.give_out(*host) {
                ports[index].side = Some(Side::Wireless);
                ports.push(Port { host: index, side: Some(Side::Wired) });
            }
        }
        Ok(Self { live, hosts, ports, crossings: Crossings::default(), traffic: Traffic::new(begin) })
    }

    /// The ports: of each host one, that of a gateway toward the mesh; behind these those of gateways toward the wired links.
    #[must_use]
    pub fn ports(&self) -> &[Port] {
        &self.ports
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

    /// Where the nodes are now; `None`: nobody moves.
    #[must_use]
    pub fn places(&self) -> Option<&[Position]> {
        self.live.places()
    }

    /// When something happens next unless a host sends before.
    #[must_use]
    pub fn next_at(&self) -> Option<Instant> {
        self.live.next_at()
    }

    /// Lets things happen up to `now` until a packet comes to a real host, or to a gateway that is one. `None`: it is `now`.
    pub fn advance(&mut self, now: Instant) -> Option<Delivery> {
        while let Some((at, host, packet)) = self.live.advance(now) {
            // Where no real host is, nobody takes it.
            if let Some(index) = self.hosts.iter().position(|known| *known == host) {
                let port = if packet.to == host {
                    self.traffic.delivered(at, &packet);
                    match self.ports[index].side {
                        Some(_) => self.port(index, self.sent_from(&packet)),
                        None => index,
                    }
                } else {
                    self.crossings.enters(at, &packet);
                    self.port(index, came_from(&packet))
                };
                return Some(Delivery { at, port, bytes: leaving(packet) });
            }
        }
        None
    }

    /// On which side of a gateway the sender of a packet for the gateway itself is. Whom nobody knows is behind a wired host.
    fn sent_from(&self, packet: &Packet) -> Side {
        match self.live.addresses().host(packet.source) {
            Some(Host::Mesh(_)) => Side::Wireless,
            Some(Host::Wired(_)) | None => Side::Wired,
        }
    }

    /// The port of a gateway toward a side.
    fn port(&self, host: usize, side: Side) -> usize {
        let found = self.ports.iter().position(|port| *port == Port { host, side: Some(side) });
        found.unwrap_or_else(|| panic!("host {host} has no port on the {side:?} side"))
    }

    /// A packet comes out of a port, by its index, and sets out, or has crossed its gateway, at the time up to which things have [happened](Self::advance). What is no
    /// packet, or is for nobody here (a router's multicast), goes no further.
    pub fn send(&mut self, now: Instant, port: usize, bytes: &[u8]) {
        let Ok(packet) = entering::packet(bytes) else { return };
        let Port { host, side } = self.ports[port];
        let from = self.hosts[host];
        let (Host::Mesh(gateway), Some(side)) = (from, side) else {
            return self.sets_out(now, from, packet, |live, packet| live.send(from, packet));
        };
        let came_from = match side {
            Side::Wired => Side::Wireless,
            Side::Wireless => Side::Wired,
        };
        let crossed = |live: &mut Live<'_>, packet| live.crossed(came_from, gateway, packet);
        if self.live.addresses().host(packet.source) == Some(from) {
            return self.sets_out(now, from, packet, crossed);
        }
        let mut packet = packet;
        if let Some(known) = self.crossings.leaves(&packet) {
            packet.id = known.id;
            packet.travelled = known.travelled;
        }
        crossed(&mut self.live, packet);
    }

    fn sets_out(
        &mut self,
        now: Instant,
        from: Host,
        packet: Packet,
        send: impl FnOnce(&mut Live<'_>, Packet) -> Option<PacketId>,
    ) {
        let (size, class) = (packet.size, packet.class);
        let to = self.live.addresses().host(packet.destination);
        if let (Some(id), Some(to)) = (send(&mut self.live, packet), to) {
            self.traffic.sent(now, id, [from, to], size, class);
        }
    }

    /// What came of it up to `stopped`, and what went from host to host.
    #[must_use]
    pub fn report(self, scenario: &Scenario, stopped: Instant) -> (RunResult, Vec<TrafficResult>) {
        (self.live.report(stopped), self.traffic.results(scenario))
    }
}

/// From which side a packet has come to a gateway that it is to cross: what is for a host of the mesh comes from the wired one.
fn came_from(packet: &Packet) -> Side {
    match packet.to {
        Host::Mesh(_) => Side::Wired,
        Host::Wired(_) => Side::Wireless,
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
