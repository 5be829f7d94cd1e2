//! When the receiver acknowledges.

use meshpace_units::{Instant, Span};

/// Acknowledgement policies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AckPolicy {
    /// Every segment at once (ns-2's `TCPSink`).
    Every,
    /// Every `segments`th in-order segment, or `delay` after the first unacknowledged one (RFC 1122, section 4.2.3.2;
    /// 2 and 100 ms are ns-2's delayed-acknowledgement sink).
    Delayed {
        /// In-order segments for one acknowledgement.
        segments: u32,
        /// The longest wait.
        delay: Span,
    },
    /// One to four segments for an acknowledgement, more as the connection ages (Altman and Jimenez; schemes.md 7.1).
    DynamicDelayed {
        /// Segment numbers from which on 2, 3 and 4 segments share an acknowledgement.
        thresholds: [u64; 3],
        /// The longest wait.
        delay: Span,
    },
}

impl AckPolicy {
    /// Every second segment, 100 ms.
    pub const DELAYED: Self = Self::Delayed { segments: 2, delay: Span::from_millis(100) };
    /// The original paper's thresholds, 2, 5 and 9 packets, and 100 ms (schemes.md 7.1).
    pub const DYNAMIC_DELAYED: Self =
        Self::DynamicDelayed { thresholds: [2, 5, 9], delay: Span::from_millis(100) };

    /// In-order segments that share an acknowledgement when segment number `n` (from 1) arrives, and the longest wait.
    const fn share(&self, n: u64) -> (u32, Span) {
        match *self {
            Self::Every => (1, Span::ZERO),
            Self::Delayed { segments, delay } => (segments, delay),
            Self::DynamicDelayed { thresholds: [l1, l2, l3], delay } => {
                let share = 1 + (n >= l1) as u32 + (n >= l2) as u32 + (n >= l3) as u32;
                (share, delay)
            }
        }
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
    policy: AckPolicy,
    waiting: u32,
    deadline: Option<Instant>,
    due: Due,
}

impl Acknowledging {
    pub(super) const fn new(policy: AckPolicy) -> Self {
        Self { policy, waiting: 0, deadline: None, due: Due::Nothing }
    }

    pub(super) const fn due(&self) -> Due {
        self.due
    }

    pub(super) const fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    /// Segment number `n` arrived in order and left no gap behind it.
    pub(super) fn on_in_order(&mut self, now: Instant, n: u64) {
        let (share, delay) = self.policy.share(n);
        self.waiting += 1;
        if self.waiting >= share {
            self.due_now();
        } else if self.deadline.is_none() {
            self.deadline = now.checked_add(delay);
        }
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

    pub(super) fn on_deadline(&mut self, now: Instant) {
        if self.deadline.is_some_and(|deadline| deadline <= now) {
            self.due_now();
        }
    }

    /// An acknowledgement left.
    pub(super) const fn on_sent(&mut self) {
        (self.waiting, self.deadline, self.due) = (0, None, Due::Nothing);
    }
}
