//! Frames that will arrive, or have arrived and not been looked at, in order of their first bit.

use crate::reception::Arrival;

/// A queue whose front part has been taken; it starts afresh whenever it runs empty.
#[derive(Clone, Debug, Default)]
pub(super) struct Pending {
    arrivals: Vec<Arrival>,
    taken: usize,
}

/// So many fit in, taken ones included, before a station has to look at them that never [stands by](super::standing_by): a node that nothing
/// happens to does not collect them.
pub(super) const ROOM: usize = 12;

/// The same of other stations: they stand by again the sooner.
pub(super) const LITTLE_ROOM: usize = 4;

impl Pending {
    /// The arrivals that have not been taken.
    #[inline]
    pub fn waiting(&self) -> &[Arrival] {
        &self.arrivals[self.taken..]
    }

    #[inline]
    pub fn first(&self) -> Option<&Arrival> {
        self.arrivals.get(self.taken)
    }

    /// True if [`push`](Self::push) wants [`make_room`](Self::make_room) first. Both ask the vector for its capacity: it is
    /// compared once.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.arrivals.len() == self.arrivals.capacity()
    }

    /// How many fit in.
    #[cfg(test)]
    pub fn room(&self) -> usize {
        self.arrivals.capacity()
    }

    #[inline]
    pub fn push(&mut self, arrival: Arrival) {
        let last = self.arrivals.last().is_none_or(|last| last.start <= arrival.start);
        // Put at the end even so: a call in between that takes the arrival would have it go through memory at every push.
        self.arrivals.push(arrival);
        if !last {
            self.put_in_order();
        }
    }

    /// A nearer transmitter that started later overtakes, by a microsecond or two.
    #[cold]
    #[inline(never)]
    fn put_in_order(&mut self) {
        let waiting = &mut self.arrivals[self.taken..];
        let Some((last, others)) = waiting.split_last() else { return };
        let place = others.iter().rposition(|other| other.start <= last.start).map_or(0, |i| i + 1);
        waiting[place..].rotate_right(1);
    }

    #[inline]
    pub fn pop(&mut self) -> Option<Arrival> {
        let first = *self.arrivals.get(self.taken)?;
        self.take(1);
        Some(first)
    }

    /// Takes the first `count`, all of which are there.
    #[inline]
    pub fn take(&mut self, count: usize) {
        self.taken += count;
        if self.taken == self.arrivals.len() {
            self.arrivals.clear();
            self.taken = 0;
        }
    }

    /// Forgets what was taken, so that a queue that never runs empty does not grow beyond `room`; it grows if more are waiting.
    pub fn make_room(&mut self, room: usize) {
        self.arrivals.drain(..self.taken);
        self.taken = 0;
        if self.arrivals.len() >= room / 2 || self.arrivals.capacity() < room {
            self.arrivals.reserve_exact(room);
        }
    }
}
