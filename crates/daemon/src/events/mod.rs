//! The event log: what happened, as JSON lines in a file or on standard output.
//!
//! The other threads call [`Sink::emit`], which never waits; a thread of its own writes. Events about
//! single flows are limited to a rate, and what was left out is counted in a line of its own, so that a SYN flood
//! fills no disk. A file that gets too long is put away, and of those so many are kept. After a rotation by others (the file
//! was renamed) [`Sink::reopen`], done at every reload, starts a new file.
//!
//! Each line is an object with `schema` (1), `time` (UTC), `event` and that event's own keys; docs/meshpaced.md lists
//! them.

mod event;
mod limiter;
mod target;
mod writer;

pub use event::{By, Event, FlowClosed, FlowOpened};
pub use writer::{Log, Sink};

/// Version of the lines' layout; changes only when a key's meaning does.
pub const SCHEMA: u32 = 1;
