//! The data thread's life: how it is started, told things and ended.

use super::heartbeat::Heartbeat;
use crate::Failure;
use crate::state::Request;
use meshpace_linux::Waker;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// How long the data thread may take for a sign of life.
const PATIENCE: Duration = Duration::from_secs(5);

/// The ways in and out of the data thread.
#[derive(Debug)]
pub struct Channel {
    /// What is asked of it.
    pub requests: Receiver<Request>,
    /// Rung after a request and after `finish` is set.
    pub waker: Waker,
    /// Rung when it lets everything pass, on its way to its end.
    pub stopping: Waker,
    /// Set once no rule leads packets to it any more: the last word.
    pub finish: Arc<AtomicBool>,
    /// To be beaten while the thread gets on.
    pub heartbeat: Heartbeat,
}

/// The data thread.
#[derive(Debug)]
pub struct Worker {
    thread: JoinHandle<io::Result<()>>,
    finish: Arc<AtomicBool>,
    requests: Sender<Request>,
    waker: Waker,
    /// Rings when everything passes, after a stop was asked for.
    pub stopping: Waker,
    /// Rings when it has ended.
    pub ended: Waker,
}

/// Rings at the end of the thread, even if that is a panic.
struct Bell(Waker);

impl Drop for Bell {
    fn drop(&mut self) {
        if let Err(why) = self.0.wake() {
            eprintln!("meshpaced: end of the data thread: {why}");
        }
    }
}

impl Worker {
    /// Starts the thread, whose signs of life `heartbeat` gives and which does `data_path` until its channel says that it is to end.
    ///
    /// # Errors
    /// [`Failure::Operational`] if the system has no thread or descriptor left.
    pub fn start(
        heartbeat: Heartbeat,
        data_path: impl FnOnce(Channel) -> io::Result<()> + Send + 'static,
    ) -> Result<Self, Failure> {
        let broken = |why: io::Error| Failure::operational("data thread", why);
        let waker = || Waker::new().map_err(broken);
        let (waker, stopping, ended) = (waker()?, waker()?, waker()?);
        let (requests, receiver) = channel();
        let finish = Arc::new(AtomicBool::new(false));
        let channel = Channel {
            requests: receiver,
            waker: waker.clone(),
            stopping: stopping.clone(),
            finish: Arc::clone(&finish),
            heartbeat,
        };
        let bell = Bell(ended.clone());
        let work = move || {
            let _bell = bell;
            data_path(channel)
        };
        let thread = std::thread::Builder::new().name("data".to_owned()).spawn(work).map_err(broken)?;
        Ok(Self { thread, finish, requests, waker, stopping, ended })
    }

    /// Where requests to it go, and what to ring after one.
    pub fn handle(&self) -> (Sender<Request>, Waker) {
        (self.requests.clone(), self.waker.clone())
    }

    /// Asks it for a sign of life and waits for that; false if it gives none in time.
    #[must_use]
    pub fn sign(&self) -> bool {
        let (answer, answered) = channel();
        if self.requests.send(Request::Sign(answer)).is_ok() {
            self.ring();
        }
        answered.recv_timeout(PATIENCE).is_ok()
    }

    /// Asks it to let everything pass, on its way to its end; it may have ended already.
    pub fn stop(&self) {
        if self.requests.send(Request::Stop).is_ok() {
            self.ring();
        }
    }

    /// Waits for the thread's end, once no rule leads packets to it any more: no queued packet is lost.
    ///
    /// # Errors
    /// [`Failure::Operational`] with what it failed of.
    pub fn finish(self) -> Result<(), Failure> {
        self.stop();
        self.finish.store(true, Ordering::Release);
        self.ring();
        match self.thread.join() {
            Ok(Ok(())) => Ok(()),
            Ok(Err(why)) => Err(Failure::operational("data thread", why)),
            Err(_) => Err(Failure::Operational("the data thread panicked".to_owned())),
        }
    }

    fn ring(&self) {
        if let Err(why) = self.waker.wake() {
            eprintln!("meshpaced: waking the data thread: {why}");
        }
    }
}
