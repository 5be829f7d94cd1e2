//! When things start and stop, and which part of a run counts.

use super::support::{cbr, chain, close, flow, measure, record, run, scenario};
use meshpace_mesh::{Directory, Role, RunResult};
use meshpace_relay::packet::{Body, Datagram};
use meshpace_units::{Bytes, Instant, Span};

/// Sending time and number of every datagram that node 0 puts on the air.
fn datagrams(text: &str) -> Vec<(Instant, u64, Bytes, Bytes)> {
    let (_, record) = record(text);
    let sent = record.data_from(0).filter_map(|seen| match seen.packet.as_ref()?.body {
        Body::Udp(Datagram { stamp, .. }) => {
            Some((stamp.sent, stamp.number, seen.packet.as_ref()?.size, seen.frame.size))
        }
        _ => None,
    });
    sent.collect()
}

#[test]
fn constant_rate_starts_at_its_start_and_keeps_its_step_until_its_stop() {
    let keys = "app = \"cbr\"\nrate = 800000\npacket = 1000\nstart = 2\nstop = 2.5";
    let text = format!("{}{}{}", measure(4.0, 0.0), chain(1), flow("n0", "n1", keys));
    let seen = datagrams(&text);
    let expected: Vec<_> = (0..50)
        .map(|k| Instant::ZERO + Span::from_millis(2000 + 10 * k))
        .zip(0..)
        .map(|(at, number)| (at, number, Bytes(1028), Bytes(1062)))
        .collect();
    assert_eq!(seen, expected, "payload + 8 UDP + 20 IP; + 34 MAC");
    let ns2 = datagrams(&text.replace("packet = 1000", "packet = 1000\nudp_header = 0"));
    assert_eq!((ns2[0].2, ns2[0].3), (Bytes(1020), Bytes(1054)));
}

#[test]
fn every_flow_starts_where_its_jitter_puts_it() {
    let keys = "app = \"cbr\"\nrate = 8000\npacket = 100\nstart = 1\nstart_jitter = 2\ncount = 20";
    let text = format!("{}{}[[flow]]\nfrom = \"n0\"\nto = \"n1\"\n{keys}\n", measure(5.0, 0.0), chain(1));
    let (_, record) = record(&text);
    let scenario = scenario(&text, 1);
    let directory = Directory::new(&scenario);
    let flows = scenario.flows;
    let mut first: Vec<Option<Instant>> = vec![None; 20];
    for seen in record.data_from(0) {
        let Some(packet) = &seen.packet else { continue };
        let Body::Udp(datagram) = &packet.body else { continue };
        let (flow, role) = directory.receiver_of(packet).expect("a packet of a flow");
        assert_eq!(role, Role::Receiver);
        first[flow as usize].get_or_insert(datagram.stamp.sent);
    }
    for (first, flow) in first.iter().zip(&flows) {
        assert_eq!(*first, Some(flow.start));
    }
    let seconds: Vec<f64> = flows.iter().map(|flow| flow.start.as_secs_f64()).collect();
    assert!(seconds.iter().all(|s| (1.0..3.0).contains(s)));
    assert!(seconds.iter().any(|s| *s < 1.5) && seconds.iter().any(|s| *s > 2.5), "{seconds:?}");
}

/// Everything that counts, in one list.
fn counters(result: &RunResult) -> Vec<(String, u64)> {
    let mut all = Vec::new();
    for f in &result.flows {
        let tcp = [f.retransmits, f.timeouts, f.fast_retransmits].map(|count| count.unwrap_or(0));
        for (name, count) in ["retransmits", "timeouts", "fast retransmits"].into_iter().zip(tcp) {
            all.push((format!("flow {} {name}", f.id), count));
        }
        all.push((format!("flow {} segments", f.id), f.segments_sent));
        all.push((format!("flow {} bytes", f.id), f.delivered_bytes));
    }
    for l in &result.links {
        let values = [l.data_drops, l.ack_drops, l.retry_drops, l.queue_drops, l.collisions];
        let parts = [l.collisions_rts, l.collisions_cts, l.collisions_data, l.collisions_ack];
        assert_eq!(l.collisions, parts.iter().sum::<u64>());
        for (index, value) in values.into_iter().chain(parts).enumerate() {
            all.push((format!("link {} {} {index}", l.from, l.to), value));
        }
    }
    for g in &result.gateways {
        all.push((format!("gateway {} drops", g.node), g.buffer_drops));
        all.push((format!("gateway {} local", g.node), g.local_retransmits));
    }
    all.push(("route failures".into(), result.routing.route_failures));
    all.push(("control packets".into(), result.routing.control_packets));
    all.retain(|(_, count)| *count > 0);
    all.sort();
    all
}

/// A run measured from 4 s to 10 s counts what one from 0 to 10 s counts, less what one from 0 to 4 s does.
fn measured_interval_is_a_difference(network: &str) {
    let part = |duration, warmup| run(&format!("{}{network}", measure(duration, warmup)));
    let (late, early, whole) = (part(10.0, 4.0), part(4.0, 0.0), part(10.0, 0.0));
    let mut sum = counters(&early);
    for (name, count) in counters(&late) {
        match sum.binary_search_by(|entry| entry.0.cmp(&name)) {
            Ok(index) => sum[index].1 += count,
            Err(index) => sum.insert(index, (name, count)),
        }
    }
    assert_eq!(sum, counters(&whole));
    // Events differ by the one that begins the measurement.
    assert_eq!(late.frames, whole.frames);
    assert_eq!((late.simulated_s, late.measured_s, whole.measured_s), (10.0, 6.0, 10.0));
    for f in &late.flows {
        assert!(f.delivered_bytes > 0, "{f:?}");
        close("goodput", f.goodput_bps, f.delivered_bytes as f64 * 8.0 / 6.0, 1e-12);
    }
}

#[test]
fn the_warm_up_does_not_count() {
    let newreno = flow("n0", "n8", "scheme = \"newreno\"");
    let up = flow("n0", "B", "scheme = \"newreno\"");
    let slow = "[radio]\nrate = \"2Mbps\"\n";
    let static_chain = format!("{slow}{}{newreno}{}", chain(8), cbr("n8", "n4", 5e4, 700));
    measured_interval_is_a_difference(&format!("[defaults]\nscheme = \"newreno\"\n{static_chain}"));
    let aodv = "[topology]\nkind = \"chain\"\nhops = 8\nwired_queue = 4\nwired_rate = \"300kbps\"\n";
    measured_interval_is_a_difference(&format!("{slow}{aodv}{up}"));
}

#[test]
fn nor_does_it_count_at_the_gateway() {
    let gap = "[scheme.tcp-gap]\ngap_buffer_windows = 1\ngap_buffer_total = 20000\n";
    let radio = "[radio]\nrate = \"2Mbps\"\n";
    let down = flow("B", "n0", "scheme = \"tcp-gap\"\ncount = 2");
    measured_interval_is_a_difference(&format!("{gap}{radio}{}{down}", chain(7)));
}

#[test]
fn batch_means_discard_the_first_batch_and_have_an_interval() {
    let text = |plan: &str| format!("[measure]\n{plan}\n{}{}", chain(1), cbr("n0", "n1", 8e5, 1000));
    let whole = run(&text("packets = 1100\nbatches = 11"));
    let f = &whole.flows[0];
    assert_eq!(f.delivered_bytes, 1_000_000, "the first hundred packets are discarded");
    close("simulated", whole.simulated_s, 11.0, 1e-3);
    close("measured", whole.measured_s, 10.0, 1e-3);
    close("goodput", f.goodput_bps, 8e5, 1e-3);
    let interval = f.goodput_ci95_bps.expect("batches have an interval");
    assert!(interval > 0.0 && interval < 800.0, "{interval}");
    assert_eq!(
        run(&format!("{}{}{}", measure(3.0, 1.0), chain(1), cbr("n0", "n1", 8e5, 1000))).flows[0]
            .goodput_ci95_bps,
        None
    );
    // Cut by the limit after two whole batches of the ten that count.
    let cut = run(&text("packets = 1100\nbatches = 11\nlimit = 3.5"));
    assert_eq!((cut.simulated_s, cut.flows[0].delivered_bytes / 10_000), (3.5, 25));
    close("goodput", cut.flows[0].goodput_bps, 8e5, 1e-3);
    assert!(cut.flows[0].goodput_ci95_bps.is_some());
    // Cut before anything counts.
    let nothing = run(&text("packets = 1100\nbatches = 2\nlimit = 3\nhop_delays = true"));
    let f = &nothing.flows[0];
    assert_eq!((nothing.measured_s, f.goodput_bps, f.delivered_bytes, f.segments_sent), (0.0, 0.0, 0, 0));
    assert_eq!((f.goodput_ci95_bps, f.delay_mean_s, f.loss_ratio, f.hops), (None, None, None, None));
    assert!(nothing.links.is_empty() && nothing.routing.control_packets == 0, "{nothing:?}");
    assert!(nothing.hop_delays.iter().all(|row| row.packets == 0 && row.mac_mean_s.is_none()), "{nothing:?}");
    assert!(!nothing.hop_delays.is_empty(), "the seconds are told all the same");
}

#[test]
fn batches_count_the_deliveries_of_all_flows_together() {
    let flows = format!("{}{}", cbr("n0", "n1", 8e5, 1000), cbr("n1", "n0", 4e5, 1000));
    let result = run(&format!("[measure]\npackets = 330\nbatches = 11\n{}{flows}", chain(1)));
    let bytes: Vec<u64> = result.flows.iter().map(|f| f.delivered_bytes).collect();
    assert_eq!(bytes.iter().sum::<u64>(), 300_000);
    assert_eq!(bytes[0], 200_000);
    assert_eq!(result.scheme, "tcp-gap");
}

#[test]
fn fairness_windows_hold_the_flows_that_are_active_all_through() {
    // The first is alone until 3 s; both until 5 s at 2 : 1; the second alone until 6.5 s. Windows from 1 s on.
    let keys = |rate: f64, times: &str| format!("app = \"cbr\"\nrate = {rate}\npacket = 500\n{times}");
    let network = |windows: &str| {
        let flows =
            [flow("n0", "n1", &keys(8e5, "stop = 5")), flow("n1", "n0", &keys(4e5, "start = 3\nstop = 6.5"))];
        run(&format!("{}windows = {windows}\n{}{}", measure(8.0, 1.0), chain(1), flows.concat()))
    };
    let result = network("[1, 2, 3, 0.5, 9]");
    let index = |window: &str| result.jain_windows[window];
    for whole in ["0.5", "1", "2"] {
        close(whole, index(whole).expect("two flows"), 0.9, 0.01);
    }
    // From 4 s to 7 s only the second is active at both ends, and it is not at 7 s: no window of 3 s has two.
    assert_eq!((index("3"), index("9")), (None, None));
    assert_eq!(result.jain_windows.len(), 5);
    let single = run(&format!("{}{}{}", measure(4.0, 1.0), chain(1), cbr("n0", "n1", 8e5, 500)));
    assert_eq!(single.jain_windows["1"], None);
}

#[test]
fn a_transfer_is_active_until_it_is_complete() {
    let flows =
        format!("{}{}", cbr("n0", "n1", 8e5, 500), flow("n1", "n0", "app = \"transfer\"\nbytes = 200000"));
    let network = format!("[defaults]\nscheme = \"newreno\"\n{}{flows}", chain(1));
    let index = |duration: f64| run(&format!("{}windows = [0.5]\n{network}", measure(duration, 0.0)));
    let (whole, first) = (index(6.0), index(0.5));
    let completed = whole.flows[1].completed_s.expect("it was completed");
    assert!((0.5..1.0).contains(&completed), "{completed}");
    assert_eq!(whole.jain_windows["0.5"], first.jain_windows["0.5"], "only the first window had both");
    assert!(first.jain_windows["0.5"].is_some());
}

#[test]
fn a_stopped_transfer_without_end_finishes_what_it_sent_and_falls_silent() {
    let text =
        format!("{}{}{}", measure(10.0, 0.0), chain(2), flow("n0", "n2", "scheme = \"newreno\"\nstop = 3"));
    let (result, record) = record(&text);
    let last = record.frames.last().expect("frames").at.as_secs_f64();
    assert!((2.9..4.0).contains(&last), "the last frame left at {last} s");
    // Goodput is over the measured interval, whenever the flow stopped.
    let f = &result.flows[0];
    close("goodput", f.goodput_bps, f.delivered_bytes as f64 * 8.0 / 10.0, 1e-12);
    assert!(f.delivered_bytes > 300_000);
    assert_eq!(f.completed_s, None);
}
