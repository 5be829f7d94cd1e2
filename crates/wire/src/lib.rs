//! The bytes of IPv4, IPv6 and TCP.
//!
//! - [`parse`] reads a packet into a [`Segment`](meshpace_tcp::Segment), as fast as a gateway needs it: nothing is
//!   allocated, nothing but headers is touched, no input makes it panic.
//! - [`set_rtt`], [`strip_rtt`], [`clamp_mss`] and [`mark`] change packets on their way. All checksums are updated, not
//!   recomputed (RFC 1624), so a packet that was damaged before stays recognisable as damaged.
//! - [`outline`] reads of any IP packet what a network has to know to carry it.
//! - [`spin`] reads QUIC's latency spin bit.
//! - [`Echo`] asks for an ICMP echo, and reads what answers.
//! - [`insert_ipv4_options`] and [`set_hop`] do to IP headers what a hop of the simulated network does.
//! - [`build`] writes whole packets, [`complete_checksum`] ends what a host left to its interface, [`checksum_ok`] judges them and [`parse_too_big`] reads what routers say of their
//!   size: for an end of the connection.
//!
//! A gateway that leaves the payloads in the kernel may hand in only the beginning of a packet: lengths are those that the
//! IP header tells, and all headers have to be there.
#![no_std]

extern crate alloc;

mod build;
mod checksum;
mod header;
mod icmp;
mod ip;
mod not_tcp;
mod options;
mod outline;
mod packet;
mod quic;
mod rewrite;
mod tcp;

pub use build::{IpHeader, build, write_tcp_header};
pub use header::{insert_ipv4_options, set_hop};
pub use icmp::{Echo, TooBig, parse_too_big};
pub use ip::protocol;
pub use not_tcp::{Malformed, NotTcp};
pub use options::{RTT_EXID, RTT_OPTION_LENGTH};
pub use outline::{Outline, outline};
pub use packet::{Packet, checksum_ok, complete_checksum, parse};
pub use quic::spin;
pub use rewrite::{NoRoom, clamp_mss, mark, set_rtt, set_window, strip_rtt};
