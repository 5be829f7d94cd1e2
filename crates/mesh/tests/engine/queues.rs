//! What waits in the nodes' queues ([measure] queues), and how evenly packets leave a MAC (of hop_delays).

use super::support::{cbr, chain, close, flow, json, measure, run};
use meshpace_mesh::RunResult;
use meshpace_mesh::result::{HopDelayResult, QueueResult};

const QUEUE: u64 = 20;

fn measured(duration: f64, rest: &str) -> String {
    let measure = format!("{}queues = true\nhop_delays = true\n", measure(duration, 2.0));
    format!("{measure}[radio]\nqueue = {QUEUE}\narp = false\n[defaults]\nsegment = 1000\n{rest}")
}

fn queue<'a>(result: &'a RunResult, node: &str) -> &'a QueueResult {
    result.queues.iter().find(|row| row.node == node).unwrap_or_else(|| panic!("nothing of {node}"))
}

fn times<'a>(result: &'a RunResult, node: &str) -> &'a HopDelayResult {
    let found = result.hop_delays.iter().find(|row| row.node == node);
    found.unwrap_or_else(|| panic!("nothing of {node} in {:?}", result.hop_delays))
}

fn known(value: Option<f64>) -> f64 {
    value.expect("packets came through")
}

/// Little's law: what waits is what comes in a second times how long one waits, which another measurement knows.
#[test]
fn what_waits_is_the_rate_times_the_wait() {
    for rate in [1e6, 1.3e6] {
        let result = run(&measured(32.0, &format!("{}{}", chain(1), cbr("n0", "n1", rate, 1000))));
        let (here, row) = (queue(&result, "n0"), times(&result, "n0"));
        let through = row.packets as f64 / result.measured_s;
        let wait = known(row.node_mean_s) - known(row.mac_mean_s);
        let mean = known(here.packets_mean);
        assert!((mean - through * wait).abs() < 0.02 * (1.0 + mean), "{mean} wait, {through} a s, {wait} s");
        let of_flow = &here.flows[0];
        assert_eq!((of_flow.data_mean, of_flow.data_max), (here.packets_mean, here.packets_max));
        assert_eq!((of_flow.ack_mean, of_flow.ack_max), (Some(0.0), 0));
        assert_eq!((queue(&result, "n1").packets_mean, queue(&result, "n1").packets_max), (Some(0.0), 0));
    }
}

/// More than the radio carries: the queue is full, one less than `queue` behind the packet at the MAC (ns2-behaviour 4.4), and
/// no packet beyond that is ever counted.
#[test]
fn a_queue_that_overflows_holds_what_it_has_room_for() {
    let result = run(&measured(12.0, &format!("{}{}", chain(1), cbr("n0", "n1", 4e6, 1000))));
    let here = queue(&result, "n0");
    assert_eq!(here.packets_max, QUEUE - 1);
    close("packets that wait", known(here.packets_mean), (QUEUE - 1) as f64, 0.05);
}

/// Flows of one source with windows of 2, 3 and 8 over 1, 2 and 3 hops, in one queue (Osipov and Tschudin 2005, 6.2).
#[test]
fn what_waits_is_told_by_flow() {
    let flows: String = [("n1", 2), ("n2", 3), ("n3", 8)]
        .map(|(to, window)| flow("n0", to, &format!("window = {window}\nscheme = \"newreno\"")))
        .concat();
    let result = run(&measured(22.0, &format!("{}{flows}", chain(3))));
    let source = queue(&result, "n0");
    let means: Vec<f64> = source.flows.iter().map(|row| known(row.data_mean)).collect();
    assert!(means[0] < means[2] && means[1] < means[2], "{means:?}");
    close("all of them", means.iter().sum(), known(source.packets_mean), 1e-9);
    for (row, window) in source.flows.iter().zip([2, 3, 8]) {
        assert!(row.data_max <= window && row.ack_max == 0, "{row:?}");
    }
    let relay = queue(&result, "n1");
    assert!(relay.flows.iter().any(|row| known(row.ack_mean) > 0.0), "{relay:?}");
}

/// Routes break and queues are purged; what leaves that way is counted out, too.
#[test]
fn asking_changes_nothing_whatever_becomes_of_packets() {
    for scheme in ["newreno", "llap", "split", "tcp-gap"] {
        let rest = format!("{}{}", chain(5).replace("static", "aodv"), flow("n0", "n5", ""));
        let text = measured(12.0, &rest)
            .replace("segment = 1000", &format!("segment = 1000\nscheme = \"{scheme}\""));
        let asked = run(&text);
        let plain = run(&text.replace("queues = true\n", ""));
        assert!(plain.queues.is_empty() && asked.queues.len() == 6);
        let scenario_sha256 = plain.scenario_sha256.clone();
        let asked = RunResult { queues: Vec::new(), scenario_sha256, ..asked };
        assert_eq!(json(asked), json(plain), "{scheme}");
    }
}

#[test]
fn intervals_are_those_of_what_comes_to_an_idle_mac() {
    let idle = run(&measured(22.0, &format!("{}{}", chain(1), cbr("n0", "n1", 160e3, 1000))));
    let row = times(&idle, "n0");
    close("interval", known(row.interval_mean_s), 0.05, 1e-3);
    assert!(known(row.interval_std_s) < 0.002, "{:?}", row.interval_std_s);
    // Two sources in turn at one MAC, 5 ms apart: 45 and 5 ms, so 25 ms give or take 20.
    let two = format!("{}start = 0.005\n", cbr("n0", "n1", 160e3, 1000));
    let uneven = run(&measured(22.0, &format!("{}{}{two}", chain(1), cbr("n0", "n1", 160e3, 1000))));
    let row = times(&uneven, "n0");
    close("interval of two", known(row.interval_mean_s), 0.025, 2e-3);
    close("deviation of two", known(row.interval_std_s), 0.020, 0.1);
}

/// One packet a second: the longest time in a node is its own, and four hops are four of them at most. With many in a
/// second, some take longer than four times the slowest node's mean.
#[test]
fn four_hops_are_held_against_the_slowest_node_packet_by_packet() {
    let share = |rate: f64| {
        let result = run(&measured(32.0, &format!("{}{}", chain(6), cbr("n0", "n6", rate, 1000))));
        known(times(&result, "n0").within_share)
    };
    assert_eq!(share(8e3).to_bits(), 1.0_f64.to_bits());
    let many = share(160e3);
    assert!((0.2..1.0).contains(&many), "{many}");
}
