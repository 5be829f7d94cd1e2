//! What is believed and cannot be.

use serde::{Deserialize, Serialize};

/// Something doubtful.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Doubt {
    /// What: `rate`, `round-trip`, `hops`, `interface-missing`, `interface-below`, `switched`, `unseen` or `one-sided`.
    pub name: String,
    /// For so many seconds.
    pub for_s: f64,
    /// What was found.
    pub found: String,
    /// What to do about it.
    pub remedy: String,
    /// True if `mode pace` is refused for it.
    pub contradicts: bool,
}
