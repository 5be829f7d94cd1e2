//! What a packet carries above IP.

use super::arp::Arp;
use meshpace_routing::Control;
use meshpace_tcp::Segment;
use meshpace_units::{Bytes, Instant};
use std::sync::Arc;

/// What is inside a packet.
#[derive(Clone, Debug, PartialEq)]
pub enum Body {
    /// A TCP segment.
    Tcp(Segment),
    /// A UDP datagram.
    Udp(Datagram),
    /// A routing packet.
    Control(Control),
    /// A packet of address resolution. It has no IP header, and no hop but one.
    Arp(Arp),
    /// A packet of a real host.
    Opaque(Opaque),
    /// A frame of a real host, from neighbour to neighbour.
    Ethernet(Ethernet),
}

/// A UDP datagram of a simulated application.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Datagram {
    /// Source port.
    pub source_port: u16,
    /// Destination port.
    pub destination_port: u16,
    /// Bytes of payload.
    pub payload: Bytes,
    /// What the payload says.
    pub stamp: Stamp,
}

/// What the sending application wrote into a datagram's payload. Only the receiving application reads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// The datagram's number, from 0.
    pub number: u64,
    /// When it was sent.
    pub sent: Instant,
}

/// The bytes of a real host's packet. No node on the way looks into them; what the network has to know of them, their
/// sender says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opaque {
    /// The protocol number above IP.
    pub protocol: u8,
    /// Source port; 0 in protocols without ports.
    pub source_port: u16,
    /// Destination port; 0 in protocols without ports.
    pub destination_port: u16,
    /// The whole IP packet, as it entered the network.
    pub bytes: Arc<[u8]>,
}

/// The bytes of a real host's Ethernet frame. The network carries it over one link; forwarding what is in it is the hosts' own affair.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ethernet {
    /// The channel that it is on, by number.
    pub channel: u32,
    /// The protocol number above IP; 0 where the frame carries no IP.
    pub protocol: u8,
    /// Source port; 0 in protocols without ports.
    pub source_port: u16,
    /// Destination port; 0 in protocols without ports.
    pub destination_port: u16,
    /// The whole frame without its check sequence, as the host's kernel gave it.
    pub bytes: Arc<[u8]>,
}

impl Ethernet {
    /// Destination, source and type (IEEE Std 802.3-2018, 3.1.1): on the air 802.11's header is in their place.
    pub const HEADER: usize = 14;

    /// What stands behind the addresses: the protocol of what the frame carries, or, below 1536, a length (IEEE Std 802.3-2018, 3.2.6).
    #[must_use]
    pub fn ether_type(&self) -> u16 {
        self.bytes.get(12..Self::HEADER).map_or(0, |field| u16::from_be_bytes([field[0], field[1]]))
    }

    /// What the frame carries.
    #[must_use]
    pub fn payload(&self) -> &[u8] {
        self.bytes.get(Self::HEADER..).unwrap_or_default()
    }
}

impl Body {
    /// IANA's number of the protocol; 0 of what is none above IP.
    #[must_use]
    pub const fn protocol(&self) -> u8 {
        match self {
            Self::Tcp(_) => 6,
            // AODV and DSDV run over UDP.
            Self::Udp(_) | Self::Control(_) => 17,
            Self::Opaque(opaque) => opaque.protocol,
            Self::Ethernet(frame) => frame.protocol,
            Self::Arp(_) => 0,
        }
    }

    /// Source and destination port; 0 where there are none.
    #[must_use]
    pub fn ports(&self) -> (u16, u16) {
        match self {
            Self::Tcp(segment) => (segment.source_port, segment.destination_port),
            Self::Udp(datagram) => (datagram.source_port, datagram.destination_port),
            Self::Opaque(opaque) => (opaque.source_port, opaque.destination_port),
            Self::Ethernet(frame) => (frame.source_port, frame.destination_port),
            Self::Control(_) | Self::Arp(_) => (0, 0),
        }
    }
}
