//! The routing table of ns-2.35's AODV.

use meshpace_units::{Instant, NodeId, Span};

/// ns-2.35's `INFINITY2`. The comparisons of hop counts (acceptance of replies, start of the ring search, choice of
/// local repair) count on a route that is down being longer than any other, so it is a number and not an `Option`.
pub(super) const UNREACHABLE: u8 = 255;
/// T_hop before anything was measured (ns2-behaviour 5.1).
const NODE_TRAVERSAL_TIME: Span = Span::from_millis(30);
/// Latencies of how many discoveries are averaged (ns2-behaviour 5.3).
const LATENCIES: usize = 3;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Up,
    Down,
    /// The MAC gave up a packet, and a search went out. Keeps hops, next hop and sequence number, which is why the
    /// neighbours' answers are refused (ns2-behaviour 5.7).
    InRepair,
}

#[derive(Debug)]
pub(super) struct Entry {
    pub(super) destination: NodeId,
    pub(super) seqno: u32,
    pub(super) hops: u8,
    /// Hops when the route last went down: where the next ring search starts. 255 at first, so that the first search
    /// covers the whole network.
    pub(super) last_hops: u8,
    pub(super) next_hop: NodeId,
    pub(super) state: State,
    pub(super) expires: Instant,
    pub(super) precursors: Vec<NodeId>,
    /// No further search before this time; `None` if none is pending.
    pub(super) request_until: Option<Instant>,
    /// Network-wide searches since the last reply.
    pub(super) network_wide: u8,
    /// Time to live of the last search, or hops of the last reply.
    pub(super) last_ttl: u8,
    /// Latency per hop of the last discoveries, in a ring.
    latencies: Vec<Span>,
    oldest: u8,
}

impl Entry {
    fn new(destination: NodeId) -> Self {
        Self {
            destination,
            seqno: 0,
            hops: UNREACHABLE,
            last_hops: UNREACHABLE,
            next_hop: NodeId(0),
            state: State::Down,
            expires: Instant::ZERO,
            precursors: Vec::new(),
            request_until: None,
            network_wide: 0,
            last_ttl: 0,
            latencies: Vec::new(),
            oldest: 0,
        }
    }

    /// Takes over a route if it is newer, or as new and shorter (schemes.md 18, item 4). True if it did.
    pub(super) fn accept(&mut self, seqno: u32, hops: u8, next_hop: NodeId, expires: Instant) -> bool {
        let better = seqno > self.seqno || (seqno == self.seqno && hops < self.hops);
        if better {
            self.seqno = seqno;
            self.hops = hops;
            self.next_hop = next_hop;
            self.state = State::Up;
            self.expires = expires;
        }
        better
    }

    /// A reply ended the search.
    pub(super) fn search_done(&mut self, hops: u8) {
        self.request_until = None;
        self.network_wide = 0;
        self.last_ttl = hops;
    }

    pub(super) fn take_down(&mut self) {
        if self.state == State::Down {
            return;
        }
        self.last_hops = self.hops;
        self.hops = UNREACHABLE;
        self.state = State::Down;
        self.expires = Instant::ZERO;
    }

    pub(super) fn add_precursor(&mut self, node: NodeId) {
        if !self.precursors.contains(&node) {
            self.precursors.push(node);
        }
    }

    pub(super) fn add_latency(&mut self, per_hop: Span) {
        if self.latencies.len() < LATENCIES {
            self.latencies.push(per_hop);
        } else {
            self.latencies[usize::from(self.oldest)] = per_hop;
            self.oldest = (self.oldest + 1) % LATENCIES as u8;
        }
    }

    /// P of ns2-behaviour 5.3: the mean latency per hop. ns-2 takes a latency of zero for none.
    pub(super) fn per_hop_time(&self) -> Span {
        let measured = || self.latencies.iter().copied().filter(|latency| !latency.is_zero());
        match measured().count() as u64 {
            0 => NODE_TRAVERSAL_TIME,
            n => measured().sum::<Span>() / n,
        }
    }
}

/// Entries are never removed. ns-2 keeps a list and walks it from the newest; lookups go through a sorted index.
#[derive(Debug)]
pub(super) struct Table {
    entries: Vec<Entry>,
    index: Vec<(NodeId, u32)>,
}

impl Table {
    pub(super) const fn new() -> Self {
        Self { entries: Vec::new(), index: Vec::new() }
    }

    fn find(&self, destination: NodeId) -> Result<usize, usize> {
        self.index.binary_search_by_key(&destination, |&(d, _)| d)
    }

    /// Position of the entry of `destination`, if there is one.
    pub(super) fn position(&self, destination: NodeId) -> Option<usize> {
        self.find(destination).ok().map(|at| self.index[at].1 as usize)
    }

    pub(super) fn get(&self, destination: NodeId) -> Option<&Entry> {
        self.position(destination).map(|at| &self.entries[at])
    }

    /// Position of the entry of `destination`, made if there is none.
    pub(super) fn obtain(&mut self, destination: NodeId) -> usize {
        match self.find(destination) {
            Ok(at) => self.index[at].1 as usize,
            Err(at) => {
                let position = self.entries.len();
                self.index.insert(at, (destination, position as u32));
                self.entries.push(Entry::new(destination));
                position
            }
        }
    }

    /// All positions, in the order in which ns-2 walks its list.
    pub(super) fn positions(&self) -> impl Iterator<Item = usize> + use<> {
        (0..self.entries.len()).rev()
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Entry> {
        self.entries.iter_mut().rev()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Entry> {
        self.entries.iter().rev()
    }
}

impl std::ops::Index<usize> for Table {
    type Output = Entry;
    fn index(&self, at: usize) -> &Entry {
        &self.entries[at]
    }
}

impl std::ops::IndexMut<usize> for Table {
    fn index_mut(&mut self, at: usize) -> &mut Entry {
        &mut self.entries[at]
    }
}
