//! The routing table of ns-2.35's DSDV.

use meshpace_units::{Instant, NodeId, Span};

/// Hops to a destination; `None`: not reachable.
pub(super) type Metric = Option<u8>;

/// ns-2.35's `BIG`: as many hops as this are no route.
const TOO_FAR: u8 = 250;

/// One hop more.
pub(super) fn farther(metric: Metric) -> Metric {
    metric.map(|hops| hops.saturating_add(1)).filter(|&hops| hops < TOO_FAR)
}

/// True if `a` is a shorter way than `b`.
pub(super) fn shorter(a: Metric, b: Metric) -> bool {
    a.is_some_and(|a| b.is_none_or(|b| a < b))
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub(super) destination: NodeId,
    pub(super) next_hop: NodeId,
    pub(super) hops: Metric,
    /// Even from the destination, odd from whoever found the route broken.
    pub(super) seqno: u32,
    /// Before this time the route may still improve and is kept to oneself; `None`: it is never told.
    pub(super) advertise_at: Option<Instant>,
    /// What the next triggered update has to tell.
    pub(super) new_seqno: bool,
    pub(super) new_hops: bool,
    /// When a triggered update is due.
    pub(super) trigger: Option<Instant>,
    pub(super) last_advertised: Option<Metric>,
    pub(super) changed_at: Instant,
    pub(super) new_seqno_at: Instant,
    /// Mean time from a new number to its best route.
    pub(super) settling: Span,
    /// Of a neighbour: when it counts as lost.
    pub(super) timeout: Option<Instant>,
}

impl Entry {
    /// A destination that nothing is known of.
    pub(super) fn unknown(now: Instant, destination: NodeId, settling: Span) -> Self {
        Self {
            destination,
            next_hop: destination,
            hops: None,
            seqno: 0,
            advertise_at: None,
            new_seqno: false,
            new_hops: false,
            trigger: None,
            last_advertised: None,
            changed_at: now,
            new_seqno_at: now,
            settling,
            timeout: None,
        }
    }

    pub(super) fn may_be_told(&self, now: Instant) -> bool {
        self.advertise_at.is_some_and(|at| at <= now)
    }

    pub(super) fn has_news(&self, now: Instant) -> bool {
        (self.new_seqno || self.new_hops) && self.may_be_told(now)
    }
}

/// Entries sorted by destination, never removed.
#[derive(Debug)]
pub(super) struct Table {
    pub(super) entries: Vec<Entry>,
}

impl Table {
    fn find(&self, destination: NodeId) -> Result<usize, usize> {
        self.entries.binary_search_by_key(&destination, |entry| entry.destination)
    }

    pub(super) fn get(&self, destination: NodeId) -> Option<&Entry> {
        self.find(destination).ok().map(|at| &self.entries[at])
    }

    pub(super) fn get_mut(&mut self, destination: NodeId) -> Option<&mut Entry> {
        self.find(destination).ok().map(|at| &mut self.entries[at])
    }

    pub(super) fn put(&mut self, entry: Entry) {
        match self.find(entry.destination) {
            Ok(at) => self.entries[at] = entry,
            Err(at) => self.entries.insert(at, entry),
        }
    }
}
