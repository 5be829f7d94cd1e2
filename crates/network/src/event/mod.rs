//! What happens, and when: time, then the order of scheduling.

mod alarm;
mod deadlines;
mod heap;
mod line;
mod queue;

pub use alarm::Alarm;
pub use queue::EventQueue;

/// Something that will happen, and to whom; `T` names the timers of whoever hangs on the network. Indices rather than
/// references keep an entry small.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event<T> {
    /// The last bit of the frame that `from` sent arrives at `node`, to which it is addressed.
    FrameEnds {
        /// Receiver.
        node: u32,
        /// Transmitter.
        from: u32,
    },
    /// The same for a receiver so far away that the transmitter may have sent its next frame meanwhile.
    FarFrameEnds {
        /// Receiver.
        node: u32,
        /// The receiver's own copy of the frame, by its number.
        copy: u32,
    },
    /// The last bit of the frame that `from` sent for somebody else arrives at `node`, whose relay listens.
    Overheard {
        /// Who listens.
        node: u32,
        /// Transmitter.
        from: u32,
    },
    /// The same for a listener far away.
    FarOverheard {
        /// Who listens.
        node: u32,
        /// The listener's own copy of the frame, by its number.
        copy: u32,
    },
    /// A station's deadline.
    Station(u32),
    /// A received packet has passed the link layer and reaches the network layer.
    NetworkInput {
        /// Receiver.
        node: u32,
        /// The packet.
        packet: u32,
        /// The previous hop.
        from: u32,
    },
    /// A packet that routing held back comes to the link layer, which did not know the address of its next hop then.
    SendDown {
        /// Sender.
        node: u32,
        /// The packet; its next hop is noted in it.
        packet: u32,
    },
    /// A packet has passed the link layer on its way down and reaches the interface queue.
    Enqueue {
        /// Sender.
        node: u32,
        /// The packet; its next hop is noted in it.
        packet: u32,
    },
    /// The deadline of a mesh node's relay.
    Relay(u32),
    /// The deadline of the relay of a directed wired link.
    WiredRelay(u32),
    /// A routing machine's deadline.
    Routing(u32),
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
    /// A timer of whoever hangs on the network.
    Timer(T),
}
