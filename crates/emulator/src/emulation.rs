//! The network with real hosts on it. `now` is an argument: simulated time, by whatever clock.

mod frames;

pub use frames::{FrameCounts, FramesResult};

use crate::air::measured_from;
use crate::crossings::Crossings;
use crate::entering;
use crate::traffic::{Traffic, TrafficResult};
use frames::{Frames, Stations};
use meshpace_gateway::Side;
use meshpace_mesh::probe::Probe;
use meshpace_mesh::{Live, RunResult};
use meshpace_network::AirId;
use meshpace_radio::Position;
use meshpace_relay::packet::{Body, Ethernet, Host, Packet, PacketId};
use meshpace_scenario::{EmulatedEvent, Happening, Layer, Scenario, ScenarioError};
use meshpace_units::{Ecn, Instant};
use std::collections::VecDeque;
use std::sync::Arc;

/// What the devices toward the mesh are called in every host, before their numbers from 0.
pub const DEVICES: &str = "mesh";
/// What a gateway's second device is called, the one toward the wired links.
pub const WIRED_DEVICE: &str = "wired0";

/// A scenario whose real hosts give and take packets.
pub struct Emulation<'a> {
    live: Live<'a>,
    hosts: Vec<Host>,
    ports: Vec<Port>,
    /// The MAC addresses of the radios.
    stations: Stations,
    frames: Frames,
    /// What has not happened yet.
    events: VecDeque<EmulatedEvent>,
    crossings: Crossings,
    traffic: Traffic,
}

/// Where packets go into a real host, and come out of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Port {
    /// The host, by its index.
    pub host: usize,
    /// What lies behind it.
    pub behind: Behind,
}

/// What lies behind a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Behind {
    /// Everything: the only port of a host that is no gateway.
    Network,
    /// One side of a gateway.
    Side(Side),
    /// The neighbours on a channel, with Ethernet frames: of a node whose kernel forwards.
    Channel(AirId),
}

/// A packet that has come to a real host, or to a gateway that is one; a frame that has come to a neighbour.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// When it came.
    pub at: Instant,
    /// Into which port it goes, by its index.
    pub port: usize,
    /// The packet's bytes, or the frame's. They are those that went in, but for a mark of congestion and what that changes of the header's
    /// checksum: to the hosts the mesh is one link, so that no hop counts down the time to live.
    pub bytes: Arc<[u8]>,
}

impl<'a> Emulation<'a> {
    /// A scenario at time 0; `hosts` are the real ones, with what their devices carry; `probe` looks on.
    ///
    /// # Errors
    /// As [`meshpace_mesh::run`].
    pub fn new(
        scenario: &'a Scenario,
        hosts: &[(Host, Layer)],
        probe: &'a mut dyn Probe,
    ) -> Result<Self, ScenarioError> {
        let begin = measured_from(scenario);
        let mut live = Live::new(scenario, probe)?;
        let (mut ports, mut further) = (Vec::new(), Vec::new());
        for (host, (who, layer)) in hosts.iter().enumerate() {
            let is_gateway = live.give_out(*who);
            let mut behind = match (layer, who) {
                (Layer::Frames, Host::Mesh(node)) => live.channels(*node).map(Behind::Channel).collect(),
                _ if is_gateway => vec![Behind::Side(Side::Wireless)],
                _ => vec![Behind::Network],
            };
            if is_gateway {
                behind.push(Behind::Side(Side::Wired));
            }
            let mut of_host = behind.into_iter().map(|behind| Port { host, behind });
            ports.extend(of_host.next());
            further.extend(of_host);
        }
        ports.extend(further);
        Ok(Self {
            live,
            hosts: hosts.iter().map(|(host, _)| *host).collect(),
            stations: Stations::new(scenario),
            frames: Frames::new(begin, ports.len()),
            ports,
            events: scenario.emulated_events.iter().copied().collect(),
            crossings: Crossings::default(),
            traffic: Traffic::new(begin),
        })
    }

    /// The ports: of each host one, toward the mesh (on the first channel, where it carries frames); behind these further ones, those on
    /// other channels and those of gateways toward the wired links.
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

    /// Where the nodes are now; `None`: no node moves.
    #[must_use]
    pub fn places(&self) -> Option<&[Position]> {
        self.live.places()
    }

    /// When something happens next unless a host sends before.
    #[must_use]
    pub fn next_at(&self) -> Option<Instant> {
        let event = self.events.front().map(|event| Instant::ZERO + event.at);
        [self.live.next_at(), event].into_iter().flatten().min()
    }

    /// Lets things happen up to `now` until a packet comes to a real host, or to a gateway that is one. `None`: it is `now`.
    pub fn advance(&mut self, now: Instant) -> Option<Delivery> {
        loop {
            let event = self.events.front().copied().filter(|event| Instant::ZERO + event.at <= now);
            let until = event.map_or(now, |event| Instant::ZERO + event.at);
            if let Some(delivery) = self.advance_undisturbed(until) {
                return Some(delivery);
            }
            let EmulatedEvent { node, what, .. } = event?;
            match what {
                Happening::Switched { on } => self.live.switch(node, on),
                Happening::Goes { x, y, takes } => self.live.go(node, (x, y), takes),
            }
            self.events.pop_front();
        }
    }

    /// The same where no node is switched meanwhile.
    fn advance_undisturbed(&mut self, now: Instant) -> Option<Delivery> {
        while let Some((at, host, packet)) = self.live.advance(now) {
            // Where no real host is, it ends.
            let Some(index) = self.hosts.iter().position(|known| *known == host) else { continue };
            let port = match &packet.body {
                Body::Ethernet(frame) => self.frame_comes(at, index, frame, &packet),
                _ if packet.to == host => self.packet_comes(at, index, &packet),
                _ => {
                    self.crossings.enters(at, &packet);
                    self.port(index, Behind::Side(came_from(&packet)))
                }
            };
            if let Some(port) = port {
                return Some(Delivery { at, port, bytes: leaving(packet) });
            }
        }
        None
    }

    /// A packet has come to the host that it is for: the port that it goes into. `None`: the host takes none from there.
    fn packet_comes(&mut self, at: Instant, index: usize, packet: &Packet) -> Option<usize> {
        let side = Behind::Side(self.sent_from(packet));
        let port = self.port(index, Behind::Network).or_else(|| self.port(index, side))?;
        self.traffic.delivered(at, packet);
        Some(port)
    }

    /// On which side of a gateway the sender of a packet for the gateway itself is. An unknown sender is behind a wired host.
    fn sent_from(&self, packet: &Packet) -> Side {
        match self.live.addresses().host(packet.source) {
            Some(Host::Mesh(_)) => Side::Wireless,
            Some(Host::Wired(_)) | None => Side::Wired,
        }
    }

    /// The port of a host, by its index, toward something. `None`: it has none.
    fn port(&self, host: usize, behind: Behind) -> Option<usize> {
        self.ports.iter().position(|port| *port == Port { host, behind })
    }

    /// A packet or frame comes out of a port, by its index, and sets out, or has crossed its gateway, at the time up to which things have
    /// [happened](Self::advance). Bytes that are no packet, and packets for no host here (a router's multicast), go no further.
    pub fn send(&mut self, now: Instant, port: usize, bytes: &[u8]) {
        let Port { host, behind } = self.ports[port];
        let from = self.hosts[host];
        if let (Host::Mesh(node), Behind::Channel(on)) = (from, behind) {
            return self.send_frame(now, (port, on), node, bytes);
        }
        let Ok(packet) = entering::packet(bytes) else { return };
        let (Host::Mesh(gateway), Behind::Side(side)) = (from, behind) else {
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

    /// The results up to `stopped`, the traffic from host to host, and the frames of nodes whose kernels forward.
    #[must_use]
    pub fn report(
        self,
        scenario: &Scenario,
        stopped: Instant,
    ) -> (RunResult, Vec<TrafficResult>, Vec<FramesResult>) {
        let frames = self.frame_results(scenario);
        (self.live.report(stopped), self.traffic.results(scenario), frames)
    }
}

/// From which side a packet has come to a gateway that it is to cross: what is for a host of the mesh comes from the wired one.
fn came_from(packet: &Packet) -> Side {
    match packet.to {
        Host::Mesh(_) => Side::Wired,
        Host::Wired(_) => Side::Wireless,
    }
}

/// The bytes of a packet or frame that leaves the network.
fn leaving(packet: Packet) -> Arc<[u8]> {
    let (bytes, header) = match packet.body {
        Body::Opaque(opaque) => (opaque.bytes, 0),
        Body::Ethernet(frame) => (frame.bytes, Ethernet::HEADER),
        _ => unreachable!("{packet:?} has no bytes"),
    };
    if packet.ecn != Ecn::Ce {
        return bytes;
    }
    let mut bytes = bytes.to_vec();
    meshpace_wire::mark(&mut bytes[header..]);
    bytes.into()
}

#[cfg(test)]
mod tests;
