//! Whether a flow wants more than it gets: what the gateway sees of it, and what follows.

use super::{Direction, GoodputControlConfig};
use meshpace_units::{Instant, Span};

/// What of one direction of a connection has yet to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Pending {
    /// Its sender could use more: something waits in its pacing queue or, where it has none that holds it back (wireless to
    /// wired, not paced yet), something is on its way.
    pub demand: bool,
    /// Something that was sent is not acknowledged.
    pub outstanding: bool,
}

/// A flow's demand, as one interval and those before it show it (schemes.md 3.5, profile `robust`).
#[derive(Clone, Debug, Default)]
pub(super) struct Demand {
    down: Busy,
    up: Busy,
    /// Segments that passed again in this interval.
    retransmissions: u32,
    /// The share of this interval's packets that had to wait, where the packets themselves are not seen.
    waited: f64,
    /// How long the pace was busy in this interval with a sender held back by its window.
    limited: Span,
    round_trips: RoundTrips,
    /// What was found for the latest interval.
    backlogged: bool,
    /// Data were outstanding when the latest interval ended in which there was payload.
    left_outstanding: bool,
    /// Intervals without payload, up to the latest.
    silent: u32,
    /// Something of it was acknowledged once.
    answered: bool,
    /// A segment passed again since something of it was last acknowledged.
    again_unanswered: bool,
}

/// How long one direction had demand in this interval.
#[derive(Clone, Copy, Debug, Default)]
struct Busy {
    pending: Pending,
    since: Option<Instant>,
    total: Span,
}

impl Busy {
    fn set(&mut self, now: Instant, pending: Pending) {
        self.count(now);
        self.since = pending.demand.then_some(now);
        self.pending = pending;
    }

    fn count(&mut self, now: Instant) {
        if let Some(since) = self.since.replace(now) {
            self.total += now.saturating_since(since);
        }
    }

    /// The interval ends: how much of it had demand.
    fn end(&mut self, now: Instant) -> Span {
        if self.pending.demand {
            self.count(now);
        }
        core::mem::take(&mut self.total)
    }
}

/// Wireless round trips: the least ever, and the mean of this interval.
#[derive(Clone, Copy, Debug, Default)]
struct RoundTrips {
    least: Option<Span>,
    total: Span,
    count: u64,
}

impl RoundTrips {
    /// The interval ends: the mean of its round trips over the least one; `None` without any.
    fn end(&mut self) -> Option<f64> {
        let (total, count) = (core::mem::take(&mut self.total), core::mem::take(&mut self.count));
        let least = self.least.filter(|least| count > 0 && !least.is_zero())?;
        Some(total.as_secs_f64() / count as f64 / least.as_secs_f64())
    }
}

impl Demand {
    pub fn on_pending(&mut self, now: Instant, direction: Direction, pending: Pending) {
        match direction {
            Direction::Down => self.down.set(now, pending),
            Direction::Up => self.up.set(now, pending),
        }
    }

    pub const fn on_retransmission(&mut self) {
        self.retransmissions = self.retransmissions.saturating_add(1);
        self.again_unanswered = true;
    }

    /// Something new of it was acknowledged.
    pub const fn on_progress(&mut self) {
        self.answered = true;
        self.again_unanswered = false;
    }

    pub const fn on_waited(&mut self, share: f64) {
        self.waited = share;
    }

    pub fn on_limited(&mut self, busy: Span) {
        self.limited += busy;
    }

    pub fn on_round_trip(&mut self, rtt: Span) {
        let trips = &mut self.round_trips;
        trips.least = Some(trips.least.map_or(rtt, |least| least.min(rtt)));
        trips.total += rtt;
        trips.count += 1;
    }

    /// An interval of `elapsed` ends, in which the flow carried payload (`heard`), mostly in `direction`.
    pub fn end_interval(
        &mut self,
        now: Instant,
        elapsed: Span,
        heard: bool,
        direction: Direction,
        config: &GoodputControlConfig,
    ) {
        let busy = [self.down.end(now), self.up.end(now)];
        let slower = self.round_trips.end();
        let again = core::mem::take(&mut self.retransmissions);
        let (busy, pending) = match direction {
            Direction::Down => (busy[0], self.down.pending),
            Direction::Up => (busy[1], self.up.pending),
        };
        self.silent = if heard { 0 } else { self.silent.saturating_add(1) };
        let waited = core::mem::take(&mut self.waited);
        // Both towards the mesh and at the same time: the longer counts.
        let busy = busy.max(core::mem::take(&mut self.limited));
        let waits = waited.max(busy.as_secs_f64() / elapsed.as_secs_f64()) >= config.backlog_share;
        let loses = again >= config.backlog_losses;
        let queues = slower.is_some_and(|slower| slower >= config.backlog_rtt);
        // It sends nothing because it backs off: nothing else tells that it starves.
        let backs_off = !heard && self.backlogged && self.left_outstanding;
        self.backlogged = (waits || loses || queues || backs_off) && self.silent < config.idle_runs;
        if heard {
            self.left_outstanding = pending.outstanding;
        }
    }

    /// What was found for the latest interval.
    pub const fn backlogged(&self) -> bool {
        self.backlogged
    }

    /// True if its silence is that of a sender that waits for its timer (RFC 6298, section 5): its host has answered before, and
    /// the sender's last segment was a retransmission, or one that a hole in the mesh keeps from being acknowledged. A host that never
    /// answered does not starve by this rule, nor does one that was sent no retransmission: a lower rate of other flows would not help it.
    pub const fn starves(&self, direction: Direction) -> bool {
        let lost = match direction {
            Direction::Down => self.again_unanswered,
            Direction::Up => true, // what it sends again and the mesh loses is not seen here
        };
        self.answered && self.left_outstanding && lost
    }

    /// True if it was silent until it no longer counted.
    pub const fn fell_silent(&self, config: &GoodputControlConfig) -> bool {
        self.silent >= config.idle_runs
    }
}
