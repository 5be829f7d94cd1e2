//! Frames that will arrive, or have arrived and not been looked at, in order of their first bit.

use crate::reception::Arrival;

/// A queue whose front part has been taken; it starts afresh whenever it runs empty.
#[derive(Clone, Debug, Default)]
pub(super) struct Pending {
    arrivals: Vec<Arrival>,
    taken: usize,
    /// True: each is looked at by itself, undisturbed or not. (Here, where it lies beside what is read at every frame.)
    pub one_by_one: bool,
}

impl Pending {
    #[inline]
    pub fn len(&self) -> usize {
        self.arrivals.len() - self.taken
    }

    #[inline]
    pub fn first(&self) -> Option<&Arrival> {
        self.arrivals.get(self.taken)
    }

    #[inline]
    pub fn second(&self) -> Option<&Arrival> {
        self.arrivals.get(self.taken + 1)
    }

    #[inline]
    pub fn push(&mut self, arrival: Arrival) {
        if self.arrivals.last().is_none_or(|last| last.start <= arrival.start) {
            self.arrivals.push(arrival);
        } else {
            self.insert(arrival);
        }
    }

    /// A nearer transmitter that started later overtakes, by a microsecond or two.
    #[cold]
    fn insert(&mut self, arrival: Arrival) {
        let waiting = &self.arrivals[self.taken..];
        let place = waiting.iter().rposition(|other| other.start <= arrival.start).map_or(0, |i| i + 1);
        self.arrivals.insert(self.taken + place, arrival);
    }

    #[inline]
    pub fn pop(&mut self) -> Option<Arrival> {
        let first = *self.arrivals.get(self.taken)?;
        self.taken += 1;
        if self.taken == self.arrivals.len() {
            self.arrivals.clear();
            self.taken = 0;
        }
        Some(first)
    }

    /// Forgets what was taken, so that a queue that never runs empty does not grow.
    pub fn compact(&mut self) {
        self.arrivals.drain(..self.taken);
        self.taken = 0;
    }
}
