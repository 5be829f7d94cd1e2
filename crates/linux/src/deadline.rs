//! A precise timer: timerfd with absolute times on `CLOCK_MONOTONIC`.

use meshpace_units::Instant;
use nix::errno::Errno;
use nix::sys::time::TimeSpec;
use nix::sys::timerfd::{ClockId, Expiration, TimerFd, TimerFlags, TimerSetTimeFlags};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};

/// The one moment at which a thread wants to be woken. Readable from that moment on, until [`Deadline::acknowledge`].
#[derive(Debug)]
pub struct Deadline {
    timer: TimerFd,
    armed: Option<Instant>,
    /// It has expired, and the descriptor is readable until it is set again.
    expired: bool,
}

impl Deadline {
    /// An unarmed timer.
    ///
    /// # Errors
    /// What `timerfd_create(2)` answers: no descriptors or memory left.
    pub fn new() -> io::Result<Self> {
        let flags = TimerFlags::TFD_NONBLOCK | TimerFlags::TFD_CLOEXEC;
        Ok(Self { timer: TimerFd::new(ClockId::CLOCK_MONOTONIC, flags)?, armed: None, expired: false })
    }

    /// Moves the deadline to `at`, a [`crate::monotonic_now`] time, or disarms it. A time in the past is due at once.
    /// No system call is made where nothing changes. What has expired is forgotten.
    ///
    /// # Errors
    /// What `timerfd_settime(2)` answers.
    pub fn set(&mut self, at: Option<Instant>) -> io::Result<()> {
        if at == self.armed && !self.expired {
            return Ok(());
        }
        match at {
            // Zero would disarm the timer (timerfd_create(2)); a nanosecond later is as far in the past.
            Some(at) => {
                let nanos = at.as_nanos().max(1);
                let time = TimeSpec::new((nanos / 1_000_000_000) as i64, (nanos % 1_000_000_000) as i64);
                self.timer.set(Expiration::OneShot(time), TimerSetTimeFlags::TFD_TIMER_ABSTIME)?;
            }
            None => self.timer.unset()?,
        }
        self.armed = at;
        // Setting a timer clears what it has counted (timerfd_setup in the kernel's fs/timerfd.c).
        self.expired = false;
        Ok(())
    }

    /// What the timer is set to; `None` if it is disarmed or its expiry was acknowledged.
    #[must_use]
    pub fn armed(&self) -> Option<Instant> {
        self.armed
    }

    /// Takes note of an expiry that was polled, without a system call: the timer counts as disarmed, and the descriptor stays
    /// readable until the next [`Deadline::set`]. For loops that set it in every turn.
    pub fn expired(&mut self) {
        self.expired = true;
        self.armed = None;
    }

    /// Takes note of an expiry, after which the descriptor is no longer readable and the timer disarmed. True if there
    /// was one.
    ///
    /// # Errors
    /// What `read(2)` answers other than that there is nothing to read.
    pub fn acknowledge(&mut self) -> io::Result<bool> {
        match self.timer.wait() {
            Ok(()) => {
                self.armed = None;
                self.expired = false;
                Ok(true)
            }
            Err(Errno::EAGAIN) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }
}

impl AsFd for Deadline {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.timer.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Poller, monotonic_now};
    use meshpace_units::Span;

    #[test]
    fn is_due_at_its_time_and_once() {
        let mut poller = Poller::new().expect("epoll");
        let mut deadline = Deadline::new().expect("timerfd");
        poller.add(&deadline, 7).expect("epoll_ctl");
        let mut late = Vec::new();
        for _ in 0..20 {
            let due = monotonic_now() + Span::from_millis(2);
            deadline.set(Some(due)).expect("timerfd_settime");
            let tokens: Vec<u64> = poller.wait(None).expect("epoll_wait").collect();
            late.push((monotonic_now() - due).as_micros()); // panics if it fired early
            assert_eq!(tokens, [7]);
            assert!(deadline.acknowledge().expect("read"));
            assert!(!deadline.acknowledge().expect("read"), "an expiry is told once");
        }
        late.sort_unstable();
        println!("a timer at ordinary priority: {} us late at the median, {} at most", late[10], late[19]);
    }

    #[test]
    fn setting_it_again_forgets_what_has_expired() {
        let mut poller = Poller::new().expect("epoll");
        let mut deadline = Deadline::new().expect("timerfd");
        poller.add(&deadline, 1).expect("epoll_ctl");
        for next in [None, Some(monotonic_now() + Span::from_secs(1000))] {
            deadline.set(Some(Instant::ZERO)).expect("timerfd_settime");
            assert_eq!(poller.wait(Some(Span::from_secs(10))).expect("epoll_wait").count(), 1);
            deadline.expired();
            assert_eq!(deadline.armed(), None);
            assert_eq!(
                poller.wait(Some(Span::ZERO)).expect("epoll_wait").count(),
                1,
                "readable until it is set"
            );
            deadline.set(next).expect("timerfd_settime");
            assert_eq!(poller.wait(Some(Span::from_millis(1))).expect("epoll_wait").count(), 0);
        }
    }

    #[test]
    fn the_past_is_due_at_once_and_disarmed_is_silent() {
        let mut poller = Poller::new().expect("epoll");
        let mut deadline = Deadline::new().expect("timerfd");
        poller.add(&deadline, 1).expect("epoll_ctl");
        deadline.set(Some(Instant::ZERO)).expect("timerfd_settime");
        assert_eq!(poller.wait(Some(Span::from_secs(10))).expect("epoll_wait").collect::<Vec<_>>(), [1]);
        deadline.set(None).expect("timerfd_settime");
        assert_eq!(poller.wait(Some(Span::from_millis(1))).expect("epoll_wait").count(), 0);
    }
}
