//! Drop-tail that knows how many bytes wait, for controllers that go by them.

use crate::here::Here;
use crate::packet::{Class, Handle, Packet, Request};
use crate::relay::Relay;
use crate::{DropTail, QueueConfig, QueueSite};
use meshpace_tcp::control::Feedback;
use meshpace_units::Bytes;

/// A queue and its bytes.
#[derive(Clone, Debug)]
pub(crate) struct Measured {
    queue: DropTail,
    bytes: Bytes,
}

impl Measured {
    pub(crate) fn new(queue: &QueueConfig) -> Self {
        Self { queue: DropTail::new(queue), bytes: Bytes(0) }
    }

    /// A packet is to wait, if there is room.
    pub(crate) fn enqueue(&mut self, here: &mut Here<'_>, packet: Handle) {
        let Packet { size, class, .. } = *here.packets.get(packet);
        let before = self.queue.len();
        self.queue.enqueue(here, packet);
        if self.queue.len() > before {
            self.bytes += size;
        } else if class == Class::Control {
            // It has pushed out another one, or itself.
            self.recount(here);
        }
    }

    /// The next packet, and its size.
    pub(crate) fn dequeue(&mut self, here: &mut Here<'_>) -> Option<(Handle, Bytes)> {
        let packet = self.queue.dequeue(here)?;
        let size = here.packets.get(packet).size;
        self.bytes = self.bytes - size;
        Some((packet, size))
    }

    /// The packet that would go next.
    pub(crate) fn head(&self, here: &Here<'_>) -> Option<Handle> {
        self.queue.head(here)
    }

    pub(crate) fn purge(&mut self, here: &mut Here<'_>, wanted: &mut dyn FnMut(&Packet) -> bool) {
        self.queue.purge(here, wanted);
        self.recount(here);
    }

    fn recount(&mut self, here: &Here<'_>) {
        self.bytes = self.queue.waiting().map(|packet| here.packets.get(packet).size).sum();
    }

    pub(crate) fn len(&self) -> usize {
        self.queue.len()
    }

    pub(crate) fn bytes(&self) -> Bytes {
        self.bytes
    }
}

/// Rate of a transmitter, byte/s: of a radio that of its links where no exception applies.
pub(crate) fn capacity(queue: &QueueConfig) -> f64 {
    let (QueueSite::Radio { rate, .. } | QueueSite::Wired { rate, .. }) = queue.place;
    rate.as_bits_per_sec() as f64 / 8.0
}

/// What a packet's sender asks, if it asks something of this kind.
pub(crate) fn asked<T>(packet: &Packet, kind: u8, read: impl Fn(&[u8]) -> Option<T>) -> Option<T> {
    let request: Request = packet.shim()?;
    request.said.read(kind, read)
}

/// Writes the answer in the request's place.
pub(crate) fn answer(packet: &mut Packet, kind: u8, bytes: &[u8]) {
    let said = Feedback::new(kind, bytes);
    let said = said.unwrap_or_else(|| panic!("an answer of {} bytes", bytes.len()));
    packet.rewrite_shim(|request: &mut Request| request.said = said);
}
