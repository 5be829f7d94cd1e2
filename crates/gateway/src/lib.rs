//! TCP-GAP's gateway: adaptive pacing for TCP that crosses from a wireless mesh into the Internet and back.
//!
//! The gateway sees the packets of both directions. For data that goes up (wireless to wired) it times the wired part of
//! the round trip and writes it into the ACKs, so that the wireless sender can pace by the wireless part alone. Data
//! that goes down it paces itself, one queue a flow, and repairs what the mesh loses from a cache. Goodput control caps
//! downward flows that take more than their share. All state is soft: a gateway that appears in the middle of a
//! connection adopts it at the first packet with data.
//!
//! There is no socket and no clock in here: the simulator hands in handles, the daemon packets, and both drive
//!
//! 1. [`Gateway::handle`] for each packet, then [`Gateway::poll_transmit`] until `None`;
//! 2. [`Gateway::handle_timeout`] when [`Gateway::poll_timeout`] says so, then `poll_transmit` until `None`.
//!
//! Packets that are not plain TCP (ICMP, fragments, UDP, IPsec) never come here: the driver forwards them.
//!
//! [`Shaper`] is another machine, for all of IP: it shares what goes into the mesh among hosts (docs/hosts.md).
//!
//! Source: schemes.md section 3.
#![no_std]

extern crate alloc;

mod budget;
mod config;
mod connection;
mod down;
mod forecast;
mod gateway;
mod goodput;
mod hole;
mod hosts;
mod incoming;
mod pacing_queue;
mod packet;
mod parts;
mod schedule;
mod segment_map;
mod sender_window;
mod shaper;
mod stats;
mod table;
mod up;
mod windows;
mod wired_trip;
mod wireless;

pub use config::{Announced, Config, Discipline, DupAck, Kept, Queues, Retransmissions};
pub use connection::Traffic;
pub use forecast::{Forecast, Unforeseen};
pub use gateway::Gateway;
pub use goodput::Goodput;
pub use meshpace_codel::FlowHash;
pub use meshpace_pacing::Route;
pub use pacing_queue::{CodelConfig, Path};
pub use packet::{
    Action, Departure, DiscardReason, Endpoint, FlowKey, Rewrite, RttOption, Side, TcpView, Treatment,
    Verdict,
};
pub use parts::{Behaviour, Equipment, GATEWAYS, GatewayPart, law_gateways};
pub use sender_window::least_window;
pub use shaper::{
    By, CALLS, CallRule, Coming, Echo, Find, Finder, Found, HostStats, Parcel, Passage, Shaped, Shaper,
    ShaperConfig, ShaperCounters, ShareBy, Sign, Terms, Uploading,
};
pub use stats::{Activity, Counters, Explanation, FlowStats, RoundTrips, Waits};
pub use windows::{Judgement, Windows};
pub use wireless::WirelessLaw;
