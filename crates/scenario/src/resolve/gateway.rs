//! The gateway that the file asks for: by its name, in the centre, or drawn.

use super::generate::nearest;
use super::network::Network;
use crate::read::Named;
use crate::{Position, ScenarioError};
use meshpace_units::NodeId;
use meshpace_units::random::Stream;

/// The mesh node that the wired part hangs on. A node that is called "random" or "centre" goes before the word.
pub(crate) fn choose(network: &Network, named: &Named, seed: u64) -> Result<NodeId, ScenarioError> {
    let word = if network.has(&named.name) { "" } else { named.name.as_str() };
    let nodes = network.mesh.len();
    match word {
        "random" if nodes > 0 => {
            // A stream of its own: the placement's draws are the same whichever node is the gateway.
            let drawn = Stream::new(seed, "gateway", 0).below(nodes as u32);
            Ok(NodeId::from_index(drawn as usize))
        }
        "centre" => {
            let Some(positions) = network.positions() else {
                return Err(named
                    .at
                    .error("\"centre\" of nodes that have no places", "the id of a mesh node, \"random\""));
            };
            let centre = centre(network.area, &positions);
            nearest(&positions, centre).map(NodeId::from_index).ok_or_else(|| {
                named.at.error("\"centre\" of no mesh node", "the id of a mesh node, but the file has none")
            })
        }
        _ => network.mesh_node(named),
    }
}

/// The centre of the area that the generator filled, else of what the nodes span.
fn centre(area: Option<(f64, f64)>, positions: &[Position]) -> Position {
    if let Some((width, height)) = area {
        return Position::flat(width / 2.0, height / 2.0);
    }
    let middle = |side: fn(&Position) -> f64| {
        let (low, high) = positions
            .iter()
            .map(side)
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), at| (low.min(at), high.max(at)));
        (low + high) / 2.0
    };
    Position::flat(middle(|position| position.x), middle(|position| position.y))
}
