//! A queue of packets of whatever kind under CoDel.

use crate::{Codel, Config, Queue};
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use meshpace_units::{Bytes, Instant};

/// What becomes of packets that have waited too long: the queue's driver marks and drops them.
pub trait Fate<P> {
    /// Marks a packet that goes on, in place of dropping it; false if its transport does not react to marks (RFC 3168, section 5).
    fn mark(&mut self, packet: &mut P) -> bool;

    /// Drops a packet that was taken out.
    fn drop(&mut self, packet: P);
}

/// A packet that waits.
#[derive(Clone, Debug)]
struct Waiting<P> {
    packet: P,
    since: Instant,
    size: Bytes,
}

/// The packets, first in, first out.
#[derive(Clone, Debug)]
struct Line<P> {
    waiting: VecDeque<Waiting<P>>,
    bytes: Bytes,
}

impl<P> Line<P> {
    fn pop(&mut self) -> Option<Waiting<P>> {
        let first = self.waiting.pop_front()?;
        self.bytes = self.bytes - first.size;
        Some(first)
    }
}

/// The queue as the law sees it.
struct Managed<'a, P, F> {
    line: &'a mut Line<P>,
    fate: &'a mut F,
}

impl<P, F: Fate<P>> Queue for Managed<'_, P, F> {
    type Packet = Waiting<P>;

    fn pop(&mut self) -> Option<Waiting<P>> {
        self.line.pop()
    }

    fn since(packet: &Waiting<P>) -> Instant {
        packet.since
    }

    fn backlog(&self) -> Bytes {
        self.line.bytes
    }

    fn mark(&mut self, packet: &mut Waiting<P>) -> bool {
        self.fate.mark(&mut packet.packet)
    }

    fn drop(&mut self, packet: Waiting<P>) {
        self.fate.drop(packet.packet);
    }
}

/// A queue under CoDel.
#[derive(Clone, Debug)]
pub struct Fifo<P> {
    line: Line<P>,
    law: Codel,
}

impl<P> Default for Fifo<P> {
    fn default() -> Self {
        Self { line: Line { waiting: VecDeque::new(), bytes: Bytes::ZERO }, law: Codel::default() }
    }
}

impl<P> Fifo<P> {
    /// Packets that wait.
    #[must_use]
    pub fn len(&self) -> usize {
        self.line.waiting.len()
    }

    /// True if none waits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.line.waiting.is_empty()
    }

    /// Bytes that wait.
    #[must_use]
    pub const fn bytes(&self) -> Bytes {
        self.line.bytes
    }

    /// When its first packet came; `None` of an empty queue.
    #[must_use]
    pub fn waits_since(&self) -> Option<Instant> {
        self.line.waiting.front().map(|first| first.since)
    }

    /// Its first packet.
    #[must_use]
    pub fn first(&self) -> Option<&P> {
        self.line.waiting.front().map(|first| &first.packet)
    }

    /// The length of its longest packet; 0 of an empty queue.
    #[must_use]
    pub fn longest(&self) -> Bytes {
        self.line.waiting.iter().map(|waiting| waiting.size).max().unwrap_or_default()
    }

    /// A packet is to wait.
    pub fn push(&mut self, now: Instant, size: Bytes, packet: P) {
        self.line.bytes += size;
        self.line.waiting.push_back(Waiting { packet, since: now, size });
    }

    /// The first packet, whatever its wait, and its size.
    pub fn pop_head(&mut self) -> Option<(P, Bytes)> {
        self.line.pop().map(|first| (first.packet, first.size))
    }

    /// The packet to send now, and its size. Drops or marks others before it.
    pub fn dequeue(&mut self, now: Instant, config: &Config, fate: &mut impl Fate<P>) -> Option<(P, Bytes)> {
        let first = self.law.dequeue(now, config, &mut Managed { line: &mut self.line, fate });
        first.map(|first| (first.packet, first.size))
    }

    /// Takes the packets out that are wanted, in order.
    pub fn take(&mut self, mut wanted: impl FnMut(&P) -> bool) -> Vec<P> {
        let mut taken = Vec::new();
        for waits in core::mem::take(&mut self.line.waiting) {
            if wanted(&waits.packet) {
                self.line.bytes = self.line.bytes - waits.size;
                taken.push(waits.packet);
            } else {
                self.line.waiting.push_back(waits);
            }
        }
        taken
    }
}
