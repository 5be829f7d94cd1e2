//! `[scheme.NAME]`: carried, not interpreted.

use super::Settings;
use crate::{Location, ScenarioError, SchemeSetting};
use meshpace_settings::Value;
use meshpace_settings::shown;

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
