//! How long packets take over the next hops and in each node, which only the engine knows, beside what relays expect
//! ([`meshpace_relay::Relay::k_hop_delay`]): `[measure] hop_delays`.

use crate::network::Network;
use meshpace_packet::{Class, Handle, Packet, Stop};
use meshpace_units::{Instant, NodeId, Span};
use std::collections::BTreeMap;
use std::fmt::Debug;

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

    /// Sums start afresh; the seconds go on.
    pub(crate) fn begin_counting(&mut self) {
        for row in self.rows.values_mut() {
            let (hops, seconds) = (row.hops, std::mem::take(&mut row.seconds));
            *row = HopDelay { hops, seconds, ..HopDelay::default() };
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
        let second = row.second(stop.taken);
        second.packets += 1;
        second.actual += actual;
    }
}

impl HopDelay {
    fn second(&mut self, at: Instant) -> &mut Second {
        let index = at.saturating_since(Instant::ZERO).whole(Span::from_secs(1)) as usize;
        if self.seconds.len() <= index {
            self.seconds.resize(index + 1, Second::default());
        }
        &mut self.seconds[index]
    }
}

fn counts(packet: &Packet) -> bool {
    matches!(packet.class, Class::Data | Class::Ack)
}

impl<T: Copy + Debug> Network<T> {
    /// What was measured.
    #[must_use]
    pub fn hop_delays(&self) -> Option<&HopDelays> {
        self.hop_delays.as_deref()
    }

    /// The MAC of a node takes a packet.
    pub(crate) fn note_taken(&mut self, node: u32, handle: Handle) {
        let now = self.now();
        let Some(delays) = &mut self.hop_delays else { return };
        let packet = self.packets.get_mut(handle);
        if counts(packet) {
            let estimate = self.nodes[node as usize].relay.k_hop_delay(packet);
            delays.taken(NodeId(node), packet.exit, now, estimate);
            let stop = Stop { node: NodeId(node), came: packet.arrived, taken: now, estimate };
            packet.trail.get_or_insert_default().push(stop);
        }
    }

    /// A packet has come to a node by radio.
    pub(crate) fn note_arrived(&mut self, node: u32, handle: Handle) {
        let now = self.now();
        let Some(delays) = &mut self.hop_delays else { return };
        let packet = self.packets.get_mut(handle);
        let (egress, last) = (packet.exit, packet.exit == NodeId(node));
        if let Some(stop) = packet.trail.as_ref().and_then(|trail| trail.last()) {
            delays.passed(egress, now, stop);
        }
        for (hops, stop) in packet.trail.iter_mut().flat_map(|trail| trail.arrive(last)) {
            delays.arrived(egress, now, hops, &stop);
        }
    }
}
