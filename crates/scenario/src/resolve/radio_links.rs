//! The radio links that the file lists, and the rates of links.

use super::network::Network;
use crate::file::ScenarioFile;
use crate::{Channel, LinkRate, RadioLink, ScenarioError};
use meshpace_settings::quoted;
use meshpace_units::NodeId;
use std::collections::BTreeSet;

const TO_ITSELF: &str = "a link from a node to itself";
const TWO_NODES: &str = "two different nodes";

/// The radio links of a file, by direction.
pub(crate) struct Listed {
    /// Those that are decoded, in order of sender and receiver.
    pub decoded: Vec<RadioLink>,
    /// Those that are only sensed, in the same order.
    pub sensed: Vec<(NodeId, NodeId)>,
}

/// Every `[[radio_link]]`, one entry a direction.
pub(crate) fn resolve(file: &ScenarioFile, network: &Network) -> Result<Listed, ScenarioError> {
    let mut seen = BTreeSet::new();
    let (mut links, mut sensed) = (Vec::new(), Vec::new());
    let placed = network.mesh.iter().any(|node| node.position.is_some());
    for spec in &file.radio_links {
        let (from, to) = (network.mesh_node(&spec.from)?, network.mesh_node(&spec.to)?);
        if from == to {
            return Err(spec.to.at.error(TO_ITSELF, TWO_NODES));
        }
        let together = |channel: &Channel| [from, to].into_iter().all(|end| channel.radio_of(end).is_some());
        if !network.channels.is_empty() && !network.channels.iter().any(together) {
            let found =
                format!("a radio link between {} and {}", quoted(&spec.from.name), quoted(&spec.to.name));
            return Err(spec.to.at.error(found, "nodes with radios on one channel"));
        }
        if let Some(at) = spec.sensed.as_ref().filter(|_| placed) {
            let found = "a link that is only sensed beside nodes with places";
            return Err(at.error(found, "only where no node has a place, since places say who senses whom"));
        }
        let back = spec.symmetric.then_some((to, from));
        for (from, to) in [Some((from, to)), back].into_iter().flatten() {
            if !seen.insert((from, to)) {
                let id = |node: NodeId| quoted(&network.mesh[node.index()].id);
                let found = format!("a second radio link from {} to {}", id(from), id(to));
                let allowed = "one a direction; symmetric = true, the default, makes both";
                return Err(spec.to.at.error(found, allowed));
            }
            if spec.sensed.is_some() {
                sensed.push((from, to));
                continue;
            }
            links.push(RadioLink {
                from,
                to,
                loss: spec.loss,
                loss_length: spec.loss_length,
                burst: spec.burst,
            });
        }
    }
    links.sort_by_key(|link| (link.from, link.to));
    sensed.sort_unstable();
    Ok(Listed { decoded: links, sensed })
}

/// The exceptions from the common rate: those of `radio.link_rates`, then those of radio links.
pub(crate) fn rates(file: &ScenarioFile, network: &Network) -> Result<Vec<LinkRate>, ScenarioError> {
    let mut seen = BTreeSet::new();
    let mut rates = Vec::new();
    let exceptions =
        file.radio.link_rates.iter().map(|spec| (&spec.from, spec.to.as_ref(), spec.rate, false));
    let listed = file
        .radio_links
        .iter()
        .filter_map(|spec| Some((&spec.from, Some(&spec.to), spec.rate?, spec.symmetric)));
    for (from_named, to, rate, symmetric) in exceptions.chain(listed) {
        let from = network.mesh_node(from_named)?;
        let to = to.map(|to| network.mesh_node(to)).transpose()?;
        if to == Some(from) {
            return Err(from_named.at.error(TO_ITSELF, TWO_NODES));
        }
        let back = to.filter(|_| symmetric).map(|to| (to, Some(from)));
        for (from, to) in [Some((from, to)), back].into_iter().flatten() {
            if !seen.insert((from, to)) {
                let found = "a second rate for the same sender and receiver";
                return Err(from_named.at.error(found, "one rate each"));
            }
            rates.push(LinkRate { from, to, rate });
        }
    }
    Ok(rates)
}
