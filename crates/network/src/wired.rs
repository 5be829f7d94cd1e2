//! The wired part: full-duplex links with rate, delay and a drop-tail queue a direction.

use meshpace_packet::{Class, Handle, Host};
use meshpace_units::{Bytes, Rate, Span};
use std::collections::VecDeque;

/// One direction of a link.
#[derive(Clone, Debug)]
pub struct WiredLink {
    /// Sender.
    pub from: Host,
    /// Receiver.
    pub to: Host,
    rate: Rate,
    delay: Span,
    /// Packets at the most, the one being sent included.
    limit: usize,
    waiting: VecDeque<Handle>,
    sending: bool,
    /// Drops and packets carried in the measured interval.
    pub count: WiredCount,
}

/// Counters of one direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WiredCount {
    /// Packets with payload dropped.
    pub data_drops: u64,
    /// Acknowledgements dropped.
    pub ack_drops: u64,
    /// Packets sent.
    pub carried: u64,
}

/// What a link does with a packet offered to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offered {
    /// Its first bit leaves now.
    Started,
    /// It waits.
    Queued,
    /// The queue was full.
    Dropped,
}

impl WiredLink {
    /// One direction of a link; `queue` counts the packet being sent, as ns-2.35 does (schemes.md 17.2).
    pub fn new(from: Host, to: Host, rate: Rate, delay: Span, queue: u32) -> Self {
        let limit = queue.max(1) as usize;
        Self {
            from,
            to,
            rate,
            delay,
            limit,
            waiting: VecDeque::new(),
            sending: false,
            count: WiredCount::default(),
        }
    }

    /// Time to send a packet of this size; the link adds no header of its own.
    pub fn serialisation(&self, size: Bytes) -> Span {
        self.rate.time_to_send(size).unwrap_or_else(|| panic!("a link of {:?}", self.rate))
    }

    /// Propagation delay.
    pub fn delay(&self) -> Span {
        self.delay
    }

    /// A packet is to be sent.
    pub fn offer(&mut self, packet: Handle, class: Class) -> Offered {
        if !self.sending {
            self.sending = true;
            return Offered::Started;
        }
        // ns-2.35 drops when `limit - 1` wait already; a queue of 1 still holds the packet being sent.
        if self.waiting.len() + 1 >= self.limit {
            match class {
                Class::Data => self.count.data_drops += 1,
                Class::Ack => self.count.ack_drops += 1,
                Class::Control => {}
            }
            return Offered::Dropped;
        }
        self.waiting.push_back(packet);
        Offered::Queued
    }

    /// The packet being sent is out: the next one, whose first bit leaves now.
    pub fn sent(&mut self) -> Option<Handle> {
        self.count.carried += 1;
        let next = self.waiting.pop_front();
        self.sending = next.is_some();
        next
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fifty_fit_one_being_sent() {
        let (a, b) = (Host::Wired(0), Host::Wired(1));
        let mut link = WiredLink::new(a, b, Rate::bits_per_sec(10_000_000), Span::from_millis(40), 50);
        assert_eq!(link.offer(0, Class::Data), Offered::Started);
        assert_eq!((1..100).filter(|p| link.offer(*p, Class::Data) == Offered::Queued).count(), 49);
        assert_eq!(link.count.data_drops, 50);
        assert_eq!(link.sent(), Some(1));
        assert_eq!(link.serialisation(Bytes(1500)), Span::from_micros(1200));
        for _ in 0..48 {
            assert!(link.sent().is_some());
        }
        assert_eq!(link.sent(), None);
        assert_eq!(link.offer(7, Class::Ack), Offered::Started);
    }
}
