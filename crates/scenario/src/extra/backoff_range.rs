//! `radio.backoff_range`: the slots that a backoff is drawn from.

use crate::{BackoffRange, Scenario};
use meshpace_settings::{Key, Kind, Setting};

pub(super) static KEY: Key = Key::new(
    "backoff_range",
    Kind::Choice(&["ns2", "standard"]),
    "Slots of a backoff: 0..cw-1 (ns-2) or 0..cw; by default the standard's: ns2, with 802.11n, 802.11ac and 802.11ax standard.",
);

pub(super) fn apply(scenario: &mut Scenario, setting: &Setting) -> Result<(), String> {
    let standard = setting.clone().text() == "standard";
    scenario.radio.backoff_range = if standard { BackoffRange::Standard } else { BackoffRange::Ns2 };
    Ok(())
}
