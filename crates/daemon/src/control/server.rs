//! Listening for clients.

use super::connection::serve;
use super::daemon::Daemon;
use super::protocol::{Line, Refusal, Reply, SCHEMA};
use crate::Failure;
use crate::config::Control;
use meshpace_linux::Peer;
use std::fs;
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// The most clients served at the same time; further clients get an answer that says so.
const CLIENTS_MAX: usize = 32;
/// Of these, clients that may only look: they cannot keep out those that may change something.
const LOOKERS_MAX: usize = 24;

/// The listening socket and its threads.
#[derive(Debug)]
pub struct Server {
    path: PathBuf,
    stop: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

impl Server {
    /// Listens on the configured socket. What a daemon that has died left there is replaced.
    ///
    /// # Errors
    /// [`Failure::Operational`] if another daemon answers there, something else than a socket is in the way, or the
    /// system refuses.
    pub fn start(config: &Control, daemon: Arc<Daemon>) -> Result<Self, Failure> {
        let path = config.socket.clone();
        let listener = listen(config)?;
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let thread = std::thread::Builder::new()
            .name("control".into())
            .spawn(move || accept(&listener, &daemon, &stopped))
            .map_err(|why| Failure::operational("starting the control socket's thread", why))?;
        Ok(Self { path, stop, thread })
    }

    /// Ends listening and removes the socket. Clients that are being answered get their answers.
    pub fn stop(self) {
        self.stop.store(true, Ordering::Release);
        // One more connection ends the wait for the next.
        if UnixStream::connect(&self.path).is_ok() {
            self.thread
                .join()
                .unwrap_or_else(|_| eprintln!("meshpaced: the control socket's thread panicked"));
        }
        remove(&self.path);
    }
}

fn remove(path: &Path) {
    if let Err(why) = fs::remove_file(path) {
        if why.kind() != ErrorKind::NotFound {
            eprintln!("meshpaced: {}: {why}", path.display());
        }
    }
}

fn listen(config: &Control) -> Result<UnixListener, Failure> {
    let path = &config.socket;
    let failure = |why: &dyn std::fmt::Display| Failure::operational(path.display(), why);
    match fs::symlink_metadata(path) {
        Ok(there) if !there.file_type().is_socket() => {
            return Err(failure(&"is in the way and is no socket"));
        }
        Ok(_) if UnixStream::connect(path).is_ok() => {
            return Err(failure(&"another meshpaced answers here"));
        }
        _ => {}
    }
    bind(config).map_err(|why| failure(&why))
}

/// Binds in a directory that nobody else may enter and moves the socket to its place once its permissions are right, so
/// that at no time others may connect, and whatever was there is replaced at once.
fn bind(config: &Control) -> io::Result<UnixListener> {
    let path = &config.socket;
    let parent = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    fs::create_dir_all(parent)?;
    let private = parent.join(format!(".meshpaced-{}", std::process::id()));
    // One that a daemon with the same number, killed right here, has left.
    if let Err(why) = fs::remove_dir_all(&private) {
        if why.kind() != ErrorKind::NotFound {
            return Err(why);
        }
    }
    fs::DirBuilder::new().mode(0o700).create(&private)?;
    let bound = (|| {
        let socket = private.join("s");
        let listener = UnixListener::bind(&socket)?;
        let mut mode = 0o600;
        if let Some(group) = &config.group {
            std::os::unix::fs::chown(&socket, None, Some(group_number(group)?))
                .map_err(not_a_member(group))?;
            mode = 0o660;
        }
        fs::set_permissions(&socket, fs::Permissions::from_mode(mode))?;
        fs::rename(&socket, path)?;
        Ok(listener)
    })();
    fs::remove_dir_all(&private)?;
    bound
}

/// Only root may give a socket to a group that it is not in itself (chown(2)).
fn not_a_member(group: &str) -> impl Fn(io::Error) -> io::Error {
    move |why| match why.kind() {
        ErrorKind::PermissionDenied => io::Error::new(
            ErrorKind::PermissionDenied,
            format!(
                "control.group: {why}: the daemon's user is not in the group \"{group}\" (SupplementaryGroups= in the service)"
            ),
        ),
        _ => why,
    }
}

/// The number of a group, by name from the system's file of groups: looking further (LDAP and the like) is not for a
/// static binary.
fn group_number(group: &str) -> io::Result<u32> {
    if let Ok(number) = group.parse() {
        return Ok(number);
    }
    let groups = fs::read_to_string("/etc/group")?;
    // name:password:number:members (group(5)).
    let number = |line: &str| {
        let mut fields = line.split(':');
        (fields.next()? == group).then(|| fields.nth(1)?.parse().ok()).flatten()
    };
    groups.lines().find_map(number).ok_or_else(|| {
        io::Error::new(
            ErrorKind::NotFound,
            format!("control.group: there is no group \"{group}\" in /etc/group"),
        )
    })
}

fn accept(listener: &UnixListener, daemon: &Arc<Daemon>, stop: &AtomicBool) {
    let clients = Arc::new(AtomicUsize::new(0));
    for stream in listener.incoming() {
        if stop.load(Ordering::Acquire) {
            return;
        }
        match stream {
            Ok(stream) => admit(stream, daemon, &clients),
            // Too many open files, most likely: clients that end make room.
            Err(_) => pause(),
        }
    }
}

#[allow(
    clippy::disallowed_methods,
    reason = "accept(2) fails at once when descriptors are short: do not spin"
)]
fn pause() {
    std::thread::sleep(Duration::from_millis(100));
}

fn admit(mut stream: UnixStream, daemon: &Arc<Daemon>, clients: &Arc<AtomicUsize>) {
    let Ok(peer) = Peer::of(&stream) else { return };
    let most = if daemon.may_change(peer) { CLIENTS_MAX } else { LOOKERS_MAX };
    let daemon = Arc::clone(daemon);
    let served = ClientSlot::take(clients, most).and_then(|place| {
        let stream = stream.try_clone().ok()?;
        let client = move || {
            let _place = place;
            // A client that goes in the middle of its answer is none of the daemon's trouble.
            let _ = serve(&stream, |request| line(answer(&daemon, peer, request)));
        };
        std::thread::Builder::new().name("client".into()).spawn(client).ok()
    });
    if served.is_none() {
        let refusal =
            Refusal { mendable: false, message: format!("{most} clients are being served already") };
        let mut busy = line(Reply::Error(refusal));
        busy.push(b'\n');
        // Never waits: a few bytes fit into the fresh socket's buffer.
        let _ = stream.set_nonblocking(true).and_then(|()| stream.write_all(&busy));
    }
}

/// One of the places for clients; given back when dropped.
struct ClientSlot(Arc<AtomicUsize>);

impl ClientSlot {
    fn take(clients: &Arc<AtomicUsize>, most: usize) -> Option<Self> {
        let free = |n: usize| (n < most).then_some(n + 1);
        clients.fetch_update(Ordering::AcqRel, Ordering::Acquire, free).ok()?;
        Some(Self(Arc::clone(clients)))
    }
}

impl Drop for ClientSlot {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

fn answer(daemon: &Daemon, peer: Peer, request: Result<&[u8], &str>) -> Reply {
    let refuse = |message: String| Reply::Error(Refusal { mendable: true, message });
    match request {
        Err(message) => refuse(message.to_owned()),
        Ok(text) => match serde_json::from_slice(text) {
            Ok(request) => daemon.answer(request, peer),
            Err(why) => refuse(format!("not a request: {why}")),
        },
    }
}

fn line(answer: Reply) -> Vec<u8> {
    let line = Line { schema: SCHEMA, answer };
    serde_json::to_vec(&line).unwrap_or_else(|why| panic!("{line:?} has no JSON form: {why}"))
}

#[cfg(test)]
mod tests;
