//! One connection: a file out, a file in, or both ways.

use super::options::{Options, Running, time};
use super::report::Report;
use crate::Failure;
use meshpace_endpoint::Stream;
use meshpace_linux::monotonic_now;
use meshpace_units::{Instant, Span};
use std::fs::File;
use std::io::{self, BufWriter, ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, ToSocketAddrs};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

/// Bytes moved at a time.
const CHUNK: usize = 256 * 1024;
/// How long the peer has to close its side when everything is sent.
const FAREWELL: Duration = Duration::from_secs(2);

/// Arguments of `endpoint send`.
#[derive(Debug, clap::Args)]
pub(super) struct SendArgs {
    /// The file; - is standard input.
    file: PathBuf,
    #[command(flatten)]
    target: Target,
    #[command(flatten)]
    options: Options,
}

/// Arguments of `endpoint receive`.
#[derive(Debug, clap::Args)]
pub(super) struct ReceiveArgs {
    /// The file; - is standard output.
    file: PathBuf,
    /// The port to listen on.
    #[arg(value_parser = clap::value_parser!(u16).range(1..))]
    port: u16,
    #[command(flatten)]
    options: Options,
}

/// Arguments of `endpoint connect`.
#[derive(Debug, clap::Args)]
pub(super) struct ConnectArgs {
    #[command(flatten)]
    target: Target,
    #[command(flatten)]
    options: Options,
}

/// Where a connection goes.
#[derive(Debug, clap::Args)]
struct Target {
    /// Host and port, as 10.9.0.1:80, [fd09::1]:80 or example.org:80.
    #[arg(value_name = "HOST:PORT")]
    to: String,
    /// The port to connect from.
    #[arg(long, value_name = "PORT", value_parser = clap::value_parser!(u16).range(1..))]
    from_port: Option<u16>,
    /// How long to try to connect.
    #[arg(long, value_name = "TIME", value_parser = time)]
    connect_timeout: Option<Span>,
}

impl Target {
    fn connect(&self, running: &Running) -> Result<Stream, Failure> {
        let failed = |error: io::Error| Failure::operational(format!("connecting to {}", self.to), error);
        let addresses: Vec<SocketAddr> = match self.to.to_socket_addrs() {
            Ok(addresses) => addresses.collect(),
            // A name that does not resolve is no error of the command line.
            Err(error) if error.kind() != ErrorKind::InvalidInput => return Err(failed(error)),
            Err(_) => {
                let (to, allowed) = (&self.to, "HOST:PORT, as 10.9.0.1:80 or [fd09::1]:80");
                return Err(Failure::User(format!("HOST:PORT: found {to:?}; allowed: {allowed}")));
            }
        };
        let timeout = self.connect_timeout.map(|span| Duration::from_nanos(span.as_nanos()));
        let mut last = io::Error::from(ErrorKind::AddrNotAvailable);
        for address in addresses {
            match running.endpoint.connect_from(self.from_port, address, timeout, &running.socket) {
                Ok(stream) => return Ok(stream),
                Err(error) => last = error,
            }
        }
        Err(failed(last))
    }
}

fn is_standard(file: &Path) -> bool {
    file.as_os_str() == "-"
}

/// Sends a file.
pub(super) fn send(args: &SendArgs) -> Result<ExitCode, Failure> {
    let mut source: Box<dyn Read> = if is_standard(&args.file) {
        Box::new(io::stdin())
    } else {
        let opened = File::open(&args.file);
        Box::new(opened.map_err(|error| Failure::operational(args.file.display(), error))?)
    };
    let running = args.options.start()?;
    let start = monotonic_now();
    let stream = args.target.connect(&running)?;
    let result = copy(&mut source, &mut &stream).and_then(|()| {
        stream.shutdown(Shutdown::Write)?;
        stream.drained(None)
    });
    let took = monotonic_now() - start;
    if result.is_ok() {
        // The answer, if any, is not what was asked for; its end makes a clean farewell.
        stream.set_read_timeout(Some(FAREWELL));
        let _ = copy(&mut &stream, &mut io::sink());
    }
    let what = format!("sending {} to {}", args.file.display(), args.target.to);
    finish("send", &running, stream, took, result, &what, false)
}

/// Receives a file.
pub(super) fn receive(args: &ReceiveArgs) -> Result<ExitCode, Failure> {
    let standard = is_standard(&args.file);
    let mut sink: Box<dyn Write> = if standard {
        Box::new(io::stdout())
    } else {
        let made = File::create(&args.file);
        Box::new(BufWriter::new(made.map_err(|error| Failure::operational(args.file.display(), error))?))
    };
    let running = args.options.start()?;
    let listener = running.endpoint.bind(None, args.port, 1, &running.socket);
    let listener = listener.map_err(|error| Failure::operational(format!("port {}", args.port), error))?;
    eprintln!("meshpaced: listening on port {}", args.port);
    let (stream, peer) =
        listener.accept().map_err(|error| Failure::operational(format!("port {}", args.port), error))?;
    drop(listener);
    let start = monotonic_now();
    let result = copy(&mut &stream, &mut sink).and_then(|()| sink.flush());
    let took = monotonic_now() - start;
    let what = format!("receiving {} from {peer}", args.file.display());
    finish("receive", &running, stream, took, result, &what, standard)
}

/// Connects standard input and output.
pub(super) fn connect(args: &ConnectArgs) -> Result<ExitCode, Failure> {
    let running = args.options.start()?;
    let start: Instant = monotonic_now();
    let stream = args.target.connect(&running)?;
    eprintln!("meshpaced: connected to {}", stream.peer());
    let writer = stream.clone();
    // Not joined: a standard input that never ends must not keep a finished connection.
    std::thread::spawn(move || {
        if copy(&mut io::stdin(), &mut &writer).is_ok() {
            // The reading side tells what became of the connection.
            let _ = writer.shutdown(Shutdown::Write);
        }
    });
    let result = copy(&mut &stream, &mut io::stdout())
        .and_then(|()| io::stdout().flush())
        .and_then(|()| stream.drained(Some(FAREWELL)));
    let took = monotonic_now() - start;
    let what = format!("the connection to {}", args.target.to);
    finish("connect", &running, stream, took, result, &what, true)
}

/// Moves everything; what has come is passed on at once.
pub(super) fn copy(from: &mut impl Read, to: &mut impl Write) -> io::Result<()> {
    let mut buffer = vec![0; CHUNK];
    loop {
        match from.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(length) => to.write_all(&buffer[..length])?,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// Closes the connection in order, reports, and tells how it went.
fn finish(
    command: &'static str,
    running: &Running,
    stream: Stream,
    took: Span,
    result: io::Result<()>,
    what: &str,
    data_on_stdout: bool,
) -> Result<ExitCode, Failure> {
    // Our FIN, if it is not sent yet, and its acknowledgement. All data are across: an event from now on is no failure.
    if result.is_ok() {
        let _ = stream.shutdown(Shutdown::Write).and_then(|()| stream.drained(Some(FAREWELL)));
    }
    let error = result.as_ref().err().map(ToString::to_string);
    Report { command, running, info: stream.info(), took, error }.print(data_on_stdout);
    drop(stream);
    let _ = running.endpoint.finish(FAREWELL);
    result.map(|()| ExitCode::SUCCESS).map_err(|error| Failure::operational(what, error))
}
