//! `meshpaced edge`: one acknowledgement for many segments goes into the mesh, by the rules of the hook `ack-filter`
//! (docs/law.md, docs/edge.md).
//!
//! | part | what it does |
//! |---|---|
//! | bpf/edge.bpf.c | keeps acknowledgements that say nothing new, lets the others pass |
//! | `tails` | when what is kept is sent, sans I/O |
//! | `kernel`, `exchange`, `frame` | the program and its maps; the frame that is sent |
//! | `by_kernel`, `by_queue` | the two data paths: the program; NFQUEUE with the hook itself |
//! | `serve` | the process around either of them |
//! | `status`, `metrics` | what it tells |

#[cfg(feature = "ebpf")]
mod by_kernel;
mod by_queue;
#[cfg(feature = "ebpf")]
pub(crate) mod exchange;
#[cfg(feature = "ebpf")]
mod frame;
#[cfg(feature = "ebpf")]
mod kernel;
mod metrics;
mod serve;
mod status;
#[cfg(feature = "ebpf")]
mod tails;

#[cfg(test)]
pub(crate) use status::tests::example as example_status;
pub use status::{Counters, Status};

use crate::Failure;
use crate::config::{Config, Edge, EdgeDatapath};
use crate::rules::{self, Owner};
use crate::status_socket;
use meshpace_linux::{Poller, Signals, give_back_large_blocks, interface};
use meshpace_units::Instant;
use serve::ControlPoint;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Arguments of `meshpaced edge`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The configuration file; its [edge] and [mesh] count here. By default the defaults.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// The interface into the mesh; may be given several times. By default those of [edge], else of [mesh].
    #[arg(long, value_name = "NAME")]
    interface: Vec<String>,
    /// Where the status is asked for; by default edge.socket of the configuration.
    #[arg(long, value_name = "PATH")]
    socket: Option<PathBuf>,
    /// Ask a running `meshpaced edge` what it does, and end.
    #[arg(long)]
    status: bool,
    /// The status as JSON.
    #[arg(long, requires = "status")]
    json: bool,
    /// Remove what a killed `meshpaced edge` left behind, and end; `meshpaced undo` does so, too.
    #[arg(long, conflicts_with = "status")]
    undo: bool,
}

/// A data path of the edge: what the process around it calls.
trait Thinner {
    /// Adds what it waits for to the set.
    fn watch(&self, poller: &Poller, token: u64) -> Result<(), Failure>;
    /// Does what waits for it.
    fn work(&mut self) -> Result<(), Failure>;
    /// When [`Thinner::on_time`] has something to do.
    fn poll_timeout(&self) -> Option<Instant>;
    /// Does what is due.
    fn on_time(&mut self, now: Instant) -> Result<(), Failure>;
    /// Gives a sign of life, and looks after what may have changed.
    fn sign(&mut self, now: Instant) -> Result<(), Failure>;
    /// What was counted.
    fn counters(&self) -> Result<Counters, Failure>;
    /// Lets everything go, and leaves nothing behind.
    fn stop(&mut self) -> Result<(), Failure>;
}

/// Thins acknowledgements until told to stop.
///
/// # Errors
/// [`Failure::User`] for arguments and a configuration that cannot be used, [`Failure::Operational`] where the kernel refuses.
pub fn run(args: &Args) -> Result<ExitCode, Failure> {
    let config = match &args.config {
        Some(file) => Config::load(file)?,
        None => Config::default(),
    };
    let mut edge = config.edge.clone();
    if let Some(socket) = &args.socket {
        edge.socket.clone_from(socket);
    }
    if args.status {
        status_socket::show("edge", &edge.socket, args.json, Status::for_people)?;
        return Ok(ExitCode::SUCCESS);
    }
    crate::rights::Rights::here().require_net_admin("edge")?;
    if args.undo {
        let removed = undo(&edge)?;
        removed.iter().for_each(|what| println!("removed {what}"));
        if removed.is_empty() {
            println!("nothing to remove");
        }
        return Ok(ExitCode::SUCCESS);
    }
    let chosen = [&args.interface, &edge.interfaces, &config.mesh.interfaces];
    let interfaces = chosen.into_iter().find(|names| !names.is_empty()).cloned().ok_or_else(|| {
        Failure::User("no interface into the mesh: meshpaced edge --interface mesh0".to_owned())
    })?;
    for name in &interfaces {
        // Neither way would find it later by itself.
        interface::index(name).map_err(|why| Failure::Operational(why.to_string()))?;
    }
    give_back_large_blocks();
    // Before any thread starts.
    let signals = Signals::new().map_err(|why| Failure::operational("signals", why))?;
    let place = ControlPoint::open(&edge, &interfaces)?;
    let (thinner, chosen) = choose(&edge, &interfaces)?;
    serve::serve(thinner, &chosen, place, &signals).map(|()| ExitCode::SUCCESS)
}

/// The data path, and why it is that one.
struct Chosen {
    datapath: &'static str,
    reason: String,
}

fn choose(edge: &Edge, interfaces: &[String]) -> Result<(Box<dyn Thinner>, Chosen), Failure> {
    let by_queue = |reason: String| {
        let queue = by_queue::ByQueue::open(edge, interfaces)?;
        Ok((Box::new(queue) as Box<dyn Thinner>, Chosen { datapath: "nfqueue", reason }))
    };
    match (edge.datapath, by_kernel(edge, interfaces)) {
        (EdgeDatapath::Nfqueue, _) => by_queue("as configured".to_owned()),
        (EdgeDatapath::Ebpf, found) => {
            Ok((found?, Chosen { datapath: "ebpf", reason: "as configured".to_owned() }))
        }
        (EdgeDatapath::Auto, Ok(thinner)) => {
            Ok((thinner, Chosen { datapath: "ebpf", reason: "the kernel takes the program".to_owned() }))
        }
        (EdgeDatapath::Auto, Err(why)) => by_queue(format!("not by eBPF: {why}")).map_err(|more: Failure| {
            Failure::Operational(format!("neither by eBPF ({why}) nor by NFQUEUE ({more})"))
        }),
    }
}

#[cfg(feature = "ebpf")]
fn by_kernel(edge: &Edge, interfaces: &[String]) -> Result<Box<dyn Thinner>, Failure> {
    if edge.datapath == EdgeDatapath::Nfqueue {
        return Err(Failure::User("not asked for".to_owned()));
    }
    Ok(Box::new(by_kernel::ByKernel::open(edge, interfaces)?))
}

#[cfg(not(feature = "ebpf"))]
fn by_kernel(_: &Edge, _: &[String]) -> Result<Box<dyn Thinner>, Failure> {
    Err(Failure::User("this meshpaced was built without eBPF (feature ebpf)".to_owned()))
}

/// What the edge that listens at a socket tells; `None` if there is none.
#[must_use]
pub fn ask(socket: &Path) -> Option<Status> {
    serde_json::from_str(&status_socket::ask("edge", socket).ok()?).ok()
}

/// Removes what an earlier edge left: rules, programs on whatever interface, its socket; says what it was. Of one that runs nothing is
/// removed.
///
/// # Errors
/// [`Failure::Operational`] if something is there and cannot be removed.
pub fn undo(edge: &Edge) -> Result<Vec<String>, Failure> {
    let Some(mut removed) = status_socket::remove_stale("edge", &edge.socket)? else { return Ok(Vec::new()) };
    removed.extend(rules::remove(Owner::Edge, &rules::lock_beside(&edge.socket))?);
    #[cfg(feature = "ebpf")]
    for name in interface::names().map_err(|why| Failure::operational("interfaces", why))? {
        if kernel::remove_leftovers(&name) {
            crate::ebpf::qdisc::remove_empty_clsact(&name);
            removed.push(format!("eBPF program of the edge on {name}"));
        }
    }
    Ok(removed)
}
