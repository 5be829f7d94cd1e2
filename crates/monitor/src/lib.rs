//! Reads captures in monitor mode for rt-Winf (`meshpace-explicit`): which links there are, what each can carry, and how much
//! of that is free.
//!
//! | module | idea |
//! |---|---|
//! | [`mod@file`] | frames of a pcap or pcapng file, and why reading ended |
//! | [`radiotap`] | what the radio knew of a frame: time, rate, channel, a bad check sequence |
//! | [`dot11`] | what the frame is, for whom and from whom, how long it reserves the medium |
//! | [`airtime`] | how long it was on the air |
//! | [`mod@measure`] | links, over time |
//!
//! Foreign bytes: whatever a file holds, reading it ends with a report or an error, never with a panic.

pub mod airtime;
pub mod dot11;
pub mod file;
pub mod measure;
pub mod radiotap;

pub use file::{Error, Raw, read};
pub use measure::{Counts, LinkReport, Options, Report, Row, measure};
