//! Packets of the network layer, and the store that holds them while they are somewhere in the mesh.

use meshpace_routing::{Control, PacketInfo};
use meshpace_tcp::Segment;
use meshpace_units::{Bytes, Instant, NodeId};

/// A node of either kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Host {
    /// A mesh node or gateway.
    Mesh(NodeId),
    /// A wired node, by its index.
    Wired(u32),
}

/// Which end of a flow a packet is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The end that sends the data.
    Sender,
    /// The end that receives them.
    Receiver,
}

/// What is inside a packet.
#[derive(Clone, Debug, PartialEq)]
pub enum Body {
    /// A TCP segment of a flow.
    Tcp {
        /// The flow's index.
        flow: u32,
        /// The end it goes to.
        to: Side,
        /// The segment.
        segment: Segment,
    },
    /// A UDP packet of a flow.
    Udp {
        /// The flow's index.
        flow: u32,
        /// Its number within the flow, from 0.
        number: u64,
        /// When its application sent it.
        sent: Instant,
        /// Bytes of payload.
        payload: Bytes,
    },
    /// A routing packet.
    Control(Control),
}

/// A packet of the network layer.
#[derive(Clone, Debug, PartialEq)]
pub struct Packet {
    /// Where it comes from.
    pub source: Host,
    /// Where it goes; routing packets name the node they were sent to, broadcasts the node that sent them.
    pub destination: Host,
    /// Where it entered the mesh, and where it leaves it.
    pub entry: NodeId,
    /// See `entry`.
    pub exit: NodeId,
    /// Link receptions so far.
    pub travelled: u32,
    /// IP time to live.
    pub ttl: u8,
    /// Size with IP header, as sent.
    pub size: Bytes,
    /// The neighbour it is queued for; `None`: broadcast.
    pub next_hop: Option<NodeId>,
    /// What it carries.
    pub body: Body,
}

/// What drops are counted by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// With payload.
    Data,
    /// A pure TCP acknowledgement.
    Ack,
    /// Routing.
    Control,
}

impl Packet {
    /// A packet as its source hands it to the network layer, which fills in the way and the time to live.
    pub fn new(source: Host, destination: Host, size: Bytes, body: Body) -> Self {
        let (entry, exit) = (NodeId(0), NodeId(0));
        Self { source, destination, entry, exit, travelled: 0, ttl: 0, size, next_hop: None, body }
    }

    /// What drops of it are counted as. A SYN counts with the data, as in ns-2, whose first segment it is.
    pub fn class(&self) -> Class {
        match &self.body {
            Body::Tcp { to: Side::Receiver, .. } | Body::Udp { .. } => Class::Data,
            Body::Tcp { segment, .. } if segment.payload > 0 => Class::Data,
            Body::Tcp { .. } => Class::Ack,
            Body::Control(_) => Class::Control,
        }
    }

    /// What routing has to know.
    pub fn info(&self) -> PacketInfo {
        PacketInfo { source: self.entry, destination: self.exit, travelled: self.travelled, ttl: self.ttl }
    }
}

/// A packet in the store.
pub type Handle = u32;

/// Packets by handle. A handle is freed exactly once, by whoever holds it when the packet's way ends.
#[derive(Default)]
pub struct Packets {
    slots: Vec<Option<Slot>>,
    free: Vec<Handle>,
}

struct Slot {
    packet: Packet,
    /// Receivers of a broadcast that have not had it yet: it is over for its sender before it is for them.
    awaited: u32,
    /// The sender is done with it.
    done: bool,
}

impl Packets {
    /// Stores a packet.
    pub fn add(&mut self, packet: Packet) -> Handle {
        let slot = Some(Slot { packet, awaited: 0, done: false });
        match self.free.pop() {
            Some(handle) => {
                self.slots[handle as usize] = slot;
                handle
            }
            None => {
                self.slots.push(slot);
                (self.slots.len() - 1) as Handle
            }
        }
    }

    /// Takes a packet out.
    pub fn take(&mut self, handle: Handle) -> Packet {
        let slot =
            self.slots[handle as usize].take().unwrap_or_else(|| panic!("packet {handle} is gone already"));
        assert!(slot.awaited == 0, "{:?} is awaited by {} receivers", slot.packet, slot.awaited);
        self.free.push(handle);
        slot.packet
    }

    /// One more receiver will read this broadcast.
    pub fn expect_reader(&mut self, handle: Handle) {
        self.slot(handle).awaited += 1;
    }

    /// A receiver of this broadcast is done with it.
    pub fn reader_done(&mut self, handle: Handle) {
        let slot = self.slot(handle);
        slot.awaited -= 1;
        if slot.awaited == 0 && slot.done {
            self.take(handle);
        }
    }

    /// The sender of this broadcast is done with it: it goes when its last reader is.
    pub fn sender_done(&mut self, handle: Handle) {
        let slot = self.slot(handle);
        slot.done = true;
        if slot.awaited == 0 {
            self.take(handle);
        }
    }

    /// How many packets there are.
    #[cfg(test)]
    pub fn count(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    fn slot(&mut self, handle: Handle) -> &mut Slot {
        self.slots[handle as usize].as_mut().unwrap_or_else(|| panic!("packet {handle} is gone"))
    }

    /// Looks at a packet.
    pub fn get(&self, handle: Handle) -> &Packet {
        match &self.slots[handle as usize] {
            Some(slot) => &slot.packet,
            None => panic!("packet {handle} is gone"),
        }
    }

    /// Changes a packet.
    pub fn get_mut(&mut self, handle: Handle) -> &mut Packet {
        &mut self.slot(handle).packet
    }
}
