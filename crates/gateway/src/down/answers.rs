//! What acknowledgements from the mesh do: round trips, and the repair of what the mesh has lost.

use super::Down;
use crate::budget::Budget;
use crate::goodput::Acked;
use crate::hole::{Duplicate, Hole};
use crate::incoming::Sack;
use crate::segment_map::Covered;
use crate::{Config, DupAck, Retransmissions, Route};
use meshpace_pacing::{LinkRates, Progress, RoundTrip};
use meshpace_units::{Bytes, Instant, Seq, Span};

/// What a flow's law gets besides a round trip: how many flows share the law, and the round trip of the wired part.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FlowPlace {
    pub sharing: u32,
    pub wired: Option<Span>,
}

/// How a duplicate ACK is answered.
#[derive(Debug)]
pub(crate) enum DuplicateAckAction<P> {
    /// It goes on to the sender.
    Forward,
    /// The gateway keeps it.
    Suppress,
    /// The gateway keeps it and sends this packet again.
    Repair(P),
}

impl<P: Clone> Down<P> {
    /// A cumulative acknowledgement from the wireless side: round-trip sample, pace, cache. `of` goes to the law
    /// with each round trip.
    pub fn on_ack(
        &mut self,
        now: Instant,
        ack: Seq,
        route: impl FnOnce() -> Route,
        of: FlowPlace,
        config: &Config,
        budget: &mut Budget<'_>,
    ) -> Acked {
        if config.sampled {
            self.map.passed_unseen(ack);
        }
        let mut latest: Option<(Instant, bool)> = None;
        let mut freed = Bytes::ZERO;
        let (alone, mut of_alone) = (self.alone, None);
        let covered = self.map.acknowledge(ack, |entry| {
            freed += entry.keep.map_or(Bytes::ZERO, |cached| cached.wire_len);
            latest = latest.max(Some((entry.at, entry.again)));
            if alone == Some(entry.end) {
                of_alone = Some((entry.at, entry.again));
            }
        });
        let Some(Covered { bytes, entries, .. }) = covered else {
            return Acked::default();
        };
        let bytes = Bytes(u64::from(bytes));
        self.goodput.on_acked(now, bytes);
        self.hole = None;
        (self.told, self.known) = (Some(now), None);
        self.cached_from = self.cached_from.later(ack); // never left so far behind that its order would flip
        budget.forget(entries);
        self.cached = self.cached - freed;
        budget.keep(Bytes::ZERO, freed);
        // The most recently sent segment (schemes.md 1.3, rule 3); if that passed twice, no sample (rule 2).
        let counts = self.trains.as_ref().is_none_or(|trains| trains.counts(ack));
        let rtt = latest.filter(|&(_, again)| !again && counts).map(|(at, _)| now.saturating_since(at));
        if let Some(rtt) = rtt {
            let route = route();
            if of_alone == latest {
                self.base.on_round_trip(now, rtt, hops(&route));
            }
            if self.wireless.on_round_trip(&RoundTrip {
                now,
                rtt,
                segment: self.segment,
                route: &route,
                sharing: of.sharing,
                answered: Some(self.path(of.wired).round_trip()),
            }) {
                self.apply_pace(now);
            }
        }
        Acked { bytes, rtt }
    }

    /// Tells the law what an acknowledgement says besides its round trip; true if there is a new pace.
    pub fn on_progress(&mut self, now: Instant, acked: Bytes, marked: bool) -> bool {
        let sent_again = self.repairs + self.passed_again;
        let again = sent_again - core::mem::replace(&mut self.told_again, sent_again);
        if acked == Bytes::ZERO && again == 0 && !marked {
            return false;
        }
        let learnt = acked > Bytes::ZERO && self.learn_unit(now, acked);
        let changes = self.wireless.on_progress(&Progress { now, acked, again, marked });
        if changes {
            self.apply_pace(now);
        }
        changes || learnt
    }

    /// A duplicate ACK for the first missing byte.
    pub fn on_duplicate(&mut self, now: Instant, sack: Sack, config: &Config) -> DuplicateAckAction<P> {
        let una = self.map.una();
        let paper = config.retransmissions == Retransmissions::InTurn || config.dupack == DupAck::Literal;
        let tells = paper || self.tells_of_loss(now, sack);
        let Some(entry) = self.map.holding(una) else {
            return DuplicateAckAction::Forward;
        };
        let in_hole = match sack {
            Sack::None => true,
            Sack::NothingNew => false,
            Sack::Above { hole_end, .. } => entry.end.at_or_before(hole_end),
        };
        let Some(cached) = entry.keep.as_ref().filter(|_| in_hole) else {
            return DuplicateAckAction::Forward;
        };
        if !tells && !Hole::is_being_repaired(self.hole.as_ref(), now, una) {
            return DuplicateAckAction::Forward;
        }
        match Hole::on_duplicate(&mut self.hole, config.dupack, now, una, self.wireless.smoothed) {
            Duplicate::Forward => DuplicateAckAction::Forward,
            Duplicate::Suppress => DuplicateAckAction::Suppress,
            Duplicate::Repair => {
                let packet = cached.packet.clone();
                entry.at = now;
                entry.again = true;
                self.repairs += 1;
                self.pacer.on_departure(now);
                self.reschedule(now);
                DuplicateAckAction::Repair(packet)
            }
        }
    }

    /// False if the missing segment may well have been on its way when the receiver sent the duplicate. That is so if the segment
    /// that arrived last had left before the missing one (RFC 8985, section 3.1: only a segment that was sent later and has arrived
    /// tells of a loss). If the receiver does not say which segment arrived, it is so until a round trip is over. The same holds
    /// for a segment that CoDel dropped here and the sender has sent again: duplicates for the segments behind it come for one more
    /// round trip, and to send it a third time would take CoDel's signal back.
    fn tells_of_loss(&mut self, now: Instant, sack: Sack) -> bool {
        let Some(missing) = self.map.holding(self.map.una()).map(|entry| entry.at) else { return false };
        let arrived = match sack {
            Sack::Above { arrived, .. } => self.map.holding(arrived + u32::MAX).map(|entry| entry.at),
            Sack::None | Sack::NothingNew => None,
        };
        match (arrived, self.wireless.smoothed) {
            (Some(arrived), _) => arrived >= missing,
            (None, Some(smoothed)) => now.saturating_since(missing) >= smoothed,
            (None, None) => true,
        }
    }
}

/// Hops of a route as the law counts them: a list of links tells them too, and unknown is one (schemes.md 1.2).
fn hops(route: &Route) -> u32 {
    match &route.rates {
        LinkRates::Uniform(_) => route.hops.unwrap_or(0).max(1),
        LinkRates::PerLink(links) => u32::try_from(links.len()).unwrap_or(u32::MAX).max(1),
    }
}
