//! What a station hears and nothing is asked of it for: accounted for when it is looked at next. Of one that does nothing but hear that is
//! the next frame: [standing by](super::standing_by).

use super::{Station, StationConfig, Transmitter};
use crate::reception::{Arrival, Begun, Collision, Verdict};
use meshpace_units::Instant;

impl Station {
    /// Accounts for everything that arrived before `now`, and for overheard frames that ended by then.
    ///
    /// An end comes before a start at the same time, and a start at `now` itself is not looked at: a backoff that
    /// runs out in that very moment does not notice it.
    ///
    /// Part of all that call it: mostly there is nothing to account for, or one frame.
    #[inline(always)]
    pub(super) fn catch_up(&mut self, now: Instant, config: &StationConfig) {
        if self.passing.is_some() && self.has_passed(now, config) {
            return;
        }
        if self.reception.is_silent() && self.pending.first().is_none_or(|arrival| arrival.start >= now) {
            // Nothing is being received, and nothing has begun.
        } else if let [arrival] = self.pending.waiting()
            && arrival.mine()
            && !self.watched
            && self.reception.is_silent()
        {
            self.mine_begins(config);
        } else if self.watched {
            self.catch_up_if::<true>(now, config);
        } else {
            self.catch_up_if::<false>(now, config);
        }
    }

    /// A frame for the station itself that comes alone, as nearly all do, begins. Its end is announced.
    #[inline(never)]
    fn mine_begins(&mut self, config: &StationConfig) {
        self.arrival_begins::<false>(config);
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

    /// The commonest case in one step each: frames for other stations that nothing overlapped, begun and ended by `now`.
    #[inline]
    fn overhear_undisturbed<const WATCHED: bool>(&mut self, now: Instant, config: &StationConfig) {
        // Where categories contend, one backoff after another is looked at, which the step in one does not.
        if !self.reception.is_silent() || self.others.is_some() {
            return;
        }
        let counts_down = self.transmitter == Transmitter::Idle;
        let exchange = self.is_in_exchange();
        let (mut nav, mut radio_idle_since) = (self.nav, self.radio_idle_since);
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
                let idle_since = radio_idle_since.max(nav);
                if idle_since < arrival.start {
                    backoff.interrupt(idle_since, arrival.start, &config.intervals);
                }
            }
            if let (true, Some(watch)) = (WATCHED, &mut self.watch) {
                watch.undisturbed(arrival, if exchange { arrival.start } else { nav });
            }
            (nav, radio_idle_since) = arrival.reserves((nav, radio_idle_since), &config.limits);
            waiting = rest;
        }
        let taken = self.pending.waiting().len() - waiting.len();
        if taken > 0 {
            (self.nav, self.radio_idle_since) = (nav, radio_idle_since);
            self.pending.take(taken);
        }
    }

    #[inline(always)]
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
        self.heed(begun);
    }

    /// What a frame's beginning brings with it.
    #[inline(always)]
    pub(super) fn heed(&mut self, begun: Begun) {
        if let Some(nav) = begun.nav {
            self.nav = self.nav.max(nav);
        }
        if let Some(lost) = begun.lost {
            self.stats.collision(lost);
        }
    }

    #[inline(always)]
    pub(super) fn overheard_ends<const WATCHED: bool>(&mut self, config: &StationConfig) {
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
            self.radio_idle_since = self.radio_idle_since.max(arrival.end());
        }
    }

    /// A frame that could not be read ends: EIFS, unless the own transmitter is active (ns2-behaviour 1.8).
    pub(super) fn bad_end(&mut self, arrival: &Arrival, verdict: Verdict, config: &StationConfig) {
        if arrival.end() < self.on_air_until {
            return;
        }
        self.nav = self.nav.max(arrival.end() + config.limits.eifs);
        if verdict == Verdict::Collided && arrival.is_unicast() {
            self.stats.collision(Collision { from: arrival.from(), kind: arrival.kind() });
        }
    }
}
