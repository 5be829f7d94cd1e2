//! Which nodes are real hosts, and what runs there.

use super::network::Network;
use crate::file::ScenarioFile;
use crate::{EmulatedHost, HostCommand, ScenarioError};

pub(crate) fn resolve(file: &ScenarioFile, network: &Network) -> Result<Vec<EmulatedHost>, ScenarioError> {
    let hosts = file.emulated_hosts.iter().map(|spec| {
        let command =
            |run: &String| HostCommand { run: run.clone(), start: spec.start, collect: spec.collect };
        Ok(EmulatedHost { node: network.find(&spec.node)?, command: spec.run.as_ref().map(command) })
    });
    hosts.collect()
}
