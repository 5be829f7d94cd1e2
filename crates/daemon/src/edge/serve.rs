//! The process around a data path: signals, questions, metrics, signs of life, and the end.

use super::status::{SCHEMA, Status};
use super::{Chosen, Thinner, metrics};
use crate::Failure;
use crate::config::Edge;
use crate::metrics::{Exporter, PLAIN, Page, Server};
use crate::service_manager::ServiceManager;
use crate::status_socket::Listener;
use arc_swap::ArcSwapOption;
use meshpace_linux::{Deadline, Poller, Signal, Signals, monotonic_now};
use meshpace_units::{Instant, Span};
use std::sync::Arc;

/// Time between two signs of life: a tenth of what the program believes one, a quarter of what rules do.
const SIGN: Span = crate::lease::RENEWAL;

const WORK: u64 = 0;
const SIGNALS: u64 = 1;
const CLIENTS: u64 = 2;
const DEADLINE: u64 = 3;

/// Where the edge is asked.
pub struct ControlPoint {
    listener: Listener,
    metrics: Option<Server>,
    /// As metrics tell it; as old as the last sign of life.
    latest: Arc<ArcSwapOption<Status>>,
    edge: Edge,
    interfaces: Vec<String>,
    started: Instant,
}

impl ControlPoint {
    /// Listens.
    ///
    /// # Errors
    /// [`Failure::Operational`] if another one does.
    pub fn open(edge: &Edge, interfaces: &[String]) -> Result<Self, Failure> {
        let listener = Listener::open(&edge.socket)?;
        let latest = Arc::new(ArcSwapOption::<Status>::empty());
        let told = Arc::clone(&latest);
        let serving = |address| Server::serving(address, Arc::new(move |path: &str| page(path, &told)));
        Ok(Self {
            listener,
            metrics: edge.listen.map(serving).transpose()?,
            latest,
            edge: edge.clone(),
            interfaces: interfaces.to_vec(),
            started: monotonic_now(),
        })
    }

    fn status(&self, thinner: &dyn Thinner, chosen: &Chosen) -> Result<Status, Failure> {
        let counters = thinner.counters()?;
        Ok(Status {
            schema: SCHEMA,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            pid: std::process::id(),
            uptime_s: monotonic_now().saturating_since(self.started).as_secs_f64(),
            datapath: chosen.datapath.to_owned(),
            reason: chosen.reason.clone(),
            interfaces: self.interfaces.clone(),
            pass_bytes: self.edge.bytes.0,
            share: self.edge.share,
            wait_s: self.edge.wait.as_secs_f64(),
            tail_s: self.edge.tail.as_secs_f64(),
            thinned: counters.thinned(),
            thinned_share: counters.share(),
            counters,
        })
    }
}

fn page(path: &str, latest: &ArcSwapOption<Status>) -> Page {
    match (path, &*latest.load()) {
        ("/metrics", Some(status)) => ("200 OK", Exporter::CONTENT_TYPE, metrics::text(status)),
        ("/healthz", Some(_)) => ("200 OK", PLAIN, "ok\n".into()),
        ("/metrics" | "/healthz", None) => ("503 Service Unavailable", PLAIN, "not yet\n".into()),
        _ => ("404 Not Found", PLAIN, "there are /metrics and /healthz\n".into()),
    }
}

/// Runs until a signal ends it.
///
/// # Errors
/// [`Failure::Operational`] with what the kernel refuses. Whatever happened, what waits is let go.
pub fn serve(
    mut thinner: Box<dyn Thinner>,
    chosen: &Chosen,
    mut place: ControlPoint,
    signals: &Signals,
) -> Result<(), Failure> {
    let manager =
        ServiceManager::of_environment().map_err(|why| Failure::operational("NOTIFY_SOCKET", why))?;
    let served = turn(&mut *thinner, chosen, &mut place, signals, manager.as_ref());
    tell(manager.as_ref().map(ServiceManager::stopping));
    let stopped = thinner.stop();
    if let Some(metrics) = place.metrics {
        metrics.stop();
    }
    served.and(stopped)
}

fn turn(
    thinner: &mut dyn Thinner,
    chosen: &Chosen,
    place: &mut ControlPoint,
    signals: &Signals,
    manager: Option<&ServiceManager>,
) -> Result<(), Failure> {
    let fail = |why| Failure::operational("waiting for events", why);
    let mut poller = Poller::new().map_err(fail)?;
    let mut deadline = Deadline::new().map_err(fail)?;
    thinner.watch(&poller, WORK)?;
    poller.add(signals, SIGNALS).map_err(fail)?;
    poller.add(&place.listener, CLIENTS).map_err(fail)?;
    poller.add(&deadline, DEADLINE).map_err(fail)?;
    let mut sign = monotonic_now();
    let mut announced = false;
    loop {
        thinner.on_time(monotonic_now())?;
        let now = monotonic_now();
        // What was due has been done: this sign shows that the loop gets on.
        if now >= sign {
            thinner.sign(now)?;
            place.latest.store(Some(Arc::new(place.status(thinner, chosen)?)));
            if manager.is_some_and(|manager| manager.watchdog().is_some()) {
                tell(manager.map(ServiceManager::alive));
            }
            sign = now + SIGN;
        }
        if !std::mem::replace(&mut announced, true) {
            tell(manager.map(ServiceManager::ready));
            let way = if chosen.datapath == "ebpf" { "eBPF" } else { "NFQUEUE" };
            eprintln!("meshpaced: edge by {way} on {}: {}", place.interfaces.join(", "), chosen.reason);
        }
        deadline.set(thinner.poll_timeout().into_iter().chain([sign]).min()).map_err(fail)?;
        let ready = poller.wait(None).map_err(fail)?.fold(0u64, |ready, token| ready | 1 << token);
        let is = |token: u64| ready & 1 << token != 0;
        if is(DEADLINE) {
            deadline.expired();
        }
        if is(WORK) {
            thinner.work()?;
        }
        if is(CLIENTS) {
            let status = place.status(thinner, chosen)?;
            place.listener.answer(|| Ok(status.clone()))?;
        }
        if is(SIGNALS) && told_to_stop(signals)? {
            return Ok(());
        }
    }
}

fn told_to_stop(signals: &Signals) -> Result<bool, Failure> {
    while let Some(signal) = signals.next().map_err(|why| Failure::operational("signals", why))? {
        match signal {
            Signal::Terminate | Signal::Interrupt => return Ok(true),
            Signal::Hangup => {
                eprintln!("meshpaced: `meshpaced edge` reads its configuration at its start only");
            }
        }
    }
    Ok(false)
}

/// A manager that does not listen is no reason to end.
fn tell(told: Option<std::io::Result<()>>) {
    if let Some(Err(why)) = told {
        eprintln!("meshpaced: NOTIFY_SOCKET: {why}");
    }
}
