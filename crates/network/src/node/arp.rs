//! A node's table of its neighbours' addresses, as ns-2.35 keeps it (ns2-behaviour 4.2, 4.3; `mac/arp.cc` there).

use meshpace_relay::packet::Handle;
use meshpace_units::NodeId;

/// Requests that stay without an answer before packets are given up.
const REQUESTS_MAX: u8 = 3;

/// What becomes of a packet for a neighbour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resolution {
    /// The address is known: it goes on.
    Known,
    /// It waits, and the neighbour is asked; a packet that waited before is dropped.
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
    /// Whose address is known, sorted: where nodes move, everybody's in the end. A mesh has less than 65,536 nodes.
    known: Vec<u16>,
    /// The neighbours that have been asked, sorted.
    asked: Vec<(NodeId, Asked)>,
}

#[derive(Debug)]
struct Asked {
    requests: u8,
    waiting: Handle,
}

impl ArpTable {
    /// True if the address of `neighbour` is known.
    #[inline]
    pub fn knows(&self, neighbour: NodeId) -> bool {
        self.known.binary_search(&short(neighbour)).is_ok()
    }

    /// A packet is for `neighbour`.
    pub fn resolve(&mut self, neighbour: NodeId, packet: Handle) -> Resolution {
        if self.knows(neighbour) {
            return Resolution::Known;
        }
        let at = match self.place(neighbour) {
            Ok(at) => at,
            Err(at) => {
                self.asked.insert(at, (neighbour, Asked { requests: 1, waiting: packet }));
                return Resolution::Waits { replaced: None };
            }
        };
        let Asked { requests, waiting } = &mut self.asked[at].1;
        if *requests == REQUESTS_MAX {
            let waiting = *waiting;
            self.asked.remove(at);
            return Resolution::Fails { waiting };
        }
        *requests += 1;
        Resolution::Waits { replaced: Some(std::mem::replace(waiting, packet)) }
    }

    /// A packet tells the address of `neighbour`, whether it was asked for or not. Returns what waited for it.
    pub fn learn(&mut self, neighbour: NodeId) -> Option<Handle> {
        let at = self.known.binary_search(&short(neighbour)).err()?;
        self.known.insert(at, short(neighbour));
        let asked = self.place(neighbour).ok()?;
        Some(self.asked.remove(asked).1.waiting)
    }

    /// Packets that wait for an answer.
    pub fn waiting(&self) -> usize {
        self.asked.len()
    }

    fn place(&self, neighbour: NodeId) -> Result<usize, usize> {
        self.asked.binary_search_by_key(&neighbour, |(node, _)| *node)
    }
}

fn short(node: NodeId) -> u16 {
    u16::try_from(node.0).unwrap_or_else(|_| panic!("{node:?} of at most 65,536 nodes"))
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
