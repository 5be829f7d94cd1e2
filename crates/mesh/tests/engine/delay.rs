//! Delays against closed forms: one idle hop, wired links, queues; hop limits.

use super::support::{cbr, chain, close, delay, flow, link, measure, node, record, row, run, wired};
use meshpace_relay::packet::Body;
use std::collections::BTreeSet;

const HOP: &str = "[defaults]\nscheme = \"newreno\"\n";

/// 200 m at the speed of light.
const AIR_US: f64 = 200.0 / 299.792_458;

#[test]
fn an_idle_hop_takes_link_layer_access_and_exchange() {
    // Every 20.1 ms: the backoff after the last packet is long over, and times fall anywhere in a slot.
    let text = format!(
        "{HOP}{}[radio]\narp = false\n{}{}",
        measure(60.1, 0.0),
        chain(1),
        flow(
            "n0",
            "n1",
            &format!("app = \"cbr\"\nrate = {}\npacket = 1472\nstop = 60", 1472.0 * 8.0 / 20.1e-3)
        )
    );
    let (result, record) = record(&text);
    // 25 us down, DIFS; RTS, SIFS, CTS, SIFS (schemes.md 17.2), each frame 200 m of air.
    let before = 25.0 + 50.0 + 352.0 + 10.0 + 304.0 + 10.0 + 2.0 * AIR_US;
    let mut slots = BTreeSet::new();
    let mut wait = 0.0;
    for seen in record.data_from(0) {
        let Some(Body::Udp(datagram)) = seen.packet.as_ref().map(|p| p.body.clone()) else { continue };
        let sent = datagram.stamp.sent;
        let backoff = ((seen.at - sent).as_secs_f64() * 1e6 - before) / 20.0;
        assert!((backoff - backoff.round()).abs() < 0.01, "a backoff of {backoff} slots");
        slots.insert(backoff.round() as u32);
        wait += backoff.round();
    }
    assert_eq!(slots, (0..=30).collect(), "ns-2 draws from 0 to 30");
    let f = &result.flows[0];
    let mean_backoff = 20.0 * wait / (f.delivered_bytes / 1472) as f64;
    let data = 192.0 + 1534.0 * 8.0 / 11.0;
    let expected = (before + mean_backoff + data + AIR_US + 25.0) * 1e-6;
    close("mean delay", delay(f), expected, 1e-4);
    close("mean backoff", mean_backoff, 300.0, 0.05);
    let deviation = 20e-6 * ((31.0f64 * 31.0 - 1.0) / 12.0).sqrt();
    close("its deviation", f.delay_std_s.expect("packets"), deviation, 0.05);
    assert_eq!(f.loss_ratio, Some(0.0));
}

/// `[routing] processing_delay`, `processing_jitter`: a node that received a packet takes its time, the last one too.
#[test]
fn nodes_take_their_time_at_every_hop() {
    let at = |routing: &str| {
        let flow = cbr("n0", "n3", 1472.0 * 8.0 / 50.1e-3, 1472);
        run(&format!("{HOP}{}{}{routing}\n{flow}", measure(100.0, 0.0), chain(3)))
    };
    // Longer than the MAC's acknowledgement, during which a relay cannot send on anyway.
    let one = delay(&at("processing_delay = 0.001").flows[0]);
    close("2 ms more a hop", delay(&at("processing_delay = 0.003").flows[0]) - one, 3.0 * 0.002, 0.01);
    let jittered = at("processing_delay = \"1ms\"\nprocessing_jitter = \"3ms\"");
    close("1.5 ms more in the mean", delay(&jittered.flows[0]) - one, 3.0 * 0.0015, 0.03);
    // The last datagram may be under way at the end.
    assert!(jittered.flows[0].loss_ratio.is_some_and(|lost| lost < 0.001));
}

#[test]
fn every_further_hop_adds_as_much() {
    let at = |hops: u32| {
        let flow = cbr("n0", &format!("n{hops}"), 1472.0 * 8.0 / 50.1e-3, 1472);
        delay(&run(&format!("{HOP}{}{}{flow}", measure(100.0, 0.0), chain(hops))).flows[0])
    };
    // Where a relay receives the packet before it acknowledges it, 50 us of link layer pass during that ACK; a
    // relay that is done with SIFS and ACK (314 us) counts its DIFS from there.
    let exchange = 352.0 + 10.0 + 304.0 + 10.0 + 1307.64 + 3.0 * AIR_US;
    let relayed = (314.0 + 50.0 + 300.0 + exchange) * 1e-6;
    close("the second hop", at(2) - at(1), relayed, 0.02);
    close("three hops more", at(5) - at(2), 3.0 * relayed, 0.02);
}

/// Two wired hosts and what lies between them.
fn wired_pair(middle: &str, flow: &str) -> String {
    let hosts = format!("{}{}{}{}", wired("a"), wired("r"), wired("b"), node("n", 0.0, 0.0));
    format!("{HOP}{}{hosts}{middle}{flow}", measure(12.0, 2.0))
}

#[test]
fn wired_links_serialise_and_delay_exactly() {
    let links = format!("{}{}", link("a", "r", "10Mbps", "40ms"), link("r", "b", "1Mbps", "7ms"));
    let result =
        run(&wired_pair(&links, &flow("a", "b", "app = \"cbr\"\nrate = 1e5\npacket = 972\nstop = 11")));
    let f = &result.flows[0];
    // 972 + 8 + 20 bytes: 0.8 ms on the first link, 8 ms on the second.
    close("delay", delay(f), 0.8e-3 + 40e-3 + 8e-3 + 7e-3, 1e-9);
    assert!(f.delay_std_s.expect("packets") < 1e-9);
    assert_eq!((f.hops, f.loss_ratio), (Some(0), Some(0.0)));
    assert_eq!((result.frames, result.jain_per_hop), (0, None));
}

#[test]
fn a_full_wired_queue_holds_its_packets_and_drops_the_rest() {
    for queue in [2, 7, 50] {
        let slow = link("r", "b", "1Mbps", "0ms").replace("delay", &format!("queue = {queue}\ndelay"));
        let links = format!("{}{slow}", link("a", "r", "10Mbps", "0ms"));
        let result = run(&wired_pair(&links, &cbr("a", "b", 2e6, 972)));
        let f = &result.flows[0];
        close("carried", f.goodput_bps, 1e6 * 972.0 / 1000.0, 2e-3);
        // The last to fit finds queue - 2 waiting and one being sent: it is out after queue - 1 more serialisations
        // and what is left of the one going on.
        let packets = (delay(f) - 0.8e-3) / 8e-3;
        assert!(packets > f64::from(queue) - 1.0 && packets <= f64::from(queue), "{packets} of {queue}");
        let drops = row(&result, "r", "b").expect("a row");
        close("loss", f.loss_ratio.expect("sent"), drops.queue_drops as f64 / f.segments_sent as f64, 0.01);
        assert_eq!((drops.data_drops, drops.ack_drops), (drops.queue_drops, 0));
    }
}

#[test]
fn both_directions_of_a_wired_link_are_independent() {
    let links = format!("{}{}", link("a", "r", "1Mbps", "1ms"), link("r", "b", "1Mbps", "1ms"));
    let flows = format!("{}{}", cbr("a", "b", 9e5, 972), cbr("b", "a", 9e5, 972));
    let both = run(&wired_pair(&links, &flows));
    let one = run(&wired_pair(&links, &cbr("a", "b", 9e5, 972)));
    assert_eq!(both.flows[0].delay_mean_s, one.flows[0].delay_mean_s);
    assert_eq!(both.flows[0].delivered_bytes, both.flows[1].delivered_bytes);
}

#[test]
fn a_node_holds_no_more_packets_than_its_queue_has_room_for() {
    for queue in [2, 10, 50] {
        let radio = format!("[radio]\nqueue = {queue}\n");
        let text = format!("{HOP}{}{radio}{}{}", measure(4.0, 1.0), chain(1), cbr("n0", "n1", 2e7, 1000));
        let (result, record) = record(&text);
        assert_eq!(record.longest_queue, queue);
        // A packet waits for those before it: at most queue - 1, one of them in service.
        let service = 1000.0 * 8.0 / result.flows[0].goodput_bps;
        let packets = delay(&result.flows[0]) / service;
        assert!((queue as f64 - 1.5..=queue as f64).contains(&packets), "{packets} of {queue}");
    }
}

#[test]
fn a_queue_of_one_still_sends() {
    let text =
        format!("{HOP}{}[radio]\nqueue = 1\n{}{}", measure(4.0, 1.0), chain(2), cbr("n0", "n2", 1e5, 1000));
    let result = run(&text);
    close("goodput", result.flows[0].goodput_bps, 1e5, 0.02);
}

#[test]
fn packets_live_for_as_many_hops_as_their_routing_gives_them() {
    let along = |routing: &str, hops: u32| {
        let topology = format!("[topology]\nkind = \"chain\"\nhops = {hops}\n[routing]\n{routing}\n");
        let to = format!("n{hops}");
        run(&format!(
            "{HOP}{}{topology}{}",
            measure(6.0, 0.0),
            flow("n0", &to, "app = \"cbr\"\nrate = 2000\npacket = 100")
        ))
        .flows[0]
            .clone()
    };
    assert_eq!(along("protocol = \"static\"", 40).hops, Some(40));
    assert_eq!(along("protocol = \"dsdv\"", 31).hops, Some(31));
    assert_eq!(along("protocol = \"dsdv\"", 40).hops, None);
    // A search of ns-2's AODV goes 30 hops.
    assert_eq!(along("protocol = \"aodv\"", 29).hops, Some(29));
    assert_eq!(along("protocol = \"aodv\"", 40).hops, None);
}

#[test]
fn percentiles_are_those_of_the_delays() {
    // Ten packets a second over a wired link that is busy for ever longer: the n-th waits n times as long as the first.
    let hosts = format!("{}{}{}", wired("a"), wired("b"), link("a", "b", "800kbps", "0s"));
    let burst =
        "app = \"self-similar\"\nrate = \"100Gbps\"\npacket = 972\nfile_mean = 100000000\nstop = 1e-5";
    let text = format!("{HOP}{}{hosts}{}", measure(10.0, 0.0), flow("a", "b", burst));
    let f = run(&text).flows[0].clone();
    // 1,000 bytes with headers are 10 ms; the queue holds 50.
    let packets = (f.delivered_bytes / 972) as f64;
    assert_eq!(packets, 50.0, "{f:?}");
    close("median", f.delay_p50_s.expect("packets"), 0.25, 0.01);
    close("95 %", f.delay_p95_s.expect("packets"), 0.48, 0.01);
    close("99 %", f.delay_p99_s.expect("packets"), 0.50, 0.01);
    close("mean", delay(&f), 0.255, 0.001);
    let silent =
        run(&format!("{HOP}{}{hosts}{}", measure(10.0, 9.0), flow("a", "b", burst))).flows[0].clone();
    assert_eq!((silent.delay_p50_s, silent.delay_p95_s, silent.delay_p99_s), (None, None, None));
}

#[test]
fn a_packet_s_own_way_is_not_what_its_data_waited_for() {
    // 100 ms of wire that nothing waits for, and loses every fiftieth packet: what is sent again takes as long as any other, its data
    // a round trip and more.
    let hosts = format!("{}{}{}loss = 0.02\n", wired("a"), wired("b"), link("a", "b", "1Gbps", "100ms"));
    let flow = flow("a", "b", "scheme = \"linux-reno\"\nwindow = 8");
    let f = run(&format!("{HOP}{}{hosts}{flow}", measure(100.0, 10.0))).flows[0].clone();
    assert!(f.retransmits.expect("TCP") > 20, "{f:?}");
    close("median of packets", f.packet_delay_p50_s.expect("packets"), 0.1, 0.01);
    close("95 % of packets", f.packet_delay_p95_s.expect("packets"), 0.1, 0.01);
    close("median of data", f.delay_p50_s.expect("packets"), 0.1, 0.01);
    assert!(f.delay_p99_s.expect("packets") > 0.3, "{f:?}");
}
