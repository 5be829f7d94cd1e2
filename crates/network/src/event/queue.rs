//! The event queue.

use super::deadlines::Deadlines;
use super::heap::Heap;
use super::line::Line;
use super::{Event, InterfaceId};
use meshpace_units::{Instant, Span};
use std::fmt::Debug;

/// Events further ahead than this go into the heap; a long frame at 1 Mbit/s takes 12 ms.
const NEAR: Span = Span::from_millis(5);

/// When something happens: time in the upper half, the order of scheduling in the lower, so that one comparison
/// orders events totally.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Key(u128);

impl Key {
    /// Later than every event.
    const NEVER: Self = Self(u128::MAX);

    fn new(at: Instant, order: u64) -> Self {
        Self(u128::from(at.as_nanos()) << 64 | u128::from(order))
    }

    fn at(self) -> Instant {
        Instant::from_nanos((self.0 >> 64) as u64)
    }
}

/// Events in a total order: by time, and at the same time in the order in which they were scheduled.
///
/// Most events are deadlines of stations. Each station has one deadline at the most, and it moves all the time.
/// Deadlines are kept apart, where each moves in place; everything else is scheduled once and never moves. At the
/// same time scheduled events come before stations, and stations come in order of their index.
///
/// Nearly all scheduled events are ends of frames and steps through the link layer, at most a few
/// milliseconds ahead. There are few of them at a time, mostly in order, so a sorted line of them beats a
/// heap.
pub struct EventQueue<T> {
    near: Line<Key, Event<T>>,
    far: Heap<Key, Event<T>>,
    stations: Deadlines,
    order: u64,
    now: Instant,
    handled: u64,
}

impl<T: Copy + Debug> EventQueue<T> {
    /// An empty queue at time 0, for so many stations.
    pub fn new(stations: usize) -> Self {
        Self {
            near: Line::new(),
            far: Heap::new(),
            stations: Deadlines::new(stations),
            order: 0,
            now: Instant::ZERO,
            handled: 0,
        }
    }

    /// The time of the event handled last.
    #[inline]
    pub fn now(&self) -> Instant {
        self.now
    }

    /// Events handled so far.
    pub fn handled(&self) -> u64 {
        self.handled
    }

    /// When the next event is.
    pub fn next_at(&self) -> Option<Instant> {
        let near = self.near.first().unwrap_or(Key::NEVER);
        let at = near.min(self.far.first().unwrap_or(Key::NEVER)).at().min(self.stations.earliest());
        (at != Key::NEVER.at()).then_some(at)
    }

    /// Time moves on to `to`, before the next event.
    ///
    /// # Panics
    /// If an event comes first.
    pub fn pass(&mut self, to: Instant) {
        assert!(self.next_at().is_none_or(|next| next >= to), "{:?} comes before {to:?}", self.next_at());
        self.now = self.now.max(to);
    }

    /// Schedules an event. Events are never cancelled; the module that scheduled it ignores one that no longer applies.
    #[inline]
    pub fn schedule(&mut self, at: Instant, event: Event<T>) {
        if at < self.now {
            too_late(&event, at, self.now);
        }
        self.order += 1;
        let key = Key::new(at, self.order);
        if at.saturating_since(self.now) > NEAR {
            self.far.push(key, event);
        } else {
            self.near.push(key, event);
        }
    }

    /// Sets, moves or removes the deadline of a station.
    #[inline]
    pub fn set_station(&mut self, station: InterfaceId, deadline: Option<Instant>) {
        self.stations.set(station.0, deadline);
    }

    /// Moves the deadline of a station to `not_before` if it lies between `after` and that.
    #[inline]
    pub fn postpone_station(&mut self, station: InterfaceId, after: Instant, not_before: Instant) {
        if self.stations.get(station.0).is_some_and(|deadline| after < deadline && deadline < not_before) {
            self.stations.set(station.0, Some(not_before));
        }
    }

    /// The next event no later than `end`; time moves there.
    ///
    /// A station's deadline stays where it is: its handler sets the next one, or none.
    #[inline]
    pub fn next(&mut self, end: Instant) -> Option<Event<T>> {
        let near = self.near.first().unwrap_or(Key::NEVER);
        let far = self.far.first().unwrap_or(Key::NEVER);
        let near_first = near < far;
        let scheduled = if near_first { near.at() } else { far.at() };
        let at = scheduled.min(self.stations.earliest());
        if at > end || at == Key::NEVER.at() {
            return None;
        }
        assert!(at >= self.now, "time goes back from {:?} to {at:?}", self.now);
        self.now = at;
        self.handled += 1;
        if scheduled != at {
            Some(Event::Station(InterfaceId(self.stations.first())))
        } else if near_first {
            self.near.pop()
        } else {
            self.far.pop()
        }
    }
}

/// Apart from what schedules events, which else keeps them where they can be shown.
#[cold]
#[inline(never)]
fn too_late(event: &impl Debug, at: Instant, now: Instant) -> ! {
    panic!("{event:?} scheduled in the past: {at:?} < {now:?}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    fn at(us: u64) -> Instant {
        Instant::ZERO + Span::from_micros(us)
    }

    #[test]
    fn ties_go_to_whoever_was_scheduled_first() {
        let mut queue = EventQueue::new(4);
        queue.schedule(at(5), Event::Timer(1));
        queue.schedule(at(3), Event::Timer(2));
        queue.set_station(InterfaceId(3), Some(at(5)));
        queue.schedule(at(5), Event::Timer(4));
        queue.schedule(at(3), Event::Timer(5));
        let order: Vec<_> = std::iter::from_fn(|| next(&mut queue)).collect();
        let app = Event::Timer;
        assert_eq!(order, [app(2), app(5), app(1), app(4), Event::Station(InterfaceId(3))]);
        assert_eq!(queue.now(), at(5));
    }

    #[test]
    fn time_passes_up_to_the_next_event() {
        let mut queue = EventQueue::<u32>::new(1);
        assert_eq!(queue.next_at(), None);
        queue.set_station(InterfaceId(0), Some(at(30)));
        queue.schedule(at(9_000), Event::Movement);
        assert_eq!(queue.next_at(), Some(at(30)));
        queue.schedule(at(20), Event::Timer(1));
        assert_eq!(queue.next_at(), Some(at(20)));
        queue.pass(at(20));
        assert_eq!(queue.now(), at(20));
        queue.pass(at(10));
        assert_eq!(queue.now(), at(20), "time does not go back");
        assert_eq!(queue.next(at(20)), Some(Event::Timer(1)), "what is due then is not lost");
    }

    #[test]
    #[should_panic(expected = "comes before")]
    fn time_does_not_pass_an_event() {
        let mut queue = EventQueue::<u32>::new(1);
        queue.schedule(at(20), Event::Timer(1));
        queue.pass(at(21));
    }

    #[test]
    fn nothing_is_handled_after_the_end() {
        let mut queue = EventQueue::<u32>::new(1);
        queue.schedule(Instant::from_nanos(10), Event::Movement);
        assert_eq!(queue.next(Instant::from_nanos(9)), None);
        assert_eq!(queue.next(Instant::from_nanos(10)), Some(Event::Movement));
    }

    /// The next event; a station's deadline is taken away, as its handler would.
    fn next(queue: &mut EventQueue<u32>) -> Option<Event<u32>> {
        let event = queue.next(at(1_000_000));
        if let Some(Event::Station(station)) = event {
            queue.set_station(station, None);
        }
        event
    }

    proptest! {
        /// Against a sorted map: the same events in the same order, whatever is scheduled, moved and removed.
        #[test]
        fn the_queue_agrees_with_a_sorted_map(
            steps in prop::collection::vec((0u32..40, 0u64..9_000, 0u32..5), 0..300),
            apart in prop::sample::select(vec![1u32, 20]),
        ) {
            // Far apart they stand in several groups of blocks.
            let mut queue = EventQueue::new(40 * apart as usize);
            // Time, stations after the others, order or station.
            let mut model: BTreeMap<(Instant, bool, u64), Event<u32>> = BTreeMap::new();
            for (number, (station, ahead, what)) in steps.into_iter().enumerate() {
                let station = station * apart;
                let then = queue.now() + Span::from_micros(ahead);
                let event = Event::Station(InterfaceId(station));
                let set = model.iter().find(|entry| *entry.1 == event).map(|entry| entry.0.0);
                match what {
                    0 => {
                        queue.schedule(then, Event::Timer(station));
                        model.insert((then, false, number as u64), Event::Timer(station));
                    }
                    1 | 2 => {
                        let deadline = (what == 1).then_some(then);
                        queue.set_station(InterfaceId(station), deadline);
                        model.retain(|_, other| *other != event);
                        model.extend(deadline.map(|at| ((at, true, u64::from(station)), event)));
                    }
                    3 => {
                        queue.postpone_station(InterfaceId(station), queue.now(), then);
                        if set.is_some_and(|set| queue.now() < set && set < then) {
                            model.retain(|_, other| *other != event);
                            model.insert((then, true, u64::from(station)), event);
                        }
                    }
                    _ => prop_assert_eq!(next(&mut queue), model.pop_first().map(|entry| entry.1)),
                }
            }
            while let Some((_, event)) = model.pop_first() {
                prop_assert_eq!(next(&mut queue), Some(event));
            }
            prop_assert_eq!(next(&mut queue), None);
        }
    }
}
