//! `meshpaced endpoint serve`: many connections, until told to stop.

use super::options::{Options, Running, quantity};
use super::report::{Report, stack};
use super::transfer::copy;
use super::web;
use crate::Failure;
use meshpace_endpoint::{Listener, Stream};
use meshpace_linux::{Poller, Signals, monotonic_now};
use meshpace_units::quantity::SIZE;
use serde_json::json;
use std::io::{self, Write};
use std::net::Shutdown;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// How long connections may take to end once the command is to stop.
const FAREWELL: Duration = Duration::from_secs(2);
/// What a source writes at a time.
const CHUNK: usize = 64 * 1024;

/// Arguments of `endpoint serve`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    service: Service,
    /// The port to listen on.
    #[arg(long, value_name = "PORT", value_parser = clap::value_parser!(u16).range(1..))]
    port: u16,
    /// Connections served at the same time; as many again wait.
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = clap::value_parser!(u16).range(1..=4096))]
    connections: u16,
    #[command(flatten)]
    options: Options,
}

/// What is done with a connection.
#[derive(Clone, Debug, clap::Args)]
#[group(required = true, multiple = false)]
struct Service {
    /// Serve the files of this directory over HTTP/1.0.
    directory: Option<PathBuf>,
    /// Send back what arrives.
    #[arg(long)]
    echo: bool,
    /// Throw away what arrives.
    #[arg(long)]
    sink: bool,
    /// Send so many zero bytes, then close.
    #[arg(long, value_name = "SIZE", value_parser = |text: &str| quantity(&SIZE, text, 0.0, 1e15))]
    source: Option<f64>,
}

impl Service {
    fn serve(&self, stream: &Stream) -> io::Result<()> {
        let mut to = stream;
        if let Some(root) = &self.directory {
            web::answer(root, stream, &mut to)?;
        } else if self.echo {
            copy(&mut &*stream, &mut to)?;
        } else if self.sink {
            copy(&mut &*stream, &mut io::sink())?;
        } else if let Some(size) = self.source {
            let zeros = [0; CHUNK];
            let mut left = size as u64;
            while left > 0 {
                let length = left.min(CHUNK as u64);
                to.write_all(&zeros[..length as usize])?;
                left -= length;
            }
        }
        stream.shutdown(Shutdown::Write)?;
        stream.drained(None)?;
        // The peer's end belongs to an orderly one, but what was asked for is done.
        stream.set_read_timeout(Some(FAREWELL));
        let _ = copy(&mut &*stream, &mut io::sink());
        Ok(())
    }
}

/// Serves until a signal.
pub(super) fn run(args: &Args) -> Result<ExitCode, Failure> {
    let mut service = args.service.clone();
    if let Some(directory) = &mut service.directory {
        *directory = root(directory)?;
    }
    // Before the endpoint's thread, which would be killed otherwise.
    let signals = Signals::new().map_err(|error| Failure::operational("signals", error))?;
    let running = Arc::new(args.options.start()?);
    let backlog = usize::from(args.connections);
    let listener = running.endpoint.bind(None, args.port, backlog, &running.socket);
    let listener = listener.map_err(|error| Failure::operational(format!("port {}", args.port), error))?;
    eprintln!("meshpaced: listening on port {}", args.port);

    let server = running.clone();
    let places = args.connections;
    std::thread::spawn(move || accept(&listener, &server, &service, places));
    wait(&signals).map_err(|error| Failure::operational("signals", error))?;
    let clean = running.endpoint.finish(FAREWELL);
    if running.json {
        let counters = stack(&running.endpoint.counters());
        println!("{}", json!({ "schema": 1, "command": "serve", "finished": clean, "stack": counters }));
    }
    Ok(ExitCode::SUCCESS)
}

/// The directory without links, so that paths can be held against it.
fn root(directory: &Path) -> Result<PathBuf, Failure> {
    let error = |why: &dyn std::fmt::Display| {
        Failure::User(format!(
            "DIRECTORY: found {:?} ({why}); allowed: a directory",
            directory.display().to_string()
        ))
    };
    let root = directory.canonicalize().map_err(|why| error(&why))?;
    if root.is_dir() { Ok(root) } else { Err(error(&"a file")) }
}

fn wait(signals: &Signals) -> io::Result<()> {
    let mut poller = Poller::new()?;
    poller.add(signals, 0)?;
    while signals.next()?.is_none() {
        let _ = poller.wait(None)?.count();
    }
    Ok(())
}

/// Accepts as long as the endpoint lives, each connection in a thread of its own, no more than there are places.
fn accept(listener: &Listener, running: &Arc<Running>, service: &Service, places: u16) {
    let (free, taken): (SyncSender<()>, Receiver<()>) = sync_channel(usize::from(places));
    for _ in 0..places {
        free.send(()).unwrap_or_else(|_| panic!("the other end is here"));
    }
    let output = Arc::new(Mutex::new(()));
    while taken.recv().is_ok() {
        let Ok((stream, _)) = listener.accept() else { return };
        let (running, service, free, output) =
            (running.clone(), service.clone(), free.clone(), output.clone());
        std::thread::spawn(move || {
            let start = monotonic_now();
            let error = service.serve(&stream).err().map(|error| error.to_string());
            let took = monotonic_now() - start;
            let report = Report { command: "serve", running: &running, info: stream.info(), took, error };
            drop(stream);
            let line = output.lock();
            report.print(false);
            drop(line);
            // The listener is gone when the command ends.
            let _ = free.send(());
        });
    }
}
