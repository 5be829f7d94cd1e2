//! What a flow keeps of the packets that it sent: when they left, and copies for repairs.

use super::{Cached, Down, Room};
use crate::budget::Budget;
use crate::pacing_queue::Outbound;
use crate::segment_map::{Recorded, UNACKED_MAX};
use crate::{Config, DupAck};
use meshpace_units::{Bytes, Instant, Span};

impl<P: Clone> Down<P> {
    /// Gives the cached packets back.
    pub(super) fn drop_cache(&mut self, budget: &mut Budget<'_>) {
        budget.keep(Bytes::ZERO, self.cached);
        self.cached = Bytes::ZERO;
        for entry in self.map.ending_after(self.cached_from) {
            self.cached_from = entry.end;
            entry.keep = None;
        }
    }

    /// Gives the cache and the map back.
    pub fn release(&mut self, budget: &mut Budget<'_>) {
        budget.keep(Bytes::ZERO, self.cached);
        budget.forget(self.map.len());
    }

    /// Room for one more packet in the queue; the oldest cached packets make way.
    pub(super) fn make_room(&mut self, wire_len: Bytes, config: &Config, budget: &mut Budget<'_>) -> Room {
        if self.queue.len() >= config.flow_held_max() {
            return Room::OwnFull;
        }
        let limit = config.flow_limit(self.window);
        let fits =
            |kept: Bytes, budget: &Budget<'_>| kept + wire_len <= limit && budget.can_hold(config, wire_len);
        if fits(self.queue.bytes() + self.cached, budget) {
            return Room::Made;
        }
        if self.cached > Bytes::ZERO {
            for entry in self.map.ending_after(self.cached_from) {
                self.cached_from = entry.end;
                if let Some(cached) = entry.keep.take() {
                    self.cached = self.cached - cached.wire_len;
                    budget.keep(Bytes::ZERO, cached.wire_len);
                    if fits(self.queue.bytes() + self.cached, budget) {
                        return Room::Made;
                    }
                }
            }
        }
        if self.queue.bytes() + wire_len > limit || budget.is_greedy(config) {
            Room::OwnFull
        } else {
            Room::OthersFull
        }
    }

    /// Gives back what has waited for its acknowledgement for too long.
    fn age(&mut self, now: Instant, budget: &mut Budget<'_>) {
        let (mut segments, mut freed) = (0, Bytes::ZERO);
        while let Some(old) = self.map.pop_older_than(now, UNACKED_MAX) {
            segments += 1;
            freed += old.keep.map_or(Bytes::ZERO, |cached| cached.wire_len);
            self.cached_from = self.cached_from.later(old.end);
        }
        self.cached = self.cached - freed;
        budget.keep(Bytes::ZERO, freed);
        budget.forget(segments);
    }

    /// Notes a departure: T1, and the packet itself for repairs.
    pub(super) fn record(
        &mut self,
        now: Instant,
        packet: &Outbound<P>,
        config: &Config,
        budget: &mut Budget<'_>,
    ) {
        let wire_len = packet.wire_len;
        if self.window_used_up {
            self.limited += self.interval().unwrap_or(Span::ZERO);
        }
        let caches = self.is_paced()
            && config.dupack != DupAck::Off
            && self.queue.bytes() + self.cached + wire_len <= config.flow_limit(self.window)
            && budget.can_cache(config, wire_len);
        let keep = caches.then(|| Cached { packet: packet.packet.clone(), wire_len });
        self.age(now, budget);
        let payload = Bytes(u64::from(packet.end.since(packet.start)));
        let fresh = packet.start == self.map.end();
        // In the middle of a connection what is on its way is known once an acknowledgement has come.
        let known = self.whole || self.told.is_some();
        if fresh
            && known
            && payload >= self.segment
            && packet.start.since(self.map.una()) <= packet.end.since(packet.start)
        {
            self.alone = Some(packet.end);
        }
        let room = budget.can_record(config, self.map.len());
        if config.sampled {
            self.map.passed_unseen(packet.start);
        }
        let replaced = match self.map.record(packet.start, packet.end, now, room, keep) {
            Recorded::Not => return,
            Recorded::New => {
                budget.record();
                None
            }
            Recorded::Again(before) => {
                self.passed_again += 1;
                before
            }
        };
        if caches && packet.start.before(self.cached_from) {
            self.cached_from = packet.start;
        }
        let freed = replaced.map_or(Bytes::ZERO, |cached| cached.wire_len);
        let taken = if caches { wire_len } else { Bytes::ZERO };
        self.cached = self.cached + taken - freed;
        budget.keep(taken, freed);
    }
}
