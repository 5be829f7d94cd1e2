//! What a control answers.

use meshpace_units::{Instant, Span};

/// What the sender keeps for a control, because it costs something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Asks {
    /// When each segment left: [`Ack::oldest`](crate::control::Ack::oldest), [`Ack::newest`](crate::control::Ack::newest).
    pub round_trips: bool,
    /// Hops and link rates with every acknowledgement: a driver that has to look for them looks only for controls that ask.
    pub route: bool,
    /// That way as the gateway's routing table has it, not as the acknowledgement came.
    pub gateway_route: bool,
    /// What the receiver has: [`Ack::sack`](crate::control::Ack::sack). The connection offers selective acknowledgements.
    pub sack: bool,
    /// That relays on the way read [`Control::request`](crate::Control::request) and answer: where none does, it is no
    /// control. How many bytes the header takes on the air.
    pub relays: Option<u8>,
    /// [`Ack::rate`](crate::control::Ack::rate). The connection offers selective acknowledgements, without which nothing is
    /// known to be delivered in recovery.
    pub delivery_rate: bool,
    /// To be woken at a time of its own: [`Control::deadline`](crate::Control::deadline).
    pub deadlines: bool,
}

impl Asks {
    /// What either asks for.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self {
            round_trips: self.round_trips || other.round_trips,
            route: self.route || other.route,
            gateway_route: self.gateway_route || other.gateway_route,
            sack: self.sack || other.sack,
            relays: if self.relays.is_some() { self.relays } else { other.relays },
            delivery_rate: self.delivery_rate || other.delivery_rate,
            deadlines: self.deadlines || other.deadlines,
        }
    }

    /// True if the peer is to report what arrived out of order.
    #[must_use]
    pub const fn reports(self) -> bool {
        self.sack || self.delivery_rate
    }
}

/// What may be outstanding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allowance {
    /// Bytes, from the first unacknowledged position on.
    pub bytes: u64,
    /// How many of them limited transmit added (RFC 3042): what leaves within them does not count as flight.
    pub extension: u64,
}

/// When segments may leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    /// The earliest departure, not before the time asked about.
    pub release: Instant,
    /// The spacing of the departures after it.
    pub interval: Span,
    /// What becomes of a segment until then.
    pub discipline: Discipline,
}

/// How segments wait for their departure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Discipline {
    /// They do not: what leaves is chosen at the departure, retransmissions first (schemes.md 1.5).
    Permission,
    /// What the windows let out is queued there and then, leaves in that order, and counts as sent. The queue is emptied
    /// when the control no longer answers this.
    Queue,
    /// The same, and a retransmission queues behind what waits already (WiFu's limiter, schemes.md 2.1).
    QueueAll,
}

impl Discipline {
    /// True if segments wait, not permissions.
    #[must_use]
    pub const fn queues(self) -> bool {
        matches!(self, Self::Queue | Self::QueueAll)
    }
}

/// What the sender has to do about an acknowledgement, besides sending what window and pace allow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reaction {
    /// Nothing.
    Continue,
    /// A loss: resend the first unacknowledged segment, past the pace, and go on from there (Tahoe).
    GoBack,
    /// A loss: resend the first unacknowledged segment, past the pace and ahead of everything else.
    FastRetransmit,
    /// A loss: what is sent again is what [`hole`](crate::Control::hole) asks for, as windows and pace let it out.
    Recover,
    /// A loss probe leaves, as window and [`hole`](crate::Control::hole) let it out: the retransmission timer restarts (RFC
    /// 8985, section 7.3).
    RestartTimer,
    /// A partial acknowledgement uncovered the next hole: resend it, by the pace.
    ResendHole {
        /// The retransmission timer restarts (on the first partial acknowledgement only; RFC 6582, section 3.2, the
        /// "impatient" variant, and ns-2's `newreno_changes1_`).
        restart_timer: bool,
    },
}

impl Reaction {
    /// True if a loss was found.
    #[must_use]
    pub const fn is_loss(self) -> bool {
        matches!(self, Self::GoBack | Self::FastRetransmit | Self::Recover)
    }
}

/// What there is to see of a sender's pacing.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct PacingView {
    /// The interval between departures; `None` if nothing is held back.
    pub interval: Option<Span>,
    /// The smoothed k-hop delay, seconds.
    pub k_hop_delay: Option<f64>,
    /// The measure of variation that the law uses.
    pub variation: Option<f64>,
    /// Round-trip samples that the law accepted.
    pub samples: u64,
    /// Samples it rejected.
    pub rejected: u64,
    /// Segments of a host's buffer at least, as far as window and data let them out (`min_tso_segs` of Linux's tcp_congestion_ops).
    pub together: u32,
}
