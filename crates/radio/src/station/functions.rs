//! A station's access functions beside the one that it is about to use, one for each further category (IEEE 802.11-2020, 10.23.2:
//! EDCAF): backoff, contention window, retry counters, packets in hand.
//!
//! The station's own fields are those of one category, the *current* one: that of the exchange under way, or of whichever came last.
//! The others' are parked here, and the two change places where another category's turn it is. A station that has packets of one
//! category, best effort, has none of this.

use super::ahead::Ahead;
use super::request::Requests;
use super::{Station, StationConfig, Transmitter};
use crate::backoff::Backoff;
use crate::burst::Burst;
use crate::category::{Categories, Category, Peer};
use meshpace_units::{Bytes, Instant};
use std::mem::swap;

/// What a function keeps where frames carry several packets.
#[derive(Clone, Debug, Default)]
pub(super) struct Lane {
    /// As the sender of such frames.
    pub requests: Requests,
    /// Frames whose turn comes later.
    pub ahead: Ahead,
}

/// A function whose category is not the current one.
#[derive(Clone, Debug)]
pub(super) struct Function {
    category: Category,
    needs_rts: bool,
    retry: bool,
    cw: u32,
    backoff: Option<Backoff>,
    burst: Burst,
    short_retries: u32,
    long_retries: u32,
    lane: Lane,
}

/// All but the current one.
#[derive(Clone, Debug, Default)]
pub(super) struct Others(Vec<Function>);

impl Function {
    fn new(category: Category, config: &StationConfig) -> Self {
        Self {
            category,
            needs_rts: false,
            retry: false,
            cw: config.phy.window(category).0,
            backoff: None,
            burst: Burst::EMPTY,
            short_retries: 0,
            long_retries: 0,
            lane: Lane { ahead: Ahead::of(&config.phy.standard), ..Lane::default() },
        }
    }

    fn accepts(&self) -> bool {
        self.burst.is_empty() || self.lane.accepts(&self.burst)
    }
}

impl Others {
    /// Packets that they hold.
    pub fn held(&self) -> usize {
        self.0.iter().map(|parked| parked.burst.len() + parked.lane.ahead.packets()).sum()
    }

    /// The backoffs that run.
    pub fn backoffs(&self) -> impl Iterator<Item = &Backoff> {
        self.0.iter().filter_map(|parked| parked.backoff.as_ref())
    }

    /// The medium turns busy.
    #[cold]
    pub fn interrupt(&mut self, idle_since: Instant, busy_at: Instant, config: &StationConfig) {
        if idle_since >= busy_at {
            return;
        }
        for backoff in self.0.iter_mut().filter_map(|parked| parked.backoff.as_mut()) {
            backoff.interrupt(idle_since, busy_at, &config.intervals);
        }
    }
}

impl Station {
    /// A packet of this category waits for the station: from now on it has a function for it.
    pub fn expect(&mut self, category: Category, config: &StationConfig) {
        let known = |others: &Others| others.0.iter().any(|parked| parked.category == category);
        if category != self.category && !self.others.as_ref().is_some_and(|others| known(others)) {
            self.look_closely();
            self.others.get_or_insert_default().0.push(Function::new(category, config));
        }
    }

    /// The categories of which the station takes a packet now; of those alone that it has been told to [expect](Station::expect), and
    /// best effort.
    #[must_use]
    #[inline]
    pub fn takes(&self) -> Categories {
        let own = self.current_accepts();
        if self.others.is_some() { self.takes_of_several(own) } else { Categories::best_effort(own) }
    }

    #[cold]
    fn takes_of_several(&self, own: bool) -> Categories {
        let own = if own { Categories::only(self.category) } else { Categories::NONE };
        let free = self.others.iter().flat_map(|others| &others.0).filter(|parked| parked.accepts());
        free.fold(own, |set, parked| set.and(Categories::only(parked.category)))
    }

    /// True if the station takes a packet of the current category.
    #[inline]
    pub(super) fn current_accepts(&self) -> bool {
        self.burst.is_empty() || (self.several.is_some() && self.accepts_ahead())
    }

    /// True if it takes one of another.
    #[cold]
    pub(super) fn another_accepts(&self) -> bool {
        self.others.iter().flat_map(|others| &others.0).any(Function::accepts)
    }

    /// The categories that it has functions for.
    #[must_use]
    pub fn categories(&self) -> Categories {
        let parked = self.others.iter().flat_map(|others| &others.0);
        parked.fold(Categories::only(self.category), |set, parked| set.and(Categories::only(parked.category)))
    }

    /// The function of this category becomes the current one.
    #[cold]
    #[inline(never)]
    pub(super) fn activate(&mut self, category: Category, config: &StationConfig) {
        if category == self.category {
            return;
        }
        self.expect(category, config);
        let others = self.others.get_or_insert_default();
        let parked = others.0.iter_mut().find(|parked| parked.category == category);
        let parked = parked.unwrap_or_else(|| panic!("{:?} expects no {category:?}", self.id));
        swap(&mut self.category, &mut parked.category);
        swap(&mut self.needs_rts, &mut parked.needs_rts);
        swap(&mut self.retry, &mut parked.retry);
        swap(&mut self.cw, &mut parked.cw);
        swap(&mut self.backoff, &mut parked.backoff);
        swap(&mut self.burst, &mut parked.burst);
        swap(&mut self.short_retries, &mut parked.short_retries);
        swap(&mut self.long_retries, &mut parked.long_retries);
        if let Some(several) = &mut self.several {
            swap(&mut several.lane, &mut parked.lane);
        }
    }

    /// Does something as if that category were the current one, which it mostly is.
    #[inline(always)]
    pub(super) fn with_category<R>(
        &mut self,
        category: Category,
        config: &StationConfig,
        call: impl FnOnce(&mut Self) -> R,
    ) -> R {
        let current = self.category;
        if category != current {
            self.activate(category, config);
        }
        let answer = call(self);
        if category != current {
            self.activate(current, config);
        }
        answer
    }

    /// A lower bound on the time at which the first of the backoffs runs out, while the transmitter is idle.
    #[cold]
    pub(super) fn first_deadline(&self, config: &StationConfig) -> Option<Instant> {
        if self.transmitter != Transmitter::Idle {
            return None;
        }
        let heard_until = self.reception.idle_not_before(&config.limits).unwrap_or(Instant::ZERO);
        let idle_since = self.idle_since().max(heard_until);
        let others = self.others.iter().flat_map(|others| others.backoffs());
        others.chain(&self.backoff).map(|backoff| backoff.expiry(idle_since, &config.intervals)).min()
    }

    /// True if the current function has something to send.
    fn has_something(&self) -> bool {
        !self.burst.is_empty() || self.request().is_some()
    }

    /// Categories whose backoff is over now, with the medium idle.
    fn over(&mut self, now: Instant, config: &StationConfig) -> Categories {
        if !self.is_idle(now) {
            return Categories::NONE;
        }
        let idle_since = self.idle_since();
        let own = self.backoff.as_ref().map(|backoff| (self.category, backoff));
        let others = self.others.iter().flat_map(|others| &others.0);
        let others = others.filter_map(|parked| Some((parked.category, parked.backoff.as_ref()?)));
        let mut over = Categories::NONE;
        for (category, backoff) in own.into_iter().chain(others) {
            let expiry = backoff.expiry(idle_since, &config.intervals);
            assert!(expiry >= now, "{:?}: backoff ended at {expiry:?}, noticed at {now:?}", self.id);
            if expiry == now {
                over = over.and(Categories::only(category));
            }
        }
        over
    }

    /// Of these categories the ones that have something to send.
    fn ready(&mut self, over: Categories, config: &StationConfig) -> Categories {
        let mut ready = Categories::NONE;
        for category in over.iter() {
            if self.with_category(category, config, |station| station.has_something()) {
                ready = ready.and(Categories::only(category));
            }
        }
        ready
    }

    /// Where several categories contend: the one that sends now becomes the current one, if any does.
    #[cold]
    pub(super) fn winner(&mut self, now: Instant, config: &StationConfig) -> bool {
        let over = self.over(now, config);
        let winner = self.ready(over, config).iter().next();
        if let Some(winner) = winner {
            self.activate(winner, config);
        }
        winner.is_some()
    }

    /// The backoffs of some categories may be over: true if one of these sends, the highest of those that have something, which becomes
    /// the current one. To the others that is a collision, though one that nothing on the air tells of: a larger window and a new backoff,
    /// while neither the frame's retry bit nor its counters know of it (10.23.2.4).
    #[cold]
    pub(super) fn contend(&mut self, now: Instant, config: &StationConfig) -> bool {
        let over = self.over(now, config);
        for category in over.iter() {
            self.with_category(category, config, |station| station.backoff = None);
        }
        let ready = self.ready(over, config);
        let mut contending = ready.iter();
        // An answer that waits goes first; `resume` draws afresh after it.
        let (Some(winner), None) = (contending.next(), self.answer) else { return false };
        for loser in contending {
            self.with_category(loser, config, |station| station.collides_inside(now, config));
        }
        self.activate(winner, config);
        true
    }

    fn collides_inside(&mut self, now: Instant, config: &StationConfig) {
        self.widen(config);
        self.draw_backoff(now, config);
    }

    /// The transmitter is idle: what came meanwhile draws a backoff.
    #[cold]
    pub(super) fn resume_others(&mut self, now: Instant, config: &StationConfig) {
        let waits = |parked: &&Function| !parked.burst.is_empty() && parked.backoff.is_none();
        let others = self.others.iter().flat_map(|others| &others.0).filter(waits);
        let waiting = others.fold(Categories::NONE, |set, it| set.and(Categories::only(it.category)));
        for category in waiting.iter() {
            self.with_category(category, config, |station| station.draw_backoff(now, config));
        }
    }

    /// For whom the latest frame of a category is, and how large another packet of it may be, as [`Station::room`] has it.
    #[must_use]
    pub fn room_of(&mut self, category: Category, config: &StationConfig) -> Option<(Peer, Bytes)> {
        self.with_category(category, config, |station| station.room(config))
    }
}
