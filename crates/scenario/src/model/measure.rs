//! How long a run lasts and which part of it counts.

use meshpace_units::Span;

/// The measurement of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Measure {
    /// When the run ends and what is discarded.
    pub plan: Plan,
    /// Lengths of the windows over which fairness is averaged.
    pub windows: Vec<Span>,
    /// Whether delays over the next hops are measured.
    pub hop_delays: bool,
    /// Whether what waits in the nodes' queues is measured.
    pub queues: bool,
}

/// When a run ends and what is discarded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Plan {
    /// Measure `[warmup, duration]`, both from time 0.
    Time {
        /// End of the run.
        duration: Span,
        /// End of the discarded part; shorter than `duration`.
        warmup: Span,
    },
    /// Batch means: end after `packets` deliveries over all flows together; a batch is `packets / batches`
    /// consecutive deliveries (what does not divide is left to the last) and the first batch is discarded.
    Batches {
        /// In-order deliveries until the end.
        packets: u64,
        /// Batches, at least 2, at most `packets`.
        batches: u64,
        /// End of a run that delivers too little to finish.
        limit: Span,
    },
}
