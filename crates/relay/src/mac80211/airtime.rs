//! Whose turn it is by air time, and how much of it may lie below: in each category deficit round robin among neighbours, and the queue
//! limits of air time (`ieee80211_next_txq`, `ieee80211_txq_airtime_check`, `ieee80211_calc_expected_tx_airtime` of Linux 6.1).

use crate::here::Here;
use crate::packet::Handle;
use crate::report::Exchange;
use meshpace_radio::{Category, Mode, Preamble, Priority};
use meshpace_units::{Bytes, NodeId, Span};
use std::collections::VecDeque;

/// What a neighbour may use in a round (IEEE80211_DEFAULT_AIRTIME_WEIGHT, 256 us).
const WEIGHT: Span = Span::from_micros(256);

/// A queue of packets: for whom they are, and of which priority.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Txq {
    /// `None`: what goes to all.
    pub to: Option<NodeId>,
    pub priority: Priority,
}

/// Air time that may lie below.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// Of a neighbour and category, always.
    pub low: Span,
    /// Of a neighbour and category, while all together have less than `total`.
    pub high: Span,
    /// Of all.
    pub total: Span,
}

/// What is known of a neighbour in a category.
#[derive(Clone, Copy, Debug)]
struct Share {
    to: Option<NodeId>,
    category: Category,
    /// Nanoseconds that it may still use in its turn; below zero after more.
    deficit: i64,
    /// Expected air time of its packets below.
    pending: Span,
    /// Its queues on the list of those that have packets, a bit for each priority.
    listed: u8,
}

/// A packet below.
#[derive(Clone, Copy, Debug)]
struct Below {
    packet: Handle,
    to: Txq,
    expected: Span,
}

/// The neighbours' shares of a node's air time.
#[derive(Debug)]
pub(super) struct Airtime {
    limits: Limits,
    /// Sorted by neighbour and category.
    shares: Vec<Share>,
    /// Queues that have packets, of each category by itself in the order of their turns.
    turns: [VecDeque<Txq>; Category::ALL.len()],
    below: Vec<Below>,
    /// Expected air time of all packets below.
    total: Span,
}

impl Airtime {
    pub(super) fn new(limits: Limits) -> Self {
        let turns = Default::default();
        Self { limits, shares: Vec::new(), turns, below: Vec::new(), total: Span::ZERO }
    }

    fn share(&mut self, txq: Txq) -> &mut Share {
        let (to, category) = (txq.to, txq.priority.category());
        let place = self.shares.binary_search_by_key(&(to, category), |share| (share.to, share.category));
        let place = place.unwrap_or_else(|place| {
            let share = Share { to, category, deficit: nanos(WEIGHT), pending: Span::ZERO, listed: 0 };
            self.shares.insert(place, share);
            place
        });
        &mut self.shares[place]
    }

    /// A queue has a packet that waits: it is the next one, as long as its neighbour has not used up its turn.
    pub(super) fn has_packets(&mut self, to: Txq) {
        let (share, bit) = (self.share(to), 1 << to.priority.tid());
        if share.listed & bit == 0 {
            share.listed |= bit;
            self.turns[to.priority.category() as usize].push_front(to);
        }
    }

    /// The queue whose turn it was has no packet after all.
    pub(super) fn has_none(&mut self, to: Txq) {
        self.share(to).listed &= !(1 << to.priority.tid());
        self.turns[to.priority.category() as usize].retain(|listed| *listed != to);
    }

    /// The queue of a category whose turn it is; `None`: the neighbours of all that have packets have too much below.
    pub(super) fn next(&mut self, category: Category) -> Option<Txq> {
        let at = category as usize;
        // Passed over one after another because of what they have below.
        let mut full = 0;
        while full < self.turns[at].len() {
            let to = *self.turns[at].front()?;
            let allowed = self.allows(to);
            let share = self.share(to);
            let indebted = share.deficit < 0;
            if allowed && !indebted {
                return Some(to);
            }
            if indebted {
                share.deficit += nanos(WEIGHT);
            }
            full = if allowed { 0 } else { full + 1 };
            self.turns[at].rotate_left(1);
        }
        None
    }

    /// True if more packets of a queue may go below. What goes to all always may.
    pub(super) fn allows(&mut self, to: Txq) -> bool {
        let (limits, total) = (self.limits, self.total);
        let pending = self.share(to).pending;
        to.to.is_none() || pending < limits.low || (total < limits.total && pending < limits.high)
    }

    /// A packet of a queue goes below. What goes to all is not counted.
    pub(super) fn given(&mut self, here: &mut Here<'_>, packet: Handle, to: Txq) {
        let size = here.packets.get(packet).size;
        let (Some(neighbour), Some(node)) = (to.to, here.node()) else { return };
        let expected = expected(node.mode_to(neighbour), size);
        self.share(to).pending += expected;
        self.total += expected;
        self.below.push(Below { packet, to, expected });
    }

    /// The MAC is through with a packet: its neighbour is charged what it took of the air.
    pub(super) fn through(&mut self, exchange: &Exchange) {
        let Some(place) = self.below.iter().position(|below| below.packet == exchange.packet) else { return };
        let Below { to, expected, .. } = self.below.remove(place);
        self.total -= expected;
        let share = self.share(to);
        share.pending -= expected;
        share.deficit -= nanos(exchange.airtime / u64::from(exchange.packets));
    }
}

fn nanos(span: Span) -> i64 {
    span.as_nanos() as i64
}

/// What a packet is expected to take: at its rate with 38 bytes around it, and the preamble divided by how many packets a frame
/// probably has at that rate, since it is not known yet.
fn expected(mode: &Mode, size: Bytes) -> Span {
    const AROUND: Bytes = Bytes(38);
    /// The length by which a rate is judged.
    const AVERAGE: Bytes = Bytes(1024);
    let payload = |size: Bytes| mode.rate.time_to_send(size).unwrap_or_default();
    let overhead = mode.preamble(Preamble::Long);
    if mode.mcs.is_none() {
        return payload(size + AROUND) + overhead;
    }
    let several = match payload(AVERAGE).as_nanos() / 1_000 {
        401.. => 1,
        251.. => 2,
        151.. => 3,
        71.. => 4,
        _ => 5,
    };
    payload(size + AROUND) + overhead / (1 << several)
}
