//! Routes over the air: ties, the first discovery, what a lost frame does to them.

use super::support::{cbr, flow, measure, node, record, row, run};
use meshpace_relay::packet::Body;
use meshpace_routing::{Rrep, Rreq};
use std::collections::{BTreeMap, BTreeSet};

const NEWRENO: &str = "[defaults]\nscheme = \"newreno\"\n";

#[test]
fn static_ties_go_to_the_lowest_index() {
    for (first, second) in [("b", "c"), ("c", "b")] {
        let y = |id: &str| if id == "b" { 100.0 } else { -100.0 };
        let nodes = [
            node("a", 0.0, 0.0),
            node(first, 150.0, y(first)),
            node(second, 150.0, y(second)),
            node("d", 300.0, 0.0),
        ];
        let flows = format!("{}{}", cbr("a", "d", 1e5, 500), cbr("d", "a", 1e5, 500));
        let result = run(&format!(
            "{NEWRENO}{}[routing]\nprotocol = \"static\"\n{}{flows}",
            measure(2.0, 0.0),
            nodes.concat()
        ));
        assert!(row(&result, "a", first).is_some() && row(&result, first, "d").is_some());
        assert!(row(&result, "d", first).is_some() && row(&result, first, "a").is_some());
        assert_eq!(result.links.len(), 4, "nothing went over {second}");
        assert_eq!((result.routing.control_packets, result.routing.route_failures), (0, 0));
    }
}

#[test]
fn aodv_is_cold_at_time_0_and_finds_its_way_once() {
    let text = format!(
        "{NEWRENO}{}[topology]\nkind = \"chain\"\nhops = 3\n{}",
        measure(3.0, 0.0),
        flow("n0", "n3", "app = \"cbr\"\nrate = 1e5\npacket = 500\nstop = 2.5")
    );
    let (result, record) = record(&text);
    let control: Vec<_> = record
        .control()
        .map(|seen| {
            let Some(Body::Control(message)) = seen.packet.as_ref().map(|p| p.body.clone()) else {
                panic!("{seen:?}")
            };
            let kind = match (message.is::<Rreq>(), message.is::<Rrep>()) {
                (true, _) => "request",
                (_, true) => "reply",
                _ => "another",
            };
            (kind, seen.frame.from.0, seen.frame.size.0, seen.at)
        })
        .collect();
    let way: Vec<_> = control.iter().map(|seen| (seen.0, seen.1, seen.2)).collect();
    // 48 and 44 bytes at IP (schemes.md 18), 34 of MAC; the destination answers, everyone else asks once.
    let expected = [
        ("request", 0, 82),
        ("request", 1, 82),
        ("request", 2, 82),
        ("reply", 3, 78),
        ("reply", 2, 78),
        ("reply", 1, 78),
    ];
    assert_eq!(way, expected);
    assert_eq!(result.routing.control_packets, 6);
    // No sooner than DIFS after the link layer, and relays wait up to 10 ms each.
    assert!((75.0..=675.0).contains(&(control[0].3.as_secs_f64() * 1e6)));
    let first = record.data_from(0).next().expect("data").at;
    assert!(first > control[5].3 && first.as_secs_f64() < 0.04, "{first:?}");
    let f = &result.flows[0];
    assert_eq!((f.hops, f.loss_ratio), (Some(3), Some(0.0)));
}

#[test]
fn the_gateway_answers_for_wired_hosts() {
    let (result, record) = record(&format!(
        "{NEWRENO}{}[topology]\nkind = \"chain\"\nhops = 2\n{}",
        measure(3.0, 0.0),
        flow("n0", "B", "app = \"transfer\"\nbytes = 20000")
    ));
    let repliers: Vec<u32> = record
        .control()
        .filter(|seen| {
            let body = seen.packet.as_ref().map(|packet| &packet.body);
            matches!(body, Some(Body::Control(message)) if message.is::<Rrep>())
        })
        .map(|seen| seen.frame.from.0)
        .collect();
    assert_eq!(repliers, [2, 1]);
    assert_eq!((result.flows[0].delivered_bytes, result.flows[0].hops), (20_000, Some(2)));
}

#[test]
fn the_gateway_searches_for_mesh_nodes_itself() {
    let (result, record) = record(&format!(
        "{NEWRENO}{}[topology]\nkind = \"chain\"\nhops = 2\n{}",
        measure(3.0, 0.0),
        flow("B", "n0", "app = \"transfer\"\nbytes = 20000")
    ));
    let first = record.control().next().expect("a search");
    assert_eq!(first.frame.from.0, 2);
    // The SYN has come over three wired links of 40 ms.
    assert!((0.120..0.122).contains(&first.at.as_secs_f64()), "{:?}", first.at);
    assert_eq!((result.flows[0].delivered_bytes, result.flows[0].hops), (20_000, Some(2)));
}

/// A chain so crowded that stations give up frames.
fn crowded(routing: &str) -> String {
    let topology = format!("[topology]\nkind = \"chain\"\nhops = 8\n[routing]\n{routing}\n");
    format!("{NEWRENO}{}[radio]\nrate = \"2Mbps\"\n{topology}{}", measure(60.0, 0.0), flow("n0", "n8", ""))
}

#[test]
fn lost_frames_break_routes_under_aodv_only() {
    for routing in ["protocol = \"aodv\"", "protocol = \"aodv\"\nprofile = \"rfc3561\""] {
        let result = run(&crowded(routing));
        let failures = result.routing.route_failures;
        assert!(failures > 5, "{routing}: {failures}");
        let given_up: u64 = result.links.iter().map(|l| l.data_drops + l.ack_drops).sum();
        assert!(failures <= given_up, "{failures} failures of {given_up} packets given up");
        assert!(result.routing.control_packets > 16 + failures, "routes were searched again");
        assert!(result.flows[0].goodput_bps > 5e4);
    }
    // ns-2's use_mac_: what the MAC gives up is a lost neighbour.
    let heeded = run(&crowded("protocol = \"dsdv\"\ndsdv_mac_reports = true"));
    assert!(heeded.routing.route_failures > 0, "{:?}", heeded.routing);
    for routing in ["protocol = \"dsdv\"", "protocol = \"static\""] {
        let result = run(&crowded(routing));
        assert_eq!(result.routing.route_failures, 0, "{routing}");
        let given_up: u64 = result.links.iter().map(|l| l.data_drops).sum();
        assert!(given_up > 0, "{routing}");
        assert_eq!(result.routing.control_packets > 0, routing.contains("dsdv"));
    }
}

#[test]
fn dsdv_and_static_routes_are_there_at_time_0() {
    for protocol in ["dsdv", "static"] {
        let topology =
            format!("[topology]\nkind = \"chain\"\nhops = 5\n[routing]\nprotocol = \"{protocol}\"\n");
        let result = run(&format!("{NEWRENO}{}{topology}{}", measure(0.1, 0.0), cbr("n0", "n5", 1e5, 1000)));
        assert_eq!(result.flows[0].hops, Some(5), "{protocol}");
        let delay = result.flows[0].delay_mean_s.expect("delivered");
        assert!(delay < 0.025, "{protocol}: {delay}");
    }
}

/// Nobody knows anybody: dumps within 2 s tell of neighbours, and triggered updates wait for settling times, twice 6 s a hop.
#[test]
fn a_cold_dsdv_takes_a_settling_time_a_hop() {
    for (hops, least, most) in [(1, 0.0, 3.0), (3, 24.0, 60.0)] {
        let text = format!(
            "{NEWRENO}{}[topology]\nkind = \"chain\"\nhops = {hops}\n[routing]\nprotocol = \"dsdv\"\ndsdv_start = \"cold\"\n{}",
            measure(100.0, 0.0),
            cbr("n0", &format!("n{hops}"), 8000.0, 1000)
        );
        let (_, record) = record(&text);
        let first = record.samples.iter().find(|(_, sample)| sample.delivered.0 > 0);
        let at = first.expect("something arrives").0.as_secs_f64();
        assert!((least..most).contains(&at), "{hops} hops: {at}");
    }
}

#[test]
fn a_datagram_that_local_repair_sends_twice_counts_once() {
    // Hidden stations without RTS, one attempt a frame: many a packet arrives and is given up all the same.
    let radio = "[radio]\nrts = \"never\"\nretry_short = 1\n";
    let flows = format!("{}{}", cbr("n0", "n5", 3e5, 500), cbr("n5", "n0", 3e5, 500));
    let topology = "[topology]\nkind = \"chain\"\nhops = 5\nspacing = 240\n";
    let (result, record) = record(&format!("{NEWRENO}{}{radio}{topology}{flows}", measure(20.0, 0.0)));
    let mut copies: BTreeMap<u64, BTreeSet<u16>> = BTreeMap::new();
    for seen in record.data_from(4).filter(|seen| seen.frame.to.is_some_and(|to| to.0 == 5)) {
        if let Some(Body::Udp(datagram)) = seen.packet.as_ref().map(|packet| &packet.body) {
            copies.entry(datagram.stamp.number).or_default().insert(seen.frame.packets()[0].seq);
        }
    }
    let repeated = copies.values().filter(|frames| frames.len() > 1).count();
    assert!(repeated > 20, "{repeated}");
    let f = &result.flows[0];
    assert!(f.delivered_bytes / 500 <= copies.len() as u64, "{f:?}, {} tried on the last hop", copies.len());
}
