//! Nodes whose kernels forward: Ethernet frames to and from neighbours.
//!
//! On the air 802.11's header is in the place of Ethernet's: a frame is as large as what it carries and the scenario's `mac_overhead`. A
//! station sends under its own address alone, as one without four-address frames does (IEEE Std 802.11-2020, 9.3.2.1).

use super::{Behind, DEVICES, Emulation, Port, WIRED_DEVICE};
use crate::air::AirTime;
use crate::entering;
use meshpace_gateway::Side;
use meshpace_network::AirId;
use meshpace_relay::packet::{Ethernet, Host, Packet};
use meshpace_scenario::{Endpoint, Scenario};
use meshpace_units::{Instant, NodeId};
use serde::Serialize;
use std::collections::BTreeMap;

/// The most that a frame carries: an MSDU of 2,304 bytes (IEEE Std 802.11-2020, table 9-25) with 8 of LLC/SNAP.
const MOST: usize = 2304 - 8;
/// The bit of an address that is for several stations (IEEE Std 802.3-2018, 3.2.3).
const GROUP: u8 = 1;

/// A MAC address.
pub type Mac = [u8; 6];

/// The MAC addresses of the radios: each radio of a node has its own.
pub struct Stations {
    /// By channel and node.
    of: Vec<Vec<Mac>>,
    /// By channel.
    nodes: Vec<BTreeMap<Mac, NodeId>>,
}

impl Stations {
    /// Those of a scenario.
    pub fn new(scenario: &Scenario) -> Self {
        let nodes = || (0..scenario.mesh.len()).map(NodeId::from_index);
        let on = |channel| nodes().map(|node| scenario.mac_on(channel, node)).collect();
        let of: Vec<Vec<_>> = (0..scenario.channels.len().max(1)).map(on).collect();
        let nodes = of.iter().map(|macs| macs.iter().copied().zip(nodes()).collect());
        Self { nodes: nodes.collect(), of }
    }
}

/// Frames that passed a device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct FrameCounts {
    /// Frames that the kernel gave to the radio.
    pub sent: u64,
    /// Bytes of these frames, with Ethernet's header.
    pub sent_bytes: u64,
    /// Frames sent to all or to several stations.
    pub sent_to_all: u64,
    /// Frames that came to the kernel.
    pub received: u64,
    /// Bytes of these frames, with Ethernet's header.
    pub received_bytes: u64,
    /// Frames received that were for all or for several stations.
    pub received_to_all: u64,
    /// Frames refused because they are shorter than Ethernet's header.
    pub runts: u64,
    /// Frames refused because they are longer than 802.11 carries.
    pub oversized: u64,
    /// Frames refused because their source is another station's address.
    pub foreign: u64,
    /// Frames refused because no station on the channel has their destination.
    pub unknown: u64,
}

/// Of each port, over the measured interval.
pub struct Frames {
    begin: Instant,
    /// Of what was before; it is not told.
    before: FrameCounts,
    /// Zeros where packets are carried.
    pub(super) by_port: Vec<FrameCounts>,
}

impl Frames {
    /// What is from `begin` on counts.
    pub fn new(begin: Instant, ports: usize) -> Self {
        Self { begin, before: FrameCounts::default(), by_port: vec![FrameCounts::default(); ports] }
    }

    fn counts(&mut self, now: Instant, port: usize) -> &mut FrameCounts {
        if now < self.begin { &mut self.before } else { &mut self.by_port[port] }
    }
}

/// The same, and whose.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FramesResult {
    /// The node.
    pub node: String,
    /// The device.
    pub device: String,
    /// What went through it.
    #[serde(flatten)]
    pub counts: FrameCounts,
    /// How long its radio was on the air.
    #[serde(flatten)]
    pub airtime: AirTime,
}

impl Emulation<'_> {
    /// A kernel gives a frame to its radio on a channel. One that no radio would send goes no further.
    pub(super) fn send_frame(
        &mut self,
        now: Instant,
        (port, on): (usize, AirId),
        node: NodeId,
        bytes: &[u8],
    ) {
        let counts = self.frames.counts(now, port);
        let Some((destination, source)) = addresses(bytes) else { return counts.runts += 1 };
        if bytes.len() > Ethernet::HEADER + MOST {
            return counts.oversized += 1;
        }
        if source != self.stations.of[on.index()][node.index()] {
            return counts.foreign += 1;
        }
        let to = match destination {
            several if several[0] & GROUP != 0 => None,
            one => match self.stations.nodes[on.index()].get(&one) {
                Some(neighbour) if *neighbour != node => Some(*neighbour),
                Some(_) | None => return counts.unknown += 1,
            },
        };
        let mut packet = entering::frame(bytes);
        let (here, size, class) = (Host::Mesh(node), packet.size, packet.class);
        let book = self.live.addresses();
        let (from, goal) = (book.host(packet.source), book.host(packet.destination));
        let sets_out = from == Some(here);
        if !sets_out && let Some(known) = self.crossings.leaves(&packet) {
            packet.id = known.id;
            packet.travelled = known.travelled;
        }
        let sent = self.live.send_frame(node, on, to, packet);
        let counts = self.frames.counts(now, port);
        let Some(id) = sent else { return counts.unknown += 1 };
        counts.sent += 1;
        counts.sent_bytes += bytes.len() as u64;
        counts.sent_to_all += u64::from(to.is_none());
        if let (true, Some(_), Some(goal)) = (sets_out, to, goal) {
            self.traffic.sent(now, id, [here, goal], size, class);
        }
    }

    /// A frame has come to a node: the port that it goes into. `None`: the host there takes no frames.
    pub(super) fn frame_comes(
        &mut self,
        at: Instant,
        index: usize,
        frame: &Ethernet,
        packet: &Packet,
    ) -> Option<usize> {
        let on = |port: &Port| matches!(port.behind, Behind::Channel(air) if air.index() == frame.channel as usize);
        let port = self.ports.iter().position(|port| port.host == index && on(port))?;
        let counts = self.frames.counts(at, port);
        counts.received += 1;
        counts.received_bytes += frame.bytes.len() as u64;
        counts.received_to_all += u64::from(packet.next_hop.is_none());
        if packet.next_hop.is_some() {
            match self.live.addresses().host(packet.destination) {
                Some(goal) if goal == self.hosts[index] => self.traffic.delivered(at, packet),
                // Its kernel forwards it, and the frame in which it goes on is known by what is in it.
                Some(_) => self.crossings.enters(at, packet),
                None => {}
            }
        }
        Some(port)
    }

    /// The radios of the devices that carry frames, in the order of their rows in the [report](Self::report).
    pub fn radios(&self) -> impl Iterator<Item = (AirId, NodeId)> + '_ {
        self.ports.iter().filter_map(|port| match (port.behind, self.hosts[port.host]) {
            (Behind::Channel(air), Host::Mesh(node)) => Some((air, node)),
            _ => None,
        })
    }

    /// A row a device that carries frames.
    pub(super) fn frame_results(&self, scenario: &Scenario) -> Vec<FramesResult> {
        let rows =
            self.ports.iter().zip(&self.frames.by_port).enumerate().filter_map(|(index, (port, counts))| {
                let (Behind::Channel(_), Host::Mesh(node)) = (port.behind, self.hosts[port.host]) else {
                    return None;
                };
                let node = scenario.name_of(Endpoint::Mesh(node)).to_owned();
                Some(FramesResult {
                    node,
                    device: self.device(index),
                    counts: *counts,
                    airtime: AirTime::default(),
                })
            });
        rows.collect()
    }

    /// What the device at a port, by its index, is called.
    #[must_use]
    pub fn device(&self, port: usize) -> String {
        let Port { host, behind } = self.ports[port];
        if behind == Behind::Side(Side::Wired) {
            return WIRED_DEVICE.to_owned();
        }
        let before = self.ports[..port].iter().filter(|other| other.host == host).count();
        format!("{DEVICES}{before}")
    }
}

/// Destination and source of a frame; `None`: it is too short.
fn addresses(bytes: &[u8]) -> Option<(Mac, Mac)> {
    let header = bytes.first_chunk::<{ Ethernet::HEADER }>()?;
    Some((*header.first_chunk()?, *header[6..].first_chunk()?))
}
