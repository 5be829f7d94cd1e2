//! Keys in files of their own: each changes the scenario once everything else is resolved.
//!
//! A key about something that the resolved scenario has already (a radio's parameter, the placed nodes) is a file here,
//! with its [`Key`] and its effect, and a row of its section's table. A key that needs more than the resolved scenario
//! (other keys' values, a stream of draws) belongs into `keys.rs`, `read/` and `resolve/`.

use crate::{Location, Scenario, ScenarioError};
use meshpace_settings::{Key, Setting, Settings};

/// What a key does to the resolved scenario; the error is what would be allowed instead.
pub(crate) type Apply = fn(&mut Scenario, &Setting) -> Result<(), String>;

/// The tables: by section, the files of its keys.
macro_rules! extras {
    ($($section:literal $table:ident = [$($module:ident),* $(,)?];)+) => {
        $($(mod $module;)*)+

        $(pub(crate) const $table: &[&Key] = &[$(&$module::KEY),*];)+

        /// Section, key, what it does.
        static ALL: &[(&str, &Key, Apply)] = &[$($(($section, &$module::KEY, $module::apply),)*)+];
    };
}

extras! {
    "measure" MEASURE = [hop_delays, queues];
    "radio" RADIO = [backoff_range];
    "topology" TOPOLOGY = [];
    "routing" ROUTING = [processing_delay, processing_jitter];
}

/// One of these keys, as a file gives it.
#[derive(Clone, Debug)]
pub(crate) struct Extra {
    setting: Setting,
    at: Location,
    apply: Apply,
}

/// Those that the file gives, and those that have a default.
pub(crate) fn read(root: &Settings<'_>) -> Result<Vec<Extra>, ScenarioError> {
    let mut extras = Vec::new();
    for (section, key, apply) in ALL {
        let settings = root.section(section)?;
        if settings.gives(key.name) || key.default.is_some() {
            let setting = settings.value(key.name)?;
            extras.push(Extra { setting, at: settings.at(key.name), apply: *apply });
        }
    }
    Ok(extras)
}

/// Lets each of them act.
pub(crate) fn apply(extras: &[Extra], mut scenario: Scenario) -> Result<Scenario, ScenarioError> {
    for Extra { setting, at, apply } in extras {
        apply(&mut scenario, setting).map_err(|allowed| at.error(setting.to_string(), allowed))?;
    }
    Ok(scenario)
}
