//! `meshpaced gateway`: TCP-GAP on the packets that Linux forwards.

mod lateness;

pub use lateness::{BOUNDS_US, Lateness};
pub use meshpace_gateway::Treatment;

use crate::Failure;
use std::path::PathBuf;
use std::process::ExitCode;

/// Arguments of `meshpaced gateway`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The configuration file.
    #[arg(long, default_value = "/etc/meshpaced.toml")]
    pub config: PathBuf,
}

/// Runs the gateway until it is told to stop.
///
/// # Errors
/// [`Failure::User`] for a configuration that cannot be used, [`Failure::Operational`] where the kernel refuses.
pub fn run(args: &Args) -> Result<ExitCode, Failure> {
    Err(Failure::operational(args.config.display(), "the data path is not there yet"))
}
