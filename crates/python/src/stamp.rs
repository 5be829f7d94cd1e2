//! A result as JSON together with what made it: the engine, and what every scheme's parameters were.

use meshpace_mesh::{RunResult, parameters_in_use, reconstructed_in_use};
use meshpace_scenario::{Scenario, ScenarioError};
use serde::Serialize;
use std::collections::BTreeMap;

/// The engine's fingerprint, taken of its sources when it was built (`build.rs`).
pub const FINGERPRINT: &str = env!("MESHPACE_FINGERPRINT");

/// A result's fields, then what made it. Not part of [`RunResult`]: the mesh is only one of the crates that the
/// fingerprint is taken of, and what a run gives does not depend on how it is called.
#[derive(Serialize)]
pub struct Stamped<'a> {
    #[serde(flatten)]
    result: &'a RunResult,
    /// Of the engine's sources: equal for engines whose results are equal.
    engine_fingerprint: &'static str,
    /// Every scheme that the run used, with every parameter as it acted.
    schemes: BTreeMap<String, BTreeMap<&'static str, serde_json::Value>>,
    /// By scheme, what of it its source does not print, so that it is reconstructed; only if there is such a scheme.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    reconstructed: BTreeMap<String, Vec<&'static str>>,
}

impl<'a> Stamped<'a> {
    /// The result of a scenario.
    ///
    /// # Errors
    /// As the run itself.
    pub fn new(result: &'a RunResult, scenario: &Scenario) -> Result<Self, ScenarioError> {
        let schemes = parameters_in_use(scenario)?;
        let reconstructed = reconstructed_in_use(scenario)?;
        Ok(Self { result, engine_fingerprint: FINGERPRINT, schemes, reconstructed })
    }
}

/// The JSON of a scenario's result.
///
/// # Errors
/// As the run itself.
pub fn to_json(result: &RunResult, scenario: &Scenario) -> Result<String, ScenarioError> {
    let stamped = Stamped::new(result, scenario)?;
    Ok(serde_json::to_string(&stamped).expect("a result has no map with keys other than strings"))
}
