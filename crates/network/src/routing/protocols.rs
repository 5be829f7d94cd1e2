//! The routing of nodes at time 0, as a scenario chooses it.

use crate::air::RateTable;
use meshpace_packet::Handle;
use meshpace_random::Stream;
use meshpace_routing::{Cost, LinkQuality, METRICS, RoutingProtocol, ShortestPaths, Site, metric};
use meshpace_scenario::{Routing, Scenario};
use meshpace_units::NodeId;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The routing of a node.
pub fn protocol(
    me: NodeId,
    scenario: &Scenario,
    paths: &Arc<ShortestPaths>,
) -> Box<dyn RoutingProtocol<Handle>> {
    let Routing { profile, values, .. } = &scenario.routing;
    let stream = |name| Stream::new(scenario.seed, name, u64::from(me.0));
    (profile.build)(&Site { me, values, paths, metric: chosen_metric(&scenario.routing), stream: &stream })
}

/// The shortest ways between those who can decode each other at time 0, by the metric of the scenario's protocol.
pub fn shortest_paths(scenario: &Scenario, neighbours: &[Vec<NodeId>]) -> ShortestPaths {
    let (cost, rates) = (chosen_metric(&scenario.routing), RateTable::new(&scenario.radio));
    let losses: BTreeMap<_, _> =
        scenario.radio_links.iter().map(|link| ((link.from, link.to), link.loss)).collect();
    let loss = |from, to| losses.get(&(from, to)).copied().unwrap_or(0.0);
    ShortestPaths::new(neighbours, |from, to| {
        cost(&LinkQuality {
            rate: Some(rates.between(from, to).rate),
            loss: Some(loss(from, to)),
            loss_back: Some(loss(to, from)),
        })
    })
}

/// The metric that the protocol goes by: the first if it asks for none.
fn chosen_metric(routing: &Routing) -> fn(&LinkQuality) -> Cost {
    match routing.values.get("metric") {
        Some(word) => metric(&word.clone().text()),
        None => METRICS[0].build,
    }
}
