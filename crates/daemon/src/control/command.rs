//! `meshpaced reload`, `mode` and `stop`: orders to a running daemon.

use super::client::{Client, SocketArgs, unexpected};
use super::protocol::{Guard, Reply, Request};
use crate::Failure;
use ipnet::IpNet;
use std::process::ExitCode;
use std::time::Duration;

/// Time between two looks at a guard that compares.
const LOOK: Duration = Duration::from_secs(1);

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
    /// Pace although something that the daemon believes cannot be (`meshpaced status` and `doctor` say what).
    #[arg(long)]
    anyway: bool,
    /// Wait until the guard of what is switched on has compared; the exit status is 1 if it went back.
    #[arg(long)]
    wait: bool,
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
/// A mistake in the file, or a daemon that cannot be reached.
pub fn reload(args: &ReloadArgs) -> Result<ExitCode, Failure> {
    order(&args.socket, &Request::Reload {})
}

/// Changes the mode of a running daemon.
///
/// # Errors
/// What is wrong with reaching the daemon.
pub fn mode(args: &ModeArgs) -> Result<ExitCode, Failure> {
    let ModeArgs { mode, subnet, anyway, wait, socket } = args;
    let request = Request::Mode { mode: mode.clone(), subnet: *subnet, anyway: *anyway, unguarded: false };
    let done = order(socket, &request)?;
    if *wait { wait_for_guard(socket) } else { Ok(done) }
}

/// Waits for what the guard finds, if there is one.
#[allow(clippy::disallowed_methods, reason = "the user asked the command to wait")]
fn wait_for_guard(socket: &SocketArgs) -> Result<ExitCode, Failure> {
    loop {
        let answer = Client::ask_once(socket, &Request::Status {})?.answer;
        let Reply::Status(status) = answer else { return Err(unexpected(&answer)) };
        let Some(guard) = status.guard else { return Ok(ExitCode::SUCCESS) };
        if guard.state != Guard::COMPARES {
            crate::text::print(&format!("{}\n", guard.message))?;
            return Ok(if guard.state == Guard::WENT_BACK { ExitCode::FAILURE } else { ExitCode::SUCCESS });
        }
        std::thread::sleep(LOOK);
    }
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
        Reply::Done(said) => crate::text::print(&format!("{said}\n"))?,
        other => return Err(unexpected(&other)),
    }
    Ok(ExitCode::SUCCESS)
}
