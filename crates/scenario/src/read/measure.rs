//! `[measure]`.

use super::Settings;
use crate::{Measure, Plan, ScenarioError};

const TIME: [&str; 2] = ["duration", "warmup"];
const BATCHES: [&str; 3] = ["packets", "batches", "limit"];

pub(crate) fn read_measure(settings: &Settings<'_>) -> Result<Measure, ScenarioError> {
    let windows = settings.value("windows")?.list().into_iter().map(|window| window.span()).collect();
    let plan = if by_batches(settings)? { read_batches(settings)? } else { read_time(settings)? };
    Ok(Measure { plan, windows, hop_delays: false, queues: false }) // set by the keys in `extra`
}

/// The file gives one plan or the other; one from the command line replaces the other of the file.
fn by_batches(settings: &Settings<'_>) -> Result<bool, ScenarioError> {
    let given = |names: &[&'static str]| names.iter().copied().find(|name| settings.gives(name));
    let overridden = |names: &[&str]| names.iter().any(|name| settings.overridden(name));
    let (Some(time), Some(batch)) = (given(&TIME), given(&BATCHES)) else {
        return Ok(given(&BATCHES).is_some());
    };
    match (overridden(&TIME), overridden(&BATCHES)) {
        (true, false) => Ok(false),
        (false, true) => Ok(true),
        _ => Err(settings.at(time).error(
            format!("{time} together with {batch}"),
            "either duration and warmup, or packets and batches",
        )),
    }
}

fn read_time(settings: &Settings<'_>) -> Result<Plan, ScenarioError> {
    let (duration, warmup) = (settings.value("duration")?.span(), settings.value("warmup")?.span());
    if warmup >= duration {
        let (key, allowed) = if settings.gives("warmup") {
            ("warmup", format!("less than measure.duration = {} s", duration.as_secs_f64()))
        } else {
            ("duration", format!("more than measure.warmup = {} s", warmup.as_secs_f64()))
        };
        return Err(settings.at(key).error(settings.found(key), allowed));
    }
    Ok(Plan::Time { duration, warmup })
}

fn read_batches(settings: &Settings<'_>) -> Result<Plan, ScenarioError> {
    let (packets, batches) = (settings.value("packets")?.whole(), settings.value("batches")?.whole());
    if batches > packets {
        let (key, allowed) = if settings.gives("batches") {
            ("batches", format!("at most measure.packets = {packets}"))
        } else {
            ("packets", format!("at least measure.batches = {batches}"))
        };
        return Err(settings.at(key).error(settings.found(key), allowed));
    }
    Ok(Plan::Batches { packets, batches, limit: settings.value("limit")?.span() })
}
