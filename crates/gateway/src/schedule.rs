//! Whose packet leaves next, and when.

use crate::Queues;
use alloc::collections::{BTreeMap, BTreeSet};
use meshpace_units::Instant;

/// A connection's place in the table of connections; reused after its end.
pub(crate) type Slot = u32;

/// Where the head of a flow's queue stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct QueueHead {
    /// When its flow's pace lets it leave.
    pub due: Instant,
    /// Its number in the order in which packets came.
    pub ticket: u64,
}

/// The flows with held packets.
#[derive(Debug)]
pub(crate) enum Schedule {
    /// By the time the first packet of each may leave; ties in the order of slots.
    Flow(BTreeSet<(Instant, Slot)>),
    /// In the order in which the first packet of each came, with when that may leave: only the first of all can.
    One(BTreeMap<u64, (Instant, Slot)>),
}

impl Schedule {
    pub const fn new(queues: Queues) -> Self {
        match queues {
            Queues::Flow => Self::Flow(BTreeSet::new()),
            Queues::One => Self::One(BTreeMap::new()),
        }
    }

    /// The flow whose packet leaves next, and when.
    pub fn first(&self) -> Option<(Instant, Slot)> {
        match self {
            Self::Flow(flows) => flows.first().copied(),
            Self::One(line) => line.first_key_value().map(|(_, &first)| first),
        }
    }

    /// The flows whose packets leave next, first ones first, and when: those that can leave before others do.
    pub fn following(&self) -> impl Iterator<Item = (Instant, Slot)> + '_ {
        let (flows, line) = match self {
            Self::Flow(flows) => (Some(flows.iter()), None),
            Self::One(line) => (None, line.first_key_value()),
        };
        flows.into_iter().flatten().chain(line.map(|(_, first)| first)).copied()
    }

    /// True if a packet that comes now has others' before it.
    pub fn blocks(&self) -> bool {
        match self {
            Self::Flow(_) => false,
            Self::One(line) => !line.is_empty(),
        }
    }

    /// A flow's head has another place, or the flow has held packets no more.
    pub fn moves(&mut self, slot: Slot, before: Option<QueueHead>, after: Option<QueueHead>) {
        if before == after {
            return;
        }
        match self {
            Self::Flow(flows) => {
                if let Some(before) = before {
                    flows.remove(&(before.due, slot));
                }
                if let Some(after) = after {
                    flows.insert((after.due, slot));
                }
            }
            Self::One(line) => {
                if let Some(before) = before {
                    line.remove(&before.ticket);
                }
                if let Some(after) = after {
                    line.insert(after.ticket, (after.due, slot));
                }
            }
        }
    }
}
