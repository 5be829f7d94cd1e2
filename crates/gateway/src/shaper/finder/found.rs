//! What a rate is looked for with, and what was found.

use meshpace_units::{Instant, Rate, Span};

/// Between what, and for what, a rate is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Find {
    /// It is no lower.
    pub least: Rate,
    /// It is no higher.
    pub most: Rate,
    /// Packets may wait for this time in the mesh for each hop, where that is more than four packets take:
    /// frames that carry many packets need many packets to wait.
    pub stands: Span,
    /// So many requests for an echo a second, all together, to hosts that nothing else tells a round trip of; 0: none.
    pub probes: u32,
}

/// What was found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Found {
    /// What it was looked for with.
    pub find: Find,
    /// How long packets wait in the mesh a hop, as it counts; `None` before the first round trip.
    pub queue: Option<Span>,
    /// Round trips of segments.
    pub tcp: u64,
    /// Round trips by spin bits.
    pub spin: u64,
    /// Round trips of echoes, and requests for one.
    pub probes: u64,
    /// See `probes`.
    pub asked: u64,
    /// When the latest one ended.
    pub heard: Option<Instant>,
    /// Nothing tells how long packets wait, so that the rate falls.
    pub is_blind: bool,
}
