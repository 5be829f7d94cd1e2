//! `meshpaced endpoint`: a TCP of our own on a TUN device, with the sender and receiver of any scheme.

mod impairment;
mod options;
mod report;
mod serve;
mod transfer;
mod web;

use crate::Failure;
use std::process::ExitCode;

/// Arguments of `meshpaced endpoint`.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Send a file (- for standard input) to a host and port.
    Send(transfer::SendArgs),
    /// Wait for one connection and write what it brings into a file (- for standard output).
    Receive(transfer::ReceiveArgs),
    /// Connect standard input and output with a host and port.
    Connect(transfer::ConnectArgs),
    /// Answer connections until told to stop: the files of a directory over HTTP, or an echo, a sink, a source.
    Serve(serve::Args),
}

/// Runs an endpoint.
///
/// # Errors
/// [`Failure::User`] for arguments that cannot be used; [`Failure::Operational`] where the kernel refuses the device or
/// the connection fails.
pub fn run(args: &Args) -> Result<ExitCode, Failure> {
    match &args.command {
        Command::Send(args) => transfer::send(args),
        Command::Receive(args) => transfer::receive(args),
        Command::Connect(args) => transfer::connect(args),
        Command::Serve(args) => serve::run(args),
    }
}
