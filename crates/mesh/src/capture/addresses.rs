//! Who has which address.

use crate::packet::Host;
use meshpace_scenario::Scenario;
use meshpace_units::NodeId;
use std::net::Ipv4Addr;

/// The addresses of a scenario's nodes.
pub struct Addresses {
    mesh: Vec<(Ipv4Addr, [u8; 6])>,
    wired: Vec<Ipv4Addr>,
}

impl Addresses {
    pub fn new(scenario: &Scenario) -> Self {
        Self {
            mesh: scenario.mesh.iter().map(|node| (node.address, node.mac)).collect(),
            wired: scenario.wired.iter().map(|node| node.address).collect(),
        }
    }

    /// The MAC address of a mesh node.
    pub fn station(&self, node: NodeId) -> [u8; 6] {
        self.mesh[node.index()].1
    }

    /// The IP address of a mesh node.
    pub fn node(&self, node: NodeId) -> Ipv4Addr {
        self.mesh[node.index()].0
    }

    /// The IP address of any node.
    pub fn host(&self, host: Host) -> Ipv4Addr {
        match host {
            Host::Mesh(node) => self.node(node),
            Host::Wired(node) => self.wired[node as usize],
        }
    }
}
