//! A node's table of its neighbours' addresses, as ns-2.35 keeps it (ns2-behaviour 4.2, 4.3; `mac/arp.cc` there).

use meshpace_packet::Handle;
use meshpace_units::NodeId;

/// Requests that stay without an answer before packets are given up.
const REQUESTS_MAX: u8 = 3;

/// What becomes of a packet for a neighbour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resolution {
    /// The address is known: it goes on.
    Known,
    /// It waits, and the neighbour is asked; who waited before is dropped.
    Waits {
        /// The packet whose place it took.
        replaced: Option<Handle>,
    },
    /// Too many requests stayed without an answer: it fails, together with the one that waited.
    Fails {
        /// The packet that waited.
        waiting: Handle,
    },
}

/// The addresses that a node knows. They never age.
///
/// No clock runs: a request that is lost is repeated by the next packet for the neighbour, and by nothing else.
#[derive(Debug, Default)]
pub struct ArpTable {
    /// Sorted by neighbour.
    entries: Vec<(NodeId, Entry)>,
}

#[derive(Debug)]
enum Entry {
    Known,
    Asked { requests: u8, waiting: Handle },
}

impl ArpTable {
    /// True if the address of `neighbour` is known.
    #[inline]
    pub fn knows(&self, neighbour: NodeId) -> bool {
        self.position(neighbour).is_ok_and(|at| matches!(self.entries[at].1, Entry::Known))
    }

    /// A packet is for `neighbour`.
    pub fn resolve(&mut self, neighbour: NodeId, packet: Handle) -> Resolution {
        let at = match self.position(neighbour) {
            Ok(at) => at,
            Err(at) => {
                self.entries.insert(at, (neighbour, Entry::Asked { requests: 1, waiting: packet }));
                return Resolution::Waits { replaced: None };
            }
        };
        match &mut self.entries[at].1 {
            Entry::Known => Resolution::Known,
            Entry::Asked { requests: REQUESTS_MAX, waiting } => {
                let waiting = *waiting;
                self.entries.remove(at);
                Resolution::Fails { waiting }
            }
            Entry::Asked { requests, waiting } => {
                *requests += 1;
                Resolution::Waits { replaced: Some(std::mem::replace(waiting, packet)) }
            }
        }
    }

    /// A packet tells the address of `neighbour`, whether it was asked for or not. Returns what waited for it.
    pub fn learn(&mut self, neighbour: NodeId) -> Option<Handle> {
        match self.position(neighbour) {
            Ok(at) => match std::mem::replace(&mut self.entries[at].1, Entry::Known) {
                Entry::Known => None,
                Entry::Asked { waiting, .. } => Some(waiting),
            },
            Err(at) => {
                self.entries.insert(at, (neighbour, Entry::Known));
                None
            }
        }
    }

    /// Packets that wait for an answer.
    pub fn waiting(&self) -> usize {
        self.entries.iter().filter(|(_, entry)| matches!(entry, Entry::Asked { .. })).count()
    }

    fn position(&self, neighbour: NodeId) -> Result<usize, usize> {
        self.entries.binary_search_by_key(&neighbour, |(node, _)| *node)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NEIGHBOUR: NodeId = NodeId(7);

    #[test]
    fn a_later_packet_takes_the_place_of_the_one_that_waits() {
        let mut table = ArpTable::default();
        assert_eq!(table.resolve(NEIGHBOUR, 1), Resolution::Waits { replaced: None });
        assert_eq!(table.resolve(NEIGHBOUR, 2), Resolution::Waits { replaced: Some(1) });
        assert!(!table.knows(NEIGHBOUR));
        assert_eq!((table.waiting(), table.learn(NEIGHBOUR), table.waiting()), (1, Some(2), 0));
        assert!(table.knows(NEIGHBOUR));
        assert_eq!(table.resolve(NEIGHBOUR, 3), Resolution::Known);
    }

    #[test]
    fn what_a_request_for_somebody_else_tells_is_kept() {
        let mut table = ArpTable::default();
        for node in [9, 3, 5] {
            assert_eq!(table.learn(NodeId(node)), None);
        }
        assert!([3, 5, 9].into_iter().all(|node| table.knows(NodeId(node))));
        assert!(!table.knows(NEIGHBOUR));
    }

    #[test]
    fn after_three_requests_without_an_answer_two_packets_fail_and_the_count_starts_again() {
        let mut table = ArpTable::default();
        for round in 0..2 {
            let first = round * 4;
            assert_eq!(table.resolve(NEIGHBOUR, first), Resolution::Waits { replaced: None });
            for later in [first + 1, first + 2] {
                assert_eq!(table.resolve(NEIGHBOUR, later), Resolution::Waits { replaced: Some(later - 1) });
            }
            assert_eq!(table.resolve(NEIGHBOUR, first + 3), Resolution::Fails { waiting: first + 2 });
            assert_eq!(table.waiting(), 0);
        }
    }
}
