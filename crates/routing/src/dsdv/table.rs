//! The routing table of ns-2.35's DSDV.
//!
//! Every node has an entry for every other one: 256 nodes have 65,536 of them. They are kept packed, and what few of them have
//! (a neighbour's silence, a triggered update) stands beside them.

use super::packed::Row;
use super::times::Times;
use meshpace_units::{Instant, NodeId, Span};

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
    /// Even from the destination, odd from whoever found the route broken.
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

/// Entries sorted by destination, never removed.
#[derive(Debug, Default)]
pub(super) struct Table {
    rows: Vec<Row>,
    /// Of neighbours: when they count as lost.
    pub(super) silences: Times,
    /// When triggered updates are due.
    pub(super) triggers: Times,
}

impl Table {
    /// With room for so many.
    pub(super) fn with_capacity(entries: usize) -> Self {
        Self { rows: Vec::with_capacity(entries), ..Self::default() }
    }

    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    /// The place of a destination. Mostly all nodes are known, and a destination stands at its own number.
    fn find(&self, destination: NodeId) -> Result<usize, usize> {
        match self.rows.get(destination.index()) {
            Some(row) if row.destination() == destination => Ok(destination.index()),
            _ => self.rows.binary_search_by_key(&destination, Row::destination),
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = Entry> + '_ {
        self.rows.iter().map(Row::entry)
    }

    pub(super) fn get(&self, destination: NodeId) -> Option<Entry> {
        self.find(destination).ok().map(|at| self.rows[at].entry())
    }

    /// The next hop and the hops to a destination that can be reached.
    pub(super) fn route(&self, destination: NodeId) -> Option<(NodeId, u8)> {
        let row = &self.rows[self.find(destination).ok()?];
        Some((row.next_hop(), row.hops()?))
    }

    pub(super) fn put(&mut self, entry: Entry) {
        match self.find(entry.destination) {
            Ok(at) => self.rows[at] = Row::new(&entry),
            Err(at) => self.rows.insert(at, Row::new(&entry)),
        }
    }

    /// Lets `change` see every entry that `which` is true of.
    pub(super) fn change(&mut self, which: impl Fn(&Entry) -> bool, mut change: impl FnMut(&mut Entry)) {
        for row in &mut self.rows {
            let mut entry = row.entry();
            if which(&entry) {
                change(&mut entry);
                *row = Row::new(&entry);
            }
        }
    }
}
