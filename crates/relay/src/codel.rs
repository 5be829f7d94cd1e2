//! A queue of the simulated network under CoDel (RFC 8289); the law is `meshpace_codel`'s.

use crate::here::Here;
use meshpace_codel::{Codel as Law, Config, Queue};
use meshpace_packet::{Handle, Packet};
use meshpace_units::{Bytes, Instant};
use std::collections::VecDeque;

/// A packet that waits.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    packet: Handle,
    since: Instant,
    size: Bytes,
}

#[derive(Clone, Debug, Default)]
struct Fifo {
    waiting: VecDeque<Waiting>,
    bytes: Bytes,
}

impl Fifo {
    fn pop(&mut self) -> Option<Waiting> {
        let first = self.waiting.pop_front()?;
        self.bytes = self.bytes - first.size;
        Some(first)
    }
}

/// The queue as the law sees it: at a node, where packets are marked and dropped.
struct Managed<'q, 'h, 'a> {
    fifo: &'q mut Fifo,
    here: &'h mut Here<'a>,
}

impl Queue for Managed<'_, '_, '_> {
    type Packet = Waiting;

    fn pop(&mut self) -> Option<Waiting> {
        self.fifo.pop()
    }

    fn since(packet: &Waiting) -> Instant {
        packet.since
    }

    fn backlog(&self) -> Bytes {
        self.fifo.bytes
    }

    fn mark(&mut self, packet: &mut Waiting) -> bool {
        self.here.mark(packet.packet)
    }

    fn drop(&mut self, packet: Waiting) {
        self.here.drop(packet.packet);
    }
}

/// A queue under CoDel.
#[derive(Clone, Debug, Default)]
pub struct Codel {
    fifo: Fifo,
    law: Law,
}

impl Codel {
    /// Packets that wait.
    #[must_use]
    pub fn len(&self) -> usize {
        self.fifo.waiting.len()
    }

    /// True if none waits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.fifo.waiting.is_empty()
    }

    /// Bytes that wait.
    #[must_use]
    pub fn bytes(&self) -> Bytes {
        self.fifo.bytes
    }

    /// A packet is to wait.
    pub fn push(&mut self, here: &Here<'_>, packet: Handle) {
        let size = here.packets.get(packet).size;
        self.fifo.bytes += size;
        self.fifo.waiting.push_back(Waiting { packet, since: here.now, size });
    }

    /// The first packet, whatever its wait.
    pub fn pop_head(&mut self) -> Option<Handle> {
        self.fifo.pop().map(|first| first.packet)
    }

    /// Drops the packets that are wanted.
    pub fn purge(&mut self, here: &mut Here<'_>, wanted: &mut dyn FnMut(&Packet) -> bool) {
        let bytes = &mut self.fifo.bytes;
        self.fifo.waiting.retain(|waiting| {
            let keep = !wanted(here.packets.get(waiting.packet));
            if !keep {
                *bytes = *bytes - waiting.size;
                here.drop(waiting.packet);
            }
            keep
        });
    }

    /// The packet to send now, and its size. Drops or marks others before it.
    pub fn dequeue(&mut self, here: &mut Here<'_>, config: &Config) -> Option<(Handle, Bytes)> {
        let now = here.now;
        let first = self.law.dequeue(now, config, &mut Managed { fifo: &mut self.fifo, here });
        first.map(|waiting| (waiting.packet, waiting.size))
    }
}
