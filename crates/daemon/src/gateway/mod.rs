//! `meshpaced gateway`: TCP-GAP on the packets that Linux forwards.

mod attendants;
mod command;
mod datapath;
mod decider;
mod engine;
mod held_limit;
mod hooked;
mod interfaces;
mod lateness;
mod pulse;
mod shaped;
mod share;
mod standing_rules;
mod strays;
mod worker;

pub use command::{Args, run};
#[cfg_attr(not(feature = "ebpf"), expect(unused_imports, reason = "only the other data path needs it"))]
pub(crate) use datapath::Channel;
pub use engine::{Arrival, Counted, Decision, Engine, Output};
pub use lateness::{Lateness, no_lateness};
pub use meshpace_gateway::Treatment;
pub use pulse::Pulse;
pub use share::{draw, treatment};
pub use strays::Strays;
