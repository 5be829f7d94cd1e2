//! A pacer's waiting line: permissions, or segments in a queue as in WiFu's rate limiter.

use super::Discipline;
use meshpace_keys::{Key, words};

words! {
    /// What waits for its departure (`ap_queue`). Source: schemes.md 1.5, "what is queued", and 2.1.
    pub enum Waiting {
        /// Nothing: what leaves is chosen then, and a fast retransmission goes past.
        Permission = "permission",
        /// Segments with data, in the order in which the window let them out; a fast retransmission goes past.
        Data = "data",
        /// The same, retransmissions too: WiFu's limiter is below its TCP.
        All = "all",
    }
}

impl Waiting {
    /// The discipline of the pace.
    #[must_use]
    pub const fn discipline(self) -> Discipline {
        match self {
            Self::Permission => Discipline::Permission,
            Self::Data => Discipline::Queue,
            Self::All => Discipline::QueueAll,
        }
    }

    /// The key, with this as default.
    pub(super) const fn key(self) -> Key {
        Key::word(
            "ap_queue",
            Self::WORDS,
            self.word(),
            "What waits for its departure: the permission of whatever is to leave then, the data that the window let out, or all of \
             them, retransmissions too, as in WiFu (schemes.md 1.5, 2.1).",
        )
    }
}
