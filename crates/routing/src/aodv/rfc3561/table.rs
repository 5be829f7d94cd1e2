//! The routing table of RFC 3561, section 2 and section 6.1.

use meshpace_units::{Instant, NodeId, Span};

/// DELETE_PERIOD = K * ACTIVE_ROUTE_TIMEOUT with K = 5: how long an invalid route keeps its sequence number and
/// hop count (RFC 3561, section 10).
const DELETE_PERIOD: Span = Span::from_secs(15);

/// `a` is newer than `b`: signed 32-bit difference (RFC 3561, section 6.1).
pub(super) const fn newer(a: u32, b: u32) -> bool {
    (a.wrapping_sub(b) as i32) > 0
}

#[derive(Debug)]
pub(super) struct Route {
    pub(super) destination: NodeId,
    /// The last number known, if any.
    pub(super) seqno: Option<u32>,
    /// The number belongs to this route: it did not come from a neighbour merely heard ("valid destination sequence
    /// number flag").
    pub(super) seqno_valid: bool,
    /// Of an invalid route: when it was last valid.
    pub(super) hops: u8,
    pub(super) next_hop: NodeId,
    pub(super) valid: bool,
    /// Of a valid route: when it becomes invalid; of an invalid one: when it is forgotten.
    expires: Instant,
    pub(super) precursors: Vec<NodeId>,
}

impl Route {
    pub(super) fn add_precursor(&mut self, node: NodeId) {
        if !self.precursors.contains(&node) {
            self.precursors.push(node);
        }
    }

    /// The route broke or expired (section 6.11): one more than the last number, so that no older route is accepted.
    pub(super) fn invalidate(&mut self, now: Instant) {
        self.count_up();
        self.put_aside(now);
    }

    pub(super) fn count_up(&mut self) {
        self.seqno = self.seqno.map(|seqno| seqno.wrapping_add(1));
    }

    /// A neighbour reported the route broken, with the number it gave it (section 6.11, case (iii)).
    pub(super) fn invalidate_as(&mut self, now: Instant, seqno: u32) {
        // A sender that knows no number says 0.
        if self.seqno.is_none_or(|own| newer(seqno, own)) {
            self.seqno = Some(seqno);
        }
        self.put_aside(now);
    }

    fn put_aside(&mut self, now: Instant) {
        self.valid = false;
        self.expires = now + DELETE_PERIOD;
    }

    /// Lets a valid route live until `until` at least.
    pub(super) fn prolong(&mut self, until: Instant) {
        if self.valid {
            self.expires = self.expires.max(until);
        }
    }

    /// How long a valid route still lives.
    pub(super) fn lifetime(&self, now: Instant) -> Span {
        self.expires.saturating_since(now)
    }

    /// Lets time pass; false if the route is to be forgotten.
    fn age(&mut self, now: Instant) -> bool {
        if self.valid && self.expires <= now {
            let expired = self.expires;
            self.invalidate(expired);
        }
        self.valid || self.expires > now
    }
}

/// What a packet tells about a way to `destination`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Offer {
    pub(super) destination: NodeId,
    /// `None`: heard from a neighbour itself, which says nothing about its number.
    pub(super) seqno: Option<u32>,
    pub(super) hops: u8,
    pub(super) next_hop: NodeId,
    pub(super) expires: Instant,
}

/// Sorted by destination. Routes age when they are looked at, so that an unused table has no timers.
#[derive(Debug)]
pub(super) struct Table {
    routes: Vec<Route>,
    /// The table is swept of forgotten routes when it has grown to this length.
    sweep_at: usize,
}

impl Table {
    pub(super) const fn new() -> Self {
        Self { routes: Vec::new(), sweep_at: 16 }
    }

    fn find(&self, destination: NodeId) -> Result<usize, usize> {
        self.routes.binary_search_by_key(&destination, |route| route.destination)
    }

    /// The entry of `destination`, valid or not.
    pub(super) fn get(&mut self, now: Instant, destination: NodeId) -> Option<&mut Route> {
        let at = self.find(destination).ok()?;
        if self.routes[at].age(now) {
            Some(&mut self.routes[at])
        } else {
            self.routes.remove(at);
            None
        }
    }

    pub(super) fn valid(&mut self, now: Instant, destination: NodeId) -> Option<&mut Route> {
        self.get(now, destination).filter(|route| route.valid)
    }

    /// [`valid`](Self::valid) without the ageing.
    pub(super) fn peek(&self, now: Instant, destination: NodeId) -> Option<&Route> {
        let route = &self.routes[self.find(destination).ok()?];
        (route.valid && route.expires > now).then_some(route)
    }

    /// All valid routes.
    pub(super) fn valid_routes(&mut self, now: Instant) -> impl Iterator<Item = &mut Route> {
        self.routes.retain_mut(|route| route.age(now));
        self.routes.iter_mut().filter(|route| route.valid)
    }

    /// Takes over a route by the rules of sections 6.2 and 6.7: unknown number, newer, or as new and either shorter
    /// or in place of an invalid one. A neighbour heard without a number replaces only a route that is invalid or
    /// longer than the one hop it proves. True if it did.
    pub(super) fn accept(&mut self, now: Instant, offer: Offer) -> bool {
        let Some(route) = self.get(now, offer.destination) else {
            self.insert(now, offer);
            return true;
        };
        let better = match (offer.seqno, route.seqno.filter(|_| route.seqno_valid)) {
            (None, _) => !route.valid || offer.hops < route.hops,
            (Some(_), None) => true,
            (Some(new), Some(old)) => {
                newer(new, old) || (new == old && (!route.valid || offer.hops < route.hops))
            }
        };
        if better {
            // The last number known outlives a route without one: a later search must not accept an older route.
            route.seqno = offer.seqno.or(route.seqno);
            route.seqno_valid = offer.seqno.is_some();
            route.hops = offer.hops;
            route.next_hop = offer.next_hop;
            route.expires = if route.valid { route.expires.max(offer.expires) } else { offer.expires };
            route.valid = true;
        }
        better
    }

    fn insert(&mut self, now: Instant, offer: Offer) {
        if self.routes.len() >= self.sweep_at {
            self.routes.retain_mut(|route| route.age(now));
            self.sweep_at = 2 * self.routes.len().max(8);
        }
        let Offer { destination, seqno, hops, next_hop, expires } = offer;
        let at = self.find(destination).expect_err("an entry is inserted only if there is none");
        let (seqno_valid, valid, precursors) = (seqno.is_some(), true, Vec::new());
        self.routes.insert(
            at,
            Route { destination, seqno, seqno_valid, hops, next_hop, valid, expires, precursors },
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Span::from_millis(ms)
    }

    fn offer(seqno: Option<u32>, hops: u8, next_hop: u32) -> Offer {
        Offer { destination: NodeId(9), seqno, hops, next_hop: NodeId(next_hop), expires: at(3000) }
    }

    #[test]
    fn only_a_newer_or_shorter_route_replaces_a_valid_one() {
        let mut table = Table::new();
        assert!(table.accept(at(0), offer(Some(5), 4, 1)));
        assert!(!table.accept(at(0), offer(Some(4), 1, 2)));
        assert!(!table.accept(at(0), offer(Some(5), 4, 2)));
        assert!(table.accept(at(0), offer(Some(5), 3, 2)));
        assert!(table.accept(at(0), offer(Some(6), 7, 3)));
        assert!(
            !table.accept(at(0), offer(Some(u32::MAX), 1, 4)),
            "the circle of numbers goes backwards here"
        );
        assert_eq!(table.peek(at(0), NodeId(9)).map(|r| (r.next_hop, r.hops)), Some((NodeId(3), 7)));
    }

    #[test]
    fn an_expired_route_counts_one_up_and_is_forgotten_later() {
        let mut table = Table::new();
        table.accept(at(0), offer(Some(5), 4, 1));
        assert!(table.valid(at(2999), NodeId(9)).is_some());
        assert!(table.peek(at(3000), NodeId(9)).is_none());
        let seqno = table.get(at(3000), NodeId(9)).filter(|r| !r.valid).and_then(|r| r.seqno);
        assert_eq!(seqno, Some(6));
        assert!(!table.accept(at(3000), offer(Some(5), 1, 2)));
        assert!(table.get(at(17_999), NodeId(9)).is_some());
        assert!(table.get(at(18_000), NodeId(9)).is_none());
    }

    #[test]
    fn a_neighbour_heard_revives_the_route_without_a_number() {
        let mut table = Table::new();
        table.accept(at(0), offer(Some(5), 1, 9));
        assert!(!table.accept(at(0), offer(None, 1, 9)));
        table.get(at(0), NodeId(9)).expect("just made").invalidate(at(0));
        assert!(table.accept(at(0), offer(None, 1, 9)));
        let route = table.peek(at(0), NodeId(9)).expect("revived");
        assert_eq!((route.seqno, route.seqno_valid), (Some(6), false));
        assert!(
            table.accept(at(0), offer(Some(6), 1, 9)),
            "equal and not shorter, but the route has no number"
        );
    }

    #[test]
    fn forgotten_routes_leave_the_table() {
        let mut table = Table::new();
        for n in 0..2000u32 {
            let now = at(u64::from(n) * 1000);
            let expires = now + Span::from_secs(3);
            table.accept(now, Offer { destination: NodeId(n), expires, ..offer(None, 1, n) });
        }
        assert!(table.routes.len() <= 40, "{} routes", table.routes.len());
    }
}
