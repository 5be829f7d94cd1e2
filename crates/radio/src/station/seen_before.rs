//! A receiver's memory of each neighbour's packets, by which it distinguishes repetitions from new packets.

use super::aggregates::Counts;
use super::ahead::Ahead;
use super::functions::Lane;
use crate::burst::Bitmap;
use crate::category::Peer;
use crate::frame::BlockAck;
use crate::standard::Standard;

/// Where frames carry one packet: the last sequence number of each neighbour and priority, sorted.
#[derive(Clone, Debug, Default)]
pub(super) struct SeenBefore(Vec<(Peer, u16)>);

/// Where frames carry several.
#[derive(Clone, Debug, Default)]
pub(super) struct Several {
    /// Sorted by neighbour and priority.
    windows: Vec<(Peer, Window)>,
    /// What the latest block acknowledgement, or request for one, is to say or has said.
    pub(super) told: Option<BlockAck>,
    /// What the station keeps as the sender of such frames, of the current category.
    pub(super) lane: Lane,
    /// What it has sent.
    pub(super) counts: Counts,
}

/// The packets of a neighbour that came last (IEEE 802.11-2020, 10.25.6: the scoreboard of a block acknowledgement).
#[derive(Clone, Copy, Debug)]
pub(super) struct Window {
    latest: u16,
    /// By how far they lie behind the latest.
    seen: Bitmap,
}

/// Sequence numbers: 12 bits.
const NUMBERS: u16 = 1 << 12;

impl SeenBefore {
    /// Notes a frame's only packet; true if it is new. Only the last sequence number of a neighbour is remembered
    /// (ns2-behaviour 3.9).
    pub fn is_new(&mut self, from: Peer, seq: u16) -> bool {
        match self.0.binary_search_by_key(&from, |entry| entry.0) {
            Ok(index) => std::mem::replace(&mut self.0[index].1, seq) != seq,
            Err(index) => {
                self.0.insert(index, (from, seq));
                true
            }
        }
    }
}

impl Several {
    /// Nothing has come or gone.
    pub fn new(standard: &Standard) -> Self {
        Self { lane: Lane { ahead: Ahead::of(standard), ..Lane::default() }, ..Self::default() }
    }

    /// Notes a packet that may have come with others; true if it is new. One that lies further behind the latest than a block
    /// acknowledgement reaches is taken for a new one, as its sender has begun afresh.
    pub fn is_new(&mut self, from: Peer, seq: u16) -> bool {
        self.window(from, seq).note(seq)
    }

    /// The window of packets that came from a neighbour. If none has come, the window lies before the number
    /// `next`.
    pub fn window(&mut self, from: Peer, next: u16) -> &mut Window {
        let place = self.windows.binary_search_by_key(&from, |entry| entry.0).unwrap_or_else(|place| {
            let latest = next.wrapping_sub(1) % NUMBERS;
            self.windows.insert(place, (from, Window { latest, seen: Bitmap::NONE }));
            place
        });
        &mut self.windows[place].1
    }
}

impl Several {
    /// Which packets of a neighbour came, by their number from `start` on.
    pub fn since(&self, from: Peer, start: u16) -> Bitmap {
        let mut arrived = Bitmap::NONE;
        if let Ok(index) = self.windows.binary_search_by_key(&from, |entry| entry.0) {
            let Window { latest, seen } = self.windows[index].1;
            // A start behind the latest: the packets between the two may have come.
            let until = usize::from(latest.wrapping_sub(start) % NUMBERS);
            if until < Bitmap::MOST {
                (0..=until).filter(|at| seen.has(until - at)).for_each(|at| arrived.set(at));
            }
        }
        arrived
    }
}

impl Window {
    /// Notes a packet; true if it is new.
    #[inline]
    pub fn note(&mut self, seq: u16) -> bool {
        let ahead = usize::from(seq.wrapping_sub(self.latest) % NUMBERS);
        let behind = usize::from(self.latest.wrapping_sub(seq) % NUMBERS);
        if behind < Bitmap::MOST {
            let new = !self.seen.has(behind);
            self.seen.set(behind);
            return new;
        }
        self.seen = self.seen.shifted(ahead);
        self.seen.set(0);
        self.latest = seq;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::category::Priority;
    use meshpace_units::{Dscp, NodeId};

    const FROM: Peer = from(7, Dscp::DEFAULT);

    const fn from(node: u32, dscp: Dscp) -> Peer {
        Peer { node: NodeId(node), priority: Priority::of(dscp) }
    }

    #[test]
    fn a_packet_is_new_once() {
        let mut seen = Several::default();
        let mut new = |seq| seen.is_new(FROM, seq);
        assert!(new(5));
        assert!(new(7));
        assert!(new(6), "late, and new");
        assert!(!new(5) && !new(6) && !new(7));
        assert!(new(200));
        assert!(!new(7), "193 behind");
        assert!(new(8));
        assert!(new(1000));
        assert!(!new(1000));
        assert!(new(300), "out of reach: its sender has begun afresh");
    }

    #[test]
    fn what_came_is_told_from_a_number_on() {
        let mut seen = Several::default();
        let places = |bitmap: Bitmap| (0..Bitmap::MOST).filter(|at| bitmap.has(*at)).collect::<Vec<_>>();
        assert_eq!(places(seen.since(FROM, 4_094)), []);
        for seq in [4_094, 4_095, 2, 5] {
            seen.is_new(FROM, seq);
        }
        assert_eq!(places(seen.since(FROM, 4_093)), [1, 2, 5, 8]);
        assert_eq!(places(seen.since(FROM, 4_095)), [0, 3, 6]);
        assert_eq!(places(seen.since(FROM, 5)), [0]);
        assert_eq!(places(seen.since(FROM, 6)), []);
        assert_eq!(places(seen.since(from(8, Dscp::DEFAULT), 5)), []);
    }

    #[test]
    fn numbers_go_round() {
        let mut several = Several::default();
        let numbers = || (0..3 * NUMBERS).map(|n| n % NUMBERS);
        assert!(numbers().all(|seq| several.is_new(FROM, seq)));
        let mut seen = SeenBefore::default();
        let (one, other) = (from(1, Dscp::DEFAULT), from(2, Dscp::DEFAULT));
        assert!(seen.is_new(one, 4) && !seen.is_new(one, 4) && seen.is_new(other, 4) && seen.is_new(one, 3));
    }
}
