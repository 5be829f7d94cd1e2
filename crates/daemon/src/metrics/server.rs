//! Serving the metrics.

use super::connection_slots::{ConnectionSlot, ConnectionSlots};
use super::exporter::Exporter;
use super::http::{answer, read};
use crate::Failure;
use crate::control::Daemon;
use meshpace_linux::monotonic_now;
use meshpace_units::{Instant, Span};
use std::io::{self, ErrorKind, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// Connections served at the same time; a further one takes the place of one that has not asked.
const CONNECTIONS_MAX: usize = 8;
/// Time for a read, and for the whole head of a request.
const PATIENCE: Duration = Duration::from_secs(5);
const HEAD: Span = Span::from_secs(5);
/// Time for the whole answer, however it is taken.
const ANSWER: Span = Span::from_secs(10);
pub(crate) const PLAIN: &str = "text/plain; charset=utf-8";

/// The page served at a path: the rest of the status line, the content's type, the content.
pub type Page = (&'static str, &'static str, String);
type Pages = dyn Fn(&str) -> Page + Send + Sync;

/// The listening socket and its threads.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    stop: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

impl Server {
    /// Listens at `address` for requests of a gateway's metrics.
    ///
    /// # Errors
    /// [`Failure::Operational`] if the system refuses, as when something else listens there.
    pub fn start(address: SocketAddr, daemon: Arc<Daemon>) -> Result<Self, Failure> {
        Self::serving(address, Arc::new(move |path| page(path, &daemon)))
    }

    /// Listens at `address` for requests of any of these pages, by its path.
    ///
    /// # Errors
    /// As [`Server::start`].
    pub fn serving(address: SocketAddr, pages: Arc<Pages>) -> Result<Self, Failure> {
        let failure = |why| Failure::operational(format!("metrics at {address}"), why);
        let listener = TcpListener::bind(address).map_err(failure)?;
        let address = listener.local_addr().map_err(failure)?;
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let thread = std::thread::Builder::new()
            .name("metrics".into())
            .spawn(move || accept(&listener, &pages, &stopped))
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

fn accept(listener: &TcpListener, pages: &Arc<Pages>, stop: &AtomicBool) {
    let places = ConnectionSlots::new(CONNECTIONS_MAX);
    for stream in listener.incoming() {
        if stop.load(Ordering::Acquire) {
            return;
        }
        let Ok(stream) = stream else {
            pause();
            continue;
        };
        let Some(place) = places.take(&stream) else { continue };
        let pages = Arc::clone(pages);
        // Without a thread the connection is hung up on, and the place given back.
        let _ = std::thread::Builder::new().name("scrape".into()).spawn(move || {
            // A scraper that goes in the middle of its answer is none of the daemon's trouble.
            let _ = serve(stream, &place, &*pages);
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

fn serve(mut stream: TcpStream, place: &ConnectionSlot, pages: &Pages) -> io::Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    let begun = monotonic_now();
    let asked = read(&mut stream, || monotonic_now().saturating_since(begun) > HEAD)?;
    place.asked();
    let bytes = match asked {
        Err(refused) => answer(refused.status(), PLAIN, "", false),
        Ok(asked) => {
            let (status, content_type, body) = pages(&asked.path);
            answer(status, content_type, &body, asked.head_only)
        }
    };
    write_until(&mut stream, &bytes, monotonic_now() + ANSWER)
}

/// Writes all of it, or as much as is taken until then.
fn write_until(stream: &mut TcpStream, bytes: &[u8], end: Instant) -> io::Result<()> {
    let mut rest = bytes;
    while !rest.is_empty() {
        let left = end.saturating_since(monotonic_now());
        if left == Span::ZERO {
            return Err(ErrorKind::TimedOut.into());
        }
        stream.set_write_timeout(Some(Duration::from_nanos(left.as_nanos())))?;
        match stream.write(rest) {
            Ok(0) => return Err(ErrorKind::WriteZero.into()),
            Ok(written) => rest = &rest[written..],
            Err(why) if why.kind() == ErrorKind::Interrupted => {}
            Err(why) => return Err(why),
        }
    }
    Ok(())
}

fn page(path: &str, daemon: &Daemon) -> Page {
    let snapshot = || daemon.data().snapshot();
    match path {
        "/metrics" => match snapshot() {
            Ok(snapshot) => {
                ("200 OK", Exporter::CONTENT_TYPE, Exporter::text(snapshot, daemon.config(), daemon.doubts()))
            }
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
    fn those_that_hold_places_without_asking_keep_no_scraper_out() {
        let daemon = example::Running::start(Vec::new());
        let server = Server::start("127.0.0.1:0".parse().unwrap(), daemon.daemon()).unwrap();
        let address = server.address();
        let mut slow: Vec<_> =
            (0..3 * CONNECTIONS_MAX).map(|_| TcpStream::connect(address).unwrap()).collect();
        for stream in &mut slow {
            // Those that lost their place already take nothing any more.
            let _ = stream.write_all(b"GET /met");
        }
        for _ in 0..2 * CONNECTIONS_MAX {
            assert!(get(address, "GET /healthz HTTP/1.1\r\n\r\n").ends_with("ok\n"));
        }
        server.stop();
    }

    #[test]
    fn an_answer_that_nobody_takes_ends_at_its_deadline() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let reader = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (mut writer, _) = listener.accept().unwrap();
        let begun = monotonic_now();
        // More than the kernel buffers for both ends.
        let why = write_until(&mut writer, &vec![0; 64 << 20], begun + Span::from_millis(200)).unwrap_err();
        assert!(matches!(why.kind(), ErrorKind::TimedOut | ErrorKind::WouldBlock), "{why}");
        assert!(monotonic_now().saturating_since(begun) >= Span::from_millis(200));
        drop(reader);
    }
}
