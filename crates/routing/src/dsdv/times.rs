//! Times of a few destinations.

use super::packed::{Nanos, Node};
use meshpace_units::{Instant, NodeId};

/// Places by which a list grows.
const ROOM: usize = 8;

/// Sorted by destination.
#[derive(Debug, Default)]
pub(super) struct Times(Vec<Due>);

/// A destination and its time, without a gap: each of many nodes knows dozens.
#[derive(Clone, Copy, Debug)]
#[repr(C, packed)]
struct Due {
    node: Node,
    at: Nanos,
}

const _: () = assert!(size_of::<Due>() == 9);

impl Due {
    fn node(&self) -> Node {
        self.node
    }

    fn nanos(&self) -> u64 {
        self.at.get()
    }
}

impl Times {
    /// Sets the time of a destination, in place of the one that it had.
    pub(super) fn set(&mut self, destination: NodeId, at: Instant) {
        let due = Due { node: Node::new(destination), at: Nanos::new(at.as_nanos()) };
        match self.0.binary_search_by_key(&due.node(), Due::node) {
            Ok(place) => self.0[place] = due,
            Err(place) => {
                if self.0.len() == self.0.capacity() {
                    // Every node has such lists: doubling would leave up to half of them empty.
                    self.0.reserve_exact(ROOM);
                }
                self.0.insert(place, due);
            }
        }
    }

    pub(super) fn remove(&mut self, destination: NodeId) {
        if let Ok(place) = self.0.binary_search_by_key(&Node::new(destination), Due::node) {
            self.0.remove(place);
        }
    }

    /// Forgets all times before `at`.
    pub(super) fn remove_before(&mut self, at: Instant) {
        self.0.retain(|due| due.nanos() >= at.as_nanos());
    }

    /// The earliest, of the lowest destination that has it.
    pub(super) fn earliest(&self) -> Option<(Instant, NodeId)> {
        let first = self.0.iter().min_by_key(|due| due.nanos())?;
        Some((Instant::from_nanos(first.nanos()), first.node().id()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_earliest_comes_first_and_of_several_the_lowest() {
        let at = Instant::from_nanos;
        let mut times = Times::default();
        assert_eq!(times.earliest(), None);
        for (node, nanos) in [(7, 30), (9, 20), (3, 40), (5, 20), (7, 10)] {
            times.set(NodeId(node), at(nanos));
        }
        assert_eq!(times.earliest(), Some((at(10), NodeId(7))));
        times.remove(NodeId(7));
        times.remove(NodeId(8));
        assert_eq!(times.earliest(), Some((at(20), NodeId(5))));
        times.remove_before(at(40));
        assert_eq!(times.earliest(), Some((at(40), NodeId(3))));
    }
}
