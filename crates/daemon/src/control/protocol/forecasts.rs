//! What pacing would make of flows that are only watched, and how far off that was.

use serde::{Deserialize, Serialize};

/// What pacing would make of a flow that is only watched.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Forecast {
    /// One packet in this time; `None` if it cannot be told.
    pub interval_s: Option<f64>,
    /// That many payload bits a second, in its largest segments.
    pub rate_bps: Option<u64>,
    /// The least round trip of a segment that met no queue of its own flow's.
    pub base_rtt_s: Option<f64>,
    /// Flows to the host that have data on their way, and share what the law gives one.
    pub sharing: Option<u32>,
    /// Why it cannot be told: `too-young`, `never-alone`, `not-measured` or `other-law`.
    pub unknown: Option<String>,
}

/// Forecasts of flows that were then paced, held against what they got.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Forecasts {
    /// Those that the means are of, the latest hundred at the most.
    pub compared: usize,
    /// The mean of what came over what was foretold, less 1: below 0 if too much was foretold.
    pub mean_error: f64,
    /// The mean of the same without its sign.
    pub mean_error_size: f64,
    /// Forecasts that are not counted, since something else than its pace held the flow.
    pub undecided: u64,
    /// The latest one of this daemon's.
    pub latest: Option<ComparedForecast>,
}

/// A forecast and what came.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ComparedForecast {
    /// The flow.
    pub flow: String,
    /// Foretold, payload bit/s.
    pub foretold_bps: f64,
    /// What the flow got.
    pub measured_bps: f64,
    /// The latter over the former, less 1.
    pub error: f64,
    /// How long ago it was told.
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
