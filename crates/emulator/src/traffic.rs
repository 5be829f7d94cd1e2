//! What went from host to host.

use meshpace_relay::packet::{Class, Host, Packet, PacketId};
use meshpace_scenario::{Endpoint, Scenario, WiredId};
use meshpace_units::{Bytes, Instant, Quantiles, Span};
use serde::Serialize;
use std::collections::BTreeMap;

/// A packet that has not arrived after this time will not arrive.
const LOST_AFTER: Span = Span::from_secs(120);

/// Counts packets by the hosts that they are from and for.
pub struct Traffic {
    /// What was sent earlier does not count.
    begin: Instant,
    /// What was sent and has not come: when, and between whom.
    under_way: BTreeMap<PacketId, (Instant, [Host; 2])>,
    pairs: BTreeMap<[Host; 2], Pair>,
}

#[derive(Default)]
struct Pair {
    packets: u64,
    bytes: u64,
    acks: u64,
    delivered: u64,
    delivered_bytes: u64,
    total_delay: f64,
    delays: Quantiles,
    /// Deliveries by the number of radio links passed.
    hops: BTreeMap<u16, u64>,
    latest: Option<Instant>,
    longest_gap: Option<Span>,
}

/// What a real host sent to another one in the measured interval.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TrafficResult {
    /// The sender.
    pub from: String,
    /// The receiver.
    pub to: String,
    /// IP packets sent.
    pub packets: u64,
    /// Bytes of these packets.
    pub bytes: u64,
    /// Pure TCP acknowledgements among these packets.
    pub acks: u64,
    /// Packets that arrived.
    pub delivered: u64,
    /// Bytes of the packets that arrived.
    pub delivered_bytes: u64,
    /// Radio links on the way, median.
    pub hops: Option<u16>,
    /// The longest time from one delivery to the next, seconds: an outage, if the host sent all the time.
    pub longest_gap_s: Option<f64>,
    /// Mean simulated time of a packet from device to device, seconds.
    pub delay_mean_s: Option<f64>,
    /// Median simulated time from device to device, seconds, to 1 %.
    pub delay_p50_s: Option<f64>,
    /// The time from device to device that 95 % of the packets do not exceed, seconds.
    pub delay_p95_s: Option<f64>,
    /// The time from device to device that 99 % of the packets do not exceed, seconds.
    pub delay_p99_s: Option<f64>,
}

impl Traffic {
    /// Nothing so far; what is sent from `begin` on counts.
    pub fn new(begin: Instant) -> Self {
        Self { begin, under_way: BTreeMap::new(), pairs: BTreeMap::new() }
    }

    /// A packet has set out.
    pub fn sent(&mut self, now: Instant, id: PacketId, ends: [Host; 2], size: Bytes, class: Class) {
        while let Some(oldest) = self.under_way.first_entry()
            && now.saturating_since(oldest.get().0) > LOST_AFTER
        {
            oldest.remove();
        }
        if now >= self.begin {
            self.under_way.insert(id, (now, ends));
            let pair = self.pairs.entry(ends).or_default();
            pair.packets += 1;
            pair.bytes += size.0;
            pair.acks += u64::from(class == Class::Ack);
        }
    }

    /// A packet has come to its host.
    pub fn delivered(&mut self, now: Instant, packet: &Packet) {
        let Some((sent, ends)) = self.under_way.remove(&packet.id) else { return };
        let pair = self.pairs.entry(ends).or_default();
        let delay = now - sent;
        pair.delivered += 1;
        pair.delivered_bytes += packet.size.0;
        pair.total_delay += delay.as_secs_f64();
        pair.delays.record(delay);
        *pair.hops.entry(packet.travelled).or_default() += 1;
        let gap = pair.latest.map(|latest| now - latest);
        pair.longest_gap = pair.longest_gap.max(gap);
        pair.latest = Some(now);
    }

    /// A row a pair of hosts, in the order of the hosts.
    pub fn results(self, scenario: &Scenario) -> Vec<TrafficResult> {
        let name = |host| match host {
            Host::Mesh(node) => scenario.name_of(Endpoint::Mesh(node)).to_owned(),
            Host::Wired(node) => scenario.name_of(Endpoint::Wired(WiredId(node))).to_owned(),
        };
        let row = |([from, to], pair): ([Host; 2], Pair)| {
            let mut below = 0;
            let middle = pair.hops.iter().find(|(_, count)| {
                below += **count;
                2 * below >= pair.delivered
            });
            TrafficResult {
                from: name(from),
                to: name(to),
                packets: pair.packets,
                bytes: pair.bytes,
                acks: pair.acks,
                delivered: pair.delivered,
                delivered_bytes: pair.delivered_bytes,
                hops: middle.map(|(hops, _)| *hops),
                longest_gap_s: pair.longest_gap.map(Span::as_secs_f64),
                delay_mean_s: (pair.delivered > 0).then(|| pair.total_delay / pair.delivered as f64),
                delay_p50_s: pair.delays.quantile(0.5).map(Span::as_secs_f64),
                delay_p95_s: pair.delays.quantile(0.95).map(Span::as_secs_f64),
                delay_p99_s: pair.delays.quantile(0.99).map(Span::as_secs_f64),
            }
        };
        self.pairs.into_iter().map(row).collect()
    }
}
