//! `meshpaced doctor`: what on this machine keeps packets from being paced, and what to do about it.
//!
//! Facts are gathered first ([`Facts`]), then judged by pure functions; what is said is a list of [`Finding`]s.

mod calm;
mod checks;
mod facts;
mod finding;
mod gather;
mod kernel;
pub(crate) mod network;
mod running;

pub use facts::{Calm, CalmChoice, Daemon, Facts, FlowOffload, Interface, Kernel, Part, Presence};
pub use finding::{Finding, Severity};
pub(crate) use network::interfaces;

use crate::Failure;
use crate::config::{Config, DEFAULT_FILE};
use std::path::PathBuf;
use std::process::ExitCode;

/// Arguments of `meshpaced doctor`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The configuration file; where there is none, the defaults are judged.
    #[arg(long, default_value = DEFAULT_FILE)]
    config: PathBuf,
    /// The running daemon's control socket, if it is another than the file's.
    #[arg(long, value_name = "PATH")]
    socket: Option<PathBuf>,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

/// Looks at everything and prints what it finds; the exit status is 1 if something is serious.
///
/// # Errors
/// [`Failure::User`] if the configuration cannot be used.
pub fn run(args: &Args) -> Result<ExitCode, Failure> {
    let missing = (!args.config.exists()).then(|| args.config.clone());
    let config = if missing.is_some() { Config::default() } else { Config::load(&args.config)? };
    let daemon = running::ask(args.socket.as_ref().unwrap_or(&config.control.socket));
    let facts = Facts { missing_file: missing, ..gather::facts(&config, daemon) };
    let findings = checks::all(&config, &facts);
    print!("{}", if args.json { json(&findings) } else { text(&findings) });
    Ok(if serious(&findings) == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn serious(findings: &[Finding]) -> usize {
    findings.iter().filter(|finding| finding.severity == Severity::Serious).count()
}

/// The worst first; good ones last.
fn text(findings: &[Finding]) -> String {
    let mut ordered: Vec<_> = findings.iter().collect();
    ordered.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    ordered.into_iter().map(|finding| format!("{finding}\n")).collect()
}

fn json(findings: &[Finding]) -> String {
    let object = serde_json::json!({ "schema": 1, "serious": serious(findings), "findings": findings });
    format!("{object}\n")
}
