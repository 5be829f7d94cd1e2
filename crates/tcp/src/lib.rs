//! TCP endpoints composed of parts; no clock, no I/O, no random source.

mod segment;

pub use segment::{Flags, Ns2Stamp, Options, SackBlocks, Segment, Timestamps};
