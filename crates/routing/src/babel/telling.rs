//! Updates: all routes from time to time, what has changed soon or at once, what others must know several times (RFC 8966, section 3.7).

use super::again::Again;
use super::message::INFINITE;
use super::{Babel, BabelTlv, roughly};
use crate::{Action, Recipient};
use meshpace_units::random::Stream;
use meshpace_units::{Instant, NodeId, Span};
use std::collections::{BTreeMap, BTreeSet};

/// The updates that are due, and when.
#[derive(Debug)]
pub(super) struct Telling {
    all_at: Instant,
    /// When all was told last.
    told_all: Option<Instant>,
    changed: BTreeSet<NodeId>,
    changed_at: Option<Instant>,
    /// Destinations whose announcement is repeated.
    again: BTreeMap<NodeId, Again>,
}

/// Updates wait for one another half as long as this, a quarter more or less, if they are urgent (babeld, `update_jitter`).
const URGENT: Span = Span::from_millis(100);
/// And if they are not.
const PATIENT: Span = Span::from_secs(4);

impl Telling {
    pub(super) const fn new(all_at: Instant) -> Self {
        Self { all_at, told_all: None, changed: BTreeSet::new(), changed_at: None, again: BTreeMap::new() }
    }

    /// Announces a change of the route to `destination`, together with all changes until then.
    pub(super) fn soon(&mut self, now: Instant, destination: NodeId, urgent: bool, jitter: &mut Stream) {
        let wait = if urgent { URGENT } else { PATIENT };
        let at = now + roughly(wait / 2, jitter);
        self.changed.insert(destination);
        self.changed_at = Some(self.changed_at.map_or(at, |before| before.min(at)));
    }

    /// The same at once, and again.
    pub(super) fn repeatedly(&mut self, now: Instant, destination: NodeId, jitter: &mut Stream) {
        self.soon(now, destination, true, jitter);
        self.again.insert(destination, Again::after(now));
    }

    /// Announces all routes soon, unless they were announced just now.
    pub(super) fn all_soon(&mut self, now: Instant, least: Span, jitter: &mut Stream) {
        if self.told_all.is_none_or(|told| now.saturating_since(told) > least) {
            self.all_at = self.all_at.min(now + roughly(PATIENT / 2, jitter));
        }
    }

    /// When something is due.
    pub(super) fn at(&self) -> Instant {
        let again = self.again.values().map(Again::at).min();
        [self.changed_at, again].into_iter().flatten().fold(self.all_at, Instant::min)
    }
}

impl Babel {
    /// Tells of what is due.
    pub(super) fn tell<P>(&mut self, now: Instant, out: &mut Vec<Action<P>>) {
        let Telling { changed, changed_at, again, .. } = &mut self.telling;
        again.retain(|destination, again| {
            let due = again.at() <= now;
            if due {
                changed.insert(*destination);
                *changed_at = Some(now);
            }
            !due || again.said(now)
        });
        if now >= self.telling.all_at {
            self.telling.changed.extend([self.me].into_iter().chain(self.table.destinations()));
            self.telling.told_all = Some(now);
            self.telling.all_at = now + roughly(self.update_interval, &mut self.jitter);
        } else if self.telling.changed_at.is_none_or(|at| at > now) {
            return;
        }
        self.telling.changed_at = None;
        let tlvs = std::mem::take(&mut self.telling.changed).into_iter().map(|node| self.update(now, node));
        Self::send(tlvs.collect(), Recipient::Broadcast, out);
    }

    fn update(&mut self, now: Instant, destination: NodeId) -> BabelTlv {
        let chosen = self.table.chosen(destination).map(|(_, route)| (route.seqno, route.metric()));
        let own = (destination == self.me).then_some((self.seqno, 0));
        let (seqno, metric) = own.or(chosen).unwrap_or((0, INFINITE));
        self.table.tell(now, destination, seqno, metric);
        BabelTlv::Update { destination, seqno, metric, interval: self.update_interval }
    }

    /// The selected route changed, or its metric did: neighbours learn of it (babeld, `send_triggered_update`).
    pub(super) fn news<P>(
        &mut self,
        now: Instant,
        destination: NodeId,
        before: u16,
        out: &mut Vec<Action<P>>,
    ) {
        /// From here on a way is so bad that it hardly matters how bad.
        const BAD: u16 = 6 * 256;
        let Some((_, route)) = self.table.chosen(destination) else { return };
        let (metric, seqno) = (route.metric(), route.seqno);
        let (worse, apart) = (metric > before, metric.abs_diff(before));
        if metric == INFINITE {
            if before < INFINITE {
                self.lost(now, destination, out);
            }
            return;
        }
        let asked = self.asking.waits_for(destination, seqno);
        let urgent = asked || worse && before < BAD && apart >= 512;
        // What gets a little better may get worse again, and would then be infeasible elsewhere; trifles are not told.
        if urgent || before == INFINITE || apart >= if worse { 384 } else { 1024 } {
            self.telling.soon(now, destination, urgent, &mut self.jitter);
        }
        self.satisfied(destination, seqno);
        // Others may know a better way.
        if worse && apart >= 288 {
            Self::send(vec![BabelTlv::RouteRequest(Some(destination))], Recipient::Broadcast, out);
        }
    }

    /// A neighbour asks for an update; `None`: of all routes.
    pub(super) fn on_route_request(&mut self, now: Instant, destination: Option<NodeId>) {
        match destination {
            Some(destination) => self.telling.soon(now, destination, true, &mut self.jitter),
            None => self.telling.all_soon(now, self.hello_interval, &mut self.jitter),
        }
    }
}
