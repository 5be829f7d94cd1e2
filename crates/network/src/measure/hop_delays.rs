//! How long packets take over the next hops and in each node, which only the engine knows, beside what relays expect
//! ([`meshpace_relay::Relay::k_hop_delay`]): `[measure] hop_delays`.

use meshpace_relay::packet::{Class, Packet, Stop};
use meshpace_units::{Instant, NodeId, Span};
use std::collections::BTreeMap;

/// By the node where the measurement begins and the egress.
#[derive(Debug, Default)]
pub struct HopDelays {
    rows: BTreeMap<(NodeId, NodeId), HopDelay>,
}

/// Packets of a node for one egress: from when the MAC takes one until it arrives `hops` nodes further on, and what
/// the node expected of that when the MAC took it.
#[derive(Clone, Debug, Default)]
pub struct HopDelay {
    /// Four, or as many as there are to the egress.
    pub hops: u32,
    /// Packets that arrived there.
    pub packets: u64,
    /// Sum of their times, s.
    pub actual: f64,
    /// Of these packets the ones that something was expected of.
    pub expected: u64,
    /// Sum of what was expected, s.
    pub estimate: f64,
    /// Sum of estimate / time - 1.
    pub error: f64,
    /// Sum of its magnitude.
    pub magnitude: f64,
    /// Packets that got to the next hop.
    pub passed: u64,
    /// Sum of the times that these spent in the node, queues included, until the end of the DATA that got there, s.
    pub here: f64,
    /// The same from when the MAC took them.
    pub mac: f64,
    /// Times from one of these packets to the next, when the DATA that got it to the next hop ended.
    pub intervals: u64,
    /// Their sum, s.
    pub interval: f64,
    /// Sum of their squares.
    pub interval_squares: f64,
    /// When the latest of these packets left.
    last: Option<Instant>,
    /// The packets that arrived: in which second the MAC took each, and its time, s.
    arrivals: Vec<(u32, f64)>,
    /// The same second by second from time 0, by when the MAC took the packet.
    pub seconds: Vec<Second>,
}

/// One second of [`HopDelay`].
#[derive(Clone, Copy, Debug, Default)]
pub struct Second {
    /// Packets that the MAC took.
    pub taken: u32,
    /// Of these the ones that something was expected of.
    pub expected: u32,
    /// Sum of what was expected, s.
    pub estimate: f64,
    /// Of those taken the ones that arrived.
    pub packets: u32,
    /// Sum of their times, s.
    pub actual: f64,
    /// Of those taken the ones that got to the next hop.
    pub passed: u32,
    /// Sum of their times in the node, s.
    pub here: f64,
    /// The same from when the MAC took them.
    pub mac: f64,
}

impl HopDelays {
    /// Node, egress, row, sorted.
    pub fn iter(&self) -> impl Iterator<Item = (NodeId, NodeId, &HopDelay)> {
        self.rows.iter().map(|((node, egress), row)| (*node, *egress, row))
    }

    /// For a node and an egress: the share of the packets that arrived and took at most `hops` times a bound. The bound is
    /// the longest mean time in one of the other nodes with packets for that egress, in the second in which the MAC took the
    /// packet. `None`: there are none.
    #[must_use]
    pub fn within(&self, node: NodeId, egress: NodeId) -> Option<f64> {
        let row = self.rows.get(&(node, egress))?;
        let others = || self.rows.iter().filter(|((other, to), _)| *to == egress && *other != node);
        let longest = |second: usize| {
            let means = others().filter_map(|(_, other)| {
                let second = other.seconds.get(second).filter(|second| second.passed > 0)?;
                Some(second.here / f64::from(second.passed))
            });
            means.reduce(f64::max)
        };
        let bounds: Vec<Option<f64>> = (0..row.seconds.len()).map(longest).collect();
        let (mut counted, mut within) = (0_u64, 0_u64);
        for (second, actual) in &row.arrivals {
            if let Some(longest) = bounds[*second as usize] {
                counted += 1;
                within += u64::from(*actual <= f64::from(row.hops) * longest);
            }
        }
        (counted > 0).then(|| within as f64 / counted as f64)
    }

    /// Sums start afresh; the seconds go on.
    pub(crate) fn begin_counting(&mut self) {
        for row in self.rows.values_mut() {
            let (hops, last, seconds) = (row.hops, row.last, std::mem::take(&mut row.seconds));
            *row = HopDelay { hops, last, seconds, ..HopDelay::default() };
        }
    }

    /// The MAC of a node takes a packet, and the node's relay expects so much of it.
    pub(crate) fn take(
        &mut self,
        now: Instant,
        node: NodeId,
        packet: &mut Packet,
        expects: impl FnOnce(&Packet) -> Option<Span>,
    ) {
        if counts(packet) {
            let estimate = expects(packet);
            self.taken(node, packet.exit, now, estimate);
            let stop = Stop { node, came: packet.arrived, taken: now, estimate };
            packet.follow().push(stop);
        }
    }

    /// A packet has come to a node by radio.
    pub(crate) fn arrive(&mut self, now: Instant, node: NodeId, packet: &mut Packet) {
        let (egress, last) = (packet.exit, packet.exit == node);
        if let Some(stop) = packet.trail().and_then(|trail| trail.last()) {
            self.passed(egress, now, stop);
        }
        for (hops, stop) in packet.trail_mut().into_iter().flat_map(|trail| trail.arrive(last)) {
            self.arrived(egress, now, hops, &stop);
        }
    }

    fn taken(&mut self, node: NodeId, egress: NodeId, now: Instant, estimate: Option<Span>) {
        let second = self.rows.entry((node, egress)).or_default().second(now);
        second.taken += 1;
        if let Some(estimate) = estimate {
            second.expected += 1;
            second.estimate += estimate.as_secs_f64();
        }
    }

    fn passed(&mut self, egress: NodeId, now: Instant, stop: &Stop) {
        let (here, mac) = ((now - stop.came).as_secs_f64(), (now - stop.taken).as_secs_f64());
        let row = self.rows.entry((stop.node, egress)).or_default();
        (row.passed, row.here, row.mac) = (row.passed + 1, row.here + here, row.mac + mac);
        if let Some(last) = row.last.replace(now) {
            let interval = (now - last).as_secs_f64();
            row.intervals += 1;
            row.interval += interval;
            row.interval_squares += interval * interval;
        }
        let second = row.second(stop.taken);
        (second.passed, second.here, second.mac) = (second.passed + 1, second.here + here, second.mac + mac);
    }

    fn arrived(&mut self, egress: NodeId, now: Instant, hops: u32, stop: &Stop) {
        let row = self.rows.entry((stop.node, egress)).or_default();
        let actual = (now - stop.taken).as_secs_f64();
        row.hops = hops;
        row.packets += 1;
        row.actual += actual;
        if let Some(estimate) = stop.estimate {
            let error = estimate.as_secs_f64() / actual - 1.0;
            row.expected += 1;
            row.estimate += estimate.as_secs_f64();
            row.error += error;
            row.magnitude += error.abs();
        }
        row.arrivals.push((HopDelay::index(stop.taken) as u32, actual));
        let second = row.second(stop.taken);
        second.packets += 1;
        second.actual += actual;
    }
}

impl HopDelay {
    /// Sample standard deviation of the intervals, s; `None` with fewer than two.
    #[must_use]
    pub fn interval_deviation(&self) -> Option<f64> {
        let count = self.intervals as f64;
        let squares = (self.interval_squares - self.interval * self.interval / count).max(0.0);
        (self.intervals > 1).then(|| libm::sqrt(squares / (count - 1.0)))
    }

    fn index(at: Instant) -> usize {
        at.saturating_since(Instant::ZERO).whole(Span::from_secs(1)) as usize
    }

    fn second(&mut self, at: Instant) -> &mut Second {
        let index = Self::index(at);
        if self.seconds.len() <= index {
            self.seconds.resize(index + 1, Second::default());
        }
        &mut self.seconds[index]
    }
}

fn counts(packet: &Packet) -> bool {
    matches!(packet.class, Class::Data | Class::Ack)
}
