//! When the receiver acknowledges: the joint, and the bookkeeping that every policy shares.

use super::arrived::Arrived;
use crate::control::Feedback;
use alloc::boxed::Box;
use core::fmt::Debug;
use meshpace_keys::{Part, Values};
use meshpace_units::{Instant, Span};

/// When a receiver acknowledges data that arrived in order.
///
/// What arrives out of order, fills a gap, is old or lies outside the window is acknowledged at once (RFC 5681, section
/// 4.2), and the policy is told of it; a policy may count the first two like the rest. It sees of each segment where it lies,
/// how it was marked and how long it was on its way, and may write a report into its acknowledgements, which the sender's
/// control reads. A policy is one file that implements the trait, and its part. Equal calls must give equal answers: no clock, no random source.
pub trait AckPolicy: CloneAckPolicy + Debug + Send + Sync {
    /// A segment with payload arrived. Whether an acknowledgement is due is asked after this, or not at all.
    fn on_segment(&mut self, _arrived: &Arrived) {}

    /// The segment that [`on_segment`](Self::on_segment) told of echoes a time stamp of this end (RFC 7323), which is so old.
    fn on_trip(&mut self, _trip: Span) {}

    /// A segment arrived in order and left no gap behind it: is an acknowledgement due?
    fn on_in_order(&mut self, arrived: &InOrder) -> When;

    /// The segment that [`on_segment`](Self::on_segment) told of made the window on offer grow.
    fn on_wider_offer(&mut self) {}

    /// A segment arrived before something that is missing: is an acknowledgement due? RFC 5681, section 4.2, wants it at once.
    fn on_early(&mut self, _early: &Early) -> When {
        When::Now
    }

    /// A segment arrived that is acknowledged at once.
    fn on_disorder(&mut self, _now: Instant) {}

    /// What arrives out of order or fills a gap is told, and counts, like what arrives in order: it is not acknowledged at
    /// once. Against RFC 5681, section 4.2; WiFu does so.
    fn counts_disorder(&self) -> bool {
        false
    }

    /// Acknowledgements echo the timestamp of what arrived last, not of the oldest segment that waits (RFC 7323, section
    /// 4.3): WiFu does so.
    fn echoes_latest(&self) -> bool {
        false
    }

    /// The wait is over: an acknowledgement is due that nothing else asked for.
    fn on_wait_over(&mut self) {}

    /// An acknowledgement left, alone or with data.
    fn on_ack_sent(&mut self) {}

    /// What an acknowledgement without data that leaves now tells the sender's control, in a header beside it; there it is
    /// [`Ack::report`](crate::control::Ack::report). Those with a [`report_length`](Self::report_length) are asked.
    fn report(&mut self, _now: Instant) -> Option<Feedback> {
        None
    }

    /// That it writes reports, and how many bytes their header takes on the air.
    fn report_length(&self) -> Option<u8> {
        None
    }
}

/// A segment that arrived in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InOrder {
    /// The time.
    pub now: Instant,
    /// Its number within the connection, from 1.
    pub number: u64,
    /// Bytes of the stream before it.
    pub offset: u64,
    /// Segments that no acknowledgement has answered yet, this one included.
    pub waiting: u32,
}

/// A segment that arrived before something that is missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Early {
    /// Bytes of the stream that have arrived in order.
    pub in_order: u64,
    /// The round trip, as far as the receiver has measured one.
    pub trip: Option<Span>,
}

/// What a policy answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// An acknowledgement is due; data may carry it.
    Now,
    /// At the latest so long after the first segment that waits.
    AfterFirst(Span),
    /// At the latest so long after this segment, whatever was said before.
    AfterThis(Span),
    /// So long after this segment, or when was said before if that is earlier. It is no delayed acknowledgement: what comes until
    /// then is answered with it.
    Within(Span),
}

/// How a policy is built from the values of its keys.
pub type AckPolicyPart = Part<fn(&Values) -> Box<dyn AckPolicy>>;

/// Cloning behind the box; every [`AckPolicy`] that is [`Clone`] has it.
pub trait CloneAckPolicy {
    /// A copy in a box of its own.
    fn clone_box(&self) -> Box<dyn AckPolicy>;
}

impl<T: AckPolicy + Clone + 'static> CloneAckPolicy for T {
    fn clone_box(&self) -> Box<dyn AckPolicy> {
        Box::new(self.clone())
    }
}

impl Clone for Box<dyn AckPolicy> {
    fn clone(&self) -> Self {
        // Of what is in the box: the box itself is no policy.
        (**self).clone_box()
    }
}

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
