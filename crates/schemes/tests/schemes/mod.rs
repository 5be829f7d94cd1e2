//! The table of compositions, its parameters, and what a scenario file makes of them.

mod profiles;
mod property;
mod recovery;
mod schema;
mod settings;
mod table;

use meshpace_keys::RawValue;
use meshpace_schemes::{FlowEnd, Scheme, SchemeSetting, lookup};
use meshpace_tcp::Config;

fn scheme(name: &str) -> Scheme {
    lookup(name).unwrap_or_else(|| panic!("there is no scheme {name}"))
}

fn settings(lines: &[(&str, &str, RawValue)]) -> Vec<SchemeSetting> {
    let setting = |(scheme, key, value): &(&str, &str, RawValue)| SchemeSetting {
        scheme: (*scheme).to_owned(),
        key: (*key).to_owned(),
        value: value.clone(),
    };
    lines.iter().map(setting).collect()
}

fn flow(from_mesh: bool) -> FlowEnd {
    FlowEnd { segment: 1460, window: 64, from_mesh }
}

/// The parts of an endpoint, configuration and all. Nothing compares controls but tests.
fn written(config: &Config) -> String {
    format!("{config:?}")
}
