//! Runs a stack on a TUN device: one thread moves packets, the application's threads use the stack between.

use crate::{
    Changed, Device, Impaired, Impairment, ListenerId, Secret, SocketId, Stack, StackConfig, StackCounters,
};
use meshpace_linux::{Deadline, Poller, Tun, Waker, monotonic_now};
use meshpace_units::{Instant, Span};
use std::collections::BTreeMap;
use std::io::{self, Read};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// Packets taken from the device, and given to it, before the other side of the loop has its turn.
const BATCH: usize = 64;
/// Room behind the MTU, to see that a packet is longer rather than to cut it.
const SLACK: usize = 4;

/// What a thread waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Interest {
    Read,
    Write,
}

/// Threads that wait for one connection or listener.
#[derive(Debug, Default)]
pub(crate) struct Waiters {
    condition: Arc<Condvar>,
    readers: usize,
    writers: usize,
}

/// What the threads share.
#[derive(Debug)]
pub(crate) struct State {
    pub(crate) stack: Stack,
    sockets: BTreeMap<SocketId, Waiters>,
    listeners: BTreeMap<ListenerId, Waiters>,
    /// The driver waits: a caller that gives it something to do has to wake it.
    asleep: bool,
    stop: bool,
    /// Why the driver has ended.
    failed: Option<String>,
    /// Threads that wait for all connections to end.
    finishing: usize,
    impaired: [Impaired; 2],
}

#[derive(Debug)]
pub(crate) struct Shared {
    state: Mutex<State>,
    finished: Condvar,
    waker: Waker,
}

/// The running driver; it ends with the last handle.
#[derive(Debug)]
pub(crate) struct Handle {
    pub(crate) shared: Arc<Shared>,
    device: String,
    thread: Option<JoinHandle<()>>,
}

/// An endpoint on a TUN device. Clones are handles of the same one; with the last of them, of its listeners and of its
/// streams it ends, and the device disappears. Connections that are open then are reset.
#[derive(Clone, Debug)]
pub struct Endpoint {
    pub(crate) handle: Arc<Handle>,
}

impl Endpoint {
    /// Makes the device and starts to answer for the addresses behind it.
    ///
    /// # Errors
    /// What the kernel says to making the device ([`Tun::open`]) and to starting a thread.
    pub fn open(device: &Device) -> io::Result<Self> {
        let mut secret = [0; 16];
        std::fs::File::open("/dev/urandom")?.read_exact(&mut secret)?;
        let tun = device.open()?;
        let addresses = device.addresses.iter().map(|prefix| prefix.address).collect();
        let stack =
            Stack::new(StackConfig { mtu: device.mtu, ..StackConfig::new(addresses, Secret(secret)) });
        let state = State {
            stack,
            sockets: BTreeMap::new(),
            listeners: BTreeMap::new(),
            asleep: false,
            stop: false,
            failed: None,
            finishing: 0,
            impaired: [Impaired::default(); 2],
        };
        let shared =
            Arc::new(Shared { state: Mutex::new(state), finished: Condvar::new(), waker: Waker::new()? });
        let name = tun.name().to_owned();
        let mut driver = Driver::new(tun, device, shared.clone())?;
        let thread = std::thread::Builder::new().name("endpoint".to_owned()).spawn(move || {
            let end = End(driver.shared.clone());
            let result = driver.run();
            end.report(result);
        })?;
        Ok(Self { handle: Arc::new(Handle { shared, device: name, thread: Some(thread) }) })
    }

    /// The device's name.
    #[must_use]
    pub fn device(&self) -> &str {
        &self.handle.device
    }

    /// Counters of the stack.
    #[must_use]
    pub fn counters(&self) -> StackCounters {
        *self.handle.shared.lock().stack.counters()
    }

    /// What the bad network did: to packets for the endpoint, to packets from it. `None` of either without one.
    #[must_use]
    pub fn impaired(&self) -> [Impaired; 2] {
        self.handle.shared.lock().impaired
    }

    /// Waits until no connection has anything more to say to its peer, or `timeout` has passed; true if all are done.
    /// Those in TIME-WAIT count as done.
    #[must_use]
    pub fn finish(&self, timeout: Duration) -> bool {
        let shared = &self.handle.shared;
        let end = after(timeout);
        let mut state = shared.lock();
        state.finishing += 1;
        while state.stack.unfinished() > 0 && state.failed.is_none() {
            let Some(left) = time_left(end) else { break };
            state = wait(&shared.finished, state, left);
        }
        state.finishing -= 1;
        state.stack.unfinished() == 0
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        state.stop = true;
        self.shared.kick(&mut state);
        drop(state);
        // The driver has no handle, so this is another thread.
        if self.thread.take().is_some_and(|thread| thread.join().is_err()) {
            debug_assert!(std::thread::panicking(), "the driver's panic was told when it happened");
        }
    }
}

/// The time that `timeout` from now is; `None`: never.
pub(crate) fn after(timeout: Duration) -> Option<Instant> {
    let nanos = u64::try_from(timeout.as_nanos()).unwrap_or(u64::MAX);
    monotonic_now().checked_add(Span::from_nanos(nanos))
}

/// How long until `end`; `None` if it has come. Without an end, waits are long but not for ever.
pub(crate) fn time_left(end: Option<Instant>) -> Option<Duration> {
    let Some(end) = end else { return Some(Duration::from_secs(3600)) };
    let left = end.saturating_since(monotonic_now());
    (!left.is_zero()).then_some(Duration::from_nanos(left.as_nanos()))
}

fn wait<'a>(condition: &Condvar, state: MutexGuard<'a, State>, left: Duration) -> MutexGuard<'a, State> {
    condition.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0
}

impl Shared {
    /// The state. A thread that panicked left it as whole as it was: all its changes are single calls to the stack.
    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets the driver look at the stack again.
    pub(crate) fn kick(&self, state: &mut State) {
        if std::mem::take(&mut state.asleep) {
            // Fails only without the descriptor, which lives as long as this.
            self.waker.wake().unwrap_or_else(|error| panic!("eventfd: {error}"));
        }
    }

    /// Repeats `attempt` whenever the connection has changed, until it gives something or `end` has come.
    pub(crate) fn until<T>(
        &self,
        id: SocketId,
        interest: Interest,
        end: Option<Instant>,
        attempt: impl FnMut(&mut Stack) -> Option<io::Result<T>>,
    ) -> io::Result<T> {
        self.wait_for(end, attempt, |state| {
            let waiters = state.sockets.entry(id).or_default();
            let count = if interest == Interest::Read { &mut waiters.readers } else { &mut waiters.writers };
            (waiters.condition.clone(), count)
        })
    }

    /// The same for a listener.
    pub(crate) fn until_listener<T>(
        &self,
        id: ListenerId,
        end: Option<Instant>,
        attempt: impl FnMut(&mut Stack) -> Option<io::Result<T>>,
    ) -> io::Result<T> {
        self.wait_for(end, attempt, |state| {
            let waiters = state.listeners.entry(id).or_default();
            (waiters.condition.clone(), &mut waiters.readers)
        })
    }

    fn wait_for<T>(
        &self,
        end: Option<Instant>,
        mut attempt: impl FnMut(&mut Stack) -> Option<io::Result<T>>,
        waiters: impl Fn(&mut State) -> (Arc<Condvar>, &mut usize),
    ) -> io::Result<T> {
        let mut state = self.lock();
        loop {
            if let Some(result) = attempt(&mut state.stack) {
                self.kick(&mut state);
                return result;
            }
            if let Some(why) = &state.failed {
                return Err(io::Error::other(format!("the endpoint has ended: {why}")));
            }
            let Some(left) = time_left(end) else { return Err(io::ErrorKind::TimedOut.into()) };
            let (condition, count) = waiters(&mut state);
            *count += 1;
            state = wait(&condition, state, left);
            *waiters(&mut state).1 -= 1;
        }
    }

    /// No caller waits for the connection any more.
    pub(crate) fn forget(&self, state: &mut State, id: SocketId) {
        state.sockets.remove(&id);
        self.kick(state);
    }
}

impl State {
    /// Wakes the threads that wait for what has changed.
    fn tell(&mut self) {
        while let Some(changed) = self.stack.poll_changed() {
            match changed {
                Changed::Listener(id) => {
                    if let Some(waiters) = self.listeners.get(&id).filter(|waiters| waiters.readers > 0) {
                        waiters.condition.notify_all();
                    }
                }
                Changed::Socket(id) => {
                    let Some(waiters) = self.sockets.get(&id) else { continue };
                    let Ok(info) = self.stack.info(id) else { continue };
                    let over = info.closed.is_some();
                    let reads = waiters.readers > 0 && (info.readable > 0 || info.finished || over);
                    // Not for every segment's room: a third of the buffer, as Linux does (sk_stream_is_writeable).
                    let room = info.writable >= info.unacknowledged / 2;
                    let writes = waiters.writers > 0 && ((info.connected && room) || over);
                    if reads || writes {
                        waiters.condition.notify_all();
                    }
                }
            }
        }
    }
}

/// Tells everybody when the driver ends, however it does.
struct End(Arc<Shared>);

impl End {
    fn report(&self, result: io::Result<()>) {
        if let Err(error) = result {
            self.0.lock().failed = Some(error.to_string());
        }
    }
}

impl Drop for End {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.failed.get_or_insert_with(|| "stopped".to_owned());
        state.sockets.values().for_each(|waiters| waiters.condition.notify_all());
        state.listeners.values().for_each(|waiters| waiters.condition.notify_all());
        self.0.finished.notify_all();
    }
}

/// The thread between device and stack.
struct Driver {
    tun: Tun,
    shared: Arc<Shared>,
    poller: Poller,
    deadline: Deadline,
    /// Towards the endpoint, from it.
    network: Option<[Impairment; 2]>,
    inbox: Batch,
    outbox: Batch,
}

/// Packets in buffers that are used again.
#[derive(Default)]
struct Batch {
    packets: Vec<Vec<u8>>,
    filled: usize,
}

impl Batch {
    fn next(&mut self) -> &mut Vec<u8> {
        if self.filled == self.packets.len() {
            self.packets.push(Vec::new());
        }
        &mut self.packets[self.filled]
    }

    fn iter(&self) -> impl Iterator<Item = &[u8]> {
        self.packets[..self.filled].iter().map(Vec::as_slice)
    }
}

impl Driver {
    fn new(tun: Tun, device: &Device, shared: Arc<Shared>) -> io::Result<Self> {
        let (poller, deadline) = (Poller::new()?, Deadline::new()?);
        poller.add(&tun, 0)?;
        poller.add(&deadline, 1)?;
        poller.add(&shared.waker, 2)?;
        let network =
            device.impairment.map(|config| [Impairment::new(config, "in"), Impairment::new(config, "out")]);
        Ok(Self { tun, shared, poller, deadline, network, inbox: Batch::default(), outbox: Batch::default() })
    }

    fn run(&mut self) -> io::Result<()> {
        loop {
            self.receive()?;
            let (due, stop) = self.work();
            self.send()?;
            if stop {
                return Ok(());
            }
            if self.inbox.filled == 0 && self.outbox.filled == 0 {
                self.sleep(due)?;
            }
        }
    }

    /// Takes packets from the device.
    fn receive(&mut self) -> io::Result<()> {
        let longest = self.shared.lock().stack.config().mtu as usize + SLACK;
        self.inbox.filled = 0;
        while self.inbox.filled < BATCH {
            let buffer = self.inbox.next();
            buffer.resize(longest, 0);
            let Some(length) = self.tun.receive(buffer)? else { break };
            buffer.truncate(length);
            self.inbox.filled += 1;
        }
        Ok(())
    }

    /// Lets the stack work: when it has to do so again, and whether to stop.
    fn work(&mut self) -> (Option<Instant>, bool) {
        let shared = self.shared.clone();
        let mut state = shared.lock();
        let now = monotonic_now();
        let mut due = None;
        match &mut self.network {
            None => self.inbox.iter().for_each(|packet| state.stack.handle_packet(now, packet)),
            Some([towards, _]) => {
                self.inbox.iter().for_each(|packet| towards.submit(now, packet));
                while let Some(packet) = towards.poll(now) {
                    state.stack.handle_packet(now, &packet);
                }
                due = towards.poll_timeout();
                state.impaired[0] = towards.counters();
            }
        }
        state.stack.handle_timeout(now);
        if state.stop {
            state.stack.abort_all(now);
        }
        self.outbox.filled = 0;
        while self.outbox.filled < BATCH && state.stack.poll_transmit(now, self.outbox.next()) {
            self.outbox.filled += 1;
        }
        state.tell();
        if state.finishing > 0 && state.stack.unfinished() == 0 {
            shared.finished.notify_all();
        }
        state.asleep = self.inbox.filled == 0 && self.outbox.filled == 0;
        due = Instant::earlier(due, state.stack.poll_timeout());
        (due, state.stop && self.outbox.filled < BATCH)
    }

    /// Gives the device what the stack has to send, and what the bad network lets out.
    fn send(&mut self) -> io::Result<()> {
        match &mut self.network {
            None => self.outbox.iter().try_for_each(|packet| give(&self.tun, packet)),
            Some([_, away]) => {
                let now = monotonic_now();
                self.outbox.iter().for_each(|packet| away.submit(now, packet));
                while let Some(packet) = away.poll(now) {
                    give(&self.tun, &packet)?;
                }
                self.shared.lock().impaired[1] = away.counters();
                Ok(())
            }
        }
    }

    fn sleep(&mut self, due: Option<Instant>) -> io::Result<()> {
        let held = self.network.as_ref().and_then(|[_, away]| away.poll_timeout());
        self.deadline.set(Instant::earlier(due, held))?;
        for token in self.poller.wait(None)? {
            match token {
                1 => drop(self.deadline.acknowledge()?),
                2 => drop(self.shared.waker.acknowledge()?),
                _ => {}
            }
        }
        Ok(())
    }
}

/// Gives the device a packet. A packet for which the device has no room, or that it refuses because it is down,
/// is lost as on any link.
fn give(tun: &Tun, packet: &[u8]) -> io::Result<()> {
    match tun.send(packet) {
        Err(error) if is_loss(&error) => Ok(()),
        result => result,
    }
}

fn is_loss(error: &io::Error) -> bool {
    // EIO: the device is down. EINVAL: the kernel does not take the packet (IPv6 may be switched off, or it was damaged
    // on purpose). ENOBUFS: no memory for it.
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::InvalidInput)
        || matches!(error.raw_os_error(), Some(5 | 105))
}
