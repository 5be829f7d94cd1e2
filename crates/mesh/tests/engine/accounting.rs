//! Counters: what counts in which of them, and which values are null.

use super::support::{cbr, chain, close, flow, measure, node, record, row, run};
use meshpace_radio::{Frame, FrameKind};
use meshpace_units::{NodeId, Span};

fn newreno(text: &str) -> String {
    format!("[defaults]\nscheme = \"newreno\"\n{text}")
}

#[test]
fn every_datagram_of_an_overloaded_hop_is_accounted_for() {
    let network = format!(
        "{}[radio]\narp = false\nqueue = 20\n{}{}",
        measure(2.0, 0.0),
        chain(1),
        cbr("n0", "n1", 2e7, 1000)
    );
    let result = run(&newreno(&network));
    let f = &result.flows[0];
    let link = row(&result, "n0", "n1").expect("it carried something");
    let delivered = f.delivered_bytes / 1000;
    assert_eq!(f.segments_sent, 5001, "the one at 2 s included");
    assert_eq!((link.data_drops, link.retry_drops, link.collisions), (0, 0, 0));
    let inside = f.segments_sent - delivered - link.queue_drops;
    assert!((19..=21).contains(&inside), "{inside} in the node, its queue holding 20");
    close("loss", f.loss_ratio.expect("sent"), 1.0 - delivered as f64 / 5001.0, 1e-12);
    assert!(row(&result, "n1", "n0").is_none(), "nothing went back");
    assert_eq!(result.links.len(), 1);
}

#[test]
fn acknowledgements_are_counted_those_of_the_timer_too_and_the_pace_that_each_leaves() {
    let text = |scheme: &str, keys: &str| {
        let transfer = flow("n0", "n1", "app = \"transfer\"\nbytes = 50000\n");
        let head =
            format!("[defaults]\nscheme = \"{scheme}\"\nsegment = 1000\n[radio]\narp = false\n{keys}\n");
        format!("{head}{}{}{transfer}", measure(9.0, 0.0), chain(1))
    };
    let every = &run(&text("newreno", "")).flows[0];
    assert_eq!((every.acks_sent, every.timer_acks), (Some(50), Some(0)));
    assert_eq!((every.pacing_interval_acks_s, every.khd_acks_s), (None, None));
    // A segment each 120 ms: no second one comes within 100 ms.
    let keys = "[scheme.fixed-rate]\nack_policy = \"delayed\"\nfixed_rate = \"100kbps\"";
    let delayed = &run(&text("fixed-rate", keys)).flows[0];
    assert_eq!(
        (delayed.acks_sent, delayed.timer_acks),
        (Some(50), Some(49)),
        "all but the first: {delayed:?}"
    );
    close("interval", delayed.pacing_interval_acks_s.expect("paced"), 0.12, 1e-9);
    let adaptive = &run(&text("tcp-ap", "")).flows[0];
    let (interval, delay) =
        (adaptive.pacing_interval_acks_s.expect("paced"), adaptive.khd_acks_s.expect("known"));
    assert!(delay > 0.0 && interval >= delay, "{adaptive:?}");
}

#[test]
fn a_relay_drops_toward_its_own_next_hop() {
    let radio = "[radio]\narp = false\nqueue = 10\nlink_rates = [{ from = \"n1\", rate = \"1Mbps\" }]\n";
    let flows = format!("{}{}", cbr("n0", "n2", 4e5, 1000), cbr("n1", "n2", 3e6, 1000));
    let result = run(&newreno(&format!("{}{radio}{}{flows}", measure(3.0, 0.0), chain(2))));
    let (first, second) =
        (row(&result, "n0", "n1").expect("a row"), row(&result, "n1", "n2").expect("a row"));
    assert!(second.queue_drops > 500 && first.queue_drops > 0, "{first:?} {second:?}");
    let lost: u64 = result.flows.iter().map(|f| f.segments_sent - f.delivered_bytes / 1000).sum();
    let drops = first.queue_drops + second.queue_drops + first.retry_drops + second.retry_drops;
    assert!(
        (drops..=drops + 22).contains(&lost),
        "{lost} lost, {drops} dropped, ten in each node, two before it"
    );
}

/// Two stations that do not hear each other send to the one between them.
fn hidden(rts: &str) -> String {
    let nodes = format!("{}{}{}", node("a", 0.0, 0.0), node("m", 200.0, 0.0), node("b", 400.0, 0.0));
    let radio =
        format!("[radio]\narp = false\ncs_range = 250\nrts = \"{rts}\"\n[routing]\nprotocol = \"static\"\n");
    let flows = format!("{}{}", cbr("a", "m", 1.5e6, 1000), cbr("b", "m", 1.5e6, 1000));
    newreno(&format!("{}{radio}{nodes}{flows}", measure(3.0, 0.0)))
}

#[test]
fn collisions_are_counted_at_the_addressee_by_kind() {
    let bare = run(&hidden("never"));
    for from in ["a", "b"] {
        let link = row(&bare, from, "m").expect("a row");
        assert_eq!((link.collisions_rts, link.collisions_cts, link.collisions_ack), (0, 0, 0));
        assert_eq!(link.collisions, link.collisions_data);
        assert!(link.collisions > 200, "{link:?}");
        assert!(link.data_drops > 3, "{link:?}");
        assert_eq!((link.retry_drops, link.ack_drops), (link.data_drops, 0));
    }
    let protected = run(&hidden("always"));
    for from in ["a", "b"] {
        let link = row(&protected, from, "m").expect("a row");
        assert!(link.collisions_rts > 100, "{link:?}");
        assert!(link.collisions_data < link.collisions_rts / 4, "{link:?}");
        assert_eq!(
            link.collisions,
            link.collisions_rts + link.collisions_cts + link.collisions_data + link.collisions_ack
        );
    }
    // Every datagram is somewhere: delivered, given up, or one of at most 50 in its node.
    for result in [bare, protected] {
        for f in &result.flows {
            let link = row(&result, &f.from, "m").expect("a row");
            let gone = f.delivered_bytes / 1000 + link.data_drops + link.queue_drops;
            // One whose ACK was lost arrived and was given up too.
            assert!(gone + 51 >= f.segments_sent, "{f:?} {link:?}");
        }
    }
}

#[test]
fn retries_end_at_their_limits() {
    for (rts, limit, kind) in [("never", 7, FrameKind::Data), ("always", 7, FrameKind::Rts)] {
        // The receiver is gone: out of range although the static route, made at 250 m, had it. It moves at 1000 m/s.
        let nodes = format!("{}{}", node("a", 0.0, 0.0), node("b", 100.0, 0.0));
        let radio = format!("[radio]\narp = false\nrts = \"{rts}\"\n[routing]\nprotocol = \"static\"\n");
        let walk = "[mobility]\nmodel = \"random-waypoint\"\nspeed_min = 999\nspeed_max = 1000\narea = [100000, 100000]\nnodes = [\"b\"]\n";
        let keys = "app = \"cbr\"\nrate = 8000\npacket = 100\nstart = 20\nstop = 29.5";
        let text = newreno(&format!("{}{radio}{walk}{nodes}{}", measure(31.0, 0.0), flow("a", "b", keys)));
        let (result, record) = record(&text);
        let link = row(&result, "a", "b").expect("a row");
        assert_eq!((link.data_drops, link.collisions, result.flows[0].delivered_bytes), (95, 0, 0), "{rts}");
        let sent = record.frames.iter().filter(|seen| seen.frame.kind == kind).count();
        assert_eq!((sent, record.frames.len()), (95 * limit, 95 * limit), "{rts}");
        assert_eq!(result.flows[0].loss_ratio, Some(1.0));
    }
}

#[test]
fn acknowledgements_given_up_count_as_such_and_against_their_own_direction() {
    let radio = "[radio]\nrate = \"2Mbps\"\n";
    let result = run(&newreno(&format!("{}{radio}{}{}", measure(30.0, 0.0), chain(8), flow("n0", "n8", ""))));
    let toward = |data: bool| {
        let rows = result.links.iter().filter(move |l| (l.from < l.to) == data);
        rows.fold([0, 0, 0], |sum, l| [sum[0] + l.data_drops, sum[1] + l.ack_drops, sum[2] + l.retry_drops])
    };
    let ([data, ack, all], [data_back, ack_back, all_back]) = (toward(true), toward(false));
    assert_eq!((ack, data_back), (0, 0));
    assert_eq!((data, ack_back), (all, all_back), "static routes send no control packets");
    assert!(data > 0 && ack_back > 0, "{data} {ack_back}");
    assert_eq!(result.links.len(), 16);
}

#[test]
fn sums_and_indices_are_those_of_the_flows() {
    let flows =
        format!("{}{}{}", cbr("n0", "n1", 8e5, 500), cbr("n0", "n3", 2e5, 500), cbr("n2", "n3", 4e5, 500));
    let result = run(&newreno(&format!("{}{}{flows}", measure(6.0, 1.0), chain(3))));
    let goodput: Vec<f64> = result.flows.iter().map(|f| f.goodput_bps).collect();
    let hops: Vec<f64> = result.flows.iter().map(|f| f.hops.expect("delivered") as f64).collect();
    assert_eq!(hops, [1.0, 3.0, 1.0]);
    let jain = |values: Vec<f64>| {
        let (sum, squares) = values.iter().fold((0.0, 0.0), |(a, b), x| (a + x, b + x * x));
        sum * sum / (values.len() as f64 * squares)
    };
    let zip = |with: fn(f64, f64) -> f64| goodput.iter().zip(&hops).map(|(g, h)| with(*g, *h)).collect();
    close("aggregate", result.aggregate_goodput_bps, goodput.iter().sum(), 1e-12);
    close("jain", result.jain.expect("flows"), jain(goodput.clone()), 1e-12);
    close("per hop", result.jain_per_hop.expect("hops"), jain(zip(|g, h| g / h)), 1e-12);
    close("times hops", result.jain_times_hops.expect("hops"), jain(zip(|g, h| g * h)), 1e-12);
    close("utility", result.log_utility, goodput.iter().map(|g| (g / 1e3).ln()).sum(), 1e-9);
}

#[test]
fn a_flow_that_gets_nothing_makes_the_utility_zero_and_has_no_route() {
    let silent = flow("n1", "n0", "app = \"cbr\"\nrate = \"1kbps\"\npacket = 1000\nstart = 2.5");
    let text = format!("{}{}{}{silent}", measure(3.0, 1.0), chain(1), cbr("n0", "n1", 8e5, 500));
    let result = run(&newreno(&text.replace("start = 2.5", "start = 2.9999")));
    assert_eq!((result.log_utility, result.jain), (0.0, Some(0.5)));
    assert_eq!((result.jain_per_hop, result.jain_times_hops), (None, None));
    let f = &result.flows[1];
    assert_eq!((f.hops, f.delay_mean_s, f.delay_std_s), (None, None, None));
    assert_eq!((f.segments_sent, f.loss_ratio, f.goodput_bps), (1, Some(1.0), 0.0));
}

#[test]
fn what_does_not_apply_is_null() {
    let flows = [
        cbr("n0", "n1", 8e5, 500),
        flow("n0", "n1", "scheme = \"newreno\""),
        flow("n0", "n1", "app = \"transfer\"\nbytes = 1000"),
        flow("n0", "n1", "app = \"http\""),
        flow("n0", "n1", "app = \"transfer\"\nbytes = 1000\nstart = 3.5"),
    ];
    let radio = "[radio]\narp = false\n"; // of two packets that come at once the first would wait 3 s
    let result = run(&newreno(&format!("{}{radio}{}{}", measure(4.0, 1.0), chain(1), flows.concat())));
    let value = serde_json::to_value(&result).expect("JSON");
    let null = |flow: usize| -> Vec<String> {
        let fields = value["flows"][flow].as_object().expect("an object").iter();
        fields.filter(|(_, v)| v.is_null()).map(|(k, _)| k.clone()).collect()
    };
    let unpaced = |also: &[&str]| -> Vec<String> {
        let rates = ["khd_acks_s", "pacing_interval_acks_s", "pacing_interval_s", "pacing_rate_bps"];
        let mut all: Vec<_> = rates.iter().chain(also).map(ToString::to_string).collect();
        all.sort();
        all
    };
    let udp = ["completed_s", "cwnd_mean", "fast_retransmits", "goodput_ci95_bps", "acks_sent", "timer_acks"];
    let udp = [&udp[..], &["retransmits", "srtt_s", "timeouts", "transfers"]].concat();
    assert_eq!(null(0), unpaced(&udp));
    assert_eq!(null(1), unpaced(&["completed_s", "goodput_ci95_bps", "transfers"]));
    // Over before the warm-up was: nothing was sent, so there is no loss, no delay, no route.
    let delay = ["delay_mean_s", "delay_p50_s", "delay_p95_s", "delay_p99_s", "delay_std_s"];
    let packets = ["packet_delay_p50_s", "packet_delay_p95_s"];
    let before = [&delay[..], &packets, &["goodput_ci95_bps", "hops", "loss_ratio", "transfers"]].concat();
    assert_eq!(null(2), unpaced(&before));
    assert_eq!(null(3), unpaced(&["completed_s", "goodput_ci95_bps"]));
    // One packet has no deviation; one segment was timed.
    assert_eq!(null(4), unpaced(&["delay_std_s", "goodput_ci95_bps", "transfers"]));
    assert_eq!(value["gateways"], serde_json::json!([]));
}

#[test]
fn wired_hops_are_not_hops_and_wired_drops_are_queue_drops() {
    let topology = "[topology]\nkind = \"chain\"\nhops = 2\nwired_rate = \"200kbps\"\nwired_queue = 5\n[routing]\nprotocol = \"static\"\n";
    let result = run(&newreno(&format!("{}{topology}{}", measure(10.0, 2.0), flow("B", "n0", ""))));
    assert_eq!(result.flows[0].hops, Some(2));
    let first = row(&result, "B", "RT2").expect("every wired direction has a row");
    assert!(
        first.data_drops > 0 && first.queue_drops == first.data_drops && first.ack_drops == 0,
        "{first:?}"
    );
    assert_eq!((first.retry_drops, first.collisions), (0, 0));
    // Datagrams fill the other direction: acknowledgements are lost there too.
    let flows = format!("{}{}", flow("B", "n0", ""), cbr("n0", "B", 2.4e5, 1000));
    let crowded = run(&newreno(&format!("{}{topology}{flows}", measure(30.0, 2.0))));
    let up = row(&crowded, "n2", "RT1").expect("every wired direction has a row");
    assert!(
        up.ack_drops > 0 && up.data_drops > 0 && up.queue_drops == up.ack_drops + up.data_drops,
        "{up:?}"
    );
    let names: Vec<_> = result.links.iter().map(|l| format!("{}-{}", l.from, l.to)).collect();
    let wired = ["n2-RT1", "RT1-n2", "RT1-RT2", "RT2-RT1", "RT2-B", "B-RT2"];
    assert_eq!(names, ["n0-n1", "n1-n0", "n1-n2", "n2-n1"].iter().chain(&wired).copied().collect::<Vec<_>>());
}

/// Attempts and air time of the rows, held against every frame that was seen on the air.
#[test]
fn attempts_and_air_time_are_those_of_the_frames() {
    for rts in ["always", "never"] {
        // A relay under pressure from both sides, so that there are retries; the warm-up cuts exchanges in two.
        let text = format!("{}[radio]\nrts = \"{rts}\"\n{}", measure(3.0, 1.0), chain(4));
        let flows = format!("{}{}", flow("n0", "n4", ""), flow("n4", "n0", ""));
        let (result, record) = record(&newreno(&format!("{text}{flows}")));
        let id = |node: NodeId| format!("n{}", node.0);
        let measured = record.frames.iter().filter(|seen| seen.us() >= 1e6).map(|seen| &seen.frame);
        let mut retries = 0;
        for link in &result.links {
            let exchange = |f: &&&Frame| {
                let (from, to) = (id(f.from), f.to.map(id));
                let asks = matches!(f.kind, FrameKind::Rts | FrameKind::Data);
                let (from, to) = if asks { (Some(from), to) } else { (to, Some(from)) };
                from.as_ref() == Some(&link.from) && to.as_ref() == Some(&link.to)
            };
            let frames: Vec<_> = measured.clone().filter(|f| exchange(&f)).collect();
            let opens = |f: &&&Frame| f.kind == FrameKind::Rts || f.kind == FrameKind::Data && !f.protected;
            assert_eq!(link.attempts, Some(frames.iter().filter(opens).count() as u64), "{link:?}");
            let airtime: Span = frames.iter().map(|f| f.airtime).sum();
            assert_eq!(link.airtime_s, Some(airtime.as_secs_f64()), "{link:?}");
            retries += frames.iter().filter(|f| f.retry).count();
        }
        let total: f64 = result.links.iter().filter_map(|link| link.airtime_s).sum();
        close("all", total, measured.map(|f| f.airtime).sum::<Span>().as_secs_f64(), 1e-9);
        assert!(retries > 20, "{retries} retries");
    }
    let result = run(&newreno(&format!(
        "{}[topology]\nkind = \"chain\"\nhops = 1\n{}",
        measure(2.0, 0.0),
        flow("B", "n0", "")
    )));
    let wired = result.links.iter().filter(|link| link.from == "B").collect::<Vec<_>>();
    assert!(wired.iter().all(|link| link.attempts.is_none() && link.airtime_s.is_none()) && wired.len() == 1);
}
