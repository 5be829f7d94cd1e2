//! Who has which address.

use meshpace_packet::Host;
use meshpace_scenario::{Endpoint, Scenario};
use meshpace_units::NodeId;
use std::net::IpAddr;

/// The addresses of all nodes, both ways.
pub struct AddressBook {
    mesh: Vec<IpAddr>,
    wired: Vec<IpAddr>,
    /// Sorted by [`key`].
    hosts: Vec<(u128, Host)>,
}

impl AddressBook {
    /// The addresses of a scenario's nodes.
    #[must_use]
    pub fn new(scenario: &Scenario) -> Self {
        let mesh: Vec<IpAddr> = scenario.mesh.iter().map(|node| node.address.into()).collect();
        let wired: Vec<IpAddr> = scenario.wired.iter().map(|node| node.address.into()).collect();
        let of_mesh = mesh.iter().enumerate().map(|(index, address)| (key(*address), mesh_host(index)));
        let of_wired = wired.iter().zip(0..).map(|(address, index)| (key(*address), Host::Wired(index)));
        let mut hosts: Vec<_> = of_mesh.chain(of_wired).collect();
        hosts.sort_unstable();
        Self { mesh, wired, hosts }
    }

    /// The address of a node.
    #[must_use]
    pub fn address(&self, host: Host) -> IpAddr {
        match host {
            Host::Mesh(node) => self.mesh[node.index()],
            Host::Wired(node) => self.wired[node as usize],
        }
    }

    /// The node that has an address.
    #[must_use]
    pub fn host(&self, address: IpAddr) -> Option<Host> {
        let found = self.hosts.binary_search_by_key(&key(address), |entry| entry.0);
        found.ok().map(|index| self.hosts[index].1)
    }
}

/// One number an address, which is compared faster: IPv4 as mapped into IPv6 (RFC 4291, section 2.5.5.2).
const fn key(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(address) => 0xffff_0000_0000 | address.to_bits() as u128,
        IpAddr::V6(address) => address.to_bits(),
    }
}

fn mesh_host(index: usize) -> Host {
    Host::Mesh(NodeId::from_index(index))
}

/// The host that a scenario names.
#[must_use]
pub const fn host(end: Endpoint) -> Host {
    match end {
        Endpoint::Mesh(node) => Host::Mesh(node),
        Endpoint::Wired(node) => Host::Wired(node.0),
    }
}
