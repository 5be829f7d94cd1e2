//! `[emulate]`.

use super::{Named, Settings};
use crate::{Collect, Happening, Layer, ScenarioError};
use meshpace_settings::Location;
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
    pub what: Happening,
    pub place_at: Location,
}

pub(crate) fn read_emulated_events(root: &Settings<'_>) -> Result<Vec<EmulatedEventSpec>, ScenarioError> {
    let mut specs = Vec::new();
    for settings in root.section("emulate")?.sections("event")? {
        let (at, node) = (settings.value("at")?.span(), settings.named("node")?);
        let happenings = [read_switch(&settings)?, read_way(&settings)?];
        if happenings.iter().all(Option::is_none) {
            return Err(settings.at("node").error("an event at which nothing happens", "radios, or x and y"));
        }
        let spec = |what| EmulatedEventSpec { at, node: node.clone(), what, place_at: settings.at("x") };
        specs.extend(happenings.into_iter().flatten().map(spec));
    }
    Ok(specs)
}

fn read_switch(settings: &Settings<'_>) -> Result<Option<Happening>, ScenarioError> {
    if !settings.gives("radios") {
        return Ok(None);
    }
    let on = settings.choice("radios", &[("off", false), ("on", true)])?;
    Ok(Some(Happening::Switched { on }))
}

fn read_way(settings: &Settings<'_>) -> Result<Option<Happening>, ScenarioError> {
    match (settings.given("x")?, settings.given("y")?) {
        (Some(x), Some(y)) => {
            Ok(Some(Happening::Goes { x: x.real(), y: y.real(), takes: settings.value("takes")?.span() }))
        }
        (None, None) if settings.gives("takes") => Err(settings
            .at("takes")
            .error("the key without x and y", "x and y = where the node goes, beside it")),
        (None, None) => Ok(None),
        (Some(_), None) => Err(settings.at("x").error("x without y", "both, or none of them")),
        (None, Some(_)) => Err(settings.at("y").error("y without x", "both, or none of them")),
    }
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
