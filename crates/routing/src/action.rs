//! What a routing machine learns of a data packet, and what it asks its driver to do.

use crate::Control;
use meshpace_units::{NodeId, Span};

/// What routing needs to know of a data packet: UDP, TCP data and TCP acknowledgements alike.
///
/// Wired hosts do not exist here: the driver names their gateway instead (schemes.md 18, item 11).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketInfo {
    /// The mesh node (or gateway) where the packet entered the mesh.
    pub source: NodeId,
    /// The mesh node (or gateway) where it leaves the mesh.
    pub destination: NodeId,
    /// Wireless link receptions so far; 0 at the source.
    pub travelled: u32,
    /// The IP time to live after this node, if it is a relay, took one off. At the source:
    /// [`RoutingProtocol::data_ttl`](crate::RoutingProtocol::data_ttl).
    pub ttl: u8,
}

/// Where a routing packet goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recipient {
    /// To all neighbours that hear it: sent once, at the basic rate, without acknowledgement.
    Broadcast,
    /// To this neighbour. If the MAC gives it up it is dropped without a word to routing (ns2-behaviour 5.5), unless
    /// that [asks for link events](crate::RoutingProtocol::asks_for_link_events).
    Unicast(NodeId),
}

/// Why routing drops a data packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DropReason {
    /// No route, and none was found or may be searched.
    NoRoute,
    /// Pushed out of the full send buffer by a newer packet.
    SendBufferFull,
    /// Waited too long in the send buffer.
    SendBufferTimeout,
    /// The time to live is used up.
    Expired,
    /// It came back to its source.
    Loop,
    /// The MAC gave it up and the route went down with it.
    LinkFailure,
}

/// One thing the driver has to do. The order within one call matters.
#[derive(Clone, Debug, PartialEq)]
pub enum Action<P> {
    /// Hand `packet` to the interface queue for `next_hop`, `delay` from now.
    SendData {
        /// The packet.
        packet: P,
        /// The neighbour it goes to.
        next_hop: NodeId,
        /// Zero, or the gap that spaces packets released from the send buffer.
        delay: Span,
    },
    /// Put `message` at the head of the interface queue, `delay` from now (schemes.md 17: routing first).
    SendControl {
        /// The message.
        message: Control,
        /// The neighbour that gets it.
        to: Recipient,
        /// The IP time to live it leaves with; the receiver's `on_control` is given the same number.
        ttl: u8,
        /// Zero, or random jitter.
        delay: Span,
    },
    /// Remove the packets of this next hop that wait in the interface queue, from the head on, and drop them
    /// (ns2-behaviour 4.5). The packet in the MAC is not touched.
    PurgeQueue {
        /// The next hop.
        next_hop: NodeId,
        /// Broadcasts of routing that [say so](crate::Message::goes_with_purges) and packets of address resolution go along.
        unaddressed: bool,
    },
    /// `packet` ends here.
    Drop {
        /// The packet.
        packet: P,
        /// Why.
        reason: DropReason,
    },
}

/// The checks every protocol makes before it looks for a route: a packet back at its source is in a loop, and a
/// relay forwards nothing whose time to live is used up (ns-2.35, AODV and DSDV alike).
///
/// # Panics
/// If the packet is for this node: delivery is not routing's business.
pub(crate) fn refusal(me: NodeId, info: &PacketInfo) -> Option<DropReason> {
    assert_ne!(info.destination, me, "a packet for the node itself was given to routing: {info:?}");
    if info.source == me && info.travelled > 0 {
        Some(DropReason::Loop)
    } else if info.ttl == 0 {
        Some(DropReason::Expired)
    } else {
        None
    }
}
