//! A Unix socket that answers every connection with one JSON line: the status of commands that have no control socket.

use crate::Failure;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::io::{ErrorKind, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long a client may take to read its answer.
const PATIENCE: Duration = Duration::from_secs(5);
/// Clients answered at a time.
const CLIENTS: usize = 4;

/// The socket on which clients ask.
#[derive(Debug)]
pub struct Listener {
    socket: UnixListener,
    path: PathBuf,
    answering: Vec<std::thread::JoinHandle<()>>,
}

impl Listener {
    /// Listens at `path`, whose directory is made if it is missing; a socket without a process behind it is replaced.
    ///
    /// # Errors
    /// [`Failure::Operational`] if another process answers there, or the kernel refuses.
    pub fn open(path: &Path) -> Result<Self, Failure> {
        let fail = |why: std::io::Error| Failure::operational(path.display(), why);
        if let Some(directory) = path.parent() {
            std::fs::create_dir_all(directory).map_err(fail)?;
        }
        match UnixStream::connect(path) {
            Ok(_) => {
                let why = "another process answers there; choose another with --socket";
                return Err(Failure::operational(path.display(), why));
            }
            Err(why) if why.kind() == ErrorKind::ConnectionRefused => {
                std::fs::remove_file(path).map_err(fail)?;
            }
            Err(_) => {}
        }
        let socket = UnixListener::bind(path).map_err(fail)?;
        socket.set_nonblocking(true).map_err(fail)?;
        Ok(Self { socket, path: path.to_owned(), answering: Vec::new() })
    }

    /// Answers the clients that wait, each in a thread of its own, so that a slow reader holds up no other. A client that comes while
    /// too many are reading is hung up on.
    ///
    /// # Errors
    /// What `status` says.
    pub fn answer<S: Serialize + Send + 'static>(
        &mut self,
        status: impl Fn() -> Result<S, Failure>,
    ) -> Result<(), Failure> {
        self.answering.retain(|thread| !thread.is_finished());
        while let Ok((mut client, _)) = self.socket.accept() {
            if self.answering.len() >= CLIENTS {
                continue;
            }
            let status = status()?;
            self.answering.push(std::thread::spawn(move || {
                let mut line = serde_json::to_vec(&status).expect("a status has a JSON form");
                line.push(b'\n');
                // A client that hangs up is no concern of ours.
                let _ = client.set_nonblocking(false);
                let _ = client.set_write_timeout(Some(PATIENCE));
                let _ = client.write_all(&line);
            }));
        }
        Ok(())
    }
}

impl AsFd for Listener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        // The next one would replace it anyway.
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Removes the socket that a `command` left when it was killed. `None` if one runs, which is said; else what was removed.
///
/// # Errors
/// [`Failure::Operational`] if it cannot be removed.
pub fn remove_stale(command: &str, path: &Path) -> Result<Option<Vec<String>>, Failure> {
    if UnixStream::connect(path).is_ok() {
        println!("a `meshpaced {command}` still runs and listens on {}: stop it too", path.display());
        return Ok(None);
    }
    match std::fs::remove_file(path) {
        Ok(()) => Ok(Some(vec![format!("the socket {}", path.display())])),
        Err(why) if matches!(why.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            Ok(Some(Vec::new()))
        }
        Err(why) => Err(Failure::operational(path.display(), why)),
    }
}

/// What `command` says at `path`, as one line.
///
/// # Errors
/// [`Failure::Operational`] if no daemon answers there.
pub fn ask(command: &str, path: &Path) -> Result<String, Failure> {
    let fail = |why: std::io::Error| match why.kind() {
        ErrorKind::NotFound | ErrorKind::ConnectionRefused => Failure::operational(
            format!("no `meshpaced {command}` at {}", path.display()),
            "is it running? (--socket names another)",
        ),
        _ => Failure::operational(path.display(), why),
    };
    let mut stream = UnixStream::connect(path).map_err(fail)?;
    stream.set_read_timeout(Some(PATIENCE)).map_err(fail)?;
    let mut line = String::new();
    stream.read_to_string(&mut line).map_err(fail)?;
    Ok(line)
}

/// Asks `command` at `path` and prints what it says, as it is or for people.
///
/// # Errors
/// As [`ask`], and if the answer is not understood.
pub fn show<S: DeserializeOwned>(
    command: &str,
    path: &Path,
    json: bool,
    for_people: impl Fn(&S) -> String,
) -> Result<(), Failure> {
    let line = ask(command, path)?;
    if json {
        print!("{line}");
        return Ok(());
    }
    let status: S = serde_json::from_str(&line).map_err(|why| Failure::operational(path.display(), why))?;
    print!("{}", for_people(&status));
    Ok(())
}
