//! Which nodes are real hosts, what runs there, and what happens to which.

use super::network::Network;
use crate::file::ScenarioFile;
use crate::{EmulatedEvent, EmulatedHost, Endpoint, HostCommand, Layer, ScenarioError};
use meshpace_settings::{Location, quoted};

pub(crate) fn resolve(file: &ScenarioFile, network: &Network) -> Result<Vec<EmulatedHost>, ScenarioError> {
    let mut hosts: Vec<EmulatedHost> = Vec::new();
    for spec in &file.emulated_hosts {
        let node = match spec.layer {
            Layer::Packets => network.find(&spec.node)?,
            Layer::Frames => Endpoint::Mesh(network.mesh_node(&spec.node)?),
        };
        if hosts.iter().any(|host| host.node == node && host.layer != spec.layer) {
            let found = format!("{}, which an [[emulate.host]] names, too", quoted(&spec.node.name));
            return Err(spec.node.at.error(found, "a node that is in one of the two tables"));
        }
        let command =
            |run: &String| HostCommand { run: run.clone(), start: spec.start, collect: spec.collect };
        hosts.push(EmulatedHost { node, layer: spec.layer, command: spec.run.as_ref().map(command) });
    }
    Ok(hosts)
}

/// In the order of time; of one time, in that of the file.
pub(crate) fn events(file: &ScenarioFile, network: &Network) -> Result<Vec<EmulatedEvent>, ScenarioError> {
    let events = file.emulated_events.iter().map(|spec| {
        let node = network.mesh_node(&spec.node)?;
        if spec.what.moves() {
            check_place(file, network, &spec.place_at)?;
        }
        Ok(EmulatedEvent { at: spec.at, node, what: spec.what })
    });
    let mut events = events.collect::<Result<Vec<_>, ScenarioError>>()?;
    events.sort_by_key(|event| event.at);
    Ok(events)
}

/// Links have to follow from positions alone, and no other node may move.
fn check_place(file: &ScenarioFile, network: &Network, at: &Location) -> Result<(), ScenarioError> {
    if network.positions().is_none() {
        return Err(at.error("a place in a mesh whose nodes have none", "a mesh whose nodes all have places"));
    }
    if file.mobility.is_some() {
        return Err(at.error("a place beside [mobility]", "one of the two"));
    }
    if file.radio.fading_at.is_some() || file.radio.link_margin.is_some() {
        return Err(at.error("a place where links fade or have a margin", "neither of the two"));
    }
    Ok(())
}
