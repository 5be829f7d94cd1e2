//! The routing of nodes at time 0, as a scenario chooses it.

use crate::air::{Air, Airs};
use meshpace_relay::packet::Handle;
use meshpace_routing::{Cost, LinkQuality, METRICS, RoutingProtocol, ShortestPaths, Site, metric};
use meshpace_scenario::{Reception, Routing, Scenario};
use meshpace_units::NodeId;
use meshpace_units::random::Stream;
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

/// The shortest paths over links between nodes that can decode each other at time 0, by the metric of the scenario's protocol: where two have several
/// channels in common, by the one that costs least.
pub fn shortest_paths(scenario: &Scenario, airs: &Airs) -> ShortestPaths {
    let costs = LinkCosts::new(scenario);
    let least = |from, to| {
        let joined = airs.iter().filter(|air| air.joins(from, to));
        let least = joined.map(|air| costs.on(air, from, to)).min();
        least.unwrap_or_else(|| panic!("{from:?} and {to:?} do not decode each other"))
    };
    let neighbours = both_ways(airs, scenario.mesh.len());
    if costs.are_one() {
        return ShortestPaths::new(&neighbours, |_, _| Cost::ONE);
    }
    ShortestPaths::new(&neighbours, least)
}

/// The links that decode both ways: no exchange of frames succeeds over a link that has but one direction.
fn both_ways(airs: &Airs, nodes: usize) -> Vec<Vec<NodeId>> {
    let of = |here| {
        let mut found: Vec<_> = airs.neighbours_both_ways(here).collect();
        found.sort_unstable();
        found.dedup();
        found
    };
    (0..nodes).map(NodeId::from_index).map(of).collect()
}

/// What using a link costs, by the metric of a scenario's protocol and what is known of the link at time 0.
pub struct LinkCosts {
    /// `None`: every link costs the same, and error curves, which take their time, are not worked out.
    metric: Option<fn(&LinkQuality) -> Cost>,
    /// Frames are lost by error curves.
    gradual: bool,
}

impl LinkCosts {
    /// Those of a scenario.
    pub fn new(scenario: &Scenario) -> Self {
        let word = chosen_word(&scenario.routing);
        Self {
            metric: (word != METRICS[0].about.word).then(|| metric(&word)),
            gradual: scenario.radio.reception == Reception::SinrCurve,
        }
    }

    /// True if every link costs the same.
    pub fn are_one(&self) -> bool {
        self.metric.is_none()
    }

    /// From one node to another on an air.
    pub fn on(&self, air: &Air, from: NodeId, to: NodeId) -> Cost {
        self.metric.map_or(Cost::ONE, |metric| metric(&air.quality(from, to, self.gradual)))
    }
}

/// The metric that the protocol goes by: the first if it asks for none.
fn chosen_metric(routing: &Routing) -> fn(&LinkQuality) -> Cost {
    metric(&chosen_word(routing))
}

fn chosen_word(routing: &Routing) -> String {
    let chosen = routing.values.get("metric").map(|word| word.clone().text());
    chosen.unwrap_or_else(|| METRICS[0].about.word.to_owned())
}
