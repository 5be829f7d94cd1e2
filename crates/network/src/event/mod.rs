//! What happens, and when: time, then the order of scheduling.

mod alarm;
mod deadlines;
mod heap;
mod line;
mod queue;

pub use alarm::Alarm;
pub use queue::EventQueue;

use meshpace_radio::Peer;
use meshpace_units::NodeId;

/// An interface of a node: a station, by its number among those of all airs, and what belongs to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct InterfaceId(pub u32);

impl InterfaceId {
    /// The index as a `usize`, to address a slice of interfaces.
    #[inline]
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// Something that will happen, and to whom; `T` names the timers of the network's user. Indices rather than
/// references keep an entry small.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event<T> {
    /// The last bit of the frame that `from` sent arrives at a station, to which it is addressed.
    FrameEnds {
        /// Receiver.
        at: InterfaceId,
        /// Transmitter, by its number on the same air.
        from: u32,
    },
    /// The same for a receiver so far away that the transmitter may have sent its next frame meanwhile.
    FarFrameEnds {
        /// Receiver.
        at: InterfaceId,
        /// The receiver's own copy of the frame, by its number on the air.
        copy: u32,
    },
    /// The last bit of the frame that `from` sent for another station arrives at a station, behind which a relay listens.
    Overheard {
        /// The node that listens.
        at: InterfaceId,
        /// Transmitter, by its number on the same air.
        from: u32,
    },
    /// The same for a listener far away.
    FarOverheard {
        /// The node that listens.
        at: InterfaceId,
        /// The listener's own copy of the frame, by its number on the air.
        copy: u32,
    },
    /// A station's deadline.
    Station(InterfaceId),
    /// A received packet has passed the link layer and reaches the network layer.
    NetworkInput {
        /// Receiver.
        at: InterfaceId,
        /// The packet.
        packet: u32,
        /// The previous hop.
        from: NodeId,
    },
    /// A packet that routing held back comes to the link layer, which did not know the address of its next hop then.
    SendDown {
        /// By which it is to be sent.
        at: InterfaceId,
        /// The packet; its next hop is noted in it.
        packet: u32,
    },
    /// A packet has passed the link layer on its way down and reaches the interface's queue.
    Enqueue {
        /// By which it is to be sent.
        at: InterfaceId,
        /// The packet; its next hop is noted in it.
        packet: u32,
    },
    /// What arrived at an interface from a neighbour may have waited long enough for what is missing before it.
    Reorder {
        /// Receiver.
        at: InterfaceId,
        /// The previous hop, and the priority of what waits.
        from: Peer,
    },
    /// The deadline of an interface's relay.
    Relay(InterfaceId),
    /// The deadline of the relay of a directed wired link.
    WiredRelay(u32),
    /// The deadline of a node's routing.
    Routing(NodeId),
    /// A wired link has sent a packet.
    WiredSent(u32),
    /// A packet arrives at the far end of a wired link.
    WiredArrival {
        /// The directed link.
        link: u32,
        /// The packet.
        packet: u32,
    },
    /// A gateway's deadline.
    Gateway(u32),
    /// Nodes have moved.
    Movement,
    /// A timer of the network's user.
    Timer(T),
}
