//! Nodes and links: generated, then explicit, names resolved and roles checked.

use super::channels;
use super::gateway::choose;
use super::generate::{Generated, generate};
use super::graph::Graph;
use super::places::places;
use super::radio_links;
use crate::file::ScenarioFile;
use crate::limits::NODES;
use crate::read::{LinkSpec, Named, Role, WiredPart};
use crate::{
    Channel, Endpoint, Link, Location, MeshNode, Position, RadioLink, ScenarioError, SensedLink, WiredId,
    WiredNode,
};
use meshpace_settings::{quoted, suggestion};
use meshpace_units::NodeId;
use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv4Addr;

/// The network of a run.
#[derive(Debug, Default)]
pub(crate) struct Network {
    pub mesh: Vec<MeshNode>,
    pub wired: Vec<WiredNode>,
    pub links: Vec<Link>,
    pub radio_links: Vec<RadioLink>,
    pub sensed_links: Vec<SensedLink>,
    /// The channels, if nodes have radios of their own.
    pub channels: Vec<Channel>,
    /// Area that the generator filled.
    pub area: Option<(f64, f64)>,
    /// The generator's mobile nodes.
    pub mobile: Vec<NodeId>,
    names: BTreeMap<String, Endpoint>,
    /// The node called IG when none has that name.
    gateway: Option<Endpoint>,
    /// Default addresses count the nodes in file order from 1.
    count: u64,
    addresses: BTreeMap<Ipv4Addr, String>,
}

/// What is added.
#[derive(Clone, Copy)]
enum Kind {
    Mesh(Option<Position>),
    Wired,
}

/// The papers' name for the gateway.
const GATEWAY: &str = "IG";

impl Network {
    pub(crate) fn build(file: &ScenarioFile, seed: u64) -> Result<Self, ScenarioError> {
        let generated = generate(&file.topology, file.radio.radio.tx_range, seed)?;
        let mut network = Self { area: generated.area, ..Self::default() };
        network.add_generated(file, generated)?;
        let hosts = wanted_hosts(file, &network);
        let routers = network.add_wired_nodes(file, &hosts)?;
        network.add_explicit(file, seed)?;
        if let Some(gateway) = &file.topology.gateway {
            network.gateway = Some(Endpoint::Mesh(choose(&network, gateway, seed)?));
        }
        network.link_wired_part(file, &routers, &hosts)?;
        network.add_links(file)?;
        network.settle_roles(file)?;
        network.channels = channels::resolve(file, &network)?;
        let listed = radio_links::resolve(file, &network)?;
        (network.radio_links, network.sensed_links) = (listed.decoded, listed.sensed);
        Ok(network)
    }

    fn add_generated(&mut self, file: &ScenarioFile, generated: Generated) -> Result<(), ScenarioError> {
        let mobile_from = generated.mobile_from.unwrap_or(usize::MAX);
        for (index, (id, position)) in generated.nodes.into_iter().enumerate() {
            let end = self.add(&id, Kind::Mesh(Some(position)), None, &file.topology.at)?;
            if let (true, Endpoint::Mesh(node)) = (index >= mobile_from, end) {
                self.mobile.push(node);
            }
        }
        self.gateway = generated.gateway.map(|index| Endpoint::Mesh(NodeId::from_index(index)));
        Ok(())
    }

    /// The routers RT1, RT2, ... and the hosts of the wired part.
    fn add_wired_nodes(
        &mut self,
        file: &ScenarioFile,
        hosts: &[String],
    ) -> Result<Vec<String>, ScenarioError> {
        let routers = if hosts.is_empty() { 0 } else { file.topology.wired.hops - 1 };
        let routers: Vec<_> = (1..=routers).map(|i| format!("RT{i}")).collect();
        for id in routers.iter().chain(hosts) {
            self.add(id, Kind::Wired, None, &file.topology.at)?;
        }
        Ok(routers)
    }

    fn add_explicit(&mut self, file: &ScenarioFile, seed: u64) -> Result<(), ScenarioError> {
        for (node, position) in file.nodes.iter().zip(places(file, !self.mesh.is_empty(), seed)?) {
            let kind = if node.role == Role::Wired { Kind::Wired } else { Kind::Mesh(position) };
            self.add(&node.id.name, kind, node.address.as_ref(), &node.id.at)?;
        }
        Ok(())
    }

    /// Adds a node.
    fn add(
        &mut self,
        id: &str,
        kind: Kind,
        address: Option<&(Ipv4Addr, Location)>,
        at: &Location,
    ) -> Result<Endpoint, ScenarioError> {
        self.count += 1;
        if self.count > NODES {
            return Err(at.error(
                format!("{} nodes up to here", self.count),
                format!("at most {NODES}, wired ones included"),
            ));
        }
        let number = self.count as u16;
        let given = address.map(|(address, _)| *address);
        let address_at = address.map_or(at, |(_, at)| at);
        let address = given.unwrap_or(Ipv4Addr::new(10, 77, (number / 250) as u8, (number % 250 + 1) as u8));
        if let Some(other) = self.addresses.insert(address, id.to_owned()) {
            return Err(address_at
                .error(format!("{address}, which {other} has"), "an address of its own for each node"));
        }
        let [high, low] = number.to_be_bytes();
        let mac = [0x02, 0x6d, 0x70, 0x00, high, low];
        let id = id.to_owned();
        let end = match kind {
            Kind::Mesh(position) => {
                self.mesh.push(MeshNode { id: id.clone(), position, gateway: false, address, mac });
                Endpoint::Mesh(NodeId::from_index(self.mesh.len() - 1))
            }
            Kind::Wired => {
                self.wired.push(WiredNode { id: id.clone(), address, mac });
                Endpoint::Wired(WiredId(self.wired.len() as u32 - 1))
            }
        };
        if self.names.insert(id.clone(), end).is_some() {
            return Err(at.error(format!("a second node {}", quoted(&id)), "an id that no other node has"));
        }
        Ok(end)
    }

    fn link_wired_part(
        &mut self,
        file: &ScenarioFile,
        routers: &[String],
        hosts: &[String],
    ) -> Result<(), ScenarioError> {
        if hosts.is_empty() {
            return Ok(());
        }
        let Some(gateway) = self.gateway else {
            return Err(file
                .topology
                .at
                .error("a wired part without a gateway", "gateway = the id of a mesh node"));
        };
        let WiredPart { rate, delay, queue, .. } = file.topology.wired;
        let mut before = gateway;
        for router in routers {
            let router = self.names[router];
            self.links.push(Link { a: before, b: router, rate, delay, queue, loss: 0.0 });
            before = router;
        }
        for host in hosts {
            self.links.push(Link { a: before, b: self.names[host], rate, delay, queue, loss: 0.0 });
        }
        Ok(())
    }

    fn add_links(&mut self, file: &ScenarioFile) -> Result<(), ScenarioError> {
        let pair = |a: Endpoint, b: Endpoint| (a.min(b), a.max(b));
        let mut pairs: BTreeSet<_> = self.links.iter().map(|link| pair(link.a, link.b)).collect();
        for spec in &file.links {
            let (a, b) = (self.find(&spec.a)?, self.find(&spec.b)?);
            if a == b {
                return Err(spec.b.at.error("a link from a node to itself", "two different nodes"));
            }
            if !pairs.insert(pair(a, b)) {
                let found = format!("a second link between {} and {}", spec.a.name, spec.b.name);
                return Err(spec.b.at.error(found, "one link between two nodes"));
            }
            let LinkSpec { rate, delay, queue, loss, .. } = *spec;
            self.links.push(Link { a, b, rate, delay, queue, loss });
        }
        Ok(())
    }

    /// Marks gateways and refuses nodes that contradict their links.
    fn settle_roles(&mut self, file: &ScenarioFile) -> Result<(), ScenarioError> {
        let mut linked = BTreeSet::new();
        for link in &self.links {
            linked.extend([link.a, link.b]);
            for (end, other) in [(link.a, link.b), (link.b, link.a)] {
                if let (Endpoint::Mesh(node), Endpoint::Wired(_)) = (end, other) {
                    self.mesh[node.index()].gateway = true;
                }
            }
        }
        for spec in &file.nodes {
            let end = self.names[&spec.id.name];
            let allowed = match spec.role {
                Role::Gateway => "a [[link]] of every gateway",
                Role::Wired => "a [[link]] of every wired node",
                Role::Mesh => continue,
            };
            if !linked.contains(&end) {
                return Err(spec.role_at.error(format!("{} without a link", quoted(&spec.id.name)), allowed));
            }
            if let Endpoint::Mesh(node) = end {
                self.mesh[node.index()].gateway = true;
            }
        }
        let plain = |end: Endpoint| matches!(end, Endpoint::Mesh(node) if !self.mesh[node.index()].gateway);
        let generated = self.links.len() - file.links.len();
        for (link, spec) in self.links.iter().skip(generated).zip(&file.links) {
            if plain(link.a) || plain(link.b) {
                let found =
                    format!("a wired link between the mesh nodes {} and {}", spec.a.name, spec.b.name);
                return Err(spec.b.at.error(found, "a link between wired nodes and gateways"));
            }
        }
        Ok(())
    }

    /// Where the mesh nodes stand; `None` if they have no places.
    pub(crate) fn positions(&self) -> Option<Vec<Position>> {
        self.mesh.iter().map(|node| node.position).collect()
    }

    /// Which nodes hear which at this range, and by the links that the file lists.
    pub(crate) fn graph(&self, range: f64) -> Graph {
        Graph::of_mesh(&self.mesh, range, &self.radio_links, &self.channels)
    }

    /// True if a node has this name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.lookup(name).is_some()
    }

    /// The node of that name, if there is one.
    pub(crate) fn lookup(&self, name: &str) -> Option<Endpoint> {
        // IG also names the gateway of topologies that call it otherwise, so that a file can link to a drawn node.
        self.names.get(name).copied().or(if name == GATEWAY { self.gateway } else { None })
    }

    /// The node of that name.
    pub(crate) fn find(&self, named: &Named) -> Result<Endpoint, ScenarioError> {
        self.lookup(&named.name).ok_or_else(|| {
            let hint = suggestion(&named.name, self.names.keys().map(String::as_str));
            named.at.error(format!("the unknown node {}{hint}", quoted(&named.name)), self.list_names())
        })
    }

    /// The mesh node of that name.
    pub(crate) fn mesh_node(&self, named: &Named) -> Result<NodeId, ScenarioError> {
        match self.find(named)? {
            Endpoint::Mesh(node) => Ok(node),
            Endpoint::Wired(_) => {
                Err(named.at.error(format!("the wired node {}", quoted(&named.name)), "a mesh node"))
            }
        }
    }

    /// Every name, or the first few of many, in file order.
    fn list_names(&self) -> String {
        const LISTED: usize = 12;
        let mesh = self.mesh.iter().map(|node| node.id.as_str());
        let names: Vec<_> = mesh.chain(self.wired.iter().map(|node| node.id.as_str())).collect();
        match names.len() {
            0 => "a node, but the file has none".to_owned(),
            count if count > LISTED => format!("one of {count} nodes, {}, ...", names[..LISTED].join(", ")),
            _ => names.join(", "),
        }
    }
}

/// The hosts of the wired part; none if it is neither asked for nor named by a flow or as a real host.
fn wanted_hosts(file: &ScenarioFile, network: &Network) -> Vec<String> {
    let wired = &file.topology.wired;
    let hosts: Vec<_> = match wired.hosts {
        1 => vec!["B".to_owned()],
        count => (1..=count).map(|i| format!("B{i}")).collect(),
    };
    let wanted = wired.wanted.unwrap_or_else(|| {
        let of_flows = file.flows.iter().flat_map(|flow| [&flow.from, &flow.to]);
        let of_hosts = file.emulated_hosts.iter().map(|host| &host.node);
        let named: BTreeSet<&str> = of_flows.chain(of_hosts).map(|named| named.name.as_str()).collect();
        let defined: BTreeSet<&str> = file.nodes.iter().map(|node| node.id.name.as_str()).collect();
        let missing = |host: &&String| named.contains(host.as_str()) && !defined.contains(host.as_str());
        let has_gateway = network.gateway.is_some() || file.topology.gateway.is_some();
        has_gateway && hosts.iter().filter(missing).any(|host| !network.has(host))
    });
    if wanted { hosts } else { Vec::new() }
}
