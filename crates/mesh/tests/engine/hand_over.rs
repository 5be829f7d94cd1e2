//! Hosts that change their gateway, and how long that stalls their flows.

use super::mobility::{long, longest, stalls, walk};
use super::support::{Record, flow, link, measure, node, record, wired};
use meshpace_radio::FrameKind;

/// Two gateways with one wired host behind both; between them a walker, in range of at least one of them always.
fn between_gateways(relays: bool) -> String {
    let (far, length) = if relays { (1000.0, 1000) } else { (450.0, 450) };
    let mut nodes = [node("g1", 0.0, 0.0), node("g2", far, 0.0), node("w", 100.0, 0.5), wired("B")].concat();
    if relays {
        nodes += &(1..5).map(|i| node(&format!("r{i}"), 200.0 * f64::from(i), 0.0)).collect::<String>();
    }
    let links = format!("{}{}", link("g1", "B", "10Mbps", "20ms"), link("g2", "B", "10Mbps", "20ms"));
    format!("{nodes}{links}{}", walk("w", length))
}

/// Data and acknowledgements that reached or left each of the two gateways by radio.
fn traffic_at_gateways(record: &Record) -> [usize; 2] {
    [0, 1].map(|gateway| {
        let touches = |seen: &&super::support::Seen| {
            let to = seen.frame.to.is_some_and(|to| to.0 == gateway);
            seen.frame.kind == FrameKind::Data
                && seen.packet.is_some()
                && (to || seen.frame.from.0 == gateway)
        };
        record.frames.iter().filter(touches).count()
    })
}

/// The queue and goodput control of a live gateway's defaults (docs/meshpaced-config.md).
const LIVE: &str = "[scheme.live]\nbase = \"tcp-gap\"\ngap_queue = \"codel\"\ngap_window = \"pipe\"\ngap_retransmissions = \"first\"\ngc_profile = \"robust\"\n";

/// The sender's least RTO, s (schemes.md 19).
const RTO_MIN: f64 = 1.0;

/// The longest time without data of a flow between the walker and the wired host.
fn longest_stall(scheme: &str, routing: &str, relays: bool, from: &str, to: &str) -> f64 {
    let defaults = format!("[defaults]\nscheme = \"{scheme}\"\n{}", measure(150.0, 0.0));
    let text =
        format!("{defaults}{LIVE}[routing]\n{routing}\n{}{}", between_gateways(relays), flow(from, to, ""));
    let (_, record) = record(&text);
    let (stalls, bytes) = stalls(&record, 0);
    let what =
        format!("{scheme}, {routing}, relays {relays}, from {from}: {bytes} bytes, {:?}", long(&stalls));
    let traffic = traffic_at_gateways(&record);
    assert!(traffic.iter().all(|frames| *frames > 500), "{what}: {traffic:?}");
    // With the paper's queue the longest was 47 s: what waits at the old gateway, and its copies.
    let bound = if scheme == "tcp-gap" { 50.0 } else { 30.0 };
    assert!(longest(&stalls) < bound, "{what}");
    assert!(bytes > 2_000_000, "{what}");
    longest(&stalls)
}

/// Connections live on when their gateway changes. With a live gateway's settings they stall for as long as the network does, and
/// until the sender's RTO, which doubles meanwhile, so that it is no longer than the time before it (RFC 6298, section 5.5).
///
/// How long the network stalls, flows without a gateway's pacing show. In a download a host that sends only acknowledgements, few
/// at a time where data are paced, does not notice that its gateway is out of range until the route there has expired: 10 s in
/// ns-2's AODV. So there a paced sender (`tcp-ap`) is what to compare with.
#[test]
fn a_hand_over_stalls_as_long_as_the_network_and_the_senders_timer() {
    for routing in ["protocol = \"aodv\"", "protocol = \"aodv\"\nprofile = \"rfc3561\""] {
        for relays in [false, true] {
            for (from, to) in [("w", "B"), ("B", "w")] {
                let stall = |scheme| longest_stall(scheme, routing, relays, from, to);
                let (newreno, paced) = (stall("newreno"), stall("tcp-ap"));
                let network = if from == "w" { newreno } else { newreno.max(paced) };
                let live = stall("live");
                assert!(
                    live <= 2.0 * network + RTO_MIN,
                    "{routing}, relays {relays}, from {from}: {live} s, without the gateway {newreno} s, paced {paced} s"
                );
                stall("tcp-gap");
            }
        }
    }
}
