//! The control socket: a Unix socket on which commands ask the daemon, one JSON object a line each way.
//!
//! | part | what it does |
//! |---|---|
//! | [`protocol`] | what the lines say |
//! | [`Server`] | answers clients, within bounds, in threads of its own |
//! | [`Daemon`] | what the answers are made of: the data thread, the configuration |
//! | [`DataThread`] | asks the data thread, which is never made to wait |
//! | [`Client`] | asks a daemon, with errors that say what to do |

mod client;
pub mod command;
pub(crate) mod connection;
mod daemon;
mod data;
mod foretelling;
mod guarding;
mod modes;
pub mod protocol;
mod report;
mod server;
mod sort;
#[cfg(test)]
pub(crate) mod tests;

pub(crate) use client::unexpected;
pub use client::{Client, SocketArgs};
pub use daemon::{Daemon, How, Reloaded};
pub use data::{DataThread, Unanswered};
#[cfg(test)]
pub(crate) use report::status as status_of;
pub(crate) use report::{bypasses, fairness, jain, unread};
pub use server::Server;
pub use sort::{Filter, SortKey};
