//! The bookkeeping that every acknowledgement policy shares.

use crate::ack_policy::{AckPolicy, Arrived, Early, InOrder, When};
use crate::feedback::Feedback;
use alloc::boxed::Box;
use meshpace_units::{Instant, Span};

/// What is owed to the peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Due {
    /// Nothing, or not yet.
    Nothing,
    /// An acknowledgement, which data may carry.
    Now,
    /// A segment of its own: a duplicate acknowledgement counts only without data (RFC 5681, section 2).
    Alone,
}

/// Counts what is unacknowledged.
#[derive(Clone, Debug)]
pub(crate) struct Acknowledging {
    policy: Box<dyn AckPolicy>,
    waiting: u32,
    deadline: Option<Instant>,
    /// What the deadline is of is due, and waits for what comes with it.
    within: bool,
    due: Due,
}

impl Acknowledging {
    pub(super) const fn new(policy: Box<dyn AckPolicy>) -> Self {
        Self { policy, waiting: 0, deadline: None, within: false, due: Due::Nothing }
    }

    pub(super) const fn due(&self) -> Due {
        self.due
    }

    pub(super) const fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    /// A segment with payload arrived.
    pub(super) fn on_segment(&mut self, arrived: &Arrived) {
        self.policy.on_segment(arrived);
    }

    /// It echoes a time stamp so old.
    pub(super) fn on_trip(&mut self, trip: Span) {
        self.policy.on_trip(trip);
    }

    /// The segment makes the window on offer grow.
    pub(super) fn on_wider_offer(&mut self) {
        self.policy.on_wider_offer();
    }

    /// What an acknowledgement that leaves now reports.
    pub(super) fn report(&mut self, now: Instant) -> Option<Feedback> {
        self.policy.report_length()?;
        self.policy.report(now)
    }

    /// Bytes of a report on the air.
    pub(super) fn report_length(&self) -> Option<u8> {
        self.policy.report_length()
    }

    /// Segment number `number` arrived in order and left no gap behind it, or counts as if it had.
    pub(super) fn on_in_order(&mut self, now: Instant, number: u64, offset: u64, duplicate: bool) {
        self.waiting += 1;
        match self.policy.on_in_order(&InOrder { now, number, offset, waiting: self.waiting }) {
            When::Now if duplicate => self.due_alone(),
            When::Now => self.due_now(),
            When::AfterFirst(wait) => self.deadline = self.deadline.or_else(|| now.checked_add(wait)),
            When::AfterThis(wait) => self.deadline = now.checked_add(wait),
            When::Within(wait) => self.due_within(now, wait),
        }
    }

    /// A segment arrived before something that is missing.
    pub(super) fn on_early(&mut self, now: Instant, early: &Early) {
        match self.policy.on_early(early) {
            When::Now => self.due_alone(),
            When::AfterFirst(wait) | When::AfterThis(wait) | When::Within(wait) => self.due_within(now, wait),
        }
    }

    fn due_within(&mut self, now: Instant, wait: Span) {
        let until = now.checked_add(wait);
        self.deadline = [self.deadline, until].into_iter().flatten().min();
        self.within = true;
    }

    /// A segment arrived that is acknowledged at once.
    pub(super) fn on_disorder(&mut self, now: Instant) {
        self.policy.on_disorder(now);
    }

    /// An acknowledgement is due at once: a gap was filled, a SYN or a FIN arrived.
    pub(super) fn due_now(&mut self) {
        if self.due == Due::Nothing {
            self.due = Due::Now;
        }
    }

    /// A duplicate acknowledgement is due at once: out of order, old or outside the window.
    pub(super) const fn due_alone(&mut self) {
        self.due = Due::Alone;
    }

    /// True if it is the deadline that makes an acknowledgement due.
    pub(super) fn on_deadline(&mut self, now: Instant) -> bool {
        let over = self.due == Due::Nothing && self.deadline.is_some_and(|deadline| deadline <= now);
        if over {
            self.due_now();
        }
        let waited = over && !self.within;
        if waited {
            self.policy.on_wait_over();
        }
        waited
    }

    pub(super) fn counts_disorder(&self) -> bool {
        self.policy.counts_disorder()
    }

    pub(super) fn echoes_latest(&self) -> bool {
        self.policy.echoes_latest()
    }

    /// An acknowledgement left.
    pub(super) fn on_sent(&mut self) {
        (self.waiting, self.deadline, self.within, self.due) = (0, None, false, Due::Nothing);
        self.policy.on_ack_sent();
    }
}
