//! rt-Winf without RTS/CTS: probes (schemes.md 9.2), what they tell and what they cost (experiments/we-tcp-ap.md, X9).
//!
//! The table of docs/winf.md: `cargo test -p meshpace-mesh --test engine winf_probes -- --nocapture`.

use super::support::{Record, Seen, cbr, close, flow, measure, record, run};
use meshpace_explicit::winf::Header;
use meshpace_radio::FrameKind;
use meshpace_relay::packet::{Body, Packet, Request};

/// A chain of one hop at 11 Mbit/s under TCP-AP with rt-Winf.
fn scenario(rts: &str, keys: &str, measure: &str, flows: &str) -> String {
    format!(
        "[defaults]\nscheme = \"tcp-ap-winf\"\n[scheme.tcp-ap-winf]\n{keys}\n{measure}[radio]\nrate = \"11Mbps\"\nrts = \"{rts}\"\n\
         [topology]\nkind = \"chain\"\nhops = 1\n[routing]\nprotocol = \"static\"\n{flows}"
    )
}

fn hop(rts: &str, keys: &str, seconds: f64, flows: &str) -> Record {
    record(&scenario(rts, keys, &measure(seconds, 0.0), flows)).1
}

fn is_probe(seen: &Seen) -> bool {
    seen.packet.as_ref().is_some_and(Packet::is_probe)
}

/// The capacity of its link that the first segment is given, bit/s.
fn told_first(record: &Record) -> f64 {
    let asked = |seen: &Seen| seen.packet.as_ref().and_then(Packet::shim);
    let request: Request = record.data_from(0).find_map(asked).expect("it asks");
    let header = Header::from_bytes(request.said.bytes()).and_then(|header| header.first);
    header.expect("one link is passed").capacity
}

#[test]
fn a_probe_tells_the_capacity_before_the_first_segment() {
    let tcp = flow("n0", "n1", "");
    let probed = hop("never", "", 1.0, &tcp);
    let is_arp = |seen: &Seen| seen.packet.as_ref().is_some_and(|packet| matches!(packet.body, Body::Arp(_)));
    let mut data = probed.frames.iter().filter(|seen| seen.frame.kind == FrameKind::Data);
    let first = data.find(|seen| !is_arp(seen)).expect("frames");
    assert!(is_probe(first) && first.frame.from.0 == 0, "{first:?}");
    let bits = 8.0 * 1534.0;
    close("capacity", told_first(&probed), bits / (192e-6 + bits / 11e6 + 304e-6), 0.002);
    // An answer of the other node goes back over a link of its own.
    let from =
        |node: u32| probed.frames.iter().filter(move |seen| is_probe(seen) && seen.frame.from.0 == node);
    assert_eq!([from(0).count(), from(1).count()], [1, 1], "the links are not idle for a second after that");
    // Without probes nothing is known but the data rate; with RTS/CTS nobody probes.
    close("capacity", told_first(&hop("never", "rtwinf_probes = false", 1.0, &tcp)), 11e6, 1e-9);
    assert!(!hop("always", "", 1.0, &tcp).frames.iter().any(is_probe));
}

#[test]
fn a_link_is_probed_again_after_it_lay_idle() {
    // A datagram every 1.6 s, and one every 0.8 s.
    for (bps, probes) in [(8.0 * 1000.0 / 1.6, 6), (8.0 * 1000.0 / 0.8, 1)] {
        let record = hop("never", "", 9.0, &cbr("n0", "n1", bps, 1000));
        assert_eq!(record.frames.iter().filter(|seen| is_probe(seen)).count(), probes, "{bps} bit/s");
    }
}

/// A probe comes to no queue before it leaves one: the datagram behind it waits for its exchange, and nothing else does.
#[test]
fn a_probe_is_no_packet_that_waited() {
    let measure = format!("{}queues = true\nhop_delays = true\n", measure(9.0, 0.0));
    let result = run(&scenario("never", "", &measure, &cbr("n0", "n1", 8.0 * 1000.0 / 1.6, 1000)));
    let queue = result.queues.iter().find(|row| row.node == "n0").expect("of both nodes");
    let waiting = queue.packets_mean.expect("some time passed");
    assert_eq!((queue.packets_max, queue.flows[0].data_max), (1, 1), "{queue:?}");
    assert!((0.0005..0.005).contains(&waiting), "{waiting} of a datagram: 1 to 4 ms of 1.6 s");
    assert_eq!(result.hop_delays.iter().map(|row| row.packets).sum::<u64>(), result.flows[0].segments_sent);
}

/// Bits of probes by those of the flow's packets: a call of G.711 (160 bytes every 20 ms, RTP's 12 with them) and a flow of 1 Mbit/s,
/// each of a minute.
#[test]
fn probes_cost_next_to_nothing() {
    println!("| flow | probes | of its bytes |\n|---|--:|--:|");
    for (what, bps, packet, most) in
        [("a call of G.711", 68_800.0, 172, 0.0166), ("1 Mbit/s", 1e6, 1000, 0.0015)]
    {
        let record = hop("never", "", 60.0, &cbr("n0", "n1", bps, packet));
        let bytes = |probe: bool| -> u64 {
            let frames = record.frames.iter().filter(|seen| seen.frame.kind == FrameKind::Data);
            frames.filter(|seen| is_probe(seen) == probe).map(|seen| seen.frame.size.0).sum()
        };
        let share = bytes(true) as f64 / bytes(false) as f64;
        let probes = record.frames.iter().filter(|seen| is_probe(seen)).count();
        println!("| {what} | {probes} | {:.3} % |", 100.0 * share);
        assert!(share > 0.0 && share < most, "{what}: {share}");
    }
}
