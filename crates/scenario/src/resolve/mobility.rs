//! Which nodes move, and where.

use super::network::Network;
use crate::file::ScenarioFile;
use crate::read::Placement;
use crate::{Mobility, Position, ScenarioError};
use meshpace_units::NodeId;
use std::collections::BTreeMap;

pub(crate) fn resolve(file: &ScenarioFile, network: &Network) -> Result<Mobility, ScenarioError> {
    let Some(spec) = &file.mobility else { return Ok(Mobility::Static) };
    let nodes = match &spec.nodes {
        Some(names) => {
            let mut nodes =
                names.iter().map(|name| network.mesh_node(name)).collect::<Result<Vec<_>, _>>()?;
            nodes.sort_unstable();
            nodes.dedup();
            nodes
        }
        None if !network.mobile.is_empty() => network.mobile.clone(),
        None => {
            let free = network.mesh.iter().enumerate().filter(|(_, node)| !node.gateway);
            free.map(|(index, _)| NodeId::from_index(index)).collect()
        }
    };
    let Some(positions) = network.positions() else {
        return Err(spec
            .at
            .error("nodes that move, though none has a place", "\"static\", or x and y at every node"));
    };
    let (width, height) = spec.area.or(network.area).unwrap_or_else(|| {
        let reach = |side: fn(&Position) -> f64| positions.iter().map(side).fold(0.0, f64::max);
        (reach(|position| position.x), reach(|position| position.y))
    });
    let mut own = BTreeMap::new();
    for spec in &file.nodes {
        if let Placement::Within { rectangle, .. } = spec.place {
            own.insert(network.mesh_node(&spec.id)?, rectangle);
        }
    }
    own.retain(|node, _| nodes.contains(node));
    for node in nodes.iter().filter(|node| !own.contains_key(node)) {
        let Position { x, y, .. } = positions[node.index()];
        let node = &network.mesh[node.index()];
        if !(0.0..=width).contains(&x) || !(0.0..=height).contains(&y) {
            let found = format!("{} at ({x}, {y}), outside the area of {width} m x {height} m", node.id);
            return Err(spec.at.error(found, "moving nodes that start in mobility.area"));
        }
    }
    let (speed_min, speed_max, pause) = (spec.speed_min, spec.speed_max, spec.pause);
    let inverse_first = spec.inverse_first;
    Ok(Mobility::RandomWaypoint { speed_min, speed_max, inverse_first, pause, width, height, nodes, own })
}
