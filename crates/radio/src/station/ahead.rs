//! Frames of several packets that are fixed before their turn, as hardware has them that is filled ahead.
//!
//! The packets in hand are those of the frame whose turn it is; the frames behind it wait here. A frame takes packets from the moment
//! that its first one is offered until the driver has no more for it, and none later. What of a frame was lost goes again behind the frames
//! that are fixed already, with what waits then: Linux's ath9k puts such packets back before its software queue and forms the
//! next frame of them (`ath_tx_complete_aggr`, `ath_tx_form_aggr` in drivers/net/wireless/ath/ath9k/xmit.c, Linux 6.1).

use super::functions::Lane;
use super::{Station, StationConfig};
use crate::burst::{Burst, MacPacket};
use crate::category::{Category, Peer};
use crate::standard::{Aggregation, Standard};
use meshpace_units::Bytes;
use std::collections::VecDeque;

/// The frames behind the one in hand.
#[derive(Clone, Debug, Default)]
pub(super) struct Ahead {
    /// Frames that are fixed before their turn, the one in hand counted; 0: the one in hand is filled at the win of the medium.
    limit: usize,
    waiting: VecDeque<Burst>,
    /// Numbers from the first packet on that a neighbour has not acknowledged, in which all packets for it lie (WinSize).
    window: usize,
    /// The latest frame may take packets still.
    open: bool,
}

impl Ahead {
    /// None, within a standard's limits.
    pub fn of(standard: &Standard) -> Self {
        let Some(Aggregation { ahead, packets, .. }) = standard.aggregation else { return Self::default() };
        Self { limit: ahead, window: packets, ..Self::default() }
    }

    /// True if frames are fixed before their turn.
    #[inline]
    pub const fn is_used(&self) -> bool {
        self.limit > 0
    }

    /// True if there is a place beside the frame in hand.
    #[inline]
    fn has_room(&self) -> bool {
        self.waiting.len() + 1 < self.limit
    }

    /// Packets that wait for their turn.
    pub fn packets(&self) -> usize {
        self.waiting.iter().map(Burst::len).sum()
    }

    /// Another frame, which may take packets.
    pub fn push(&mut self, burst: Burst) {
        self.waiting.push_back(burst);
        self.open = true;
    }

    /// What of the frame in hand does not fit into it waits behind it.
    pub fn put_aside(&mut self, rest: Burst) {
        self.waiting.push_front(rest);
    }

    /// What waits aside goes with the frame in hand again. Where frames are fixed before their turn it is a frame of its own.
    pub fn bring_back(&mut self, burst: &mut Burst) {
        if !self.is_used() {
            let aside = self.waiting.drain(..);
            aside.for_each(|rest| rest.as_slice().iter().for_each(|mpdu| burst.push(*mpdu)));
        }
    }

    /// Something waits aside, so that the frame in hand is full.
    #[inline]
    pub fn has_aside(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// The frame in hand may take packets: it has just been begun, or has lost some.
    pub fn reopen(&mut self) {
        self.open = true;
    }
}

impl Lane {
    /// True if another frame is fixed beside `burst`, which is in hand. None is while a neighbour's window is full, since its packet
    /// would lie outside: it is not known for whom the packet will be.
    #[inline]
    pub fn accepts(&self, burst: &Burst) -> bool {
        self.ahead.has_room() && self.windows_are_open(burst)
    }

    #[inline(never)]
    fn windows_are_open(&self, burst: &Burst) -> bool {
        let full = |frame: &Burst| {
            let to = frame.first().and_then(|mpdu| mpdu.packet.peer());
            to.is_some_and(|to| self.numbers_left(burst, to) == Some(0))
        };
        !self.ahead.waiting.iter().chain([burst]).any(full)
    }

    /// How many packets for a neighbour may be numbered still, with `burst` in hand: within a window from the first one that it has
    /// not acknowledged, and no further (IEEE 802.11-2020, 10.25.6.7). `None`: it has acknowledged all.
    #[inline(always)]
    fn numbers_left(&self, burst: &Burst, to: Peer) -> Option<usize> {
        let used = usize::from(self.requests.upcoming(to).wrapping_sub(self.oldest(burst, to)?) & 0xfff);
        Some(self.ahead.window.saturating_sub(used))
    }

    /// The first number that a neighbour has not acknowledged, of all packets for it, those of `burst` in hand among them; `None`:
    /// there are none.
    #[inline]
    fn oldest(&self, burst: &Burst, to: Peer) -> Option<u16> {
        if self.ahead.waiting.is_empty() { first_for(to, burst) } else { self.oldest_of_several(burst, to) }
    }

    /// Apart from [`Lane::oldest`], which is asked for every packet.
    #[inline(never)]
    fn oldest_of_several(&self, burst: &Burst, to: Peer) -> Option<u16> {
        let upcoming = self.requests.upcoming(to);
        // Numbers go round: the oldest lies furthest behind the one that comes next.
        let numbers = self.ahead.waiting.iter().chain([burst]).filter_map(|frame| first_for(to, frame));
        numbers.max_by_key(|seq| upcoming.wrapping_sub(*seq) & 0xfff)
    }
}

/// The first number of a frame, if it is for this neighbour.
#[inline(always)]
fn first_for(to: Peer, frame: &Burst) -> Option<u16> {
    frame.first().filter(|mpdu| mpdu.packet.peer() == Some(to)).map(|mpdu| mpdu.seq)
}

impl Station {
    /// True if another frame of the current category is fixed beside that in hand.
    #[inline]
    pub(super) fn accepts_ahead(&self) -> bool {
        self.several.as_ref().is_some_and(|several| several.lane.accepts(&self.burst))
    }

    /// The driver has no more packets for the frame of this category that was begun last: it stays as it is until its turn.
    pub fn fix(&mut self, category: Category, config: &StationConfig) {
        self.with_category(category, config, |station| {
            if let Some(several) = &mut station.several {
                several.lane.ahead.open = false;
            }
        });
    }

    /// The latest frame; true if it is the one in hand.
    pub(super) fn open_frame(&mut self) -> (&mut Burst, bool) {
        match self.several.as_mut().and_then(|several| several.lane.ahead.waiting.back_mut()) {
            Some(latest) => (latest, false),
            None => (&mut self.burst, true),
        }
    }

    /// For whom the latest frame is, and how large another packet of it may be.
    pub(super) fn room_ahead(&self, config: &StationConfig) -> Option<(Peer, Bytes)> {
        let ahead = &self.several.as_ref()?.lane.ahead;
        let burst = ahead.waiting.back().unwrap_or(&self.burst);
        let to = burst.first().filter(|_| ahead.open)?.packet.peer()?;
        self.room_after(to, burst, config)
    }

    /// How large another packet of a frame for a neighbour may be.
    pub(super) fn room_after(
        &self,
        to: Peer,
        burst: &Burst,
        config: &StationConfig,
    ) -> Option<(Peer, Bytes)> {
        let inside = config.phy.room_inside(burst.as_slice());
        // A packet in an MPDU of its own takes a number.
        let beside = config.phy.room(burst.as_slice()).filter(|_| self.numbers_left(to).unwrap_or(0) > 0);
        inside.max(beside).map(|room| (to, room))
    }

    /// The same after a packet has joined the latest frame, which had so much room before, in an MPDU of its own: worked out by what has
    /// changed instead of anew for each packet of a frame.
    #[inline]
    pub(super) fn left(
        &self,
        joined: MacPacket,
        room: Bytes,
        config: &StationConfig,
    ) -> Option<(Peer, Bytes)> {
        let to = joined.peer()?;
        let waiting = &self.several.as_ref()?.lane.ahead.waiting;
        let frame = waiting.back().unwrap_or(&self.burst);
        let left = config.phy.room_behind(frame.as_slice(), joined.size, room);
        left.filter(|_| self.numbers_left(to).unwrap_or(0) > 0).map(|room| (to, room))
    }

    /// How many packets for a neighbour may be numbered still; `None`: it has acknowledged all.
    #[inline]
    fn numbers_left(&self, to: Peer) -> Option<usize> {
        self.several.as_ref()?.lane.numbers_left(&self.burst, to)
    }

    /// The first number that a neighbour has not acknowledged, of all packets for it; `None`: there are none.
    pub(super) fn oldest(&self, to: Peer) -> Option<u16> {
        self.several.as_ref()?.lane.oldest(&self.burst, to)
    }

    /// The frame in hand has lost packets, which go behind the frames that are fixed.
    pub(super) fn put_back(&mut self) {
        let Some(several) = &mut self.several else { return };
        let ahead = &mut several.lane.ahead;
        if !ahead.is_used() || self.burst.is_empty() {
            return;
        }
        if ahead.waiting.is_empty() {
            ahead.reopen();
        } else {
            ahead.push(std::mem::take(&mut self.burst));
        }
    }

    /// If there is none in hand, it is the turn of the next frame.
    #[inline]
    pub(super) fn take_next(&mut self, config: &StationConfig) {
        let waits = self.several.as_ref().is_some_and(|several| !several.lane.ahead.waiting.is_empty());
        if waits && self.burst.is_empty() {
            self.take_waiting(config);
        }
    }

    #[cold]
    fn take_waiting(&mut self, config: &StationConfig) {
        let next = self.several.as_mut().and_then(|several| several.lane.ahead.waiting.pop_front());
        self.burst = next.unwrap_or(Burst::EMPTY);
        let unicast = self.burst.first().is_some_and(|mpdu| mpdu.packet.to.is_some());
        self.needs_rts = unicast && self.is_protected(config);
        self.retry = self.burst.as_slice().iter().any(|mpdu| mpdu.retry);
        self.pay();
    }
}
