//! When a receiver acknowledges: the joint, and one file a policy.

mod arrived;
mod gap;

meshpace_keys::parts! {
    /// The acknowledgement policies.
    pub static ACK_POLICIES: AckPolicyPart = [every, delayed, dynamic_delayed, wifu_delayed, wifu_delayed::HEAD, daa, ada, linux, thin, tack];
}

pub use arrived::{Arrived, Order, Transit};
pub use delayed::Delayed;
pub use dynamic_delayed::{AckUnit, DynamicDelayed, Echo, OutOfOrder};
pub use every::Every;

use crate::feedback::Feedback;
use alloc::boxed::Box;
use core::fmt::Debug;
use meshpace_keys::{Part, Values};
use meshpace_units::{Instant, Span};

/// When a receiver acknowledges data that arrived in order.
///
/// A segment that arrives out of order, fills a gap, is old or lies outside the window is acknowledged at once (RFC 5681, section 4.2), and
/// the policy is told. A policy may treat the first two kinds like segments in order. The policy learns of each segment its place, its mark
/// and its time on the way. It may write a report into acknowledgements, which the sender's control reads. A policy is one file that
/// implements the trait, and its part. Equal calls must give equal answers: no clock, no random source.
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

    /// True if a segment that is out of order or fills a gap counts like one in order, and is not acknowledged at once.
    /// Against RFC 5681, section 4.2; WiFu does so.
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
