//! The event queue: time, then the order of scheduling.

use meshpace_units::{Instant, Span};
use std::collections::VecDeque;

/// Something that will happen, and to whom. Indices rather than references keep an entry small.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// The last bit of the frame that `from` sent arrives at `node`, to which it is addressed.
    FrameEnds {
        /// Receiver.
        node: u32,
        /// Transmitter.
        from: u32,
    },
    /// The same for a receiver so far away that the transmitter may have sent its next frame meanwhile.
    FarFrameEnds {
        /// Receiver.
        node: u32,
        /// The receiver's own copy of the frame, by its number.
        copy: u32,
    },
    /// A station's deadline.
    Station(u32),
    /// A received packet has passed the link layer and reaches the network layer.
    NetworkInput {
        /// Receiver.
        node: u32,
        /// The packet.
        packet: u32,
        /// The previous hop.
        from: u32,
    },
    /// A packet has passed the link layer on its way down and reaches the interface queue.
    Enqueue {
        /// Sender.
        node: u32,
        /// The packet; its next hop is noted in it.
        packet: u32,
    },
    /// A routing machine's deadline.
    Routing(u32),
    /// A wired link has sent a packet.
    WiredSent(u32),
    /// A packet arrives at the far end of a wired link.
    WiredArrival {
        /// The directed link.
        link: u32,
        /// The packet.
        packet: u32,
    },
    /// A TCP connection's deadline; the index is twice the flow, plus one for the receiving end.
    Connection(u32),
    /// A flow's application has something to do.
    Application(u32),
    /// A gateway's deadline.
    Gateway(u32),
    /// Time to sample estimates and queues.
    Sample,
    /// The warm-up is over.
    MeasurementBegins,
    /// A fairness window ends; the index is that of the window's length.
    WindowEnds(u32),
    /// Nodes have moved.
    Movement,
}

/// When something happens: time in the upper half, the order of scheduling in the lower, so that one comparison
/// orders events totally.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Key(u128);

/// Events further ahead than this go into the heap; a long frame at 1 Mbit/s takes 12 ms.
const NEAR: Span = Span::from_millis(5);

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
/// Most events are deadlines of stations, of which each has one at the most and which move all the time. They are
/// kept apart, where a deadline moves in place; everything else is scheduled once and never moves. At the same time
/// scheduled events come before stations, and stations come in order of their index.
///
/// Of the scheduled events nearly all are the ends of frames and steps through the link layer, at most a few
/// milliseconds ahead: there are few at a time, mostly in order, so a sorted line of them beats a heap.
pub struct EventQueue {
    near: VecDeque<(Key, Event)>,
    far: Heap<Event>,
    stations: Tournament,
    order: u64,
    now: Instant,
    handled: u64,
}

impl EventQueue {
    /// An empty queue at time 0, for so many stations.
    pub fn new(stations: usize) -> Self {
        Self {
            near: VecDeque::new(),
            far: Heap { entries: Vec::new() },
            stations: Tournament::new(stations),
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

    /// Schedules an event. Events are never cancelled; whoever scheduled one that no longer applies ignores it.
    #[inline]
    pub fn schedule(&mut self, at: Instant, event: Event) {
        assert!(at >= self.now, "{event:?} scheduled in the past: {at:?} < {:?}", self.now);
        self.order += 1;
        let key = Key::new(at, self.order);
        if at.saturating_since(self.now) > NEAR {
            self.far.push(key, event);
        } else if self.near.back().is_none_or(|last| last.0 < key) {
            self.near.push_back((key, event));
        } else {
            let place = self.near.partition_point(|entry| entry.0 < key);
            self.near.insert(place, (key, event));
        }
    }

    /// Sets, moves or removes the deadline of a station.
    #[inline]
    pub fn set_station(&mut self, station: u32, deadline: Option<Instant>) {
        self.stations.set(station, deadline.map_or(NEVER, Instant::as_nanos));
    }

    /// Moves the deadline of a station to `not_before` if it lies between `after` and that.
    #[inline]
    pub fn postpone_station(&mut self, station: u32, after: Instant, not_before: Instant) {
        let deadline = self.stations.deadline(station);
        if after.as_nanos() < deadline && deadline < not_before.as_nanos() {
            self.stations.set(station, not_before.as_nanos());
        }
    }

    /// The next event no later than `end`; time moves there.
    ///
    /// A station's deadline stays where it is: whoever handles it sets the next one, or none.
    #[inline]
    pub fn next(&mut self, end: Instant) -> Option<Event> {
        let (deadline, station) = self.stations.champion;
        let near = self.near.front().map_or(Key::NEVER, |entry| entry.0);
        let far = self.far.first().unwrap_or(Key::NEVER);
        let scheduled = near.min(far);
        let at = scheduled.at().as_nanos().min(deadline);
        if at > end.as_nanos() || at == NEVER {
            return None;
        }
        assert!(at >= self.now.as_nanos(), "time goes back from {:?} to {at} ns", self.now);
        self.now = Instant::from_nanos(at);
        self.handled += 1;
        if scheduled.at() != self.now {
            Some(Event::Station(station))
        } else if near < far {
            self.near.pop_front().map(|entry| entry.1)
        } else {
            self.far.pop()
        }
    }
}

/// The deadline of a station that has none.
const NEVER: u64 = u64::MAX;

/// The earliest of many deadlines that move: a winner tree. Moving one costs a comparison a level, in place.
struct Tournament {
    /// `matches[i]` holds the two who meet in match `i`; the winner goes on to match `i / 2`, on the side of `i`'s
    /// lowest bit. Match 1 is the final; the stations start in pairs in the last `matches.len() / 2`.
    matches: Vec<[Contender; 2]>,
    champion: Contender,
}

/// A deadline and whose it is; the earlier wins, at the same time the lower station.
type Contender = (u64, u32);

impl Tournament {
    fn new(stations: usize) -> Self {
        let pairs = stations.div_ceil(2).next_power_of_two();
        let mut tree = Self { matches: vec![[(NEVER, 0); 2]; 2 * pairs], champion: (NEVER, 0) };
        for station in 0..2 * pairs {
            tree.matches[pairs + station / 2][station % 2] = (NEVER, station as u32);
        }
        for place in (2..2 * pairs).rev() {
            tree.matches[place / 2][place % 2] = tree.matches[place][0];
        }
        tree
    }

    #[inline]
    fn place(&self, station: u32) -> (usize, usize) {
        ((self.matches.len() + station as usize) / 2, station as usize % 2)
    }

    #[inline]
    fn deadline(&self, station: u32) -> u64 {
        let (place, side) = self.place(station);
        self.matches[place][side].0
    }

    #[inline]
    fn set(&mut self, station: u32, deadline: u64) {
        let (mut place, mut side) = self.place(station);
        let mut contender = (deadline, station);
        loop {
            let pair = &mut self.matches[place];
            if pair[side] == contender {
                return;
            }
            pair[side] = contender;
            contender = if pair[1] < pair[0] { pair[1] } else { pair[0] };
            if place == 1 {
                break;
            }
            (place, side) = (place / 2, place % 2);
        }
        self.champion = contender;
    }
}

/// A heap with four children a node: flatter than a binary one, and the children lie side by side.
struct Heap<T> {
    entries: Vec<(Key, T)>,
}

const CHILDREN: usize = 4;

impl<T: Copy> Heap<T> {
    #[inline]
    fn first(&self) -> Option<Key> {
        self.entries.first().map(|entry| entry.0)
    }

    fn push(&mut self, key: Key, value: T) {
        let mut place = self.entries.len();
        self.entries.push((key, value));
        while place > 0 {
            let parent = (place - 1) / CHILDREN;
            if self.entries[parent].0 <= key {
                break;
            }
            self.entries[place] = self.entries[parent];
            place = parent;
        }
        self.entries[place] = (key, value);
    }

    fn pop(&mut self) -> Option<T> {
        let first = self.entries.first()?.1;
        let moved = self.entries.pop()?;
        if !self.entries.is_empty() {
            let place = self.sink(moved.0);
            self.entries[place] = moved;
        }
        Some(first)
    }

    /// Moves smaller children up from the root until `key` fits; returns its place.
    fn sink(&mut self, key: Key) -> usize {
        let mut place = 0;
        loop {
            let first = place * CHILDREN + 1;
            let children = first..(first + CHILDREN).min(self.entries.len());
            let Some(child) = children.min_by_key(|child| self.entries[*child].0) else { break };
            if key <= self.entries[child].0 {
                break;
            }
            self.entries[place] = self.entries[child];
            place = child;
        }
        place
    }
}

/// One pending wake-up of a state machine whose deadline moves: an earlier deadline schedules a new event, a later
/// one waits for the old event to fire and is scheduled then.
#[derive(Clone, Copy, Debug, Default)]
pub struct Alarm {
    set_for: Option<Instant>,
}

impl Alarm {
    /// Makes sure that `event` fires at `deadline`, or earlier.
    pub fn arm(&mut self, deadline: Option<Instant>, event: Event, queue: &mut EventQueue) {
        let Some(deadline) = deadline else { return };
        if self.set_for.is_none_or(|set| deadline < set) {
            let at = deadline.max(queue.now());
            self.set_for = Some(at);
            queue.schedule(at, event);
        }
    }

    /// The event fired: true if it is the one that counts, not one that an earlier deadline replaced.
    pub fn rings(&mut self, now: Instant) -> bool {
        let rings = self.set_for == Some(now);
        if rings {
            self.set_for = None;
        }
        rings
    }
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
        queue.schedule(at(5), Event::Application(1));
        queue.schedule(at(3), Event::Application(2));
        queue.set_station(3, Some(at(5)));
        queue.schedule(at(5), Event::Application(4));
        queue.schedule(at(3), Event::Application(5));
        let order: Vec<_> = std::iter::from_fn(|| next(&mut queue)).collect();
        let app = Event::Application;
        assert_eq!(order, [app(2), app(5), app(1), app(4), Event::Station(3)]);
        assert_eq!(queue.now(), at(5));
    }

    #[test]
    fn nothing_is_handled_after_the_end() {
        let mut queue = EventQueue::new(1);
        queue.schedule(Instant::from_nanos(10), Event::Sample);
        assert_eq!(queue.next(Instant::from_nanos(9)), None);
        assert_eq!(queue.next(Instant::from_nanos(10)), Some(Event::Sample));
    }

    #[test]
    fn an_alarm_rings_once_for_the_earliest_deadline() {
        let (mut queue, mut alarm) = (EventQueue::new(0), Alarm::default());
        for us in [20, 30, 10] {
            alarm.arm(Some(at(us)), Event::Sample, &mut queue);
        }
        let mut rung = Vec::new();
        while queue.next(at(100)).is_some() {
            if alarm.rings(queue.now()) {
                rung.push(queue.now());
            }
        }
        assert_eq!(rung, [at(10)]);
    }

    /// The next event; a station's deadline is taken away, as its handler would.
    fn next(queue: &mut EventQueue) -> Option<Event> {
        let event = queue.next(at(1_000_000));
        if let Some(Event::Station(station)) = event {
            queue.set_station(station, None);
        }
        event
    }

    proptest! {
        /// Against a sorted map: the same events in the same order, whatever is scheduled, moved and removed.
        #[test]
        fn the_queue_agrees_with_a_sorted_map(steps in prop::collection::vec((0u32..9, 0u64..9_000, 0u32..5), 0..300)) {
            let mut queue = EventQueue::new(9);
            // Time, stations after the others, order or station.
            let mut model: BTreeMap<(Instant, bool, u64), Event> = BTreeMap::new();
            for (number, (station, ahead, what)) in steps.into_iter().enumerate() {
                let then = queue.now() + Span::from_micros(ahead);
                let event = Event::Station(station);
                let set = model.iter().find(|entry| *entry.1 == event).map(|entry| entry.0.0);
                match what {
                    0 => {
                        queue.schedule(then, Event::Application(station));
                        model.insert((then, false, number as u64), Event::Application(station));
                    }
                    1 | 2 => {
                        let deadline = (what == 1).then_some(then);
                        queue.set_station(station, deadline);
                        model.retain(|_, other| *other != event);
                        model.extend(deadline.map(|at| ((at, true, u64::from(station)), event)));
                    }
                    3 => {
                        queue.postpone_station(station, queue.now(), then);
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
