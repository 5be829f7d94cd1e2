//! Waiting for several descriptors: epoll, level-triggered.

use meshpace_units::Span;
use nix::errno::Errno;
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};
use std::io;
use std::os::fd::AsFd;

/// How many ready descriptors one wait reports at most; more are reported by the next one.
const BATCH: usize = 16;

/// A set of descriptors to wait for, each with a token that its owner chose.
#[derive(Debug)]
pub struct Poller {
    epoll: Epoll,
    events: [EpollEvent; BATCH],
}

impl Poller {
    /// An empty set.
    ///
    /// # Errors
    /// What `epoll_create1(2)` answers: no descriptors or memory left.
    pub fn new() -> io::Result<Self> {
        let epoll = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?;
        Ok(Self { epoll, events: [EpollEvent::empty(); BATCH] })
    }

    /// Reports `token` whenever `descriptor` is readable (or in error), until it is removed or closed.
    ///
    /// # Errors
    /// What `epoll_ctl(2)` answers: for example `EEXIST` for a descriptor that is in the set.
    pub fn add(&self, descriptor: &impl AsFd, token: u64) -> io::Result<()> {
        Ok(self.epoll.add(descriptor, EpollEvent::new(EpollFlags::EPOLLIN, token))?)
    }

    /// Stops reporting `descriptor`.
    ///
    /// # Errors
    /// `ENOENT` for a descriptor that is not in the set.
    pub fn remove(&self, descriptor: &impl AsFd) -> io::Result<()> {
        Ok(self.epoll.delete(descriptor)?)
    }

    /// Waits until a descriptor is ready or `timeout` has passed (`None`: for ever) and gives the tokens of those that
    /// are ready: none after the timeout or a signal.
    ///
    /// The timeout is rounded up to whole milliseconds, epoll's unit: it is for housekeeping. A [`crate::Deadline`] in the
    /// set is precise.
    ///
    /// # Errors
    /// What `epoll_wait(2)` answers other than `EINTR`.
    pub fn wait(&mut self, timeout: Option<Span>) -> io::Result<impl Iterator<Item = u64> + use<'_>> {
        let timeout = match timeout {
            None => EpollTimeout::NONE,
            // Over 24 days: the next wait goes on.
            Some(span) => {
                EpollTimeout::try_from(span.as_nanos().div_ceil(1_000_000).min(i32::MAX as u64) as i32)
                    .expect("not negative")
            }
        };
        let ready = match self.epoll.wait(&mut self.events, timeout) {
            Ok(ready) => ready,
            Err(Errno::EINTR) => 0,
            Err(error) => return Err(error.into()),
        };
        Ok(self.events[..ready].iter().map(EpollEvent::data))
    }
}
