//! The guard of what was switched on.

use serde::{Deserialize, Serialize};

/// How the guard judges the pacing that was switched on: whether it compares still, lets pacing stay, or went back.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Guard {
    /// The guard's state: [`Guard::COMPARES`], [`Guard::STAYS`] or [`Guard::WENT_BACK`].
    pub state: String,
    /// Seconds that the guard has been in this state.
    pub for_s: f64,
    /// Pairs of blocks that counted so far.
    pub pairs: u32,
    /// Of these pairs, those in which pacing brought less goodput.
    pub less: u32,
    /// Goodput with pacing divided by goodput without; `None` while no pair counted.
    pub ratio: Option<f64>,
    /// The guard's state and findings in words.
    pub message: String,
}

impl Guard {
    /// Blocks take turns.
    pub const COMPARES: &'static str = "compares";
    /// Pacing stays.
    pub const STAYS: &'static str = "stays";
    /// What was before is in force again.
    pub const WENT_BACK: &'static str = "went-back";
}
