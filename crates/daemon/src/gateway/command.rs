//! The gateway as a process: the data thread and those around it, from the first rule to the last packet.

use super::datapath;
use super::standing_rules::StandingRules;
use super::worker::Worker;
use crate::Failure;
use crate::config::{self, Config, Datapath};
#[cfg(feature = "ebpf")]
use crate::ebpf;
use crate::hops::{Directory, Refresher};
use crate::state::Request;
use meshpace_linux::{Poller, Signal, Signals, monotonic_now};
use meshpace_units::Span;
use std::io;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::mpsc::channel;

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

/// Runs the gateway until it is told to stop.
///
/// # Errors
/// [`Failure::User`] for a configuration that cannot be used, [`Failure::Operational`] where the kernel refuses.
pub fn run(args: &Args) -> Result<ExitCode, Failure> {
    let config = Arc::new(Config::load_for_gateway(&args.config)?);
    // Before any other thread: signals are blocked in those that start later.
    let signals = Signals::new().map_err(|why| Failure::operational("signals", why))?;
    let hops =
        Refresher::start(Arc::clone(&config)).map_err(|why| Failure::operational("thread for hops", why))?;
    let worker = start(&config, hops.directory().clone())?;
    let mut rules = StandingRules::none();
    let outcome = supervise(&args.config, &config, &signals, &worker, &mut rules, &hops);
    // Whatever happened: what is held leaves, no rule leads to a queue that nobody serves, nothing queued is lost.
    worker.stop();
    let removed = rules.remove(&config);
    let ended = worker.finish();
    outcome.and(ended).and(removed).map(|()| ExitCode::SUCCESS)
}

/// Starts the data thread of the data path that the configuration names.
fn start(config: &Arc<Config>, hops: Directory) -> Result<Worker, Failure> {
    let kept = Arc::clone(config);
    match config.datapath {
        Datapath::Nfqueue => {
            let queue = datapath::open(config).map_err(|why| Failure::Operational(why.to_string()))?;
            Worker::start(move |channel| datapath::Datapath::new(queue, kept, hops, channel)?.run())
        }
        #[cfg(feature = "ebpf")]
        Datapath::Ebpf => {
            let opened = ebpf::open(config)?;
            Worker::start(move |channel| ebpf::Datapath::new(opened, kept, hops, channel)?.run())
        }
        #[cfg(not(feature = "ebpf"))]
        Datapath::Ebpf => Err(Failure::User(
            "datapath = \"ebpf\": this meshpaced was built without it (feature ebpf)".to_owned(),
        )),
    }
}

/// Keeps the rules in step with the configuration until somebody says stop or the data thread ends.
fn supervise(
    file: &std::path::Path,
    config: &Arc<Config>,
    signals: &Signals,
    worker: &Worker,
    rules: &mut StandingRules,
    hops: &Refresher,
) -> Result<(), Failure> {
    let broken = |why: io::Error| Failure::operational("supervision", why);
    let mut poller = Poller::new().map_err(broken)?;
    poller.add(signals, SIGNALS).map_err(broken)?;
    poller.add(&worker.stopping, STOPPING).map_err(broken)?;
    poller.add(&worker.ended, ENDED).map_err(broken)?;
    let mut config = Arc::clone(config);
    rules.follow(monotonic_now(), &config)?;
    match config.datapath {
        Datapath::Nfqueue => eprintln!("meshpaced: {} on queue {}", config.mode.name(), config.nfqueue.queue),
        Datapath::Ebpf => {
            eprintln!("meshpaced: {} by eBPF on {}", config.mode.name(), config.mesh.interfaces.join(", "));
        }
    }
    loop {
        let ready = poller.wait(Some(LOOK)).map_err(broken)?.fold(0u64, |ready, token| ready | 1 << token);
        if ready & (1 << STOPPING | 1 << ENDED) != 0 {
            return Ok(());
        }
        while let Some(signal) = signals.next().map_err(broken)? {
            match signal {
                Signal::Terminate | Signal::Interrupt => return Ok(()),
                Signal::Hangup => match reload(file, worker) {
                    Ok(new) => {
                        config = new;
                        hops.reload(Arc::clone(&config));
                        rules.follow(monotonic_now(), &config)?;
                    }
                    Err(why) => eprintln!("meshpaced: the earlier configuration stays in force: {why}"),
                },
            }
        }
        rules.verify(monotonic_now(), &config)?;
    }
}

fn reload(file: &std::path::Path, worker: &Worker) -> Result<Arc<Config>, Failure> {
    let config = Config::load_for_gateway(file)?;
    let (requests, waker) = worker.handle();
    let (answer, answered) = channel();
    let ended = |_| Failure::Operational("the data thread has ended".to_owned());
    requests.send(Request::Reload(Box::new(config.clone()), answer)).map_err(|_| ended(()))?;
    waker.wake().map_err(|why| Failure::operational("waking the data thread", why))?;
    answered.recv().map_err(|_| ended(()))?.map_err(Failure::Operational)?;
    Ok(Arc::new(config))
}
