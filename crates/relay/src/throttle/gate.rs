//! The first stage at a source: when a flow's next packet may go (schemes.md 4, "Gate").

use super::bound::Bound;
use meshpace_units::{Instant, Span};

meshpace_keys::words! {
    /// Since when a packet's delay runs (schemes.md 4: `ot_gate`).
    pub enum GateKind {
        /// Since the MAC was through with the packet before it, or since it came to an empty queue, whichever is later: a
        /// packet takes its delay and the MAC's time.
        Serial = "serial",
        /// Since the packet before it was handed over: the MAC's time is part of the delay.
        Spacing = "spacing",
    }
}

/// Where a source has N from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flows {
    /// The scenario tells it.
    Told(u32),
    /// [`NodeView::conversations_beside`](crate::NodeView::conversations_beside).
    Oracle,
    /// [`NodeView::conversations_counted`](crate::NodeView::conversations_counted).
    Counted,
}

/// The gate of a source.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gate {
    /// Since when delays run.
    pub kind: GateKind,
    /// N.
    pub flows: Flows,
    /// One for all flows of the source.
    pub shared: bool,
    /// How long they are.
    pub bound: Bound,
}

/// The state of one gate: of a flow, or of a source that has one for all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Passage {
    /// When the delay of the packet at the head began; `None`: there was none before it.
    base: Option<Instant>,
    /// A packet of it is in the MAC.
    in_mac: bool,
}

impl Passage {
    /// A packet came to an empty queue.
    pub(crate) fn arrives_at_empty(&mut self, now: Instant, kind: GateKind) {
        if kind == GateKind::Serial && !self.in_mac {
            self.base = Some(now);
        }
    }

    /// A packet was handed over.
    pub(crate) fn handed_over(&mut self, now: Instant, kind: GateKind) {
        self.in_mac = true;
        if kind == GateKind::Spacing {
            self.base = Some(now);
        }
    }

    /// The MAC is through with it.
    pub(crate) fn completed(&mut self, now: Instant, kind: GateKind) {
        self.in_mac = false;
        if kind == GateKind::Serial {
            self.base = Some(now);
        }
    }

    /// When the packet at the head may go, if its delay is `delay`; `None`: the MAC has to be through with one before.
    pub(crate) fn opens(&self, delay: Span, kind: GateKind) -> Option<Instant> {
        if kind == GateKind::Serial && self.in_mac {
            return None;
        }
        Some(self.base.map_or(Instant::ZERO, |base| base + delay))
    }
}
