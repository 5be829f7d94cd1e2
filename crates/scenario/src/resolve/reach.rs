//! Can every flow reach its end?

use super::graph::components;
use super::network::Network;
use crate::file::ScenarioFile;
use crate::{Endpoint, Flow, Mobility, Position, ScenarioError};
use meshpace_settings::quoted;
use std::collections::BTreeSet;

/// Refuses a flow whose ends are not joined by links at `tx_range` and wired links. Nodes that move may meet, so then
/// the mesh counts as connected.
pub(crate) fn check(
    file: &ScenarioFile,
    network: &Network,
    mobility: &Mobility,
    flows: &[Flow],
) -> Result<(), ScenarioError> {
    let mesh = match mobility {
        Mobility::Static => {
            let positions: Vec<Position> = network.mesh.iter().map(|node| node.position).collect();
            components(&positions, file.radio.tx_range)
        }
        Mobility::RandomWaypoint { .. } => vec![0; network.mesh.len()],
    };
    let mut wired = WiredParts::new(network);
    let mut joined = BTreeSet::new();
    for (index, _) in network.mesh.iter().enumerate().filter(|(_, node)| node.gateway) {
        joined.insert((mesh[index], wired.part(index)));
    }
    let hosts = network.mesh.len();
    let specs = file.flows.iter().flat_map(|spec| (0..spec.count).map(move |_| spec));
    for (flow, spec) in flows.iter().zip(specs) {
        let reached = match (flow.from, flow.to) {
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
            let allowed = format!(
                "a node joined to it by hops of radio.tx_range = {} m and links",
                file.radio.tx_range
            );
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
