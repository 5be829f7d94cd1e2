//! A second thread that wakes one whose own wake-up is overdue, on another processor.
//!
//! Real-time priority does not help a thread whose processor does not run. A hypervisor may have taken the processor away, or the kernel
//! may run something long there that it does not interrupt. The timer's interrupt, or the switch to the thread, then waits for that
//! processor. Another processor is seldom away at the same moment.

use crate::{Realtime, Waker, monotonic_now, realtime};
use meshpace_units::{Instant, Span};
use nix::sched::{CpuSet, sched_getaffinity, sched_getcpu, sched_setaffinity};
use nix::unistd::{Pid, gettid};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{Builder, JoinHandle, sleep};
use std::time::Duration;

/// How often it looks. Together with [`GRACE`] well below a millisecond, and some 3 % of a processor.
const PERIOD: Duration = Duration::from_micros(400);
/// A wake-up that is later than this is overdue; timers are tens of microseconds late where nothing is in the way.
const GRACE: Span = Span::from_micros(200);
/// No wake-up is waited for.
const AWAKE: u64 = u64::MAX;

/// Watches over the wake-ups of the thread that made it, which it keeps on one processor while it is on another one itself.
#[derive(Debug)]
pub struct Standby {
    shared: Arc<Shared>,
    watched: Pid,
    allowed: CpuSet,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    /// When the watched thread wants to be woken, in nanoseconds; [`AWAKE`]: it runs, or waits for no time.
    due: AtomicU64,
    rescues: AtomicU64,
    over: AtomicBool,
}

impl Standby {
    /// Watches over the calling thread, which `waker` wakes. `None` if it may run on one processor alone.
    ///
    /// # Errors
    /// What `sched_setaffinity(2)` or `pthread_create(3)` answer.
    pub fn new(waker: Waker) -> io::Result<Option<Self>> {
        let watched = gettid();
        let allowed = sched_getaffinity(watched)?;
        let here = sched_getcpu()?;
        let is_allowed = |cpu: &usize| allowed.is_set(*cpu).unwrap_or(false);
        let Some(there) = (0..CpuSet::count()).filter(is_allowed).find(|cpu| *cpu != here) else {
            return Ok(None);
        };
        sched_setaffinity(watched, &only(here)?)?;
        let (due, rescues, over) = (AtomicU64::new(AWAKE), AtomicU64::new(0), AtomicBool::new(false));
        let shared = Arc::new(Shared { due, rescues, over });
        let mut this = Self { shared: Arc::clone(&shared), watched, allowed, thread: None };
        let watch = move || watch(&shared, watched, [here, there], &waker);
        this.thread = Some(Builder::new().name("standby".to_owned()).spawn(watch)?);
        Ok(Some(this))
    }

    /// The thread is about to wait, at the latest until then.
    pub fn waits_until(&self, due: Option<Instant>) {
        self.shared.due.store(due.map_or(AWAKE, Instant::as_nanos), Ordering::Release);
    }

    /// It is awake.
    pub fn is_awake(&self) {
        self.shared.due.store(AWAKE, Ordering::Release);
    }

    /// How often it had to be woken.
    #[must_use]
    pub fn rescues(&self) -> u64 {
        self.shared.rescues.load(Ordering::Acquire)
    }
}

impl Drop for Standby {
    fn drop(&mut self) {
        self.shared.over.store(true, Ordering::Release);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
        let _ = sched_setaffinity(self.watched, &self.allowed);
    }
}

fn only(cpu: usize) -> io::Result<CpuSet> {
    let mut set = CpuSet::new();
    set.set(cpu)?;
    Ok(set)
}

#[allow(clippy::disallowed_methods, reason = "to wait is what it is for")]
fn pause() {
    sleep(PERIOD);
}

/// Until it is over. The watched thread is on the first of the processors, this one on the second.
fn watch(shared: &Shared, watched: Pid, [mut theirs, mut mine]: [usize; 2], waker: &Waker) {
    // The watched thread has real-time priority, so this one may have it, too; the watched thread's result is
    // the one that is reported.
    let _: Realtime = realtime();
    let stay = |cpu| only(cpu).and_then(|set| Ok(sched_setaffinity(gettid(), &set)?));
    let _ = stay(mine);
    while !shared.over.load(Ordering::Acquire) {
        pause();
        let due = shared.due.load(Ordering::Acquire);
        if due == AWAKE || monotonic_now().saturating_since(Instant::from_nanos(due)) <= GRACE {
            continue;
        }
        // Once a wait, and not if it has just woken by itself.
        if shared.due.compare_exchange(due, AWAKE, Ordering::AcqRel, Ordering::Acquire).is_err() {
            continue;
        }
        // If it waits for its turn already it is taken along; if its timer has not rung it is woken here.
        if only(mine).and_then(|set| Ok(sched_setaffinity(watched, &set)?)).is_ok() {
            shared.rescues.fetch_add(1, Ordering::Release);
            let _ = waker.wake();
            std::mem::swap(&mut theirs, &mut mine);
            // Leaves the processor at once, so that the other can have it, even if its own new one does not run yet.
            let _ = stay(mine);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Poller;

    #[test]
    fn a_wake_up_that_does_not_come_comes_on_another_processor() {
        let before = sched_getaffinity(gettid()).expect("affinity");
        let mut poller = Poller::new().expect("epoll");
        let waker = Waker::new().expect("eventfd");
        poller.add(&waker, 5).expect("epoll_ctl");
        let Some(standby) = Standby::new(waker.clone()).expect("a thread") else {
            return println!("one processor: nobody else could wake it");
        };
        for turn in 1..=3 {
            let here = sched_getcpu().expect("a processor");
            // No timer is set, as if its interrupt waited for a processor that is away.
            standby.waits_until(Some(monotonic_now() + Span::from_millis(1)));
            assert_eq!(poller.wait(Some(Span::from_secs(20))).expect("epoll_wait").collect::<Vec<_>>(), [5]);
            standby.is_awake();
            assert!(waker.acknowledge().expect("read"));
            assert_eq!(standby.rescues(), turn);
            assert_ne!(sched_getcpu().expect("a processor"), here, "turn {turn}");
        }
        // A thread that is awake, or waits for no time, is left alone.
        standby.waits_until(None);
        assert_eq!(poller.wait(Some(Span::from_millis(5))).expect("epoll_wait").count(), 0);
        assert_eq!(standby.rescues(), 3);
        drop(standby);
        assert_eq!(sched_getaffinity(gettid()).expect("affinity"), before, "free to move again");
    }
}
