//! Who has which address.

use meshpace_scenario::Scenario;
use meshpace_units::NodeId;
use std::net::Ipv4Addr;

/// The addresses of a scenario's mesh nodes.
pub struct Addresses {
    mesh: Vec<(Ipv4Addr, [u8; 6])>,
}

impl Addresses {
    pub fn new(scenario: &Scenario) -> Self {
        Self { mesh: scenario.mesh.iter().map(|node| (node.address, node.mac)).collect() }
    }

    /// The MAC address of a mesh node.
    pub fn station(&self, node: NodeId) -> [u8; 6] {
        self.mesh[node.index()].1
    }

    /// The IP address of a mesh node.
    pub fn node(&self, node: NodeId) -> Ipv4Addr {
        self.mesh[node.index()].0
    }
}
