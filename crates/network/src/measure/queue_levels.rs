//! How many packets wait in the queues of the mesh nodes, in all and by account: `[measure] queues`.
//!
//! A packet counts from when it is given to the node's relay until the MAC takes it or the queue drops it, held back or not. A relay's
//! own probe is of no flow, goes to a MAC that is free, and does not count.

use super::by_account::ByAccount;
use meshpace_relay::packet::{Account, Packet};
use meshpace_units::{Instant, NodeId};

/// How many of something there are, as time passes.
#[derive(Clone, Copy, Debug)]
pub struct Level {
    there: u64,
    since: Instant,
    /// Packets times nanoseconds.
    area: u128,
    most: u64,
}

impl Level {
    const fn new(now: Instant) -> Self {
        Self { there: 0, since: now, area: 0, most: 0 }
    }

    /// What there was until `now` counts. What stayed for no time, like a packet that a free MAC takes at once, does not.
    fn pass(&mut self, now: Instant) {
        let span = now.saturating_since(self.since);
        if !span.is_zero() {
            self.area += u128::from(self.there) * u128::from(span.as_nanos());
            self.most = self.most.max(self.there);
            self.since = now;
        }
    }

    fn begin(&mut self, now: Instant) {
        self.pass(now);
        (self.area, self.most) = (0, 0);
    }

    fn more(&mut self, now: Instant) {
        self.pass(now);
        self.there += 1;
    }

    fn fewer(&mut self, now: Instant) {
        self.pass(now);
        self.there = self.there.checked_sub(1).unwrap_or_else(|| panic!("a packet leaves that never came"));
    }

    /// The most that there were for any time.
    #[must_use]
    pub const fn most(&self) -> u64 {
        self.most
    }

    /// Mean over the time from `began` until it was [settled](crate::Network::settle); `None` if that is none.
    #[must_use]
    pub fn mean(&self, began: Instant) -> Option<f64> {
        let span = self.since.saturating_since(began);
        (!span.is_zero()).then(|| self.area as f64 / span.as_nanos() as f64)
    }
}

/// The queue of one mesh node.
#[derive(Clone, Debug)]
pub struct QueueLevels {
    /// All packets, those of routing and address resolution as well.
    pub all: Level,
    by_account: ByAccount<Level>,
}

impl QueueLevels {
    /// Of an account: packets that carry data, acknowledgements. `None`: none of them ever came to this node's queue.
    #[must_use]
    pub fn get(&self, account: Account) -> Option<&[Level; 2]> {
        self.by_account.get(account)
    }

    fn levels(&mut self) -> impl Iterator<Item = &mut Level> {
        std::iter::once(&mut self.all).chain(self.by_account.all())
    }
}

/// The queues of all mesh nodes.
#[derive(Debug)]
pub struct Queues {
    by_node: Vec<QueueLevels>,
}

impl Queues {
    pub(crate) fn new(nodes: usize) -> Self {
        let empty = QueueLevels { all: Level::new(Instant::ZERO), by_account: ByAccount::default() };
        Self { by_node: vec![empty; nodes] }
    }

    /// By node.
    #[must_use]
    pub fn nodes(&self) -> &[QueueLevels] {
        &self.by_node
    }

    pub(crate) fn begin_counting(&mut self, now: Instant) {
        self.by_node.iter_mut().flat_map(QueueLevels::levels).for_each(|level| level.begin(now));
    }

    /// A packet comes to a node's queue, or has left it.
    pub(crate) fn note(&mut self, now: Instant, node: NodeId, packet: &Packet, comes: bool) {
        if packet.is_probe() {
            return;
        }
        let queue = &mut self.by_node[node.index()];
        let change = if comes { Level::more } else { Level::fewer };
        change(&mut queue.all, now);
        let Some(account) = packet.account else { return };
        if let Some(level) = queue.by_account.of(account, packet.class, || Level::new(now)) {
            change(level, now);
        }
    }

    pub(crate) fn settle(&mut self, end: Instant) {
        self.by_node.iter_mut().flat_map(QueueLevels::levels).for_each(|level| level.pass(end));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use meshpace_units::Span;

    #[test]
    fn a_level_is_its_mean_over_time_and_the_most_that_stayed() {
        let at = |millis| Instant::ZERO + Span::from_millis(millis);
        let mut level = Level::new(at(0));
        level.more(at(0));
        level.begin(at(10));
        level.more(at(20));
        // Comes and goes at once: it never waited.
        level.more(at(30));
        level.fewer(at(30));
        level.fewer(at(40));
        level.fewer(at(50));
        level.pass(at(110));
        // 1 for 10 ms, 2 for 20, 1 for 10, none for 60.
        assert_eq!((level.mean(at(10)), level.most()), (Some(0.6), 2));
        assert_eq!(Level::new(at(5)).mean(at(5)), None);
    }

    #[test]
    #[should_panic(expected = "a packet leaves that never came")]
    fn what_leaves_has_come() {
        Level::new(Instant::ZERO).fewer(Instant::ZERO);
    }
}
