//! The resolved scenario: plain data, every default filled in, every name replaced by an index.

mod channel;
mod emulate;
mod flow;
mod measure;
mod network;
mod radio;

pub(crate) use channel::centre_of;
pub use channel::{Channel, NodeRadio};
pub use emulate::{Collect, EmulatedEvent, EmulatedHost, Happening, HostCommand, Layer};
pub use flow::{App, FileClock, Flow};
pub use measure::{Measure, Plan};
pub use meshpace_radio::{BackoffRange, Position, Preamble, Propagation, Standard};
pub use network::{
    Endpoint, Link, MeshNode, Mobility, Processing, RadioLink, Rectangle, Routing, SensedLink, WiredId,
    WiredNode,
};
pub use radio::{Fading, LinkRate, Radio, RateControl, Reception, RtsThreshold};

use crate::{Location, RawValue, ScenarioError};
use meshpace_units::{NodeId, Rate};
use std::sync::Arc;

/// One run's complete description: a scenario file, its overrides and a seed, resolved.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    /// The scenario's name; the file's stem unless `[scenario] name` says otherwise.
    pub name: String,
    /// What it shows.
    pub description: Option<String>,
    /// The paper and figure that it reproduces.
    pub source: Option<String>,
    /// The seed of this run: placement, flow ends and start times were drawn with it.
    pub seed: u64,
    /// The scenario file's full text, as read.
    pub text: Arc<str>,
    /// SHA-256 of `text` in lower-case hexadecimal.
    pub scenario_sha256: String,
    /// The overrides as `key.path=value`, in the order applied; `text` and these repeat the run.
    pub overrides: Vec<String>,
    /// How long to run and what to measure.
    pub measure: Measure,
    /// The 802.11 parameters, the same at every node but for `radio.link_rates` and what `channels` say.
    pub radio: Radio,
    /// The channels with their radios, by frequency; none: all nodes have the one radio of `radio`.
    pub channels: Vec<Channel>,
    /// Mesh nodes (gateways included); the index is the node's [`meshpace_units::NodeId`].
    pub mesh: Vec<MeshNode>,
    /// Wired nodes; the index is the node's [`WiredId`].
    pub wired: Vec<WiredNode>,
    /// Wired links, full duplex.
    pub links: Vec<Link>,
    /// The radio links that the file describes, in order of sender and receiver. Where mesh nodes have no positions
    /// these are all there are.
    pub radio_links: Vec<RadioLink>,
    /// Which nodes sense which besides, without decoding, in the same order: only where mesh nodes have no positions.
    pub sensed_links: Vec<SensedLink>,
    /// The mesh's routing protocol.
    pub routing: Routing,
    /// What nodes take to hand on what they have received.
    pub processing: Processing,
    /// Which mesh nodes move, and how.
    pub mobility: Mobility,
    /// The scheme whose relay and gateway parts the mesh runs: `[mesh] scheme`; without it that of the first flow,
    /// with which all flows must agree in these parts ([`Scenario::mesh_scheme_missing`]); without flows that of
    /// `[defaults]`.
    pub network_scheme: String,
    /// The flows, `count` expanded.
    pub flows: Vec<Flow>,
    /// The real hosts of an emulation, a row a command; simulated runs do not look at them.
    pub emulated_hosts: Vec<EmulatedHost>,
    /// What happens to nodes in an emulation, in the order of time; simulated runs do not look at it.
    pub emulated_events: Vec<EmulatedEvent>,
    /// Every parameter of every `[scheme.NAME]` table, in file order; not interpreted here.
    pub scheme_settings: Vec<SchemeSetting>,
    pub(crate) scheme_uses: Vec<(String, Location)>,
    pub(crate) mesh_scheme_missing: Option<Location>,
}

impl Scenario {
    /// Every use of a scheme's name with its location, so that the owner of the names can refuse an unknown one
    /// with [`Location::error`]: the flows' schemes, then the network's.
    pub fn scheme_uses(&self) -> impl Iterator<Item = (&str, &Location)> {
        self.scheme_uses.iter().map(|(name, at)| (name.as_str(), at))
    }

    /// Where `[mesh] scheme` would stand if the file does not give it: then the flows' schemes must agree in their
    /// relay and gateway parts, which the owner of the schemes knows.
    #[must_use]
    pub fn mesh_scheme_missing(&self) -> Option<&Location> {
        self.mesh_scheme_missing.as_ref()
    }

    /// The MAC address of a mesh node's radio on a channel, by its place among the channels. Where it has none, its first radio's.
    #[must_use]
    pub fn mac_on(&self, channel: usize, node: NodeId) -> [u8; 6] {
        let radio = self.channels.get(channel).and_then(|channel| channel.radio_of(node));
        self.mesh[node.index()].mac_of(radio.map_or(0, |radio| radio.number))
    }

    /// Where to draw a mesh node: at its position. Nodes without any stand on a circle in the order of the file, on
    /// which neighbours are as far apart as radio reaches.
    #[must_use]
    pub fn drawn_at(&self, node: NodeId) -> Position {
        self.mesh[node.index()].position.unwrap_or_else(|| {
            let turn = std::f64::consts::TAU / self.mesh.len() as f64;
            let radius = self.radio.tx_range / turn;
            let angle = turn * f64::from(node.0);
            Position::flat(radius * libm::cos(angle), radius * libm::sin(angle))
        })
    }

    /// The rate of unicast data on all links, if they have one.
    #[must_use]
    pub fn one_rate(&self) -> Option<Rate> {
        if !self.radio.link_rates.is_empty() {
            return None;
        }
        let radios = self.channels.iter().flat_map(|channel| &channel.radios);
        let mut rates = radios.map(|radio| radio.mode.rate);
        let first = rates.next().unwrap_or(self.radio.rate);
        rates.all(|rate| rate == first).then_some(first)
    }

    /// The file's name of an end of a flow or link.
    #[must_use]
    pub fn name_of(&self, end: Endpoint) -> &str {
        match end {
            Endpoint::Mesh(node) => &self.mesh[node.index()].id,
            Endpoint::Wired(node) => &self.wired[node.index()].id,
        }
    }
}

/// One line of a `[scheme.NAME]` table.
#[derive(Clone, Debug, PartialEq)]
pub struct SchemeSetting {
    /// The scheme that the table names.
    pub scheme: String,
    /// The parameter's name.
    pub key: String,
    /// The value as written.
    pub value: RawValue,
    /// Where it is written.
    pub at: Location,
}

impl SchemeSetting {
    /// The error that this parameter's value, or its name, is not acceptable.
    #[must_use]
    pub fn error(&self, allowed: impl Into<String>) -> ScenarioError {
        self.at.error(self.value.to_string(), allowed)
    }
}
