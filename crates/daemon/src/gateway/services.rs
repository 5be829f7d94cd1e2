//! The data thread's clients within the daemon: the control socket, the metrics, the event log.

use super::watch::Watch;
use crate::config::Config;
use crate::control::{self, DataThread};
use crate::data_thread::Worker;
use crate::events::{Event, Log, Sink};
use crate::foresight::Kept;
use crate::hops::Directory;
use crate::{Failure, metrics};
use std::path::Path;
use std::sync::Arc;

/// See the module's description.
#[derive(Debug)]
pub struct Services {
    /// What clients ask.
    pub daemon: Arc<control::Daemon>,
    log: Log,
    control: control::Server,
    metrics: Option<metrics::Server>,
    watch: Watch,
}

impl Services {
    /// Starts them; `file` is where the configuration comes from, and `hops` hears of what gets across.
    ///
    /// # Errors
    /// [`Failure`] if the socket, the metrics' address or the log cannot be had.
    pub fn start(config: &Config, file: &Path, worker: &Worker, hops: Directory) -> Result<Self, Failure> {
        let log = Log::open(&config.events)?;
        let (requests, waker) = worker.handle();
        let data = DataThread::new(requests, waker);
        let kept = Kept::here();
        let daemon = Arc::new(control::Daemon::new(data, log.sink(), file.to_owned(), config.clone(), kept));
        let control = control::Server::start(&config.control, Arc::clone(&daemon))?;
        let metrics = config
            .metrics
            .listen
            .map(|address| metrics::Server::start(address, Arc::clone(&daemon)))
            .transpose()?;
        let watch = Watch::start(Arc::clone(&daemon), hops, log.sink())
            .map_err(|why| Failure::operational("watching thread", why))?;
        Ok(Self { daemon, log, control, metrics, watch })
    }

    /// Where events go.
    pub fn events(&self) -> Sink {
        self.log.sink()
    }

    /// Notes that packets are forwarded from now on.
    pub fn announce(&self, config: &Config) {
        let (mode, datapath) = (config.mode.name(), config.datapath.name());
        self.log.sink().emit(Event::Started { version: env!("CARGO_PKG_VERSION"), mode, datapath });
    }

    /// Ends them.
    pub fn stop(self) {
        self.watch.stop();
        if let Some(metrics) = self.metrics {
            metrics.stop();
        }
        self.control.stop();
        self.log.close();
    }
}
