//! Can every flow reach its end?

use super::graph::Graph;
use super::network::Network;
use crate::file::ScenarioFile;
use crate::{Endpoint, Flow, Mobility, ScenarioError};
use meshpace_settings::quoted;
use std::collections::BTreeSet;

/// Refuses a flow whose ends are not joined by radio links and wired links. Nodes that move may meet, so then
/// the mesh counts as connected.
pub(crate) fn check(
    file: &ScenarioFile,
    network: &Network,
    graph: &Graph,
    mobility: &Mobility,
    flows: &[Flow],
) -> Result<(), ScenarioError> {
    let mesh = match mobility {
        Mobility::Static => graph.components(),
        Mobility::RandomWaypoint { .. } => vec![0; network.mesh.len()],
    };
    let mut wired = WiredParts::new(network);
    let mut joined = BTreeSet::new();
    for (index, _) in network.mesh.iter().enumerate().filter(|(_, node)| node.gateway) {
        joined.insert((mesh[index], wired.part(index)));
    }
    let hosts = network.mesh.len();
    for (flow, spec) in flows.iter().zip(file.flow_specs()) {
        // A path is whole: what remains is the way between its gateway and a wired end.
        let (from, to) = match &flow.path {
            Some(path) => (Endpoint::Mesh(path[0]), Endpoint::Mesh(path[path.len() - 1])),
            None => (flow.from, flow.to),
        };
        let reached = match (from, to) {
            _ if flow.path.is_some() => {
                let mut joined = |mesh: Endpoint, end: Endpoint| match (mesh, end) {
                    (Endpoint::Mesh(gateway), Endpoint::Wired(host)) => {
                        wired.part(gateway.index()) == wired.part(hosts + host.index())
                    }
                    _ => true,
                };
                joined(from, flow.from) && joined(to, flow.to)
            }
            (Endpoint::Mesh(a), Endpoint::Mesh(b)) => mesh[a.index()] == mesh[b.index()],
            (Endpoint::Wired(a), Endpoint::Wired(b)) => {
                wired.part(hosts + a.index()) == wired.part(hosts + b.index())
            }
            (Endpoint::Mesh(node), Endpoint::Wired(host)) | (Endpoint::Wired(host), Endpoint::Mesh(node)) => {
                joined.contains(&(mesh[node.index()], wired.part(hosts + host.index())))
            }
        };
        if !reached {
            let found = format!("{}, which {} cannot reach", quoted(&spec.to.name), quoted(&spec.from.name));
            let hops = match network.positions() {
                Some(_) => format!("hops of radio.tx_range = {} m", file.radio.radio.tx_range),
                None => "radio links both ways".to_owned(),
            };
            let allowed = format!("a node joined to it by {hops} and links, or topology.connected = false");
            return Err(spec.to.at.error(found, allowed));
        }
    }
    Ok(())
}

/// The connected parts of the wired links, by disjoint sets: mesh nodes first, then wired nodes.
struct WiredParts {
    parent: Vec<usize>,
}

impl WiredParts {
    fn new(network: &Network) -> Self {
        let hosts = network.mesh.len();
        let mut parts = Self { parent: (0..hosts + network.wired.len()).collect() };
        let index = |end| match end {
            Endpoint::Mesh(node) => node.index(),
            Endpoint::Wired(node) => hosts + node.index(),
        };
        for link in &network.links {
            let (a, b) = (parts.part(index(link.a)), parts.part(index(link.b)));
            parts.parent[a] = b;
        }
        parts
    }

    fn part(&mut self, mut node: usize) -> usize {
        while self.parent[node] != node {
            // Halving the path keeps chains of links short.
            self.parent[node] = self.parent[self.parent[node]];
            node = self.parent[node];
        }
        node
    }
}
