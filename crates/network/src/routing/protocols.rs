//! The routing of nodes at time 0, as a scenario chooses it.

use crate::air::Airs;
use meshpace_packet::Handle;
use meshpace_random::Stream;
use meshpace_routing::{Cost, LinkQuality, METRICS, RoutingProtocol, ShortestPaths, Site, metric};
use meshpace_scenario::{Reception, Routing, Scenario};
use meshpace_units::NodeId;
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
pub fn shortest_paths(scenario: &Scenario, neighbours: &[Vec<NodeId>], airs: &Airs) -> ShortestPaths {
    let cost = match chosen_word(&scenario.routing) {
        // Every link costs the same, and error curves take their time.
        word if word == METRICS[0].about.word => return ShortestPaths::new(neighbours, |_, _| Cost::ONE),
        word => metric(&word),
    };
    let gradual = scenario.radio.reception == Reception::SinrCurve;
    ShortestPaths::new(neighbours, |from, to| {
        let interface = airs.toward(from, to);
        let interface = interface.unwrap_or_else(|| panic!("{from:?} and {to:?} share no air"));
        cost(&airs.at(interface).0.quality(from, to, gradual))
    })
}

/// The metric that the protocol goes by: the first if it asks for none.
fn chosen_metric(routing: &Routing) -> fn(&LinkQuality) -> Cost {
    metric(&chosen_word(routing))
}

fn chosen_word(routing: &Routing) -> String {
    let chosen = routing.values.get("metric").map(|word| word.clone().text());
    chosen.unwrap_or_else(|| METRICS[0].about.word.to_owned())
}
