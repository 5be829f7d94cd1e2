//! TCP endpoints composed of parts; no clock, no I/O, no random source.
//!
//! A [`Connection`] is one end of a TCP connection as a state machine. Its driver (the simulator, the daemon) hands it
//! segments and the time, and sends what it asks to send. Initial sequence numbers and clock phases come from the
//! driver, too. The rule of use: after each `write`, `read`, `close`, [`Connection::handle_segment`] or
//! [`Connection::handle_timeout`], call [`Connection::poll_transmit`] until it returns `None`, then
//! [`Connection::poll_event`] likewise, then read [`Connection::poll_timeout`]. Early and repeated calls are harmless.
//!
//! Nothing here holds a byte of payload. A segment says which range of the stream it carries, and the driver keeps the
//! bytes or has none: [`Transmit::offset`] is where to read them, [`Placement`] where to write them.
//!
//! | part | choices | chosen by |
//! |---|---|---|
//! | sender control: window and pacing | Tahoe, Reno, CUBIC, Vegas, Westwood+, Copa, LEDBAT++, BBR, BBRv3; none, fixed, TCP-AP, its authors' agent, TCP-GAP's sender; anyone's | [`Control`] |
//! | loss recovery | NewReno, by selective acknowledgements, by time (RACK-TLP), going back | [`control::Recovery`] |
//! | retransmission timeout | ns-2's ticks, RFC 6298, Linux's | [`RtoConfig`] |
//! | acknowledgements | every, delayed, dynamic, as Linux | [`AckPolicy`] |
//! | opening, header sizes, buffers, ECN | | [`Config`] |
//!
//! Every profile has its whole set: [`Config::ns2`], [`Config::rfc`], [`Config::linux`].
#![no_std]

extern crate alloc;
#[cfg(test)]
extern crate std;

mod ack_policy;
mod config;
mod connection;
pub mod control;
mod delivery;
mod event;
mod feedback;
mod measure;
mod position;
mod profile;
mod ranges;
mod receiver;
mod rto;
mod sacked;
mod segment;
mod sender;
#[cfg(test)]
mod tests;

pub use ack_policy::{
    ACK_POLICIES, AckPolicy, AckPolicyPart, AckUnit, Arrived, CloneAckPolicy, Delayed, DynamicDelayed, Early,
    Echo, Every, InOrder, Order, OutOfOrder, Transit, When,
};
pub use config::{Config, Handshake, HeaderSize, HostQueue, KeepAlive, Reading, SackOffer};
pub use connection::{Connection, Ports, State, reset_for};
pub use control::{
    Control, PACINGS, PacingPart, PacingView, RECOVERIES, RTO_BACKOFF, RecoveryPart, Surroundings, WINDOWS,
    WindowPart,
};
pub use event::{Arrival, Closing, Event, Placement, Received, Transmit, WriteError};
pub use measure::Counters;
pub use profile::{PROFILES, Profile, ProfilePart};
pub use rto::{RtoConfig, SmoothedConfig, TickConfig};
pub use segment::{Flags, Ns2Stamp, Options, SackBlocks, Segment, Timestamps};
