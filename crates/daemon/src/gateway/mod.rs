//! `meshpaced gateway`: TCP-GAP on the packets that Linux forwards.

mod command;
mod datapath;
mod dispatcher;
mod echoes;
mod engine;
mod heartbeat;
mod held_limit;
mod hooked;
mod interfaces;
mod lateness;
mod sampling;
mod segmentation;
mod services;
mod shaped;
mod standing_rules;
mod strays;
mod treatment;
mod wakeups;
mod worker;

pub use command::{Args, run};
#[cfg_attr(not(feature = "ebpf"), expect(unused_imports, reason = "only the other data path needs it"))]
pub(crate) use datapath::Channel;
#[cfg_attr(not(feature = "ebpf"), expect(unused_imports, reason = "only the other data path needs it"))]
pub(crate) use echoes::Asking;
pub use echoes::Request;
pub use engine::{Arrival, Counted, Decision, Engine, Output};
pub use heartbeat::Heartbeat;
pub use lateness::{Lateness, no_lateness};
pub use meshpace_gateway::Treatment;
pub use shaped::ShapedEngine;
pub use strays::Strays;
pub use treatment::{draw, treatment};
