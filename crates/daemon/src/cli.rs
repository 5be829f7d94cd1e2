//! The command line: one line a subcommand, each defined in its own module.

#[cfg(feature = "manual")]
use crate::manual;
#[cfg(feature = "top")]
use crate::top;
use crate::{
    Failure, config, control, doctor, edge, endpoint, explain, flows, gateway, init, status, trial, undo,
};
#[cfg(feature = "ebpf")]
use crate::{congestion, host};
#[cfg(feature = "manual")]
use clap::CommandFactory;
use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// TCP-GAP on a live Linux gateway, pacing on wireless hosts, a user-space TCP endpoint.
#[derive(Debug, Parser)]
#[command(name = "meshpaced", version)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Measure, and if told so pace, the TCP flows between mesh and Internet.
    Gateway(gateway::Args),
    /// Pace what this host's applications send into the mesh, under the kernel's own TCP.
    #[cfg(feature = "ebpf")]
    Host(host::Args),
    /// Let one acknowledgement for many segments go into the mesh.
    Edge(edge::Args),
    /// Make calm, the project's own law, a congestion control of this kernel's TCP.
    #[cfg(feature = "ebpf")]
    Congestion(congestion::Args),
    /// Send, receive and serve with a TCP of our own on a TUN device.
    Endpoint(Box<endpoint::Args>),
    /// Write a first configuration file, from what is found on this machine.
    Init(init::Args),
    /// Check a configuration file and print what is in force.
    Check(config::Args),
    /// Remove everything that a daemon may have left behind: firewall rules, eBPF programs, sockets.
    Undo(undo::Args),
    /// Tell what keeps packets from being paced, and what to do about it.
    Doctor(doctor::Args),
    /// Tell how the daemon is, what hosts get where they are shaped, and which flows starve.
    Status(status::Args),
    /// List the flows.
    Flows(flows::Args),
    /// Tell why a flow has its rate.
    Explain(explain::Args),
    /// Show hosts and flows live.
    #[cfg(feature = "top")]
    Top(top::Args),
    /// Have the daemon read its configuration again; flows are kept.
    Reload(control::command::ReloadArgs),
    /// Change the mode of the running daemon.
    Mode(control::command::ModeArgs),
    /// Compare the whole mesh with pacing and without, in blocks over days.
    Trial(trial::Args),
    /// End the daemon.
    Stop(control::command::StopArgs),
    /// Write man pages, or a shell's completions.
    #[cfg(feature = "manual")]
    Man(manual::Args),
}

impl Cli {
    /// Runs the subcommand that was asked for.
    ///
    /// # Errors
    /// What the subcommand's `run` says.
    pub fn run(self) -> Result<ExitCode, Failure> {
        match self.command {
            Command::Gateway(args) => gateway::run(&args),
            #[cfg(feature = "ebpf")]
            Command::Host(args) => host::run(&args),
            Command::Edge(args) => edge::run(&args),
            #[cfg(feature = "ebpf")]
            Command::Congestion(args) => congestion::run(&args),
            Command::Endpoint(args) => endpoint::run(&args),
            Command::Init(args) => init::run(&args),
            Command::Check(args) => config::run(&args),
            Command::Undo(args) => undo::run(&args),
            Command::Doctor(args) => doctor::run(&args),
            Command::Status(args) => status::run(&args),
            Command::Flows(args) => flows::run(&args),
            Command::Explain(args) => explain::run(&args),
            #[cfg(feature = "top")]
            Command::Top(args) => top::run(&args),
            Command::Reload(args) => control::command::reload(&args),
            Command::Mode(args) => control::command::mode(&args),
            Command::Trial(args) => trial::run(&args),
            Command::Stop(args) => control::command::stop(&args),
            #[cfg(feature = "manual")]
            Command::Man(args) => manual::run(&args, Cli::command()),
        }
    }
}
