//! A station that stands by.
//!
//! Nearly all that stations hear are frames for others. A station *stands by* while that is all: it takes part in no exchange, receives
//! nothing for itself, nobody watches it, and its packets are of one category. Then it keeps the latest frame alone, `passing`, and accounts
//! for it when the next one comes. Unless frames overlap its first cache line is all that this needs, which is what a frame in a large mesh
//! waits for. What a station hears while it does more is put into [`Pending`](super::pending::Pending), and looked at later in one go:
//! [catching up](super::catch_up).

use super::pending::{LITTLE_ROOM, ROOM};
use super::{Station, StationConfig};
use crate::reception::Arrival;
use meshpace_units::Instant;

impl Station {
    /// A frame that leaves its transmitter `now` will arrive here. Its end must be announced by
    /// [`Station::frame_ends`] if it is `mine`.
    ///
    /// Returns a time before which a deadline after `arrival.start` has become pointless, if there is one: the backoff
    /// will be interrupted by this frame. Moving the deadline there spares the driver a vain call.
    ///
    /// Part of the loops over all hearers of a frame, wherever they are: what it costs to call is a third of what it does.
    #[inline(always)]
    pub fn hear(&mut self, now: Instant, arrival: Arrival, config: &StationConfig) -> Option<Instant> {
        if self.passing.is_none() {
            if self.pending.is_full() && self.makes_room(now, config) && !arrival.mine() {
                self.passing = Some(arrival);
            } else {
                self.pending.push(arrival);
            }
            return self.pointless_until(&arrival, config);
        }
        // Written at once, whatever it turns out to be: else it is made elsewhere first, and read again.
        match self.passing.replace(arrival) {
            Some(passed)
                if self.backoff.is_none() && passed.is_alone() && passed.end() <= now && !arrival.mine() =>
            {
                self.passes(&passed, config);
                None
            }
            before => self.hear_closely(now, before, config),
        }
    }

    /// Until when a deadline after the beginning of a frame is in vain, if the backoff is interrupted by it.
    #[inline(always)]
    fn pointless_until(&self, arrival: &Arrival, config: &StationConfig) -> Option<Instant> {
        // Most hearers of a frame have none: nothing else is asked of them.
        let backoff = self.backoff.as_ref()?;
        if self.is_in_exchange() || self.others.is_some() {
            return None;
        }
        let idle = self.reception.busy_until_at_least(arrival, &config.limits)?;
        Some(idle + backoff.waits(&config.intervals))
    }

    /// As many frames wait as there is room for. Accounts for what is over; true if the station stands by from now on, with none waiting.
    ///
    /// Apart from [`Station::hear`], which then stays small enough for the loop over all hearers of a frame.
    #[cold]
    #[inline(never)]
    fn makes_room(&mut self, now: Instant, config: &StationConfig) -> bool {
        self.catch_up(now, config);
        if self.watched || self.reception.sums() {
            self.pending.make_room(ROOM);
            return false;
        }
        let stands_by = self.pending.first().is_none()
            && self.reception.is_silent()
            && !self.is_in_exchange()
            && now >= self.on_air_until
            && self.others.is_none();
        if !stands_by {
            self.pending.make_room(LITTLE_ROOM);
        }
        stands_by
    }

    /// A frame is heard while the station stands by, by now `passing`, which was `before`. One of them overlaps another, a backoff stands
    /// still meanwhile, or it is for the station itself.
    #[inline(never)]
    fn hear_closely(
        &mut self,
        now: Instant,
        before: Option<Arrival>,
        config: &StationConfig,
    ) -> Option<Instant> {
        let arrival = self.passing?;
        match before {
            Some(begun) if begun.start < now && !arrival.mine() => {
                self.account_for(&begun, now, config);
                if self.reception.busy() {
                    self.passing = Some(arrival.beside_another());
                }
            }
            _ => {
                self.passing = before;
                self.look_closely();
                self.pending.push(arrival);
            }
        }
        self.pointless_until(&arrival, config)
    }

    /// A frame has begun while the station stood by. Accounts for it and for the one that the receiver followed then, up to `now`.
    #[inline(always)]
    fn account_for(&mut self, begun: &Arrival, now: Instant, config: &StationConfig) {
        if self.reception.next_end().is_some_and(|(end, _)| end <= begun.start) {
            self.overheard_ends::<false>(config);
        }
        if !self.reception.busy() {
            if begun.end() <= now {
                return self.passes(begun, config);
            }
            self.interrupt(begun.start, config);
        }
        let beginning = self.reception.begins(*begun, false, &config.limits);
        self.heed(beginning);
        if self.reception.next_end().is_some_and(|(end, _)| end <= now) {
            self.overheard_ends::<false>(config);
        }
    }

    /// The station does more than stand by from now on. True if it has nothing else to account for up to now.
    #[inline(never)]
    pub(super) fn has_passed(&mut self, now: Instant, config: &StationConfig) -> bool {
        let Some(passed) = self.passing.filter(|passing| passing.is_alone() && passing.end() <= now) else {
            self.look_closely();
            return false;
        };
        self.passing = None;
        self.passes(&passed, config);
        true
    }

    /// The same, whatever it has to account for.
    #[inline]
    pub(super) fn look_closely(&mut self) {
        if let Some(passing) = self.passing.take() {
            self.pending.push(passing);
        }
    }

    /// A frame for others has passed that nothing overlapped, while the station stood by.
    #[inline(always)]
    fn passes(&mut self, arrival: &Arrival, config: &StationConfig) {
        self.interrupt(arrival.start, config);
        (self.nav, self.radio_idle_since) =
            arrival.reserves((self.nav, self.radio_idle_since), &config.limits);
    }
}
