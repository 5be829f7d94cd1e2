//! The guard of what was switched on.

use serde::{Deserialize, Serialize};

/// How it stands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Guard {
    /// [`Guard::COMPARES`], [`Guard::STAYS`] or [`Guard::WENT_BACK`].
    pub state: String,
    /// For so many seconds.
    pub for_s: f64,
    /// Pairs of blocks that counted.
    pub pairs: u32,
    /// Those of them in which pacing brought less.
    pub less: u32,
    /// Goodput with pacing over that without; `None` while no pair counted.
    pub ratio: Option<f64>,
    /// The same in words.
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
