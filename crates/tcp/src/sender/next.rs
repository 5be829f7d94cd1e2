//! The next segment to leave: retransmissions first, as far as control, windows and pace let it out.

use super::{Chunk, Resend, Sender};
use crate::control::{Allowance, Discipline, Idled, Pace};
use core::ops::Range;
use meshpace_units::Instant;

impl Sender {
    /// What the control allows to be outstanding, at least a segment.
    fn allowance(&self, new_data: bool) -> Allowance {
        let answer = self.control.window(self.mss, new_data);
        answer.map_or(Allowance { bytes: u64::MAX, extension: 0 }, |allowance| Allowance {
            bytes: allowance.bytes.max(u64::from(self.mss)),
            ..allowance
        })
    }

    /// The position that the next segment must not pass by the sender's own rules (not the peer's).
    pub(super) fn own_edge(&self, new_data: bool) -> u64 {
        self.edge_of(self.allowance(new_data))
    }

    /// The same by what the control allows.
    fn edge_of(&self, allowance: Allowance) -> u64 {
        let limit = self.limit.map_or(u64::MAX, |segments| u64::from(segments) * u64::from(self.mss));
        self.una.saturating_add(allowance.bytes.min(limit))
    }

    /// What the windows allow to be sent next, in order; `None` if they allow nothing or nothing waits.
    pub(crate) fn next_chunk(&self) -> Option<Chunk> {
        self.next_allowed().map(|(chunk, _)| chunk)
    }

    /// The same with what the control allows.
    fn next_allowed(&self) -> Option<(Chunk, Allowance)> {
        if self.burst == Some(0) {
            return None;
        }
        let Range { start, end } = self.next_range();
        let waiting = end.min(self.end).saturating_sub(start);
        if waiting == 0 && !(self.fin && start == self.end) {
            return None;
        }
        let allowance = self.allowance(start == self.max);
        if waiting == 0 {
            return Some((Chunk { start, length: 0, fin: true }, allowance));
        }
        let length = waiting.min(u64::from(self.mss));
        if start + length > self.edge_of(allowance) {
            return None;
        }
        Some((self.fitting(start, length)?, allowance))
    }

    /// Where the next segment in order is: going back, only what the peer is not known to have.
    fn next_range(&self) -> Range<u64> {
        if !self.asks.sack || self.nxt >= self.max {
            return self.nxt..u64::MAX;
        }
        let missing = self.control.missing(self.nxt..self.max);
        if missing.is_empty() { self.max..u64::MAX } else { missing }
    }

    /// `length` bytes from `start` on, as far as the peer's window and Nagle's rule let them out.
    fn fitting(&self, start: u64, mut length: u64) -> Option<Chunk> {
        // The first unacknowledged segment is resent even into a window that has closed since.
        let going_back = start == self.una && start < self.max;
        let usable = self.edge.saturating_sub(start);
        if usable < length && !going_back {
            // Silly window avoidance: half the largest window is worth a segment (RFC 9293, section 3.8.6.2.1).
            if usable == 0 || usable < self.max_window.div_ceil(2) {
                return None;
            }
            length = usable;
        }
        let small_and_new = length < u64::from(self.mss) && start == self.max;
        if self.nagle && small_and_new && self.outstanding() && !self.fin {
            return None;
        }
        Some(self.chunk(start, length as u32))
    }

    pub(super) fn chunk(&self, start: u64, length: u32) -> Chunk {
        Chunk { start, length, fin: self.fin && start + u64::from(length) == self.end }
    }

    /// The first segment of `range`, as far as it was sent before.
    fn sent_before(&self, range: &Range<u64>) -> Chunk {
        let start = range.start.max(self.una);
        let data = range.end.min(self.max).min(self.end).saturating_sub(start);
        let length = data.min(u64::from(self.mss)) as u32;
        let end = start + u64::from(length);
        Chunk { start, length, fin: self.fin && self.max > self.end && end == self.end && range.end > end }
    }

    /// The first unacknowledged segment, as far as it was sent before.
    fn first_unacknowledged(&self) -> Chunk {
        self.sent_before(&(self.una..u64::MAX))
    }

    /// True if there are new data that the peer's window lets out.
    fn unsent(&self) -> bool {
        let waiting = self.end.saturating_sub(self.nxt).min(u64::from(self.mss));
        self.nxt == self.max && waiting > 0 && self.fitting(self.nxt, waiting).is_some()
    }

    /// What the control wants sent again.
    pub(super) fn hole(&self) -> Option<Range<u64>> {
        if self.asks.sack { self.control.hole(self.unsent()) } else { None }
    }

    /// The next segment of what the control wants sent again.
    fn take_hole(&mut self) -> Option<Chunk> {
        while let Some(range) = self.hole() {
            let chunk = self.sent_before(&range);
            let there = chunk.end() > chunk.start;
            // A part that need not be sent, because it has been acknowledged since, is gone for the control,
            // too.
            self.control.on_hole_taken(range.start..if there { chunk.end() } else { range.end });
            if there {
                return Some(chunk);
            }
        }
        None
    }

    /// Takes what may leave at `now`, retransmissions first.
    pub(crate) fn take(&mut self, now: Instant) -> Option<Chunk> {
        if self.waits_for_host(now) {
            return None;
        }
        let chunk = self.choose(now);
        if chunk.is_none() && self.delivery.is_some() {
            self.note_lack_of_data();
        }
        chunk
    }

    /// If it is the application that leaves the window open, the delivery rate is no measure of the path
    /// (draft-cheng-iccrg-delivery-rate-estimation, section 3.4: less than a segment to send, nothing to send again).
    fn note_lack_of_data(&mut self) {
        let unsent = self.end.saturating_sub(self.nxt);
        // Linux's tcp_rate_check_app_limited asks for an empty host, too.
        let left = self.in_host.as_ref().is_none_or(|in_host| in_host.is_empty());
        let idle = left && self.nxt == self.max && self.resend.is_none() && self.queue.is_empty();
        if idle && unsent < u64::from(self.mss) && self.nxt < self.own_edge(true) && self.hole().is_none() {
            if let Some(delivery) = &mut self.delivery {
                delivery.on_app_limited();
            }
        }
    }

    /// True if everything written is acknowledged, and nothing is left to be sent.
    pub(super) fn is_through(&self) -> bool {
        let nothing_out = self.una == self.max && self.nxt == self.max && self.queue.is_empty();
        nothing_out && self.nxt >= self.final_position() && self.resend.is_none()
    }

    fn choose(&mut self, now: Instant) -> Option<Chunk> {
        if self.is_through() {
            (self.due, self.forced) = (None, false);
            return None;
        }
        let pace = self.control.pace(now);
        let all_queue = pace.is_some_and(|pace| pace.discipline == Discipline::QueueAll);
        if self.resend == Some(Resend::Fast) && !all_queue {
            self.resend = None;
            let chunk = self.first_unacknowledged();
            self.nxt = self.nxt.max(chunk.end());
            return Some(chunk);
        }
        if core::mem::take(&mut self.forced) {
            if let Some(chunk) = self.forced_chunk() {
                return Some(chunk);
            }
        }
        match pace {
            Some(pace) if pace.discipline.queues() => self.take_queued(now, pace),
            Some(pace) if pace.release > now => {
                self.due = self.waits().then_some(pace.release);
                self.take_bare_fin()
            }
            _ => {
                let chunk = self.take_permitted(now);
                self.due = self.due.filter(|_| chunk.is_some());
                chunk
            }
        }
    }

    /// Queues what the windows let out, and takes the first of the queue if its time has come.
    fn take_queued(&mut self, now: Instant, pace: Pace) -> Option<Chunk> {
        while let Some(chunk) = self.take_permitted(now) {
            self.queue.push(chunk);
        }
        if self.forgets {
            self.queue.drop_acknowledged(self.una);
        }
        if self.queue.is_empty() {
            self.due = None;
            return None;
        }
        let due = *self.due.get_or_insert(pace.release);
        if pace.release <= now || due <= now { self.queue.pop() } else { None }
    }

    /// A control that has ceased to queue leaves nothing behind in the queue.
    pub(super) fn flush_queue(&mut self, now: Instant) {
        if !self.queue.is_empty() && !self.queues(now) {
            self.queue.clear();
            self.due = None;
        }
    }

    fn queues(&self, now: Instant) -> bool {
        self.control.pace(now).is_some_and(|pace| pace.discipline.queues())
    }

    fn take_permitted(&mut self, now: Instant) -> Option<Chunk> {
        if let Some(resend) = self.resend.take() {
            let chunk = self.first_unacknowledged();
            if resend == Resend::Fast {
                self.nxt = self.nxt.max(chunk.end()); // it queues, and what follows goes on from there
            }
            return Some(chunk);
        }
        if let Some(hole) = self.take_hole() {
            return Some(hole);
        }
        let next = self.next_allowed()?;
        let (chunk, Allowance { bytes, extension }) =
            if self.tell_idling(now) { self.next_allowed()? } else { next };
        if chunk.end() + extension > self.una.saturating_add(bytes) {
            self.limited += u64::from(chunk.length);
        }
        self.burst = self.burst.map(|left| left.saturating_sub(1));
        self.nxt = chunk.end();
        Some(chunk)
    }

    /// Data leave after nothing was outstanding for a retransmission timeout: the control hears of it once. True if it does.
    fn tell_idling(&mut self, now: Instant) -> bool {
        if self.outstanding() || self.nxt != self.una {
            return false;
        }
        let (silence, rto) = (now.saturating_since(self.last_activity), self.rto());
        let idled = silence >= rto;
        if idled {
            let timeouts = silence.as_nanos() / rto.as_nanos().max(1);
            self.control
                .on_idle(&Idled { mss: self.mss, timeouts: u32::try_from(timeouts).unwrap_or(u32::MAX) });
        }
        idled
    }

    /// A FIN with no data waits behind the data, not for the pace.
    fn take_bare_fin(&mut self) -> Option<Chunk> {
        let chunk = self.next_chunk().filter(|chunk| chunk.length == 0)?;
        self.nxt = chunk.end();
        Some(chunk)
    }
}
