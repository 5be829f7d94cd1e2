//! Measurements: per-flow counters, batch means, fairness by time window, samples of the senders' estimates.
//!
//! Everything covers the measured interval: from the end of the warm-up (or of the first batch) to the end.

mod batches;
mod flow_meter;
mod windows;

pub use batches::Batches;
pub use flow_meter::{Baseline, FlowMeter};
pub use meshpace_units::statistics::{Moments, half_width_95, jain};
pub use windows::FairnessWindows;

use meshpace_scenario::{Measure, Plan};
use meshpace_units::{Instant, Span};

/// Estimates and queues are sampled this often (the contract of `srtt_s`).
pub const SAMPLE_INTERVAL: Span = Span::from_millis(250);

/// The measurement of one run.
pub struct Meter {
    /// Per flow, by index.
    pub flows: Vec<FlowMeter>,
    /// Batch means, if the plan asks for them.
    pub batches: Option<Batches>,
    /// Fairness by time window.
    pub windows: FairnessWindows,
    began: Option<Instant>,
    complete: bool,
}

impl Meter {
    /// Nothing measured yet.
    pub fn new(measure: &Measure, flows: usize) -> Self {
        Self {
            flows: (0..flows).map(|_| FlowMeter::default()).collect(),
            batches: match measure.plan {
                Plan::Batches { packets, batches, .. } => Some(Batches::new(packets, batches, flows)),
                Plan::Time { .. } => None,
            },
            windows: FairnessWindows::new(&measure.windows, flows),
            began: None,
            complete: false,
        }
    }

    /// True once a plan of batches has all its deliveries.
    pub fn is_complete(&self) -> bool {
        self.complete
    }

    /// When the measured interval began.
    pub fn began(&self) -> Option<Instant> {
        self.began
    }

    /// The measured interval begins.
    pub fn begin(&mut self, now: Instant) {
        self.began = Some(now);
        for flow in &mut self.flows {
            flow.begin();
        }
    }

    /// `payload` bytes of a flow arrived in order. True if that ended the discarded first batch.
    pub fn delivered(&mut self, now: Instant, flow: usize, payload: u64, packets: u64) -> bool {
        self.flows[flow].delivered_bytes += payload;
        let Some(batches) = &mut self.batches else { return false };
        let bytes = self.flows.iter().map(|flow| flow.delivered_bytes);
        let first_ended = batches.delivered(now, packets, bytes);
        self.complete = batches.is_complete();
        first_ended
    }
}
