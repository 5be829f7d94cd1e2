//! Writing the log.

use super::limiter::Limiter;
use super::target::Target;
use super::{Event, SCHEMA};
use crate::Failure;
use crate::config::Events;
use meshpace_units::Instant;
use serde::Serialize;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime};

/// Events that may wait for the writer.
const BACKLOG: usize = 4096;
/// Lines that others can cause in any number: this many a second, and this many at once.
const FLOW_LINES_PER_SECOND: u64 = 100;
const FLOW_LINES_BURST: u64 = 1_000;

/// Where to tell events; clones tell the same log.
#[derive(Clone, Debug)]
pub struct Sink {
    messages: Option<SyncSender<Message>>,
    /// Events that found the backlog or the disk full, and of which no line has told yet.
    lost: Arc<AtomicU64>,
}

#[derive(Debug)]
enum Message {
    Event(SystemTime, Event),
    Reopen,
    Close,
}

impl Sink {
    /// A sink that keeps nothing: no log is configured.
    #[must_use]
    pub fn nowhere() -> Self {
        Self { messages: None, lost: Arc::default() }
    }

    /// Tells an event; never waits.
    #[allow(clippy::disallowed_methods, reason = "a log line carries the wall clock's time")]
    pub fn emit(&self, event: Event) {
        self.send(Message::Event(SystemTime::now(), event));
    }

    /// Opens the file anew, after a rotation.
    pub fn reopen(&self) {
        self.send(Message::Reopen);
    }

    fn send(&self, message: Message) {
        let Some(messages) = &self.messages else { return };
        if messages.try_send(message).is_err() {
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// The log and its writing thread.
#[derive(Debug)]
pub struct Log {
    sink: Sink,
    thread: Option<JoinHandle<()>>,
}

impl Log {
    /// Opens the log, if the configuration wants one.
    ///
    /// # Errors
    /// [`Failure::Operational`] if the file cannot be opened for appending.
    pub fn open(config: &Events) -> Result<Self, Failure> {
        let target = Target::open(config).map_err(|why| {
            let file = config.file.as_deref().unwrap_or_else(|| "event log".as_ref());
            Failure::operational(file.display(), why)
        })?;
        let Some(target) = target else {
            return Ok(Self { sink: Sink::nowhere(), thread: None });
        };
        let (messages, received) = sync_channel(BACKLOG);
        let lost = Arc::new(AtomicU64::new(0));
        let mut writer = Writer {
            target,
            flow_lines: Limiter::new(FLOW_LINES_PER_SECOND, FLOW_LINES_BURST),
            lost: Arc::clone(&lost),
            failing: false,
        };
        let thread = std::thread::Builder::new()
            .name("events".into())
            .spawn(move || writer.run(&received))
            .map_err(|why| Failure::operational("starting the event log's thread", why))?;
        Ok(Self { sink: Sink { messages: Some(messages), lost }, thread: Some(thread) })
    }

    /// Where to tell events.
    #[must_use]
    pub fn sink(&self) -> Sink {
        self.sink.clone()
    }

    /// Writes the events received so far, and ends. Events sent to sinks afterwards are lost.
    pub fn close(self) {
        let (Some(messages), Some(thread)) = (self.sink.messages, self.thread) else { return };
        // An error says that the thread has ended by itself, which joining it tells too.
        let _ = messages.send(Message::Close);
        thread.join().unwrap_or_else(|_| eprintln!("meshpaced: the event log's thread panicked"));
    }
}

struct Writer {
    target: Target,
    flow_lines: Limiter,
    lost: Arc<AtomicU64>,
    /// The last line could not be written; said once.
    failing: bool,
}

#[derive(Serialize)]
struct Line<'a> {
    schema: u32,
    time: String,
    #[serde(flatten)]
    event: &'a Event,
}

impl Writer {
    fn run(&mut self, messages: &Receiver<Message>) {
        loop {
            let message = messages.recv_timeout(Duration::from_secs(1));
            let now = meshpace_linux::monotonic_now();
            self.tell_suppressed(now);
            match message {
                Ok(Message::Event(time, event)) => {
                    if !event.is_limited() || self.flow_lines.admits(now) {
                        let written = self.write(time, &event);
                        self.lost.fetch_add(u64::from(!written), Ordering::Relaxed);
                    }
                }
                Ok(Message::Reopen) => self.reopen(),
                Err(RecvTimeoutError::Timeout) => {}
                Ok(Message::Close) | Err(RecvTimeoutError::Disconnected) => {
                    let refused = self.flow_lines.take_refused();
                    self.write_suppressed(refused);
                    return;
                }
            }
        }
    }

    fn tell_suppressed(&mut self, now: Instant) {
        let refused = self.flow_lines.refused(now).unwrap_or(0);
        self.write_suppressed(refused);
    }

    /// Says that so many lines about flows, and all events that found the backlog or the disk full, are not in the log.
    #[allow(clippy::disallowed_methods, reason = "a log line carries the wall clock's time")]
    fn write_suppressed(&mut self, refused: u64) {
        let lines = refused + self.lost.swap(0, Ordering::Relaxed);
        if lines > 0 && !self.write(SystemTime::now(), &Event::Suppressed { lines }) {
            self.lost.fetch_add(lines, Ordering::Relaxed);
        }
    }

    /// Writes a line; false if it is lost.
    fn write(&mut self, time: SystemTime, event: &Event) -> bool {
        let time = humantime::format_rfc3339_millis(time).to_string();
        let mut line = serde_json::to_vec(&Line { schema: SCHEMA, time, event })
            .unwrap_or_else(|why| panic!("{event:?} has no JSON form: {why}"));
        line.push(b'\n');
        match self.target.write(&line) {
            Ok(()) => self.failing = false,
            Err(why) => {
                if !std::mem::replace(&mut self.failing, true) {
                    eprintln!("meshpaced: event log: {why}; lines are lost until it works again");
                }
                return false;
            }
        }
        true
    }

    fn reopen(&mut self) {
        if let Err(why) = self.target.reopen() {
            eprintln!("meshpaced: event log: {why}; the old file stays open");
        }
    }
}

#[cfg(test)]
mod tests;
