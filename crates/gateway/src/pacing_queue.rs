//! Packets that wait for their flow's turn: first in, first out, or kept short by CoDel (RFC 8289).

use crate::{Action, Departure, DiscardReason};
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use meshpace_codel::{Codel, Queue};
use meshpace_units::{Bytes, Ecn, Instant, Seq, Span};

/// CoDel's parameters for the pacing queues (`gap_queue = "codel"`): given, or by each flow's own round trip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CodelConfig {
    /// The standing wait that is acceptable (`gap_queue_target`); `None`: half of the flow's round trip. At least two of its
    /// spacings.
    pub target: Option<Span>,
    /// How long it may stand (`gap_queue_interval`); `None`: until the sender's answer to a signal reaches the head of the queue.
    /// At least two targets.
    pub interval: Option<Span>,
}

/// What a flow's packets pass besides its pacing queue, and how fast they leave that.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Path {
    /// Round trip of the wired part; `None` if the gateway came in the middle of the connection.
    pub wired: Option<Span>,
    /// Round trip of the wireless part, smoothed; `None` before the first.
    pub wireless: Option<Span>,
    /// Spacing of the packets; `None` while nothing limits it.
    pub spacing: Option<Span>,
}

impl Path {
    /// The round trip without the wait here.
    pub fn round_trip(&self) -> Span {
        self.wired.unwrap_or(WIRED_UNSEEN) + self.wireless.unwrap_or(Span::ZERO)
    }
}

/// The wired round trip of a flow whose handshake was not seen and that sends nothing to the Internet: what RFC 8289, section
/// 4.3, takes for any.
const WIRED_UNSEEN: Span = Span::from_millis(100);
/// A sender that halves its window (RFC 5681) leaves its queue empty, and so the mesh idle, for as long as the queue was shorter
/// than the round trip R without it; and a queue that peaks at R has R/2 in the median, which doubles the delay of half a round
/// trip. At R/2 the pipe lacks a quarter of its content at most, an eighth in the mean, for two sevenths of the time: 3.6 % of the
/// throughput, and the median wait is R/6.
const TARGET_PART: u64 = 2;
/// The target is at least so many spacings of the pace. Only one packet leaves in each spacing. Senders send two segments at
/// once, for a delayed ACK and in slow start: the second then waits one spacing, and the first up to another one for the
/// segment before. RFC 8289, section 4.4, asks for the time of a packet at least, where the link is slow; CAKE and FQ-CoDel
/// take one and a half.
const TARGET_SPACINGS: u64 = 2;
/// A sender learns of a drop by so many duplicate ACKs (RFC 5681, section 3.2): as many packets must leave after it.
const DUPLICATES: u64 = 3;
/// The interval is at least so many targets, so that the ends have time to react before the next signal.
const INTERVAL_TARGETS: u64 = 2;
/// A backlog of no more than one packet of an Ethernet is never dropped from.
const SPARED: Bytes = Bytes(1_500);

impl CodelConfig {
    /// Both by the round trip.
    pub const BY_ROUND_TRIP: Self = Self { target: None, interval: None };

    /// What they are for a flow.
    ///
    /// RFC 8289, section 4.3, asks for an interval of the longest round trip, lest a second signal falls before the first was
    /// answered. A pacing queue has one flow, whose round trip is known in its parts. A packet dropped at the head is missed by
    /// three that leave after it, a spacing each; that takes a round trip to come back as fewer packets, which are seen to wait
    /// less once those before them have left: a target later.
    #[must_use]
    pub fn of(&self, path: &Path) -> meshpace_codel::Config {
        let round_trip = path.round_trip();
        let spacing = path.spacing.unwrap_or(Span::ZERO);
        let target = self.target.unwrap_or(round_trip / TARGET_PART).max(spacing * TARGET_SPACINGS);
        let answer = round_trip + target + spacing * DUPLICATES;
        let interval = self.interval.unwrap_or(answer).max(target * INTERVAL_TARGETS);
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
    /// In the order in which packets of all flows came.
    pub ticket: u64,
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

/// Packets of a flow that were sent again and keep their turn; what is beyond goes to its place in the order of sequence.
const AGAIN_MAX: usize = 64;

/// The queue of one flow.
#[derive(Debug)]
pub(crate) struct PacingQueue<P> {
    waiting: VecDeque<Outbound<P>>,
    bytes: Bytes,
    /// Packets that were sent again and keep their turn, each with the end of the queue when it came.
    again: VecDeque<(Seq, Outbound<P>)>,
    again_bytes: Bytes,
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
        if self.queue.is_empty() {
            *self.queue = VecDeque::new(); // of many flows few have packets that wait at a time
        }
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
        Self {
            waiting: VecDeque::new(),
            bytes: Bytes::ZERO,
            again: VecDeque::new(),
            again_bytes: Bytes::ZERO,
            codel: Codel::default(),
        }
    }

    pub fn len(&self) -> usize {
        self.waiting.len() + self.again.len()
    }

    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty() && self.again.is_empty()
    }

    /// The number of the packet whose turn it is.
    pub fn first_ticket(&self) -> Option<u64> {
        let first = if self.is_agains_turn() {
            self.again.front().map(|(_, packet)| packet)
        } else {
            self.waiting.front()
        };
        first.map(|packet| packet.ticket)
    }

    /// Bytes that wait.
    pub fn bytes(&self) -> Bytes {
        self.bytes + self.again_bytes
    }

    /// To the end, behind what was sent again and keeps its turn, too: that turn goes by the order of sequence, which a queue in the
    /// order of arrival does not have.
    pub fn push(&mut self, packet: Outbound<P>) {
        self.bytes = self.bytes + self.again_bytes + packet.wire_len;
        self.again_bytes = Bytes::ZERO;
        self.waiting.extend(self.again.drain(..).map(|(_, again)| again));
        self.waiting.push_back(packet);
    }

    /// To its place in the order of sequence, behind what begins at the same byte.
    pub fn insert(&mut self, packet: Outbound<P>) {
        self.bytes += packet.wire_len;
        let place = self.waiting.partition_point(|waiting| waiting.start.at_or_before(packet.start));
        self.waiting.insert(place, packet);
    }

    /// Behind all that waits now, beside a queue in the order of sequence.
    pub fn insert_in_turn(&mut self, packet: Outbound<P>) {
        match self.waiting.back().map(|last| last.end) {
            Some(end) if packet.start.before(end) && self.again.len() < AGAIN_MAX => {
                self.again_bytes += packet.wire_len;
                self.again.push_back((end, packet));
            }
            _ => self.insert(packet),
        }
    }

    /// True if what was sent again and kept its turn is to go next.
    fn is_agains_turn(&self) -> bool {
        let first = self.waiting.front();
        self.again.front().is_some_and(|(turn, _)| first.is_none_or(|first| first.start.at_or_after(*turn)))
    }

    fn pop_again(&mut self) -> Option<Outbound<P>> {
        let (_, packet) = self.again.pop_front()?;
        self.again_bytes = self.again_bytes - packet.wire_len;
        Some(packet)
    }

    /// True if all of `[start, end)` waits, in a queue in the order of sequence, or as one packet that was sent again.
    pub fn covers(&self, start: Seq, end: Seq) -> bool {
        let within = |again: &Outbound<P>| again.start.at_or_before(start) && again.end.at_or_after(end);
        if self.again.iter().any(|(_, again)| within(again)) {
            return true;
        }
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

    /// The packet whose turn it is, if it begins before `from` or is one that was sent again.
    pub fn pop_before(&mut self, from: Seq) -> Option<Outbound<P>> {
        if self.is_agains_turn() {
            return self.pop_again();
        }
        self.waiting.front().filter(|first| first.start.before(from))?;
        self.pop()
    }

    /// The packet whose turn it is, whatever its wait.
    pub fn pop(&mut self) -> Option<Outbound<P>> {
        if self.is_agains_turn() {
            return self.pop_again();
        }
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
