//! One node's distributed coordination function.
//!
//! Follows ns-2.35's `Mac/802_11` to the letter of ns2-behaviour sections 1 to 3, since that is the station that
//! the papers measured: EIFS as a NAV, a NAV that only grows, separate retry counters for a station (not a frame), a
//! backoff before every first transmission and after every acknowledged one.
//!
//! Under a standard with frames of several packets the station sends what it has in hand as one frame: each packet is acknowledged, sent
//! again and given up by itself. What the receiver reads it delivers at once, with its number: packets may overtake one that goes
//! again, and a [`Reorder`](crate::Reorder) behind the station puts them in order. A frame that got no answer is asked after first
//! (`request`): its packets may have come. Frames may be fixed before their turn (`ahead`). Packets of several categories contend with
//! each other, each with what it has of its own (`functions`).
//!
//! The contract: after each call, carry out the [`Action`]s in order, then read [`Station::next_deadline`] and call
//! [`Station::timer`] no later than that. Early or repeated calls of `timer` are harmless.

mod access;
mod aggregates;
mod ahead;
mod catch_up;
mod ends;
mod functions;
mod pending;
mod rates;
mod request;
mod respond;
mod seen_before;
mod standing_by;
mod stats;
#[cfg(test)]
mod tests;
mod watch;

use crate::backoff::{Backoff, Intervals};
use crate::burst::{Burst, MacPacket, Mpdu};
use crate::category::{Category, Peer};
use crate::frame::{FrameKind, Header};
use crate::phy::Phy;
use crate::rate_control::Exchange;
use crate::reception::{Arrival, Reception, ReceptionLimits};
use crate::standard::Mode;
use meshpace_units::random::Stream;
use meshpace_units::{Instant, NodeId, Span};

pub use aggregates::Aggregates;
pub use ends::FrameEnd;
use functions::Others;
use pending::Pending;
use seen_before::{SeenBefore, Several};
pub use stats::{Sent, StationStats};
use watch::Watch;

/// What the driver has to do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Action {
    /// Put the frame with this header on the air now: [`Station::frame`].
    Transmit(Header),
    /// A packet arrived for this node.
    Deliver {
        /// The packet as its sender offered it.
        packet: MacPacket,
        /// The previous hop.
        from: NodeId,
        /// Its sequence number among that neighbour's of its priority; `None`: it need not be put in order.
        seq: Option<u16>,
        /// Another packet of the same MPDU follows.
        more: bool,
    },
    /// A neighbour has given up what it sent before this number: nothing of it need be waited for.
    Release {
        /// The neighbour, and the priority of what it has given up.
        from: Peer,
        /// The number.
        start: u16,
    },
    /// The packet was acknowledged, or its broadcast is over. The station takes the next one if it [accepts](Station::accepts)
    /// it: packets of one frame have each their own fate.
    Sent(MacPacket),
    /// The packet was given up after its last attempt. The same holds.
    GaveUp(MacPacket),
    /// An exchange has ended; only if [asked for](StationConfig::told_of_exchanges). It comes before what becomes of the packets.
    Exchanged(Exchange),
}

/// What the transmitter is occupied with: not idle from the start of a frame until its answer or the time-out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Transmitter {
    Idle,
    Rts,
    Cts,
    Data,
    Ack,
    /// A request for a block acknowledgement.
    Request,
}

/// An answer that waits for its SIFS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ResponseFrame {
    kind: FrameKind,
    to: NodeId,
    /// Duration field of the frame answered.
    duration: Span,
    data_mode: &'static Mode,
}

/// The shared configuration that every call of a station needs. What every frame asks for at each of its hearers comes first.
#[derive(Clone, Debug, PartialEq)]
#[repr(C)]
pub struct StationConfig {
    /// The standard's intervals, worked out once.
    pub intervals: Intervals,
    /// Reception thresholds.
    pub limits: ReceptionLimits,
    /// Frame times and retry limits.
    pub phy: Phy,
    /// A rate control gets the [exchanges](Action::Exchanged).
    pub told_of_exchanges: bool,
}

impl StationConfig {
    /// The configuration of all stations of a mesh.
    #[must_use]
    pub fn new(phy: Phy, limits: ReceptionLimits) -> Self {
        let intervals = Intervals { slot: phy.slot(), sifs: phy.sifs(), difs: phy.difs() };
        Self { phy, limits, intervals, told_of_exchanges: false }
    }
}

/// The DCF of one node.
///
/// Every frame is heard by dozens of stations that have nothing to do with it. What they read and write then is the first cache line of
/// 64 bytes, if the station begins with one: the first four fields. Where frames overlap it is the second, too: the next two.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Station {
    /// A frame for others that has been heard while the station stood by, and not been accounted for. See [`Station::hear`].
    passing: Option<Arrival>,
    /// Network allocation vector.
    nav: Instant,
    /// When receiver or transmitter last became idle, whichever came later.
    radio_idle_since: Instant,
    backoff: Option<Backoff>,
    reception: Reception,
    /// Until when the own frame is on the air.
    on_air_until: Instant,
    pending: Pending,
    /// When the SIFS before an answer, or before data after a CTS, is over.
    sifs_ends_at: Option<Instant>,
    transmitter: Transmitter,
    /// A relay asks for what `watch` knows.
    watched: bool,
    /// The packet's RTS has not been answered yet.
    needs_rts: bool,
    retry: bool,
    cw: u32,
    /// What the station keeps of categories that are not the current one; `None`: it has had packets of best effort alone.
    others: Option<Box<Others>>,
    /// When the transmitter's state times out.
    times_out_at: Option<Instant>,
    id: NodeId,
    seq: u16,
    /// The current one: that of `cw`, `backoff`, `burst` and the like.
    category: Category,
    /// The smallest contention window of best effort is 2 to the power of so much, less 1.
    ecw_min: u8,
    answer: Option<ResponseFrame>,
    /// The packets in hand, those of the frame whose turn it is: offered, and neither acknowledged nor given up.
    burst: Burst,
    short_retries: u32,
    long_retries: u32,
    heard: SeenBefore,
    /// `None`: frames carry one packet.
    several: Option<Box<Several>>,
    /// `None`: not watched.
    watch: Option<Box<Watch>>,
    stream: Stream,
    stats: StationStats,
    /// Sum of the backoffs that were drawn.
    drawn: Span,
}

impl Station {
    /// A silent station with its own backoff stream.
    #[must_use]
    pub fn new(id: NodeId, reception: Reception, stream: Stream, config: &StationConfig) -> Self {
        Self {
            id,
            reception,
            passing: None,
            pending: Pending::default(),
            watched: false,
            nav: Instant::ZERO,
            radio_idle_since: Instant::ZERO,
            transmitter: Transmitter::Idle,
            on_air_until: Instant::ZERO,
            times_out_at: None,
            sifs_ends_at: None,
            answer: None,
            burst: Burst::EMPTY,
            needs_rts: false,
            retry: false,
            backoff: None,
            others: None,
            category: Category::BestEffort,
            cw: config.phy.window(Category::BestEffort).0,
            short_retries: 0,
            long_retries: 0,
            ecw_min: (config.phy.window(Category::BestEffort).0 + 1).ilog2() as u8,
            seq: 0,
            heard: SeenBefore::default(),
            several: config.phy.standard.aggregation.map(|_| Box::new(Several::new(&config.phy.standard))),
            stream,
            stats: StationStats::default(),
            drawn: Span::ZERO,
            watch: None,
        }
    }

    /// True if the station takes the next packet: it has none of its own, or fewer frames than it fixes before their turn; of
    /// [one category](Station::takes) at least, where there are several.
    #[must_use]
    #[inline]
    pub fn accepts(&self) -> bool {
        self.current_accepts() || (self.others.is_some() && self.another_accepts())
    }

    /// Packets that were offered, and neither acknowledged nor given up.
    #[must_use]
    pub fn held(&self) -> usize {
        let ahead = self.several.as_ref().map_or(0, |several| several.lane.ahead.packets());
        self.burst.len() + ahead + self.others.as_ref().map_or(0, |others| others.held())
    }

    /// The packets of the frame whose turn it is.
    #[must_use]
    #[inline]
    pub fn in_hand(&self) -> &[Mpdu] {
        self.burst.as_slice()
    }

    /// Counters since the last call of [`Station::reset_stats`].
    #[must_use]
    pub fn stats(&self) -> &StationStats {
        &self.stats
    }

    /// Starts the counters afresh.
    pub fn reset_stats(&mut self) {
        self.stats = StationStats::default();
        if let Some(several) = &mut self.several {
            several.counts.reset();
        }
    }

    /// Brings the counters up to `now`: overheard frames are accounted for lazily.
    pub fn settle(&mut self, now: Instant, config: &StationConfig) {
        self.catch_up(now, config);
    }

    /// When [`Station::timer`] wants to be called next, at the latest. May be earlier than anything happens.
    ///
    /// A SIFS runs while the transmitter is idle, so that nothing times out, and is over before any backoff, which takes a DIFS
    /// first. Nor does a backoff run while something may time out.
    #[must_use]
    #[inline]
    pub fn next_deadline(&self, config: &StationConfig) -> Option<Instant> {
        self.sifs_ends_at.or(self.times_out_at).or_else(|| self.backoff_deadline(config))
    }

    /// True if the station sends what it has in hand, now that it is called: what is to go with it has to [join](Station::join)
    /// before.
    pub fn wins(&mut self, now: Instant, config: &StationConfig) -> bool {
        self.catch_up(now, config);
        if self.others.is_some() {
            return self.winner(now, config);
        }
        self.backoff.is_some() && self.is_idle(now) && self.backoff_expiry(config) == now
    }

    /// A deadline has come, or may have.
    pub fn timer(&mut self, now: Instant, config: &StationConfig, out: &mut Vec<Action>) {
        self.catch_up(now, config);
        if self.sifs_ends_at == Some(now) {
            self.count_busy(now);
            self.sifs_ends_at = None;
            self.sifs_over(now, config, out);
        }
        if self.times_out_at == Some(now) {
            self.times_out_at = None;
            self.transmitter_times_out(now, config, out);
        }
        let sends =
            if self.others.is_some() { self.contend(now, config) } else { self.backoff_is_over(now, config) };
        if sends {
            self.access(now, config, out);
        }
    }

    /// The only backoff is over if this is true.
    #[inline(always)]
    fn backoff_is_over(&mut self, now: Instant, config: &StationConfig) -> bool {
        if self.backoff.is_none() || !self.is_idle(now) {
            return false;
        }
        let expiry = self.backoff_expiry(config);
        assert!(expiry >= now, "{:?}: backoff ended at {expiry:?}, noticed at {now:?}", self.id);
        if expiry == now {
            self.backoff = None;
        }
        expiry == now
    }

    /// Idle as ns-2 has it: nothing received, no exchange of our own under way, NAV over (ns2-behaviour 1.10).
    fn is_idle(&self, now: Instant) -> bool {
        !self.reception.busy() && self.transmitter == Transmitter::Idle && self.nav <= now
    }

    /// True from the start of a frame of an own exchange until its answer or the time-out, the SIFS before an answer included.
    #[inline]
    fn is_in_exchange(&self) -> bool {
        self.transmitter != Transmitter::Idle || self.sifs_ends_at.is_some()
    }

    /// Since when the medium has been idle, if receiver and transmitter are.
    fn idle_since(&self) -> Instant {
        self.radio_idle_since.max(self.nav)
    }

    fn backoff_expiry(&self, config: &StationConfig) -> Instant {
        match &self.backoff {
            Some(backoff) => backoff.expiry(self.idle_since(), &config.intervals),
            None => unreachable!("{:?} has no backoff", self.id),
        }
    }

    /// A lower bound on the time at which the backoff runs out, while the transmitter is idle.
    fn backoff_deadline(&self, config: &StationConfig) -> Option<Instant> {
        if self.others.is_some() {
            return self.first_deadline(config);
        }
        let backoff = self.backoff.as_ref().filter(|_| self.transmitter == Transmitter::Idle)?;
        let heard_until = self.reception.idle_not_before(&config.limits).unwrap_or(Instant::ZERO);
        Some(backoff.expiry(self.idle_since().max(heard_until), &config.intervals))
    }

    /// The medium turns busy at `busy_at`, by a frame that arrives or by one of our own.
    #[inline(always)]
    fn medium_turns_busy(&mut self, busy_at: Instant, config: &StationConfig) {
        let idle_since = self.idle_since();
        if let Some(others) = &mut self.others {
            others.interrupt(idle_since, busy_at, config);
        }
        self.interrupt(busy_at, config);
    }

    /// The same for the backoff of the current category.
    #[inline(always)]
    fn interrupt(&mut self, busy_at: Instant, config: &StationConfig) {
        let idle_since = self.idle_since();
        if let Some(backoff) = &mut self.backoff {
            if idle_since < busy_at {
                backoff.interrupt(idle_since, busy_at, &config.intervals);
            }
        }
    }

    /// All backoffs that were drawn, each as it was drawn.
    #[must_use]
    pub const fn backoff_drawn(&self) -> Span {
        self.drawn
    }

    fn draw_backoff(&mut self, now: Instant, config: &StationConfig) {
        let waits = config.phy.aifsn(self.category);
        let backoff = Backoff::draw(now, (self.cw, waits), &config.phy, &mut self.stream);
        self.drawn += config.intervals.slot * u64::from(backoff.slots());
        self.backoff = Some(backoff);
    }
}
