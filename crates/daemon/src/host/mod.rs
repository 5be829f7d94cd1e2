//! `meshpaced host`: TCP-GAP's wireless sender for unmodified applications under the kernel's own TCP.
//!
//! | part | what it does |
//! |---|---|
//! | bpf/host.bpf.c | pairs round trips with the gateway's option, reports them, gives sockets their limits |
//! | [`Flows`] | the law: reports in, orders out, sans I/O |
//! | `program` | loads and attaches the program, reads its ring, writes its maps |
//! | `cgroup`, `bursts` | which sockets; single segments on the mesh interface |
//! | `status` | `meshpaced host --status` |
//!
//! Why the law is not in the program: see docs/host.md.

mod bursts;
mod cgroup;
pub(crate) mod exchange;
mod flows;
mod program;
mod status;

pub use cgroup::Cgroup;
pub use exchange::{Cookie, Ends, Order, Report, ReportKind};
pub use flows::{Connection, Flows, GatewayPath};
pub use status::Status;

use crate::Failure;
use crate::config::Config;
use crate::status_socket::{self, Listener};
use crate::text::{bit_rate, counted};
use bursts::SingleSegments;
use meshpace_linux::{Poller, Signal, Signals, monotonic_now, realtime};
use meshpace_units::{Instant, Rate, Span};
use program::Program;
use status::{Delay, Sources};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// How long the program still lifts limits at acknowledgements before it is detached.
const LINGER: Span = Span::from_secs(2);
/// Between two looks at whether that is done.
const LOOK: Span = Span::from_millis(20);
/// A connection without reports for this long may be one whose end was lost.
const DOUBTFUL: Span = Span::from_secs(60);
/// The daemon renews its sign of life so many times before it expires.
const RENEWALS: u64 = 5;
/// Reports taken before anything else gets its turn.
const BATCH: usize = 1024;

/// Arguments of `meshpaced host`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The configuration file; its [host], [hops.static] and [law] count here.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// The control group (version 2) whose sockets are paced; by default the root of the hierarchy, which is all.
    #[arg(long, value_name = "DIRECTORY")]
    cgroup: Option<PathBuf>,
    /// Wireless hops to the gateway.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=255))]
    hops: Option<u32>,
    /// MAC data rate of the links to the gateway, such as 11Mbps.
    #[arg(long, value_name = "RATE", value_parser = rate)]
    rate: Option<Rate>,
    /// The BPF file system that keeps the program alive if this process is killed, so that it can lift its limits.
    #[arg(long, value_name = "DIRECTORY", default_value = "/sys/fs/bpf")]
    bpffs: PathBuf,
    /// Seconds of silence after which the program lifts all limits by itself.
    #[arg(long, value_name = "SECONDS", default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..=3600))]
    watchdog: u64,
    /// Connections that are paced at a time; further ones are left alone.
    #[arg(long, value_name = "N", default_value_t = 16_384, value_parser = clap::value_parser!(u32).range(1..=1_048_576))]
    connections: u32,
    /// Set gso_max_segs 1 on this interface while running, so that single packets are spaced instead of bursts of about
    /// ten. Only for mesh interfaces: it limits a connection to some 200 Mbit/s.
    #[arg(long, value_name = "INTERFACE")]
    one_segment_bursts: Option<String>,
    /// Where the status is asked for.
    #[arg(long, value_name = "PATH", default_value = "/run/meshpaced-host/host.sock")]
    socket: PathBuf,
    /// Ask a running `meshpaced host` what it does, and end.
    #[arg(long)]
    status: bool,
    /// The status as JSON.
    #[arg(long, requires = "status")]
    json: bool,
    /// Remove what a killed `meshpaced host` left behind (program, gso_max_segs), and end.
    #[arg(long, conflicts_with = "status")]
    undo: bool,
}

fn rate(text: &str) -> Result<Rate, String> {
    let allowed = || "allowed: a rate above 0 with its unit, such as 11Mbps".to_owned();
    let bps = meshpace_units::quantity::RATE.parse(text).filter(|bps| (1.0..1e15).contains(bps));
    bps.map(|bps| Rate::bits_per_sec(bps as u64)).ok_or_else(allowed)
}

/// Paces the applications of a control group until told to stop.
///
/// # Errors
/// [`Failure::User`] for arguments and a configuration that cannot be used, [`Failure::Operational`] where the kernel
/// refuses: too old, no rights, no BPF file system.
pub fn run(args: &Args) -> Result<ExitCode, Failure> {
    if args.status {
        status_socket::show("host", &args.socket, args.json, status::for_people)?;
        return Ok(ExitCode::SUCCESS);
    }
    let config = match &args.config {
        Some(file) => Config::load(file)?,
        None => Config::default(),
    };
    crate::rights::Rights::here().require_net_admin("host")?;
    let cgroup = Cgroup::open(args.cgroup.as_deref().or(config.host.cgroup.as_deref()))?;
    let pin = program::pin_path(&args.bpffs, &cgroup);
    let memory = memory(&args.socket, &cgroup);
    if args.undo {
        return undo(&pin, &memory);
    }
    // Before any thread starts.
    let signals = Signals::new().map_err(|why| Failure::operational("signals", why))?;
    let listener = Listener::open(&args.socket)?;
    if program::remove_stale(&pin)? {
        eprintln!(
            "meshpaced: removed the program that a killed `meshpaced host` left on {}",
            cgroup.path().display()
        );
    }
    let single =
        args.one_segment_bursts.as_deref().map(|name| SingleSegments::set(name, &memory)).transpose()?;
    let watchdog = Span::from_secs(args.watchdog);
    let started = monotonic_now();
    let program = Program::attach(&cgroup, &pin, args.connections, started + watchdog)?;
    let way = way(args, &config);
    println!(
        "pacing {}: {} to the gateway, links of {}",
        cgroup.path().display(),
        counted(way.hops.into(), "hop"),
        bit_rate(way.rate.as_bits_per_sec() as f64)
    );
    let mut host = Host {
        flows: Flows::new(config.law, config.host.initial_interval, way),
        program,
        listener,
        signals,
        delay: status::no_delays(),
        started,
        watchdog,
    };
    // A limit that comes late is one for packets that have left.
    eprintln!("meshpaced: {}", realtime());
    let served = host.serve(cgroup.path());
    // Whatever happened, limits are lifted.
    let stopped = host.stop();
    drop(single);
    served.and(stopped).map(|()| ExitCode::SUCCESS)
}

/// Hops told for this host count for all of its addresses; else those of the addresses do.
fn way(args: &Args, config: &Config) -> GatewayPath {
    let told = args.hops.or(config.host.hops);
    GatewayPath {
        by_address: if told.is_some() { Vec::new() } else { config.hops.fixed.clone() },
        hops: told.unwrap_or(config.hops.default),
        rate: args.rate.unwrap_or(config.host.rate),
    }
}

/// Where the interface's own `gso_max_segs` is remembered.
fn memory(socket: &Path, cgroup: &Cgroup) -> PathBuf {
    socket.with_file_name(format!("host-{}.gso_max_segs", cgroup.inode()))
}

fn undo(pin: &Path, memory: &Path) -> Result<ExitCode, Failure> {
    let program = program::remove_stale(pin)?;
    let segments = bursts::restore(memory)?;
    println!("program: {}; gso_max_segs: {}", found(program, "detached"), found(segments, "put back"));
    Ok(ExitCode::SUCCESS)
}

const fn found(found: bool, done: &'static str) -> &'static str {
    if found { done } else { "nothing left behind" }
}

/// The running daemon.
struct Host {
    flows: Flows,
    program: Program,
    listener: Listener,
    signals: Signals,
    delay: Delay,
    started: Instant,
    watchdog: Span,
}

const REPORTS: u64 = 0;
const SIGNALS: u64 = 1;
const CLIENTS: u64 = 2;

impl Host {
    /// Until a signal ends it.
    fn serve(&mut self, cgroup: &Path) -> Result<(), Failure> {
        let fail = |why| Failure::operational("waiting for events", why);
        let mut poller = Poller::new().map_err(fail)?;
        poller.add(&self.program, REPORTS).map_err(fail)?;
        poller.add(&self.signals, SIGNALS).map_err(fail)?;
        poller.add(&self.listener, CLIENTS).map_err(fail)?;
        let renewal = self.watchdog / RENEWALS;
        let (mut renewed, mut looked) = (self.started, self.started);
        loop {
            let ready: Vec<u64> = poller.wait(Some(renewal)).map_err(fail)?.collect();
            if ready.contains(&REPORTS) {
                self.take_reports()?;
            }
            let now = monotonic_now();
            if now.saturating_since(renewed) >= renewal {
                self.program.keep_alive(now + self.watchdog)?;
                renewed = now;
            }
            if now.saturating_since(looked) >= DOUBTFUL {
                self.forget_lost(now);
                looked = now;
            }
            if ready.contains(&CLIENTS) {
                let (flows, program, delay, started) =
                    (&self.flows, &self.program, &self.delay, self.started);
                self.listener.answer(|| {
                    let counters = program.counters()?;
                    let in_force = |cookie| program.in_force(cookie).flatten();
                    Ok(Status::new(&Sources { now, started, cgroup, flows, delay, counters }, in_force))
                })?;
            }
            if ready.contains(&SIGNALS) && self.told_to_stop()? {
                return Ok(());
            }
        }
    }

    /// Each order is in the kernel before the next report is read, so that it is there for the next acknowledgement.
    fn take_reports(&mut self) -> Result<(), Failure> {
        for _ in 0..BATCH {
            let Some(report) = self.program.next_report() else { break };
            self.flows.handle_report(&report);
            while let Some((cookie, order)) = self.flows.poll_order() {
                if !self.program.order(cookie, order)? {
                    self.flows.forget(cookie);
                }
                if matches!(report.told, ReportKind::Sample { .. }) {
                    self.delay.record(monotonic_now().saturating_since(report.at));
                }
            }
        }
        Ok(())
    }

    /// Forgets connections whose end found the ring full.
    fn forget_lost(&mut self, now: Instant) {
        let doubtful = self.flows.iter().filter(|(_, flow)| now.saturating_since(flow.active) >= DOUBTFUL);
        let lost: Vec<Cookie> = doubtful
            .map(|(cookie, _)| cookie)
            .filter(|cookie| self.program.in_force(*cookie).is_none())
            .collect();
        for cookie in lost {
            self.flows.forget(cookie);
        }
    }

    fn told_to_stop(&self) -> Result<bool, Failure> {
        while let Some(signal) = self.signals.next().map_err(|why| Failure::operational("signals", why))? {
            match signal {
                Signal::Terminate | Signal::Interrupt => return Ok(true),
                // Nothing is read again: limits follow from the arguments of the start.
                Signal::Hangup => {
                    eprintln!("meshpaced: `meshpaced host` reads its configuration at its start only");
                }
            }
        }
        Ok(false)
    }

    /// Lifts the limits, then detaches.
    fn stop(mut self) -> Result<(), Failure> {
        self.program.lift()?;
        let deadline = monotonic_now() + LINGER;
        let mut poller = Poller::new().map_err(|why| Failure::operational("waiting", why))?;
        let mut limited = self.program.limited();
        while limited > 0 && monotonic_now() < deadline {
            // Nothing is in this set: it only waits.
            let _ = poller.wait(Some(LOOK)).map_err(|why| Failure::operational("waiting", why))?.count();
            limited = self.program.limited();
        }
        self.program.detach()?;
        if limited > 0 {
            eprintln!(
                "meshpaced: {limited} idle connections of other network namespaces keep their limits until they close"
            );
        }
        println!("detached");
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        args: Args,
    }

    fn way_of(words: &[&str], file: &str) -> GatewayPath {
        let line = Line::parse_from(std::iter::once(&"host").chain(words));
        way(&line.args, &Config::parse("a.toml", file.as_bytes()).unwrap())
    }

    #[test]
    fn hops_are_the_arguments_the_hosts_the_addresss_or_the_default() {
        let fixed = "[hops]\ndefault = 6\n[hops.static]\n\"10.1.2.0/24\" = 3\n";
        let (here, elsewhere) = ("10.1.2.9".parse().unwrap(), "10.9.9.9".parse().unwrap());
        let hops = |way: GatewayPath| (way.hops(here), way.hops(elsewhere));
        assert_eq!(hops(way_of(&[], fixed)), (3, 6));
        assert_eq!(hops(way_of(&[], &format!("{fixed}[host]\nhops = 2\n"))), (2, 2));
        assert_eq!(hops(way_of(&["--hops", "5"], &format!("{fixed}[host]\nhops = 2\n"))), (5, 5));
    }

    #[test]
    fn rates_are_the_arguments_or_the_files() {
        assert_eq!(way_of(&[], "").rate, Rate::bits_per_sec(11_000_000));
        assert_eq!(way_of(&["--rate", "5.5Mbps"], "").rate, Rate::bits_per_sec(5_500_000));
        assert!(rate("0Mbps").is_err() && rate("11").is_err() && rate("-1Mbps").is_err());
    }
}
