//! Who has which address.

use meshpace_packet::Host;
use meshpace_scenario::Scenario;
use std::net::IpAddr;

/// The addresses of all nodes, both ways.
pub struct AddressBook {
    mesh: Vec<IpAddr>,
    wired: Vec<IpAddr>,
    /// Sorted by address.
    hosts: Vec<(IpAddr, Host)>,
}

impl AddressBook {
    /// The addresses of a scenario's nodes.
    pub fn new(scenario: &Scenario) -> Self {
        let mesh: Vec<IpAddr> = scenario.mesh.iter().map(|node| node.address.into()).collect();
        let wired: Vec<IpAddr> = scenario.wired.iter().map(|node| node.address.into()).collect();
        let of_mesh = mesh.iter().enumerate().map(|(index, address)| (*address, mesh_host(index)));
        let of_wired = wired.iter().enumerate().map(|(index, address)| (*address, Host::Wired(index as u32)));
        let mut hosts: Vec<_> = of_mesh.chain(of_wired).collect();
        hosts.sort_unstable();
        Self { mesh, wired, hosts }
    }

    /// The address of a node.
    pub fn address(&self, host: Host) -> IpAddr {
        match host {
            Host::Mesh(node) => self.mesh[node.index()],
            Host::Wired(node) => self.wired[node as usize],
        }
    }

    /// The node that has an address.
    pub fn host(&self, address: IpAddr) -> Option<Host> {
        let found = self.hosts.binary_search_by_key(&address, |entry| entry.0);
        found.ok().map(|index| self.hosts[index].1)
    }
}

fn mesh_host(index: usize) -> Host {
    Host::Mesh(meshpace_units::NodeId::from_index(index))
}
