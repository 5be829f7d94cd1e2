//! From the checked file and a seed to the scenario of one run.

mod flows;
mod generate;
mod graph;
mod mobility;
mod network;
mod reach;

use crate::file::ScenarioFile;
use crate::{LinkRate, Radio, Scenario, ScenarioError};
use network::Network;
use std::collections::BTreeSet;

pub(crate) fn resolve(file: &ScenarioFile, seed: u64) -> Result<Scenario, ScenarioError> {
    let network = Network::build(file, seed)?;
    let radio = Radio { link_rates: link_rates(file, &network)?, ..file.radio.clone() };
    let mobility = mobility::resolve(file, &network)?;
    let flows = flows::resolve(file, &network, seed)?;
    reach::check(file, &network, &mobility, &flows)?;
    let scheme_uses = file.flows.iter().map(|flow| &flow.scheme).chain([&file.network_scheme]);
    Ok(Scenario {
        name: file.name.clone(),
        description: file.description.clone(),
        source: file.source.clone(),
        seed,
        text: file.text.clone(),
        scenario_sha256: file.scenario_sha256.clone(),
        overrides: file.overrides.clone(),
        measure: file.measure.clone(),
        radio,
        routing: file.routing,
        mobility,
        network_scheme: file.network_scheme.name.clone(),
        flows,
        scheme_settings: file.scheme_settings.clone(),
        scheme_uses: scheme_uses.map(|named| (named.name.clone(), named.at.clone())).collect(),
        mesh: network.mesh,
        wired: network.wired,
        links: network.links,
    })
}

fn link_rates(file: &ScenarioFile, network: &Network) -> Result<Vec<LinkRate>, ScenarioError> {
    let mut seen = BTreeSet::new();
    let mut rates = Vec::new();
    for spec in &file.link_rates {
        let from = network.mesh_node(&spec.from)?;
        let to = spec.to.as_ref().map(|to| network.mesh_node(to)).transpose()?;
        if to == Some(from) {
            return Err(spec.from.at.error("a link from a node to itself", "two different nodes"));
        }
        if !seen.insert((from, to)) {
            return Err(spec
                .from
                .at
                .error("a second rate for the same sender and receiver", "one rate each"));
        }
        rates.push(LinkRate { from, to, rate: spec.rate });
    }
    Ok(rates)
}
