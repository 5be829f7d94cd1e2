//! Is every hop short enough for the time-outs of the MAC?
//!
//! A sender gives up before the answer comes from farther away than `radio.ack_timeout` allows, and nothing ever gets
//! through: that would look like a bad link, so it is refused.

use super::graph::Graph;
use super::network::Network;
use crate::file::ScenarioFile;
use crate::{Endpoint, Flow, Mobility, Position, Propagation, ScenarioError};
use meshpace_radio::{Links, delay};
use meshpace_units::{NodeId, Span};
use std::collections::BTreeSet;

/// Refuses a mesh in which a flow may take a hop that is too long.
pub(crate) fn check(
    file: &ScenarioFile,
    network: &Network,
    graph: &Graph,
    mobility: &Mobility,
    flows: &[Flow],
    links: &Links,
) -> Result<(), ScenarioError> {
    let Some(positions) = network.positions() else { return Ok(()) };
    let radio = &file.radio.radio;
    let too_long = |distance: f64| there_and_back(distance) > radio.ack_timeout;
    let refuse = |distance: f64, who: String| {
        let needed = there_and_back(distance).as_nanos().div_ceil(100) as f64 / 10.0;
        let allowed = format!(
            "at least {needed}us: {who}; or topology.connected = false, to run it without these hops"
        );
        Err(file.radio.ack_timeout.at.error(file.radio.ack_timeout.name.clone(), allowed))
    };
    let is_sent = file.emulated_events.iter().any(|event| event.what.moves());
    if is_sent || matches!(mobility, Mobility::RandomWaypoint { .. }) {
        if too_long(radio.tx_range) {
            return refuse(
                radio.tx_range,
                format!("moving nodes hear each other up to {} m apart", radio.tx_range),
            );
        }
        return Ok(());
    }
    let apart = |a: NodeId, b: NodeId| positions[a.index()].distance(positions[b.index()]);
    let who = |a: NodeId, b: NodeId| {
        let id = |node: NodeId| &network.mesh[node.index()].id;
        format!("{} and {} hear each other {:.0} m apart", id(a), id(b), apart(a, b))
    };
    for hop in flows.iter().flat_map(Flow::ways).flat_map(|way| way.windows(2)) {
        if too_long(apart(hop[0], hop[1])) {
            return refuse(apart(hop[0], hop[1]), who(hop[0], hop[1]));
        }
    }
    let component = graph.components();
    let used: BTreeSet<usize> = flows
        .iter()
        .filter(|flow| flow.path.is_none())
        .flat_map(|flow| [flow.from, flow.to])
        .filter_map(|end| match end {
            Endpoint::Mesh(node) => Some(component[node.index()]),
            Endpoint::Wired(_) => None,
        })
        .collect();
    let in_use = |node: NodeId| used.contains(&component[node.index()]);
    let listed = network.radio_links.iter().map(|link| (link.from, link.to));
    let long = long_links(links, &positions, &too_long);
    for (a, b) in listed.chain(long) {
        if graph.share(a.index(), b.index()) && in_use(a) && in_use(b) && too_long(apart(a, b)) {
            return refuse(apart(a, b), who(a, b));
        }
    }
    Ok(())
}

fn there_and_back(distance: f64) -> Span {
    delay(distance) * 2
}

/// Pairs that hear each other by distance, though they are too far apart; none are looked for if there can be none.
fn long_links<'a>(
    links: &'a Links,
    positions: &'a [Position],
    too_long: &'a impl Fn(f64) -> bool,
) -> impl Iterator<Item = (NodeId, NodeId)> + 'a {
    // As far as the engine looks, shadowing's luck included; with luck and a flat law farther than light gets in a lifetime.
    let possible = match links.propagation {
        Propagation::LogDistance { shadowing_db, .. } if shadowing_db > 0.0 => links.farthest(0.0),
        _ if links.building.luck_db() > 0.0 => links.farthest(0.0),
        _ => links.ranges.0,
    }
    .min(diagonal(positions));
    let receive = links.thresholds().receive;
    let nodes = if too_long(possible) { positions.len() } else { 0 };
    (0..nodes).flat_map(move |a| (a + 1..nodes).map(move |b| (a, b))).filter_map(move |(a, b)| {
        let distance = positions[a].distance(positions[b]);
        let (a, b) = (NodeId::from_index(a), NodeId::from_index(b));
        // Answers have to come back: both directions count.
        let heard = || links.power(a, b, positions).min(links.power(b, a, positions)) >= receive;
        let long = too_long(distance) && distance <= possible && heard();
        long.then_some((a, b))
    })
}

/// Of the box around all nodes: no two are farther apart.
fn diagonal(positions: &[Position]) -> f64 {
    let corner = |pick: fn(f64, f64) -> f64| {
        positions.iter().copied().reduce(|a, b| Position {
            x: pick(a.x, b.x),
            y: pick(a.y, b.y),
            z: pick(a.z, b.z),
        })
    };
    corner(f64::min).zip(corner(f64::max)).map_or(0.0, |(low, high)| low.distance(high))
}
