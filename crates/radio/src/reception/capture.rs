//! ns-2's reception: one frame at a time, and the order of arrival decides (schemes.md 17.1).
//!
//! The receiver follows the first frame that it senses, decodable or not. A later one at least 10 dB weaker is
//! ignored (but its whole length, and an EIFS, go into the NAV); anything else that overlaps destroys both, and the
//! one that ends last is followed on. A stronger later frame never wins. This order dependence *is* the hidden
//! terminal of a 200 m chain: a sender 400 m away spoils the frame only if it started first.

use super::{Arrival, Begun, ReceptionLimits, Verdict};
use meshpace_units::{Instant, NodeId, Span};

/// The frame that the receiver follows.
#[derive(Clone, Copy, Debug)]
struct Current {
    arrival: Arrival,
    /// Overlapped the own transmission.
    damaged: bool,
    collided: bool,
}

/// State of the receiver.
#[derive(Clone, Debug, Default)]
pub struct Capture {
    current: Option<Current>,
}

impl Capture {
    pub(super) fn busy(&self) -> bool {
        self.current.is_some()
    }

    pub(super) fn next_end(&self) -> Option<(Instant, bool)> {
        self.current.as_ref().map(|c| (c.arrival.end(), c.arrival.mine()))
    }

    pub(super) fn idle_not_before(&self, limits: &ReceptionLimits) -> Option<Instant> {
        // A lower bound: what follows can still be damaged (EIFS instead of the duration field) or end during an
        // own transmission (then nothing follows).
        self.current.as_ref().map(|c| {
            let silence = if c.damaged || c.arrival.mine() {
                Span::ZERO
            } else if c.collided || !c.arrival.decodable() {
                limits.eifs
            } else {
                c.arrival.duration().min(limits.eifs)
            };
            c.arrival.end() + silence
        })
    }

    #[inline]
    pub(super) fn begins(&mut self, new: Arrival, transmitting: bool, limits: &ReceptionLimits) -> Begun {
        let Some(current) = &mut self.current else {
            self.current = Some(Current { arrival: new, damaged: transmitting, collided: false });
            return Begun::default();
        };
        if current.arrival.power >= limits.ratio * new.power {
            return Begun { nav: Some(new.end() + limits.eifs), lost: None };
        }
        let lost = if new.end() > current.arrival.end() {
            let lost = current.arrival.collision(current.damaged);
            *current = Current { arrival: new, damaged: transmitting, collided: true };
            lost
        } else {
            current.collided = true;
            new.collision(transmitting)
        };
        Begun { nav: None, lost }
    }

    pub(super) fn transmitter_starts(&mut self) {
        if let Some(current) = &mut self.current {
            current.damaged = true;
        }
    }

    #[inline]
    pub(super) fn ends(&mut self) -> Option<(Arrival, Verdict)> {
        self.current.take().map(|current| {
            let verdict = match current {
                Current { damaged: true, .. } => Verdict::Bad,
                Current { arrival, .. } if !arrival.decodable() => Verdict::Bad,
                Current { collided: true, .. } => Verdict::Collided,
                _ => Verdict::Good,
            };
            (current.arrival, verdict)
        })
    }

    pub(super) fn is_receiving(&self, from: NodeId, end: Instant) -> bool {
        self.current.is_some_and(|c| c.arrival.from() == from && c.arrival.end() == end)
    }
}
