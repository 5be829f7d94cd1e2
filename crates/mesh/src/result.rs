//! The result of a run: the JSON contract of docs/contract.md, section 2.
//!
//! Times in seconds, rates in bit/s, sizes in bytes; a field that does not apply is null. Counters and rates cover the
//! measured interval, except `wall_s`, `events`, `frames` and `simulated_s`, which cover the whole run.

use serde::Serialize;
use std::collections::BTreeMap;

/// Version of the engine that results carry.
pub const ENGINE: &str = env!("CARGO_PKG_VERSION");

/// What a run gave.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RunResult {
    /// Version of this layout.
    pub schema: u32,
    /// Version of the engine.
    pub engine: String,
    /// The scenario's name.
    pub scenario: String,
    /// SHA-256 of the scenario file.
    pub scenario_sha256: String,
    /// Overrides given on the command line, in order; with the file and the seed they repeat the run.
    pub overrides: Vec<String>,
    /// The scheme that the mesh ran.
    pub scheme: String,
    /// The seed of the run.
    pub seed: u64,
    /// Simulated time, from 0 to the end of the run.
    pub simulated_s: f64,
    /// Length of the measured interval.
    pub measured_s: f64,
    /// Wall time; the only field that differs between two runs of the same input.
    pub wall_s: f64,
    /// Events that the engine handled.
    pub events: u64,
    /// Frames on the air.
    pub frames: u64,
    /// Sum of the flows' goodputs.
    pub aggregate_goodput_bps: f64,
    /// Jain's index of the flows' goodputs: 1 if all are equal, 1/n if one of n flows has everything.
    pub jain: Option<f64>,
    /// Mean of Jain's index over consecutive windows, by their length in seconds.
    pub jain_windows: BTreeMap<String, Option<f64>>,
    /// Jain's index of goodput divided by hops (`jain_norm_div`).
    pub jain_per_hop: Option<f64>,
    /// Jain's index of goodput multiplied by hops (`jain_norm_mul`).
    pub jain_times_hops: Option<f64>,
    /// Sum of the natural logarithms of the goodputs in kbit/s; 0 if a flow got nothing.
    pub log_utility: f64,
    /// The flows.
    pub flows: Vec<FlowResult>,
    /// The directed links that carried anything.
    pub links: Vec<LinkResult>,
    /// The gateways.
    pub gateways: Vec<GatewayResult>,
    /// Routing, of the whole mesh.
    pub routing: RoutingResult,
    /// What relays count, a row a mesh node; absent where relays count nothing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub relays: Vec<RelayResult>,
    /// Delays over the next hops; absent unless asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hop_delays: Vec<HopDelayResult>,
    /// What waited in the mesh nodes' queues; absent unless asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub queues: Vec<QueueResult>,
}

/// One flow.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FlowResult {
    /// The flow's name.
    pub id: String,
    /// The node that sends the data.
    pub from: String,
    /// The node that receives the data.
    pub to: String,
    /// Wireless hops of the route, median over delivered packets.
    pub hops: Option<usize>,
    /// Scheme.
    pub scheme: String,
    /// Application.
    pub app: &'static str,
    /// Payload delivered in order, a second. Of HTTP: the mean over the file transfers. Of a transfer: until its end.
    pub goodput_bps: f64,
    /// Half-width of the goodput's 95 % confidence interval, by batch means.
    pub goodput_ci95_bps: Option<f64>,
    /// Payload delivered in order.
    pub delivered_bytes: u64,
    /// Data segments or packets sent, retransmissions included, SYN excluded.
    pub segments_sent: u64,
    /// Data segments sent again.
    pub retransmits: Option<u64>,
    /// Expiries of the sender's retransmission timer.
    pub timeouts: Option<u64>,
    /// Losses that the sender found before its timer expired.
    pub fast_retransmits: Option<u64>,
    /// Acknowledgements without payload that the receiver sent.
    pub acks_sent: Option<u64>,
    /// Acknowledgements among these that left because the delayed-acknowledgement timer expired.
    pub timer_acks: Option<u64>,
    /// 1 - distinct data packets delivered / data packets sent.
    pub loss_ratio: Option<f64>,
    /// Mean one-way delay of packets, from the first hand-over to the network layer to the first arrival.
    pub delay_mean_s: Option<f64>,
    /// Standard deviation of the one-way delay.
    pub delay_std_s: Option<f64>,
    /// Median of the one-way delay, to 1 % ([`meshpace_units::Quantiles`]).
    pub delay_p50_s: Option<f64>,
    /// The one-way delay that 95 % of the packets do not exceed, to 1 %.
    pub delay_p95_s: Option<f64>,
    /// The one-way delay that 99 % of the packets do not exceed, to 1 %.
    pub delay_p99_s: Option<f64>,
    /// Median of the times that packets were on their way, each copy by itself (repeated segments, too); to 1 %.
    pub packet_delay_p50_s: Option<f64>,
    /// The time that 95 % of these copies do not exceed, to 1 %.
    pub packet_delay_p95_s: Option<f64>,
    /// The sender's latest round-trip sample, mean over time.
    pub srtt_s: Option<f64>,
    /// The sender's pacing rate, mean over time: one packet of segment + 40 bytes an interval.
    pub pacing_rate_bps: Option<f64>,
    /// The sender's pacing interval, mean over time.
    pub pacing_interval_s: Option<f64>,
    /// The sender's pacing interval, mean over the acknowledgements that reached the sender.
    pub pacing_interval_acks_s: Option<f64>,
    /// The sender's k-hop delay, mean over these acknowledgements.
    pub khd_acks_s: Option<f64>,
    /// Congestion window in segments, mean over time, at most the window limit; null where a rate takes its place.
    pub cwnd_mean: Option<f64>,
    /// File transfers that ended.
    pub transfers: Option<u64>,
    /// The time at which a finite transfer ended, from time 0.
    pub completed_s: Option<f64>,
    /// What each mesh node sent for the flow, in the order of the nodes.
    pub load: Vec<NodeLoad>,
}

/// What a mesh node put on the air for a flow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NodeLoad {
    /// The node.
    pub node: String,
    /// Packets of the end that has the data.
    pub data: LoadResult,
    /// Acknowledgements.
    pub ack: LoadResult,
}

/// Packets of one kind that a node sent for a flow. A header of n bytes makes `8 * (bytes + n * attempts)` bits of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct LoadResult {
    /// Data frames, retries included.
    pub attempts: u64,
    /// Bytes of the packets in them, with IP header.
    pub bytes: u64,
    /// Packets that the MAC was through with, each once.
    pub packets: u64,
    /// Bytes of these packets.
    pub packet_bytes: u64,
}

/// One directed link.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LinkResult {
    /// Transmitter.
    pub from: String,
    /// Receiver.
    pub to: String,
    /// Number of the channel; absent where the mesh has one, on wired links, and where no number has the channel's centre.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub channel: Option<u16>,
    /// Centre of the channel; absent where the mesh has one, and on wired links.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frequency_hz: Option<u64>,
    /// Packets with payload that the MAC gave up (wired: that found the queue full).
    pub data_drops: u64,
    /// Pure TCP acknowledgements that the MAC gave up (wired: that found the queue full).
    pub ack_drops: u64,
    /// Packets of all kinds that the MAC gave up.
    pub retry_drops: u64,
    /// Packets that found the queue full.
    pub queue_drops: u64,
    /// Packets that waited for the receiver's MAC address and gave way to a later one, or failed since the receiver did not answer.
    pub arp_drops: u64,
    /// Frames lost to overlap at the receiver.
    pub collisions: u64,
    /// RTS frames among these collisions.
    pub collisions_rts: u64,
    /// CTS frames among these collisions.
    pub collisions_cts: u64,
    /// Data frames among these collisions.
    pub collisions_data: u64,
    /// Acknowledgement frames of 802.11 among these collisions.
    pub collisions_ack: u64,
    /// Exchanges opened toward the receiver, retries included: an RTS, or a data frame without one. Null on wired links.
    pub attempts: Option<u64>,
    /// Time on the air of all frames of the link's exchanges as they were sent, RTS, CTS, data and ACK; broadcasts belong
    /// to no link. Null on wired links.
    pub airtime_s: Option<f64>,
    /// Counters of frames of several packets; absent where a frame carries one packet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub aggregates: Option<AggregateResult>,
    /// The modes in which data frames were sent, a row a mode; absent where `radio.rate_control` chooses none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rates: Vec<RateResult>,
}

/// Data frames of a link in a mode.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RateResult {
    /// The mode's data rate.
    pub rate_bps: u64,
    /// The mode's MCS; null of modes without such a number.
    pub mcs: Option<u8>,
    /// The mode's spatial streams.
    pub streams: u8,
    /// Data frames whose exchange ended, acknowledged or not.
    pub frames: u64,
    /// MPDUs in these frames.
    pub mpdus: u64,
    /// MPDUs among these that are known to have arrived.
    pub acknowledged: u64,
}

/// Frames of a link under a standard that puts several packets into one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AggregateResult {
    /// Data frames sent, those of one packet included.
    pub frames: u64,
    /// MPDUs in these frames, of one packet each or of several (`radio.amsdu`). Divided by `frames`: what a frame
    /// carried.
    pub mpdus: u64,
    /// MPDUs among these that had been sent before.
    pub retries: u64,
    /// Requests for a block acknowledgement sent: after a frame without an answer, and where packets were given up.
    pub requests: u64,
    /// Block acknowledgements that the receiver sent.
    pub block_acks: u64,
    /// The same by category of access (`background`, `best-effort`, `video`, `voice`), of all that had any; absent where that is best effort alone.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub categories: BTreeMap<&'static str, AggregateResult>,
}

/// One mesh node's relay.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RelayResult {
    /// The node.
    pub node: String,
    /// Its counters.
    #[serde(flatten)]
    pub counters: BTreeMap<&'static str, u64>,
}

/// How long the packets of one node for one egress took over the next hops, from the MAC there on, and what the relay
/// there expected.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HopDelayResult {
    /// The node.
    pub node: String,
    /// Where the packets leave the mesh.
    pub egress: String,
    /// The number of hops measured: four, or as many as there are to the egress.
    pub hops: u32,
    /// Packets that arrived at the end of these hops.
    pub packets: u64,
    /// Mean time that these packets took.
    pub actual_mean_s: Option<f64>,
    /// Mean time that the relay expected of these packets.
    pub estimate_mean_s: Option<f64>,
    /// Mean of expected time / actual time - 1, packet by packet.
    pub error_mean: Option<f64>,
    /// Mean magnitude of expected time / actual time - 1.
    pub error_abs_mean: Option<f64>,
    /// Mean time of a packet in the node, from its coming until the end of the DATA that got it to the next hop.
    pub node_mean_s: Option<f64>,
    /// The part of `node_mean_s` from when the MAC took the packet.
    pub mac_mean_s: Option<f64>,
    /// Mean time from one packet that got to the next hop to the following one: how they leave the MAC.
    pub interval_mean_s: Option<f64>,
    /// Standard deviation of these times.
    pub interval_std_s: Option<f64>,
    /// Of the packets that arrived, the share that took at most `hops` times the longest mean time in one of the other nodes
    /// with packets for the egress, in the second in which the MAC took it.
    pub within_share: Option<f64>,
    /// Packets that the MAC took, second by second from time 0.
    pub taken: Vec<u32>,
    /// Mean time that the relay expected of the packets taken in each second.
    pub estimate_s: Vec<Option<f64>>,
    /// Mean time of the packets that arrived, by the second in which the MAC took them.
    pub actual_s: Vec<Option<f64>>,
    /// Mean time in the node of the packets that got to the next hop, by the second in which the MAC took them.
    pub node_s: Vec<Option<f64>>,
    /// The part of `node_s` from when the MAC took the packets.
    pub mac_s: Vec<Option<f64>>,
}

/// What waited in the queue of one mesh node: from when a packet came to it until the MAC took it or the queue dropped it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct QueueResult {
    /// The node.
    pub node: String,
    /// Packets of all kinds that waited, mean over time.
    pub packets_mean: Option<f64>,
    /// The most packets that waited at one time.
    pub packets_max: u64,
    /// The flows whose packets came to the queue.
    pub flows: Vec<QueuedFlow>,
}

/// What waited of one flow in the queue of one mesh node.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct QueuedFlow {
    /// The flow.
    pub id: String,
    /// Waiting packets of the end that has the data, mean over time.
    pub data_mean: Option<f64>,
    /// The most of these packets that waited at one time.
    pub data_max: u64,
    /// Waiting acknowledgements, mean over time.
    pub ack_mean: Option<f64>,
    /// The most acknowledgements that waited at one time.
    pub ack_max: u64,
}

/// One gateway of a scheme that acts there.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GatewayResult {
    /// The node.
    pub node: String,
    /// Packets dropped because the pacing buffers were full.
    pub buffer_drops: u64,
    /// Packets retransmitted from the gateway's cache.
    pub local_retransmits: u64,
    /// RTT options written into acknowledgements (schemes.md 3.2).
    pub options_written: u64,
    /// Median of the time that packets with data for the mesh waited in the pacing queues, including packets that were
    /// let through at once; to 1 %.
    pub wait_p50_s: Option<f64>,
    /// The wait that 95 % of these packets do not exceed, to 1 %.
    pub wait_p95_s: Option<f64>,
    /// The most packets that the pacing queues held.
    pub queue_max: u64,
    /// Packets dropped by active queue management (CoDel, RFC 8289) in the pacing queues.
    pub aqm_drops: u64,
    /// Packets marked by active queue management in the pacing queues.
    pub aqm_marks: u64,
}

/// Routing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct RoutingResult {
    /// Link failures that took routes down or started a repair.
    pub route_failures: u64,
    /// Routing packets sent, each hop counted.
    pub control_packets: u64,
}
