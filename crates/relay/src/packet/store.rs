//! The store that holds packets while they are somewhere in the network.

/// A packet in the store, by the handle that observers of its way know, too.
pub use meshpace_routing::Handle;

use crate::packet::{Packet, Ticket};
use std::collections::VecDeque;

/// Packets by handle. A handle is freed exactly once, by its holder when the packet's way ends.
#[derive(Default)]
pub struct Packets {
    slots: Vec<Slot>,
    free: Vec<Handle>,
    /// Of packets that have left the host that they set out from, in that order, until they are fetched.
    left: VecDeque<Ticket>,
}

/// A slot, and the ticket of what waits for its packet. The packet alone is optional, so that it is moved once, in or out.
struct Slot {
    packet: Option<Packet>,
    /// Receivers of a broadcast that have not had it yet: it is over for its sender before it is for them.
    awaited: u32,
    /// The sender is done with it.
    done: bool,
    /// The ticket to return when the packet has left the host that it set out from, or has been dropped there; `None`: there is no ticket, or it was returned.
    ticket: Option<Ticket>,
}

impl Packets {
    /// Stores a packet.
    pub fn add(&mut self, packet: Packet) -> Handle {
        match self.free.pop() {
            Some(handle) => {
                let slot = &mut self.slots[handle as usize];
                (slot.awaited, slot.done, slot.ticket) = (0, false, None);
                slot.packet = Some(packet);
                handle
            }
            None => {
                if self.slots.len() == self.slots.capacity() {
                    // A packet is some hundred bytes: doubling would leave up to half of the room empty.
                    self.slots.reserve_exact(16 + self.slots.len() / 16);
                }
                self.slots.push(Slot { packet: Some(packet), awaited: 0, done: false, ticket: None });
                (self.slots.len() - 1) as Handle
            }
        }
    }

    /// Takes a packet out. One that was still at the host that it set out from has left it.
    ///
    /// # Panics
    /// If it is gone already, or a reader of it is awaited.
    #[inline]
    pub fn take(&mut self, handle: Handle) -> Packet {
        let ticket = self.ended(handle).ticket.take();
        self.free.push(handle);
        self.left.extend(ticket);
        // Last, so that it is moved once: it is some hundred bytes.
        self.slots[handle as usize].packet.take().unwrap_or_else(|| gone(handle))
    }

    /// Forgets a packet. One that was still at the host that it set out from has left it.
    ///
    /// # Panics
    /// As [`take`](Self::take).
    pub fn remove(&mut self, handle: Handle) {
        let slot = self.ended(handle);
        if slot.packet.is_none() {
            gone(handle);
        }
        slot.packet = None;
        let ticket = slot.ticket.take();
        self.free.push(handle);
        self.left.extend(ticket);
    }

    /// The place of a packet whose way ends.
    fn ended(&mut self, handle: Handle) -> &mut Slot {
        let slot = &mut self.slots[handle as usize];
        assert!(slot.awaited == 0, "{:?} is awaited by {} receivers", slot.packet, slot.awaited);
        slot
    }

    /// Stores a copy of a packet, without word when it leaves a host: its sender has the packet itself until then.
    ///
    /// # Panics
    /// If it is gone.
    pub fn copy(&mut self, handle: Handle) -> Handle {
        let copy = self.get(handle).clone();
        self.add(copy)
    }

    /// Word is to come when a packet has left the host that it sets out from.
    pub fn issue(&mut self, handle: Handle, ticket: Ticket) {
        self.slot(handle).ticket = Some(ticket);
    }

    /// Takes the ticket off a packet: the packet leaves its host.
    pub fn withdraw(&mut self, handle: Handle) -> Option<Ticket> {
        self.slot(handle).ticket.take()
    }

    /// A packet has left the host that it set out from.
    pub fn leaves(&mut self, ticket: Ticket) {
        self.left.push_back(ticket);
    }

    /// The ticket of the next packet that has left the host that it set out from.
    #[inline]
    pub fn next_left(&mut self) -> Option<Ticket> {
        self.left.pop_front()
    }

    /// True if there is a packet that has left the host that it set out from, and no word came of it yet.
    #[must_use]
    pub fn any_left(&self) -> bool {
        !self.left.is_empty()
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
            self.remove(handle);
        }
    }

    /// The sender of this broadcast is done with it: it goes when its last reader is.
    pub fn sender_done(&mut self, handle: Handle) {
        let slot = self.slot(handle);
        slot.done = true;
        if slot.awaited == 0 {
            self.remove(handle);
        }
    }

    /// How many packets there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    fn slot(&mut self, handle: Handle) -> &mut Slot {
        let slot = &mut self.slots[handle as usize];
        if slot.packet.is_none() {
            gone(handle);
        }
        slot
    }

    /// Looks at a packet.
    ///
    /// # Panics
    /// If it is gone.
    #[must_use]
    pub fn get(&self, handle: Handle) -> &Packet {
        self.slots[handle as usize].packet.as_ref().unwrap_or_else(|| gone(handle))
    }

    /// Changes a packet.
    pub fn get_mut(&mut self, handle: Handle) -> &mut Packet {
        self.slots[handle as usize].packet.as_mut().unwrap_or_else(|| gone(handle))
    }
}

#[cold]
fn gone(handle: Handle) -> ! {
    panic!("packet {handle} is gone")
}
