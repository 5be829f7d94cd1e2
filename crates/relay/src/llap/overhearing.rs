//! Listening for one packet until the next hop sends it on: what NHT is made of (schemes.md 8, Overhearing).

use super::options::{CopyHeard, Miss, Options};
use crate::packet::PacketId;
use meshpace_units::{Instant, NodeId, Span};

/// The packet of one egress that is listened for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Watched {
    id: PacketId,
    next_hop: NodeId,
    /// From when on the next hop has it.
    departed: Instant,
    /// How long to listen.
    patience: Span,
    expires: Instant,
    /// The latest copy read, if the last one counts.
    read: Option<Instant>,
}

/// What listening came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Heard {
    /// The next hop took so long.
    Sample(Span),
    /// It was not overheard in time.
    Missed,
}

impl Watched {
    /// A packet that is through with the MAC now.
    pub fn new(
        now: Instant,
        id: PacketId,
        next_hop: NodeId,
        departed: Instant,
        nht: Option<Span>,
        options: &Options,
    ) -> Self {
        let patience = nht.and_then(|nht| nht.checked_mul_f64(options.timer)).unwrap_or(options.first_timer);
        Self { id, next_hop, departed, patience, expires: now + patience, read: None }
    }

    /// When it is no longer listened for.
    pub fn expires(&self) -> Instant {
        self.expires
    }

    /// A DATA frame of `from` with packet `id` was read to its end; what that came to, if the place is free again.
    pub fn hear(&mut self, now: Instant, from: NodeId, id: PacketId, options: &Options) -> Option<Heard> {
        if from != self.next_hop {
            return None;
        }
        match options.copy {
            CopyHeard::First => (id == self.id).then(|| self.sample(now)),
            CopyHeard::Last if id == self.id => {
                self.read = Some(now);
                None
            }
            CopyHeard::Last => self.read.map(|read| self.sample(read)),
        }
    }

    /// The timer has run out.
    pub fn expire(&self) -> Heard {
        self.read.map_or(Heard::Missed, |read| self.sample(read))
    }

    /// What a miss counts as, if anything: (8.2) gets no sample while NHT is unknown.
    pub fn penalty(&self, nht: Option<Span>, options: &Options) -> Option<Span> {
        (options.miss == Miss::Penalty && nht.is_some()).then(|| self.patience.min(options.penalty_cap))
    }

    fn sample(&self, at: Instant) -> Heard {
        Heard::Sample(at.saturating_since(self.departed))
    }
}
