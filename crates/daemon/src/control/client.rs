//! Asking a running daemon.

use super::protocol::{Line, Reply, Request, SCHEMA};
use crate::Failure;
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Longest answer taken: a list of 65,536 flows has about 50 MB.
const ANSWER_MAX: u64 = 256 << 20;
/// How long the daemon may take; it gives itself up to 5 s to ask its data thread.
const PATIENCE: Duration = Duration::from_secs(15);

/// Which daemon to ask.
#[derive(Clone, Debug, clap::Args)]
pub struct SocketArgs {
    /// The daemon's control socket.
    #[arg(long, value_name = "PATH", default_value = crate::config::DEFAULT_SOCKET)]
    pub socket: PathBuf,
}

/// A connection to a daemon.
#[derive(Debug)]
pub struct Client {
    path: PathBuf,
    stream: BufReader<UnixStream>,
}

impl Client {
    /// Connects to the daemon that listens at `path`.
    ///
    /// # Errors
    /// [`Failure::Operational`], saying what to do about it.
    pub fn connect(path: &Path) -> Result<Self, Failure> {
        let stream = UnixStream::connect(path).map_err(|why| {
            let path = path.display();
            Failure::Operational(match why.kind() {
                ErrorKind::NotFound | ErrorKind::ConnectionRefused => {
                    format!("no daemon at {path}: is it running? (systemctl status meshpaced)")
                }
                ErrorKind::PermissionDenied => {
                    format!("{path}: permission denied: run this as root, or join the group of [control] in its file")
                }
                _ => format!("{path}: {why}"),
            })
        })?;
        let bounded =
            stream.set_read_timeout(Some(PATIENCE)).and_then(|()| stream.set_write_timeout(Some(PATIENCE)));
        bounded.map_err(|why| Failure::operational(path.display(), why))?;
        Ok(Self { path: path.to_owned(), stream: BufReader::new(stream) })
    }

    /// Connects, asks once, and gives the answer as the daemon wrote it.
    ///
    /// # Errors
    /// See [`Client::ask`].
    pub fn ask_once(socket: &SocketArgs, request: &Request) -> Result<Line, Failure> {
        Self::connect(&socket.socket)?.ask(request)
    }

    /// Asks.
    ///
    /// # Errors
    /// [`Failure::User`] if the daemon finds fault with the request, [`Failure::Operational`] if it cannot answer.
    pub fn ask(&mut self, request: &Request) -> Result<Line, Failure> {
        let mut text = serde_json::to_vec(request).expect("requests have a JSON form");
        text.push(b'\n');
        // A daemon that has no place for us says so and hangs up, maybe before it was asked: its word counts.
        let sent = self.stream.get_mut().write_all(&text);
        let mut line = Vec::new();
        let received = self.stream.by_ref().take(ANSWER_MAX).read_until(b'\n', &mut line);
        let failure = |why: &dyn std::fmt::Display| Failure::operational(self.path.display(), why);
        if !line.ends_with(b"\n") {
            return Err(match (sent, received) {
                (_, Err(why)) if matches!(why.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                    failure(&format!("the daemon did not answer within {} s", PATIENCE.as_secs()))
                }
                (Err(why), _) | (_, Err(why)) => failure(&format!("the daemon is gone: {why}")),
                _ => failure(&"the daemon hung up before it answered"),
            });
        }
        #[derive(serde::Deserialize)]
        struct Version {
            schema: u32,
        }
        match serde_json::from_slice(&line) {
            Ok(Version { schema: SCHEMA }) => {}
            Ok(Version { schema }) => {
                return Err(failure(&format!(
                    "the daemon speaks version {schema} of the protocol, this command version {SCHEMA}: they are of \
                     different releases"
                )));
            }
            Err(why) => return Err(failure(&format!("what answers here is no meshpaced: {why}"))),
        }
        let line: Line =
            serde_json::from_slice(&line).map_err(|why| failure(&format!("not understood: {why}")))?;
        match line.answer {
            Reply::Error(refusal) if refusal.mendable => Err(Failure::User(refusal.message)),
            Reply::Error(refusal) => Err(Failure::Operational(refusal.message)),
            answer => Ok(Line { answer, ..line }),
        }
    }
}

/// An answer of another kind than the question's.
pub(crate) fn unexpected(answer: &Reply) -> Failure {
    Failure::Operational(format!("the daemon answered something else: {answer:?}"))
}
