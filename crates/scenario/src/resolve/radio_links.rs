//! The radio links that the file lists, and the rates of links.

use super::network::Network;
use crate::file::ScenarioFile;
use crate::read::{RadioLinkSpec, rates_of};
use crate::{LinkRate, Location, RadioLink, ScenarioError, SensedLink};
use meshpace_settings::quoted;
use meshpace_units::NodeId;
use std::collections::BTreeMap;

const TO_ITSELF: &str = "a link from a node to itself";
const TWO_NODES: &str = "two different nodes";

/// The radio links of a file, by direction.
pub(crate) struct Listed {
    /// Those that are decoded, in order of sender, receiver and channel.
    pub decoded: Vec<RadioLink>,
    /// Those that are only sensed, in the same order.
    pub sensed: Vec<SensedLink>,
}

/// Every `[[radio_link]]`, one entry a direction.
pub(crate) fn resolve(file: &ScenarioFile, network: &Network) -> Result<Listed, ScenarioError> {
    let mut seen = Seen::default();
    let (mut links, mut sensed) = (Vec::new(), Vec::new());
    let placed = network.mesh.iter().any(|node| node.position.is_some());
    for spec in &file.radio_links {
        let (from, to) = (network.mesh_node(&spec.from)?, network.mesh_node(&spec.to)?);
        if from == to {
            return Err(spec.to.at.error(TO_ITSELF, TWO_NODES));
        }
        check_channel(spec, [from, to], file, network)?;
        if let Some(at) = spec.sensed.as_ref().filter(|_| placed) {
            let found = "a link that is only sensed beside nodes with places";
            return Err(at.error(found, "only where no node has a place, since places say who senses whom"));
        }
        let mhz = mhz(spec);
        let back = spec.symmetric.then_some((to, from));
        for (from, to) in [Some((from, to)), back].into_iter().flatten() {
            if !seen.add((from, Some(to)), mhz) {
                let id = |node: NodeId| quoted(&network.mesh[node.index()].id);
                let found = format!("a second radio link from {} to {}", id(from), id(to));
                let allowed = "one a direction, or one a direction and channel; symmetric = true, the default, makes both";
                return Err(spec.to.at.error(found, allowed));
            }
            if spec.sensed.is_some() {
                sensed.push(SensedLink { from, to, mhz });
                continue;
            }
            links.push(RadioLink {
                from,
                to,
                mhz,
                loss: spec.loss,
                loss_length: spec.loss_length,
                burst: spec.burst,
            });
        }
    }
    links.sort_by_key(|link| (link.from, link.to, link.mhz));
    sensed.sort_unstable();
    Ok(Listed { decoded: links, sensed })
}

/// The centre of a link's channel, if it has one.
fn mhz(spec: &RadioLinkSpec) -> Option<u16> {
    spec.channel.as_ref().map(|(mhz, _)| *mhz)
}

/// Refuses a link on a channel that not both its ends have a radio on.
fn check_channel(
    spec: &RadioLinkSpec,
    ends: [NodeId; 2],
    file: &ScenarioFile,
    network: &Network,
) -> Result<(), ScenarioError> {
    let channels = &network.channels;
    let between = || format!("between {} and {}", quoted(&spec.from.name), quoted(&spec.to.name));
    let mut shared =
        channels.iter().filter(|channel| ends.into_iter().all(|end| channel.radio_of(end).is_some()));
    match &spec.channel {
        None if channels.is_empty() || shared.next().is_some() => Ok(()),
        None => {
            Err(spec.to.at.error(format!("a radio link {}", between()), "nodes with radios on one channel"))
        }
        Some((mhz, _)) if shared.any(|channel| channel.mhz == *mhz) => Ok(()),
        Some((mhz, _))
            if channels.is_empty()
                && file.radio.says_channel
                && file.radio.radio.standard.channel.mhz == *mhz =>
        {
            Ok(())
        }
        Some((mhz, at)) => {
            let allowed = "a channel that both nodes have a radio on, by [[node.radio]], [radio] channel or frequency, or topology.channels";
            Err(at.error(format!("a radio link at {mhz} MHz {}", between()), allowed))
        }
    }
}

/// Which directed links the file has: each sender and receiver once, or once a channel.
#[derive(Default)]
struct Seen(BTreeMap<(NodeId, Option<NodeId>), Vec<Option<u16>>>);

impl Seen {
    /// False if that was said before.
    fn add(&mut self, link: (NodeId, Option<NodeId>), mhz: Option<u16>) -> bool {
        let said = self.0.entry(link).or_default();
        let new = said.is_empty() || (mhz.is_some() && !said.contains(&None) && !said.contains(&mhz));
        said.push(mhz);
        new
    }
}

/// The exceptions from the common rate: those of `radio.link_rates`, then those of radio links.
pub(crate) fn rates(file: &ScenarioFile, network: &Network) -> Result<Vec<LinkRate>, ScenarioError> {
    let mut seen = Seen::default();
    let mut rates = Vec::new();
    let exceptions = file
        .radio
        .link_rates
        .iter()
        .map(|spec| (&spec.from, spec.to.as_ref(), None, (spec.rate, &spec.from.at), false));
    let listed = file.radio_links.iter().filter_map(|spec| {
        let (rate, at) = spec.rate.as_ref()?;
        Some((&spec.from, Some(&spec.to), mhz(spec), (*rate, at), spec.symmetric))
    });
    for (from_named, to, mhz, (rate, at), symmetric) in exceptions.chain(listed) {
        let from = network.mesh_node(from_named)?;
        let to = to.map(|to| network.mesh_node(to)).transpose()?;
        if to == Some(from) {
            return Err(from_named.at.error(TO_ITSELF, TWO_NODES));
        }
        let back = to.filter(|_| symmetric).map(|to| (to, Some(from)));
        for (from, to) in [Some((from, to)), back].into_iter().flatten() {
            if !seen.add((from, to), mhz) {
                let found = "a second rate for the same sender and receiver";
                return Err(from_named.at.error(found, "one rate each, or one each and channel"));
            }
            let rate = LinkRate { from, to, mhz, rate };
            check_rate(&rate, at, file, network)?;
            rates.push(rate);
        }
    }
    Ok(rates)
}

/// Refuses a rate that a channel which it holds on does not have.
fn check_rate(
    rate: &LinkRate,
    at: &Location,
    file: &ScenarioFile,
    network: &Network,
) -> Result<(), ScenarioError> {
    let channels = network.channels.iter().filter(|channel| channel.has(rate));
    let mut standards: Vec<_> = channels.map(|channel| &channel.standard).collect();
    if network.channels.is_empty() {
        standards.push(&file.radio.radio.standard);
    }
    let Some(standard) = standards.into_iter().find(|standard| standard.data_mode(rate.rate).is_none())
    else {
        return Ok(());
    };
    let width = standard.bandwidth / 1_000_000;
    let found = format!("{:?} for a link on {width} MHz at {} MHz", rate.rate, standard.channel.mhz);
    Err(at.error(found, rates_of(standard, standard.data)))
}
