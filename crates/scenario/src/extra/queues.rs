//! `measure.queues`: how many packets wait in the nodes' queues, in all and of each flow.

use crate::Scenario;
use meshpace_settings::{Key, Setting};

pub(super) static KEY: Key = Key::flag(
    "queues",
    false,
    "Measures how many packets wait in each node's queue, in all and of each flow: mean over time, and maximum.",
);

pub(super) fn apply(scenario: &mut Scenario, setting: &Setting) -> Result<(), String> {
    scenario.measure.queues = setting.clone().flag();
    Ok(())
}
