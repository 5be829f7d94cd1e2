//! The event queue: time, then the order of scheduling.

use meshpace_units::Instant;
use std::cmp::Ordering;
use std::collections::BinaryHeap;

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

#[derive(Clone, Copy)]
struct Entry {
    at: Instant,
    order: u64,
    event: Event,
}

impl Ord for Entry {
    /// The heap yields its greatest element, so the earliest entry is the greatest.
    fn cmp(&self, other: &Self) -> Ordering {
        (other.at, other.order).cmp(&(self.at, self.order))
    }
}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Entry {}

/// Events in a total order: by time, and at the same time in the order in which they were scheduled.
#[derive(Default)]
pub struct EventQueue {
    heap: BinaryHeap<Entry>,
    scheduled: u64,
    now: Instant,
    handled: u64,
}

impl EventQueue {
    /// The time of the event handled last.
    pub fn now(&self) -> Instant {
        self.now
    }

    /// Events handled so far.
    pub fn handled(&self) -> u64 {
        self.handled
    }

    /// Schedules an event. Events are never cancelled; whoever scheduled one that no longer applies ignores it.
    pub fn schedule(&mut self, at: Instant, event: Event) {
        assert!(at >= self.now, "{event:?} scheduled in the past: {at:?} < {:?}", self.now);
        self.heap.push(Entry { at, order: self.scheduled, event });
        self.scheduled += 1;
    }

    /// The next event no later than `end`; time moves there.
    pub fn next(&mut self, end: Instant) -> Option<Event> {
        if self.heap.peek()?.at > end {
            return None;
        }
        let entry = self.heap.pop()?;
        self.now = entry.at;
        self.handled += 1;
        Some(entry.event)
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
    use meshpace_units::Span;

    #[test]
    fn ties_go_to_whoever_was_scheduled_first() {
        let mut queue = EventQueue::default();
        let at = |us| Instant::ZERO + Span::from_micros(us);
        queue.schedule(at(5), Event::Station(1));
        queue.schedule(at(3), Event::Station(2));
        queue.schedule(at(5), Event::Station(3));
        queue.schedule(at(3), Event::Station(4));
        let order: Vec<_> = std::iter::from_fn(|| queue.next(at(9))).collect();
        assert_eq!(order, [2, 4, 1, 3].map(Event::Station));
        assert_eq!(queue.now(), at(5));
    }

    #[test]
    fn nothing_is_handled_after_the_end() {
        let mut queue = EventQueue::default();
        queue.schedule(Instant::from_nanos(10), Event::Sample);
        assert_eq!(queue.next(Instant::from_nanos(9)), None);
        assert_eq!(queue.next(Instant::from_nanos(10)), Some(Event::Sample));
    }

    #[test]
    fn an_alarm_rings_once_for_the_earliest_deadline() {
        let (mut queue, mut alarm) = (EventQueue::default(), Alarm::default());
        let at = Instant::from_nanos;
        alarm.arm(Some(at(20)), Event::Sample, &mut queue);
        alarm.arm(Some(at(30)), Event::Sample, &mut queue);
        alarm.arm(Some(at(10)), Event::Sample, &mut queue);
        let mut rung = Vec::new();
        while queue.next(at(100)).is_some() {
            if alarm.rings(queue.now()) {
                rung.push(queue.now());
            }
        }
        assert_eq!(rung, [at(10)]);
    }
}
