//! `routing.processing_jitter`: how much longer it may take.

use crate::Scenario;
use crate::limits::TIME_FROM_0;
use meshpace_settings::{Key, Preset, Setting};
use meshpace_units::Span;

pub(super) static KEY: Key = Key::new(
    "processing_jitter",
    TIME_FROM_0,
    "Up to so much longer, uniformly, for each packet; none overtakes another.",
)
.preset(Preset::Time(Span::ZERO));

pub(super) fn apply(scenario: &mut Scenario, setting: &Setting) -> Result<(), String> {
    scenario.processing.jitter = setting.clone().span();
    Ok(())
}
