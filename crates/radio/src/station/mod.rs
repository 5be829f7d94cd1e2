//! One node's distributed coordination function.
//!
//! Follows ns-2.35's `Mac/802_11` to the letter of ns2-behaviour sections 1 to 3, since that is the station that
//! the papers measured: EIFS as a NAV, a NAV that only grows, separate retry counters for a station (not a frame), a
//! backoff before every first transmission and after every acknowledged one.
//!
//! Under a standard with frames of several packets the station sends what it has in hand as one frame: each packet is acknowledged, sent
//! again and given up by itself. What the receiver reads it delivers at once, with its number: packets may overtake one that goes
//! again, and a [`Reorder`](crate::Reorder) behind the station puts them in order. A frame that got no answer is asked after first
//! (`request`): its packets may have come.
//!
//! The contract: after each call, carry out the [`Action`]s in order, then read [`Station::next_deadline`] and call
//! [`Station::timer`] no later than that. Early or repeated calls of `timer` are harmless.

mod access;
mod pending;
mod request;
mod respond;
mod seen_before;
mod stats;
#[cfg(test)]
mod tests;
mod watch;

use crate::backoff::{Backoff, Intervals};
use crate::burst::{Bitmap, Burst};
use crate::frame::{Frame, FrameKind, Header, MacPacket};
use crate::phy::Phy;
use crate::reception::{Arrival, Outcome, Reception, ReceptionLimits, Verdict};
use crate::standard::Mode;
use meshpace_random::Stream;
use meshpace_units::{Instant, NodeId, Span};

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
        /// Its sequence number among that neighbour's; `None`: it need not be put in order.
        seq: Option<u16>,
    },
    /// A neighbour has given up what it sent before this number: nothing of it need be waited for.
    Release {
        /// The neighbour.
        from: NodeId,
        /// The number.
        start: u16,
    },
    /// The packet was acknowledged, or its broadcast is over. The station takes the next one if it [accepts](Station::accepts)
    /// it: packets of one frame have each their own fate.
    Sent(MacPacket),
    /// The packet was given up after its last attempt. The same holds.
    GaveUp(MacPacket),
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
struct Answer {
    kind: FrameKind,
    to: NodeId,
    /// Duration field of the frame answered.
    duration: Span,
    data_mode: &'static Mode,
}

/// What became of a frame that was meant for a station.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FrameEnd {
    /// Read, if every packet of it was; else what befell it, or those of its packets that were not.
    pub outcome: Outcome,
    /// The packets that were read, by their place in the frame, if some were and others were not.
    pub partly: Option<Box<Bitmap>>,
}

impl FrameEnd {
    /// A frame that was read, or lost, as a whole.
    #[must_use]
    pub const fn whole(outcome: Outcome) -> Self {
        Self { outcome, partly: None }
    }

    /// True if any packet of the frame was read.
    #[must_use]
    pub fn any(&self) -> bool {
        self.outcome == Outcome::Read || self.partly.is_some()
    }

    /// The packets of this frame that were read, by their place in it.
    #[must_use]
    pub fn read(&self, frame: &Frame) -> Bitmap {
        match (&self.partly, self.outcome) {
            (Some(some), _) => **some,
            (None, Outcome::Read) => Bitmap::first(frame.packets().len()),
            (None, _) => Bitmap::NONE,
        }
    }
}

/// The shared configuration that every call of a station needs. What every frame asks for at everybody who hears it comes first.
#[derive(Clone, Debug, PartialEq)]
#[repr(C)]
pub struct StationConfig {
    /// The standard's intervals, worked out once.
    pub intervals: Intervals,
    /// Reception thresholds.
    pub limits: ReceptionLimits,
    /// Frame times and retry limits.
    pub phy: Phy,
}

impl StationConfig {
    /// The configuration of all stations of a mesh.
    #[must_use]
    pub fn new(phy: Phy, limits: ReceptionLimits) -> Self {
        let intervals = Intervals { slot: phy.slot(), sifs: phy.sifs(), difs: phy.difs() };
        Self { phy, limits, intervals }
    }
}

/// The DCF of one node.
///
/// Every frame is heard by dozens of stations that have nothing to do with it. What they read and write then lies in the
/// first two cache lines of 64 bytes, if the station begins with one.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Station {
    pending: Pending,
    /// When the SIFS before an answer, or before data after a CTS, is over.
    sifs_ends_at: Option<Instant>,
    /// Until when the own frame is on the air.
    on_air_until: Instant,
    transmitter: Transmitter,
    /// Somebody asks what `watch` knows.
    watched: bool,
    /// The packet's RTS has not been answered yet.
    needs_rts: bool,
    retry: bool,
    cw: u32,
    backoff: Option<Backoff>,
    /// Network allocation vector.
    nav: Instant,
    /// When the receiver last became idle.
    receiver_idle_since: Instant,
    transmitter_idle_since: Instant,
    reception: Reception,
    /// When the transmitter's state times out.
    times_out_at: Option<Instant>,
    id: NodeId,
    seq: u16,
    answer: Option<Answer>,
    /// The packets in hand: offered, and neither acknowledged nor given up.
    burst: Burst,
    short_retries: u32,
    long_retries: u32,
    heard: SeenBefore,
    /// `None`: frames carry one packet.
    several: Option<Box<Several>>,
    stream: Stream,
    stats: StationStats,
    /// Sum of the backoffs that were drawn.
    drawn: Span,
    /// `None`: nobody watches.
    watch: Option<Box<Watch>>,
}

impl Station {
    /// A silent station with its own backoff stream.
    #[must_use]
    pub fn new(id: NodeId, reception: Reception, stream: Stream, config: &StationConfig) -> Self {
        Self {
            id,
            reception,
            pending: Pending::default(),
            watched: false,
            nav: Instant::ZERO,
            receiver_idle_since: Instant::ZERO,
            transmitter: Transmitter::Idle,
            transmitter_idle_since: Instant::ZERO,
            on_air_until: Instant::ZERO,
            times_out_at: None,
            sifs_ends_at: None,
            answer: None,
            burst: Burst::EMPTY,
            needs_rts: false,
            retry: false,
            backoff: None,
            cw: config.phy.cw_min(),
            short_retries: 0,
            long_retries: 0,
            seq: 0,
            heard: SeenBefore::default(),
            several: config.phy.standard.aggregation.map(|_| Box::default()),
            stream,
            stats: StationStats::default(),
            drawn: Span::ZERO,
            watch: None,
        }
    }

    /// True if the station has no packet of its own and takes the next one.
    #[must_use]
    pub fn accepts(&self) -> bool {
        self.burst.is_empty()
    }

    /// Packets in hand: offered, and neither acknowledged nor given up.
    #[must_use]
    pub fn held(&self) -> usize {
        self.burst.len()
    }

    /// Counters since the last call of [`Station::reset_stats`].
    #[must_use]
    pub fn stats(&self) -> &StationStats {
        &self.stats
    }

    /// Starts the counters afresh.
    pub fn reset_stats(&mut self) {
        self.stats = StationStats::default();
    }

    /// Brings the counters up to `now`: overheard frames are accounted for lazily.
    pub fn settle(&mut self, now: Instant, config: &StationConfig) {
        self.catch_up(now, config);
    }

    /// A frame that leaves its transmitter `now` will arrive here. Its end must be announced by
    /// [`Station::frame_ends`] if it is `mine`.
    ///
    /// Returns a time before which a deadline after `arrival.start` has become pointless, if there is one: the backoff
    /// will be interrupted by this frame. Moving the deadline there spares the driver a vain call.
    ///
    /// Part of the loops over all who hear a frame, wherever they are: what it costs to call is a third of what it does.
    #[inline(always)]
    pub fn hear(&mut self, now: Instant, arrival: Arrival, config: &StationConfig) -> Option<Instant> {
        if self.pending.is_full() {
            self.make_room(now, config);
        }
        self.pending.push(arrival);
        // Most who hear a frame have none: nothing else is asked of them.
        self.backoff.as_ref()?;
        if self.transmitter != Transmitter::Idle || self.sifs_ends_at.is_some() {
            return None;
        }
        let idle = self.reception.busy_until_at_least(&arrival, &config.limits)?;
        Some(idle + config.intervals.difs)
    }

    /// Apart from [`Station::hear`], which then stays small enough for the loop over all who hear a frame.
    #[cold]
    #[inline(never)]
    fn make_room(&mut self, now: Instant, config: &StationConfig) {
        self.catch_up(now, config);
        self.pending.make_room();
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
        if self.backoff.is_some() && self.is_idle(now) {
            let expiry = self.backoff_expiry(config);
            assert!(expiry >= now, "{:?}: backoff ended at {expiry:?}, noticed at {now:?}", self.id);
            if expiry == now {
                self.backoff = None;
                self.access(now, config, out);
            }
        }
    }

    /// The frame of `frame.from` whose last bit arrives now was `mine` when it began. Tells what became of it. The link has
    /// lost those packets of it that are `erased`, whatever the receiver makes of the frame; of a frame of one packet that is
    /// none, since such a frame is lost as one that cannot be decoded.
    pub fn frame_ends(
        &mut self,
        now: Instant,
        frame: &Frame,
        erased: Option<&Bitmap>,
        config: &StationConfig,
        out: &mut Vec<Action>,
    ) -> FrameEnd {
        self.catch_up(now, config);
        let deaf_until = self.on_air_until;
        if !self.reception.is_receiving(frame.from, now) {
            // Captured over, replaced by a frame that ends later, or not noticed while transmitting.
            let deaf = now < deaf_until + frame.airtime;
            return FrameEnd::whole(if deaf { Outcome::Deaf } else { Outcome::Overlapped });
        }
        self.count_busy(now);
        if frame.is_several() {
            return self.several_end(now, frame, erased, config, out);
        }
        let ended = self.reception.ends(&config.limits);
        let (arrival, verdict) =
            ended.unwrap_or_else(|| panic!("{:?}: no reception ends at {now:?}", self.id));
        self.receiver_idle_since = now;
        FrameEnd::whole(match verdict {
            Verdict::Good if now >= deaf_until => {
                self.receive(now, frame, config, out);
                Outcome::Read
            }
            Verdict::Good | Verdict::Energy => Outcome::Deaf,
            Verdict::Bad | Verdict::Collided | Verdict::Garbled => {
                self.bad_end(&arrival, verdict, config);
                outcome(verdict)
            }
        })
    }

    /// The end of a frame of several packets that is being received.
    #[cold]
    #[inline(never)]
    fn several_end(
        &mut self,
        now: Instant,
        frame: &Frame,
        erased: Option<&Bitmap>,
        config: &StationConfig,
        out: &mut Vec<Action>,
    ) -> FrameEnd {
        let deaf = now < self.on_air_until;
        let (read, cause) = self.packets_read(now, frame, erased, config);
        let ended = self.reception.ends(&config.limits);
        let (arrival, header) =
            ended.unwrap_or_else(|| panic!("{:?}: no reception ends at {now:?}", self.id));
        self.receiver_idle_since = now;
        // Its header was read, and nothing behind it: that is a frame lost.
        let verdict = if header == Verdict::Good && read.is_empty() { cause } else { header };
        match verdict {
            Verdict::Good if !deaf => {
                self.receive_several(now, frame, &read, config, out);
                FrameEnd { outcome: outcome(cause), partly: (cause != Verdict::Good).then(|| Box::new(read)) }
            }
            Verdict::Good | Verdict::Energy => FrameEnd::whole(Outcome::Deaf),
            Verdict::Bad | Verdict::Collided | Verdict::Garbled => {
                self.bad_end(&arrival, verdict, config);
                FrameEnd::whole(outcome(verdict))
            }
        }
    }

    /// Which packets of a frame of several that ends now are read, if its header is, and what befell the others.
    fn packets_read(
        &mut self,
        now: Instant,
        frame: &Frame,
        erased: Option<&Bitmap>,
        config: &StationConfig,
    ) -> (Bitmap, Verdict) {
        let begun = Instant::from_nanos(now.as_nanos() - frame.airtime.as_nanos());
        let times = config.phy.times(frame).map(|(from, to)| (begun + from, begun + to));
        let (mut read, mut cause) = self.reception.packets_read(times, &config.limits);
        let before = read;
        read.remove(erased.unwrap_or(&Bitmap::NONE));
        if cause == Verdict::Good && read != before {
            cause = Verdict::Garbled;
        }
        (read, cause)
    }

    /// Idle as ns-2 has it: nothing received, no exchange of our own under way, NAV over (ns2-behaviour 1.10).
    fn is_idle(&self, now: Instant) -> bool {
        !self.reception.busy() && self.transmitter == Transmitter::Idle && self.nav <= now
    }

    /// Since when the medium has been idle, if receiver and transmitter are.
    fn idle_since(&self) -> Instant {
        self.receiver_idle_since.max(self.transmitter_idle_since).max(self.nav)
    }

    fn backoff_expiry(&self, config: &StationConfig) -> Instant {
        match &self.backoff {
            Some(backoff) => backoff.expiry(self.idle_since(), &config.intervals),
            None => unreachable!("{:?} has no backoff", self.id),
        }
    }

    /// A lower bound on the time at which the backoff runs out, while the transmitter is idle.
    fn backoff_deadline(&self, config: &StationConfig) -> Option<Instant> {
        let backoff = self.backoff.as_ref().filter(|_| self.transmitter == Transmitter::Idle)?;
        let heard_until = self.reception.idle_not_before(&config.limits).unwrap_or(Instant::ZERO);
        Some(backoff.expiry(self.idle_since().max(heard_until), &config.intervals))
    }

    /// The medium turns busy at `busy_at`, by a frame that arrives or by one of our own.
    fn medium_turns_busy(&mut self, busy_at: Instant, config: &StationConfig) {
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
        let backoff = Backoff::draw(now, self.cw, &config.phy, &mut self.stream);
        self.drawn += backoff.remaining();
        self.backoff = Some(backoff);
    }

    /// Accounts for everything that arrived before `now`, and for overheard frames that ended by then.
    ///
    /// An end comes before a start at the same time, and a start at `now` itself is not looked at: a backoff that
    /// runs out in that very moment does not notice it.
    #[inline]
    fn catch_up(&mut self, now: Instant, config: &StationConfig) {
        if self.reception.is_silent() && self.pending.first().is_none_or(|arrival| arrival.start >= now) {
            // Nothing is being received, and nothing has begun.
        } else if self.watched {
            self.catch_up_if::<true>(now, config);
        } else {
            self.catch_up_if::<false>(now, config);
        }
    }

    #[inline(never)]
    fn catch_up_if<const WATCHED: bool>(&mut self, now: Instant, config: &StationConfig) {
        loop {
            self.overhear_undisturbed::<WATCHED>(now, config);
            let start = self.pending.first().map(|a| a.start).filter(|start| *start < now);
            let end = self.reception.next_end().filter(|(end, mine)| *end <= now && !mine).map(|e| e.0);
            let begins = match (start, end) {
                (None, None) => break,
                (Some(start), Some(end)) => start < end,
                (start, _) => start.is_some(),
            };
            // One place that calls each: both become part of the loop.
            if begins {
                self.arrival_begins::<WATCHED>(config);
            } else {
                self.overheard_ends::<WATCHED>(config);
            }
        }
    }

    /// The commonest case in one step each: frames for somebody else that nothing overlapped, begun and ended by `now`.
    #[inline]
    fn overhear_undisturbed<const WATCHED: bool>(&mut self, now: Instant, config: &StationConfig) {
        if !self.reception.is_silent() {
            return;
        }
        let counts_down = self.transmitter == Transmitter::Idle;
        let exchange = !counts_down || self.sifs_ends_at.is_some();
        let (mut nav, mut receiver_idle_since) = (self.nav, self.receiver_idle_since);
        let mut waiting = self.pending.waiting();
        while let [arrival, rest @ ..] = waiting {
            let end = arrival.end();
            let undisturbed = !arrival.mine()
                && end <= now
                && arrival.start >= self.on_air_until
                && rest.first().is_none_or(|next| next.start >= end);
            if !undisturbed {
                break;
            }
            if let (true, Some(backoff)) = (counts_down, &mut self.backoff) {
                let idle_since = receiver_idle_since.max(self.transmitter_idle_since).max(nav);
                if idle_since < arrival.start {
                    backoff.interrupt(idle_since, arrival.start, &config.intervals);
                }
            }
            if let (true, Some(watch)) = (WATCHED, &mut self.watch) {
                watch.undisturbed(arrival, if exchange { arrival.start } else { nav });
            }
            let silence = if arrival.decodable() { arrival.duration() } else { config.limits.eifs };
            nav = nav.max(end + silence);
            receiver_idle_since = receiver_idle_since.max(end);
            waiting = rest;
        }
        let taken = self.pending.waiting().len() - waiting.len();
        if taken > 0 {
            (self.nav, self.receiver_idle_since) = (nav, receiver_idle_since);
            self.pending.take(taken);
        }
    }

    fn arrival_begins<const WATCHED: bool>(&mut self, config: &StationConfig) {
        let arrival = self.pending.pop().unwrap_or_else(|| panic!("{:?}: no arrival begins", self.id));
        let was_busy = self.reception.busy();
        if WATCHED {
            self.count_busy(arrival.start);
        }
        let transmitting = arrival.start < self.on_air_until;
        let begun = self.reception.begins(arrival, transmitting, &config.limits);
        if !was_busy && self.reception.busy() && self.transmitter == Transmitter::Idle {
            self.medium_turns_busy(arrival.start, config);
        }
        if let Some(nav) = begun.nav {
            self.nav = self.nav.max(nav);
        }
        if let Some(lost) = begun.lost {
            self.stats.collision(lost);
        }
    }

    fn overheard_ends<const WATCHED: bool>(&mut self, config: &StationConfig) {
        let was_busy = self.reception.busy();
        if let (true, Some((end, _))) = (WATCHED, self.reception.next_end()) {
            self.count_busy(end);
        }
        let (arrival, verdict) =
            self.reception.ends(&config.limits).unwrap_or_else(|| panic!("{:?}: nothing ends", self.id));
        match verdict {
            Verdict::Good if arrival.end() >= self.on_air_until => {
                self.nav = self.nav.max(arrival.end() + arrival.duration());
                if WATCHED {
                    self.note_read(arrival.end(), arrival.from());
                }
            }
            Verdict::Good | Verdict::Energy => {}
            Verdict::Bad | Verdict::Collided | Verdict::Garbled => self.bad_end(&arrival, verdict, config),
        }
        // Under `sinr` a frame too weak to be sensed ends as well, and the medium was idle all along.
        if was_busy && !self.reception.busy() {
            self.receiver_idle_since = self.receiver_idle_since.max(arrival.end());
        }
    }

    /// A frame that could not be read ends: EIFS, unless the own transmitter is active (ns2-behaviour 1.8).
    fn bad_end(&mut self, arrival: &Arrival, verdict: Verdict, config: &StationConfig) {
        if arrival.end() < self.on_air_until {
            return;
        }
        self.nav = self.nav.max(arrival.end() + config.limits.eifs);
        if verdict == Verdict::Collided && arrival.is_unicast() {
            self.stats.collision(crate::reception::Collision { from: arrival.from(), kind: arrival.kind() });
        }
    }
}

/// What became of a frame, or of packets in it, by the verdict on their reception.
const fn outcome(verdict: Verdict) -> Outcome {
    match verdict {
        Verdict::Good => Outcome::Read,
        // A frame that is meant for this node can be decoded: only its own transmission makes it `Bad`.
        Verdict::Bad | Verdict::Energy => Outcome::Deaf,
        Verdict::Garbled => Outcome::Garbled,
        Verdict::Collided => Outcome::Overlapped,
    }
}
