//! Prometheus metrics over HTTP, on loopback unless configured otherwise.
//!
//! [`Exporter`] turns a snapshot into text, [`Server`] serves it. There are no metrics of single flows: their number has
//! no bound, and a time series for each would drown any store. Flows are counted, and summed by configured subnet.

mod connection_slots;
mod exporter;
pub(crate) mod http;
mod server;

pub use exporter::Exporter;
pub(crate) use server::PLAIN;
pub use server::{Page, Server};
