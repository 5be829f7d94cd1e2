//! The addresses in a capture.

use crate::air::AirId;
use meshpace_scenario::Scenario;
use meshpace_units::NodeId;
use std::net::Ipv4Addr;

/// The addresses of a scenario's mesh nodes.
pub struct Addresses {
    mesh: Vec<Ipv4Addr>,
    /// By channel and node.
    stations: Vec<Vec<[u8; 6]>>,
    /// That of the frame that is written.
    channel: usize,
}

impl Addresses {
    pub fn new(scenario: &Scenario) -> Self {
        let nodes = || (0..scenario.mesh.len()).map(NodeId::from_index);
        let channels = 0..scenario.channels.len().max(1);
        let on = |channel| nodes().map(|node| scenario.mac_on(channel, node)).collect();
        let mesh = scenario.mesh.iter().map(|node| node.address).collect();
        Self { mesh, stations: channels.map(on).collect(), channel: 0 }
    }

    /// Stations are those on this channel from now on.
    pub const fn on(&mut self, air: AirId) {
        self.channel = air.index();
    }

    /// The MAC address of a mesh node.
    pub fn station(&self, node: NodeId) -> [u8; 6] {
        self.stations[self.channel][node.index()]
    }

    /// The IP address of a mesh node.
    pub fn node(&self, node: NodeId) -> Ipv4Addr {
        self.mesh[node.index()]
    }
}
