//! Packets of the simulated network.
//!
//! A [`Packet`] has what an IP packet has (addresses, ports, time to live, congestion notification, size), an identity
//! that it keeps on its whole way, and what it carries: a TCP segment, a datagram, a routing message, or the bytes of a
//! real host: an IP packet, or an Ethernet frame for a neighbour. No flow is named here: senders and receivers know their ends by address and port.
//!
//! Relays and end points may put typed headers beside the transport's: [`Shim`].

mod arp;
mod body;
mod explicit;
mod packet;
mod shim;
mod store;
mod trail;

pub use arp::{Arp, ArpOperation};
pub use body::{Body, Datagram, Ethernet, Opaque, Stamp};
pub use explicit::{Report, Request, ReturnedFeedback};
pub use packet::{Account, Class, Host, Packet, PacketId, PathId, Ticket};
pub use shim::{Shim, ShimBytes, ShimKind, ShimView};
pub use store::{Handle, Packets};
pub use trail::{Stop, Trail};
