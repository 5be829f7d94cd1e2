//! `meshpaced reload`, `mode` and `stop`: orders to a running daemon.

use super::client::{Client, SocketArgs, unexpected};
use super::protocol::{Answer, Request};
use crate::Failure;
use ipnet::IpNet;
use std::process::ExitCode;

/// Arguments of `meshpaced reload`.
#[derive(Debug, clap::Args)]
pub struct ReloadArgs {
    #[command(flatten)]
    socket: SocketArgs,
}

/// Arguments of `meshpaced mode`.
#[derive(Debug, clap::Args)]
pub struct ModeArgs {
    /// The new mode, until the next reload.
    #[arg(value_parser = ["off", "observe", "pace"])]
    mode: String,
    /// Only for the mesh hosts of this prefix, such as 10.1.2.0/24; default: all that no subnet says otherwise about.
    #[arg(long, value_name = "PREFIX")]
    subnet: Option<IpNet>,
    #[command(flatten)]
    socket: SocketArgs,
}

/// Arguments of `meshpaced stop`.
#[derive(Debug, clap::Args)]
pub struct StopArgs {
    #[command(flatten)]
    socket: SocketArgs,
}

/// Has the daemon read its configuration again.
///
/// # Errors
/// What is wrong with the file, or with reaching the daemon.
pub fn reload(args: &ReloadArgs) -> Result<ExitCode, Failure> {
    order(&args.socket, &Request::Reload {})
}

/// Changes the mode of a running daemon.
///
/// # Errors
/// What is wrong with reaching the daemon.
pub fn mode(args: &ModeArgs) -> Result<ExitCode, Failure> {
    order(&args.socket, &Request::Mode { mode: args.mode.clone(), subnet: args.subnet })
}

/// Ends a running daemon.
///
/// # Errors
/// What is wrong with reaching the daemon.
pub fn stop(args: &StopArgs) -> Result<ExitCode, Failure> {
    order(&args.socket, &Request::Stop {})
}

fn order(socket: &SocketArgs, request: &Request) -> Result<ExitCode, Failure> {
    match Client::ask_once(socket, request)?.answer {
        Answer::Done(said) => crate::text::print(&format!("{said}\n"))?,
        other => return Err(unexpected(&other)),
    }
    Ok(ExitCode::SUCCESS)
}
