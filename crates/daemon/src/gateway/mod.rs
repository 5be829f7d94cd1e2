//! `meshpaced gateway`: TCP-GAP on the packets that Linux forwards.

mod engine;
mod lateness;
mod share;

pub use engine::{Arrival, Counted, Decision, Engine, Output};
pub use lateness::{Lateness, no_lateness};
pub use meshpace_gateway::Treatment;
pub use share::{draw, treatment};

use crate::{Failure, config};
use std::path::PathBuf;
use std::process::ExitCode;

/// Arguments of `meshpaced gateway`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The configuration file.
    #[arg(long, default_value = config::DEFAULT_FILE)]
    pub config: PathBuf,
}

/// Runs the gateway until it is told to stop.
///
/// # Errors
/// [`Failure::User`] for a configuration that cannot be used, [`Failure::Operational`] where the kernel refuses.
pub fn run(args: &Args) -> Result<ExitCode, Failure> {
    Err(Failure::operational(args.config.display(), "the data path is not there yet"))
}
