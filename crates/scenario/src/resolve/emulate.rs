//! Which nodes are real hosts, what runs there, and which are switched off.

use super::network::Network;
use crate::file::ScenarioFile;
use crate::{EmulatedEvent, EmulatedHost, Endpoint, HostCommand, Layer, ScenarioError};
use meshpace_settings::quoted;

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
        Ok(EmulatedEvent { at: spec.at, node, on: spec.on })
    });
    let mut events = events.collect::<Result<Vec<_>, ScenarioError>>()?;
    events.sort_by_key(|event| event.at);
    Ok(events)
}
