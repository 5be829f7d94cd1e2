//! The sans-I/O stack: IP packets in, IP packets out.

mod info;
mod input;
mod output;
mod path;
mod socket;

pub use info::{Info, StackCounters};

use crate::identity::FourTuple;
use crate::{SocketOptions, StackConfig};
use meshpace_tcp::{Closing, Connection, Ports, Segment};
use meshpace_units::Instant;
use path::Paths;
use socket::Socket;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::net::{IpAddr, SocketAddr};

/// Resets to strangers that wait to be sent at most; more are not answered.
const RESETS_MAX: usize = 64;

/// A connection of a stack. Never given twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SocketId(u64);

/// A listener of a stack. Never given twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ListenerId(u64);

/// Something of which the application should look at the state again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Changed {
    /// A connection: open, readable, writable, finished or closed.
    Socket(SocketId),
    /// A listener has a connection to accept.
    Listener(ListenerId),
}

/// Why an operation on a connection was not done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SocketError {
    /// Not now: there is nothing to read, no room to write, or the handshake is not complete.
    #[error("nothing to read or no room to write for the moment")]
    WouldBlock,
    /// Nothing can be written after `shutdown_write`.
    #[error("the connection is shut down for writing")]
    ShutDown,
    /// The connection is gone.
    #[error("the connection is closed: {0:?}")]
    Closed(Closing),
    /// There is none of this number, or it was released.
    #[error("no such connection")]
    Unknown,
}

/// Why a listener could not be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BindError {
    /// Another listener has it.
    #[error("port {0} has a listener already")]
    InUse(u16),
    /// The address is none of the endpoint's.
    #[error("{0} is no address of this endpoint")]
    NotLocal(IpAddr),
}

/// Why a connection could not be begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConnectError {
    /// A connection between these two exists, perhaps in TIME-WAIT.
    #[error("{} is connected to {} already", .0.local, .0.remote)]
    InUse(FourTuple),
    /// The endpoint has no address of that version.
    #[error("the endpoint has no address to reach {0} from")]
    NoAddress(IpAddr),
    /// All ephemeral ports are taken, or there are as many connections as are allowed.
    #[error("no port or no room for another connection")]
    Exhausted,
}

#[derive(Debug)]
struct Listener {
    at: (u16, Option<IpAddr>),
    options: SocketOptions,
    backlog: usize,
    /// Handshake not complete, oldest first.
    half_open: VecDeque<SocketId>,
    /// To be accepted, oldest first.
    ready: VecDeque<SocketId>,
}

/// Many TCP connections over IPv4 and IPv6, without a clock or a device.
///
/// The rule of use: after every call with a packet, a timeout or data, call [`Stack::poll_transmit`] until `None`, then
/// [`Stack::poll_changed`] until `None`, then read [`Stack::poll_timeout`]. Early and repeated calls are harmless.
#[derive(Debug)]
pub struct Stack {
    config: StackConfig,
    sockets: BTreeMap<SocketId, Socket>,
    tuples: BTreeMap<FourTuple, SocketId>,
    listeners: BTreeMap<ListenerId, Listener>,
    ports: BTreeMap<(u16, Option<IpAddr>), ListenerId>,
    timers: BTreeSet<(Instant, SocketId)>,
    /// May have something to send, in turn.
    ready: VecDeque<SocketId>,
    changed: VecDeque<Changed>,
    /// Answers to segments without a connection.
    resets: VecDeque<(IpAddr, IpAddr, Segment)>,
    paths: Paths,
    counters: StackCounters,
    given: u64,
}

impl Stack {
    /// A stack without connections.
    #[must_use]
    pub fn new(config: StackConfig) -> Self {
        Self {
            config,
            sockets: BTreeMap::new(),
            tuples: BTreeMap::new(),
            listeners: BTreeMap::new(),
            ports: BTreeMap::new(),
            timers: BTreeSet::new(),
            ready: VecDeque::new(),
            changed: VecDeque::new(),
            resets: VecDeque::new(),
            paths: Paths::default(),
            counters: StackCounters::default(),
            given: 0,
        }
    }

    /// What the stack is made of.
    #[must_use]
    pub const fn config(&self) -> &StackConfig {
        &self.config
    }

    /// What there is to count.
    #[must_use]
    pub const fn counters(&self) -> &StackCounters {
        &self.counters
    }

    /// Waits for connections to `port`, at one address or all. Up to `backlog` of them (at least one) wait to be
    /// accepted.
    ///
    /// # Errors
    /// [`BindError`] if another listener has the port, or the address is not the endpoint's.
    pub fn listen(
        &mut self,
        address: Option<IpAddr>,
        port: u16,
        backlog: usize,
        options: SocketOptions,
    ) -> Result<ListenerId, BindError> {
        if let Some(address) = address.filter(|address| !self.config.addresses.contains(address)) {
            return Err(BindError::NotLocal(address));
        }
        let at = (port, address);
        if self.ports.contains_key(&at) {
            return Err(BindError::InUse(port));
        }
        let id = ListenerId(self.next_number());
        let backlog = backlog.max(1);
        let listener = Listener { at, options, backlog, half_open: VecDeque::new(), ready: VecDeque::new() };
        self.listeners.insert(id, listener);
        self.ports.insert(at, id);
        Ok(id)
    }

    /// The oldest connection that waits to be accepted; the caller owns it from then on and has to
    /// [`release`](Self::release) it.
    pub fn accept(&mut self, listener: ListenerId) -> Option<SocketId> {
        let id = self.listeners.get_mut(&listener)?.ready.pop_front()?;
        self.sockets.get_mut(&id)?.listener = None;
        Some(id)
    }

    /// Stops listening. Connections that were not accepted are reset.
    pub fn unlisten(&mut self, now: Instant, id: ListenerId) {
        let Some(listener) = self.listeners.remove(&id) else { return };
        self.ports.remove(&listener.at);
        for socket in listener.half_open.into_iter().chain(listener.ready) {
            self.abort_and_forget(now, socket);
        }
    }

    /// Begins a connection from `local` (by default the endpoint's first address of that version, by default an
    /// ephemeral port).
    ///
    /// # Errors
    /// [`ConnectError`] if there is no address or port for it.
    pub fn connect(
        &mut self,
        now: Instant,
        remote: SocketAddr,
        local_port: Option<u16>,
        options: &SocketOptions,
    ) -> Result<SocketId, ConnectError> {
        let version = |address: &&IpAddr| address.is_ipv6() == remote.is_ipv6();
        let local =
            *self.config.addresses.iter().find(version).ok_or(ConnectError::NoAddress(remote.ip()))?;
        if self.sockets.len() >= self.config.connections {
            return Err(ConnectError::Exhausted);
        }
        let tuple = |port| FourTuple { local: SocketAddr::new(local, port), remote };
        let tuple = match local_port.map(tuple) {
            Some(tuple) if self.tuples.contains_key(&tuple) => return Err(ConnectError::InUse(tuple)),
            Some(tuple) => tuple,
            None => {
                let mut ports = self.config.secret.ephemeral_ports(remote, self.given);
                let free = ports.find(|&port| {
                    !self.tuples.contains_key(&tuple(port)) && !self.ports.contains_key(&(port, None))
                });
                tuple(free.ok_or(ConnectError::Exhausted)?)
            }
        };
        let options = self.on_path(options.clone(), &tuple);
        let ports = Ports { local: tuple.local.port(), remote: remote.port() };
        let iss = self.config.secret.initial_sequence(&tuple, now);
        let connection = Connection::connect(options.tcp.clone(), ports, iss, now);
        Ok(self.adopt(Socket::new(connection, tuple, iss, &options, None)))
    }

    /// Takes what the path to the peer decides into a connection's options.
    fn on_path(&self, mut options: SocketOptions, tuple: &FourTuple) -> SocketOptions {
        options.tcp.mss = path::mss(self.config.mtu, tuple.local.is_ipv6());
        options.tcp.timestamp_offset = self.config.secret.timestamp_offset(tuple);
        options
    }

    fn adopt(&mut self, socket: Socket) -> SocketId {
        let id = SocketId(self.next_number());
        self.tuples.insert(socket.tuple, id);
        self.sockets.insert(id, socket);
        self.touch(id);
        id
    }

    fn next_number(&mut self) -> u64 {
        self.given += 1;
        self.given
    }

    /// Appends to what is to be sent and says how much of `data` fitted.
    ///
    /// # Errors
    /// [`SocketError`]: no room, shut down, or gone.
    pub fn write(&mut self, id: SocketId, data: &[u8]) -> Result<usize, SocketError> {
        let written = self.socket(id)?.write(data)?;
        self.touch(id);
        Ok(written)
    }

    /// Takes received bytes and says how many; none once the peer has finished.
    ///
    /// # Errors
    /// [`SocketError`]: nothing there yet, or gone.
    pub fn read(&mut self, id: SocketId, out: &mut [u8]) -> Result<usize, SocketError> {
        let read = self.socket(id)?.read(out)?;
        if read > 0 {
            self.touch(id); // the window may have opened
        }
        Ok(read)
    }

    /// No more will be written: a FIN follows what was.
    ///
    /// # Errors
    /// [`SocketError::Closed`] if the connection is gone.
    pub fn shutdown_write(&mut self, id: SocketId) -> Result<(), SocketError> {
        let socket = self.socket(id)?;
        if let Some(why) = socket.closed {
            return Err(SocketError::Closed(why));
        }
        socket.shutdown_write();
        self.touch(id);
        Ok(())
    }

    /// No more will be read: what is there and what still arrives is thrown away.
    ///
    /// # Errors
    /// [`SocketError::Unknown`].
    pub fn shutdown_read(&mut self, id: SocketId) -> Result<(), SocketError> {
        self.socket(id)?.shutdown_read();
        self.touch(id);
        Ok(())
    }

    /// Resets the connection. It stays known until it is released.
    pub fn abort(&mut self, now: Instant, id: SocketId) {
        if let Some(socket) = self.sockets.get_mut(&id) {
            socket.connection.abort();
            self.settle(now, id);
        }
    }

    /// Resets all connections and stops listening.
    pub fn abort_all(&mut self, now: Instant) {
        let listeners: Vec<ListenerId> = self.listeners.keys().copied().collect();
        listeners.into_iter().for_each(|listener| self.unlisten(now, listener));
        let sockets: Vec<SocketId> = self.sockets.keys().copied().collect();
        sockets.into_iter().for_each(|socket| self.abort(now, socket));
    }

    /// The application is done with the connection: it is closed in order, in the background; reset if there is
    /// anything that was not read (RFC 2525, section 2.17) or that still arrives (RFC 9293, section 3.6.1).
    pub fn release(&mut self, now: Instant, id: SocketId) {
        if let Some(socket) = self.sockets.get_mut(&id) {
            socket.release(now);
            self.settle(now, id);
        }
    }

    fn abort_and_forget(&mut self, now: Instant, id: SocketId) {
        if let Some(socket) = self.sockets.get_mut(&id) {
            socket.orphaned = Some(socket::Orphan::default());
            socket.connection.abort();
            self.settle(now, id);
        }
    }

    /// What there is to know about a connection.
    ///
    /// # Errors
    /// [`SocketError::Unknown`].
    pub fn info(&self, id: SocketId) -> Result<Info, SocketError> {
        self.sockets.get(&id).map(Info::of).ok_or(SocketError::Unknown)
    }

    /// Connections that still have something to say to their peers: all but those that are gone or in TIME-WAIT.
    #[must_use]
    pub fn unfinished(&self) -> usize {
        let done = |socket: &&Socket| {
            matches!(socket.connection.state(), meshpace_tcp::State::Closed | meshpace_tcp::State::TimeWait)
        };
        self.sockets.len() - self.sockets.values().filter(done).count()
    }

    /// Connections of any state, also those in TIME-WAIT and those gone but not released.
    #[must_use]
    pub fn len(&self) -> usize {
        self.sockets.len()
    }

    /// True if there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.sockets.is_empty()
    }

    /// The next thing of which the application should look at the state again; call until `None`.
    pub fn poll_changed(&mut self) -> Option<Changed> {
        let changed = self.changed.pop_front()?;
        if let Changed::Socket(id) = changed {
            if let Some(socket) = self.sockets.get_mut(&id) {
                socket.announced = false;
            }
        }
        Some(changed)
    }

    /// When [`Stack::handle_timeout`] has something to do next; `None` if never.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Instant> {
        self.timers.first().map(|(at, _)| *at)
    }

    fn socket(&mut self, id: SocketId) -> Result<&mut Socket, SocketError> {
        self.sockets.get_mut(&id).ok_or(SocketError::Unknown)
    }

    /// The connection may have something to send.
    fn touch(&mut self, id: SocketId) {
        if let Some(socket) = self.sockets.get_mut(&id) {
            if !std::mem::replace(&mut socket.queued, true) {
                self.ready.push_back(id);
            }
        }
    }

    /// The application should look at the connection again.
    fn announce(&mut self, id: SocketId) {
        if let Some(socket) = self.sockets.get_mut(&id) {
            if !std::mem::replace(&mut socket.announced, true) {
                self.changed.push_back(Changed::Socket(id));
            }
        }
    }

    /// Takes note of what a connection has become.
    fn settle(&mut self, now: Instant, id: SocketId) {
        self.touch(id);
        let Some(socket) = self.sockets.get_mut(&id) else { return };
        let news = socket.poll_events();
        if news.connected {
            if let Some(mtu) = self.paths.mtu(now, socket.tuple.remote.ip()) {
                socket.set_path_mtu(mtu);
            }
            self.on_connected(id);
        }
        if news.closed {
            self.on_closed(id);
        }
        if news.any {
            self.announce(id);
        }
    }

    fn on_connected(&mut self, id: SocketId) {
        let Some(listening) = self.sockets.get(&id).and_then(|socket| socket.listener) else { return };
        let Some(listener) = self.listeners.get_mut(&listening) else { return };
        listener.half_open.retain(|half_open| *half_open != id);
        listener.ready.push_back(id);
        self.counters.accepted += 1;
        self.changed.push_back(Changed::Listener(listening));
    }

    /// A connection is gone: its addresses and ports are free.
    fn on_closed(&mut self, id: SocketId) {
        let Some(socket) = self.sockets.get_mut(&id) else { return };
        socket.drop_buffers();
        if self.tuples.get(&socket.tuple) == Some(&id) {
            self.tuples.remove(&socket.tuple);
        }
        if let Some(at) = socket.timer.take() {
            self.timers.remove(&(at, id));
        }
        let Some(listening) = socket.listener else { return };
        // It was not accepted, so no application will release it.
        if let Some(listener) = self.listeners.get_mut(&listening) {
            listener.half_open.retain(|half_open| *half_open != id);
            listener.ready.retain(|ready| *ready != id);
        }
        socket.orphaned = Some(socket::Orphan::default());
    }
}
