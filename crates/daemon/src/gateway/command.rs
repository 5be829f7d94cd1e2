//! The gateway as a process: the data thread and those around it, from the first rule to the last packet.

use super::datapath;
use super::services::Services;
use super::standing_rules::StandingRules;
use crate::Failure;
use crate::config::{self, Config, Datapath};
use crate::data_thread::{Heartbeat, Worker};
#[cfg(feature = "ebpf")]
use crate::ebpf;
use crate::events::Sink;
use crate::hops::{Directory, Refresher};
use crate::lease::{Beacon, Ports};
use crate::rights::Rights;
use crate::service_manager::ServiceManager;
use meshpace_linux::{Poller, Signal, Signals, give_back_large_blocks, monotonic_now};
use meshpace_units::Span;
use std::io;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

/// Time between two looks at what may have changed.
const LOOK: Span = Span::from_secs(1);

const SIGNALS: u64 = 0;
const STOPPING: u64 = 1;
const ENDED: u64 = 2;

/// Arguments of `meshpaced gateway`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The configuration file.
    #[arg(long, default_value = config::DEFAULT_FILE)]
    pub config: PathBuf,
}

/// Runs the gateway until it is stopped.
///
/// # Errors
/// [`Failure::User`] for a configuration that cannot be used, [`Failure::Operational`] where the kernel refuses.
pub fn run(args: &Args) -> Result<ExitCode, Failure> {
    let config = Arc::new(Config::load_for_gateway(&args.config)?);
    Rights::here().require_net_admin("gateway")?;
    give_back_large_blocks();
    // Before any other thread: signals are blocked in those that start later.
    let signals = Signals::new().map_err(|why| Failure::operational("signals", why))?;
    let hops =
        Refresher::start(Arc::clone(&config)).map_err(|why| Failure::operational("thread for hops", why))?;
    let manager =
        ServiceManager::of_environment().map_err(|why| Failure::operational("NOTIFY_SOCKET", why))?;
    let config = possible(config)?;
    let (beacon, ports) = beacon(&config);
    let worker = start(&config, hops.directory().clone(), Heartbeat::new(beacon, manager.clone()))?;
    let services = Services::start(&config, &args.config, &worker, hops.directory().clone());
    let events = services.as_ref().map_or_else(|_| Sink::nowhere(), Services::events);
    let mut rules = StandingRules::none(ports, events);
    let (outcome, services) = match services {
        Ok(services) => {
            let site = Site { worker: &worker, services: &services, hops: &hops, manager: manager.as_ref() };
            (supervise(&config, &signals, &site, &mut rules), Some(services))
        }
        Err(failure) => (Err(failure), None),
    };
    tell(manager.as_ref(), ServiceManager::stopping);
    // Whatever happened: what is held leaves, no rule leads to a queue without a reader, nothing queued is lost.
    worker.stop();
    let removed = rules.remove(&config);
    if let Some(services) = services {
        services.stop();
    }
    let ended = worker.finish();
    outcome.and(ended).and(removed).map(|()| ExitCode::SUCCESS)
}

/// The configuration with the data path that can do what it asks for: packets are handed to user space where nothing in the kernel keeps
/// departure times. To end would be no answer: a service manager starts the daemon again, and again.
#[cfg(feature = "ebpf")]
fn possible(config: Arc<Config>) -> Result<Arc<Config>, Failure> {
    if config.datapath != Datapath::Ebpf {
        return Ok(config);
    }
    Rights::here().require_bpf()?;
    Ok(match ebpf::prepare(&config) {
        Ok(()) => config,
        Err(why) => {
            eprintln!(
                "meshpaced: datapath = \"nfqueue\" in place of \"ebpf\", which cannot pace here: {why}"
            );
            Arc::new(Config { datapath: Datapath::Nfqueue, fallen_back: true, ..Config::clone(&config) })
        }
    })
}

/// The configuration as it is.
#[cfg(not(feature = "ebpf"))]
fn possible(config: Arc<Config>) -> Result<Arc<Config>, Failure> {
    Ok(config)
}

/// The sender that renews the lease of the packet queue, and its ports; `None` where there is no queue, or no loopback interface.
fn beacon(config: &Config) -> (Option<Beacon>, Option<Ports>) {
    if config.datapath != Datapath::Nfqueue {
        return (None, None);
    }
    let opened = Beacon::open().and_then(|beacon| beacon.ports().map(|ports| (beacon, ports)));
    match opened {
        Ok((beacon, ports)) => (Some(beacon), Some(ports)),
        Err(why) => {
            eprintln!("meshpaced: no lease of the queue: no sockets on the loopback interface: {why}");
            (None, None)
        }
    }
}

/// Tells the service manager, if there is one. One that does not listen is no reason to end.
fn tell(manager: Option<&ServiceManager>, what: impl FnOnce(&ServiceManager) -> io::Result<()>) {
    if let Some(Err(why)) = manager.map(what) {
        eprintln!("meshpaced: NOTIFY_SOCKET: {why}");
    }
}

/// Those whom the supervision keeps in step.
struct Site<'a> {
    worker: &'a Worker,
    services: &'a Services,
    hops: &'a Refresher,
    manager: Option<&'a ServiceManager>,
}

/// Starts the data thread of the data path that the configuration names.
fn start(config: &Arc<Config>, hops: Directory, heartbeat: Heartbeat) -> Result<Worker, Failure> {
    let kept = Arc::clone(config);
    match config.datapath {
        Datapath::Nfqueue => {
            let queue = datapath::open(config).map_err(|why| Failure::Operational(why.to_string()))?;
            Worker::start(heartbeat, move |channel| {
                datapath::Datapath::new(queue, kept, hops, channel)?.run()
            })
        }
        #[cfg(feature = "ebpf")]
        Datapath::Ebpf => {
            let opened = ebpf::open(config)?;
            Worker::start(heartbeat, move |channel| ebpf::Datapath::new(opened, kept, hops, channel)?.run())
        }
        #[cfg(not(feature = "ebpf"))]
        Datapath::Ebpf => Err(Failure::User(
            "datapath = \"ebpf\": this meshpaced was built without it (feature ebpf)".to_owned(),
        )),
    }
}

/// Keeps rules and hops in step with the configuration until a stop is asked for or the data thread ends.
fn supervise(
    config: &Arc<Config>,
    signals: &Signals,
    site: &Site<'_>,
    rules: &mut StandingRules,
) -> Result<(), Failure> {
    let Site { worker, services, hops, manager } = *site;
    let broken = |why: io::Error| Failure::operational("supervision", why);
    let mut poller = Poller::new().map_err(broken)?;
    poller.add(signals, SIGNALS).map_err(broken)?;
    poller.add(&worker.stopping, STOPPING).map_err(broken)?;
    poller.add(&worker.ended, ENDED).map_err(broken)?;
    if rules.follow(monotonic_now(), config)? {
        begin_lease(worker);
    }
    services.announce(config);
    tell(manager, ServiceManager::ready);
    match config.datapath {
        Datapath::Nfqueue => eprintln!("meshpaced: {} on queue {}", config.mode.name(), config.nfqueue.queue),
        Datapath::Ebpf => {
            eprintln!("meshpaced: {} by eBPF on {}", config.mode.name(), config.mesh.interfaces.join(", "));
        }
    }
    let mut config = services.daemon.config();
    loop {
        let ready = poller.wait(Some(LOOK)).map_err(broken)?.fold(0u64, |ready, token| ready | 1 << token);
        if ready & (1 << STOPPING | 1 << ENDED) != 0 {
            return Ok(());
        }
        while let Some(signal) = signals.next().map_err(broken)? {
            match signal {
                Signal::Terminate | Signal::Interrupt => drop(services.daemon.stop("signal", None)),
                Signal::Hangup => match services.daemon.reload(None) {
                    Ok(said) => eprintln!("meshpaced: {said}"),
                    Err(refusal) => {
                        eprintln!("meshpaced: the earlier configuration stays in force: {}", refusal.message);
                    }
                },
            }
        }
        let present = services.daemon.config();
        if !Arc::ptr_eq(&config, &present) {
            config = present;
            hops.reload(Arc::clone(&config));
        }
        let now = monotonic_now();
        if rules.follow(now, &config)? || rules.verify(now, &config)? {
            begin_lease(worker);
        }
    }
}

/// Has the data thread alone begin the lease of rules that were just made.
fn begin_lease(worker: &Worker) {
    if !worker.sign() {
        eprintln!("meshpaced: the data thread gives no sign of life: packets pass unqueued");
    }
}
