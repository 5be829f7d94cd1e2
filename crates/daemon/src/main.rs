//! The `meshpaced` command.

use clap::Parser;
use meshpaced::cli::Cli;
use std::process::ExitCode;

fn main() -> ExitCode {
    Cli::parse().run().unwrap_or_else(|failure| failure.report())
}
