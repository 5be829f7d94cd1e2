//! Packets that wait for a route.

use crate::{Action, DropReason, PacketInfo};
use meshpace_units::{Instant, NodeId, Span};
use std::collections::VecDeque;

/// ns-2.35: 64 packets of all destinations together (schemes.md 18, item 10). RFC 3561 leaves it to the
/// implementation; both profiles use ns-2's.
pub(crate) const LIMIT: usize = 64;
/// ns-2.35: 30 s (schemes.md 18, item 10).
pub(crate) const TIMEOUT: Span = Span::from_secs(30);

#[derive(Debug)]
struct Waiting<P> {
    packet: P,
    destination: NodeId,
    until: Instant,
}

/// First in, first out for each destination; a full buffer drops its oldest packet.
#[derive(Debug)]
pub(crate) struct SendBuffer<P> {
    waiting: VecDeque<Waiting<P>>,
}

impl<P> SendBuffer<P> {
    pub(crate) const fn new() -> Self {
        Self { waiting: VecDeque::new() }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// True if a packet for `destination` waits, aged ones included: ns-2.35 looks without throwing them out.
    pub(crate) fn holds(&self, destination: NodeId) -> bool {
        self.waiting.iter().any(|w| w.destination == destination)
    }

    pub(crate) fn push(&mut self, now: Instant, packet: P, info: &PacketInfo, out: &mut Vec<Action<P>>) {
        self.drop_aged(now, out);
        if self.waiting.len() == LIMIT {
            let oldest = self.waiting.pop_front().expect("a full buffer has a head");
            out.push(Action::Drop { packet: oldest.packet, reason: DropReason::SendBufferFull });
        }
        self.waiting.push_back(Waiting { packet, destination: info.destination, until: now + TIMEOUT });
    }

    /// Takes the oldest packet for `destination`.
    pub(crate) fn pop(&mut self, now: Instant, destination: NodeId, out: &mut Vec<Action<P>>) -> Option<P> {
        self.drop_aged(now, out);
        let at = self.waiting.iter().position(|w| w.destination == destination)?;
        self.waiting.remove(at).map(|w| w.packet)
    }

    /// Drops everything for `destination`: no route was found.
    pub(crate) fn give_up(&mut self, now: Instant, destination: NodeId, out: &mut Vec<Action<P>>) {
        while let Some(packet) = self.pop(now, destination, out) {
            out.push(Action::Drop { packet, reason: DropReason::NoRoute });
        }
    }

    /// All packets wait equally long, so the aged ones are in front.
    fn drop_aged(&mut self, now: Instant, out: &mut Vec<Action<P>>) {
        while self.waiting.front().is_some_and(|w| w.until < now) {
            let aged = self.waiting.pop_front().expect("the front was just seen");
            out.push(Action::Drop { packet: aged.packet, reason: DropReason::SendBufferTimeout });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn info(destination: u32) -> PacketInfo {
        PacketInfo { source: NodeId(0), destination: NodeId(destination), travelled: 0, ttl: 30 }
    }

    #[test]
    fn a_full_buffer_drops_its_oldest_packet() {
        let (mut buffer, mut out) = (SendBuffer::new(), Vec::new());
        for n in 0..LIMIT {
            buffer.push(Instant::ZERO, n, &info(n as u32 % 3), &mut out);
        }
        assert_eq!(out, []);
        buffer.push(Instant::ZERO, LIMIT, &info(7), &mut out);
        assert_eq!(out, [Action::Drop { packet: 0, reason: DropReason::SendBufferFull }]);
        assert_eq!(buffer.pop(Instant::ZERO, NodeId(0), &mut out), Some(3));
        assert_eq!(buffer.pop(Instant::ZERO, NodeId(7), &mut out), Some(LIMIT));
        assert_eq!(buffer.pop(Instant::ZERO, NodeId(7), &mut out), None);
        assert_eq!(out.len(), 1);
    }

    #[test]
    fn packets_wait_thirty_seconds_and_are_thrown_out_when_the_buffer_is_used() {
        let (mut buffer, mut out) = (SendBuffer::new(), Vec::new());
        buffer.push(Instant::ZERO, 'a', &info(1), &mut out);
        let late = Instant::ZERO + TIMEOUT + Span::NANOSECOND;
        assert!(buffer.holds(NodeId(1)));
        assert_eq!(buffer.pop(Instant::ZERO + TIMEOUT, NodeId(2), &mut out), None);
        assert_eq!(out, []);
        buffer.push(late, 'b', &info(2), &mut out);
        assert_eq!(out, [Action::Drop { packet: 'a', reason: DropReason::SendBufferTimeout }]);
        assert!(!buffer.holds(NodeId(1)) && buffer.holds(NodeId(2)));
    }
}
