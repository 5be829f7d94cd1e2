//! `[emulate]`.

use super::{Named, Settings};
use crate::{Collect, Layer, ScenarioError};
use meshpace_units::Span;

/// A real host and a command, its node still a name.
#[derive(Clone, Debug)]
pub(crate) struct EmulatedHostSpec {
    pub node: Named,
    pub layer: Layer,
    pub run: Option<String>,
    pub start: Span,
    pub collect: Collect,
}

/// What happens to a node, which is still a name.
#[derive(Clone, Debug)]
pub(crate) struct EmulatedEventSpec {
    pub at: Span,
    pub node: Named,
    pub on: bool,
}

pub(crate) fn read_emulated_events(root: &Settings<'_>) -> Result<Vec<EmulatedEventSpec>, ScenarioError> {
    let read = |settings: &Settings<'_>| {
        let on = settings.choice("radios", &[("off", false), ("on", true)])?;
        Ok(EmulatedEventSpec { at: settings.value("at")?.span(), node: settings.named("node")?, on })
    };
    root.section("emulate")?.sections("event")?.iter().map(read).collect()
}

pub(crate) fn read_emulated_hosts(root: &Settings<'_>) -> Result<Vec<EmulatedHostSpec>, ScenarioError> {
    let emulate = root.section("emulate")?;
    let mut specs = Vec::new();
    for (table, layer) in [("host", Layer::Packets), ("node", Layer::Frames)] {
        for settings in emulate.sections(table)? {
            specs.push(read(&settings, layer)?);
        }
    }
    Ok(specs)
}

fn read(settings: &Settings<'_>, layer: Layer) -> Result<EmulatedHostSpec, ScenarioError> {
    let words = [("no", Collect::Nothing), ("output", Collect::Output), ("iperf3", Collect::Iperf3)];
    let collect = settings.choice("collect", &words)?;
    let run = settings.given("run")?.map(|run| run.text());
    for key in ["start", "collect"] {
        if run.is_none() && settings.gives(key) {
            return Err(settings.at(key).error("the key without run", "run = a command, beside it"));
        }
    }
    if run.as_deref().is_some_and(|run| run.trim().is_empty() || run.contains('\0')) {
        return Err(settings.at("run").error(settings.found("run"), "a command for the shell"));
    }
    Ok(EmulatedHostSpec {
        node: settings.named("node")?,
        layer,
        run,
        start: settings.value("start")?.span(),
        collect,
    })
}
