//! `routing.processing_delay`: how long nodes take to hand on what they have received.

use crate::Scenario;
use crate::limits::TIME_FROM_0;
use meshpace_settings::{Key, Preset, Setting};
use meshpace_units::Span;

pub(super) static KEY: Key = Key::new(
    "processing_delay",
    TIME_FROM_0,
    "What a node takes to hand a packet on that it has received by radio, to its own endpoint or to the next hop.",
)
.preset(Preset::Time(Span::ZERO));

pub(super) fn apply(scenario: &mut Scenario, setting: &Setting) -> Result<(), String> {
    scenario.processing.delay = setting.clone().span();
    Ok(())
}
