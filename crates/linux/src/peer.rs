//! The user at the other end of a Unix socket.

use nix::sys::socket::{getsockopt, sockopt::PeerCredentials};
use nix::unistd::Uid;
use std::io;
use std::os::unix::net::UnixStream;

/// The process that connected, as the kernel knew it at that moment (`SO_PEERCRED`, unix(7)).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Peer {
    /// Its effective user.
    pub uid: u32,
    /// Its number, in this process's namespace of processes; 0 if it is in another.
    pub pid: u32,
}

impl Peer {
    /// The user that connected to this end of `stream`.
    ///
    /// # Errors
    /// If the kernel does not tell.
    pub fn of(stream: &UnixStream) -> io::Result<Self> {
        let credentials = getsockopt(stream, PeerCredentials)?;
        Ok(Self { uid: credentials.uid(), pid: u32::try_from(credentials.pid()).unwrap_or(0) })
    }
}

/// The user that this process acts as.
#[must_use]
pub fn effective_user() -> u32 {
    Uid::effective().as_raw()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ends_are_this_process() {
        let (one, other) = UnixStream::pair().unwrap();
        let this = Peer { uid: effective_user(), pid: std::process::id() };
        assert_eq!((Peer::of(&one).unwrap(), Peer::of(&other).unwrap()), (this, this));
    }
}
