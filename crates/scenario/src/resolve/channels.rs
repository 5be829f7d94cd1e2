//! The channels of the mesh, and the radios on them.

use super::network::Network;
use crate::file::ScenarioFile;
use crate::read::{Generator, NodeRadioSpec};
use crate::{Channel, Endpoint, NodeRadio, ScenarioError};
use meshpace_settings::quoted;
use meshpace_units::NodeId;
use std::collections::BTreeMap;

/// A radio, and what described it.
struct Described<'a> {
    radio: NodeRadio,
    spec: &'a NodeRadioSpec,
}

/// The channels by frequency; none if no node describes its radios.
pub(crate) fn resolve(file: &ScenarioFile, network: &Network) -> Result<Vec<Channel>, ScenarioError> {
    // A chain's nodes have the radios of their hops, and no other.
    let chain = of_chain(file);
    let mut own = chain.clone();
    for node in file.nodes.iter().filter(|node| !node.radios.is_empty()) {
        if let Some(Endpoint::Mesh(id)) = network.lookup(&node.id.name) {
            own.insert(id, node.radios.iter().collect());
        }
    }
    if own.is_empty() {
        return Ok(Vec::new());
    }
    let common = common(file);
    let mut channels: BTreeMap<u16, Vec<Described<'_>>> = BTreeMap::new();
    for (index, node) in network.mesh.iter().enumerate() {
        let id = NodeId::from_index(index);
        let tables = own.get(&id).map_or(&[][..], Vec::as_slice);
        let described = tables.iter().any(|spec| spec.mhz == common.mhz);
        let further = file.radio.says_channel && !chain.contains_key(&id);
        let first = (tables.is_empty() || (further && !described)).then_some(&common);
        for (number, spec) in (0..).zip(first.into_iter().chain(tables.iter().copied())) {
            let radios = channels.entry(spec.mhz).or_default();
            if radios.last().is_some_and(|other| other.radio.node == id) {
                let found = format!("a second radio of {} at {} MHz", quoted(&node.id), spec.mhz);
                return Err(spec.at.error(found, "a channel of its own for each radio of a node"));
            }
            radios.push(Described { radio: NodeRadio { node: id, number, mode: spec.mode }, spec });
        }
    }
    channels.into_values().map(|radios| channel(&radios)).collect()
}

/// The radios of a chain whose hops have channels: of each node first that of the hop behind it.
fn of_chain(file: &ScenarioFile) -> BTreeMap<NodeId, Vec<&NodeRadioSpec>> {
    let (channels, Generator::Chain { hops, .. }) = (&file.topology.channels, file.topology.generator) else {
        return BTreeMap::new();
    };
    if channels.is_empty() {
        return BTreeMap::new();
    }
    let hops = hops as usize;
    let of_hop = |hop: usize| &channels[hop % channels.len()];
    let radios = |node: usize| {
        let behind = (node < hops).then(|| of_hop(node));
        let before =
            node.checked_sub(1).map(of_hop).filter(|before| behind.is_none_or(|own| own.mhz != before.mhz));
        (NodeId::from_index(node), behind.into_iter().chain(before).collect())
    };
    (0..=hops).map(radios).collect()
}

/// The radio of `[radio]`.
fn common(file: &ScenarioFile) -> NodeRadioSpec {
    let radio = &file.radio.radio;
    let mode = radio.standard.data_mode(radio.rate);
    let nowhere = || file.radio.ack_timeout.at.clone();
    NodeRadioSpec {
        at: nowhere(),
        width_at: nowhere(),
        mhz: radio.standard.channel.mhz,
        standard: radio.standard,
        own: radio.own.clone(),
        basic_rate: radio.basic_rate,
        mode: mode.unwrap_or(radio.standard.default_mode),
    }
}

/// A channel goes by its first radio; what of that the others have to share is checked.
fn channel(radios: &[Described<'_>]) -> Result<Channel, ScenarioError> {
    let first = radios[0].spec;
    let same = |other: &NodeRadioSpec| std::ptr::eq(other.standard.modes, first.standard.modes);
    if let Some(other) = radios.iter().find(|described| !same(described.spec)) {
        let width = |spec: &NodeRadioSpec| spec.standard.bandwidth / 1_000_000;
        let found = format!("{} MHz at {} MHz", width(other.spec), other.spec.mhz);
        let allowed = format!("{} MHz, as other radios on this channel have", width(first));
        return Err(other.spec.width_at.error(found, allowed));
    }
    let slowest = radios.iter().map(|described| described.spec).min_by_key(|spec| spec.mode.rate);
    Ok(Channel {
        mhz: first.mhz,
        standard: meshpace_radio::Standard { default_mode: first.mode, ..first.standard },
        own: first.own.clone(),
        basic_rate: slowest.unwrap_or(first).basic_rate,
        radios: radios.iter().map(|described| described.radio).collect(),
    })
}
