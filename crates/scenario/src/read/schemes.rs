//! `[scheme.NAME]`, carried, not interpreted; `[mesh] scheme`.

use super::{FlowSpec, Named, Settings};
use crate::{Location, ScenarioError, SchemeSetting};
use meshpace_settings::Value;
use meshpace_settings::shown;

/// The scheme of the mesh.
#[derive(Clone, Debug)]
pub(crate) struct MeshScheme {
    /// That of `[mesh]`, else that of the first flow, else that of `[defaults]`.
    pub scheme: Named,
    /// Where `[mesh] scheme` would stand, if it is not given.
    pub missing: Option<Location>,
}

pub(crate) fn read_mesh_scheme(
    root: &Settings<'_>,
    defaults: &Settings<'_>,
    flows: &[FlowSpec],
) -> Result<MeshScheme, ScenarioError> {
    let mesh = root.section("mesh")?;
    if mesh.gives("scheme") {
        return Ok(MeshScheme { scheme: mesh.named("scheme")?, missing: None });
    }
    let scheme = match flows.first() {
        Some(first) => first.scheme.clone(),
        None => defaults.named("scheme")?,
    };
    Ok(MeshScheme { scheme, missing: Some(mesh.at("scheme")) })
}

pub(crate) fn read_schemes(root: &Settings<'_>) -> Result<Vec<SchemeSetting>, ScenarioError> {
    let at = root.at("scheme");
    let schemes = match root.item("scheme").map(|item| &item.value) {
        None => return Ok(Vec::new()),
        Some(Value::Table(schemes)) => schemes,
        Some(value) => return Err(at.error(value.show(), "tables [scheme.NAME]")),
    };
    let mut settings = Vec::new();
    for (scheme, table) in &schemes.entries {
        let path = format!("scheme.{}", shown(scheme));
        let Value::Table(parameters) = &table.value else {
            let at = Location { origin: table.origin.clone(), key: path, ..at };
            return Err(at.error(table.value.show(), "a table of the scheme's parameters"));
        };
        for (key, item) in &parameters.entries {
            let at = Location {
                file: at.file.clone(),
                origin: item.origin.clone(),
                key: format!("{path}.{}", shown(key)),
            };
            let Some(value) = item.value.raw() else {
                return Err(
                    at.error(item.value.show(), "a number, a string, true, false, or a list of these")
                );
            };
            settings.push(SchemeSetting { scheme: scheme.clone(), key: key.clone(), value, at });
        }
    }
    Ok(settings)
}
