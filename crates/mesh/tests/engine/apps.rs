//! The applications.

use super::support::{chain, close, flow, link, measure, node, record, run, run_seed, scenario, wired};
use meshpace_relay::packet::Body;

/// A wired pair: applications alone, without a mesh in the way.
fn pair(measure: &str, flow: &str) -> String {
    let hosts = format!("{}{}{}", wired("a"), wired("b"), node("n", 0.0, 0.0));
    format!("[defaults]\nscheme = \"newreno\"\n{measure}{hosts}{}{flow}", link("a", "b", "100Mbps", "1ms"))
}

#[test]
fn a_transfer_delivers_exactly_its_bytes_and_says_when() {
    let keys = "scheme = \"newreno\"\napp = \"transfer\"\nbytes = 100001\nstart = 0.5";
    let result = run(&format!("{}{}{}", measure(8.0, 0.0), chain(2), flow("n0", "n2", keys)));
    let f = &result.flows[0];
    assert_eq!((f.delivered_bytes, f.segments_sent, f.retransmits), (100_001, 69, Some(0)));
    assert_eq!((f.hops, f.loss_ratio, f.transfers), (Some(2), Some(0.0), None));
    let completed = f.completed_s.expect("it was completed");
    close("goodput", f.goodput_bps, 100_001.0 * 8.0 / (completed - 0.5), 1e-9);
    assert!((0.6..2.0).contains(&completed), "{completed}");
}

#[test]
fn a_transfer_that_does_not_end_counts_to_the_end_of_the_run() {
    let keys = "scheme = \"newreno\"\napp = \"transfer\"\nbytes = 100000000\nstart = 3";
    let result = run(&format!("{}{}{}", measure(5.0, 1.0), chain(1), flow("n0", "n1", keys)));
    let f = &result.flows[0];
    assert_eq!(f.completed_s, None);
    close("goodput", f.goodput_bps, f.delivered_bytes as f64 * 8.0 / 2.0, 1e-9);
}

#[test]
fn web_goodput_is_that_of_the_files_not_of_the_pauses() {
    let web = |pause: f64| {
        let keys =
            format!("app = \"http\"\nfile_mean = 50000\nfile_shape = 5\nwindow = 4\npause_mean = {pause}");
        run(&pair(&measure(60.0, 0.0), &flow("a", "b", &keys))).flows[0].clone()
    };
    let (busy, idle) = (web(0.05), web(2.0));
    let (many, few) = (busy.transfers.expect("web"), idle.transfers.expect("web"));
    assert!(many > 10 * few && few > 15, "{many} {few}");
    // A file takes a few round trips of 2 ms; a pause of 2 s between files must not show.
    close("goodput", idle.goodput_bps, busy.goodput_bps, 0.25);
    close("mean file", busy.delivered_bytes as f64 / many as f64, 50_000.0, 0.05);
    assert!(idle.goodput_bps > 20.0 * idle.delivered_bytes as f64 * 8.0 / 60.0);
}

#[test]
fn pauses_and_sizes_differ_between_flows_and_seeds() {
    let text = pair(&measure(10.0, 0.0), &flow("a", "b", "app = \"http\"\ncount = 2"));
    let (one, two) = (run_seed(&text, 1), run_seed(&text, 2));
    let bytes = [&one.flows[0], &one.flows[1], &two.flows[0], &two.flows[1]].map(|f| f.delivered_bytes);
    for (i, a) in bytes.iter().enumerate() {
        assert!(bytes[i + 1..].iter().all(|b| a != b), "{bytes:?}");
    }
}

#[test]
fn bursts_and_pauses_have_their_means() {
    // Bursts of 10 kB at 1 Mbit/s last 80 ms, pauses 120 ms: 40 % of the time.
    let keys = "app = \"self-similar\"\nrate = \"1Mbps\"\npacket = 500\nfile_mean = 10000\nfile_shape = 4\npause_mean = 0.12\ncount = 4";
    let result = run(&pair(&measure(100.0, 0.0), &flow("a", "b", keys)));
    close("mean rate", result.aggregate_goodput_bps / 4.0, 4e5, 0.03);
    for f in &result.flows {
        assert_eq!((f.loss_ratio.map(|loss| loss < 0.01), f.retransmits), (Some(true), None));
    }
}

#[test]
fn a_burst_keeps_its_rate_and_ends_with_what_is_left() {
    let keys = "app = \"self-similar\"\nrate = 8000\npacket = 500\nfile_mean = 2200\nfile_shape = 100\npause_mean = 1";
    let text = format!("{}{}{}", measure(120.0, 0.0), chain(1), flow("n0", "n1", keys));
    let (_, record) = record(&text);
    let sent: Vec<_> = record
        .data_from(0)
        .filter_map(|seen| match seen.packet.as_ref()?.body {
            Body::Udp(datagram) => Some((datagram.stamp.sent, datagram.payload.0)),
            _ => None,
        })
        .collect();
    let (mut within, mut between) = (0, 0);
    for pair in sent.windows(2) {
        let gap = (pair[1].0 - pair[0].0).as_micros();
        match pair[0].1 {
            500 if gap == 500_000 => within += 1,
            // The pause, at least 99 hundredths of its mean, begins when the last packet has passed at the burst's rate.
            payload => {
                assert!(gap >= payload * 1000 + 990_000, "{pair:?}");
                between += 1;
            }
        }
    }
    assert!(within > 50 && between > 10, "{within} {between}");
}

#[test]
fn count_makes_flows_of_their_own() {
    let keys = "id = \"web\"\ncount = 3\napp = \"transfer\"\nbytes = 3000";
    let result = run(&pair(&measure(5.0, 0.0), &flow("a", "b", keys)));
    let ids: Vec<_> = result.flows.iter().map(|f| (f.id.as_str(), f.delivered_bytes)).collect();
    assert_eq!(ids, [("web.1", 3000), ("web.2", 3000), ("web.3", 3000)]);
    assert_eq!(scenario(&pair(&measure(5.0, 0.0), &flow("a", "b", "count = 4")), 1).flows[3].id, "4");
}

#[test]
fn segment_and_window_are_kept() {
    let text = format!(
        "{}{}{}",
        measure(2.0, 0.0),
        chain(1),
        flow("n0", "n1", "scheme = \"newreno\"\nsegment = 512\nwindow = 1")
    );
    let (result, record) = record(&text);
    let f = &result.flows[0];
    assert_eq!((f.cwnd_mean, f.timeouts, f.delivered_bytes % 512), (Some(1.0), Some(0), 0));
    let mut sizes: Vec<_> = record.data_from(0).map(|seen| seen.frame.size.0).collect();
    sizes.dedup();
    assert_eq!(sizes, [512 + 40 + 34]);
    // Stop and wait: both stations send in turn, each 50 us after the MAC's ACK of the other at the earliest.
    let turn = 314.0 + 50.0 + 300.0 + 676.0 + 192.0;
    close("rate", f.goodput_bps, 512.0 * 8.0 / ((2.0 * turn + (586.0 + 74.0) * 8.0 / 11.0) * 1e-6), 0.1);
}

#[test]
fn an_echo_takes_both_ways_and_counts_when_its_answer_is_back() {
    // 972 + 28 bytes are 10 ms on a link of 800 kbit/s, and 5 ms on the way: 15 ms there, 15 ms back.
    let hosts =
        format!("{}{}{}{}", wired("a"), wired("b"), node("n", 0.0, 0.0), link("a", "b", "800kbps", "5ms"));
    let keys = "app = \"echo\"\npacket = 972\ninterval = \"100ms\"\nstop = 2";
    let result = run(&format!("{}{hosts}{}", measure(4.0, 0.0), flow("a", "b", keys)));
    let f = &result.flows[0];
    assert_eq!((f.app, f.segments_sent, f.delivered_bytes), ("echo", 20, 20 * 972));
    assert_eq!((f.loss_ratio, f.retransmits, f.hops), (Some(0.0), None, Some(0)));
    for (what, delay) in [("mean", f.delay_mean_s), ("99 %", f.delay_p99_s), ("round trip", f.srtt_s)] {
        close(what, delay.expect("answers"), 0.030, 1e-9);
    }
}

#[test]
fn an_echo_that_is_not_answered_is_lost_and_one_on_the_air_goes_there_and_back() {
    let keys = "app = \"echo\"\npacket = 56\ninterval = \"50ms\"";
    let result = run(&format!("{}{}{}", measure(5.0, 0.0), chain(3), flow("n0", "n3", keys)));
    let f = &result.flows[0];
    // At 0, 50 ms, ... 5 s.
    assert_eq!((f.segments_sent, f.hops), (101, Some(3)));
    let carried = |from: &str, to: &str| {
        result.links.iter().any(|l| (l.from.as_str(), l.to.as_str()) == (from, to) && l.airtime_s > Some(0.0))
    };
    assert!(carried("n2", "n3") && carried("n3", "n2"), "{:?}", result.links);
    // A neighbour out of reach: every request is lost, and none has a delay.
    let apart = format!("{}{}", node("a", 0.0, 0.0), node("b", 5000.0, 0.0));
    let text = format!(
        "[topology]\nkind = \"explicit\"\nconnected = false\n[routing]\nprotocol = \"static\"\n{}{apart}{}",
        measure(5.0, 0.0),
        flow("a", "b", keys)
    );
    let f = run(&text).flows[0].clone();
    assert_eq!((f.loss_ratio, f.delay_mean_s, f.srtt_s, f.delivered_bytes), (Some(1.0), None, None, 0));
}
