//! Blocking sockets of an endpoint, as in `std::net`.

use crate::driver::{Handle, Interest, after};
use crate::{BindError, ConnectError, Endpoint, Info, ListenerId, SocketError, SocketId, SocketOptions};
use meshpace_linux::monotonic_now;
use meshpace_tcp::Closing;
use meshpace_units::Instant;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{IpAddr, Shutdown, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

impl Endpoint {
    /// Waits for connections to `port`, at one of the endpoint's addresses or at all of them. Up to `backlog` wait to be
    /// accepted.
    ///
    /// # Errors
    /// `AddrInUse`, `AddrNotAvailable`.
    pub fn bind(
        &self,
        address: Option<IpAddr>,
        port: u16,
        backlog: usize,
        options: &SocketOptions,
    ) -> io::Result<Listener> {
        let listened = self.handle.shared.lock().stack.listen(address, port, backlog, options.clone());
        let id = listened.map_err(|error| {
            let kind = match error {
                BindError::InUse(_) => ErrorKind::AddrInUse,
                BindError::NotLocal(_) => ErrorKind::AddrNotAvailable,
            };
            io::Error::new(kind, error)
        })?;
        Ok(Listener { handle: self.handle.clone(), id })
    }

    /// Opens a connection and waits until it is open.
    ///
    /// # Errors
    /// `ConnectionRefused`, `ConnectionReset`, `TimedOut`; `AddrNotAvailable` without an address of that version.
    pub fn connect(&self, remote: SocketAddr, options: &SocketOptions) -> io::Result<Stream> {
        self.connect_from(None, remote, None, options)
    }

    /// The same from a local port of choice, with an end to the patience.
    ///
    /// # Errors
    /// As [`Endpoint::connect`]; `AddrInUse` if the port has a connection to `remote`.
    pub fn connect_from(
        &self,
        local_port: Option<u16>,
        remote: SocketAddr,
        timeout: Option<Duration>,
        options: &SocketOptions,
    ) -> io::Result<Stream> {
        let shared = &self.handle.shared;
        let mut state = shared.lock();
        let id = state.stack.connect(monotonic_now(), remote, local_port, options).map_err(|error| {
            let kind = match error {
                ConnectError::InUse(_) => ErrorKind::AddrInUse,
                ConnectError::NoAddress(_) | ConnectError::Exhausted => ErrorKind::AddrNotAvailable,
            };
            io::Error::new(kind, error)
        })?;
        shared.kick(&mut state);
        drop(state);
        let stream = Stream::new(self.handle.clone(), id);
        shared.until(id, Interest::Write, timeout.and_then(after), |stack| match stack.info(id) {
            Ok(Info { connected: true, .. }) => Some(Ok(())),
            Ok(Info { closed: Some(why), .. }) => Some(Err(error(SocketError::Closed(why)))),
            Ok(_) => None,
            Err(unknown) => Some(Err(error(unknown))),
        })?;
        Ok(stream)
    }
}

/// Waits for connections. Those that were not accepted are reset when it is dropped.
#[derive(Debug)]
pub struct Listener {
    handle: Arc<Handle>,
    id: ListenerId,
}

impl Listener {
    /// The next connection and where it comes from; waits for one.
    ///
    /// # Errors
    /// If the endpoint has ended.
    pub fn accept(&self) -> io::Result<(Stream, SocketAddr)> {
        self.accept_within(None)
    }

    /// The same with an end to the patience.
    ///
    /// # Errors
    /// `TimedOut`; if the endpoint has ended.
    pub fn accept_within(&self, timeout: Option<Duration>) -> io::Result<(Stream, SocketAddr)> {
        self.handle.shared.until_listener(self.id, timeout.and_then(after), |stack| {
            let id = stack.accept(self.id)?;
            let info = stack.info(id).map_err(error);
            Some(info.map(|info| (Stream::new(self.handle.clone(), id), info.tuple.remote)))
        })
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        let mut state = self.handle.shared.lock();
        state.stack.unlisten(monotonic_now(), self.id);
        self.handle.shared.kick(&mut state);
    }
}

/// A connection. Clones are handles of the same one; with the last it is closed in order, or reset if there is anything
/// that was not read.
#[derive(Clone, Debug)]
pub struct Stream {
    open: Arc<Open>,
}

#[derive(Debug)]
struct Open {
    handle: Arc<Handle>,
    id: SocketId,
    timeouts: Mutex<Timeouts>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Timeouts {
    read: Option<Duration>,
    write: Option<Duration>,
}

impl Stream {
    fn new(handle: Arc<Handle>, id: SocketId) -> Self {
        Self { open: Arc::new(Open { handle, id, timeouts: Mutex::default() }) }
    }

    /// What there is to know about the connection.
    ///
    /// # Panics
    /// Never: the connection is known as long as there is a handle.
    #[must_use]
    pub fn info(&self) -> Info {
        let known = self.open.handle.shared.lock().stack.info(self.open.id);
        known.unwrap_or_else(|error| panic!("{:?}: {error}", self.open.id))
    }

    /// Where the peer is.
    #[must_use]
    pub fn peer(&self) -> SocketAddr {
        self.info().tuple.remote
    }

    /// Ends one direction, or both: a FIN follows what was written; what arrives is thrown away.
    ///
    /// # Errors
    /// If the connection is gone.
    pub fn shutdown(&self, how: Shutdown) -> io::Result<()> {
        let Open { handle, id, .. } = &*self.open;
        let mut state = handle.shared.lock();
        if matches!(how, Shutdown::Read | Shutdown::Both) {
            state.stack.shutdown_read(*id).map_err(error)?;
        }
        if matches!(how, Shutdown::Write | Shutdown::Both) {
            state.stack.shutdown_write(*id).map_err(error)?;
        }
        handle.shared.kick(&mut state);
        Ok(())
    }

    /// Resets the connection.
    pub fn abort(&self) {
        let Open { handle, id, .. } = &*self.open;
        let mut state = handle.shared.lock();
        state.stack.abort(monotonic_now(), *id);
        handle.shared.kick(&mut state);
    }

    /// Waits until the peer has acknowledged everything written, the FIN included if there was a shutdown.
    ///
    /// # Errors
    /// If the connection is gone before, or `timeout` has passed.
    pub fn drained(&self, timeout: Option<Duration>) -> io::Result<()> {
        let id = self.open.id;
        self.open.handle.shared.until(id, Interest::Write, timeout.and_then(after), |stack| {
            match stack.info(id) {
                Ok(Info { closed: Some(Closing::Finished), .. }) => Some(Ok(())),
                Ok(Info { closed: Some(why), .. }) => Some(Err(error(SocketError::Closed(why)))),
                Ok(info) => info.all_acknowledged().then_some(Ok(())),
                Err(unknown) => Some(Err(error(unknown))),
            }
        })
    }

    /// How long a read may wait; `None`: for ever.
    pub fn set_read_timeout(&self, timeout: Option<Duration>) {
        self.open.timeouts.lock().unwrap_or_else(PoisonError::into_inner).read = timeout;
    }

    /// How long a write may wait; `None`: for ever.
    pub fn set_write_timeout(&self, timeout: Option<Duration>) {
        self.open.timeouts.lock().unwrap_or_else(PoisonError::into_inner).write = timeout;
    }

    fn end(&self, timeout: impl Fn(&Timeouts) -> Option<Duration>) -> Option<Instant> {
        timeout(&self.open.timeouts.lock().unwrap_or_else(PoisonError::into_inner)).and_then(after)
    }

    fn receive(&self, out: &mut [u8]) -> io::Result<usize> {
        let id = self.open.id;
        self.open.handle.shared.until(id, Interest::Read, self.end(|timeouts| timeouts.read), |stack| {
            attempted(stack.read(id, out))
        })
    }

    fn send(&self, data: &[u8]) -> io::Result<usize> {
        let id = self.open.id;
        self.open.handle.shared.until(id, Interest::Write, self.end(|timeouts| timeouts.write), |stack| {
            attempted(stack.write(id, data))
        })
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        let mut state = self.handle.shared.lock();
        state.stack.release(monotonic_now(), self.id);
        self.handle.shared.forget(&mut state, self.id);
    }
}

impl Read for &Stream {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        self.receive(out)
    }
}

impl Write for &Stream {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        self.send(data)
    }

    /// Nothing waits for a flush: TCP sends when it may.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Read for Stream {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        self.receive(out)
    }
}

impl Write for Stream {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        self.send(data)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn attempted<T>(result: Result<T, SocketError>) -> Option<io::Result<T>> {
    match result {
        Err(SocketError::WouldBlock) => None,
        result => Some(result.map_err(error)),
    }
}

/// As the kernel's sockets tell it.
fn error(error: SocketError) -> io::Error {
    match error {
        SocketError::WouldBlock => ErrorKind::WouldBlock.into(),
        SocketError::ShutDown => io::Error::new(ErrorKind::BrokenPipe, error),
        SocketError::Unknown => io::Error::new(ErrorKind::NotConnected, error),
        SocketError::Closed(why) => match why {
            Closing::Finished => ErrorKind::BrokenPipe.into(),
            Closing::Refused => ErrorKind::ConnectionRefused.into(),
            Closing::Reset => ErrorKind::ConnectionReset.into(),
            Closing::TimedOut => ErrorKind::TimedOut.into(),
            Closing::Aborted => ErrorKind::ConnectionAborted.into(),
        },
    }
}
