//! The store that holds packets while they are somewhere in the network.

use crate::Packet;

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
    ///
    /// # Panics
    /// If it is gone already, or a reader of it is awaited.
    pub fn take(&mut self, handle: Handle) -> Packet {
        let slot =
            self.slots[handle as usize].take().unwrap_or_else(|| panic!("packet {handle} is gone already"));
        assert!(slot.awaited == 0, "{:?} is awaited by {} receivers", slot.packet, slot.awaited);
        self.free.push(handle);
        slot.packet
    }

    /// Forgets a packet.
    ///
    /// # Panics
    /// As [`take`](Self::take).
    pub fn remove(&mut self, handle: Handle) {
        let slot = &mut self.slots[handle as usize];
        match slot {
            Some(slot) => {
                assert!(slot.awaited == 0, "{:?} is awaited by {} receivers", slot.packet, slot.awaited);
            }
            None => panic!("packet {handle} is gone already"),
        }
        *slot = None;
        self.free.push(handle);
    }

    /// Stores a copy of a packet.
    ///
    /// # Panics
    /// If it is gone.
    pub fn copy(&mut self, handle: Handle) -> Handle {
        let copy = self.get(handle).clone();
        self.add(copy)
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
        self.slots[handle as usize].as_mut().unwrap_or_else(|| panic!("packet {handle} is gone"))
    }

    /// Looks at a packet.
    ///
    /// # Panics
    /// If it is gone.
    #[must_use]
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
