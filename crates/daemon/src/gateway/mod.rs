//! `meshpaced gateway`: TCP-GAP on the packets that Linux forwards.

mod command;
mod datapath;
mod dispatcher;
mod engine;
mod held_limit;
mod hooked;
mod interfaces;
mod sampling;
mod segmentation;
mod services;
mod shaped;
mod standing_rules;
mod strays;
mod wakeups;
mod watch;

pub use command::{Args, run};
pub use engine::{Arrival, Counted, Decision, Engine, Output};
pub use shaped::ShapedEngine;
