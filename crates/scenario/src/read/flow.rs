//! `[defaults]` and `[[flow]]`.

use super::{Named, Settings};
use crate::limits::FLOWS;
use crate::{App, FileClock, Location, Measure, Plan, Radio, Routing, ScenarioError};
use meshpace_radio::standard::{STANDARDS, Standard};
use meshpace_settings::Setting;
use meshpace_units::{Bytes, Dscp, Span};

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
    /// When the application sends: at least one period, one after the other.
    pub on: Vec<Period>,
    pub start_jitter: Span,
    pub path: Option<Vec<Named>>,
    pub path_back: Option<Vec<Named>>,
    pub dscp: Dscp,
    pub count: u32,
}

/// A stretch of time in which an application sends; `None`: until the end of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Period {
    pub start: Span,
    pub stop: Option<Span>,
}

pub(crate) fn read_flows(
    root: &Settings<'_>,
    defaults: &Settings<'_>,
    measure: &Measure,
    (radio, routing): (&Radio, &Routing),
) -> Result<Vec<FlowSpec>, ScenarioError> {
    let read = |settings: &Settings<'_>| read_flow(settings, defaults, measure, (radio, routing));
    let flows: Vec<_> = root.sections("flow")?.iter().map(read).collect::<Result<_, _>>()?;
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
    (radio, routing): (&Radio, &Routing),
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
        on: read_periods(settings)?,
        start_jitter: inherited("start_jitter")?.span(),
        path: read_path(settings, "path", routing)?,
        path_back: read_path(settings, "path_back", routing)?,
        dscp: read_dscp(settings, radio)?,
        count: settings.value("count")?.count(),
    };
    check_times(settings, &flow, measure)?;
    Ok(flow)
}

fn read_path(
    settings: &Settings<'_>,
    key: &'static str,
    routing: &Routing,
) -> Result<Option<Vec<Named>>, ScenarioError> {
    let Some(path) = settings.given(key)? else { return Ok(None) };
    if !routing.is_static() {
        return Err(settings.at(key).error(settings.found(key), "only with routing.protocol = static"));
    }
    let named = |name: String| Named { name, at: settings.at(key) };
    Ok(Some(path.list().into_iter().map(|id| named(id.text())).collect()))
}

/// Packets in another class than the default one need a standard with categories.
fn read_dscp(settings: &Settings<'_>, radio: &Radio) -> Result<Dscp, ScenarioError> {
    let dscp = match settings.value("dscp")? {
        Setting::Text(name) => Dscp::named(&name),
        number => Dscp::new(number.count() as u8),
    };
    let dscp = dscp.unwrap_or_else(|| panic!("dscp lets {} pass", settings.found("dscp")));
    if dscp != Dscp::DEFAULT && !radio.standard.qos {
        let found = format!("{} beside radio.standard = \"{}\"", settings.found("dscp"), radio.standard.word);
        let with = STANDARDS.iter().filter_map(|part| Standard::named(part.about.word)).filter(|it| it.qos);
        let words: Vec<_> = with.map(|it| format!("\"{}\"", it.word)).collect();
        let allowed = format!("0, or a standard with categories of access: {}", words.join(", "));
        return Err(settings.at("dscp").error(found, allowed));
    }
    Ok(dscp)
}

fn read_periods(settings: &Settings<'_>) -> Result<Vec<Period>, ScenarioError> {
    let Some(on) = settings.given("on")? else {
        let stop = settings.given("stop")?.map(|stop| stop.span());
        return Ok(vec![Period { start: settings.value("start")?.span(), stop }]);
    };
    if let Some(other) = ["start", "stop"].into_iter().find(|other| settings.gives(other)) {
        return Err(settings
            .at("on")
            .error(format!("on together with {other}"), "either on, or start and stop"));
    }
    let mut periods: Vec<Period> = Vec::new();
    for pair in on.list() {
        let [start, stop] =
            <[_; 2]>::try_from(pair.list()).expect("the key's kind has pairs").map(|t| t.span());
        let before = periods.last().and_then(|period| period.stop);
        if start >= stop || before.is_some_and(|before| start < before) {
            let found = format!("[{}, {}]", start.as_secs_f64(), stop.as_secs_f64());
            let after =
                before.map(|b| format!(", from not before {} s", b.as_secs_f64())).unwrap_or_default();
            let allowed = format!("periods [from, to] one after the other, from before to{after}");
            return Err(settings.at("on").error(found, allowed));
        }
        periods.push(Period { start, stop: Some(stop) });
    }
    Ok(periods)
}

/// A flow must have started before it stops and before the run ends, whatever its jitter.
fn check_times(settings: &Settings<'_>, flow: &FlowSpec, measure: &Measure) -> Result<(), ScenarioError> {
    let (at_start, at_stop) = if settings.given("on")?.is_some() { ("on", "on") } else { ("start", "stop") };
    let latest = flow.on[0].start + flow.start_jitter;
    let (key, end) = match measure.plan {
        Plan::Time { duration, .. } => ("measure.duration", duration),
        Plan::Batches { limit, .. } => ("measure.limit", limit),
    };
    if latest >= end {
        let found =
            format!("{} with a jitter of {} s", settings.found(at_start), flow.start_jitter.as_secs_f64());
        let allowed = format!("start + start_jitter before {key} = {} s", end.as_secs_f64());
        return Err(settings.at(at_start).error(found, allowed));
    }
    for period in &flow.on {
        let latest = period.start + flow.start_jitter;
        if period.stop.is_some_and(|stop| stop <= latest) {
            let allowed = format!("after start + start_jitter = {} s", latest.as_secs_f64());
            return Err(settings.at(at_stop).error(settings.found(at_stop), allowed));
        }
    }
    Ok(())
}

fn read_app(settings: &Settings<'_>) -> Result<App, ScenarioError> {
    let bytes = |name: &str| Ok::<_, ScenarioError>(settings.value(name)?.bytes());
    Ok(match settings.value("app")?.text().as_str() {
        "cbr" => App::Cbr {
            rate: settings.value("rate")?.rate(),
            packet: bytes("packet")?,
            udp_header: bytes("udp_header")?,
        },
        "echo" => App::Echo {
            packet: bytes("packet")?,
            interval: settings.value("interval")?.span(),
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
            connection_per_file: settings.value("connection_per_file")?.flag(),
            clock: match settings.value("file_clock")?.text().as_str() {
                "first-packet" => FileClock::FirstPacket,
                _ => FileClock::Write,
            },
            counts_unfinished: settings.value("unfinished_files")?.text() == "counted",
        },
        "transfer" => App::Transfer { bytes: bytes("bytes")? },
        "ftp" => App::Ftp,
        other => panic!("app lets {other} pass"),
    })
}
