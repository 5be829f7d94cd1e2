//! Serving the metrics.

use super::exporter::Exporter;
use super::http::{answer, read};
use crate::Failure;
use crate::control::Daemon;
use meshpace_linux::monotonic_now;
use meshpace_units::Span;
use std::io::{self, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// Connections served at the same time; further ones are hung up on.
const CONNECTIONS_MAX: usize = 8;
/// Time for a read or a write, and for the whole head of a request.
const PATIENCE: Duration = Duration::from_secs(5);
const HEAD: Span = Span::from_secs(5);
const PLAIN: &str = "text/plain; charset=utf-8";

/// The listening socket and its threads.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    stop: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

impl Server {
    /// Listens at `address`.
    ///
    /// # Errors
    /// [`Failure::Operational`] if the system refuses, as when something else listens there.
    pub fn start(address: SocketAddr, daemon: Arc<Daemon>) -> Result<Self, Failure> {
        let failure = |why| Failure::operational(format!("metrics at {address}"), why);
        let listener = TcpListener::bind(address).map_err(failure)?;
        let address = listener.local_addr().map_err(failure)?;
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let thread = std::thread::Builder::new()
            .name("metrics".into())
            .spawn(move || accept(&listener, &daemon, &stopped))
            .map_err(failure)?;
        Ok(Self { address, stop, thread })
    }

    /// Where it listens.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Ends listening.
    pub fn stop(self) {
        self.stop.store(true, Ordering::Release);
        // One more connection ends the wait for the next.
        if TcpStream::connect_timeout(&self.address, PATIENCE).is_ok() {
            self.thread.join().unwrap_or_else(|_| eprintln!("meshpaced: the metrics' thread panicked"));
        }
    }
}

fn accept(listener: &TcpListener, daemon: &Arc<Daemon>, stop: &AtomicBool) {
    let served = Arc::new(AtomicUsize::new(0));
    for stream in listener.incoming() {
        if stop.load(Ordering::Acquire) {
            return;
        }
        let Ok(stream) = stream else {
            pause();
            continue;
        };
        if served.fetch_add(1, Ordering::AcqRel) >= CONNECTIONS_MAX {
            served.fetch_sub(1, Ordering::AcqRel);
            continue;
        }
        let (daemon, place) = (Arc::clone(daemon), Place(Arc::clone(&served)));
        // Without a thread the connection is hung up on, and the place given back.
        let _ = std::thread::Builder::new().name("scrape".into()).spawn(move || {
            let _place = place;
            // A scraper that goes in the middle of its answer is none of the daemon's trouble.
            let _ = serve(stream, &daemon);
        });
    }
}

#[allow(
    clippy::disallowed_methods,
    reason = "accept(2) fails at once when descriptors are short: do not spin"
)]
fn pause() {
    std::thread::sleep(Duration::from_millis(100));
}

struct Place(Arc<AtomicUsize>);

impl Drop for Place {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

fn serve(mut stream: TcpStream, daemon: &Daemon) -> io::Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let begun = monotonic_now();
    let bytes = match read(&mut stream, || monotonic_now().saturating_since(begun) > HEAD)? {
        Err(refused) => answer(refused.status(), PLAIN, "", false),
        Ok(asked) => {
            let (status, content_type, body) = page(&asked.path, daemon);
            answer(status, content_type, &body, asked.head_only)
        }
    };
    stream.write_all(&bytes)
}

fn page(path: &str, daemon: &Daemon) -> (&'static str, &'static str, String) {
    let snapshot = || daemon.data().snapshot();
    match path {
        "/metrics" => match snapshot() {
            Ok(snapshot) => ("200 OK", Exporter::CONTENT_TYPE, Exporter::text(snapshot, daemon.config())),
            Err(why) => ("503 Service Unavailable", PLAIN, format!("{why}\n")),
        },
        "/healthz" => match snapshot() {
            Ok(_) => ("200 OK", PLAIN, "ok\n".into()),
            Err(why) => ("503 Service Unavailable", PLAIN, format!("{why}\n")),
        },
        _ => ("404 Not Found", PLAIN, "there are /metrics and /healthz\n".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::tests::example;
    use std::io::Read;

    fn get(address: SocketAddr, text: &str) -> String {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.write_all(text.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    #[test]
    fn metrics_health_and_nothing_else_are_served() {
        let daemon = example::Running::start(vec![example::report(1, 900)]);
        let server = Server::start("127.0.0.1:0".parse().unwrap(), daemon.daemon()).unwrap();
        let address = server.address();
        let metrics = get(address, "GET /metrics HTTP/1.1\r\n\r\n");
        assert!(
            metrics.starts_with("HTTP/1.1 200 OK\r\nContent-Type: application/openmetrics-text"),
            "{metrics}"
        );
        assert!(metrics.contains("meshpace_flows{treatment=\"pace\"} 1.0") && metrics.ends_with("# EOF\n"));
        assert!(get(address, "GET /healthz HTTP/1.1\r\n\r\n").ends_with("\r\n\r\nok\n"));
        assert!(get(address, "HEAD /healthz HTTP/1.1\r\n\r\n").ends_with("\r\n\r\n"));
        assert!(get(address, "GET /etc/passwd HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 404"));
        assert!(get(address, "DELETE /metrics HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 405"));
        daemon.end_data_thread();
        assert!(get(address, "GET /healthz HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 503"));
        server.stop();
        example::wait_until_closed(|| TcpStream::connect(address));
    }

    #[test]
    fn connections_beyond_the_bound_are_hung_up_on_and_later_ones_served() {
        let daemon = example::Running::start(Vec::new());
        let server = Server::start("127.0.0.1:0".parse().unwrap(), daemon.daemon()).unwrap();
        let address = server.address();
        let silent: Vec<_> = (0..CONNECTIONS_MAX).map(|_| TcpStream::connect(address).unwrap()).collect();
        let mut beyond = TcpStream::connect(address).unwrap();
        let hung_up = beyond.read(&mut [0; 1]).map_or(true, |n| n == 0);
        assert!(hung_up);
        drop(silent);
        let served = || {
            let mut stream = TcpStream::connect(address).ok()?;
            stream.write_all(b"GET /healthz HTTP/1.1\r\n\r\n").ok()?;
            let mut answer = String::new();
            stream.read_to_string(&mut answer).ok()?;
            answer.ends_with("ok\n").then_some(())
        };
        let deadline = monotonic_now() + example::PATIENCE;
        while served().is_none() {
            assert!(monotonic_now() < deadline, "the places are given back");
        }
        server.stop();
    }
}
