//! RACK: a segment is lost if one that left sufficiently later has arrived (RFC 8985, section 6).
//!
//! The names are the RFC's, section 5.3, where they differ: `newest` is RACK.xmit_ts with RACK.end_seq, `highest` RACK.fack,
//! `factor` RACK.reo_wnd_mult, `persists` RACK.reo_wnd_persist.

use super::segments::{Segments, Sent};
use crate::control::filter::Filter;
use crate::control::recovery::losses::DUPLICATE_THRESHOLD;
use meshpace_units::{Instant, Span};

/// How long a shortest round trip is believed: as in Linux (`tcp_min_rtt_wlen`); section 6.2, step 1, leaves it open.
const MINIMUM_HOLDS: Span = Span::from_secs(300);
/// Recoveries that a window widened by a report of duplicates outlives (section 5.4, RACK.reo_wnd_persist).
const PERSISTS: u32 = 16;

/// Which segment left later: the time, then the place in the stream (section 6.2, RACK_sent_after).
type Departure = (Instant, u64);

/// What is known of the path's order and times.
#[derive(Clone, Debug)]
pub(super) struct Detection {
    newest: Option<Departure>,
    /// Round trip of what left last of all that the latest acknowledgement is of: longer than the newest's where the order
    /// changed.
    rtt: Span,
    /// The departure that is latest of all segments that this acknowledgement covers.
    latest: Option<Departure>,
    min_rtt: Filter,
    srtt: Option<Span>,
    highest: u64,
    reordering_seen: bool,
    factor: u32,
    persists: u32,
    /// No second widening before this is acknowledged.
    dsack_round: Option<u64>,
    /// When the oldest that is waited for counts as lost.
    pub(super) deadline: Option<Instant>,
}

impl Default for Detection {
    fn default() -> Self {
        Self {
            newest: None,
            rtt: Span::ZERO,
            latest: None,
            min_rtt: Filter::minimum(MINIMUM_HOLDS.as_nanos()),
            srtt: None,
            highest: 0,
            reordering_seen: false,
            factor: 1,
            persists: 0,
            dsack_round: None,
            deadline: None,
        }
    }
}

/// What an acknowledgement says besides what arrived.
#[derive(Clone, Copy, Debug)]
pub(super) struct Said {
    pub(super) una: u64,
    pub(super) max: u64,
    /// It reports that something arrived twice (RFC 2883).
    pub(super) duplicate: bool,
    /// It ends a recovery.
    pub(super) ends: bool,
}

impl Detection {
    /// The smoothed round trip (RFC 6298, section 2).
    pub(super) const fn srtt(&self) -> Option<Span> {
        self.srtt
    }

    /// The handshake's round trip.
    pub(super) fn on_first_trip(&mut self, now: Instant, trip: Span) {
        self.min_rtt.update(now.as_nanos(), trip.as_nanos());
        (self.srtt, self.rtt) = (Some(trip), trip);
    }

    /// An acknowledgement is about to tell what arrived.
    pub(super) const fn on_ack(&mut self) {
        self.latest = None;
    }

    /// The peer has `sent` (section 6.2, steps 1 to 3); of an acknowledgement's segments in their order in the stream.
    /// `echoed`: time since the departure that the acknowledgement's timestamp echoes, whole milliseconds.
    pub(super) fn on_arrival(&mut self, now: Instant, sent: &Sent, echoed: Option<Span>) {
        let trip = now.saturating_since(sent.at);
        let reordered = sent.end < self.highest;
        self.highest = self.highest.max(sent.end);
        if sent.resent {
            // Is it the original that arrived? Its timestamp is older than the retransmission, or it came too soon.
            let older = echoed.is_some_and(|echoed| echoed > trip + Span::from_millis(1));
            let too_soon = self.min_rtt.best().is_some_and(|shortest| trip.as_nanos() < shortest);
            if older || too_soon || sent.waits {
                return;
            }
        } else {
            self.min_rtt.update(now.as_nanos(), trip.as_nanos());
            self.srtt = Some(self.srtt.map_or(trip, |srtt| (srtt * 7 + trip) / 8));
            self.reordering_seen |= reordered;
        }
        let departure = Some((sent.at, sent.end));
        if departure > self.latest {
            (self.latest, self.rtt) = (departure, trip);
        }
        self.newest = self.newest.max(departure);
    }

    /// Widens the reordering window where it was too narrow, and forgets that in the end (section 6.2, step 4).
    pub(super) fn adapt(&mut self, said: &Said) {
        if self.dsack_round.is_some_and(|round| said.una >= round) {
            self.dsack_round = None;
        }
        if said.duplicate && self.dsack_round.is_none() {
            self.dsack_round = Some(said.max);
            self.factor += 1;
            self.persists = PERSISTS;
        } else if said.ends {
            self.persists = self.persists.saturating_sub(1);
            if self.persists == 0 {
                self.factor = 1;
            }
        }
    }

    /// The reordering window (section 6.2, step 4): how long after its time a segment may still arrive.
    fn window(&self, recovering: bool, arrived: u32) -> Span {
        if !self.reordering_seen && (recovering || arrived >= DUPLICATE_THRESHOLD) {
            return Span::ZERO;
        }
        let shortest = Span::from_nanos(self.min_rtt.best().unwrap_or(0));
        (shortest * u64::from(self.factor) / 4).min(self.srtt.unwrap_or(shortest))
    }

    /// Takes as lost what left sufficiently long before the newest that arrived (section 6.2, step 5); true if there is any.
    pub(super) fn detect(&mut self, segments: &mut Segments, now: Instant, recovering: bool) -> bool {
        self.deadline = None;
        let Some(newest) = self.newest else { return false };
        let before = segments.lost();
        let patience = self.rtt + self.window(recovering, segments.arrived());
        let mut latest = None;
        segments.mark_lost(|sent| {
            if (sent.at, sent.end) >= newest {
                return false;
            }
            let until = sent.at.checked_add(patience);
            let over = until.is_some_and(|until| until <= now);
            if !over {
                latest = latest.max(until);
            }
            over
        });
        self.deadline = latest;
        segments.lost() > before
    }

    /// The retransmission timer expired: the first segment is lost, and of the others those whose time is over (section 6.3).
    pub(super) fn on_timeout(&mut self, segments: &mut Segments, now: Instant) {
        self.deadline = None;
        let first = segments.first().map(|sent| sent.start);
        let patience = self.rtt + self.window(true, 0);
        segments.mark_lost(|sent| {
            let over = sent.at.checked_add(patience).is_some_and(|until| until <= now);
            over || Some(sent.start) == first
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(n: u64) -> Instant {
        Instant::ZERO + Span::from_millis(n)
    }

    /// Segments of ten bytes, one a millisecond, number 0 at time 0.
    fn sent() -> Segments {
        let mut segments = Segments::default();
        (0..8).for_each(|n| segments.on_departure(ms(n), 1 + 10 * n, 11 + 10 * n));
        segments
    }

    /// The peer reports these segments by one acknowledgement.
    fn sack(detection: &mut Detection, segments: &mut Segments, now: Instant, numbers: &[u64]) {
        detection.on_ack();
        let blocks: alloc::vec::Vec<_> = numbers.iter().map(|n| (1 + 10 * n, 11 + 10 * n)).collect();
        segments.on_ack(1, blocks, |sent| detection.on_arrival(now, sent, None));
    }

    #[test]
    fn blocks_that_come_the_newest_first_are_no_reordering() {
        let (mut detection, mut segments) = (Detection::default(), sent());
        sack(&mut detection, &mut segments, ms(50), &[6, 2, 4]);
        assert!(!detection.reordering_seen);
        assert_eq!((detection.newest, detection.rtt), (Some((ms(6), 71)), Span::from_millis(44)));
        sack(&mut detection, &mut segments, ms(60), &[6, 4, 1]);
        assert!(detection.reordering_seen, "1 after 6");
    }

    #[test]
    fn the_round_trip_is_of_what_left_last_of_what_the_acknowledgement_is_of() {
        let (mut detection, mut segments) = (Detection::default(), sent());
        sack(&mut detection, &mut segments, ms(50), &[3]);
        sack(&mut detection, &mut segments, ms(70), &[3, 1]);
        assert_eq!((detection.newest, detection.rtt), (Some((ms(3), 41)), Span::from_millis(69)));
        // So number 2 has until 69 ms and a quarter of the least round trip, 47, after it left.
        assert!(!detection.detect(&mut segments, ms(70), false));
        assert_eq!(detection.deadline, Some(Instant::ZERO + Span::from_micros(2_000 + 69_000 + 11_750)));
    }
}
