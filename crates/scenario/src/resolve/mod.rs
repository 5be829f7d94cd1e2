//! From the checked file and a seed to the scenario of one run.

mod building;
mod channels;
mod emulate;
mod flows;
mod gateway;
mod generate;
mod graph;
mod mobility;
mod network;
mod paths;
mod places;
mod radio_links;
mod reach;
mod timeouts;

use crate::extra;
use crate::file::ScenarioFile;
use crate::{Processing, Propagation, Radio, Scenario, ScenarioError};
use network::Network;

impl ScenarioFile {
    /// The scenario of the run with this seed: nodes placed, names resolved, start times drawn.
    ///
    /// # Errors
    /// If names do not resolve, nodes contradict their links, a flow cannot reach its end, or no placement is found.
    pub fn resolve(&self, seed: u64) -> Result<Scenario, ScenarioError> {
        resolve(self, seed)
    }
}

fn resolve(file: &ScenarioFile, seed: u64) -> Result<Scenario, ScenarioError> {
    let placement_seed = file.topology.placement_seed.unwrap_or(seed);
    let network = Network::build(file, placement_seed)?;
    let link_rates = radio_links::rates(file, &network)?;
    let mut radio = Radio { link_rates, ..file.radio.radio.clone() };
    if network.positions().is_none() {
        // Without distances there is no power to tell frames apart by: a link is there or it is not.
        radio.propagation = Propagation::Ranges;
    }
    let mobility = mobility::resolve(file, &network)?;
    let graph = network.graph(radio.tx_range);
    let flows =
        flows::resolve(file, &network, &graph, flows::Seeds { run: seed, placement: placement_seed })?;
    radio.building.kept = building::resolve(file, &flows, &mobility)?;
    let mut links = radio.links(seed, &network.radio_links);
    if let (Some(kept), Some(positions)) = (&mut radio.building.kept, network.positions()) {
        kept.gain_draw = links.gain_draw(&positions);
        links.building.kept = Some(kept.clone());
    }
    building::check(file, &network, &links)?;
    if network.mesh.is_empty() && network.wired.is_empty() {
        let allowed = "a generator's topology.kind, or one table [[node]] or more";
        return Err(file.topology.at.error("no node", allowed));
    }
    if file.topology.connected {
        reach::check(file, &network, &graph, &mobility, &flows)?;
        timeouts::check(file, &network, &graph, &mobility, &flows, &links)?;
    }
    let scheme_uses = file.flows.iter().map(|flow| &flow.scheme).chain([&file.mesh_scheme.scheme]);
    let scenario = Scenario {
        name: file.name.clone(),
        description: file.description.clone(),
        source: file.source.clone(),
        seed,
        text: file.text.clone(),
        scenario_sha256: file.scenario_sha256.clone(),
        overrides: file.overrides.clone(),
        measure: file.measure.clone(),
        radio,
        routing: file.routing.clone(),
        processing: Processing::default(),
        mobility,
        network_scheme: file.mesh_scheme.scheme.name.clone(),
        mesh_scheme_missing: file.mesh_scheme.missing.clone(),
        flows,
        emulated_hosts: emulate::resolve(file, &network)?,
        emulated_events: emulate::events(file, &network)?,
        scheme_settings: file.scheme_settings.clone(),
        scheme_uses: scheme_uses.map(|named| (named.name.clone(), named.at.clone())).collect(),
        channels: network.channels,
        mesh: network.mesh,
        wired: network.wired,
        links: network.links,
        radio_links: network.radio_links,
        sensed_links: network.sensed_links,
    };
    extra::apply(&file.extras, scenario)
}
