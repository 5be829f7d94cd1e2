//! A scenario file is read or refused, whatever it says.

use crate::trial_run::trial_run;
use meshpace_scenario::{Overrides, Scenario, ScenarioError, ScenarioFile};

/// Reads a scenario; if it is accepted and small, runs its beginning.
///
/// # Panics
/// If a refusal is not one bounded line, or what was accepted is not what the simulator may rely on.
pub fn judge(bytes: &[u8], overrides: &Overrides) {
    match read(bytes, overrides) {
        Err(error) => {
            let message = error.to_string();
            assert!(!message.contains(char::is_control) && message.len() < 4_000, "{message:?}");
        }
        Ok(scenario) => {
            assert!(!scenario.flows.is_empty(), "a scenario without flows");
            for flow in &scenario.flows {
                assert!(flow.from != flow.to && flow.stop.is_none_or(|stop| stop > flow.start), "{flow:?}");
            }
            for node in &scenario.mesh {
                assert!(node.position.is_none_or(|at| at.x.is_finite() && at.y.is_finite()), "{node:?}");
            }
            trial_run(scenario);
        }
    }
}

fn read(bytes: &[u8], overrides: &Overrides) -> Result<Scenario, ScenarioError> {
    let scenario = ScenarioFile::parse("x.toml", bytes, overrides)?.resolve(1)?;
    meshpace_mesh::check(&scenario)?;
    Ok(scenario)
}
