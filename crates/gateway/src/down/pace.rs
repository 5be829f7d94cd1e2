//! The pace of a flow: the law's, or goodput control's cap; and when the head of the queue may leave.

use super::Down;
use crate::WirelessLaw;
use crate::schedule::QueueHead;
use meshpace_units::{Instant, Span};

impl<P: Clone> Down<P> {
    /// The spacing in force: the slower of the law's and the cap's (schemes.md 3.4).
    pub fn interval(&self) -> Option<Span> {
        self.law_interval().max(self.cap)
    }

    /// Packets that leave together.
    pub fn packets_together(&self) -> u64 {
        u64::from(self.wireless.pace.burst.get())
    }

    /// The law's interval.
    pub fn law_interval(&self) -> Option<Span> {
        self.wireless.pace.spacing
    }

    /// Where the head of the queue stands.
    pub fn place(&self) -> Option<QueueHead> {
        Some(QueueHead { due: self.due?, ticket: self.queue.first_ticket()? })
    }

    /// Takes over what another connection of the host has made of the host's round trips.
    pub fn adopt(&mut self, now: Instant, law: WirelessLaw) {
        self.wireless = law;
        self.apply_pace(now);
    }

    /// Sets goodput control's cap.
    pub fn set_cap(&mut self, now: Instant, cap: Option<Span>) {
        if self.cap != cap {
            self.cap = cap;
            self.apply_pace(now);
        }
    }

    pub(super) fn apply_pace(&mut self, now: Instant) {
        let law = self.wireless.pace.burst;
        self.pacer.set_burst(self.trains.as_ref().map_or(law, |trains| trains.burst(law)));
        self.pacer.set_interval(now, self.interval());
        self.reschedule(now);
    }

    pub(super) fn reschedule(&mut self, now: Instant) {
        self.due = (!self.queue.is_empty()).then(|| self.pacer.release_at(now));
    }
}
