//! Flows: ends found or drawn, start times drawn.

use super::graph::hops_from;
use super::network::Network;
use crate::file::ScenarioFile;
use crate::read::{FlowSpec, Named};
use crate::{Endpoint, Flow, Position, ScenarioError};
use meshpace_random::Stream;
use meshpace_settings::quoted;
use meshpace_units::{Instant, NodeId, Span};
use std::collections::BTreeSet;

/// The word for an end to be drawn, unless a node has that name.
const RANDOM: &str = "random";
/// A drawn end is at least so many hops from the nearest gateway.
const LEAST_HOPS: u32 = 2;

pub(crate) fn resolve(file: &ScenarioFile, network: &Network, seed: u64) -> Result<Vec<Flow>, ScenarioError> {
    let mut ends = Ends::new(file, network, seed);
    let mut ids = BTreeSet::new();
    let mut flows = Vec::new();
    for spec in &file.flows {
        for copy in 1..=spec.count {
            let index = flows.len();
            let id = match &spec.id {
                None => (index + 1).to_string(),
                Some(id) if spec.count == 1 => id.name.clone(),
                Some(id) => format!("{}.{copy}", id.name),
            };
            if !ids.insert(id.clone()) {
                let at = spec.id.as_ref().map_or(&spec.at, |id| &id.at);
                return Err(
                    at.error(format!("a second flow {}", quoted(&id)), "an id that no other flow has")
                );
            }
            let (from, to) = (ends.find(&spec.from)?, ends.find(&spec.to)?);
            if from == to {
                let found = format!("a flow from {} to itself", quoted(&spec.from.name));
                return Err(spec.to.at.error(found, "another node"));
            }
            flows.push(flow(spec, id, [from, to], seed, index as u64));
        }
    }
    Ok(flows)
}

fn flow(spec: &FlowSpec, id: String, [from, to]: [Endpoint; 2], seed: u64, index: u64) -> Flow {
    let jitter = Stream::new(seed, "flow-start", index).uniform(0.0, spec.start_jitter.as_secs_f64());
    Flow {
        id,
        from,
        to,
        app: spec.app,
        scheme: spec.scheme.name.clone(),
        segment: spec.segment,
        window: spec.window,
        start: Instant::ZERO + spec.start + Span::from_secs_f64(jitter),
        stop: spec.stop.map(|stop| Instant::ZERO + stop),
        at: spec.at.clone(),
    }
}

/// Finds named ends and draws random ones without repetition.
struct Ends<'a> {
    network: &'a Network,
    stream: Stream,
    /// Mesh nodes that may still be drawn.
    free: Vec<NodeId>,
    eligible: usize,
}

impl<'a> Ends<'a> {
    fn new(file: &ScenarioFile, network: &'a Network, seed: u64) -> Self {
        let free = eligible(file, network);
        Self { network, stream: Stream::new(seed, "flow-ends", 0), eligible: free.len(), free }
    }

    fn find(&mut self, named: &Named) -> Result<Endpoint, ScenarioError> {
        if named.name != RANDOM || self.network.has(RANDOM) {
            return self.network.find(named);
        }
        if self.free.is_empty() {
            let found = format!("more random ends than the {} nodes that can be one", self.eligible);
            let allowed = format!("fewer, or more mesh nodes at least {LEAST_HOPS} hops from the gateway");
            return Err(named.at.error(found, allowed));
        }
        let drawn = self.stream.below(self.free.len() as u32);
        Ok(Endpoint::Mesh(self.free.swap_remove(drawn as usize)))
    }
}

/// Mesh nodes far enough from any gateway that no flow names.
fn eligible(file: &ScenarioFile, network: &Network) -> Vec<NodeId> {
    let ends = || file.flows.iter().flat_map(|flow| [&flow.from, &flow.to]);
    if network.has(RANDOM) || !ends().any(|end| end.name == RANDOM) {
        return Vec::new();
    }
    let named: BTreeSet<_> = ends().filter_map(|end| network.lookup(&end.name)).collect();
    let gateways: Vec<usize> = (0..network.mesh.len()).filter(|node| network.mesh[*node].gateway).collect();
    let positions: Vec<Position> = network.mesh.iter().map(|node| node.position).collect();
    let hops = hops_from(&positions, file.radio.tx_range, &gateways);
    let far = |node: &usize| gateways.is_empty() || hops[*node].is_some_and(|hops| hops >= LEAST_HOPS);
    let nodes = (0..network.mesh.len()).filter(far).map(NodeId::from_index);
    nodes.filter(|node| !named.contains(&Endpoint::Mesh(*node))).collect()
}
