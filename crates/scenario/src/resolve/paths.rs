//! The path that a flow's data take, and what comes back, if the file gives it.

use super::graph::Graph;
use super::network::Network;
use crate::read::Named;
use crate::{Endpoint, ScenarioError};
use meshpace_settings::{Location, quoted};
use meshpace_units::NodeId;

/// The mesh nodes of `path`, from the sender's side to the receiver's. A wired end may be named or left out; the way
/// between it and the gateway is the wired part's own.
pub(crate) fn resolve(
    path: &[Named],
    [from, to]: [Endpoint; 2],
    network: &Network,
    graph: &Graph,
) -> Result<Vec<NodeId>, ScenarioError> {
    let at = &path[0].at;
    let ends = path.iter().map(|named| network.find(named)).collect::<Result<Vec<_>, _>>()?;
    let mut mesh = ends.as_slice();
    if let [Endpoint::Wired(_), rest @ ..] = mesh
        && mesh[0] == from
    {
        mesh = rest;
    }
    if let [rest @ .., last @ Endpoint::Wired(_)] = mesh
        && *last == to
    {
        mesh = rest;
    }
    let skipped =
        usize::from(ends.len() > mesh.len() && matches!(from, Endpoint::Wired(_)) && ends[0] == from);
    let named = &path[skipped..skipped + mesh.len()];
    let nodes = named.iter().map(|named| network.mesh_node(named)).collect::<Result<Vec<_>, _>>()?;
    let id = |node: NodeId| quoted(&network.mesh[node.index()].id);
    let (Some(first), Some(last)) = (nodes.first(), nodes.last()) else {
        return Err(at.error("a path without a mesh node", "the mesh nodes that the data pass"));
    };
    if matches!((from, to), (Endpoint::Wired(_), Endpoint::Wired(_))) {
        return Err(at.error("a path between wired nodes", "a flow with an end in the mesh"));
    }
    for (word, end, node) in [("begins", from, *first), ("ends", to, *last)] {
        let fits = match end {
            Endpoint::Mesh(end) => end == node,
            Endpoint::Wired(_) => network.mesh[node.index()].gateway,
        };
        if !fits {
            let allowed = match end {
                Endpoint::Mesh(end) => format!("a path that {word} at {}, as the flow does", id(end)),
                Endpoint::Wired(_) => {
                    format!("a path that {word} at a gateway, since the flow {word} in the wired part")
                }
            };
            return Err(at.error(format!("a path that {word} at {}", id(node)), allowed));
        }
    }
    let mut seen = std::collections::BTreeSet::new();
    if let Some(twice) = nodes.iter().find(|node| !seen.insert(**node)) {
        return Err(at.error(format!("{} twice", id(*twice)), "each node once"));
    }
    if let Some(gap) = nodes.windows(2).find(|pair| !graph.joined(pair[0], pair[1])) {
        let found = format!("{} after {}, which do not hear each other", id(gap[1]), id(gap[0]));
        return Err(at.error(found, "neighbours: within radio.tx_range, or with a [[radio_link]] both ways"));
    }
    Ok(nodes)
}

/// The way back joins the ends of the way there.
pub(crate) fn check_back(
    there: Option<&[NodeId]>,
    back: &[NodeId],
    at: &Location,
) -> Result<(), ScenarioError> {
    let Some(there) = there else {
        return Err(at.error("the key without path", "path = the way of the data, beside it"));
    };
    if (there.first(), there.last()) != (back.last(), back.first()) {
        return Err(at.error("a way between other nodes", "from the last node of path to its first"));
    }
    Ok(())
}
