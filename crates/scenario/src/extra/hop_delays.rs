//! `measure.hop_delays`: how long packets take over the next four hops, beside what relays expect.

use crate::Scenario;
use meshpace_settings::{Key, Setting};

pub(super) static KEY: Key = Key::flag(
    "hop_delays",
    false,
    "Measures how long packets take from each node over the next four hops, beside what its relay expects.",
);

pub(super) fn apply(scenario: &mut Scenario, setting: &Setting) -> Result<(), String> {
    scenario.measure.hop_delays = setting.clone().flag();
    Ok(())
}
