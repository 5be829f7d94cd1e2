//! Asking the data thread.

use crate::state::{FlowDetail, Request, Snapshot};
use meshpace_gateway::FlowKey;
use meshpace_linux::{Waker, monotonic_now};
use meshpace_units::{Instant, Span};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// How long the data thread may take: it answers between two packets, so this is thousands of times too long.
const PATIENCE: Duration = Duration::from_secs(5);
/// A snapshot this young serves the next request too, or as long as it took to make. Copying 10,000 flows takes the data
/// thread ten milliseconds, though never more than a page at a time; this bounds what any number of curious clients cost it.
const FRESH: Span = Span::from_millis(100);

/// The latest snapshot, and until when it serves.
type Latest = (Arc<Snapshot>, Instant);

/// The data thread, for its clients. Clones share their snapshots.
#[derive(Clone, Debug)]
pub struct DataThread {
    requests: Sender<Request>,
    waker: Waker,
    latest: Arc<Mutex<Option<Latest>>>,
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

    /// The data thread's snapshot. It is a tenth of a second old at most, or twice as old as the time that it takes to
    /// ask for all flows. Flows are asked for a page at a time, so that packets need not wait. So a flow that begins
    /// meanwhile may be missing, and later pages are a little newer.
    ///
    /// # Errors
    /// [`Unanswered`].
    pub fn snapshot(&self) -> Result<Arc<Snapshot>, Unanswered> {
        // Holding the lock while asking lets requests that come meanwhile share the answer.
        self.asked(&mut self.latest.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The same for who looks by and by: nobody else waits for it, so that it is not kept, and takes no memory between two looks.
    ///
    /// # Errors
    /// [`Unanswered`].
    pub fn look(&self) -> Result<Arc<Snapshot>, Unanswered> {
        let mut latest = self.latest.lock().unwrap_or_else(PoisonError::into_inner);
        let snapshot = self.asked(&mut latest);
        *latest = None;
        snapshot
    }

    fn asked(&self, latest: &mut Option<Latest>) -> Result<Arc<Snapshot>, Unanswered> {
        let begun = monotonic_now();
        if let Some((fresh, _)) = latest.as_ref().filter(|&&(_, until)| begun < until) {
            return Ok(Arc::clone(fresh));
        }
        // Not kept beside the next one: with 65,536 flows each is 23 MB.
        *latest = None;
        let mut snapshot = self.ask(Request::Snapshot)?;
        snapshot.flows.reserve_exact(snapshot.known.saturating_sub(snapshot.flows.len()));
        while !snapshot.complete {
            let after = snapshot.flows.last().map(|flow| flow.stats.key);
            let page = self.ask(|answer| Request::Page(after, answer))?;
            snapshot.complete = page.complete;
            snapshot.flows.extend(page.flows);
        }
        let (snapshot, now) = (Arc::new(snapshot), monotonic_now());
        let serves = FRESH.saturating_sub(now.saturating_since(begun)).max(now.saturating_since(begun));
        *latest = Some((Arc::clone(&snapshot), now + serves));
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::tests::example;
    use crate::state::Page;

    #[test]
    fn pages_are_put_together_and_shared() {
        let (requests, asked) = channel();
        let data = DataThread::new(requests, Waker::new().unwrap());
        let flows: Vec<_> = (1..=5).map(|host| example::report(host, 100)).collect();
        let all: Vec<_> = flows.iter().map(|flow| flow.stats.key).collect();
        let answering = std::thread::spawn(move || {
            let mut pages = 0;
            for request in asked {
                match request {
                    Request::Snapshot(answer) => {
                        let begun = Snapshot { complete: false, known: 5, ..example::snapshot(Vec::new()) };
                        answer.send(begun).unwrap();
                    }
                    Request::Page(after, answer) => {
                        pages += 1;
                        let follows = |flow: &&crate::state::FlowReport| Some(flow.stats.key) > after;
                        let flows: Vec<_> = flows.iter().filter(follows).take(2).cloned().collect();
                        let complete = flows.last().map(|flow| flow.stats.key) == all.last().copied();
                        answer.send(Page { flows, complete }).unwrap();
                    }
                    request => panic!("{request:?}"),
                }
            }
            (pages, all)
        });
        let snapshot = data.snapshot().unwrap();
        drop(data);
        let (pages, all) = answering.join().unwrap();
        assert_eq!((pages, snapshot.known), (3, 5));
        assert_eq!(snapshot.flows.iter().map(|flow| flow.stats.key).collect::<Vec<_>>(), all);
    }
}
