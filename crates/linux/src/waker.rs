//! Waking a thread that waits in a [`crate::Poller`]: eventfd.

use nix::errno::Errno;
use nix::sys::eventfd::{EfdFlags, EventFd};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;

/// Wakes the thread that polls it. Clones wake the same thread.
#[derive(Debug, Clone)]
pub struct Waker(Arc<EventFd>);

impl Waker {
    /// A waker that was not used yet.
    ///
    /// # Errors
    /// What `eventfd(2)` answers: no descriptors or memory left.
    pub fn new() -> io::Result<Self> {
        let flags = EfdFlags::EFD_NONBLOCK | EfdFlags::EFD_CLOEXEC;
        Ok(Self(Arc::new(EventFd::from_flags(flags)?)))
    }

    /// Makes the descriptor readable. Any number of calls before the next [`Waker::acknowledge`] count as one.
    ///
    /// # Errors
    /// What `write(2)` answers, except that the counter is full: then the thread has been woken 2^64 times.
    pub fn wake(&self) -> io::Result<()> {
        match self.0.write(1) {
            Ok(_) | Err(Errno::EAGAIN) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Takes note of the wake-ups so far, after which the descriptor is no longer readable. True if there was one.
    ///
    /// # Errors
    /// What `read(2)` answers other than that there is nothing to read.
    pub fn acknowledge(&self) -> io::Result<bool> {
        match self.0.read() {
            Ok(_) => Ok(true),
            Err(Errno::EAGAIN) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }
}

impl AsFd for Waker {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Poller;
    use meshpace_units::Span;

    #[test]
    fn another_thread_ends_a_wait() {
        let mut poller = Poller::new().expect("epoll");
        let waker = Waker::new().expect("eventfd");
        poller.add(&waker, 3).expect("epoll_ctl");
        let other = waker.clone();
        let thread = std::thread::spawn(move || (0..3).try_for_each(|_| other.wake()));
        assert_eq!(poller.wait(None).expect("epoll_wait").collect::<Vec<_>>(), [3]);
        thread.join().expect("no panic").expect("write");
        assert!(waker.acknowledge().expect("read"));
        assert!(!waker.acknowledge().expect("read"), "three calls are one wake-up");
        assert_eq!(poller.wait(Some(Span::ZERO)).expect("epoll_wait").count(), 0);
    }
}
