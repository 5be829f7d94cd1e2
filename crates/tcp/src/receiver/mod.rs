//! The receiving half: what is expected, what arrived early, what window is on offer, when to acknowledge.

mod acknowledging;
mod autotune;

pub(crate) use acknowledging::Due;

use crate::ack_policy::{Arrived, Early, Order, Transit};
use crate::config::{Config, Reading};
use crate::event::Placement;
use crate::feedback::Feedback;
use crate::position;
use crate::ranges::Ranges;
use crate::segment::{Flags, SackBlocks};
use acknowledging::Acknowledging;
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use autotune::{Autotune, Came};
use meshpace_units::{Ecn, Instant, Seq, Span};

/// A window change worth a segment of its own: this many full segments, or half the buffer (RFC 9293, section
/// 3.8.6.2.2, asks for at least one).
const UPDATE_SEGMENTS: u64 = 2;

/// A timestamp older than this no longer protects (RFC 7323, section 5.5).
const TIMESTAMP_LIFETIME: Span = Span::from_secs(24 * 86_400);

/// What arrived with one segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) struct Taken {
    pub(crate) placement: Option<Placement>,
    pub(crate) delivered: u64,
    /// The peer's FIN is now in order.
    pub(crate) finished: bool,
}

/// What the packet of a segment says of its way.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SegmentContext {
    pub(crate) ecn: Ecn,
    pub(crate) transit: Option<Transit>,
    /// The time stamp of ours that it echoes, and the time since that.
    pub(crate) echo: Option<(u32, Span)>,
    /// The retransmission timeout of this end.
    pub(crate) timeout: Span,
}

/// The receiving half of a connection, once the peer's SYN is known.
#[derive(Clone, Debug)]
pub(crate) struct Receiver {
    irs: Seq,
    /// Next expected position.
    pub(crate) nxt: u64,
    /// The right edge of the window on offer; never moves back.
    edge: u64,
    buffer: u64,
    /// What the buffer grows by, if it does.
    autotune: Option<Box<Autotune>>,
    mss: u64,
    /// Delivered bytes that the application has not taken.
    unread: u64,
    reading: Reading,
    early: Ranges,
    /// Whether what arrives twice is reported.
    reports_duplicates: bool,
    /// What arrived twice since the last acknowledgement (RFC 2883, section 4).
    duplicate: Option<(u64, u64)>,
    /// Positions that arrived early, the latest first.
    latest: VecDeque<u64>,
    fin: Option<u64>,
    acknowledging: Acknowledging,
    /// Shift of our window field.
    scale: u8,
    recent: Option<(u32, Instant)>,
    /// What the last acknowledgement said.
    last_ack: u64,
}

impl Receiver {
    /// `mss` and `scale`, the shift of our window field, are what the handshake agreed on.
    pub(crate) fn new(config: &Config, mss: u32, irs: Seq, scale: u8) -> Self {
        let unit = 1u64 << scale;
        let ceiling = if scale == 0 { u64::from(u16::MAX) } else { u64::from(u16::MAX) << scale };
        // Whole units, so that a window that stays open looks the same from segment to segment.
        let most = u64::from(config.receive_buffer).next_multiple_of(unit).min(ceiling);
        let autotune = config.window_grows.then(|| Box::new(Autotune::new(most, unit, u64::from(mss))));
        let buffer = autotune.as_ref().map_or(most, |tune| tune.offer(0));
        Self {
            irs,
            nxt: 1,
            edge: 1 + buffer,
            buffer,
            autotune,
            mss: u64::from(mss),
            unread: 0,
            reading: config.reading,
            early: Ranges::default(),
            reports_duplicates: config.report_duplicates,
            duplicate: None,
            latest: VecDeque::new(),
            fin: None,
            acknowledging: Acknowledging::new(config.acknowledgements.clone()),
            scale,
            recent: None,
            last_ack: 0,
        }
    }

    /// The acknowledgement number to send.
    pub(crate) fn ack(&self) -> Seq {
        position::sequence(self.irs, self.nxt)
    }

    pub(crate) fn position(&self, seq: Seq) -> Option<u64> {
        position::position(self.irs, self.nxt, seq)
    }

    /// Everything has arrived, the FIN included.
    const fn finished(&self) -> bool {
        matches!(self.fin, Some(fin) if fin < self.nxt)
    }

    /// The bytes delivered in order so far.
    pub(crate) const fn delivered(&self) -> u64 {
        self.nxt - 1 - self.finished() as u64
    }

    pub(crate) const fn unread(&self) -> u64 {
        self.unread
    }

    /// The test of RFC 9293, section 3.10.7.4, for a segment of `length` at `start`. A segment exactly at the next
    /// expected position passes even into a closed window, for the sake of its acknowledgement.
    pub(crate) const fn acceptable(&self, start: u64, length: u64) -> bool {
        let starts_inside = self.nxt <= start && start < self.edge;
        let last = start + length.saturating_sub(1);
        start == self.nxt || starts_inside || (length > 0 && self.nxt <= last && last < self.edge)
    }

    /// Takes the payload `[start, start + length)` and the FIN behind it, of a segment with these flags.
    pub(crate) fn take(
        &mut self,
        now: Instant,
        start: u64,
        length: u64,
        flags: Flags,
        way: SegmentContext,
    ) -> Taken {
        let (fin, pushed) = (flags.fin, flags.psh);
        let mut taken = Taken::default();
        if length == 0 && !fin {
            return taken;
        }
        let end = start + length;
        let (from, to) = (start.max(self.nxt), end.min(self.edge));
        let before = self.nxt;
        let had_gap = !self.early.is_empty();
        let order = self.order(from, to);
        if length > 0 {
            let length = length as u32;
            // Payload may lie over the number of the SYN, which no byte of the stream has.
            let offset = start.saturating_sub(1);
            let SegmentContext { ecn, transit, timeout, .. } = way;
            self.acknowledging.on_segment(&Arrived {
                now,
                offset,
                length,
                order,
                pushed,
                ecn,
                transit,
                timeout,
            });
            if let Some((_, trip)) = way.echo {
                self.acknowledging.on_trip(trip);
            }
            self.note_duplicate(start, end);
        }
        if from < to && self.fin.is_none_or(|fin| to <= fin) {
            let stored = from == self.nxt || self.early.insert(from, to);
            if from > self.nxt && stored {
                self.note_early(from);
            }
            if stored {
                taken.placement = Some(Placement {
                    offset: from - 1,
                    skip: (from - start) as u32,
                    length: (to - from) as u32,
                });
            }
            if from == self.nxt {
                self.nxt = self.early.advance(to);
            }
        }
        // A FIN before data that have been accepted cannot be one.
        let last = self.early.end().is_none_or(|last| last <= end);
        if fin && end <= self.edge && self.fin.is_none() && self.nxt <= end && last {
            self.fin = Some(end);
        }
        taken.delivered = self.nxt - before;
        if self.fin == Some(self.nxt) {
            self.nxt += 1;
            taken.finished = true;
        }
        if self.reading == Reading::Application {
            self.unread += taken.delivered;
        }
        if length > 0 {
            self.grow(now, length, order, way);
        }
        // Payload may lie over the number of the SYN, which no byte of the stream has.
        self.owe(now, &taken, had_gap, from < to, start.saturating_sub(1), order);
        taken
    }

    /// A segment of `length` bytes that came now may make the buffer grow, and what of it is offered.
    fn grow(&mut self, now: Instant, length: u64, order: Order, way: SegmentContext) {
        let taken = self.delivered() - self.unread;
        let Some(autotune) = &mut self.autotune else { return };
        let beyond = self.early.end().map_or(0, |end| end.saturating_sub(self.nxt));
        let held = self.unread + self.early.total();
        if autotune.on_segment(&Came { now, length, order, taken, beyond, held, echo: way.echo }) {
            self.acknowledging.on_wider_offer();
        }
        self.buffer = autotune.offer(0);
    }

    /// How much may come beyond what is in order.
    fn room(&self) -> u64 {
        let fixed = || self.buffer.saturating_sub(self.unread);
        self.autotune.as_ref().map_or_else(fixed, |tune| tune.offer(self.unread + self.early.total()))
    }

    /// A segment with payload arrived that is not taken: it is old, or behind the window.
    pub(crate) fn refuse(
        &mut self,
        now: Instant,
        start: u64,
        length: u32,
        flags: Flags,
        way: SegmentContext,
    ) {
        let (offset, SegmentContext { ecn, transit, timeout, .. }) = (start.saturating_sub(1), way);
        self.note_duplicate(start, start + u64::from(length));
        let (order, pushed) = (Order::Old, flags.psh);
        self.acknowledging.on_segment(&Arrived { now, offset, length, order, pushed, ecn, transit, timeout });
    }

    /// Where what is new of a segment lies, `[from, to)`.
    fn order(&self, from: u64, to: u64) -> Order {
        if from >= to || (from > self.nxt && self.early.covered(from, to) == to - from) {
            Order::Old
        } else if from > self.nxt {
            Order::Early { gap: from - self.nxt }
        } else if self.early.is_empty() {
            Order::Next
        } else {
            Order::Fills
        }
    }

    fn note_early(&mut self, position: u64) {
        // Only ever asked for a few; others of the same block would tell nothing.
        let block = self.early.containing(position);
        self.latest.retain(|&other| self.early.containing(other) != block);
        self.latest.push_front(position);
        self.latest.truncate(SackBlocks::default().len());
    }

    /// `[start, end)` arrived: what of it had arrived before is reported (RFC 2883, section 4).
    fn note_duplicate(&mut self, start: u64, end: u64) {
        if !self.reports_duplicates {
            return;
        }
        let known = if start < self.nxt {
            Some((start, end.min(self.nxt)))
        } else {
            self.early.containing(start).map(|(_, known)| (start, end.min(known)))
        };
        self.duplicate = known.or(self.duplicate);
    }

    /// Up to `most` blocks of what arrived early: that of the latest segment first, then those before it (RFC 2018,
    /// section 4). What arrived twice stands before them, and the block that it is in follows it (RFC 2883, section 4).
    pub(crate) fn selective(&self, most: usize) -> SackBlocks {
        let mut blocks = SackBlocks::default();
        let around = self.duplicate.and_then(|(start, _)| self.early.containing(start));
        let early = self.latest.iter().filter_map(|&position| self.early.containing(position));
        let others = early.filter(|range| Some(*range) != around);
        let ranges = self.duplicate.into_iter().chain(around).chain(others);
        for (block, (start, end)) in blocks.iter_mut().zip(ranges.take(most)) {
            let seq = |position| position::sequence(self.irs, position);
            *block = Some((seq(start), seq(end)));
        }
        blocks
    }

    /// `offset`: bytes of the stream before the segment.
    fn owe(
        &mut self,
        now: Instant,
        taken: &Taken,
        had_gap: bool,
        in_window: bool,
        offset: u64,
        order: Order,
    ) {
        let in_order = taken.delivered > 0 && in_window && !had_gap;
        if !taken.finished && in_window && !in_order && self.acknowledging.counts_disorder() {
            self.acknowledging.on_in_order(now, offset / self.mss + 1, offset, taken.delivered == 0);
        } else if taken.finished || (had_gap && taken.delivered > 0) {
            self.acknowledging.on_disorder(now);
            self.acknowledging.due_now();
        } else if taken.delivered > 0 && in_window {
            // The number of the segment in full segments since the start, 1 for the first.
            let number = self.delivered().div_ceil(self.mss);
            self.acknowledging.on_in_order(now, number, offset, false);
        } else if in_window && matches!(order, Order::Early { .. }) {
            self.acknowledging.on_disorder(now);
            let trip = self.autotune.as_ref().and_then(|tune| tune.trip());
            self.acknowledging.on_early(now, &Early { in_order: self.delivered(), trip });
        } else {
            self.acknowledging.on_disorder(now);
            self.acknowledging.due_alone();
        }
    }

    pub(crate) const fn due(&self) -> Due {
        self.acknowledging.due()
    }

    pub(crate) const fn ack_deadline(&self) -> Option<Instant> {
        self.acknowledging.deadline()
    }

    /// What an acknowledgement that leaves now reports to the sender's control.
    pub(crate) fn report(&mut self, now: Instant) -> Option<Feedback> {
        self.acknowledging.report(now)
    }

    pub(crate) fn report_length(&self) -> Option<u8> {
        self.acknowledging.report_length()
    }

    pub(crate) fn owe_now(&mut self) {
        self.acknowledging.due_now();
    }

    pub(crate) const fn owe_alone(&mut self) {
        self.acknowledging.due_alone();
    }

    /// True if it was the wait that made an acknowledgement due.
    pub(crate) fn on_deadline(&mut self, now: Instant) -> bool {
        self.acknowledging.on_deadline(now)
    }

    /// The window field, and the moment its edge becomes binding.
    pub(crate) fn advertise(&mut self, syn: bool) -> u16 {
        self.edge = self.edge.max(self.next_edge());
        let shift = if syn { 0 } else { self.scale };
        u16::try_from((self.edge.saturating_sub(self.nxt)) >> shift).unwrap_or(u16::MAX)
    }

    /// An acknowledgement left: nothing is owed any more.
    pub(crate) fn on_ack_sent(&mut self) {
        self.acknowledging.on_sent();
        self.duplicate = None;
        self.last_ack = self.nxt;
    }

    /// Where the window could end now; moved in steps worth a segment (RFC 9293, section 3.8.6.2.2).
    fn next_edge(&self) -> u64 {
        let wanted = self.nxt + self.room();
        let step = self.mss.min(self.buffer / 2);
        if wanted >= self.edge + step { wanted } else { self.edge }
    }

    /// The application took `bytes`; the peer hears of it at once if that opens the window by much.
    pub(crate) fn on_read(&mut self, bytes: u64) {
        self.unread -= bytes;
        if self.finished() {
            return; // nothing more will come, so nobody needs room; the peer may even be gone, and would reset us
        }
        let opened = (self.nxt + self.room()).saturating_sub(self.edge);
        let closed = self.edge.saturating_sub(self.nxt) < self.mss;
        let enough = (UPDATE_SEGMENTS * self.mss).min(self.buffer / 2);
        if opened >= enough || (closed && self.next_edge() > self.edge) {
            self.acknowledging.due_now();
        }
    }

    /// True if ns-2's sink takes over the departure of a segment at `start`: it is the next one after the last acknowledgement,
    /// or comes again. A segment out of order leaves the echo as it was (`Acker::update_ts` in ns-2.35's tcp-sink.cc). The
    /// latest arrival's if the policy says so.
    pub(crate) fn echoes(&self, start: u64) -> bool {
        // The first byte follows the peer's SYN, whether that was acknowledged by itself or not.
        start <= self.last_ack.max(1) || self.acknowledging.echoes_latest()
    }

    /// RFC 7323, section 5.3: true if the segment is an old duplicate by its timestamp.
    pub(crate) fn is_old(&self, now: Instant, value: u32) -> bool {
        self.recent.is_some_and(|(recent, at)| {
            let older = (value.wrapping_sub(recent) as i32) < 0;
            older && now.saturating_since(at) < TIMESTAMP_LIFETIME
        })
    }

    /// RFC 7323, section 4.3: the value to echo is that of the segment the last acknowledgement ended at.
    pub(crate) fn remember(&mut self, now: Instant, value: u32, start: u64) {
        let newer = match self.recent {
            None => true,
            Some((recent, _)) => (value.wrapping_sub(recent) as i32) >= 0,
        };
        if newer && (start <= self.last_ack || self.acknowledging.echoes_latest()) {
            self.recent = Some((value, now));
        }
    }

    /// The timestamp to echo, zero if there is none.
    pub(crate) fn echo(&self) -> u32 {
        self.recent.map_or(0, |(recent, _)| recent)
    }
}
