//! The wired-to-wireless half of a connection: paced here, holes repaired from the cache.

mod answers;
mod cache;
mod pace;
mod trains;

pub(crate) use answers::{DuplicateAckAction, FlowPlace};

use crate::budget::Budget;
use crate::forecast::BaseRoundTrip;
use crate::goodput::Goodput;
use crate::hole::Hole;
use crate::pacing_queue::{Outbound, PacingQueue};
use crate::segment_map::SegmentMap;
use crate::{Config, Departure, DiscardReason, Path, Queues, Retransmissions, Treatment, WirelessLaw};
use alloc::boxed::Box;
use alloc::vec::Vec;
use meshpace_pacing::{LawMaker, Pacer, Pending};
use meshpace_tcp::Segment;
use meshpace_units::{Bytes, Instant, Seq, Span};
use trains::Trains;

#[derive(Debug)]
struct Cached<P> {
    packet: P,
    wire_len: Bytes,
}

/// A sender that has heard nothing for so long sends again with good reason (RFC 6298, section 2.4).
const TOLD_FOR: Span = Span::from_secs(1);

/// How a packet from the wired side was taken.
#[derive(Debug)]
pub(crate) enum Arrival<P> {
    Pass(P),
    Held,
    /// It passes before its time: others have left no place to hold it.
    Unpaced(P),
    /// The packet joined the queue, and these packets leave the queue's head before their time, for the same reason; the packet
    /// itself may be one of them.
    Crowded(Vec<Departure<P>>),
    Dropped(P),
    Duplicate(P),
}

/// Whether there is room for one more packet in a flow's queue.
enum Room {
    Made,
    /// The flow or its host has all that it may have.
    OwnFull,
    /// Other hosts have it.
    OthersFull,
}

#[derive(Debug)]
pub(crate) struct Down<P> {
    map: SegmentMap<Option<Cached<P>>>,
    queue: PacingQueue<P>,
    cached: Bytes,
    /// No packet that ends here or before is cached.
    cached_from: Seq,
    pub wireless: WirelessLaw,
    pub cap: Option<Span>,
    pacer: Pacer,
    /// When the head of the queue may leave.
    pub due: Option<Instant>,
    treatment: Treatment,
    /// Set while the flow bypasses its queue because the buffer was exhausted when it began: how many connections had
    /// ended by then.
    refused: Option<u64>,
    /// Largest payload seen, in place of the MSS.
    pub segment: Bytes,
    /// Largest window the receiver has announced.
    pub window: Option<Bytes>,
    hole: Option<Hole>,
    pub goodput: Goodput,
    pub drops: u64,
    /// When an acknowledgement of something new last passed to the sender.
    told: Option<Instant>,
    /// When the receiver last told the sender of data behind a hole.
    pub sacked: Option<Instant>,
    /// Since `told`: where the latest known copy that was dropped begins.
    known: Option<Seq>,
    /// Copies dropped because the receiver has them, or is about to get them.
    pub duplicates: u64,
    pub aqm_drops: u64,
    pub aqm_marks: u64,
    /// How long packets wait for their turn, smoothed by an eighth of each; `None` before the first that was paced, and while the flow is only
    /// watched.
    pub wait: Option<Span>,
    pub repairs: u64,
    /// Segments that passed here more than once.
    pub passed_again: u64,
    /// The end of the latest full segment that left with at most one other on its way.
    alone: Option<Seq>,
    /// The connection is known from its handshake on, so that nothing can be on its way that did not pass here.
    pub whole: bool,
    pub base: BaseRoundTrip,
    /// Its sender has used up the window that the gateway allows it.
    pub window_used_up: bool,
    /// For how long the pace was busy with packets of a sender that had.
    pub limited: Span,
    /// Of the segments sent again, how many the law has been told of.
    told_again: u64,
    /// Packets that leave together; `None` where they go one by one whatever carries them.
    trains: Option<Box<Trains>>,
}

impl<P: Clone> Down<P> {
    /// `refused` if the buffer is exhausted: the number of connections that have ended so far.
    pub fn new(
        now: Instant,
        first: &Segment,
        config: &Config,
        law: &LawMaker,
        window: Option<Bytes>,
        treatment: Treatment,
        refused: Option<u64>,
    ) -> Self {
        let wireless = WirelessLaw::new(law, config.initial_interval);
        let pacer = Pacer::of(config.departures, config.initial_interval);
        Self {
            map: SegmentMap::new(first.seq),
            queue: PacingQueue::new(),
            cached: Bytes::ZERO,
            cached_from: first.seq,
            wireless,
            cap: None,
            pacer,
            due: None,
            treatment,
            refused,
            segment: Bytes::ZERO,
            window,
            hole: None,
            goodput: Goodput::new(now),
            drops: 0,
            told: None,
            sacked: None,
            known: None,
            duplicates: 0,
            aqm_drops: 0,
            aqm_marks: 0,
            wait: None,
            repairs: 0,
            passed_again: 0,
            alone: None,
            whole: false,
            base: BaseRoundTrip::default(),
            window_used_up: false,
            limited: Span::ZERO,
            told_again: 0,
            trains: (config.trains > 1).then(|| Box::new(Trains::new(config.trains))),
        }
    }

    /// False while the flow bypasses its queue.
    pub fn is_paced(&self) -> bool {
        self.treatment == Treatment::Pace && self.refused.is_none()
    }

    /// Sets the treatment. A flow that is only watched has no cache, no cap, no repair under way, and no packet that waits for its turn.
    pub fn treat(&mut self, now: Instant, treatment: Treatment, budget: &mut Budget<'_>) {
        self.treatment = treatment;
        if treatment == Treatment::Observe {
            self.set_cap(now, None);
            self.hole = None;
            self.wait = None;
            self.drop_cache(budget);
        }
    }

    /// A flow that was refused a place in the buffer gets one once another connection has ended (schemes.md 3.1).
    pub fn reconsider(&mut self, ended: u64, config: &Config, budget: &Budget<'_>) {
        if self.refused.is_some_and(|then| ended > then) && !budget.is_exhausted(config) {
            self.refused = None;
        }
    }

    /// Segments from `start` to `end`, which have passed here, leave for the mesh only now: their round trips begin anew.
    pub fn leaves(&mut self, now: Instant, start: Seq, end: Seq) {
        self.map.leaves(start, end, now);
    }

    /// What the queue's length is judged by, with this round trip of the wired part.
    pub fn path(&self, wired: Option<Span>) -> Path {
        Path { wired, wireless: self.wireless.smoothed, spacing: self.interval() }
    }

    /// A packet waited so long for its turn.
    fn waited(&mut self, wait: Span) {
        self.wait = Some(self.wait.map_or(wait, |old| (old * 7 + wait) / 8));
    }

    pub fn queue_len(&self) -> usize {
        self.queue.len()
    }

    /// Bytes in queue and cache.
    pub fn buffered(&self) -> Bytes {
        self.queue.bytes() + self.cached
    }

    /// A packet with data, or the FIN behind held data, arrives from the wired side; `behind` others' packets, which it may
    /// not overtake.
    pub fn on_arrival(
        &mut self,
        now: Instant,
        segment: &Segment,
        packet: Outbound<P>,
        behind: bool,
        config: &Config,
        budget: &mut Budget<'_>,
    ) -> Arrival<P> {
        self.segment = self.segment.max(Bytes(u64::from(segment.payload)));
        let first = self.is_paced() && config.retransmissions == Retransmissions::First;
        if first
            && (self.queue.covers(packet.start, packet.end)
                || self.is_answered(packet.end)
                || self.is_known(now, packet.start, packet.end))
        {
            self.duplicates += 1;
            return Arrival::Duplicate(packet.packet);
        }
        if self.queue.is_empty() && (!self.is_paced() || !behind && self.pacer.ready(now)) {
            if self.is_paced() {
                self.waited(Span::ZERO);
            }
            self.left_by_pace(now, packet.end);
            self.record(now, &packet, config, budget);
            return Arrival::Pass(packet.packet);
        }
        if self.treatment == Treatment::Observe {
            // Behind what was held while it was paced; all of it leaves in this very pass.
            self.append(packet, budget);
            return Arrival::Held;
        }
        let mut crowded = false;
        match self.make_room(packet.wire_len, config, budget) {
            Room::Made => {}
            Room::OwnFull => {
                self.drops += 1;
                return Arrival::Dropped(packet.packet);
            }
            Room::OthersFull if self.queue.is_empty() => {
                self.pacer.on_departure(now);
                self.record(now, &packet, config, budget);
                return Arrival::Unpaced(packet.packet);
            }
            Room::OthersFull => crowded = true,
        }
        if first {
            budget.joins(packet.wire_len);
            if self.recovers_by_sack(now) {
                self.queue.insert_in_turn(packet);
            } else {
                self.queue.insert(packet);
            }
        } else {
            self.append(packet, budget);
        }
        if crowded {
            return Arrival::Crowded(self.make_way(now, config, budget));
        }
        if self.due.is_none() {
            self.due = Some(self.pacer.release_at(now));
        }
        Arrival::Held
    }

    /// Packets of a flow never overtake each other, so that the first go for one that others have left no place for: one,
    /// and as many more as a larger one takes.
    fn make_way(&mut self, now: Instant, config: &Config, budget: &mut Budget<'_>) -> Vec<Departure<P>> {
        let mut early = Vec::new();
        while early.is_empty() || budget.is_overdrawn(config) {
            let Some(departure) = self.hurry(now, config, budget) else { break };
            early.push(departure);
        }
        self.reschedule(now);
        early
    }

    /// Takes the packet whose turn it is, due at `self.due`, of a flow with this round trip of the wired part. What was dropped
    /// before it goes to `gone`.
    pub fn depart(
        &mut self,
        now: Instant,
        wired: Option<Span>,
        config: &Config,
        budget: &mut Budget<'_>,
        gone: &mut impl Extend<Departure<P>>,
    ) -> Option<Departure<P>> {
        let due = match config.queues {
            Queues::Flow => self.due?,
            Queues::One => self.due?.max(now), // the packet before it, of another flow, has made it wait
        };
        let Some(mut packet) = self.next(now, wired, config, budget, gone) else {
            self.due = None; // nothing was left but copies
            return None;
        };
        let waited = now.saturating_since(packet.arrived);
        let signals = self.wireless.pace.mark_after.is_some_and(|limit| waited > limit);
        packet.mark |= signals && packet.ecn.is_capable();
        self.aqm_marks += u64::from(packet.mark);
        self.waited(waited);
        let tolerance = self.interval().map_or(Span::ZERO, |interval| config.tolerance(interval));
        let late = now.saturating_since(due).saturating_sub(tolerance);
        let charged = due + late;
        self.left_by_pace(charged, packet.end);
        self.due = (!self.queue.is_empty()).then(|| self.pacer.release_at(charged));
        self.record(now, &packet, config, budget);
        Some(packet.release(due))
    }

    /// Takes the packet whose turn it is out of the queue.
    fn next(
        &mut self,
        now: Instant,
        wired: Option<Span>,
        config: &Config,
        budget: &mut Budget<'_>,
        gone: &mut impl Extend<Departure<P>>,
    ) -> Option<Outbound<P>> {
        let first = config.retransmissions == Retransmissions::First;
        // What was lost is no part of the queue that stands: CoDel neither sees its short wait nor drops it.
        while let Some(again) = first.then(|| self.queue.pop_before(self.map.end())).flatten() {
            budget.leaves(again.wire_len);
            if !self.is_answered(again.end) && !self.is_known(now, again.start, again.end) {
                return Some(again);
            }
            self.duplicates += 1;
            gone.extend([again.discard(DiscardReason::Duplicate, now)]);
        }
        // Of packets that leave together each waits for the train before.
        let path = self.path(wired);
        let path = Path { spacing: path.spacing.map(|spacing| spacing * self.packets_together()), ..path };
        let codel = config.codel.map(|codel| codel.of(&path));
        let mut dropped = Vec::new();
        let packet = self.queue.dequeue(now, codel.as_ref(), &mut dropped);
        dropped.iter().chain(&packet).for_each(|packet| budget.leaves(packet.wire_len));
        self.aqm_drops += dropped.len() as u64;
        gone.extend(dropped.into_iter().map(|packet| packet.discard(DiscardReason::Waited, now)));
        packet
    }

    /// True if the sender sends again what its receiver's SACK blocks have told it of, not because its timer ran out. Such a sender
    /// takes for lost what it sent before a segment that has arrived (RACK, RFC 8985, section 6.2): overtaken by that segment, all
    /// that waits here would be sent a second time in place of new data.
    fn recovers_by_sack(&self, now: Instant) -> bool {
        self.sacked.is_some_and(|sacked| now.saturating_since(sacked) < TOLD_FOR)
    }

    /// True if the receiver has all up to `end` and will say so without a copy: something else waits for it here. A sender that went
    /// back to its first byte has a whole window of copies in the queue. At the pace of a path whose rate was just searched for, the
    /// copies would take a minute to report what a single packet reports.
    fn is_answered(&self, end: Seq) -> bool {
        end.at_or_before(self.map.una()) && !self.queue.is_empty()
    }

    /// True if the receiver has `[start, end)` and its sender is about to hear so: an acknowledgement of it passed a moment
    /// ago. That may be lost on its way, so a copy of the same data that comes again is let through, which makes the receiver
    /// acknowledge once more: nothing waits for ever, and a keep-alive passes.
    fn is_known(&mut self, now: Instant, start: Seq, end: Seq) -> bool {
        let lately = self.told.is_some_and(|told| now.saturating_since(told) < TOLD_FOR);
        let anew = self.known.is_none_or(|known| start.after(known));
        let known = lately && anew && end.at_or_before(self.map.una());
        if known {
            self.known = Some(start);
        }
        known
    }

    /// Takes the head of the queue whatever the pace, as a departure.
    pub fn hurry(&mut self, now: Instant, config: &Config, budget: &mut Budget<'_>) -> Option<Departure<P>> {
        self.due = None;
        let packet = self.pop(budget)?;
        self.pacer.on_departure(now);
        self.record(now, &packet, config, budget);
        Some(packet.release(now))
    }

    /// Takes the head of the queue whatever the pace.
    pub fn pop(&mut self, budget: &mut Budget<'_>) -> Option<Outbound<P>> {
        let packet = self.queue.pop()?;
        budget.leaves(packet.wire_len);
        Some(packet)
    }

    /// Appends a packet to the queue whatever the limits.
    pub fn append(&mut self, packet: Outbound<P>, budget: &mut Budget<'_>) {
        budget.joins(packet.wire_len);
        self.queue.push(packet);
    }

    pub fn una(&self) -> Seq {
        self.map.una()
    }

    /// True if data passed that is not acknowledged.
    pub fn outstanding(&self) -> bool {
        self.map.outstanding()
    }

    /// The report to goodput control: a flow wants more if packets wait here or, while nothing holds it back here, if
    /// data are on their way (schemes.md 3.5).
    pub fn pending(&self) -> Pending {
        let outstanding = self.outstanding();
        let held_back = self.is_paced() && self.interval().is_some();
        Pending { demand: if held_back { !self.queue.is_empty() } else { outstanding }, outstanding }
    }
}
