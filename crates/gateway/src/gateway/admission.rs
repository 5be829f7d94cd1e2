//! Which packets are of a connection, and whose place a new one takes.

use super::Gateway;
use crate::connection::Connection;
use crate::schedule::Slot;
use crate::{FlowKey, Judgement, Side, TcpView, Treatment, Windows};
use meshpace_units::Instant;

impl<P: Clone> Gateway<P> {
    /// The connection of a packet; a SYN or data makes a new one. `None` if it has none, cannot be one of it, or there is
    /// no place.
    pub(super) fn admit(
        &mut self,
        now: Instant,
        side: Side,
        view: &TcpView<'_>,
        treatment: Treatment,
    ) -> Option<Slot> {
        let (key, segment) = (FlowKey::new(side, view), view.segment);
        let mut windows = Windows::default();
        if let Some(slot) = self.table.find(&key) {
            let known = &mut self.table.get_mut(slot).windows;
            known.sampled = self.config.sampled;
            match known.judge(side, segment) {
                Judgement::Plausible => return Some(slot),
                Judgement::Implausible => {
                    self.counters.implausible += 1;
                    return None;
                }
                Judgement::Anew => windows = known.anew(side),
            }
            self.forget(now, slot, false);
        } else {
            let opens = segment.flags.syn && !segment.flags.ack;
            if segment.flags.rst || !(opens || segment.payload > 0) {
                return None;
            }
        }
        if self.table.len() >= self.config.flows_max && !self.evict(now) {
            self.counters.untracked += 1;
            return None;
        }
        self.counters.opened += 1;
        let host = self.books.open(key.wireless.address);
        Some(self.table.insert(now, Connection::new(key, host, windows, treatment, now)))
    }

    /// Forgets the connection that has been silent for longest, of those that hold no packet; those without data or
    /// without an answer go first.
    fn evict(&mut self, now: Instant) -> bool {
        let Some(slot) = self.table.dispensable() else {
            return false;
        };
        self.forget(now, slot, false);
        self.counters.evicted += 1;
        true
    }
}
