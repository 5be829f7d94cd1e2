//! One run, from scenario to result.

use crate::probe::Probe;
use crate::result::RunResult;
use crate::schemes::{ChosenSchemes, OwnParts};
use crate::simulation::Simulation;
use crate::why::FlowLoss;
use meshpace_network::{NoWatch, RelayFactory};
use meshpace_scenario::{Plan, Scenario, ScenarioError};
use meshpace_units::{Instant, Span};

/// Runs a scenario.
///
/// # Errors
/// If it uses a scheme that does not exist, or gives a scheme a parameter that is not acceptable.
pub fn run(scenario: &Scenario) -> Result<RunResult, ScenarioError> {
    run_with(scenario, &mut NoWatch)
}

/// Runs a scenario while `probe` looks on.
///
/// # Errors
/// As [`run`]; the probe has then seen nothing.
pub fn run_with(scenario: &Scenario, probe: &mut dyn Probe) -> Result<RunResult, ScenarioError> {
    let schemes = ChosenSchemes::of(scenario)?;
    Ok(run_chosen(scenario, &schemes, &|queue| schemes.relay(queue), probe).0)
}

/// Runs a scenario with parts of the caller's, as [`run_with_parts`]; its result, and what each flow lost where and why.
///
/// # Errors
/// As [`run_with_parts`].
pub fn run_why(
    scenario: &Scenario,
    parts: &[(String, OwnParts)],
) -> Result<(RunResult, Vec<FlowLoss>), ScenarioError> {
    let schemes = ChosenSchemes::of(scenario)?.with_parts(scenario, parts)?;
    Ok(run_chosen(scenario, &schemes, &|queue| schemes.relay(queue), &mut NoWatch))
}

/// Runs a scenario with relays of the caller's at all queues, in place of the scheme's.
///
/// # Errors
/// As [`run`]; the probe has then seen nothing.
pub fn run_with_relays(
    scenario: &Scenario,
    relays: &RelayFactory<'_>,
    probe: &mut dyn Probe,
) -> Result<RunResult, ScenarioError> {
    Ok(run_chosen(scenario, &ChosenSchemes::of(scenario)?, relays, probe).0)
}

/// Runs a scenario with parts of the caller's at the ends of some schemes' flows and at the gateways; `parts` by the schemes' names, sorted.
///
/// # Errors
/// As [`run`], and at a gateway law whose scheme is not the mesh's or does nothing at gateways; the probe has then seen
/// nothing.
pub fn run_with_parts(
    scenario: &Scenario,
    parts: &[(String, OwnParts)],
    probe: &mut dyn Probe,
) -> Result<RunResult, ScenarioError> {
    let schemes = ChosenSchemes::of(scenario)?.with_parts(scenario, parts)?;
    Ok(run_chosen(scenario, &schemes, &|queue| schemes.relay(queue), probe).0)
}

fn run_chosen(
    scenario: &Scenario,
    schemes: &ChosenSchemes,
    relays: &RelayFactory<'_>,
    probe: &mut dyn Probe,
) -> (RunResult, Vec<FlowLoss>) {
    #[allow(
        clippy::disallowed_methods,
        reason = "the wall time of a run is reported, and nothing else uses it"
    )]
    let started = std::time::Instant::now();
    let end = Instant::ZERO + length(scenario);
    let mut simulation = Simulation::new(scenario, schemes, relays, probe);
    simulation.run(end);
    let mut result = simulation.report(scenario, end);
    result.wall_s = started.elapsed().as_secs_f64();
    let losses = simulation.losses(scenario);
    (result, losses)
}

/// The JSON Schema of the scenario file, the parameters of schemes included.
#[must_use]
pub fn schema() -> serde_json::Value {
    meshpace_scenario::schema(meshpace_schemes::schema())
}

/// Checks what [`run`] would check, without running.
///
/// # Errors
/// As [`run`].
pub fn check(scenario: &Scenario) -> Result<(), ScenarioError> {
    ChosenSchemes::of(scenario).map(|_| ())
}

/// Checks what [`run_with_parts`] would check, without running.
///
/// # Errors
/// As [`run_with_parts`].
pub fn check_with_parts(scenario: &Scenario, parts: &[(String, OwnParts)]) -> Result<(), ScenarioError> {
    ChosenSchemes::of(scenario)?.with_parts(scenario, parts).map(|_| ())
}

/// How long a run lasts at most.
pub(crate) fn length(scenario: &Scenario) -> Span {
    match scenario.measure.plan {
        Plan::Time { duration, .. } => duration,
        Plan::Batches { limit, .. } => limit,
    }
}
