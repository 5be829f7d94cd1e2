//! What of `[radio]` says how strong a frame arrives: transmitted power, and the building.

use super::Settings;
use crate::{Fading, Location, Propagation, ScenarioError};
use meshpace_radio::Standard;
use meshpace_radio::building::{Building, Floors};
use meshpace_radio::propagation::{AT_1M, transmitted, watts};

/// Powers, if the file gives them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Powers {
    /// At 1 m, W.
    at_1m: f64,
    /// The least to decode and to sense at, W; `None`: ranges say it.
    thresholds: Option<(f64, f64)>,
}

/// What stands instead of the ranges.
const SENSITIVITIES: [&str; 2] = ["sensitivity", "cs_sensitivity"];

pub(super) fn read_powers(
    settings: &Settings<'_>,
    standard: &Standard,
) -> Result<Option<Powers>, ScenarioError> {
    let sensitive = SENSITIVITIES.into_iter().find(|key| settings.gives(key));
    if let Some(given) = sensitive {
        if let Some(missing) =
            ["tx_power", SENSITIVITIES[0], SENSITIVITIES[1]].into_iter().find(|key| !settings.gives(key))
        {
            let found = format!("{given} without {missing}");
            return Err(settings.at(given).error(found, "tx_power, sensitivity and cs_sensitivity together"));
        }
        if let Some(range) = ["tx_range", "cs_range"].into_iter().find(|key| settings.gives(key)) {
            let found = format!("{} beside {given}", settings.found(range));
            return Err(settings.at(range).error(found, "sensitivities or ranges"));
        }
    }
    let Some(transmit) = settings.given("tx_power")?.map(|power| power.real()) else { return Ok(None) };
    let at_1m = transmitted(transmit, standard.frequency as f64);
    if sensitive.is_none() {
        return Ok(Some(Powers { at_1m, thresholds: None }));
    }
    let [receive, sense] =
        [settings.value(SENSITIVITIES[0])?.real(), settings.value(SENSITIVITIES[1])?.real()];
    if sense > receive {
        let allowed = format!("at most radio.sensitivity = {receive} dBm");
        return Err(settings.at("cs_sensitivity").error(settings.found("cs_sensitivity"), allowed));
    }
    if watts(receive) >= at_1m {
        let allowed = format!("below {:.1} dBm, what arrives 1 m away", 10.0 * libm::log10(at_1m * 1e3));
        return Err(settings.at("sensitivity").error(settings.found("sensitivity"), allowed));
    }
    Ok(Some(Powers { at_1m, thresholds: Some((watts(receive), watts(sense))) }))
}

impl Powers {
    /// How far a frame is decoded and sensed without shadowing, m, if sensitivities say it.
    pub fn ranges(&self, propagation: Propagation) -> Option<(f64, f64)> {
        self.thresholds.map(|(receive, sense)| (propagation.reach(receive), propagation.reach(sense)))
    }
}

pub(super) fn read_propagation(
    settings: &Settings<'_>,
    powers: Option<&Powers>,
) -> Result<Propagation, ScenarioError> {
    let exponent = settings.value("path_loss_exponent")?.real();
    let shadowing_db = settings.value("shadowing_db")?.real();
    let at_1m = powers.map_or(AT_1M, |powers| powers.at_1m);
    settings.choice(
        "propagation",
        &[
            ("two-ray", Propagation::TwoRay),
            ("log-distance", Propagation::LogDistance { exponent, shadowing_db, at_1m }),
            ("ranges", Propagation::Ranges),
        ],
    )
}

/// The building, its kept links still unknown; and the margin that they are to have, in dB.
pub(super) fn read_building(
    settings: &Settings<'_>,
) -> Result<(Building, Option<(f64, Location)>), ScenarioError> {
    let ceiling_db = settings.value("ceiling_db")?.real();
    let storey = settings.value("storey")?.real();
    let building = Building {
        asymmetry_db: settings.value("asymmetry_db")?.real(),
        gain_spread_db: settings.value("gain_spread_db")?.real(),
        floors: (ceiling_db > 0.0).then_some(Floors { ceiling_db, storey }),
        kept: None,
    };
    let margin = settings.given("link_margin_db")?.map(|margin| margin.real());
    Ok((building, margin.map(|margin| (margin, settings.at("link_margin_db")))))
}

pub(super) fn read_fading(settings: &Settings<'_>) -> Result<Option<Fading>, ScenarioError> {
    let (spread_db, correlation) =
        (settings.value("fading_db")?.real(), settings.value("fading_time")?.span());
    Ok((spread_db > 0.0).then_some(Fading { spread_db, correlation }))
}
