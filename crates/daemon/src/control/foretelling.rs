//! Forecasts as the control socket reports them, and the forecasts made before pacing is switched on.

use super::data::DataThread;
use super::protocol::{ComparedForecast, Forecasts};
use super::report::payload_rate;
use crate::config::Config;
use crate::flow_name::flow_name;
use crate::foresight::{self, Foresight, Foretold};
use crate::state::FlowReport;
use crate::treatment::treatment;
use meshpace_gateway::Treatment;
use meshpace_units::{Instant, Rate};
use std::cmp::Reverse;

/// Forecasts for flows that were only watched so far and that this configuration paces: of the flows that get most, where a forecast
/// can be made.
pub(super) fn of_watched(data: &DataThread, config: &Config) -> Vec<Foretold> {
    let Ok(snapshot) = data.snapshot() else { return Vec::new() };
    let begins = |flow: &&FlowReport| {
        flow.treatment == Treatment::Observe
            && flow.stats.down
            && flow.stats.outstanding
            && treatment(config, &flow.stats.key) == Some(Treatment::Pace)
    };
    let mut flows: Vec<_> = snapshot.flows.iter().filter(begins).collect();
    flows.sort_by_key(|flow| Reverse(flow.stats.goodput_down.and_then(|goodput| goodput.rate(snapshot.at))));
    flows.truncate(foresight::FLOWS);
    let told = |flow: &FlowReport| {
        let detail = data.flow(flow.stats.key).ok()??;
        let interval = detail.explanation.forecast?.ok()?.interval;
        let rate = Rate::bits_per_sec(payload_rate(detail.report.segment, interval)?);
        Some(Foretold { key: flow.stats.key, opened: flow.opened, rate })
    };
    flows.into_iter().filter_map(told).collect()
}

/// How far off forecasts were; `None` while none was held against what came.
pub(super) fn report(foresight: &Foresight, at: Instant) -> Option<Forecasts> {
    let errors = foresight.errors()?;
    let latest = foresight.latest().map(|latest| ComparedForecast {
        flow: flow_name(&latest.key),
        foretold_bps: latest.outcome.foretold_bps,
        measured_bps: latest.outcome.measured_bps,
        error: latest.outcome.error(),
        ago_s: at.saturating_since(latest.at).as_secs_f64(),
    });
    Some(Forecasts {
        compared: errors.compared,
        mean_error: errors.mean,
        mean_error_size: errors.mean_size,
        undecided: foresight.undecided(),
        latest,
    })
}
