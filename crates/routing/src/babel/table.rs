//! The routing table of a node: routes by destination and neighbour, the route chosen for each destination, and the best metric that
//! this node ever announced for it (RFC 8966, sections 3.2.5 and 3.2.6).
//!
//! A node tells of itself alone, so that a destination, its prefix and its router-id are one.

use super::message::INFINITE;
use super::newer;
use meshpace_units::{Instant, NodeId, Span};
use std::collections::BTreeMap;

/// A way that a neighbour tells of.
#[derive(Clone, Copy, Debug)]
pub(super) struct Route {
    pub(super) seqno: u16,
    /// What it costs from the neighbour on.
    pub(super) told: u16,
    /// What the link to the neighbour costs.
    pub(super) link: u16,
    /// When it was last told of as a way.
    pub(super) told_at: Instant,
    /// Then it is forgotten after so long.
    pub(super) hold: Span,
    /// What it has cost of late (appendix A.3).
    smoothed: u16,
    smoothed_at: Instant,
}

/// Half of what a metric changes counts after this time (babeld, `smoothing-half-life`).
const HALF_LIFE: Span = Span::from_secs(4);

impl Route {
    /// A new one; until it has proved itself it is taken where there is no other.
    pub(super) fn new(now: Instant, (seqno, told, link): (u16, u16, u16), hold: Span) -> Self {
        let route = Self { seqno, told, link, told_at: now, hold, smoothed: 0, smoothed_at: now };
        Self { smoothed: route.metric().max(INFINITE / 2), ..route }
    }

    /// What it costs.
    pub(super) fn metric(&self) -> u16 {
        self.told.saturating_add(self.link)
    }

    /// Brings what it has cost of late up to now: to be called before it costs something else, too.
    pub(super) fn smooth(&mut self, now: Instant) -> u16 {
        let metric = self.metric();
        if metric == INFINITE {
            (self.smoothed, self.smoothed_at) = (metric, now);
        }
        while now.saturating_since(self.smoothed_at) >= HALF_LIFE {
            self.smoothed_at += HALF_LIFE;
            // Towards the metric, and there in the end.
            let apart = self.smoothed.abs_diff(metric) / 2;
            self.smoothed = if self.smoothed > metric { metric + apart } else { metric - apart };
        }
        self.smoothed
    }
}

/// The best that this node has told of a destination: the feasibility distance.
#[derive(Clone, Copy, Debug)]
struct Source {
    seqno: u16,
    metric: u16,
    at: Instant,
}

/// A route expires so long after its update (appendix B).
const SOURCE_HOLD: Span = Span::from_secs(180);

#[derive(Debug, Default)]
pub(super) struct Table {
    routes: BTreeMap<(NodeId, NodeId), Route>,
    chosen: BTreeMap<NodeId, NodeId>,
    sources: BTreeMap<NodeId, Source>,
}

impl Table {
    /// The way to a destination over a neighbour.
    pub(super) fn get(&mut self, destination: NodeId, via: NodeId) -> Option<&mut Route> {
        self.routes.get_mut(&(destination, via))
    }

    pub(super) fn put(&mut self, destination: NodeId, via: NodeId, route: Route) {
        self.routes.insert((destination, via), route);
    }

    /// True if that was the way taken.
    pub(super) fn remove(&mut self, destination: NodeId, via: NodeId) -> bool {
        self.routes.remove(&(destination, via));
        let taken = self.chosen.get(&destination) == Some(&via);
        if taken {
            self.chosen.remove(&destination);
        }
        taken
    }

    pub(super) fn choose(&mut self, destination: NodeId, via: NodeId) {
        self.chosen.insert(destination, via);
    }

    /// The way taken, with the neighbour that it begins at; its metric may be infinite.
    pub(super) fn chosen(&self, destination: NodeId) -> Option<(NodeId, &Route)> {
        let via = *self.chosen.get(&destination)?;
        Some((via, self.routes.get(&(destination, via))?))
    }

    /// Every destination that has a way taken.
    pub(super) fn destinations(&self) -> impl Iterator<Item = NodeId> + '_ {
        self.chosen.keys().copied()
    }

    /// Every way, by destination and neighbour.
    pub(super) fn all(&self) -> impl Iterator<Item = (NodeId, NodeId, &Route)> {
        self.routes.iter().map(|((destination, via), route)| (*destination, *via, route))
    }

    /// The cheapest way to a destination that can be taken, feasible or any, not over this neighbour; of equal ones the one over the
    /// lowest index.
    pub(super) fn best(
        &mut self,
        now: Instant,
        destination: NodeId,
        feasible: bool,
        not_over: Option<NodeId>,
    ) -> Option<NodeId> {
        let Self { routes, sources, .. } = self;
        let source = sources.get(&destination);
        let ways = routes.range_mut((destination, NodeId(0))..=(destination, NodeId(u32::MAX)));
        let usable = |via: NodeId, route: &Route| {
            route.metric() < INFINITE
                && Some(via) != not_over
                && (!feasible || is_feasible(source, now, route.seqno, route.told))
        };
        let usable = ways.filter(|((_, via), route)| usable(*via, route));
        usable.map(|((_, via), route)| (route.smooth(now), *via)).min().map(|(_, via)| via)
    }

    /// The feasibility condition (section 3.5.1): a route of a smaller metric than this node has ever told, or of a newer sequence number, does not
    /// lead through this node.
    pub(super) fn feasible(&self, now: Instant, destination: NodeId, seqno: u16, metric: u16) -> bool {
        is_feasible(self.sources.get(&destination), now, seqno, metric)
    }

    /// This node tells of a way (section 3.7.3).
    pub(super) fn tell(&mut self, now: Instant, destination: NodeId, seqno: u16, metric: u16) {
        if metric == INFINITE {
            return;
        }
        let source = self.sources.entry(destination).or_insert(Source { seqno, metric, at: now });
        if newer(seqno, source.seqno) {
            (source.seqno, source.metric) = (seqno, metric);
        } else if seqno == source.seqno {
            source.metric = source.metric.min(metric);
        }
        source.at = now;
    }

    /// The number that would make any way feasible: the one after that told of. `None`: nothing was told.
    pub(super) fn next_seqno(&self, destination: NodeId) -> Option<u16> {
        self.sources.get(&destination).map(|source| source.seqno.wrapping_add(1))
    }
}

fn is_feasible(source: Option<&Source>, now: Instant, seqno: u16, metric: u16) -> bool {
    let Some(source) = source.filter(|source| now.saturating_since(source.at) < SOURCE_HOLD) else {
        return true;
    };
    // A way that is gone hides nothing.
    metric == INFINITE || newer(seqno, source.seqno) || seqno == source.seqno && metric < source.metric
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOLD: Span = Span::from_secs(56);

    fn at(seconds: u64) -> Instant {
        Instant::ZERO + Span::from_secs(seconds)
    }

    #[test]
    fn feasible_is_nearer_than_ever_told_or_newer() {
        let (mut table, far) = (Table::default(), NodeId(9));
        assert!(table.feasible(at(0), far, 3, 60_000), "nothing was told");
        table.tell(at(0), far, 65_535, 500);
        table.tell(at(0), far, 65_535, 700);
        for (seqno, metric, feasible) in [
            (65_535, 499, true),
            (65_535, 500, false),
            (0, 65_000, true),
            (65_534, 1, false),
            (7, INFINITE, true),
        ] {
            assert_eq!(table.feasible(at(10), far, seqno, metric), feasible, "{seqno} {metric}");
        }
        assert_eq!(table.next_seqno(far), Some(0));
        table.tell(at(0), far, 0, 900);
        assert!(!table.feasible(at(10), far, 0, 900) && table.feasible(at(10), far, 0, 899));
        assert!(table.feasible(at(181), far, 65_000, 60_000), "after three minutes nobody goes by it");
    }

    #[test]
    fn a_way_has_to_prove_itself() {
        let mut route = Route::new(at(0), (1, 256, 256), HOLD);
        let smoothed: Vec<_> = [0, 3, 4, 8, 24, 60].map(|s| route.smooth(at(s))).to_vec();
        // What is above the metric halves every 4 s.
        assert_eq!(smoothed, [32_767, 32_767, 16_639, 8_575, 1_015, 512]);
        route.told = INFINITE;
        assert_eq!(route.smooth(at(60)), INFINITE);
    }
}
