//! Asking the data thread.

use crate::state::{FlowDetail, Request, Snapshot};
use meshpace_gateway::FlowKey;
use meshpace_linux::{Waker, monotonic_now};
use meshpace_units::Span;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// How long the data thread may take: it answers between two packets, so this is thousands of times too long.
const PATIENCE: Duration = Duration::from_secs(5);
/// A snapshot this young serves the next who asks too. Copying 10,000 flows takes the data thread about a
/// millisecond, and this bounds what any number of curious clients cost it.
const FRESH: Span = Span::from_millis(100);

/// The data thread, for those who ask. Clones share their snapshots.
#[derive(Clone, Debug)]
pub struct DataThread {
    requests: Sender<Request>,
    waker: Waker,
    latest: Arc<Mutex<Option<Arc<Snapshot>>>>,
}

/// The data thread did not answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unanswered {
    /// It has ended.
    #[error("the data thread has ended")]
    Ended,
    /// It is busy or stuck.
    #[error("the data thread did not answer within {} s", PATIENCE.as_secs())]
    Late,
}

impl DataThread {
    /// `requests` leads to the data thread, `waker` wakes it.
    #[must_use]
    pub fn new(requests: Sender<Request>, waker: Waker) -> Self {
        Self { requests, waker, latest: Arc::default() }
    }

    /// What it knows, a tenth of a second old at most.
    ///
    /// # Errors
    /// [`Unanswered`].
    pub fn snapshot(&self) -> Result<Arc<Snapshot>, Unanswered> {
        // Holding the lock while asking lets those who come meanwhile share the answer.
        let mut latest = self.latest.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(fresh) = latest.as_ref().filter(|s| monotonic_now().saturating_since(s.at) < FRESH) {
            return Ok(Arc::clone(fresh));
        }
        // Not kept beside the next one: with 65,536 flows each is 23 MB.
        *latest = None;
        let snapshot = Arc::new(self.ask(Request::Snapshot)?);
        *latest = Some(Arc::clone(&snapshot));
        Ok(snapshot)
    }

    /// One flow in detail; `None` if it is not known.
    ///
    /// # Errors
    /// [`Unanswered`].
    pub fn flow(&self, key: FlowKey) -> Result<Option<Box<FlowDetail>>, Unanswered> {
        self.ask(|answer| Request::Flow(key, answer))
    }

    /// Sends a request made with the way its answer comes back, and waits for the answer.
    ///
    /// # Errors
    /// [`Unanswered`].
    pub fn ask<T>(&self, request: impl FnOnce(Sender<T>) -> Request) -> Result<T, Unanswered> {
        let (answer, answered) = channel();
        self.tell(request(answer))?;
        answered.recv_timeout(PATIENCE).map_err(|why| match why {
            std::sync::mpsc::RecvTimeoutError::Timeout => Unanswered::Late,
            std::sync::mpsc::RecvTimeoutError::Disconnected => Unanswered::Ended,
        })
    }

    /// Sends a request and does not wait.
    ///
    /// # Errors
    /// [`Unanswered::Ended`].
    pub fn tell(&self, request: Request) -> Result<(), Unanswered> {
        self.requests.send(request).map_err(|_| Unanswered::Ended)?;
        self.waker.wake().map_err(|_| Unanswered::Ended)
    }
}
