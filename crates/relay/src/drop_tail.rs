//! First in, first out; what does not fit is dropped.

use crate::here::Here;
use crate::packet::{Class, Handle, Packet};
use crate::relay::Relay;
use crate::{QueueConfig, RelayPart};
use std::collections::VecDeque;

/// What it says of itself.
pub static PART: RelayPart = RelayPart::new(
    "drop-tail",
    "First in, first out, routing packets at the head; what does not fit is dropped.",
    "schemes.md 17.2; ns-2's PriQueue (ns2-behaviour 4.4)",
    |_, queue| Box::new(DropTail::new(queue)),
);

/// Drop-tail with routing packets at the head, ns-2.35's `PriQueue` (ns2-behaviour 4.4).
#[derive(Clone, Debug)]
pub struct DropTail {
    /// Packets at the most, the one at the transmitter included.
    limit: usize,
    waiting: VecDeque<Handle>,
}

impl DropTail {
    /// An empty queue.
    #[must_use]
    pub fn new(queue: &QueueConfig) -> Self {
        Self { limit: queue.limit.max(1), waiting: VecDeque::new() }
    }

    /// What waits, first to last.
    pub(crate) fn waiting(&self) -> impl Iterator<Item = Handle> {
        self.waiting.iter().copied()
    }

    /// Takes one of those out, by its place.
    pub(crate) fn remove(&mut self, place: usize) -> Option<Handle> {
        self.waiting.remove(place)
    }
}

impl Relay for DropTail {
    /// A full queue drops the packet that comes; a routing packet pushes in at the head, and the last one out.
    fn enqueue(&mut self, here: &mut Here<'_>, packet: Handle) {
        // `limit - 1` wait behind the one at the transmitter. A packet that the transmitter takes at once does not wait,
        // whatever the limit.
        let limit = if here.is_free() { self.limit.max(2) } else { self.limit };
        if here.packets.get(packet).class == Class::Control {
            self.waiting.push_front(packet);
            if self.waiting.len() >= limit {
                if let Some(last) = self.waiting.pop_back() {
                    here.drop(last);
                }
            }
        } else if self.waiting.len() + 1 >= limit {
            here.drop(packet);
        } else {
            self.waiting.push_back(packet);
        }
    }

    fn dequeue(&mut self, _here: &mut Here<'_>) -> Option<Handle> {
        self.waiting.pop_front()
    }

    fn head(&self, _here: &Here<'_>) -> Option<Handle> {
        self.waiting.front().copied()
    }

    fn purge(&mut self, here: &mut Here<'_>, wanted: &mut dyn FnMut(&Packet) -> bool) {
        self.waiting.retain(|packet| {
            let keep = !wanted(here.packets.get(*packet));
            if !keep {
                here.drop(*packet);
            }
            keep
        });
    }

    fn len(&self) -> usize {
        self.waiting.len()
    }
}
