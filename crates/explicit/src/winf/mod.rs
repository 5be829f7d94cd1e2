//! rt-Winf (schemes.md 9.2): what a link can carry, and what is free of it, from when frames of its exchanges end.
//!
//! It began as IdleGap (9.1): the share of time that the network allocation vector leaves idle, times a rate. rt-Winf takes
//! for the rate what an exchange really took, from the CTS to the acknowledgement.
//!
//! | module | idea |
//! |---|---|
//! | [`capacity`] | the formulas: bits over the time that data and control frames take |
//! | [`busy`] | for which share of a window the medium was reserved or in use |
//! | [`exchange`] | which overheard frames make an exchange, with some of them missing |
//! | [`header`] | what packets collect of the links that they pass |
//! | [`meter`] | capacity and available bandwidth of every link |
//!
//! No clock and no radio: an observer tells what frames were and when they were on the air, be it a node of the
//! simulation or a file of a real monitor.

pub mod busy;
pub mod capacity;
pub mod exchange;
pub mod header;
pub mod meter;

pub use busy::Busy;
pub use exchange::{Exchange, Exchanges, Frame, Kind};
pub use header::Header;
pub use meter::{Config, Link, Meter, Pair};

/// A station: a node's number, or the 48 bits of its address.
pub type Station = u64;
