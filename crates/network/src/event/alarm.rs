//! A wake-up that is scheduled as seldom as possible.

use super::{Event, EventQueue};
use meshpace_units::Instant;
use std::fmt::Debug;

/// One pending wake-up of a state machine whose deadline moves: an earlier deadline schedules a new event, a later
/// one waits for the old event to fire and is scheduled then.
#[derive(Clone, Copy, Debug, Default)]
pub struct Alarm {
    set_for: Option<Instant>,
}

impl Alarm {
    /// Makes sure that `event` fires at `deadline`, or earlier.
    pub(crate) fn arm<T: Copy + Debug>(
        &mut self,
        deadline: Option<Instant>,
        event: Event<T>,
        queue: &mut EventQueue<T>,
    ) {
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
    fn an_alarm_rings_once_for_the_earliest_deadline() {
        let (mut queue, mut alarm) = (EventQueue::<u32>::new(0), Alarm::default());
        for us in [20, 30, 10] {
            alarm.arm(Some(at(us)), Event::Movement, &mut queue);
        }
        let mut rung = Vec::new();
        while queue.next(at(100)).is_some() {
            if alarm.rings(queue.now()) {
                rung.push(queue.now());
            }
        }
        assert_eq!(rung, [at(10)]);
    }

    fn at(us: u64) -> Instant {
        Instant::ZERO + Span::from_micros(us)
    }
}
