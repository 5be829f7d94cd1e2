//! Laws, and what goodput control found.

use serde::{Deserialize, Serialize};

/// A law of which only its author knows the steps.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OtherLaw {
    /// As the configuration calls it.
    pub name: String,
    /// Its own spacing; the cap may ask for a wider one.
    pub interval_s: Option<f64>,
    /// What it goes by at present, with units in the names.
    pub figures: Vec<(String, f64)>,
}

/// The rate law's parameters and state.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Law {
    /// Weight of the old smoothed delay.
    pub alpha: f64,
    /// Hops between consecutive packets on a long path.
    pub n: u32,
    /// What variation is: `cov`, `mad`, or `none` if none counts.
    pub variation_measure: String,
    /// What the variation is taken of: `round-trip` or `k-hop-delay`.
    pub sampled: String,
    /// Samples are refused from this k-hop delay on.
    pub delay_bound_s: Option<f64>,
    /// The samples held, oldest first.
    pub history_s: Vec<f64>,
    /// Most samples held.
    pub history_max: usize,
    /// Their mean.
    pub mean_s: Option<f64>,
    /// Their variation.
    pub variation: f64,
    /// The latest sample, step by step.
    pub last: Option<Step>,
    /// The smoothed k-hop delay, FHD_hat.
    pub smoothed_s: Option<f64>,
    /// The law's own spacing, (2.4); the cap may ask for a wider one.
    pub interval_s: Option<f64>,
    /// Accepted samples that had to take an unknown hop count as 1.
    pub unreliable: u64,
}

/// The latest sample, step by step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// Its round trip.
    pub rtt_s: f64,
    /// Hops of the path.
    pub hops: u32,
    /// False if the hops were unknown and taken as 1.
    pub hops_known: bool,
    /// Hops between consecutive packets, min(n, h).
    pub k: u32,
    /// On-air bits of a data packet.
    pub data_bits: u64,
    /// On-air bits of a pure ACK.
    pub ack_bits: u64,
    /// Rates of the links: one for all, or one each.
    pub link_rates_bps: Vec<u64>,
    /// Queueing delay a hop, (1.2).
    pub queueing_s: f64,
    /// The k-hop delay, (1.3), (2.1).
    pub k_hop_delay_s: f64,
    /// The smoothed delay before it.
    pub smoothed_before_s: Option<f64>,
}

/// What the latest run of goodput control found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Standing {
    /// Time between runs.
    pub interval_s: f64,
    /// Deviation above which a flow is capped.
    pub threshold: f64,
    /// The flow's goodput; `None` if it was idle.
    pub goodput_bps: Option<f64>,
    /// Mean over the active flows.
    pub mean_bps: Option<f64>,
    /// Active flows.
    pub active: usize,
    /// The cap's spacing.
    pub cap_interval_s: Option<f64>,
    /// Runs since the cap was set.
    pub capped_runs: Option<u64>,
    /// Runs for which it is left alone, because a cap did not help the others.
    pub left_alone_runs: Option<u64>,
}
