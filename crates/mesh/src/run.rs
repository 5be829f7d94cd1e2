//! One run, from scenario to result.

use crate::probe::{NoProbe, Probe};
use crate::result::RunResult;
use crate::schemes::choose;
use crate::world::World;
use meshpace_scenario::{Plan, Scenario};
use meshpace_units::Instant;

/// Runs a scenario.
#[must_use]
pub fn run(scenario: &Scenario) -> RunResult {
    run_with(scenario, &mut NoProbe)
}

/// Runs a scenario while `probe` looks on.
pub fn run_with(scenario: &Scenario, probe: &mut dyn Probe) -> RunResult {
    #[allow(clippy::disallowed_methods, reason = "the wall time of a run is reported, and nothing else uses it")]
    let started = std::time::Instant::now();
    let length = match scenario.measure.plan {
        Plan::Time { duration, .. } => duration,
        Plan::Batches { limit, .. } => limit,
    };
    let end = Instant::ZERO + length;
    let mut world = World::new(scenario, &choose(scenario), probe);
    world.run(end);
    let mut result = world.report(scenario, end);
    result.wall_s = started.elapsed().as_secs_f64();
    result
}
