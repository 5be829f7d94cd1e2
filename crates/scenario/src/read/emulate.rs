//! `[emulate]`.

use super::{Named, Settings};
use crate::{Collect, ScenarioError};
use meshpace_units::Span;

/// A real host and a command, its node still a name.
#[derive(Clone, Debug)]
pub(crate) struct EmulatedHostSpec {
    pub node: Named,
    pub run: Option<String>,
    pub start: Span,
    pub collect: Collect,
}

pub(crate) fn read_emulated_hosts(root: &Settings<'_>) -> Result<Vec<EmulatedHostSpec>, ScenarioError> {
    root.section("emulate")?.sections("host")?.iter().map(read).collect()
}

fn read(settings: &Settings<'_>) -> Result<EmulatedHostSpec, ScenarioError> {
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
        run,
        start: settings.value("start")?.span(),
        collect,
    })
}
