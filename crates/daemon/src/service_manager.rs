//! Messages to the service manager by the protocol of sd_notify(3): datagrams to the socket that `NOTIFY_SOCKET`
//! names.

use meshpace_units::Span;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::sync::Arc;

/// The service manager that started this process. Clones speak to the same one.
#[derive(Clone, Debug)]
pub struct ServiceManager {
    socket: Arc<UnixDatagram>,
    address: SocketAddr,
    watchdog: Option<Span>,
}

impl ServiceManager {
    /// The one that the environment names; `None` without one.
    ///
    /// # Errors
    /// If what it names is no address of a socket.
    pub fn of_environment() -> io::Result<Option<Self>> {
        let known = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        let Some(name) = known("NOTIFY_SOCKET") else { return Ok(None) };
        let watchdog = watchdog(known("WATCHDOG_USEC"), known("WATCHDOG_PID"), std::process::id());
        Self::at(&name, watchdog).map(Some)
    }

    /// The one that listens at an address as sd_notify(3) writes it: a path, or `@` and an abstract name.
    fn at(name: &OsStr, watchdog: Option<Span>) -> io::Result<Self> {
        let address = match name.as_bytes().strip_prefix(b"@") {
            Some(name) => SocketAddr::from_abstract_name(name)?,
            None => SocketAddr::from_pathname(name)?,
        };
        let socket = UnixDatagram::unbound()?;
        socket.set_nonblocking(true)?;
        Ok(Self { socket: Arc::new(socket), address, watchdog })
    }

    /// How long it waits for a sign of life before it ends this process; `None` if it does not watch.
    #[must_use]
    pub const fn watchdog(&self) -> Option<Span> {
        self.watchdog
    }

    /// The service does its work.
    ///
    /// # Errors
    /// The kernel's answer; `WouldBlock` if the manager does not listen.
    pub fn ready(&self) -> io::Result<()> {
        self.tell("READY=1")
    }

    /// It ends in good order.
    ///
    /// # Errors
    /// As [`ServiceManager::ready`].
    pub fn stopping(&self) -> io::Result<()> {
        self.tell("STOPPING=1")
    }

    /// It lives.
    ///
    /// # Errors
    /// As [`ServiceManager::ready`].
    pub fn alive(&self) -> io::Result<()> {
        self.tell("WATCHDOG=1")
    }

    fn tell(&self, state: &str) -> io::Result<()> {
        self.socket.send_to_addr(state.as_bytes(), &self.address).map(drop)
    }
}

/// As sd_watchdog_enabled(3) reads it.
fn watchdog(microseconds: Option<OsString>, meant: Option<OsString>, process: u32) -> Option<Span> {
    let number = |value: OsString| value.to_str()?.parse::<u64>().ok();
    if meant.is_some_and(|meant| number(meant) != Some(u64::from(process))) {
        return None;
    }
    microseconds.and_then(number).filter(|&us| us > 0).map(Span::from_micros)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manager_at_a_path_or_an_abstract_name_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("notify");
        let name = format!("meshpaced-notify-{}", std::process::id());
        let hidden = SocketAddr::from_abstract_name(&name).unwrap();
        for (listener, address) in [
            (UnixDatagram::bind(&path).unwrap(), path.into_os_string()),
            (UnixDatagram::bind_addr(&hidden).unwrap(), format!("@{name}").into()),
        ] {
            let manager = ServiceManager::at(&address, None).unwrap();
            manager.ready().unwrap();
            manager.alive().unwrap();
            manager.stopping().unwrap();
            let mut said = [0; 100];
            for expected in ["READY=1", "WATCHDOG=1", "STOPPING=1"] {
                let length = listener.recv(&mut said).unwrap();
                assert_eq!(&said[..length], expected.as_bytes());
            }
        }
    }

    #[test]
    fn a_manager_that_is_gone_or_does_not_listen_keeps_nobody_waiting() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("notify");
        let listener = UnixDatagram::bind(&path).unwrap();
        let manager = ServiceManager::at(path.as_os_str(), None).unwrap();
        let full = (0..100_000).find_map(|_| manager.alive().err()).expect("a socket's buffer has an end");
        assert_eq!(full.kind(), io::ErrorKind::WouldBlock);
        drop(listener);
        assert!(manager.alive().is_err());
    }

    #[test]
    fn the_watchdog_is_read_as_sd_watchdog_enabled_does() {
        let of = |us: Option<&str>, pid: Option<&str>| watchdog(us.map(Into::into), pid.map(Into::into), 7);
        assert_eq!(of(Some("10000000"), None), Some(Span::from_secs(10)));
        assert_eq!(of(Some("10000000"), Some("7")), Some(Span::from_secs(10)));
        assert_eq!(of(Some("10000000"), Some("8")), None, "somebody else's");
        assert_eq!((of(None, Some("7")), of(Some("0"), None), of(Some("x"), None)), (None, None, None));
    }
}
