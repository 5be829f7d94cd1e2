//! `[defaults]` and `[[flow]]`.

use super::{Named, Settings};
use crate::limits::FLOWS;
use crate::{App, Location, Measure, Plan, ScenarioError};
use meshpace_units::{Bytes, Span};

/// A `[[flow]]`, its ends still names.
#[derive(Clone, Debug)]
pub(crate) struct FlowSpec {
    pub at: Location,
    pub id: Option<Named>,
    pub from: Named,
    pub to: Named,
    pub app: App,
    pub scheme: Named,
    pub segment: Bytes,
    pub window: u32,
    pub start: Span,
    pub stop: Option<Span>,
    pub start_jitter: Span,
    pub count: u32,
}

pub(crate) fn read_flows(
    root: &Settings<'_>,
    defaults: &Settings<'_>,
    measure: &Measure,
) -> Result<Vec<FlowSpec>, ScenarioError> {
    let read = |settings: &Settings<'_>| read_flow(settings, defaults, measure);
    let flows: Vec<_> = root.sections("flow")?.iter().map(read).collect::<Result<_, _>>()?;
    if flows.is_empty() {
        return Err(root.at("flow").error("no flow", "one table [[flow]] or more"));
    }
    let mut total = 0;
    for flow in &flows {
        total += u64::from(flow.count);
        if total > FLOWS {
            return Err(flow.at.error(format!("{total} flows up to here"), format!("at most {FLOWS} flows")));
        }
    }
    Ok(flows)
}

fn read_flow(
    settings: &Settings<'_>,
    defaults: &Settings<'_>,
    measure: &Measure,
) -> Result<FlowSpec, ScenarioError> {
    let inherited = |name: &str| match settings.given(name)? {
        Some(given) => Ok(given),
        None => defaults.value(name),
    };
    let scheme = if settings.gives("scheme") { settings } else { defaults };
    let flow = FlowSpec {
        at: settings.here(),
        id: if settings.gives("id") { Some(settings.named("id")?) } else { None },
        from: settings.named("from")?,
        to: settings.named("to")?,
        app: read_app(settings)?,
        scheme: scheme.named("scheme")?,
        segment: inherited("segment")?.bytes(),
        window: inherited("window")?.count(),
        start: settings.value("start")?.span(),
        stop: settings.given("stop")?.map(|stop| stop.span()),
        start_jitter: inherited("start_jitter")?.span(),
        count: settings.value("count")?.count(),
    };
    check_times(settings, &flow, measure)?;
    Ok(flow)
}

/// A flow must have started before it stops and before the run ends, whatever its jitter.
fn check_times(settings: &Settings<'_>, flow: &FlowSpec, measure: &Measure) -> Result<(), ScenarioError> {
    let latest = flow.start + flow.start_jitter;
    let (key, end) = match measure.plan {
        Plan::Time { duration, .. } => ("measure.duration", duration),
        Plan::Batches { limit, .. } => ("measure.limit", limit),
    };
    if latest >= end {
        let found =
            format!("{} with a jitter of {} s", settings.found("start"), flow.start_jitter.as_secs_f64());
        let allowed = format!("start + start_jitter before {key} = {} s", end.as_secs_f64());
        return Err(settings.at("start").error(found, allowed));
    }
    match flow.stop {
        Some(stop) if stop <= latest => {
            let allowed = format!("after start + start_jitter = {} s", latest.as_secs_f64());
            Err(settings.at("stop").error(settings.found("stop"), allowed))
        }
        _ => Ok(()),
    }
}

fn read_app(settings: &Settings<'_>) -> Result<App, ScenarioError> {
    let bytes = |name: &str| Ok::<_, ScenarioError>(settings.value(name)?.bytes());
    Ok(match settings.value("app")?.text().as_str() {
        "cbr" => App::Cbr {
            rate: settings.value("rate")?.rate(),
            packet: bytes("packet")?,
            udp_header: bytes("udp_header")?,
        },
        "self-similar" => App::SelfSimilar {
            rate: settings.value("rate")?.rate(),
            packet: bytes("packet")?,
            udp_header: bytes("udp_header")?,
            burst_mean: bytes("file_mean")?,
            shape: settings.value("file_shape")?.real(),
            pause_mean: settings.value("pause_mean")?.span(),
        },
        "http" => App::Http {
            file_mean: bytes("file_mean")?,
            file_shape: settings.value("file_shape")?.real(),
            pause_mean: settings.value("pause_mean")?.span(),
        },
        "transfer" => App::Transfer { bytes: bytes("bytes")? },
        "ftp" => App::Ftp,
        other => panic!("app lets {other} pass"),
    })
}

/// The scheme of relays and gateways: that of the flows if they agree, else that of `[defaults]`.
pub(crate) fn network_scheme(flows: &[FlowSpec], defaults: &Settings<'_>) -> Result<Named, ScenarioError> {
    let first = &flows[0].scheme;
    let Some(other) = flows.iter().find(|flow| flow.scheme.name != first.name) else {
        return Ok(first.clone());
    };
    if defaults.gives("scheme") {
        return defaults.named("scheme");
    }
    let found = format!("nothing, though flows run {} and {}", first.name, other.scheme.name);
    Err(defaults.at("scheme").error(found, "the scheme that relays and gateways run"))
}
