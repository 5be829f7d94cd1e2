//! Repairing a hole at the gateway: the decision for each duplicate ACK.

use crate::DupAck;
use meshpace_units::{Instant, Seq, Span};

/// Local attempts at one hole before its duplicates go to the sender (schemes.md 3.3, rule 3).
const ATTEMPTS: u8 = 2;
/// Least guard time after an attempt (schemes.md 3.3, rule 2).
const GUARD_MIN: Span = Span::from_millis(50);

/// A hole the gateway has begun to repair.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hole {
    at: Seq,
    attempts: u8,
    guard_until: Instant,
}

/// What to do with a duplicate ACK whose hole is in the cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Duplicate {
    /// Send the missing packet again, keep the ACK.
    Repair,
    /// Keep the ACK: a repair is on its way.
    Suppress,
    /// Let the end-to-end sender recover.
    Forward,
}

impl Hole {
    /// True if a repair of the hole at `at` is on its way.
    pub fn is_being_repaired(hole: Option<&Self>, now: Instant, at: Seq) -> bool {
        hole.is_some_and(|hole| hole.at == at && now < hole.guard_until)
    }

    /// Decides on a duplicate ACK for the byte at `at`; `smoothed` is the flow's wireless round trip.
    ///
    /// Source: schemes.md 3.3, duplicate-ACK rules 2 and 3.
    pub fn on_duplicate(
        hole: &mut Option<Self>,
        mode: DupAck,
        now: Instant,
        at: Seq,
        smoothed: Option<Span>,
    ) -> Duplicate {
        match mode {
            DupAck::Off => return Duplicate::Forward,
            DupAck::Literal => return Duplicate::Repair,
            DupAck::Snoop => {}
        }
        let attempts = match hole {
            Some(_) if Self::is_being_repaired(hole.as_ref(), now, at) => return Duplicate::Suppress,
            Some(hole) if hole.at == at && hole.attempts >= ATTEMPTS => return Duplicate::Forward,
            Some(hole) if hole.at == at => hole.attempts + 1,
            _ => 1,
        };
        let guard = smoothed.map_or(GUARD_MIN, |rtt| (rtt * 3 / 2).max(GUARD_MIN));
        *hole = Some(Self { at, attempts, guard_until: now + guard });
        Duplicate::Repair
    }
}
