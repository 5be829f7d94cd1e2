//! SIGTERM, SIGINT and SIGHUP as something to poll: signalfd.

use nix::errno::Errno;
use nix::sys::signal::{SigSet, Signal as Number};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};

/// What signals ask of the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signal {
    /// SIGTERM: stop.
    Terminate,
    /// SIGINT: stop, from a terminal.
    Interrupt,
    /// SIGHUP: read the configuration again.
    Hangup,
}

const NUMBERS: [(Number, Signal); 3] = [
    (Number::SIGTERM, Signal::Terminate),
    (Number::SIGINT, Signal::Interrupt),
    (Number::SIGHUP, Signal::Hangup),
];

/// The signals that arrived, one at a time.
#[derive(Debug)]
pub struct Signals(SignalFd);

impl Signals {
    /// Blocks the three signals for the calling thread, and the threads that it starts from now on, and collects them
    /// instead. To be called before any other thread starts: one in which they are not blocked would be killed.
    ///
    /// # Errors
    /// What `pthread_sigmask(3)` or `signalfd(2)` answers.
    pub fn new() -> io::Result<Self> {
        let mut set = SigSet::empty();
        for (number, _) in NUMBERS {
            set.add(number);
        }
        set.thread_block()?;
        Ok(Self(SignalFd::with_flags(&set, SfdFlags::SFD_NONBLOCK | SfdFlags::SFD_CLOEXEC)?))
    }

    /// The next signal, `None` if none is left.
    ///
    /// # Errors
    /// What `read(2)` answers other than that there is nothing to read.
    pub fn next(&self) -> io::Result<Option<Signal>> {
        match self.0.read_signal() {
            Ok(None) | Err(Errno::EAGAIN) => Ok(None),
            Ok(Some(info)) => {
                let found = NUMBERS.iter().find(|(number, _)| *number as u32 == info.ssi_signo);
                let (_, signal) =
                    found.unwrap_or_else(|| panic!("signal {} was not asked for", info.ssi_signo));
                Ok(Some(*signal))
            }
            Err(error) => Err(error.into()),
        }
    }
}

impl AsFd for Signals {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nix::sys::pthread::{pthread_kill, pthread_self};

    #[test]
    fn a_blocked_signal_is_read_instead_of_delivered() {
        let signals = Signals::new().expect("signalfd");
        assert_eq!(signals.next().expect("read"), None);
        pthread_kill(pthread_self(), Number::SIGHUP).expect("kill");
        pthread_kill(pthread_self(), Number::SIGTERM).expect("kill");
        let mut read = [signals.next().expect("read"), signals.next().expect("read")];
        read.sort_by_key(|signal| *signal != Some(Signal::Hangup));
        assert_eq!(read, [Some(Signal::Hangup), Some(Signal::Terminate)]);
        assert_eq!(signals.next().expect("read"), None);
    }
}
