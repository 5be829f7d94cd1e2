//! Packets that wait for their flow's turn: first in, first out, or kept short by CoDel (RFC 8289).

use crate::{Action, Departure, DiscardReason};
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use meshpace_codel::{Codel, Queue};
use meshpace_units::{Bytes, Ecn, Instant, Seq, Span};

/// CoDel's parameters for the pacing queues (`gap_queue = "codel"`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CodelConfig {
    /// The standing wait that is acceptable (`gap_queue_target`); at a slow pace two of its spacings.
    pub target: Span,
    /// How long it may stand, about the longest round trip between the ends (`gap_queue_interval`); where the target is
    /// longer than half of this, twice the target.
    pub interval: Span,
}

/// The target is at least so many spacings of the pace. One packet a spacing is all that leaves: two segments that come at
/// once, as senders do for a delayed ACK and in slow start, make the second wait one spacing, and the first up to another for
/// the one before. RFC 8289, section 4.4, asks for the time of a packet at least, where the link is slow; CAKE and FQ-CoDel
/// take one and a half.
const TARGET_SPACINGS: u64 = 2;
/// The interval is at least so many targets, so that the ends have time to react before the next signal.
const INTERVAL_TARGETS: u64 = 2;
/// A backlog of no more than one packet of an Ethernet is never dropped from.
const SPARED: Bytes = Bytes(1_500);

impl CodelConfig {
    /// What keeps most of the FIFO's goodput while packets wait a tenth as long, on the TCP-GAP paper's topologies with 240 ms
    /// round the wired part (docs/gateway-waits.md): RFC 8289's 5 and 100 ms cost a single flow a seventh of its goodput there.
    pub const DEFAULT: Self = Self { target: Span::from_millis(160), interval: Span::from_millis(320) };

    /// What they are for a flow with this spacing.
    #[must_use]
    pub fn at(&self, spacing: Option<Span>) -> meshpace_codel::Config {
        let target = self.target.max(spacing.map_or(Span::ZERO, |spacing| spacing * TARGET_SPACINGS));
        let interval = self.interval.max(target * INTERVAL_TARGETS);
        meshpace_codel::Config { target, interval, spared: SPARED }
    }
}

/// A packet on its way to the mesh.
#[derive(Debug)]
pub(crate) struct Outbound<P> {
    pub packet: P,
    pub start: Seq,
    pub end: Seq,
    pub wire_len: Bytes,
    pub strip: bool,
    pub ecn: Ecn,
    /// Marked while it waited (RFC 3168).
    pub mark: bool,
    pub arrived: Instant,
}

impl<P> Outbound<P> {
    /// It leaves the queue for the mesh.
    pub fn release(self, due: Instant) -> Departure<P> {
        let action = Action::Release { strip: self.strip, mark: self.mark };
        self.departure(action, due)
    }

    /// It leaves the queue and goes nowhere.
    pub fn discard(self, why: DiscardReason, now: Instant) -> Departure<P> {
        self.departure(Action::Discard(why), now)
    }

    fn departure(self, action: Action, due: Instant) -> Departure<P> {
        Departure { packet: self.packet, action, due, held_since: Some(self.arrived) }
    }
}

/// The queue of one flow.
#[derive(Debug)]
pub(crate) struct PacingQueue<P> {
    waiting: VecDeque<Outbound<P>>,
    bytes: Bytes,
    codel: Codel,
}

/// The queue as the law sees it.
struct Managed<'a, P> {
    queue: &'a mut VecDeque<Outbound<P>>,
    bytes: &'a mut Bytes,
    dropped: &'a mut Vec<Outbound<P>>,
}

impl<P> Queue for Managed<'_, P> {
    type Packet = Outbound<P>;

    fn pop(&mut self) -> Option<Outbound<P>> {
        let first = self.queue.pop_front()?;
        *self.bytes = *self.bytes - first.wire_len;
        Some(first)
    }

    fn since(packet: &Outbound<P>) -> Instant {
        packet.arrived
    }

    fn backlog(&self) -> Bytes {
        *self.bytes
    }

    fn mark(&mut self, packet: &mut Outbound<P>) -> bool {
        packet.mark |= packet.ecn.is_capable();
        packet.mark
    }

    fn drop(&mut self, packet: Outbound<P>) {
        self.dropped.push(packet);
    }
}

impl<P> PacingQueue<P> {
    pub fn new() -> Self {
        Self { waiting: VecDeque::new(), bytes: Bytes::ZERO, codel: Codel::default() }
    }

    pub fn len(&self) -> usize {
        self.waiting.len()
    }

    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Bytes that wait.
    pub const fn bytes(&self) -> Bytes {
        self.bytes
    }

    /// To the end.
    pub fn push(&mut self, packet: Outbound<P>) {
        self.bytes += packet.wire_len;
        self.waiting.push_back(packet);
    }

    /// To its place in the order of sequence, behind what begins at the same byte.
    pub fn insert(&mut self, packet: Outbound<P>) {
        self.bytes += packet.wire_len;
        let place = self.waiting.partition_point(|waiting| waiting.start.at_or_before(packet.start));
        self.waiting.insert(place, packet);
    }

    /// True if all of `[start, end)` waits, in a queue in the order of sequence.
    pub fn covers(&self, start: Seq, end: Seq) -> bool {
        let first = self.waiting.partition_point(|waiting| waiting.end.at_or_before(start));
        let mut reached = start;
        for waiting in self.waiting.range(first..) {
            if waiting.start.after(reached) {
                return false;
            }
            reached = reached.later(waiting.end);
            if reached.at_or_after(end) {
                return true;
            }
        }
        false
    }

    /// The first packet if it begins before `from`.
    pub fn pop_before(&mut self, from: Seq) -> Option<Outbound<P>> {
        self.waiting.front().filter(|first| first.start.before(from))?;
        self.pop()
    }

    /// The first packet, whatever its wait.
    pub fn pop(&mut self) -> Option<Outbound<P>> {
        self.managed(&mut Vec::new()).pop()
    }

    /// The packet to send now; what CoDel drops before it goes to `dropped`.
    pub fn dequeue(
        &mut self,
        now: Instant,
        codel: Option<&meshpace_codel::Config>,
        dropped: &mut Vec<Outbound<P>>,
    ) -> Option<Outbound<P>> {
        let Some(config) = codel else { return self.pop() };
        let mut law = core::mem::take(&mut self.codel);
        let first = law.dequeue(now, config, &mut self.managed(dropped));
        self.codel = law;
        first
    }

    fn managed<'a>(&'a mut self, dropped: &'a mut Vec<Outbound<P>>) -> Managed<'a, P> {
        Managed { queue: &mut self.waiting, bytes: &mut self.bytes, dropped }
    }
}
