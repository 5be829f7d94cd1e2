//! The hosts by address.

use meshpace_relay::packet::Host;
use meshpace_scenario::{Endpoint, Scenario};
use meshpace_units::NodeId;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

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

    /// The node that has an address, of IPv4 or [IPv6](ipv6_of).
    #[must_use]
    pub fn host(&self, address: IpAddr) -> Option<Host> {
        let address = match address {
            IpAddr::V6(v6) if v6.to_bits() >> 32 == IPV6_PREFIX >> 32 => {
                IpAddr::V4(Ipv4Addr::from_bits(v6.to_bits() as u32))
            }
            other => other,
        };
        let found = self.hosts.binary_search_by_key(&key(address), |entry| entry.0);
        found.ok().map(|index| self.hosts[index].1)
    }
}

/// What stands before a node's IPv4 address in its IPv6 address: fd77::/96, of the unique local ones (RFC 4193).
const IPV6_PREFIX: u128 = 0xfd77 << 112;

/// A node's IPv6 address: fd77:: and its IPv4 address.
#[must_use]
pub const fn ipv6_of(address: Ipv4Addr) -> Ipv6Addr {
    Ipv6Addr::from_bits(IPV6_PREFIX | address.to_bits() as u128)
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

#[cfg(test)]
mod tests {
    use super::*;
    use meshpace_scenario::{Overrides, ScenarioFile};

    #[test]
    fn a_node_has_an_address_of_each_version() {
        let text = "topology = { kind = \"chain\", hops = 2 }\nnode = [{ id = \"X\", address = \"192.0.2.7\", x = 0, y = 200 }]";
        let file = ScenarioFile::parse("test.toml", text.as_bytes(), &Overrides::none()).expect("a scenario");
        let book = AddressBook::new(&file.resolve(1).expect("it resolves"));
        for (node, v4, v6) in [(1, "10.77.0.3", "fd77::a4d:3"), (3, "192.0.2.7", "fd77::c000:207")] {
            let v4: Ipv4Addr = v4.parse().expect("an address");
            assert_eq!(ipv6_of(v4).to_string(), v6);
            let here = Some(mesh_host(node));
            assert_eq!((book.host(v4.into()), book.host(ipv6_of(v4).into())), (here, here));
        }
        for nobody in ["10.77.0.9", "fd77::a4d:9", "fd77:1::a4d:3", "fe80::a4d:3", "ff02::1"] {
            assert_eq!(book.host(nobody.parse().expect("an address")), None, "{nobody}");
        }
    }
}
