//! Times of a few destinations.

use super::packed::{Nanos, Node};
use meshpace_units::{Instant, NodeId};

/// Places by which a list grows.
const ROOM: usize = 8;

/// Sorted by destination.
#[derive(Debug, Default)]
pub(super) struct Times(Vec<(Node, Nanos)>);

impl Times {
    /// Sets the time of a destination, in place of the one that it had.
    pub(super) fn set(&mut self, destination: NodeId, at: Instant) {
        let (node, nanos) = (Node::new(destination), Nanos::new(at.as_nanos()));
        match self.0.binary_search_by_key(&node, |entry| entry.0) {
            Ok(place) => self.0[place].1 = nanos,
            Err(place) => {
                if self.0.len() == self.0.capacity() {
                    // Every node has such lists: doubling would leave up to half of them empty.
                    self.0.reserve_exact(ROOM);
                }
                self.0.insert(place, (node, nanos));
            }
        }
    }

    pub(super) fn remove(&mut self, destination: NodeId) {
        if let Ok(place) = self.0.binary_search_by_key(&Node::new(destination), |entry| entry.0) {
            self.0.remove(place);
        }
    }

    /// Forgets all times before `at`.
    pub(super) fn remove_before(&mut self, at: Instant) {
        self.0.retain(|entry| entry.1.get() >= at.as_nanos());
    }

    /// The earliest, of the lowest destination that has it.
    pub(super) fn earliest(&self) -> Option<(Instant, NodeId)> {
        let first = self.0.iter().min_by_key(|entry| entry.1.get())?;
        Some((Instant::from_nanos(first.1.get()), first.0.id()))
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
