//! The simulator: TCP end points, applications and meters that hang on the network of `meshpace-network`.
//!
//! [`run`] is a pure function of a resolved scenario: the same engine, scenario and seed give the same result on every
//! machine and beside any number of other runs (`wall_s` aside). Nothing in this crate is global.
//!
//! A packet's way: application (`traffic`) -> connection (`transport`) -> the network -> connection.

mod build;
mod ends;
pub mod file_connections;
mod film;
mod flow;
mod live;
mod measure;
mod only;
pub mod probe;
mod report;
pub mod result;
mod run;
mod sampling;
mod schemes;
pub mod series;
mod simulation;
#[cfg(test)]
mod tests;
mod traffic;
mod transport;
mod waiting;
mod why;

pub use ends::{Directory, FlowEnds, Role};
pub use film::{Film, frame_word, loss_word};
pub use live::Live;
pub use meshpace_network::RelayFactory;
pub use meshpace_relay::{CRITICAL_LOADS, LOAD_CORRECTIONS};
pub use only::{Chosen, Only};
pub use probe::{FlowEvents, FlowSample, Probe};
pub use result::{ENGINE, RunResult};
pub use run::{check, check_with_parts, run, run_why, run_with, run_with_parts, run_with_relays, schema};
pub use schemes::{
    AckPolicyFactory, ControlFactory, OwnControl, OwnParts, RatedFactory, parameters, parameters_in_use,
    reconstructed_in_use,
};
pub use series::Series;
pub use why::FlowLoss;
