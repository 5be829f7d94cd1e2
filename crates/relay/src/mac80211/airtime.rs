//! Whose turn it is by air time, and how much of it may lie below: deficit round robin among neighbours, and the queue limits of air
//! time (`ieee80211_next_txq`, `ieee80211_txq_airtime_check`, `ieee80211_calc_expected_tx_airtime` of Linux 6.1).

use crate::here::Here;
use crate::report::Exchange;
use meshpace_packet::Handle;
use meshpace_radio::{Mode, Preamble};
use meshpace_units::{Bytes, NodeId, Span};
use std::collections::VecDeque;

/// What a neighbour may use in a round (IEEE80211_DEFAULT_AIRTIME_WEIGHT, 256 us).
const WEIGHT: Span = Span::from_micros(256);

/// Air time that may lie below.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// Of a neighbour, always.
    pub low: Span,
    /// Of a neighbour, while all together have less than `total`.
    pub high: Span,
    /// Of all.
    pub total: Span,
}

/// What is known of a neighbour.
#[derive(Clone, Copy, Debug)]
struct Share {
    to: Option<NodeId>,
    /// Nanoseconds that it may still use in its turn; below zero after more.
    deficit: i64,
    /// Expected air time of its packets below.
    pending: Span,
    /// True while it is on the list of those that have packets.
    listed: bool,
}

/// A packet below.
#[derive(Clone, Copy, Debug)]
struct Below {
    packet: Handle,
    to: Option<NodeId>,
    expected: Span,
}

/// The neighbours' shares of a node's air time.
#[derive(Debug)]
pub(super) struct Airtime {
    limits: Limits,
    /// Sorted by neighbour.
    shares: Vec<Share>,
    /// Those that have packets, in the order of their turns.
    turns: VecDeque<Option<NodeId>>,
    below: Vec<Below>,
    /// Expected air time of all packets below.
    total: Span,
}

impl Airtime {
    pub(super) fn new(limits: Limits) -> Self {
        Self { limits, shares: Vec::new(), turns: VecDeque::new(), below: Vec::new(), total: Span::ZERO }
    }

    fn share(&mut self, to: Option<NodeId>) -> &mut Share {
        let place = self.shares.binary_search_by_key(&to, |share| share.to).unwrap_or_else(|place| {
            let share = Share { to, deficit: nanos(WEIGHT), pending: Span::ZERO, listed: false };
            self.shares.insert(place, share);
            place
        });
        &mut self.shares[place]
    }

    /// A neighbour has a packet that waits: it is the next one, as long as it has not used up its turn.
    pub(super) fn has_packets(&mut self, to: Option<NodeId>) {
        let share = self.share(to);
        if !share.listed {
            share.listed = true;
            self.turns.push_front(to);
        }
    }

    /// The neighbour whose turn it was has no packet after all.
    pub(super) fn has_none(&mut self, to: Option<NodeId>) {
        self.share(to).listed = false;
        self.turns.retain(|listed| *listed != to);
    }

    /// The neighbour whose turn it is; `None`: all that have packets have too much below.
    pub(super) fn next(&mut self) -> Option<Option<NodeId>> {
        // Passed over one after another because of what they have below.
        let mut full = 0;
        while full < self.turns.len() {
            let to = *self.turns.front()?;
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
            self.turns.rotate_left(1);
        }
        None
    }

    /// True if more packets of a neighbour may go below. What goes to all always may.
    pub(super) fn allows(&mut self, to: Option<NodeId>) -> bool {
        let (limits, total) = (self.limits, self.total);
        let pending = self.share(to).pending;
        to.is_none() || pending < limits.low || (total < limits.total && pending < limits.high)
    }

    /// A packet goes below. What goes to all is not counted.
    pub(super) fn given(&mut self, here: &mut Here<'_>, packet: Handle) {
        let waiting = here.packets.get(packet);
        let (to, size) = (waiting.next_hop, waiting.size);
        let (Some(neighbour), Some(node)) = (to, here.node()) else { return };
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
/// probably has at that rate, since nobody knows yet.
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
