//! The queue between the link layer and the MAC.

use meshpace_packet::Handle;
use std::collections::VecDeque;

/// What became of packets that did not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Enqueued {
    /// It waits, or goes to the MAC at once.
    Kept,
    /// This packet was dropped: the new one, or the last one where a routing packet pushed in at the head.
    Dropped(Handle),
}

/// Drop-tail with routing packets at the head, ns-2.35's `PriQueue` (ns2-behaviour 4.4).
#[derive(Clone, Debug, Default)]
pub struct InterfaceQueue {
    waiting: VecDeque<Handle>,
}

impl InterfaceQueue {
    /// Puts a packet in. `limit` counts the packet in the MAC: at most `limit - 1` wait.
    pub fn push(&mut self, packet: Handle, routing: bool, limit: usize) -> Enqueued {
        if routing {
            self.waiting.push_front(packet);
            if self.waiting.len() >= limit {
                return self.waiting.pop_back().map_or(Enqueued::Kept, Enqueued::Dropped);
            }
        } else {
            if self.waiting.len() + 1 >= limit {
                return Enqueued::Dropped(packet);
            }
            self.waiting.push_back(packet);
        }
        Enqueued::Kept
    }

    /// The packet to send next.
    pub fn pop(&mut self) -> Option<Handle> {
        self.waiting.pop_front()
    }

    /// Packets waiting.
    pub fn len(&self) -> usize {
        self.waiting.len()
    }

    /// Takes out every packet that `purge` names, from the head on.
    pub fn remove(&mut self, mut purge: impl FnMut(Handle) -> bool) -> Vec<Handle> {
        let (gone, kept): (Vec<_>, Vec<_>) = self.waiting.drain(..).partition(|handle| purge(*handle));
        self.waiting = kept.into();
        gone
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forty_nine_wait_behind_one_in_the_mac() {
        let mut queue = InterfaceQueue::default();
        let kept = (0..100).filter(|p| queue.push(*p, false, 50) == Enqueued::Kept).count();
        assert_eq!(kept, 49);
        assert_eq!(queue.pop(), Some(0));
    }

    #[test]
    fn routing_goes_first_and_pushes_the_last_one_out() {
        let mut queue = InterfaceQueue::default();
        for p in 0..49 {
            assert_eq!(queue.push(p, false, 50), Enqueued::Kept);
        }
        assert_eq!(queue.push(100, true, 50), Enqueued::Dropped(48));
        assert_eq!(queue.push(101, true, 50), Enqueued::Dropped(47));
        assert_eq!((queue.pop(), queue.pop(), queue.pop()), (Some(101), Some(100), Some(0)));
    }

    #[test]
    fn purging_keeps_the_order_of_the_rest() {
        let mut queue = InterfaceQueue::default();
        for p in 0..6 {
            queue.push(p, false, 50);
        }
        assert_eq!(queue.remove(|p| p % 2 == 0), [0, 2, 4]);
        assert_eq!(std::iter::from_fn(|| queue.pop()).collect::<Vec<_>>(), [1, 3, 5]);
    }
}
