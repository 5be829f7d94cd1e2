//! Flows: ends found or drawn, start times drawn.

use super::graph::Graph;
use super::network::Network;
use super::paths;
use crate::file::ScenarioFile;
use crate::read::{FlowSpec, Named, Period};
use crate::{Endpoint, Flow, ScenarioError};
use meshpace_settings::quoted;
use meshpace_units::random::Stream;
use meshpace_units::{Instant, NodeId, Span};
use std::collections::BTreeSet;

/// The word for an end to be drawn, unless a node has that name.
const RANDOM: &str = "random";

/// What the draws come from.
#[derive(Clone, Copy)]
pub(crate) struct Seeds {
    /// When flows start.
    pub run: u64,
    /// Where they are.
    pub placement: u64,
}

pub(crate) fn resolve(
    file: &ScenarioFile,
    network: &Network,
    graph: &Graph,
    seeds: Seeds,
) -> Result<Vec<Flow>, ScenarioError> {
    let mut ends = Ends::new(file, network, graph, seeds.placement);
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
            let (source, target) = (numbered(&spec.from, copy), numbered(&spec.to, copy));
            let from = ends.find(&source, None)?;
            let to = ends.find(&target, Some(from))?;
            if from == to {
                let found = format!("a flow from {} to itself", quoted(&source.name));
                return Err(spec.to.at.error(found, "another node"));
            }
            let way = |nodes: &Option<Vec<Named>>, ends| {
                let numbered = |nodes: &Vec<Named>| nodes.iter().map(|node| numbered(node, copy)).collect();
                let nodes: Option<Vec<_>> = nodes.as_ref().map(numbered);
                nodes.map(|nodes| paths::resolve(&nodes, ends, network, graph)).transpose()
            };
            let path = way(&spec.path, [from, to])?;
            let path_back = way(&spec.path_back, [to, from])?;
            if let (Some(back), Some(given)) = (&path_back, &spec.path_back) {
                paths::check_back(path.as_deref(), back, &given[0].at)?;
            }
            flows.push(Flow { path, path_back, ..flow(spec, id, [from, to], seeds.run, index as u64) });
        }
    }
    Ok(flows)
}

/// The name as one of several flows has it: `f{}n0` of the second is f2n0.
fn numbered(named: &Named, copy: u32) -> Named {
    Named { name: named.name.replace("{}", &copy.to_string()), at: named.at.clone() }
}

fn flow(spec: &FlowSpec, id: String, [from, to]: [Endpoint; 2], seed: u64, index: u64) -> Flow {
    let jitter = Stream::new(seed, "flow-start", index).uniform(0.0, spec.start_jitter.as_secs_f64());
    // One draw for all periods: flows that are on at the same times do not begin in step, and each keeps its rhythm.
    let begins = |start: Span| Instant::ZERO + start + Span::from_secs_f64(jitter);
    let ends = |stop: Option<Span>| stop.map(|stop| Instant::ZERO + stop);
    let (first, last) = (spec.on[0], spec.on[spec.on.len() - 1]);
    let pause = |pair: &[Period]| Some((ends(pair[0].stop)?, begins(pair[1].start)));
    Flow {
        id,
        from,
        to,
        app: spec.app,
        scheme: spec.scheme.name.clone(),
        segment: spec.segment,
        window: spec.window,
        start: begins(first.start),
        stop: ends(last.stop),
        pauses: spec.on.windows(2).filter_map(pause).collect(),
        path: None,
        path_back: None,
        dscp: spec.dscp,
        at: spec.at.clone(),
    }
}

/// Finds named ends and draws random ones, without repetition unless the file wants it.
struct Ends<'a> {
    network: &'a Network,
    stream: Stream,
    /// Mesh nodes that may still be drawn.
    free: Vec<NodeId>,
    eligible: usize,
    min_hops: u32,
    repeat: bool,
}

impl<'a> Ends<'a> {
    fn new(file: &ScenarioFile, network: &'a Network, graph: &Graph, seed: u64) -> Self {
        let free = eligible(file, network, graph);
        let stream = Stream::new(seed, "flow-ends", 0);
        let (min_hops, repeat) = (file.topology.min_hops, file.topology.repeat_ends);
        Self { network, stream, eligible: free.len(), free, min_hops, repeat }
    }

    /// The end of that name, or one that is drawn; `other` is the flow's other end, if that is known already.
    fn find(&mut self, named: &Named, other: Option<Endpoint>) -> Result<Endpoint, ScenarioError> {
        if named.name != RANDOM || self.network.has(RANDOM) {
            return self.network.find(named);
        }
        let taken = self.free.iter().position(|node| other == Some(Endpoint::Mesh(*node)));
        if self.free.len() == usize::from(taken.is_some()) {
            let found = format!("more random ends than the {} nodes that can be one", self.eligible);
            let allowed =
                format!("fewer, or more mesh nodes at least {} hops from the gateway", self.min_hops);
            return Err(named.at.error(found, allowed));
        }
        let drawn = self.stream.below((self.free.len() - usize::from(taken.is_some())) as u32) as usize;
        Ok(Endpoint::Mesh(if self.repeat {
            // Past the other end, which is left out of the draw.
            self.free[drawn + usize::from(taken.is_some_and(|taken| taken <= drawn))]
        } else {
            self.free.swap_remove(drawn)
        }))
    }
}

/// Mesh nodes far enough from any gateway that no flow names.
fn eligible(file: &ScenarioFile, network: &Network, graph: &Graph) -> Vec<NodeId> {
    let copies =
        |flow: &FlowSpec, end: &Named| (1..=flow.count).map(|copy| numbered(end, copy)).collect::<Vec<_>>();
    let ends =
        || file.flows.iter().flat_map(|flow| [copies(flow, &flow.from), copies(flow, &flow.to)].concat());
    if network.has(RANDOM) || !ends().any(|end| end.name == RANDOM) {
        return Vec::new();
    }
    let named: BTreeSet<_> = ends().filter_map(|end| network.lookup(&end.name)).collect();
    let gateways: Vec<usize> = (0..network.mesh.len()).filter(|node| network.mesh[*node].gateway).collect();
    let hops = graph.hops_from(&gateways);
    let far = |node: &usize| match hops[*node] {
        Some(hops) => hops >= file.topology.min_hops,
        // No node is near a gateway that does not exist; one that cannot be reached will do if the file allows it.
        None => gateways.is_empty() || !file.topology.connected,
    };
    let nodes = (0..network.mesh.len()).filter(far).map(NodeId::from_index);
    nodes.filter(|node| !named.contains(&Endpoint::Mesh(*node))).collect()
}
