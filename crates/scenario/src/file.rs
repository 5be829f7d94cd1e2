//! A scenario file, parsed and checked; resolving it with a seed makes a [`Scenario`].

use crate::extra::Extra;
use crate::keys::ROOT;
use crate::overrides::Overrides;
use crate::read::{
    EmulatedEventSpec, EmulatedHostSpec, FlowSpec, LinkSpec, MeshScheme, MobilitySpec, NodeSpec,
    RadioLinkSpec, RadioSpec, Settings, Topology, read_emulated_events, read_emulated_hosts, read_flows,
    read_links, read_measure, read_mesh_scheme, read_mobility, read_nodes, read_radio, read_radio_links,
    read_routing, read_schemes, read_topology,
};
use crate::{Measure, Routing, ScenarioError, SchemeSetting};
use meshpace_settings::{Table, complaints, read};
use sha2::{Digest, Sha256};
use std::sync::Arc;

/// What a scenario file says that it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct About {
    /// `scenario.name`; the file's stem by default.
    pub name: String,
    /// `scenario.description`.
    pub description: Option<String>,
    /// `scenario.source`.
    pub source: Option<String>,
}

impl About {
    /// Reads the table `[scenario]` of a file called `name`, and checks no other: lists of files take it.
    ///
    /// # Errors
    /// If the text is not TOML, or the table has a key that does not exist or a value that is not allowed.
    pub fn parse(name: &str, bytes: &[u8]) -> Result<Self, ScenarioError> {
        let file: Arc<str> = name.into();
        let (_, table) = read(&file, bytes)?;
        Self::of(&file, &Settings::root(&file, &ROOT, &table)?)
    }

    fn of(file: &str, root: &Settings) -> Result<Self, ScenarioError> {
        let table = root.section("scenario")?;
        Ok(Self {
            name: table.given("name")?.map_or_else(|| stem(file), |name| name.text()),
            description: table.given("description")?.map(|text| text.text()),
            source: table.given("source")?.map(|text| text.text()),
        })
    }
}

/// A scenario file with its overrides: everything that does not depend on the seed, checked.
#[derive(Clone, Debug)]
pub struct ScenarioFile {
    pub(crate) text: Arc<str>,
    pub(crate) scenario_sha256: String,
    pub(crate) overrides: Vec<String>,
    pub(crate) name: String,
    pub(crate) description: Option<String>,
    pub(crate) source: Option<String>,
    pub(crate) measure: Measure,
    pub(crate) radio: RadioSpec,
    pub(crate) radio_links: Vec<RadioLinkSpec>,
    pub(crate) topology: Topology,
    pub(crate) nodes: Vec<NodeSpec>,
    pub(crate) links: Vec<LinkSpec>,
    pub(crate) routing: Routing,
    pub(crate) mobility: Option<MobilitySpec>,
    pub(crate) flows: Vec<FlowSpec>,
    pub(crate) emulated_hosts: Vec<EmulatedHostSpec>,
    pub(crate) emulated_events: Vec<EmulatedEventSpec>,
    pub(crate) mesh_scheme: MeshScheme,
    pub(crate) scheme_settings: Vec<SchemeSetting>,
    pub(crate) extras: Vec<Extra>,
}

impl ScenarioFile {
    /// Reads a scenario from the bytes of a file called `name`, after applying `overrides`.
    ///
    /// # Errors
    /// If the text is not TOML, has a key that does not exist, or a value that is not allowed. What depends on the
    /// seed, and whether flows find their ends, is checked by [`ScenarioFile::resolve`].
    pub fn parse(name: &str, bytes: &[u8], overrides: &Overrides) -> Result<Self, ScenarioError> {
        let file: Arc<str> = name.into();
        let (text, mut table) = read(&file, bytes)?;
        overrides.apply(&file, &mut table)?;
        Self::check(&file, text, overrides, &table)
    }

    /// Everything that is wrong with a file: what its tables of keys see, and the first thing that only its readers see,
    /// where nothing in its table stands already. Empty if [`ScenarioFile::parse`] accepts it.
    #[must_use]
    pub fn complaints(name: &str, bytes: &[u8], overrides: &Overrides) -> Vec<ScenarioError> {
        let file: Arc<str> = name.into();
        let read = read(&file, bytes).and_then(|(text, mut table)| {
            overrides.apply(&file, &mut table)?;
            Ok((text, table))
        });
        let (text, mut table) = match read {
            Ok(read) => read,
            Err(error) => return vec![error],
        };
        let mut found = complaints(&file, &ROOT, &table);
        // Without what is wrong, what its readers say of the other tables is worth hearing.
        let touched: Vec<String> = found.iter().map(|error| top(&error.at.key).to_owned()).collect();
        table.entries.retain(|(key, _)| !touched.contains(key));
        if let Err(error) = Self::check(&file, text, overrides, &table) {
            // Of a table that is gone nothing can be said, nor of what another one leaned on.
            let leans =
                !touched.is_empty() && !table.entries.iter().any(|(key, _)| key == top(&error.at.key));
            if !leans && !touched.iter().any(|key| key == top(&error.at.key)) {
                found.push(error);
            }
        }
        found
    }

    fn check(
        file: &Arc<str>,
        text: Arc<str>,
        overrides: &Overrides,
        table: &Table,
    ) -> Result<Self, ScenarioError> {
        let root = Settings::root(file, &ROOT, table)?;
        let about = About::of(file, &root)?;
        let measure = read_measure(&root.section("measure")?)?;
        let radio = read_radio(&root.section("radio")?)?;
        let routing = read_routing(&root.section("routing")?)?;
        let defaults = root.section("defaults")?;
        let flows = read_flows(&root, &defaults, &measure, (&radio.radio, &routing))?;
        Ok(Self {
            scenario_sha256: hex(&Sha256::digest(text.as_bytes())),
            text,
            overrides: overrides.record(),
            name: about.name,
            description: about.description,
            source: about.source,
            measure,
            radio_links: read_radio_links(&root, &radio.radio)?,
            nodes: read_nodes(&root, &radio)?,
            topology: read_topology(&root, &radio)?,
            radio,
            links: read_links(&root)?,
            routing,
            mobility: read_mobility(&root.section("mobility")?)?,
            mesh_scheme: read_mesh_scheme(&root, &defaults, &flows)?,
            flows,
            emulated_hosts: read_emulated_hosts(&root)?,
            emulated_events: read_emulated_events(&root)?,
            scheme_settings: read_schemes(&root)?,
            extras: crate::extra::read(&root)?,
        })
    }

    /// The `[[flow]]` that each flow comes from, `count` expanded.
    pub(crate) fn flow_specs(&self) -> impl Iterator<Item = &FlowSpec> {
        self.flows.iter().flat_map(|spec| (0..spec.count).map(move |_| spec))
    }
}

/// The table at the top of the file that a key stands in: `flow` of `flow[1].rate`.
fn top(key: &str) -> &str {
    key.split(['.', '[']).next().unwrap_or(key)
}

/// The file's name without folder and extension.
fn stem(file: &str) -> String {
    let name = file.rsplit(['/', '\\']).next().unwrap_or(file);
    name.strip_suffix(".toml").unwrap_or(name).to_owned()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
