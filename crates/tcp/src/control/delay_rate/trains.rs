//! Segments that travel together: trains of as many as one access carries, whole, each with an acknowledgement of its own (docs/law.md).

use super::super::{Ack, Departure, Sent};
use alloc::collections::VecDeque;
use core::num::NonZeroU32;
use core::ops::Range;
use meshpace_pacing::{DelayRate, Pacer, TrainsInFlight, Unit};
use meshpace_units::{Instant, Span};

/// The rate stays below a train an empty round trip while a second one has to wait.
const BELOW_ONE: f64 = 0.999;

/// How many segments one access carries, how many such trains are on their way, and where the latest began.
#[derive(Clone, Debug)]
pub(super) struct Trains {
    unit: Unit,
    allowed: TrainsInFlight,
    /// Segments that leave together where nothing is known of the unit.
    burst: NonZeroU32,
    /// Segments in flight, as of the latest acknowledgement.
    flight: f64,
    /// The position after what left last.
    sent: u64,
    /// When the latest train began to leave, if what has left of it is the begin of a whole one, all of it new.
    began: Option<Instant>,
    /// Of whole trains that are not acknowledged: where each ends, and how long it took to leave.
    ends: VecDeque<(u64, Span)>,
    /// The latest train that asks.
    asking: Range<u64>,
}

impl Trains {
    pub(super) const fn new(unit: Unit, burst: NonZeroU32) -> Self {
        Self {
            unit,
            allowed: TrainsInFlight::new(),
            burst,
            flight: 0.0,
            sent: 0,
            began: None,
            ends: VecDeque::new(),
            asking: 0..0,
        }
    }

    /// Learns the unit from an acknowledgement.
    pub(super) fn on_ack(&mut self, ack: &Ack<'_>, law: &mut DelayRate, pacer: &mut Pacer) {
        self.flight = ack.out.flight;
        self.allowed.on_arrived(ack.segments() / f64::from(self.unit.size()));
        let apart = f64::from(self.unit.size()) / law.rate();
        if ack.is_new() && self.unit.on_ack(ack.now, ack.segments(), apart) {
            law.set_unit(ack.now, self.unit.size());
            pacer.set_burst(self.together(self.unit.size()));
            self.allowed = TrainsInFlight::new();
            self.began = None;
            self.ends.clear();
        }
    }

    /// If what is acknowledged up to `una` ends with a unit: how long this took to leave, by which its round trip is longer than that of
    /// its last segment. What ends within a train has a shorter one, and so have trains of another unit.
    pub(super) fn ends(&mut self, una: u64) -> Option<Span> {
        if self.unit.size() == 1 {
            return (una <= self.asking.start || una > self.asking.end).then_some(Span::ZERO);
        }
        while self.ends.front().is_some_and(|(end, _)| *end < una) {
            self.ends.pop_front();
        }
        self.ends.front().filter(|(end, _)| *end == una).map(|(_, took)| *took)
    }

    /// Whether what was acknowledged last came at once. The parts of a train that comes in parts travel at the same time, and may be there
    /// before a whole one: it tells of no shorter path.
    pub(super) fn came_at_once(&self) -> bool {
        self.unit.is_whole()
    }

    /// By the rate: how many trains may be on their way.
    pub(super) fn follow(&mut self, ack: &Ack<'_>, law: &mut DelayRate) {
        let unit = f64::from(self.unit.size());
        if let Some(base) = law.base().filter(|_| unit > 1.0) {
            if self.allowed.follow(ack.now, law.rate() * base / unit, base) {
                law.bound(BELOW_ONE * unit / base);
            }
        }
        self.keep_one(law);
    }

    /// A train a round trip is sent at least: that is less than what the law lets wait of each flow.
    fn keep_one(&self, law: &mut DelayRate) {
        let unit = f64::from(self.unit.size());
        if let Some(base) = law.base().filter(|_| unit > 1.0) {
            law.raise(unit / (base + law.queue().unwrap_or(0.0)));
        }
    }

    /// Time between two segments: that of the rate, but one train alone leaves as soon as the one before it is acknowledged.
    pub(super) fn spacing(&self, law: &DelayRate) -> Span {
        let alone = law.base().filter(|_| self.unit.size() > 1 && self.allowed.count() == 1);
        let empty = alone.map(|base| Span::from_secs_f64(base / f64::from(self.unit.size())));
        empty.map_or(law.spacing(), |empty| empty.min(law.spacing()))
    }

    /// The retransmission timer expired, and the law has answered.
    pub(super) fn on_timeout(&mut self, law: &mut DelayRate) {
        self.unit.on_timeout();
        self.keep_one(law);
    }

    /// The window that lets whole trains out, segments; `None` where packets go one by one.
    pub(super) fn window(&self) -> Option<f64> {
        let unit = f64::from(self.unit.size());
        let most = f64::from(self.allowed.count()) * unit;
        let room = self.flight <= most - unit + Unit::ROUNDING;
        (unit > 1.0).then(|| if room { most } else { self.flight.min(most) })
    }

    /// A segment left; `left`: what was left of the train before it.
    pub(super) fn on_departure(&mut self, departure: &Departure, left: u32, pacer: &mut Pacer) {
        let Sent::Data { start, length, first } = departure.sent else { return };
        let follows = first && start == self.sent;
        self.sent = start + u64::from(length);
        if self.unit.size() > 1 {
            if pacer.left() + 1 == self.unit.size() {
                self.began = first.then_some(departure.now);
                self.unit.on_train();
            } else if !follows {
                self.began = None;
            }
            if let Some(began) = self.began.filter(|_| pacer.left() == 0) {
                self.ends.push_back((self.sent, departure.now.saturating_since(began)));
            }
        } else if first && left + pacer.left() > 0 {
            self.asking.end = self.sent;
        } else if first {
            if let Some(segments) = self.unit.on_departure() {
                self.asking = self.sent..self.sent;
                pacer.set_burst(self.together(segments));
            }
        }
        if self.unit.size() == 1 && left > 0 && pacer.left() == 0 {
            pacer.set_burst(self.burst);
        }
    }

    /// Whether what left last is pushed: the end of a train, so that its receiver waits for no more, and the middle of one that asks, so
    /// that two acknowledgements tell whether it was carried at once.
    pub(super) fn pushes(&self, pacer: &Pacer, last: bool) -> bool {
        let unit = self.unit.size();
        if unit > 1 {
            return last || self.unit.asks() && pacer.left() == unit / 2;
        }
        let asks = self.asking.start < self.asking.end && self.asking.end == self.sent;
        asks && (pacer.left() == 0 || pacer.left() == Unit::SMALLEST / 2)
    }

    /// Segments of a train, which leave in one buffer; 0 where packets go one by one.
    pub(super) const fn buffer(&self) -> u32 {
        if self.unit.size() > 1 { self.unit.size() } else { 0 }
    }

    fn together(&self, segments: u32) -> NonZeroU32 {
        NonZeroU32::new(segments).map_or(self.burst, |segments| segments.max(self.burst))
    }
}

#[cfg(test)]
mod tests;
