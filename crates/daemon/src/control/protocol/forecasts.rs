//! What pacing would make of flows that are only watched, and how far off that was.

use serde::{Deserialize, Serialize};

/// What pacing would make of a flow that is only watched.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Forecast {
    /// Seconds between two packets by the law; `None` if that cannot be told.
    pub interval_s: Option<f64>,
    /// The same as a rate of payload in the flow's largest segments, bit/s.
    pub rate_bps: Option<u64>,
    /// The least round trip of a segment that met no queue of its own flow, seconds.
    pub base_rtt_s: Option<f64>,
    /// The number of flows to the host with data on their way, which share what the law gives one flow.
    pub sharing: Option<u32>,
    /// Why no forecast can be made: `too-young`, `never-alone`, `not-measured` or `other-law`.
    pub unknown: Option<String>,
}

/// Forecasts of flows that were paced afterwards, compared with what the flows got.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Forecasts {
    /// The number of forecasts in the means: the latest hundred at the most.
    pub compared: usize,
    /// The mean error, as a ratio: what came divided by the forecast, less 1. Below 0 the forecasts were too high.
    pub mean_error: f64,
    /// The mean size of the errors, without their signs.
    pub mean_error_size: f64,
    /// Forecasts that are not counted, because something else than the pace held the flow back.
    pub undecided: u64,
    /// The latest forecast that this daemon compared.
    pub latest: Option<ComparedForecast>,
}

/// A forecast of a flow, and what the flow got.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ComparedForecast {
    /// The flow.
    pub flow: String,
    /// The forecast, payload bit/s.
    pub foretold_bps: f64,
    /// What the flow got, payload bit/s.
    pub measured_bps: f64,
    /// What the flow got divided by the forecast, less 1.
    pub error: f64,
    /// Seconds since they were compared.
    pub ago_s: f64,
}

impl Forecasts {
    /// The means in words.
    #[must_use]
    pub fn in_words(&self) -> String {
        let mean = off(self.mean_error);
        match self.compared {
            1 => format!("of 1 forecast so far what came was {mean}"),
            n => {
                let size = 100.0 * self.mean_error_size;
                format!(
                    "of {n} forecasts so far what came was {mean} on the mean, {size:.0} % off either way"
                )
            }
        }
    }
}

impl ComparedForecast {
    /// By how much more or less came.
    #[must_use]
    pub fn off(&self) -> String {
        off(self.error)
    }
}

/// An error in words.
fn off(error: f64) -> String {
    match (100.0 * error).round() {
        0.0 => "as foretold".to_owned(),
        less if less < 0.0 => format!("{:.0} % less", -less),
        more => format!("{more:.0} % more"),
    }
}
