//! Paths, periods, a connection a file, what gateways and flows tell: the keys that several studies need.

use super::support::{cbr, chain, close, flow, json, measure, record, run};
use meshpace_relay::packet::Body;
use std::collections::BTreeSet;

const NEWRENO: &str = "[defaults]\nscheme = \"newreno\"\n";
const GRID: &str =
    "[topology]\nkind = \"grid\"\nrows = 2\ncols = 3\ngateway = \"g0_2\"\n[routing]\nprotocol = \"static\"\n";
const AROUND: &str = "path = [\"g0_0\", \"g1_0\", \"g1_1\", \"g1_2\", \"g0_2\"]";

#[test]
fn two_flows_between_the_same_nodes_take_different_ways_and_come_back_by_them() {
    let flows = [
        flow("g0_0", "g0_2", AROUND),
        flow("g0_0", "g0_2", ""),
        cbr("g0_0", "g0_2", 5e4, 500) + AROUND + "\n",
    ];
    let (result, seen) = record(&format!("{NEWRENO}{}{GRID}{}", measure(8.0, 0.0), flows.concat()));
    assert_eq!(result.flows.iter().map(|f| f.hops).collect::<Vec<_>>(), [Some(4), Some(2), Some(4)]);
    assert!(result.flows.iter().all(|f| f.delivered_bytes > 20_000), "{:?}", result.flows);
    // Acknowledgements of the first flow come back over the second row, those of the second flow over the first.
    let back = |port: u16| -> BTreeSet<u32> {
        let acks = seen.frames.iter().filter(|seen| {
            matches!(seen.packet.as_ref().map(|p| &p.body), Some(Body::Tcp(s)) if s.source_port == 80 && s.destination_port == port)
        });
        acks.map(|seen| seen.frame.from.0).collect()
    };
    assert_eq!(back(1024).into_iter().collect::<Vec<_>>(), [2, 3, 4, 5], "g0_2, then the second row");
    assert_eq!(back(1025).into_iter().collect::<Vec<_>>(), [1, 2], "g0_2 and g0_1");
}

#[test]
fn what_comes_back_takes_the_way_that_it_has_of_its_own() {
    let ways = "path = [\"g0_0\", \"g0_1\", \"g0_2\"]\npath_back = [\"g0_2\", \"g1_2\", \"g1_1\", \"g1_0\", \"g0_0\"]";
    let (result, seen) =
        record(&format!("{NEWRENO}{}{GRID}{}", measure(8.0, 0.0), flow("g0_0", "g0_2", ways)));
    assert!(result.flows[0].delivered_bytes > 20_000, "{:?}", result.flows);
    let senders = |of: fn(u16, u16) -> bool| -> Vec<u32> {
        let packets = seen.frames.iter().filter(|seen| {
            matches!(seen.packet.as_ref().map(|p| &p.body), Some(Body::Tcp(s)) if of(s.source_port, s.destination_port))
        });
        packets.map(|seen| seen.frame.from.0).collect::<BTreeSet<_>>().into_iter().collect()
    };
    assert_eq!(senders(|_, to| to == 80), [0, 1]);
    assert_eq!(senders(|from, _| from == 80), [2, 3, 4, 5]);
}

#[test]
fn a_path_that_is_the_route_changes_nothing() {
    let straight = "path = [\"n0\", \"n1\", \"n2\", \"n3\"]";
    for (scheme, from, to) in
        [("newreno", "n0", "n3"), ("tcp-ap", "n0", "n3"), ("tcp-gap", "n0", "B"), ("tcp-gap", "B", "n0")]
    {
        let path = if from == "B" { "path = [\"n3\", \"n2\", \"n1\", \"n0\"]" } else { straight };
        let text = |path: &str| {
            let rates = "[radio]\nlink_rates = [{ from = \"n1\", rate = \"2Mbps\" }]\n";
            format!(
                "[defaults]\nscheme = \"{scheme}\"\n{}{rates}{}{}",
                measure(6.0, 1.0),
                chain(3),
                flow(from, to, path)
            )
        };
        let [mut routed, mut told] = [run(&text("")), run(&text(path))];
        routed.scenario_sha256.clear();
        told.scenario_sha256.clear();
        assert_eq!(json(routed), json(told), "{scheme} from {from} to {to}");
    }
}

#[test]
fn a_path_leads_through_its_own_gateway_both_ways() {
    // n0 and n4 of a chain are gateways; n1 is nearer to n0. Its flow goes the long way.
    let wired = "[[node]]\nid = \"H\"\nrole = \"wired\"\n[[link]]\na = \"H\"\nb = \"n0\"\n[[link]]\na = \"H\"\nb = \"n4\"\n";
    let text = |path: &str, from: &str, to: &str| {
        format!(
            "[defaults]\nscheme = \"tcp-gap\"\n{}{}{wired}{}",
            measure(8.0, 1.0),
            chain(4),
            flow(from, to, path)
        )
    };
    let up = "path = [\"n1\", \"n2\", \"n3\", \"n4\"]";
    let down = "path = [\"n4\", \"n3\", \"n2\", \"n1\"]";
    for (from, to, path) in [("n1", "H", up), ("H", "n1", down)] {
        let (near, far) = (run(&text("", from, to)), run(&text(path, from, to)));
        assert_eq!((near.flows[0].hops, far.flows[0].hops), (Some(1), Some(3)), "{from} {to}");
        assert!(far.flows[0].goodput_bps > 1e5);
        let used = |result: &meshpace_mesh::RunResult| -> Vec<bool> {
            result.gateways.iter().map(|g| g.options_written > 0 || g.wait_p50_s.is_some()).collect()
        };
        assert_eq!((used(&near), used(&far)), (vec![true, false], vec![false, true]), "{from} {to}");
    }
}

#[test]
fn a_flow_rests_between_its_periods_and_its_connection_lives_on() {
    let on = "on = [[1, 4], [7, 10]]";
    for keys in [
        on.to_owned(),
        format!("{on}\napp = \"cbr\"\nrate = 200000\npacket = 500"),
        format!("{on}\napp = \"self-similar\"\nrate = 2000000\npacket = 500\npause_mean = 0.05"),
    ] {
        let (result, seen) =
            record(&format!("{NEWRENO}{}{}{}", measure(12.0, 0.0), chain(1), flow("n0", "n1", &keys)));
        let at: Vec<f64> = seen.data_from(0).map(|seen| seen.us() / 1e6).collect();
        let within = |from: f64, to: f64| at.iter().filter(|at| (from..to).contains(*at)).count();
        assert!(within(1.0, 4.0) > 100 && within(7.0, 10.0) > 100, "{keys}");
        // What was under way when the period ended is still delivered.
        assert_eq!(within(0.0, 1.0) + within(4.5, 7.0) + within(10.5, 12.0), 0, "{keys}");
        assert!(result.flows[0].loss_ratio.is_some_and(|loss| loss < 0.01), "{keys}");
        let syns = seen.frames.iter().filter(|seen| {
            matches!(seen.packet.as_ref().map(|p| &p.body), Some(Body::Tcp(s)) if s.flags.syn && !s.flags.ack)
        });
        assert_eq!(syns.count(), usize::from(!keys.contains("app")), "one connection");
    }
}

#[test]
fn constant_rate_keeps_its_step_in_every_period() {
    // A packet every second, pauses shorter than that and of no length: no period begins with two trains of packets.
    let keys = "on = [[0, 2.5], [2.7, 4.2], [4.2, 6.3]]\napp = \"cbr\"\nrate = 4000\npacket = 500";
    let (_, seen) = record(&format!("{NEWRENO}{}{}{}", measure(8.0, 0.0), chain(1), flow("n0", "n1", keys)));
    let at: Vec<f64> = seen.data_from(0).map(|seen| (seen.us() / 1e5).round() / 10.0).collect();
    assert_eq!(at, [0.0, 1.0, 2.0, 2.7, 3.7, 4.2, 5.2, 6.2]);
}

#[test]
fn fairness_counts_a_flow_only_while_it_is_on() {
    let flows = [flow("n0", "n1", ""), flow("n0", "n1", "on = [[0, 1], [2, 3]]")].concat();
    // Of two SYNs that come at once the first would wait for an address, give way, and come again after 3 s.
    let head = "[measure]\nduration = 3\nwarmup = 0\nwindows = [1]\n[radio]\narp = false\n";
    let result = run(&format!("{NEWRENO}{head}{}{flows}", chain(1)));
    // Of three windows the middle one has one active flow, whose share is fair.
    assert!(result.jain_windows["1"].is_some_and(|index| index > 0.8), "{:?}", result.jain_windows);
}

#[test]
fn every_file_has_a_connection_of_its_own() {
    let keys = "app = \"http\"\nfile_mean = 20000\npause_mean = 0.2\nconnection_per_file = ";
    let text = |value: bool, scheme: &str, to: &str| {
        let head = format!("[defaults]\nscheme = \"{scheme}\"\n{}", measure(20.0, 0.0));
        format!("{head}{}{}", chain(2), flow("n0", to, &format!("{keys}{value}")))
    };
    for (scheme, to) in [("newreno", "n2"), ("newreno-rfc", "n2"), ("tcp-gap", "B")] {
        let (result, seen) = record(&text(true, scheme, to));
        let f = &result.flows[0];
        let files = f.transfers.expect("files");
        let mut ports = BTreeSet::new();
        for seen in seen.frames.iter().filter(|seen| seen.frame.from.0 == 0) {
            if let Some(Body::Tcp(segment)) = seen.packet.as_ref().map(|p| &p.body) {
                ports.insert(segment.source_port);
            }
        }
        assert!(files > 10, "{scheme}: {f:?}");
        assert!((ports.len() as u64).abs_diff(files) <= 1, "{scheme}: {} ports, {files} files", ports.len());
        assert!(f.segments_sent * 1460 >= f.delivered_bytes, "{scheme}: earlier connections count: {f:?}");
        assert!(f.delay_mean_s.is_some() && f.loss_ratio.is_some_and(|loss| loss < 0.05), "{scheme}: {f:?}");
    }
    // ns-2's TCP keeps its window over a pause; a new connection starts slowly.
    let goodput = |value| run(&text(value, "newreno", "n2")).flows[0].goodput_bps;
    assert!(goodput(true) < goodput(false));
}

#[test]
fn a_file_by_other_clocks_and_one_that_is_not_through() {
    let files = |mean: u64, keys: &str| {
        let keys = format!(
            "app = \"http\"\nfile_mean = {mean}\npause_mean = 0.2\nconnection_per_file = true\n{keys}"
        );
        run(&format!("{NEWRENO}{}{}{}", measure(20.0, 0.0), chain(2), flow("n0", "B", &keys))).flows.remove(0)
    };
    // The same run; the handshake of 240 ms over the wire is left out of each file's time.
    let (write, first) = (files(20_000, ""), files(20_000, "file_clock = \"first-packet\""));
    assert_eq!((write.delivered_bytes, write.transfers), (first.delivered_bytes, first.transfers));
    assert!(first.goodput_bps > 1.2 * write.goodput_bps, "{} {}", first.goodput_bps, write.goodput_bps);
    // A file of a gigabyte is never through.
    let (left_out, counted) =
        (files(1_000_000_000, ""), files(1_000_000_000, "unfinished_files = \"counted\""));
    assert_eq!((left_out.transfers, left_out.goodput_bps), (Some(0), 0.0));
    assert_eq!(counted.transfers, Some(1));
    assert_eq!(counted.delivered_bytes, left_out.delivered_bytes);
    close("goodput", counted.goodput_bps, counted.delivered_bytes as f64 * 8.0 / 19.5, 0.03);
}

#[test]
fn gateways_tell_how_long_packets_waited() {
    let text = |scheme: &str, from: &str, to: &str| {
        format!(
            "[defaults]\nscheme = \"{scheme}\"\n{}{}{}",
            measure(30.0, 10.0),
            chain(4),
            flow(from, to, "")
        )
    };
    let down = run(&text("tcp-gap", "B", "n0"));
    let gateway = &down.gateways[0];
    let (median, most) = (gateway.wait_p50_s.expect("waits"), gateway.wait_p95_s.expect("waits"));
    assert!(median > 0.05 && median <= most, "{gateway:?}");
    // By Little's law what waits is what comes in times how long it waits; the longest queue is longer than the mean.
    let mean = median * down.flows[0].goodput_bps / (8.0 * 1460.0);
    assert!(gateway.queue_max as f64 > mean && gateway.queue_max < 64, "{mean} {gateway:?}");
    assert_eq!((gateway.options_written, gateway.aqm_drops, gateway.aqm_marks), (0, 0, 0));
    // The delay is mostly this wait.
    close("delay", down.flows[0].delay_p50_s.expect("packets"), median + 0.14, 0.2);
    let up = run(&text("tcp-gap", "n0", "B"));
    let gateway = &up.gateways[0];
    assert_eq!((gateway.wait_p50_s, gateway.wait_p95_s, gateway.queue_max), (None, None, 0));
    let acks = up.flows[0].delivered_bytes / 1460;
    assert!(
        gateway.options_written.abs_diff(acks) < 20,
        "{} options, {acks} acknowledgements",
        gateway.options_written
    );
}
