//! `meshpaced congestion`: calm as a congestion control of the kernel's own TCP.
//!
//! | part | what it does |
//! |---|---|
//! | bpf/calm.bpf.c, bpf/include/calm.h | the congestion control; the law in integers |
//! | `object` | fits the programs to this kernel, loads them, makes calm a congestion control |
//! | `types` | what the kernel says of its own structures |
//! | `exchange` | what both sides tell each other |
//! | `report` | `status`, `explain` |
//!
//! No process stays: the kernel keeps what was loaded, until `undo`. Why the law stands twice: docs/congestion.md.

pub(crate) mod exchange;
mod object;
mod report;
pub(crate) mod types;

use crate::Failure;
use crate::host::Cgroup;
use crate::shared::congestion as c;
use exchange::{Flow, NAME, Settings, subnet_key, subnet_of};
use ipnet::IpNet;
use meshpace_linux::{Namespace, bpf};
use object::{BY_DESTINATION, Maps, Programs, refused};
use std::fs;
use std::io;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use zerocopy::{FromBytes, IntoBytes};

const AVAILABLE: &str = "/proc/sys/net/ipv4/tcp_available_congestion_control";
const DEFAULT: &str = "/proc/sys/net/ipv4/tcp_congestion_control";
/// Where `ip netns add` binds the namespaces that it names (ip-netns(8)).
const NAMESPACES: &str = "/run/netns";

/// Arguments of `meshpaced congestion`.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Make calm a congestion control of this kernel; it stays until `undo` or a restart of the machine.
    Load(Load),
    /// Tell whether it is one, for which destinations it is chosen, and which connections it has.
    Status {
        /// Print it as JSON, with units in the keys.
        #[arg(long)]
        json: bool,
    },
    /// Tell why a connection has its rate.
    Explain {
        /// The other end, or this one, as 10.1.2.3 or 10.1.2.3:5201.
        connection: String,
    },
    /// Take it away: connections go on with the default congestion control.
    Undo,
}

#[derive(Debug, clap::Args)]
struct Load {
    /// Choose calm for connections of the control group to (and from) these destinations, whatever their programs ask for; several times
    /// for several.
    #[arg(long, value_name = "PREFIX")]
    subnet: Vec<IpNet>,
    /// The control group (version 2) whose connections --subnet is about; by default the root of the hierarchy, which is all.
    #[arg(long, value_name = "DIRECTORY", requires = "subnet")]
    cgroup: Option<PathBuf>,
    /// Segments that travel together, where the mesh's radios send many in one frame (802.11n and later); 1: each by itself.
    #[arg(long, value_name = "SEGMENTS", default_value_t = 1, value_parser = unit)]
    unit: u32,
}

fn unit(text: &str) -> Result<u32, String> {
    let unit = text.parse().ok().filter(|unit| *unit == 1 || (4..=64).contains(unit));
    unit.ok_or_else(|| "allowed: 1, or 4 to 64".to_owned())
}

/// Runs the subcommand.
///
/// # Errors
/// [`Failure::User`] for arguments that cannot be used, [`Failure::Operational`] where the kernel refuses or has not what it takes.
pub fn run(args: &Args) -> Result<ExitCode, Failure> {
    match &args.command {
        Command::Load(args) => load(args)?,
        Command::Status { json } => report::status(*json)?,
        Command::Explain { connection } => report::explain(connection)?,
        Command::Undo => undo()?,
    }
    Ok(ExitCode::SUCCESS)
}

/// True while the kernel has it.
fn is_loaded() -> Result<bool, Failure> {
    let available = fs::read_to_string(AVAILABLE).map_err(|why| Failure::operational(AVAILABLE, why))?;
    Ok(available.split_whitespace().any(|name| name == NAME))
}

fn load(args: &Load) -> Result<(), Failure> {
    crate::rights::Rights::here().require_net_admin("congestion load")?;
    if is_loaded()? {
        return Err(Failure::Operational(
            "calm is loaded: `meshpaced congestion undo` takes it away".to_owned(),
        ));
    }
    // Where it is refused and needed (before Linux 5.11), loading says so.
    let _ = meshpace_linux::lift_memory_lock_limit();
    let group =
        if args.subnet.is_empty() { None } else { Some(Cgroup::directory_of(args.cgroup.as_deref())?) };
    let (programs, maps) = Programs::with_new_maps()?;
    maps.tell(&Settings {
        over: false,
        unit: args.unit,
        instead: instead()?,
        cgroup: group.as_ref().map(|(path, _)| path.clone()),
    })?;
    for subnet in &args.subnet {
        let told = maps.subnets.set(subnet_key(*subnet).as_bytes(), &1u32.to_ne_bytes());
        told.map_err(|why| refused(&format!("destination {subnet}"), &why))?;
    }
    let by_destination = if group.is_some() { Some(programs.by_destination()?) } else { None };
    programs.register()?;
    if let Some(((path, directory), program)) = group.zip(by_destination) {
        if let Err(why) = bpf::attach(program.as_fd(), directory.as_fd()) {
            object::unregister()?;
            return Err(refused(&format!("control group {}", path.display()), &why));
        }
    }
    println!("calm is a congestion control of this kernel now");
    Ok(())
}

/// What connections go on with: the default, unless that is calm.
fn instead() -> Result<String, Failure> {
    let default = fs::read_to_string(DEFAULT).map_err(|why| Failure::operational(DEFAULT, why))?;
    let available = fs::read_to_string(AVAILABLE).map_err(|why| Failure::operational(AVAILABLE, why))?;
    let default = default.trim();
    if default != NAME {
        return Ok(default.to_owned());
    }
    // Every kernel has reno (net/ipv4/tcp_cong.c).
    let cubic = available.split_whitespace().any(|name| name == "cubic");
    Ok(if cubic { "cubic" } else { "reno" }.to_owned())
}

fn undo() -> Result<(), Failure> {
    crate::rights::Rights::here().require_net_admin("congestion undo")?;
    let loaded = is_loaded()?;
    let Some(maps) = Maps::find()?.filter(|_| loaded) else {
        println!("nothing to remove");
        return Ok(());
    };
    let settings = Settings { over: true, instead: instead()?, ..maps.settings()? };
    let was_default = fs::read_to_string(DEFAULT).is_ok_and(|default| default.trim() == NAME);
    if was_default {
        fs::write(DEFAULT, &settings.instead).map_err(|why| Failure::operational(DEFAULT, why))?;
        println!("{DEFAULT} was calm and is {} now", settings.instead);
    }
    // From now on every connection leaves at its next acknowledgement, in whichever namespace.
    maps.tell(&settings)?;
    if let Some(path) = &settings.cgroup {
        take_off(path)?;
    }
    object::unregister()?;
    let programs = Programs::with(&maps)?;
    let mut left = 0;
    for said in everywhere(|| programs.iterate("calm_leave").and_then(|_| programs.iterate("calm_list"))) {
        left += Flow::read(&said?).count();
    }
    println!("removed calm; its connections go on with {}", settings.instead);
    if left > 0 {
        println!("{left} connections keep it until their next acknowledgement");
    }
    Ok(())
}

/// Whom what is loaded is chosen for.
#[derive(Clone, Debug)]
pub struct Choice {
    /// Segments that travel together.
    pub unit: u32,
    /// The control group whose connections are switched by their destination.
    pub cgroup: Option<PathBuf>,
    /// Its destinations.
    pub subnets: Vec<String>,
}

/// As the kernel's maps say; `None` if nothing is loaded.
///
/// # Errors
/// [`Failure::Operational`] without the right to look for them.
pub fn choice() -> Result<Option<Choice>, Failure> {
    if !is_loaded()? {
        return Ok(None);
    }
    Maps::find()?.map(|maps| choice_of(&maps)).transpose()
}

fn choice_of(maps: &Maps) -> Result<Choice, Failure> {
    let Settings { unit, cgroup, .. } = maps.settings()?;
    let keys = maps.subnets.keys().map_err(|why| refused("eBPF map calm_subnets", &why))?;
    let keys = keys.iter().filter_map(|key| c::Subnet::read_from_bytes(key).ok());
    let subnets = keys.filter_map(subnet_of).map(|subnet| subnet.to_string()).collect();
    Ok(Choice { unit, cgroup, subnets })
}

/// Takes the program that chooses by destination off a control group.
fn take_off(path: &Path) -> Result<(), Failure> {
    let directory = match fs::File::open(path) {
        Ok(directory) => directory,
        // With the group went its programs.
        Err(why) if why.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(why) => return Err(Failure::operational(path.display(), why)),
    };
    let fail = |why: io::Error| refused(&format!("control group {}", path.display()), &why);
    for program in bpf::programs_on(directory.as_fd(), BY_DESTINATION).map_err(fail)? {
        bpf::detach(program.as_fd(), directory.as_fd()).map_err(fail)?;
    }
    Ok(())
}

/// What comes of something in this network namespace and in those that have a name. A thread goes there, not the process: taking a
/// namespace down ends the processes in it (`ip netns pids`).
fn everywhere<T: Send>(what: impl Fn() -> T + Sync) -> Vec<T> {
    let names = fs::read_dir(NAMESPACES).into_iter().flatten().flatten();
    let names: Vec<String> = names.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    let mut found = vec![what()];
    let there = || {
        // A name without a namespace was left behind by another program.
        let inside =
            |name: &String| Namespace::named(name).and_then(|namespace| namespace.within(|| Ok(what()))).ok();
        names.iter().filter_map(inside).collect::<Vec<T>>()
    };
    let inside = std::thread::scope(|scope| scope.spawn(there).join());
    found.extend(inside.unwrap_or_else(|panicked| std::panic::resume_unwind(panicked)));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trains_are_of_one_segment_or_of_as_many_as_the_law_knows() {
        assert_eq!(unit("1"), Ok(1));
        assert_eq!(unit("16"), Ok(16));
        for wrong in ["0", "2", "3", "65", "-1", "many"] {
            assert!(unit(wrong).unwrap_err().contains("4 to 64"), "{wrong}");
        }
    }

    #[test]
    fn what_connections_go_on_with_is_never_calm() {
        let instead = instead().unwrap();
        assert!(!instead.is_empty() && instead != NAME);
    }
}
