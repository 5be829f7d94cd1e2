//! What a station keeps for its observers: which frames it read, how long it found the medium busy.
//!
//! Few relays ask, and a station that is not asked keeps nothing. One that is watched stays as lazy in time, and does the same.

use super::{Station, StationConfig};
use crate::reception::Arrival;
use meshpace_units::{Instant, NodeId, Span};

/// The notes of a watched station.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Watch {
    /// The frame for another station that was read last: its end and its transmitter. One is enough, since a station reads
    /// one frame at a time, and its driver asks at the frame's end.
    read: Option<(Instant, NodeId)>,
    /// Up to when `busy` counts.
    counted: Instant,
    busy: Span,
}

impl Watch {
    /// Accounts for the time up to `at`: since it was accounted for last, the medium has been busy until `busy_until`.
    #[inline]
    fn count(&mut self, busy_until: Instant, at: Instant) {
        self.busy += busy_until.saturating_since(self.counted);
        self.counted = self.counted.max(at);
    }

    /// A frame for another station came that nothing overlapped. Before it the medium was busy until `busy_until` at the latest.
    #[inline]
    pub(super) fn undisturbed(&mut self, arrival: &Arrival, busy_until: Instant) {
        self.count(busy_until.min(arrival.start), arrival.start);
        let end = arrival.end();
        self.count(end, end);
        if arrival.decodable() {
            self.read = Some((end, arrival.from()));
        }
    }
}

impl Station {
    /// From now on the station answers [`Station::overhear`] and [`Station::busy_time`].
    pub fn watch(&mut self) {
        self.look_closely();
        self.watch.get_or_insert_default();
        self.watched = true;
    }

    /// The last bit of a frame of `from` that is not meant for this node arrives now. True if the station read it.
    /// To be asked at that very time; it changes nothing.
    ///
    /// # Panics
    /// If the station is not [watched](Station::watch).
    pub fn overhear(&mut self, now: Instant, from: NodeId, config: &StationConfig) -> bool {
        self.catch_up(now, config);
        match &self.watch {
            Some(watch) => watch.read == Some((now, from)),
            None => panic!("{:?} is not watched", self.id),
        }
    }

    /// For how long, since it has been watched, the medium has not been free for this station: something was received
    /// or sensed, an own exchange was under way (its SIFS and time-outs included), or the NAV was set, by an overheard
    /// reservation or an EIFS. The union: no time counts twice.
    ///
    /// # Panics
    /// If the station is not [watched](Station::watch).
    pub fn busy_time(&mut self, now: Instant, config: &StationConfig) -> Span {
        self.catch_up(now, config);
        self.count_busy(now);
        match &self.watch {
            Some(watch) => watch.busy,
            None => panic!("{:?} is not watched", self.id),
        }
    }

    /// Accounts for the time up to `at`, before anything changes there that decides whether the medium is free.
    #[inline]
    pub(super) fn count_busy(&mut self, at: Instant) {
        if self.watched {
            let busy_until =
                if self.is_in_exchange() || self.reception.busy() { at } else { self.nav.min(at) };
            if let Some(watch) = &mut self.watch {
                watch.count(busy_until, at);
            }
        }
    }

    /// A frame of `from` for another station that ends at `end` was read.
    #[inline]
    pub(super) fn note_read(&mut self, end: Instant, from: NodeId) {
        if let Some(watch) = &mut self.watch {
            watch.read = Some((end, from));
        }
    }
}
