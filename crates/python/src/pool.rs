//! Many runs at once: threads take jobs in order, results come back in order.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

/// How often the caller gets a say while the threads work.
const HEARTBEAT: Duration = Duration::from_millis(100);

/// A job panicked: a broken invariant of the engine, with its message.
#[derive(Debug)]
pub struct Panicked(pub String);

/// Runs `work` on every job with as many `threads`, and calls `heartbeat` with the number of finished jobs about ten
/// times a second and after each job.
///
/// The order of the results, and which error is returned (that of the first failing job in order), do not depend on
/// the number of threads. After an error, or one from `heartbeat`, no further job is begun; jobs that run then are left
/// to end on their own if `heartbeat` failed, so that an interrupt acts at once.
///
/// # Errors
/// The first failing job's, or that of `heartbeat`.
pub fn run_all<J, T, E>(
    jobs: Vec<J>,
    threads: usize,
    work: fn(&J) -> Result<T, E>,
    mut heartbeat: impl FnMut(usize, &mut (dyn FnMut() + Send)) -> Result<(), E>,
) -> Result<Vec<T>, E>
where
    J: Send + Sync + 'static,
    T: Send + 'static,
    E: From<Panicked> + Send + 'static,
{
    let count = jobs.len();
    let shared = Arc::new(Shared { jobs, next: AtomicUsize::new(0), stop: AtomicBool::new(false) });
    let (sender, mut receiver) = channel();
    for _ in 0..threads.clamp(1, count.max(1)) {
        let (shared, sender) = (Arc::clone(&shared), sender.clone());
        thread::spawn(move || shared.work(&sender, work));
    }
    drop(sender);
    let outcome = collect(&mut receiver, count, &shared.stop, &mut heartbeat);
    shared.stop.store(true, Ordering::Relaxed);
    outcome
}

struct Shared<J> {
    jobs: Vec<J>,
    next: AtomicUsize,
    stop: AtomicBool,
}

type Message<T, E> = (usize, Result<T, E>);

impl<J> Shared<J> {
    fn work<T, E: From<Panicked>>(&self, results: &Sender<Message<T, E>>, work: fn(&J) -> Result<T, E>) {
        while !self.stop.load(Ordering::Relaxed) {
            let index = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(job) = self.jobs.get(index) else { return };
            let outcome = catch_unwind(AssertUnwindSafe(|| work(job)))
                .unwrap_or_else(|panic| Err(Panicked(message(&*panic)).into()));
            if results.send((index, outcome)).is_err() {
                return;
            }
        }
    }
}

fn message(panic: &(dyn std::any::Any + Send)) -> String {
    let text =
        panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
    text.unwrap_or("the engine panicked").to_owned()
}

fn collect<T: Send, E: Send>(
    receiver: &mut Receiver<Message<T, E>>,
    count: usize,
    stop: &AtomicBool,
    heartbeat: &mut impl FnMut(usize, &mut (dyn FnMut() + Send)) -> Result<(), E>,
) -> Result<Vec<T>, E> {
    let mut results: Vec<Option<T>> = (0..count).map(|_| None).collect();
    // Jobs begin in order, so every job before a failing one has begun: waiting for all that have begun finds the first.
    let mut failure: Option<(usize, E)> = None;
    let mut done = 0;
    loop {
        let mut received = None;
        let (slot, receiver) = (&mut received, &mut *receiver);
        heartbeat(done, &mut move || *slot = Some(receiver.recv_timeout(HEARTBEAT)))?;
        match received {
            Some(Ok((index, Ok(result)))) => {
                results[index] = Some(result);
                done += 1;
            }
            Some(Ok((index, Err(error)))) => {
                stop.store(true, Ordering::Relaxed);
                if failure.as_ref().is_none_or(|(earlier, _)| index < *earlier) {
                    failure = Some((index, error));
                }
            }
            Some(Err(RecvTimeoutError::Disconnected)) => break,
            Some(Err(RecvTimeoutError::Timeout)) | None => {}
        }
    }
    match failure {
        Some((_, error)) => Err(error),
        None => Ok(results.into_iter().map(|result| result.expect("every job ends with a result")).collect()),
    }
}
