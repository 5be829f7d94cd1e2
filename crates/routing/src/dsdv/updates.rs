//! Updates of ns-2.35's DSDV: which routes are announced when, and which announcements are believed.

use super::Dsdv;
use super::table::{Advertise, Entry, farther, shorter};
use super::update::{DsdvRoute, DsdvUpdate};
use crate::{Action, Recipient};
use meshpace_units::{Instant, NodeId, Span};

/// Least time between a triggered update and the update before it (ns-2.35, DSDV_MIN_TUP_PERIOD).
const TRIGGER_GAP: Span = Span::from_secs(1);
/// Every update leaves within this time (ns-2.35, DSDV_BROADCAST_JITTER, 10 ms).
const BROADCAST_JITTER_S: f64 = 0.01;
/// The next settling time, alpha = 0.875 (ns-2.35).
pub(super) fn settle(mean: Span, sample: Span) -> Span {
    (mean * 7 + sample) / 8
}

impl<P> Dsdv<P> {
    /// The periodic full dump.
    pub(super) fn dump(&mut self, now: Instant, out: &mut Vec<Action<P>>) {
        self.send_update(now, true, out);
        self.last_update = Some(now);
    }

    /// A triggered update is due for `destination`.
    pub(super) fn trigger(&mut self, now: Instant, destination: NodeId, out: &mut Vec<Action<P>>) {
        if let Some(next) = self.last_update.map(|last| last + TRIGGER_GAP).filter(|&next| now < next) {
            // One update then tells everything.
            self.table.triggers.remove_before(next);
            self.table.triggers.set(destination, next);
            return;
        }
        self.table.triggers.remove(destination);
        if self.send_update(now, false, out) {
            self.last_update = Some(now);
        }
    }

    /// Sends what is new, or everything if asked to or if more than a third (and more than three) is new. False if
    /// there was nothing to tell. A full dump carries a new number of one's own and puts off the next one.
    fn send_update(&mut self, now: Instant, full: bool, out: &mut Vec<Action<P>>) -> bool {
        let news = self.table.iter().filter(|entry| entry.has_news(now)).count();
        let full = full || (3 * news > self.table.len() && news > 3);
        if full {
            self.seqno = self.seqno.wrapping_add(2);
            self.put_self(now, self.seqno, true);
            self.dump_at = now + self.draw_period();
        }
        let tells = |entry: &Entry| if full { entry.may_be_told(now) } else { entry.has_news(now) };
        let mut routes = Vec::with_capacity(self.table.iter().filter(tells).count());
        self.table.change(tells, |entry| {
            let Entry { destination, hops, seqno, .. } = *entry;
            routes.push(DsdvRoute { destination, hops, seqno });
            entry.last_advertised = Some(hops);
            entry.new_seqno = false;
            if full {
                // Until the next dump, every triggered update repeats a changed metric.
                entry.new_hops = false;
            }
        });
        if routes.is_empty() {
            return false;
        }
        out.push(Action::SendControl {
            message: DsdvUpdate { routes }.into(),
            to: Recipient::Broadcast,
            ttl: 1,
            delay: Span::from_secs_f64(self.jitter.uniform(0.0, BROADCAST_JITTER_S)),
        });
        true
    }

    pub(super) fn on_update(
        &mut self,
        now: Instant,
        from: NodeId,
        update: &DsdvUpdate,
        out: &mut Vec<Action<P>>,
    ) {
        for route in &update.routes {
            if route.destination == self.me {
                if route.hops.is_none() {
                    // Others think this node is gone: a new number of its own has the last word.
                    self.dump_at = now;
                    self.wake = self.wake.min(now);
                }
                continue;
            }
            if let Some(at) = self.consider(now, from, route) {
                self.table.triggers.set(route.destination, at);
                self.wake = self.wake.min(at);
            }
            self.release(route.destination, out);
        }
        let lost_at = now + self.silence();
        if self.table.get(from).is_none() {
            // An update that does not name its sender: the route to it is known but not told.
            self.table.put(Entry { hops: Some(1), ..Entry::unknown(now, from, self.config.settling) });
        }
        self.table.silences.set(from, lost_at);
        self.wake = self.wake.min(lost_at);
    }

    /// Takes over one row if it is newer, or as new and shorter. Returns when a triggered update is due for it.
    fn consider(&mut self, now: Instant, from: NodeId, route: &DsdvRoute) -> Option<Instant> {
        let hops = farther(route.hops);
        let Some(old) = self.table.get(route.destination) else {
            let entry = Entry {
                next_hop: from,
                hops,
                seqno: route.seqno,
                advertise: if hops.is_some() { Advertise::Settled } else { Advertise::Now },
                new_hops: hops.is_some(),
                ..Entry::unknown(now, route.destination, self.config.settling)
            };
            self.table.put(entry);
            return hops.is_some().then(|| entry.settled_at());
        };
        if route.seqno < old.seqno {
            // The neighbour mourns for a route that has come back since.
            return (hops.is_none() && old.hops.is_some()).then(|| self.tell_at_once(now, old));
        }
        let fresh = route.seqno > old.seqno;
        if !fresh && !shorter(hops, old.hops) {
            return None;
        }
        let settling = if fresh { settle(old.settling, old.improved_after) } else { old.settling };
        let new_seqno_at = if fresh { now } else { old.new_seqno_at };
        // Bad news, and good news after bad, do not wait.
        let settled = hops.is_none() || old.hops.is_none();
        let new_hops = old.last_advertised != Some(hops);
        let entry = Entry {
            next_hop: from,
            hops,
            seqno: route.seqno,
            advertise: if settled { Advertise::Now } else { Advertise::Settled },
            new_seqno: fresh || old.new_seqno,
            new_hops,
            new_seqno_at,
            improved_after: now.saturating_since(new_seqno_at),
            settling,
            ..old
        };
        self.table.put(entry);
        (!fresh && new_hops).then(|| if settled { now } else { entry.settled_at() })
    }

    fn tell_at_once(&mut self, now: Instant, entry: Entry) -> Instant {
        self.table.put(Entry { advertise: Advertise::Now, new_hops: true, ..entry });
        now
    }
}
