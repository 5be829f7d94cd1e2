//! The simulator: event loop, nodes, queues, wired links, traffic, measurement.
//!
//! [`run`] is a pure function of a resolved scenario: the same engine, scenario and seed give the same result on every
//! machine and beside any number of other runs (`wall_s` aside). Nothing in this crate is global.
//!
//! A packet's way: application ([`traffic`]) -> connection ([`transport`]) -> routing and interface queue
//! ([`network`]) -> station and air ([`mac`]) -> ... -> gateway and wired links ([`wired_part`]) -> connection.

mod addresses;
mod build;
pub mod capture;
mod ends;
mod event;
mod far_frames;
pub mod film;
mod flow;
mod gateway_node;
mod interface_queue;
#[cfg(test)]
mod leaks;
mod mac;
mod measure;
mod movement;
mod network;
mod node;
pub mod probe;
mod probes;
mod report;
pub mod result;
mod run;
mod sampling;
mod schemes;
pub mod series;
mod topology;
mod traffic;
mod transport;
mod wired;
mod wired_part;
mod world;

pub use capture::Capture;
pub use ends::{Directory, FlowEnds, Role};
pub use film::Film;
pub use probe::{FlowSample, NoProbe, Probe};
pub use result::{ENGINE, RunResult};
pub use run::{check, run, run_with, schema};
pub use schemes::{parameters, parameters_in_use};
pub use series::Series;
