//! Packets of the simulated network.
//!
//! A [`Packet`] has the fields of an IP packet (addresses, ports, time to live, congestion notification, size) and an identity that it
//! keeps on its whole way. It carries a TCP segment, a datagram, a routing message, or the bytes of a real host: an IP packet, or an
//! Ethernet frame for a neighbour. No flow is named here: senders and receivers know their ends by address and port.
//!
//! Relays and end points may put typed headers beside the transport's: [`Shim`].

mod arp;
mod body;
mod explicit;
mod shim;
mod store;
mod trail;

pub use arp::{Arp, ArpOperation};
pub use body::{Body, Datagram, Ethernet, Opaque, Stamp};
pub use explicit::{Report, Request, ReturnedFeedback};
pub use shim::{Shim, ShimBytes, ShimKind, ShimView};
pub use store::{Handle, Packets};
pub use trail::{Stop, Trail};

use meshpace_routing::PacketInfo;
use meshpace_units::{Bytes, Dscp, Ecn, Instant, NodeId};
use shim::Shims;
use std::net::{IpAddr, SocketAddr};
use std::num::{NonZeroU16, NonZeroU32};

/// A node of the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Host {
    /// A mesh node or gateway.
    Mesh(NodeId),
    /// A wired node, by its index.
    Wired(u32),
}

/// Which packet it is, counted from 1 in the order in which packets set out.
///
/// A packet keeps it over all hops, in copies, and however often the MAC sends it; when an end point sends the same data
/// again, that is another packet. A gateway that sends a copy from its cache sends the same packet again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PacketId(pub u64);

impl PacketId {
    /// Of a packet that has not set out yet.
    pub const UNSENT: Self = Self(0);
}

/// A list of mesh nodes that a packet passes one after the other, as the network keeps it under this number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathId(pub NonZeroU32);

/// What a packet is accounted under, beside the address: the network's user opens accounts and names them in
/// the packets that it sends, both ways of a conversation under the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Account(pub NonZeroU32);

/// The network's user chooses a ticket for a packet, and gets it back when the packet has left the host that it
/// sets out from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ticket(pub NonZeroU16);

/// What drops are counted by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// With payload.
    Data,
    /// A pure TCP acknowledgement.
    Ack,
    /// Routing, and [probes](Packet::is_probe) of links.
    Control,
    /// Address resolution. Queues do not give these packets priority, as they do routing packets.
    Arp,
}

/// A packet of the network layer.
#[derive(Clone, Debug, PartialEq)]
pub struct Packet {
    /// Which one it is.
    pub id: PacketId,
    /// Address that it comes from; the port is in the body.
    pub source: IpAddr,
    /// Address that it goes to; the port is in the body.
    pub destination: IpAddr,
    /// The node that has the address `destination`: looked up once, when the packet sets out. A broadcast names its
    /// sender.
    pub to: Host,
    /// Where it entered the mesh, and where it leaves it.
    pub entry: NodeId,
    /// See `entry`.
    pub exit: NodeId,
    /// The nodes that it passes in the mesh; `None`: routing decides.
    pub path: Option<PathId>,
    /// What its load counts under; `None`: nothing.
    pub account: Option<Account>,
    /// The neighbour it is queued for; `None`: broadcast.
    pub next_hop: Option<NodeId>,
    /// Link receptions so far; the time to live ends at 255 of them.
    pub travelled: u16,
    /// When it set out from its source.
    pub set_out: Instant,
    /// When it came to the node where it is: the last bit of the frame that brought it, or when it entered the mesh there.
    pub arrived: Instant,
    /// IP time to live.
    pub ttl: u8,
    /// Congestion notification in the IP header.
    pub ecn: Ecn,
    /// The service class that the IP header asks for.
    pub dscp: Dscp,
    /// What drops of it are counted as: its sender knows best. A flow's first segment, its SYN, counts with the data, as
    /// in ns-2, and so does whatever else the end that has the data sends.
    pub class: Class,
    /// Size with IP header, as sent, shims included.
    pub size: Bytes,
    rare: Option<Box<Rare>>,
    /// What it carries.
    pub body: Body,
}

/// What hardly any packet has, behind one pointer.
#[derive(Clone, Debug, Default, PartialEq)]
struct Rare {
    shims: Shims,
    trail: Option<Trail>,
}

impl Packet {
    /// A packet as its source hands it to the network, which fills in identity, way and time to live.
    #[must_use]
    pub fn new(source: IpAddr, destination: IpAddr, size: Bytes, class: Class, body: Body) -> Self {
        Self {
            id: PacketId::UNSENT,
            source,
            destination,
            to: Host::Mesh(NodeId(0)),
            entry: NodeId(0),
            exit: NodeId(0),
            path: None,
            account: None,
            next_hop: None,
            travelled: 0,
            set_out: Instant::ZERO,
            arrived: Instant::ZERO,
            ttl: 0,
            ecn: Ecn::NotEct,
            dscp: Dscp::DEFAULT,
            class,
            size,
            rare: None,
            body,
        }
    }

    /// Address and port that it comes from; port 0 where the protocol has none.
    #[must_use]
    pub fn source_end(&self) -> SocketAddr {
        SocketAddr::new(self.source, self.body.ports().0)
    }

    /// Address and port that it goes to; port 0 where the protocol has none.
    #[must_use]
    pub fn destination_end(&self) -> SocketAddr {
        SocketAddr::new(self.destination, self.body.ports().1)
    }

    /// What routing has to know.
    #[must_use]
    pub fn info(&self) -> PacketInfo {
        PacketInfo {
            source: self.entry,
            destination: self.exit,
            travelled: u32::from(self.travelled),
            ttl: self.ttl,
        }
    }

    /// The shim of a kind, if the packet carries one.
    #[must_use]
    pub fn shim<T: Shim>(&self) -> Option<T> {
        self.rare.as_ref()?.shims.get()
    }

    /// True if a node sent it to learn something of the link to the next, and no host reads it.
    #[must_use]
    pub fn is_probe(&self) -> bool {
        self.class == Class::Control && matches!(self.body, Body::Udp(_))
    }

    /// Puts a shim in, in place of one of its kind, and corrects the packet's size.
    pub fn set_shim<T: Shim>(&mut self, shim: &T) {
        let before = self.rare.get_or_insert_default().shims.set(shim).unwrap_or(Bytes(0));
        self.size = self.size + shim.wire_length() - before;
    }

    /// Writes other fields into the shim of a kind, if the packet carries one, which does not change its length. True if it
    /// does.
    pub fn rewrite_shim<T: Shim>(&mut self, change: impl FnOnce(&mut T)) -> bool {
        self.rare.as_mut().is_some_and(|rare| rare.shims.rewrite(change))
    }

    /// All shims, those put in last first, for display.
    pub fn shims(&self) -> impl Iterator<Item = ShimView<'_>> {
        self.rare.iter().flat_map(|rare| rare.shims.iter())
    }

    /// Where it has been, if that is measured.
    #[must_use]
    pub fn trail(&self) -> Option<&Trail> {
        self.rare.as_ref()?.trail.as_ref()
    }

    /// The same, to be changed.
    pub fn trail_mut(&mut self) -> Option<&mut Trail> {
        self.rare.as_mut()?.trail.as_mut()
    }

    /// Where it has been; measured from now on.
    pub fn follow(&mut self) -> &mut Trail {
        self.rare.get_or_insert_default().trail.get_or_insert_default()
    }

    /// Where it has been is not measured any longer.
    pub fn unfollow(&mut self) {
        if let Some(rare) = &mut self.rare {
            rare.trail = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_is_small() {
        // A copy is made at every hop: four cache lines.
        assert!(size_of::<Packet>() <= 256, "{} bytes", size_of::<Packet>());
    }
}
