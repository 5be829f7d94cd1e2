//! Laws, and what goodput control found.

use serde::{Deserialize, Serialize};

/// The state of a flow law other than TCP-GAP's.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OtherLaw {
    /// The law's name in the configuration (`law.flow_law`).
    pub name: String,
    /// Seconds between two packets by the law; a cap may ask for more.
    pub interval_s: Option<f64>,
    /// The law's figures at present, each by a name with its unit.
    pub figures: Vec<(String, f64)>,
}

/// The rate law's parameters and state.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Law {
    /// Weight of the old smoothed delay (2.2).
    pub alpha: f64,
    /// Hops between consecutive packets on a path of n hops and more (schemes.md 1.4).
    pub n: u32,
    /// How variation is measured: `cov`, `mad`, or `none` if it does not count.
    pub variation_measure: String,
    /// The quantity whose variation counts: `round-trip` or `k-hop-delay`.
    pub sampled: String,
    /// Samples with a k-hop delay from here on are refused, seconds.
    pub delay_bound_s: Option<f64>,
    /// The samples held, the oldest first, seconds.
    pub history_s: Vec<f64>,
    /// The most samples held.
    pub history_max: usize,
    /// The mean of the samples held, seconds.
    pub mean_s: Option<f64>,
    /// The variation of the samples held, a ratio (2.3).
    pub variation: f64,
    /// The latest sample, step by step.
    pub last: Option<Step>,
    /// The smoothed k-hop delay, FHD_hat, seconds (2.2).
    pub smoothed_s: Option<f64>,
    /// Seconds between two packets by the law (2.4); a cap may ask for more.
    pub interval_s: Option<f64>,
    /// Accepted samples that had to take an unknown hop count as 1.
    pub unreliable: u64,
}

/// The latest sample, step by step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// The round trip of the sample, seconds.
    pub rtt_s: f64,
    /// The number of hops of the path.
    pub hops: u32,
    /// False if the number of hops was unknown and taken as 1.
    pub hops_known: bool,
    /// Hops between consecutive packets, min(n, h).
    pub k: u32,
    /// Bits of a data packet on the air.
    pub data_bits: u64,
    /// Bits of a pure ACK on the air.
    pub ack_bits: u64,
    /// Rates of the links, bit/s: one rate for all links, or one for each.
    pub link_rates_bps: Vec<u64>,
    /// The queueing delay on each hop, seconds (1.2).
    pub queueing_s: f64,
    /// The delay over k hops, seconds (1.3), (2.1).
    pub k_hop_delay_s: f64,
    /// The smoothed delay before this sample, seconds.
    pub smoothed_before_s: Option<f64>,
}

/// What the latest run of goodput control found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Standing {
    /// Seconds between two runs of goodput control.
    pub interval_s: f64,
    /// The goodput above which a flow is capped, as a multiple of the mean.
    pub threshold: f64,
    /// The flow's goodput, bit/s; `None` if the flow was idle.
    pub goodput_bps: Option<f64>,
    /// The mean goodput of the active flows, bit/s.
    pub mean_bps: Option<f64>,
    /// The number of active flows.
    pub active: usize,
    /// Seconds between two packets by the cap; `None` without a cap.
    pub cap_interval_s: Option<f64>,
    /// Runs of goodput control since the cap was set.
    pub capped_runs: Option<u64>,
    /// Runs for which the flow is left alone, because a cap did not help the other flows.
    pub left_alone_runs: Option<u64>,
}
