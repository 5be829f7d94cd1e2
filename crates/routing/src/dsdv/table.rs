//! The routing table of ns-2.35's DSDV.
//!
//! Every node has an entry for every other one: 256 nodes have 65,536 of them. They are kept packed, and what few of them have
//! (a neighbour's silence, a triggered update) stands beside them.

use super::packed::Row;
use super::times::Times;
use meshpace_units::{Instant, NodeId, Span};
use std::collections::BTreeMap;

/// Hops to a destination; `None`: not reachable.
pub(super) type Metric = Option<u8>;

/// ns-2.35's `BIG`: as many hops as this are no route.
pub(super) const TOO_FAR: u8 = 250;

/// A route is kept to oneself for so many settling times (Perkins and Bhagwat, section 3.4; ns-2.35).
const SETTLING_TIMES: u64 = 2;

/// One hop more.
pub(super) fn farther(metric: Metric) -> Metric {
    metric.map(|hops| hops.saturating_add(1)).filter(|&hops| hops < TOO_FAR)
}

/// True if `a` is a shorter way than `b`.
pub(super) fn shorter(a: Metric, b: Metric) -> bool {
    a.is_some_and(|a| b.is_none_or(|b| a < b))
}

/// When a route may be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Advertise {
    /// Never: nothing is known of the destination, or of how new the route is.
    Never,
    /// When it has settled: before, it may still improve, and is kept to oneself.
    Settled,
    /// Since it was found so.
    Now,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) destination: NodeId,
    pub(super) next_hop: NodeId,
    pub(super) hops: Metric,
    /// Even from the destination, odd from the node that found the route broken.
    pub(super) seqno: u32,
    pub(super) advertise: Advertise,
    /// What the next triggered update has to tell.
    pub(super) new_seqno: bool,
    pub(super) new_hops: bool,
    pub(super) last_advertised: Option<Metric>,
    /// When the number came, and how long after that the route last improved.
    pub(super) new_seqno_at: Instant,
    pub(super) improved_after: Span,
    /// Mean time from a new number to its best route.
    pub(super) settling: Span,
}

impl Entry {
    /// A destination that nothing is known of.
    pub(super) fn unknown(now: Instant, destination: NodeId, settling: Span) -> Self {
        Self {
            destination,
            next_hop: destination,
            hops: None,
            seqno: 0,
            advertise: Advertise::Never,
            new_seqno: false,
            new_hops: false,
            last_advertised: None,
            new_seqno_at: now,
            improved_after: Span::ZERO,
            settling,
        }
    }

    /// When the route has settled.
    pub(super) fn settled_at(&self) -> Instant {
        self.new_seqno_at + self.improved_after + self.settling * SETTLING_TIMES
    }

    pub(super) fn may_be_told(&self, now: Instant) -> bool {
        match self.advertise {
            Advertise::Never => false,
            Advertise::Settled => self.settled_at() <= now,
            Advertise::Now => true,
        }
    }

    pub(super) fn has_news(&self, now: Instant) -> bool {
        (self.new_seqno || self.new_hops) && self.may_be_told(now)
    }
}

/// Entries by destination, never removed.
#[derive(Debug, Default)]
pub(super) struct Table {
    /// By destination, up to the highest that there is an entry of. Mostly all nodes are known.
    rows: Vec<Row>,
    entries: usize,
    /// Those that do not fit into rows.
    beside: BTreeMap<NodeId, Entry>,
    /// Of neighbours: when they count as lost.
    pub(super) silences: Times,
    /// When triggered updates are due.
    pub(super) triggers: Times,
}

/// Places by which the rows grow: every node has them, and doubling would leave up to half of them empty.
const ROOM: usize = 16;

impl Table {
    /// With room for so many.
    pub(super) fn with_capacity(destinations: usize) -> Self {
        Self { rows: Vec::with_capacity(destinations), ..Self::default() }
    }

    pub(super) fn len(&self) -> usize {
        self.entries
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = Entry> + '_ {
        self.rows.iter().enumerate().filter_map(|(at, row)| self.entry(NodeId::from_index(at), row))
    }

    pub(super) fn get(&self, destination: NodeId) -> Option<Entry> {
        self.entry(destination, self.rows.get(destination.index())?)
    }

    fn entry(&self, destination: NodeId, row: &Row) -> Option<Entry> {
        if row.is_beside() {
            return self.beside.get(&destination).copied();
        }
        (!row.is_absent()).then(|| row.entry(destination))
    }

    /// The next hop and the hops to a destination that can be reached.
    pub(super) fn route(&self, destination: NodeId) -> Option<(NodeId, u8)> {
        let row = self.rows.get(destination.index())?;
        if row.is_beside() {
            let entry = self.beside.get(&destination)?;
            return Some((entry.next_hop, entry.hops?));
        }
        if row.is_absent() { None } else { row.route() }
    }

    pub(super) fn put(&mut self, entry: Entry) {
        let at = entry.destination.index();
        if at >= self.rows.len() {
            let more = at + 1 - self.rows.len();
            if self.rows.capacity() < at + 1 {
                self.rows.reserve_exact(more.max(ROOM));
            }
            self.rows.extend(std::iter::repeat_n(Row::ABSENT, more));
        }
        self.entries += usize::from(self.rows[at].is_absent());
        self.store(&entry);
    }

    /// In place of the row that is there.
    fn store(&mut self, entry: &Entry) {
        let row = &mut self.rows[entry.destination.index()];
        if row.is_beside() {
            self.beside.remove(&entry.destination);
        }
        *row = Row::new(entry).unwrap_or_else(|| {
            self.beside.insert(entry.destination, *entry);
            Row::BESIDE
        });
    }

    /// Lets `change` see every entry that `which` is true of.
    pub(super) fn change(&mut self, which: impl Fn(&Entry) -> bool, mut change: impl FnMut(&mut Entry)) {
        for at in 0..self.rows.len() {
            if let Some(mut entry) = self.get(NodeId::from_index(at)).filter(&which) {
                change(&mut entry);
                self.store(&entry);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_kept_by_destination_however_long_their_spans_are() {
        let mut table = Table::default();
        let entry = |node, settling| Entry {
            hops: Some(node as u8),
            ..Entry::unknown(Instant::ZERO, NodeId(node), Span::from_secs(settling))
        };
        for (node, settling) in [(40, 6), (3, 100), (7, 200), (3, 99), (7, 1)] {
            table.put(entry(node, settling));
        }
        assert_eq!(table.iter().collect::<Vec<_>>(), [entry(3, 99), entry(7, 1), entry(40, 6)]);
        assert_eq!((table.len(), table.beside.len()), (3, 1));
        assert_eq!((table.get(NodeId(4)), table.get(NodeId(41))), (None, None));
        let routes = [3, 4, 40].map(|node| table.route(NodeId(node)));
        assert_eq!(routes, [Some((NodeId(3), 3)), None, Some((NodeId(40), 40))]);
        table.change(
            |entry| entry.settling > Span::from_secs(2),
            |entry| entry.settling = Span::from_secs(80),
        );
        assert_eq!(table.iter().collect::<Vec<_>>(), [entry(3, 80), entry(7, 1), entry(40, 80)]);
    }
}
